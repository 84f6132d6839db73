"""What a page of the site is, before a template shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Page:
    """A page at `path`, shown by `template`, which calls `view` by that name.

    `scripts` are files of assets, or of data, that it loads, by their paths in the site; `data` are files that are made
    with it, by path.
    """

    path: str
    template: str
    title: str
    view: Any
    scripts: tuple[str, ...] = ()
    data: Mapping[str, str] = field(default_factory=dict)
