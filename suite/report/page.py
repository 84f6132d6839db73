"""A report → what the page shows of it: rows, runs, timelines, steps, grids and the data of its script. Pure."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from itertools import groupby
from typing import Literal

from markupsafe import Markup
from packaging.version import Version
from pygments import lex
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType

from suite.judge import GLYPHS, UNDECIDED, Verdict
from suite.report import summary
from suite.report.findings import Finding, findings
from suite.report.model import CaseRow, CellRow, IntervalRow, IssueRow, Observation, Report, StackRow
from suite.report.text import said

# Worst first: what a row for a whole issue shows of its cases.
SEVERITY: tuple[Verdict, ...] = (
    *("crashed", "hung", "affected", "different", "error", "flaky", "guarded", "clear"),
    *("absent", "conflict", "unavailable", "not-run"),
)
# After how many columns a word is said again: nobody should have to scroll for it.
REPEAT = 8
# Ticks nearer than this, in percent of the axis, would lie on one another on a phone.
NARROW = 9.0
Turned = Literal["appears", "goes", "changes", "stays"]
Seen = Mapping[tuple[str, str], Mapping[str, Observation]]


@dataclass(frozen=True)
class Mark:
    """One cell of the matrix, or of a grid of stacks; `room` where its neighbours leave some for its word."""

    cell: str
    verdict: str
    told: str
    room: bool
    odd: bool = False


@dataclass(frozen=True)
class Group:
    """Columns side by side that have one minor release of jax."""

    minor: str
    cells: tuple[CellRow, ...]


@dataclass(frozen=True)
class Run:
    """Cells in a row, `first` to `last`, in which the very same was seen."""

    first: str
    last: str
    count: int
    seen: Observation


@dataclass(frozen=True)
class Band:
    """An interval as it is drawn: where it begins and how wide it is, both in percent of the axis."""

    x: float
    width: float
    verdict: Verdict
    behaviour: str
    where: str
    exact: bool


@dataclass(frozen=True)
class Axis:
    """A case's intervals over the releases of one package.

    A tick is a minor release: where it begins, in percent, its name, and whether it is too near for a narrow screen.
    """

    package: str
    bands: tuple[Band, ...]
    ticks: tuple[tuple[float, str, bool], ...]


@dataclass(frozen=True)
class Turn:
    """A case that does otherwise after an upgrade than before it."""

    issue: str
    case: str
    before: Observation
    after: Observation


@dataclass(frozen=True)
class Step:
    """From one release of the line to the next: what turned."""

    before: CellRow
    after: CellRow
    turns: Mapping[Turned, tuple[Turn, ...]]


@dataclass(frozen=True)
class GridRow:
    """One row of a grid of stacks, and a mark or nothing for each of its columns."""

    row: StackRow
    marks: tuple[Mark | None, ...]


@dataclass(frozen=True)
class Grid:
    """The rows of stacks that answer one question, over all versions that any of them has."""

    question: str
    along: str
    versions: tuple[str, ...]
    rows: tuple[GridRow, ...]


@dataclass(frozen=True)
class View:
    """A report as the page's templates ask for it."""

    report: Report

    @cached_property
    def seen(self) -> dict[tuple[str, str], dict[str, Observation]]:
        """The observations, by issue and case, then by cell."""
        found: dict[tuple[str, str], dict[str, Observation]] = {}
        for each in self.report.observations:
            found.setdefault((each.issue, each.case), {})[each.cell] = each
        return found

    @cached_property
    def line(self) -> list[CellRow]:
        """The cells of the line, in the order of their days."""
        return summary.line(self.report)

    @cached_property
    def groups(self) -> list[Group]:
        """The matrix's columns, by minor release of jax."""
        return groups(columns(self.line))

    @cached_property
    def needed(self) -> list[str]:
        """The packages that cases need, to filter by."""
        found = {name for issue in self.report.issues for case in issue.cases for name in case.needs}
        return sorted(found, key=lambda name: (name != "jax", name != "equinox", name))

    @cached_property
    def kinds(self) -> list[str]:
        """The kinds of issue that there are, to filter by."""
        return sorted({issue.kind for issue in self.report.issues})

    @cached_property
    def verdicts(self) -> list[str]:
        """The verdicts that stand in the matrix, to filter by."""
        ids = {cell.id for cell in self.line}
        found = {each.verdict for each in self.report.observations if each.cell in ids}
        return [name for name in GLYPHS if name in found]

    def marks(self, issue: IssueRow, case: CaseRow) -> list[Mark | None]:
        """A case's row of the matrix."""
        of = self.seen.get((issue.id, case.id), {})
        ordered = [of.get(cell.id) for group in self.groups for cell in group.cells]
        told = [(each.cell, each.verdict, "", summary.is_unexpected(each)) if each else None for each in ordered]
        return marks(told)

    def worst(self, issue: IssueRow) -> list[Mark | None]:
        """An issue's own row of the matrix: the worst verdict of its cases, and how many of them have it."""
        told: list[tuple[str, str, str, bool] | None] = []
        for cell in (cell for group in self.groups for cell in group.cells):
            seen = [of[cell.id] for case in issue.cases if cell.id in (of := self.seen.get((issue.id, case.id), {}))]
            if not seen:
                told.append(None)
                continue
            verdict = min((each.verdict for each in seen), key=SEVERITY.index)
            number = sum(each.verdict == verdict for each in seen)
            told.append((cell.id, verdict, f"{number} of {len(seen)}", any(map(summary.is_unexpected, seen))))
        return marks(told)

    def runs(self, issue: IssueRow, case: CaseRow) -> list[tuple[str, list[Run]]]:
        """What was seen of a case, on the line and then on each row of stacks that it is run on."""
        of = self.seen.get((issue.id, case.id), {})
        named = [("the line, day by day", [(cell.id, cell.id) for cell in self.line])]
        for row in self.report.stacks:
            named.append(
                (
                    f"{summary.held(row)}, along {row.along}",
                    [(cell, self.cells[cell].holds[row.along]) for cell in row.cells if cell in self.cells],
                )
            )
        told = {cell for _, ordered in named for cell, _ in ordered}
        named.append(("other stacks", [(cell, cell) for cell in of if cell not in told]))
        found = [(name, runs([(label, of[cell]) for cell, label in ordered if cell in of])) for name, ordered in named]
        return [(name, of_name) for name, of_name in found if of_name]

    @cached_property
    def cells(self) -> dict[str, CellRow]:
        """The cells by their ids."""
        return {cell.id: cell for cell in self.report.cells}

    @cached_property
    def cases(self) -> frozenset[str]:
        """The cases that are on the page, as issue/case."""
        return frozenset(f"{issue.id}/{case.id}" for issue in self.report.issues for case in issue.cases)

    def timeline(self, case: CaseRow) -> list[Axis]:
        """A case's intervals as they are drawn."""
        return timeline(case, self.report.cells)

    def verified(self, issue: IssueRow, case: CaseRow) -> str:
        """Where a case's workaround was run and needed, over the releases of jax, for people."""
        return verified(self.line, self.seen.get((issue.id, case.id), {}))

    def now(self, issue: IssueRow) -> Mark | None:
        """What an issue does on the newest stack of the line that was tried."""
        return next((each for each in reversed(self.by_day(issue)) if each.verdict not in UNDECIDED), None)

    def by_day(self, issue: IssueRow) -> list[Mark]:
        """The worst of an issue, day by day."""
        by_cell = {mark.cell: mark for mark in self.worst(issue) if mark}
        return [by_cell[cell.id] for cell in self.line if cell.id in by_cell]

    def disagreeing(self, issue: IssueRow) -> list[Observation]:
        """The observations of an issue that are not as documented, one for each that says something else."""
        odd = [each for each in summary.unexpected(self.report) if each.issue == issue.id]
        kinds = {_kind(each): each for each in reversed(odd)}
        return [kinds[kind] for kind in dict.fromkeys(map(_kind, odd))]

    @cached_property
    def steps(self) -> list[Step]:
        """What changes from each release of the line to the next."""
        return steps(self.line, self.seen)

    @cached_property
    def grids(self) -> list[Grid]:
        """The stacks, by question."""
        return grids(self.report)

    @cached_property
    def findings(self) -> list[Finding]:
        """What the runs show and no thread says."""
        return findings(self.report)

    @cached_property
    def year(self) -> tuple[str, str] | None:
        """What the upgrade picker shows before anybody picks: the newest stack against that of a year before."""
        tried = [cell for cell in self.line if cell.declared_observed is not None] or self.line
        if not tried:
            return None
        then = tried[-1].released_on - timedelta(days=365)
        return next((cell.id for cell in reversed(tried) if cell.released_on <= then), tried[0].id), tried[-1].id

    @cached_property
    def data(self) -> Markup:
        """What the page's script needs, as JSON."""
        return embedded(self.report, self.seen, self.year)


def columns(line: Sequence[CellRow]) -> list[CellRow]:
    """The line by release of jax, and by day where that is the same."""
    return sorted(line, key=lambda cell: Version(_jax(cell)))


def groups(ordered: Sequence[CellRow]) -> list[Group]:
    """Neighbours that have one minor release of jax."""
    return [Group(minor, tuple(cells)) for minor, cells in groupby(ordered, lambda cell: _minor(_jax(cell)))]


def marks(told: Sequence[tuple[str, str, str, bool] | None]) -> list[Mark | None]:
    """A row's marks. A word is wider than a column: of neighbours with one verdict, some have room for it."""
    found: list[Mark | None] = []
    for _, group in groupby(told, lambda each: each[1] if each else None):
        of = list(group)
        for place, each in enumerate(of):
            found.append(Mark(*each[:3], place % REPEAT == 0 and len(of) - place > 1, each[3]) if each else None)
    return found


def runs(ordered: Iterable[tuple[str, Observation]]) -> list[Run]:
    """Neighbours of which the very same is told, as one."""
    found = []
    for _, group in groupby(ordered, lambda each: _kind(each[1])):
        of = list(group)
        found.append(Run(of[0][0], of[-1][0], len(of), of[0][1]))
    return found


def timeline(case: CaseRow, cells: Sequence[CellRow]) -> list[Axis]:
    """A case's intervals, an axis for each package, each release as wide as any other."""
    found = []
    for package in dict.fromkeys(each.package for each in case.intervals):
        versions = releases(cells, package)
        of = [each for each in case.intervals if each.package == package]
        drawn = [each for each in of if each.first in versions and each.last in versions]
        bands = tuple(_band(each, versions, cells) for each in drawn)
        minors = {_minor(version): place for place, version in reversed(list(enumerate(versions)))}
        ticks: list[tuple[float, str, bool]] = []
        for minor, place in reversed(minors.items()):
            x = _percent(place, versions)
            ticks.append((x, minor, x - max((each for each, _, near in ticks if not near), default=-99.0) < NARROW))
        found.append(Axis(package, bands, tuple(ticks)))
    return found


def releases(cells: Iterable[CellRow], package: str) -> list[str]:
    """The releases of `package` that stand on the line, in version order."""
    return sorted((cell.holds[package] for cell in cells if cell.kind == "line" and cell.moves == package), key=Version)


def verified(line: Sequence[CellRow], seen: Mapping[str, Observation]) -> str:
    """`holds 0.4.18–0.5.3, fails 0.6.0`: where a workaround was needed, over the releases of jax; nothing if nowhere.

    A release on which nothing was learned ends no range; one where it was not needed does.
    """
    by_release = {cell.holds["jax"]: seen[cell.id] for cell in line if cell.moves == "jax" and cell.id in seen}
    ordered = sorted((version for version in by_release if by_release[version].verdict not in UNDECIDED), key=Version)
    told = []
    for word, group in groupby(ordered, lambda version: by_release[version].workaround):
        of = list(group)
        if word in ("holds", "fails"):
            told.append(f"{word} {of[0]}" + (f"–{of[-1]}" if len(of) > 1 else ""))
    return ", ".join(told)


def turned(before: Observation | None, after: Observation | None) -> Turned | None:
    """How a case that was like `before` and is like `after` turned; None where it is well, or nothing is known."""
    if before is None or after is None or {before.verdict, after.verdict} & UNDECIDED:
        return None
    was, now = (each.verdict not in ("clear", "absent") for each in (before, after))
    if was and now:
        same = (before.verdict, before.behaviour) == (after.verdict, after.behaviour)
        return "stays" if same else "changes"
    return "appears" if now else "goes" if was else None


def steps(line: Sequence[CellRow], seen: Seen) -> list[Step]:
    """Each release of the line on which something turned against what was seen last before it."""
    found = []
    last: dict[tuple[str, str], Observation] = {}
    before: CellRow | None = None
    for cell in line:
        turns: dict[Turned, tuple[Turn, ...]] = {}
        learned = False
        for key, of in seen.items():
            now = of.get(cell.id)
            if now is None or now.verdict in UNDECIDED:
                continue
            learned = True
            how = turned(last.get(key), now)
            if how is not None and how != "stays":
                turns[how] = (*turns.get(how, ()), Turn(*key, last[key], now))
            last[key] = now
        if turns and before is not None:
            found.append(Step(before, cell, turns))
        before = cell if learned else before
    return found


def grids(report: Report) -> list[Grid]:
    """The rows of stacks, those with one question and one moved package over the same versions."""
    cells = {cell.id: cell for cell in report.cells}
    by_question: dict[tuple[str, str], list[StackRow]] = {}
    for row in report.stacks:
        by_question.setdefault((row.question, row.along), []).append(row)
    found = []
    for (question, along), rows in by_question.items():
        of = [{cells[cell].holds[along]: cells[cell] for cell in row.cells if cell in cells} for row in rows]
        versions = sorted({version for each in of for version in each}, key=Version)
        shown = []
        for row, there in zip(rows, of, strict=True):
            told = [
                (each.id, each.declared_observed or "not-run", each.declared_observed or "not tried", False)
                if (each := there.get(version))
                else None
                for version in versions
            ]
            shown.append(GridRow(row, tuple(marks(told))))
        found.append(Grid(question, along, tuple(versions), tuple(shown)))
    return found


def highlight(source: str) -> Markup:
    """Python source with its keywords, strings, comments, numbers and definitions marked; whatever else is text."""
    found = Markup("")
    for name, tokens in groupby(lex(source, PythonLexer()), lambda token: _mark_of(token[0])):
        text = "".join(value for _, value in tokens)
        found += Markup('<i class="{}">{}</i>').format(name, text) if name else Markup("{}").format(text)
    return found


def embedded(report: Report, seen: Seen, year: tuple[str, str] | None) -> Markup:
    """The report for the page's script: each message and each package once, in JSON that ends no element."""
    packages: dict[str, int] = {}
    kinds: dict[tuple[object, ...], int] = {}
    cells = [
        {
            "id": cell.id,
            "on": cell.released_on.isoformat(),
            "python": cell.python,
            "line": cell.kind == "line",
            "moves": cell.moves,
            "lock": cell.lock_sha256,
            "compared": cell.declared_observed,
            "excluded": said(cell.excluded_by or ""),
            "packages": [
                packages.setdefault(f"{name} {version}", len(packages)) for name, version in cell.packages.items()
            ],
        }
        for cell in report.cells
    ]
    issues = []
    for issue in report.issues:
        cases = []
        for case in issue.cases:
            of = seen.get((issue.id, case.id), {})
            told = [of.get(cell.id) for cell in report.cells]
            cases.append(
                {
                    "id": case.id,
                    "question": case.question,
                    "needs": case.needs,
                    # Of a case that says no more than another, a number stands for both.
                    "seen": [kinds.setdefault(_kind(each), len(kinds)) if each else -1 for each in told],
                    "seconds": [round(each.seconds, 1) if each else 0 for each in told],
                    "mib": [each.peak_rss_mib if each else 0 for each in told],
                }
            )
        issues.append(
            {
                **{"id": issue.id, "title": issue.title, "kind": issue.kind},
                **{"workaround": issue.workaround.text, "cases": cases},
            }
        )
    data = {
        "glyphs": dict(GLYPHS),
        "compared": dict(summary.STACK_GLYPHS),
        "undecided": sorted(UNDECIDED),
        "replay": summary.REPLAY,
        "year": year,
        "packages": list(packages),
        "kinds": [[said(each) if isinstance(each, str) else each for each in kind] for kind in kinds],
        "cells": cells,
        "issues": issues,
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    # Nothing is left in it that HTML would act on.
    return Markup(text)


def digest(text: str) -> str:
    """What a content security policy calls an inline script or style by."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def link(ref: str) -> str:
    """The address of an upstream thread: `jax-ml/jax#27829`, or an address as it stands; nothing where it is none."""
    repository, _, number = ref.partition("#")
    if number.isdecimal() and ":" not in repository:
        return f"https://github.com/{repository}/issues/{number}"
    return ref if ref.startswith("https://") else ""


def _kind(each: Observation) -> tuple[str | int | bool | None, ...]:
    """What is told of an observation, less how long it took and where it was made."""
    return (
        *(each.verdict, each.behaviour, each.reason, each.expected, each.agreement),
        *(each.workaround, each.workaround_expected, each.attempts, each.detail),
    )


def _jax(cell: CellRow) -> str:
    return cell.packages.get("jax") or cell.holds.get("jax") or "0"


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _percent(place: int, versions: Sequence[str]) -> float:
    return round(100 * place / len(versions), 2)


def _band(each: IntervalRow, versions: Sequence[str], cells: Sequence[CellRow]) -> Band:
    first, last = versions.index(each.first), versions.index(each.last)
    x = _percent(first, versions)
    width = round(_percent(last + 1, versions) - x, 2)
    return Band(x, width, each.verdict, each.behaviour, summary.span(each, cells), each.exact)


def _mark_of(token: _TokenType) -> str:
    for kind, name in (
        (Comment, "c"),
        (String, "s"),
        (Number, "n"),
        (Keyword, "k"),
        (Operator.Word, "k"),
        (Name.Function, "f"),
        (Name.Class, "f"),
        (Name.Decorator, "f"),
    ):
        if token in kind:
            return name
    return ""
