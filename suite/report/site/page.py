"""A report → the view of it that the page's templates ask for. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from markupsafe import Markup

from suite.judge.neighbours import ORDER
from suite.judge.rules import Run
from suite.judge.table import PROPERTIES, UNDECIDED, VERDICTS, Properties
from suite.report import summary
from suite.report.model import CaseRow, CellRow, IssueRow, Observation, Report
from suite.report.site.embed import embedded
from suite.report.site.table import Grid, Group, Mark, Stretch, columns, grids, groups, kind_of, marks, stretches
from suite.report.site.timeline import Axis, Step, stands, steps, timeline, verified
from suite.report.upstream_texts import Finding, findings


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

    def runs(self, issue: str, case: str) -> list[Run]:
        """What a case is known to have done, for a prediction: its runs, in the order of the cells."""
        of = self.seen.get((issue, case), {})
        return [
            Run(cell.id, cell.packages, each.behaviour or each.verdict)
            for cell in self.report.cells
            if (each := of.get(cell.id)) is not None and each.verdict not in UNDECIDED
        ]

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
    def verdicts(self) -> list[Properties]:
        """The verdicts that stand in the matrix, to filter by."""
        ids = {cell.id for cell in self.line}
        found = {each.verdict for each in self.report.observations if each.cell in ids}
        return [each for name, each in PROPERTIES.items() if name in found]

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
            verdict = min((each.verdict for each in seen), key=VERDICTS.index)
            number = sum(each.verdict == verdict for each in seen)
            told.append((cell.id, verdict, f"{number} of {len(seen)}", any(map(summary.is_unexpected, seen))))
        return marks(told)

    def stretches(self, issue: IssueRow, case: CaseRow) -> list[tuple[str, list[Stretch]]]:
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
        found = [
            (name, stretches([(label, of[cell]) for cell, label in ordered if cell in of])) for name, ordered in named
        ]
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

    def workarounds(self, issue: IssueRow) -> dict[str, list[str]]:
        """What to do instead, and the cases in which it was needed and did help."""
        found: dict[str, list[str]] = {}
        for case in issue.cases:
            of = self.seen.get((issue.id, case.id), {})
            if case.workaround is not None and any(each.workaround == "holds" for each in of.values()):
                found.setdefault(case.workaround.text, []).append(case.id)
        return found

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
        kinds = {kind_of(each): each for each in reversed(odd)}
        return [kinds[kind] for kind in dict.fromkeys(map(kind_of, odd))]

    @cached_property
    def steps(self) -> list[Step]:
        """What changes from each release of the line to the next."""
        return steps(self.line, self.report.issues, self.seen)

    @property
    def order(self) -> str:
        """How the releases of the steps are ordered."""
        return ORDER

    @cached_property
    def own(self) -> list[tuple[CellRow, list[Observation], int]]:
        """The stacks that nobody planned: what bites there, worst first, and in how many cases it is well."""
        found = []
        for cell in self.report.cells:
            if cell.kind != "line" and not cell.asks:
                of = [each for each in self.report.observations if each.cell == cell.id]
                odd = [each for each in of if stands(each.verdict) not in ("well", "absent", "documented", "blocked")]
                odd.sort(key=lambda each: VERDICTS.index(each.verdict))
                found.append((cell, odd, sum(stands(each.verdict) == "well" for each in of)))
        return found

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
