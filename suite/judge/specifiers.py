"""Arithmetic of specifiers: those that admit what works and nothing else. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from packaging.specifiers import SpecifierSet
from packaging.version import Version


@cache
def parsed(version: str) -> Version:
    """Each is parsed once: a catalogue's runs have some dozens of releases, thousands of times."""
    return Version(version)


def in_version_order(versions: Iterable[str]) -> list[str]:
    """Sorted as PEP 440 orders them."""
    return sorted(versions, key=parsed)


def simplest(specifiers: Iterable[SpecifierSet]) -> str:
    """All of `specifiers` as one, with the highest of their lower bounds."""
    parts = {str(part) for specifier in specifiers for part in specifier}
    lower = sorted((part for part in parts if part.startswith(">=")), key=lambda part: Version(part[2:]))
    return ",".join([*lower[-1:], *sorted(parts.difference(lower))])


def lower_bound(specifier: SpecifierSet) -> str | None:
    """The highest version that a clause `>=` asks for."""
    return max((each.version for each in specifier if each.operator == ">="), key=Version, default=None)


def upper_bound(specifier: SpecifierSet) -> str | None:
    """The lowest version that a clause `<` keeps out."""
    return min((each.version for each in specifier if each.operator == "<"), key=Version, default=None)


def reconciled(tried: Mapping[str, bool], declared: str) -> str | None:
    """The specifier that admits what works of `tried` and nothing else of it; None where none of it works.

    `tried` maps a version to whether it works. Where `declared` already agrees with that, it is the answer; else its
    lower bound is kept where what lies below it was not seen to work, and the rest of it where no release that works
    contradicts it.
    """
    ordered = in_version_order(tried)
    works = [version for version in ordered if tried[version]]
    if not works:
        return None
    says = SpecifierSet(declared)
    if all((version in says) == good for version, good in tried.items()):
        return declared
    first, last = ordered.index(works[0]), ordered.index(works[-1])
    lower = lower_bound(says)
    if first > 0 or (lower is not None and Version(lower) > Version(works[0])):
        lower = works[0]
    parts = [f">={lower}"] if lower is not None else []
    parts += [f"<{each}" for each in ordered[last + 1 : last + 2]]
    parts += [f"!={version}" for version in ordered[first:last] if not tried[version]]
    # What it says of releases that were not tried here has its reasons elsewhere.
    for clause in sorted(says, key=str):
        already = clause.operator == "!=" and clause.version not in SpecifierSet(",".join(parts))
        if clause.operator != ">=" and not already and all(map(clause.contains, works)):
            parts.append(str(clause))
    return ",".join(dict.fromkeys(parts))
