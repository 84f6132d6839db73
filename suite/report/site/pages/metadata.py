"""The page metadata.html: the requirements that metadata lacks to agree with the runs, and the stacks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from suite.judge.metadata import simplest
from suite.names import needed, query
from suite.names.needed import Needed
from suite.report.model import AmendmentRow
from suite.report.site.facts import Facts
from suite.report.site.install import ordered
from suite.report.site.page import Page
from suite.report.site.table import Grid, grids
from suite.spelling import specifiers
from suite.stack.packages import PACKAGES


@dataclass(frozen=True)
class JoinedAmendment:
    """An amendment of one release's requirement on one dependency, joined from all rows of stacks that suggest it.

    `requirement` is the whole requirement, declared and lacking, as in a list of dependencies.
    """

    said: AmendmentRow
    requirement: str
    by_run: bool
    evidence: list[str]
    cells: list[str]


@dataclass(frozen=True)
class AmendedRelease:
    """A release with the amendments of its metadata; `id` is its anchor on the page."""

    id: str
    package: str
    version: str
    entries: list[JoinedAmendment]


@dataclass(frozen=True)
class Code:
    """The releases of a dependency that the code of releases, first to last, needs by its names.

    `lacks` is True if their declared requirement admits a release on which a name is missing.
    """

    package: str
    first: str
    last: str
    needed: Needed
    lacks: bool


@dataclass(frozen=True)
class Metadata:
    """The view of metadata.html: releases by package, broken releases, unknown causes, code, and the stacks."""

    packages: list[tuple[str, list[AmendedRelease]]]
    broken: list[AmendedRelease]
    open: list[JoinedAmendment]
    code: list[Code]
    grids: list[Grid]


def pages(facts: Facts) -> Iterator[Page]:
    """Yield the page of metadata."""
    entries = _entries(amendment for row in facts.report.stacks for amendment in row.amendments)
    known = [joined for joined in entries if joined.said.grounds != "together"]
    by_package: dict[str, list[JoinedAmendment]] = {}
    for entry in known:
        if entry.said.package is not None:
            by_package.setdefault(entry.said.package, []).append(entry)
    view = Metadata(
        [(name, _releases(by_package[name])) for name in sorted(by_package, key=_place)],
        _releases(joined for joined in known if joined.said.package is None),
        [joined for joined in entries if joined.said.grounds == "together"],
        _code({(name, version) for cell in facts.report.cells for name, version in cell.packages.items()}),
        grids(facts.report.stacks, facts.cells),
    )
    yield Page("metadata.html", "metadata.html.jinja", "Missing requirements in metadata", view)


def _code(there: Collection[tuple[str, str]]) -> list[Code]:
    """Return the needs of the code of the report's releases, equal neighbours together, the newest first."""
    found: list[Code] = []
    for package, versions in needed.load().releases.items():
        by_dependency: dict[str, list[Code]] = {}
        for version in sorted(versions, key=Version):
            for need in versions[version]:
                of = by_dependency.setdefault(need.package, [])
                if (package, version) in there:
                    if of and _alike(of[-1].needed, need):
                        of[-1] = replace(of[-1], last=version)
                    else:
                        of.append(Code(package, version, version, need, _lacks(need)))
        found += [each for of in by_dependency.values() for each in reversed(of)]
    return sorted(found, key=lambda each: (_place(each.package), not each.lacks))


def _alike(one: Needed, other: Needed) -> bool:
    same = ("package", "declared", "since", "until")
    return all(getattr(one, name) == getattr(other, name) for name in same)


def _lacks(of: Needed) -> bool:
    known = query.names(of.package).releases
    declared = SpecifierSet(of.declared or "")
    since = known.index(of.since) if of.since else 0
    until = known.index(of.until) if of.until else len(known)
    return any(declared.contains(version) and not since <= place <= until for place, version in enumerate(known))


def _entries(said: Iterable[AmendmentRow]) -> list[JoinedAmendment]:
    """Return the amendments, equal ones joined."""
    alike: dict[tuple[str, ...], list[AmendmentRow]] = {}
    for row in said:
        # `came_with` names what else moved.
        key = (row.kind, row.package or "", row.version, row.dependency, row.specifier, row.came_with)
        alike.setdefault(key, []).append(row)
    return [_entry(of) for of in alike.values()]


def _entry(of: list[AmendmentRow]) -> JoinedAmendment:
    first = of[0]
    whole = _both(first.declared or "", first.specifier)
    return JoinedAmendment(
        first,
        f"{first.dependency}{whole}",
        any(amendment.grounds == "run" for amendment in of),
        list(dict.fromkeys(reference for row in of for reference in row.evidence)),
        list(dict.fromkeys(cell for row in of for cell in row.cells)),
    )


def _both(declared: str, lacks: str) -> str:
    """Return two specifiers as one; joined unchanged if a report from outside has one that cannot be parsed."""
    together = ",".join(filter(None, (declared, lacks)))
    try:
        return simplest([specifiers(together)])
    except ValueError:
        return together


def _releases(entries: Iterable[JoinedAmendment]) -> list[AmendedRelease]:
    """Return the amendments by release, the newest first."""
    found: dict[tuple[str, str], list[JoinedAmendment]] = {}
    for entry in entries:
        found.setdefault((entry.said.package or entry.said.dependency, entry.said.version), []).append(entry)
    newest = sorted(found, key=lambda of: ordered(of[1]), reverse=True)
    return [AmendedRelease(f"{name}-{version}", name, version, found[name, version]) for name, version in newest]


def _place(name: str) -> tuple[int, str]:
    """Return a key that sorts packages in the stack's order, then by name."""
    known = list(PACKAGES)
    return known.index(name) if name in known else len(known), name
