"""programs.html: what was counted of programs for devices that are not there, and what changed along the releases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from suite.programs.changes import Turn, turns
from suite.programs.model import Programs, Release
from suite.programs.targets import COUNTS, TARGETS, Count
from suite.report.site.facts import Facts
from suite.report.site.page import Page


@dataclass(frozen=True)
class Cell:
    """A count on a release: `None` where it was not told; `turned`, where it is another than on the release before."""

    value: int | None
    turned: bool


@dataclass(frozen=True)
class Row:
    """A count of one workload along the releases."""

    count: Count
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Table:
    """What a target's part of the page shows; `rows` are by workload, `lacking` a reason and where it holds."""

    found: Programs
    caveat: str
    counts: tuple[Count, ...]
    rows: tuple[tuple[str, tuple[Row, ...]], ...]
    turns: tuple[tuple[Release, tuple[Turn, ...]], ...]
    lacking: tuple[tuple[str, str], ...]


def pages(facts: Facts) -> Iterator[Page]:
    """The page of the programs, where any were compiled."""
    if facts.programs:
        tables = tuple(map(_table, facts.programs))
        yield Page("programs.html", "programs.html.jinja", "Programs for devices that are not there", tables)


def _table(found: Programs) -> Table:
    told = turns(found)
    turned = {(turn.workload, change.count, turn.after.cell) for turn in told for change in turn.changes}
    of_target = {name: count for name, count in COUNTS.items() if count.only in ("", found.target)}
    main = {name: count for name, count in of_target.items() if count.main}
    rows = tuple(
        (
            workload,
            tuple(
                Row(count, tuple(_cell(each, workload, name, turned) for each in found.releases))
                for name, count in main.items()
            ),
        )
        for workload in found.workloads
    )
    newest_first = [(after, tuple(of)) for after, of in groupby(told, lambda turn: turn.after)][::-1]
    known = TARGETS.get(found.target)
    caveat = known.caveat if known else ""
    return Table(found, caveat, tuple(of_target.values()), rows, tuple(newest_first), tuple(_lacking(found)))


def _cell(release: Release, workload: str, count: str, turned: set[tuple[str, str, str]]) -> Cell:
    program = release.program(workload)
    return Cell(program.counts.get(count) if program else None, (workload, count, release.cell) in turned)


def _lacking(found: Programs) -> Iterator[tuple[str, str]]:
    """Each reason for which a number is lacking, and of what on which releases."""
    where: dict[str, dict[str, list[str]]] = {}
    for release in found.releases:
        if release.reason:
            where.setdefault(release.reason, {}).setdefault("every program", []).append(release.jax)
        for program in release.programs:
            if program.reason:
                where.setdefault(program.reason, {}).setdefault(program.workload, []).append(release.jax)
            for count, reason in program.absent.items():
                name = COUNTS[count].many if count in COUNTS else count
                seen = where.setdefault(reason, {}).setdefault(name, [])
                if release.jax not in seen:
                    seen.append(release.jax)
    for reason, of in where.items():
        yield reason, "; ".join(f"{what}: {_spoken(versions)}" for what, versions in of.items())


def _spoken(versions: Sequence[str]) -> str:
    few = len(versions) < 5
    return f"jax {', '.join(versions)}" if few else f"{len(versions)} releases, jax {versions[0]} the first"
