"""What packages require of each other, by recorded metadata, against what works: declared × observed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Literal

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from suite.judge.rules import Pins
from suite.spelling import requirement
from suite.stack.releases import Packages

Declared = Literal["allows", "excludes"]
DeclaredObserved = Literal["supported", "latent", "guarded", "excluded"]


def declared_observed(says: Declared, works: bool | None) -> DeclaredObserved | None:
    """What metadata says against what was seen; None where nothing was.

    Row zero is small. Where it works over metadata, that is no proof that the metadata is too tight: a whole API, or
    speed, may be why a release is excluded.
    """
    if works is None:
        return None
    if says == "allows":
        return "supported" if works else "latent"
    return "excluded" if works else "guarded"


def requires(name: str, pins: Pins, offered: Packages, python: str) -> Mapping[str, SpecifierSet]:
    """What the pinned release of a package requires in a cell, by package; nothing where no metadata is recorded."""
    release = offered.get(name, {}).get(pins.get(name, ""))
    return _required(tuple(release.requires_dist), python) if release else {}


@cache
def _required(lines: tuple[str, ...], python: str) -> Mapping[str, SpecifierSet]:
    cell = {"extra": "cpu", "python_version": python, "python_full_version": f"{python}.0"}
    found: dict[str, SpecifierSet] = {}
    for wanted in map(requirement, lines):
        if wanted.marker is None or wanted.marker.evaluate(cell):
            known = canonicalize_name(wanted.name)
            found[known] = found.get(known, SpecifierSet()) & wanted.specifier
    return found


def reached(needs: Iterable[str], pins: Pins, offered: Packages, python: str) -> frozenset[str]:
    """The packages that can matter to what imports `needs`: those, and what they require, by recorded metadata."""
    found: set[str] = set()
    todo = list(needs)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += requires(name, pins, offered, python)
    return frozenset(found)
