"""Arithmetic of specifiers that admit exactly what works. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from packaging.specifiers import SpecifierSet
from packaging.version import Version


@cache
def parsed(version: str) -> Version:
    """Return a parsed version. Cached: a catalogue's runs repeat a few dozen releases thousands of times."""
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
    """Return the highest version that a clause `>=` asks for."""
    return max((each.version for each in specifier if each.operator == ">="), key=Version, default=None)


def upper_bound(specifier: SpecifierSet) -> str | None:
    """Return the lowest version that a clause `<` excludes."""
    return min((each.version for each in specifier if each.operator == "<"), key=Version, default=None)


def reconciled(tried: Mapping[str, bool], declared: str) -> str | None:
    """Return the specifier that admits exactly what works of `tried`; None if nothing works.

    `tried` maps a version to True if it works. If `declared` already agrees, it is the answer. Otherwise its lower
    bound is kept unless a release below it works, and its other clauses unless a working release contradicts them.
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
    # Clauses about releases that were not tried have reasons elsewhere.
    for clause in sorted(says, key=str):
        already = clause.operator == "!=" and clause.version not in SpecifierSet(",".join(parts))
        if clause.operator != ">=" and not already and all(map(clause.contains, works)):
            parts.append(str(clause))
    return ",".join(dict.fromkeys(parts))
