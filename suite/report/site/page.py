"""A report → the view of it that the page's templates ask for. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from markupsafe import Markup

from suite.judge.neighbours import ORDER
from suite.judge.table import PROPERTIES, UNDECIDED, VERDICTS, Properties
from suite.report import summary
from suite.report.model import CaseRow, CellRow, IssueRow, Observation, Report
from suite.report.site.embed import embedded
from suite.report.site.table import Grid, Mark, Stretch, by_minor, grids, kind_of, stretches, with_room
from suite.report.site.timeline import Axis, Step, stands, steps, timeline, verified
from suite.report.upstream_texts import Finding, findings


@dataclass(frozen=True)
class View:
    """A report as the page's templates ask for it."""

    report: Report
    order = ORDER

    @cached_property
    def seen(self) -> defaultdict[tuple[str, str], dict[str, Observation]]:
        """The observations, by issue and case, then by cell."""
        found: defaultdict[tuple[str, str], dict[str, Observation]] = defaultdict(dict)
        for each in self.report.observations:
            found[each.issue, each.case][each.cell] = each
        return found

    @cached_property
    def cells(self) -> dict[str, CellRow]:
        """The cells by their ids."""
        return {cell.id: cell for cell in self.report.cells}

    @cached_property
    def cases(self) -> frozenset[str]:
        """The cases that are on the page, as issue/case."""
        return frozenset(f"{issue.id}/{case.id}" for issue in self.report.issues for case in issue.cases)

    @cached_property
    def line(self) -> list[CellRow]:
        """The cells of the line, in the order of their days."""
        return summary.line(self.report)

    # The matrix, and what it can be filtered by.

    @cached_property
    def groups(self) -> list[tuple[str, list[CellRow]]]:
        """The matrix's columns, by minor release of jax."""
        return by_minor(self.line)

    @cached_property
    def needed(self) -> list[str]:
        """The packages that cases need."""
        found = {name for issue in self.report.issues for case in issue.cases for name in case.needs}
        return sorted(found, key=lambda name: (name != "jax", name != "equinox", name))

    @cached_property
    def verdicts(self) -> list[Properties]:
        """The verdicts that stand in it."""
        ids = {cell.id for cell in self.line}
        found = {each.verdict for each in self.report.observations if each.cell in ids}
        return [each for name, each in PROPERTIES.items() if name in found]

    def marks(self, issue: IssueRow, case: CaseRow) -> list[Mark | None]:
        """A case's row of the matrix."""
        of = self.seen[issue.id, case.id]
        told = {cell: Mark(cell, each.verdict, "", summary.is_unexpected(each)) for cell, each in of.items()}
        return with_room(told.get(cell.id) for _, cells in self.groups for cell in cells)

    def worst(self, issue: IssueRow) -> list[Mark | None]:
        """An issue's own row of the matrix: the worst verdict of its cases, and how many of them have it."""
        cases = [self.seen[issue.id, case.id] for case in issue.cases]
        ids = [cell.id for _, cells in self.groups for cell in cells]
        return with_room(_worst([of[cell] for of in cases if cell in of]) for cell in ids)

    # The issues.

    def now(self, issue: IssueRow) -> Mark | None:
        """What an issue does on the newest stack of the line that was tried."""
        marks = {mark.cell: mark for mark in self.worst(issue) if mark and mark.verdict not in UNDECIDED}
        return next((marks[cell.id] for cell in reversed(self.line) if cell.id in marks), None)

    def workarounds(self, issue: IssueRow) -> dict[str, list[str]]:
        """What to do instead, and the cases in which it was needed and did help."""
        found: dict[str, list[str]] = {}
        for case in issue.cases:
            of = self.seen[issue.id, case.id].values()
            if case.workaround is not None and any(each.workaround == "holds" for each in of):
                found.setdefault(case.workaround.text, []).append(case.id)
        return found

    def disagreeing(self, issue: IssueRow) -> list[Observation]:
        """The observations of an issue that are not as documented, one for each that says something else."""
        odd = (each for each in summary.unexpected(self.report) if each.issue == issue.id)
        found: dict[object, Observation] = {}
        for each in odd:
            found.setdefault(kind_of(each), each)
        return list(found.values())

    def timeline(self, case: CaseRow) -> list[Axis]:
        """A case's intervals as they are drawn."""
        return timeline(case, self.report.cells)

    def verified(self, issue: IssueRow, case: CaseRow) -> str:
        """Where a case's workaround was run and needed, over the releases of jax, for people."""
        return verified(self.line, self.seen[issue.id, case.id])

    def stretches(self, issue: IssueRow, case: CaseRow) -> list[tuple[str, list[Stretch]]]:
        """What was seen of a case, on the line and then on each row of stacks that it is run on."""
        of = self.seen[issue.id, case.id]
        rows = [("the line, day by day", {cell.id: cell.id for cell in self.line})]
        for row in self.report.stacks:
            labels = {cell: self.cells[cell].holds[row.along] for cell in row.cells if cell in self.cells}
            rows.append((f"{summary.held(row)}, along {row.along}", labels))
        told = {cell for _, labels in rows for cell in labels}
        rows.append(("other stacks", {cell: cell for cell in of if cell not in told}))
        found = [
            (name, stretches((label, of[cell]) for cell, label in labels.items() if cell in of))
            for name, labels in rows
        ]
        return [(name, of_name) for name, of_name in found if of_name]

    # Upgrades, stacks, findings.

    @cached_property
    def year(self) -> tuple[str, str] | None:
        """What the upgrade picker shows before anybody picks: the newest stack against that of a year before."""
        tried = [cell for cell in self.line if cell.declared_observed is not None] or self.line
        if not tried:
            return None
        then = tried[-1].released_on - timedelta(days=365)
        return next((cell.id for cell in reversed(tried) if cell.released_on <= then), tried[0].id), tried[-1].id

    @cached_property
    def steps(self) -> list[Step]:
        """What changes from each release of the line to the next."""
        return steps(self.line, self.report.issues, self.seen)

    @cached_property
    def grids(self) -> list[Grid]:
        """The stacks, by question."""
        return grids(self.report.stacks, self.cells)

    @cached_property
    def own(self) -> list[tuple[CellRow, list[Observation], int]]:
        """The stacks that nobody planned: what bites there, worst first, and in how many cases it is well."""
        found = []
        for cell in self.report.cells:
            if cell.kind != "line" and not cell.asks:
                of = [each for each in self.report.observations if each.cell == cell.id]
                odd = [each for each in of if stands(each.verdict) in ("symptom", "unknown")]
                odd.sort(key=lambda each: VERDICTS.index(each.verdict))
                found.append((cell, odd, sum(stands(each.verdict) == "well" for each in of)))
        return found

    @cached_property
    def findings(self) -> list[Finding]:
        """What the runs show and no thread says."""
        return findings(self.report)

    @cached_property
    def data(self) -> Markup:
        """What the page's script needs, as JSON."""
        return embedded(self.report, self.seen, self.year)


def _worst(seen: Sequence[Observation]) -> Mark | None:
    """The worst verdict of an issue's cases in one cell; nothing where none was seen there."""
    if not seen:
        return None
    verdicts = [each.verdict for each in seen]
    worst = min(verdicts, key=VERDICTS.index)
    told = f"{verdicts.count(worst)} of {len(seen)}"
    return Mark(seen[0].cell, worst, told, any(map(summary.is_unexpected, seen)))
