"""Requirements in recorded metadata, compared with what works: declared × observed. Pure."""

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
    """Compare metadata with what was seen; return None if nothing was.

    Row zero is small. Where it works although metadata excludes the stack, the metadata need not be too tight: the rest
    of the API, or speed, may be the reason.
    """
    if works is None:
        return None
    if says == "allows":
        return "supported" if works else "latent"
    return "excluded" if works else "guarded"


def requires(name: str, pins: Pins, offered: Packages, python: str) -> Mapping[str, SpecifierSet]:
    """Return what the pinned release of a package requires in a cell, by package; empty without metadata."""
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
    """Return the packages in `needs` and all that they require, by recorded metadata."""
    found: set[str] = set()
    todo = list(needs)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += requires(name, pins, offered, python)
    return frozenset(found)
