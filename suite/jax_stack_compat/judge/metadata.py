"""Requirements in recorded metadata, the arithmetic of specifiers, and declared × observed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Literal

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from jax_stack_compat.base.spelling import requirement
from jax_stack_compat.judge.rules import Pins
from jax_stack_compat.stack.releases import Packages

Declared = Literal["allows", "excludes"]
DeclaredObserved = Literal["supported", "latent", "guarded", "excluded"]


def declared_observed(says: Declared, works: bool | None) -> DeclaredObserved | None:
    """Compare metadata with a run; return None if nothing was run.

    Row zero is small. It may work in a stack that metadata excludes for good reasons, such as the rest of the API, or
    speed.
    """
    if works is None:
        return None
    if says == "allows":
        return "supported" if works else "latent"
    return "excluded" if works else "guarded"


def requires(name: str, pins: Pins, offered: Packages, python: str) -> Mapping[str, SpecifierSet]:
    """Return the requirements of a package's pinned release in a cell, by package; empty without metadata."""
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
    """Return the packages in `needs` and all packages that they require, by recorded metadata."""
    found: set[str] = set()
    todo = list(needs)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += requires(name, pins, offered, python)
    return frozenset(found)


@cache
def parsed(version: str) -> Version:
    """Return a parsed version, cached: thousands of runs have only a few dozen versions."""
    return Version(version)


def in_version_order(versions: Iterable[str]) -> list[str]:
    """Return versions in the order of PEP 440."""
    return sorted(versions, key=parsed)


def simplest(specifiers: Iterable[SpecifierSet]) -> str:
    """Join `specifiers` into one, with the highest of their lower bounds."""
    parts = {str(part) for specifier in specifiers for part in specifier}
    lower = sorted((part for part in parts if part.startswith(">=")), key=lambda part: Version(part[2:]))
    return ",".join([*lower[-1:], *sorted(parts.difference(lower))])


def lower_bound(specifier: SpecifierSet) -> str | None:
    """Return the highest version of a `>=` clause, or None."""
    return max((each.version for each in specifier if each.operator == ">="), key=Version, default=None)


def upper_bound(specifier: SpecifierSet) -> str | None:
    """Return the lowest version of a `<` clause, or None."""
    return min((each.version for each in specifier if each.operator == "<"), key=Version, default=None)


def reconciled(tried: Mapping[str, bool]) -> str | None:
    """Return the specifier that admits exactly the working versions of `tried`; None if none works.

    `tried` maps a version to True if it works.
    """
    ordered = in_version_order(tried)
    works = [version for version in ordered if tried[version]]
    if not works:
        return None
    first, last = ordered.index(works[0]), ordered.index(works[-1])
    parts = [f">={works[0]}"] if first > 0 else []
    parts += [f"<{each}" for each in ordered[last + 1 : last + 2]]
    parts += [f"!={version}" for version in ordered[first:last] if not tried[version]]
    return ",".join(parts)
