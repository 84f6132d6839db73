"""metadata.html: what each package's metadata should have required to agree with the runs, and the stacks run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from suite.judge.specifiers import simplest
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
class Metadata:
    """What metadata.html shows: releases by package, those broken by themselves, causes not known, the stacks."""

    packages: list[tuple[str, list[Release]]]
    broken: list[Release]
    open: list[Entry]
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
        grids(facts.report.stacks, facts.cells),
    )
    yield Page("metadata.html", "metadata.html.jinja", "What metadata should have required", view)


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
