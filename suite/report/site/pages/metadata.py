"""metadata.html: what each package's metadata should have required to agree with the runs, and the stacks run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from suite.judge.specifiers import simplest
from suite.names import needed, query
from suite.names.needed import Needed
from suite.report.model import AmendmentRow
from suite.report.site.facts import Facts
from suite.report.site.install import ordered
from suite.report.site.page import Page
from suite.report.site.table import Grid, grids
from suite.spelling import specifiers
from suite.stack.releases import PACKAGES


@dataclass(frozen=True)
class Entry:
    """What is said of one release's requirement on one dependency: in as many rows of stacks as say just that.

    `requirement` is whole, what is declared and what it lacks, as a list of dependencies has it.
    """

    said: AmendmentRow
    requirement: str
    by_run: bool
    evidence: list[str]
    cells: list[str]


@dataclass(frozen=True)
class Release:
    """A release with what is said of its metadata; `id` is its place on the page."""

    id: str
    package: str
    version: str
    entries: list[Entry]


@dataclass(frozen=True)
class Code:
    """What the code of releases, first to last, needs of a dependency by its names.

    `lacks` says whether what they declare admits a release on which a name is missing.
    """

    package: str
    first: str
    last: str
    needed: Needed
    lacks: bool


@dataclass(frozen=True)
class Metadata:
    """What metadata.html shows: releases by package, those broken by themselves, causes not known, code, the stacks."""

    packages: list[tuple[str, list[Release]]]
    broken: list[Release]
    open: list[Entry]
    code: list[Code]
    grids: list[Grid]


def pages(facts: Facts) -> Iterator[Page]:
    """The page of metadata."""
    entries = _entries(each for row in facts.report.stacks for each in row.amendments)
    known = [each for each in entries if each.said.grounds != "together"]
    by_package: dict[str, list[Entry]] = {}
    for each in known:
        if each.said.package is not None:
            by_package.setdefault(each.said.package, []).append(each)
    view = Metadata(
        [(name, _releases(by_package[name])) for name in sorted(by_package, key=_place)],
        _releases(each for each in known if each.said.package is None),
        [each for each in entries if each.said.grounds == "together"],
        _code({(name, version) for cell in facts.report.cells for name, version in cell.packages.items()}),
        grids(facts.report.stacks, facts.cells),
    )
    yield Page("metadata.html", "metadata.html.jinja", "What metadata should have required", view)


def _code(there: Collection[tuple[str, str]]) -> list[Code]:
    """What the code of the releases that the report has needs, alike neighbours together, the newest first."""
    found: list[Code] = []
    for package, versions in needed.load().releases.items():
        by_dependency: dict[str, list[Code]] = {}
        for version in sorted(versions, key=Version):
            for each in versions[version]:
                of = by_dependency.setdefault(each.package, [])
                if (package, version) in there:
                    if of and _alike(of[-1].needed, each):
                        of[-1] = replace(of[-1], last=version)
                    else:
                        of.append(Code(package, version, version, each, _lacks(each)))
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
    return any(declared.contains(each) and not since <= place <= until for place, each in enumerate(known))


def _entries(said: Iterable[AmendmentRow]) -> list[Entry]:
    """What is said, equal things once."""
    alike: dict[tuple[str, ...], list[AmendmentRow]] = {}
    for each in said:
        # Of what came together, the words say what else did.
        key = (each.kind, each.package or "", each.version, each.dependency, each.specifier, each.came_with)
        alike.setdefault(key, []).append(each)
    return [_entry(of) for of in alike.values()]


def _entry(of: list[AmendmentRow]) -> Entry:
    first = of[0]
    whole = _both(first.declared or "", first.specifier)
    return Entry(
        first,
        f"{first.dependency}{whole}",
        any(each.grounds == "run" for each in of),
        list(dict.fromkeys(each for row in of for each in row.evidence)),
        list(dict.fromkeys(each for row in of for each in row.cells)),
    )


def _both(declared: str, lacks: str) -> str:
    """Two specifiers as one; as they stand, where somebody's report has none that can be parsed."""
    together = ",".join(filter(None, (declared, lacks)))
    try:
        return simplest([specifiers(together)])
    except ValueError:
        return together


def _releases(entries: Iterable[Entry]) -> list[Release]:
    """Entries by release, the newest first."""
    found: dict[tuple[str, str], list[Entry]] = {}
    for each in entries:
        found.setdefault((each.said.package or each.said.dependency, each.said.version), []).append(each)
    newest = sorted(found, key=lambda of: ordered(of[1]), reverse=True)
    return [Release(f"{name}-{version}", name, version, found[name, version]) for name, version in newest]


def _place(name: str) -> tuple[int, str]:
    """Packages in the stack's order, and then by name."""
    known = list(PACKAGES)
    return known.index(name) if name in known else len(known), name
