"""The page programs.html, counts of programs for absent devices; and programs/, the changes by release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from packaging.version import Version

from laboratory.programs import case_rows
from laboratory.programs.cases import BY_PROGRAM
from laboratory.programs.changes import ProgramTurn, turns
from laboratory.programs.model import Programs, ReleasePrograms
from laboratory.programs.targets import COUNTS, TARGETS, Count
from laboratory.report.site.facts import Facts
from laboratory.report.site.page import Page


@dataclass(frozen=True)
class CountCell:
    """A count on a release, None if missing; `turned` if it differs from the release before."""

    value: int | None
    turned: bool


@dataclass(frozen=True)
class CountRow:
    """A count of one workload along the releases."""

    count: Count
    cells: tuple[CountCell, ...]


@dataclass(frozen=True)
class Changed:
    """The view of a release's page for a target; `between` has earlier releases that were not compiled."""

    found: Programs
    after: ReleasePrograms
    turns: tuple[ProgramTurn, ...]
    between: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A target's part of the page; `rows` are by workload, `lacking` has reasons with their places."""

    found: Programs
    caveat: str
    counts: tuple[Count, ...]
    rows: tuple[tuple[str, tuple[CountRow, ...]], ...]
    cases: tuple[case_rows.ProgramRow, ...]
    turns: tuple[tuple[ReleasePrograms, tuple[ProgramTurn, ...]], ...]
    lacking: tuple[tuple[str, str], ...]


def pages(facts: Facts) -> Iterator[Page]:
    """Yield the page of the programs, if any were compiled, and one for each release that changed some for a target."""
    if facts.programs:
        tables = tuple(map(_table, facts.programs))
        yield Page("programs.html", "programs.html.jinja", "Programs for absent devices", tables)
    for found in facts.programs:
        for after, told in _by_release(found):
            view = Changed(
                found,
                after,
                told,
                tuple(_between(facts, found, min((turn.before for turn in told), key=_jax), after)),
            )
            title = f"Changes by jax {after.jax} in programs for {found.title}"
            yield Page(path(found.target, after.cell), "program_changes.html.jinja", title, view)


def path(target: str, cell: str) -> str:
    """Return the path of the page on a release's changes in the programs for a target."""
    return f"programs/{target}-{cell}.html"


def _by_release(found: Programs) -> list[tuple[ReleasePrograms, tuple[ProgramTurn, ...]]]:
    return [(after, tuple(of)) for after, of in groupby(turns(found), lambda turn: turn.after)]


def _between(facts: Facts, found: Programs, before: ReleasePrograms, after: ReleasePrograms) -> Iterator[str]:
    """Yield the releases of jax between two compiled ones; each may have brought the change."""
    for cell in facts.line:
        jax = cell.packages.get("jax", before.jax)
        between = _jax(before) < Version(jax) < _jax(after) and cell.released_on < after.released_on
        if between and cell.id == f"jax-{jax}" and not found.release(cell.id):
            yield jax


def _jax(release: ReleasePrograms) -> Version:
    return Version(release.jax)


def _table(found: Programs) -> Table:
    told = turns(found)
    turned = {(turn.workload, change.count, turn.after.cell) for turn in told for change in turn.changes}
    of_target = {name: count for name, count in COUNTS.items() if count.only in ("", found.target)}
    main = {name: count for name, count in of_target.items() if count.main}
    rows = tuple(
        (
            workload,
            tuple(
                CountRow(count, tuple(_cell(release, workload, name, turned) for release in found.releases))
                for name, count in main.items()
            ),
        )
        for workload in found.workloads
        if workload not in BY_PROGRAM
    )
    known = TARGETS.get(found.target)
    caveat = known.caveat if known else ""
    return Table(
        found,
        caveat,
        tuple(of_target.values()),
        rows,
        case_rows.rows(found),
        tuple(_by_release(found)[::-1]),
        tuple(_lacking(found)),
    )


def _cell(release: ReleasePrograms, workload: str, count: str, turned: set[tuple[str, str, str]]) -> CountCell:
    program = release.program(workload)
    return CountCell(program.counts.get(count) if program else None, (workload, count, release.cell) in turned)


def _lacking(found: Programs) -> Iterator[tuple[str, str]]:
    """Yield each reason why numbers are missing, with the programs or counts and their releases."""
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
