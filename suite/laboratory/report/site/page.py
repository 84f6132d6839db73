"""A page of the site, before a template renders it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Page:
    """A page at `path`, rendered by `template` from `view`.

    `scripts` has the paths of the assets and data files that it loads, `data` the files written with it, by path.
    """

    path: str
    template: str
    title: str
    view: Any
    scripts: tuple[str, ...] = ()
    data: Mapping[str, str] = field(default_factory=dict)
