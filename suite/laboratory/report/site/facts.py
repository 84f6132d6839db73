"""The indexes of a report that its pages need. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby

from packaging.version import Version

from jax_stack_compat.check.knowledge import Knowledge, parsed
from jax_stack_compat.judge.verdict_table import UNDECIDED, VERDICTS, Verdict
from jax_stack_compat.libraries.known import KnownLibrary
from laboratory.boundaries.neighbours import LineCell, neighbours
from laboratory.orders.compared import DeviceCell
from laboratory.programs.changes import turns
from laboratory.programs.model import Programs
from laboratory.report import standing, summary
from laboratory.report.formats.check_json import check_json
from laboratory.report.model import CaseRow, CellRow, IssueRow, Observation, Report
from laboratory.report.site.numbers import NOTHING, MeasuredNumbers
from laboratory.report.site.timeline import Step, stands, steps
from laboratory.report.site.timings import TimedMachine
from laboratory.report.standing import Standing

# The area of issues whose behaviours are streams of random numbers.
STREAMS = "random stream"


@dataclass(frozen=True)
class StripRun:
    """Adjacent places of a strip with one verdict; `by_rule` if a rule gives it and none of them was run."""

    verdict: Verdict | None
    x: int
    width: int
    by_rule: bool = False


@dataclass(frozen=True)
class Facts:
    """A report, its timings, its programs for absent devices, its numbers, devices and libraries, with indexes."""

    report: Report
    timed: tuple[TimedMachine, ...] = ()
    programs: tuple[Programs, ...] = ()
    numbers: MeasuredNumbers = NOTHING
    devices: tuple[DeviceCell, ...] = ()
    libraries: Mapping[str, KnownLibrary] = field(default_factory=dict)

    @cached_property
    def seen(self) -> defaultdict[tuple[str, str], dict[str, Observation]]:
        """The observations, by issue and case, then by cell."""
        return summary.by_case(self.report.observations)

    @cached_property
    def on_devices(self) -> dict[str, list[tuple[DeviceCell, int]]]:
        """The devices on which a function returns another result than on the CPU, with the number of such calls."""
        found: dict[str, list[tuple[DeviceCell, int]]] = {}
        for cell in self.devices:
            for function, count in Counter(row.function for row in cell.run.differences if row.is_listed).items():
                found.setdefault(function, []).append((cell, count))
        return found

    @cached_property
    def knowledge(self) -> Knowledge:
        """The report as `check` reads it."""
        return parsed(check_json(self.report, self.devices))

    @cached_property
    def newest_first(self) -> list[CellRow]:
        """The cells: those of the line, then the others, the newest first."""
        on_line = {cell.id for cell in self.line}
        beside = [cell for cell in self.report.cells if cell.id not in on_line]
        return [*reversed(self.line), *reversed(beside)]

    @cached_property
    def cells(self) -> dict[str, CellRow]:
        """The cells by their ids."""
        return {cell.id: cell for cell in self.report.cells}

    @cached_property
    def issues(self) -> dict[str, IssueRow]:
        """The issues by their ids."""
        return {issue.id: issue for issue in self.report.issues}

    @cached_property
    def streams(self) -> list[IssueRow]:
        """The issues whose cases are samplers, and whose behaviours are streams of random numbers."""
        return [issue for issue in self.report.issues if STREAMS in issue.touches]

    @cached_property
    def line(self) -> list[CellRow]:
        """The cells of the line, by date."""
        return summary.line(self.report)

    @cached_property
    def columns(self) -> list[CellRow]:
        """The cells of the line by version of jax, then by date, as tables show them."""
        return standing.columns(self.report)

    @property
    def is_sparse(self) -> bool:
        """True if the report leaves out releases of jax that are on the line."""
        return bool(self.report.jax_line)

    @cached_property
    def places(self) -> list[tuple[str, CellRow | None]]:
        """The release of jax at each place of a strip, with its cell; None for a release that was not run."""
        planned = {cell.holds["jax"] for cell in self.columns if cell.moves == "jax"}
        found: list[tuple[str, CellRow | None]] = [(jax, None) for jax in self.report.jax_line if jax not in planned]
        found += [(cell.versions["jax"], cell) for cell in self.columns]
        return sorted(found, key=lambda place: Version(place[0])) if self.is_sparse else found

    def ruled(self, cases: Iterable[CaseRow]) -> dict[str, Verdict]:
        """Return the worst verdict of `cases` by rule, for each release of jax on which some case was not run."""
        line, found = self.report.jax_line, dict[str, Verdict]()
        for row in (row for case in cases for row in case.by_rule):
            for version in line[line.index(row.first) : line.index(row.last) + 1]:
                found[version] = min(found.get(version, row.verdict), row.verdict, key=VERDICTS.index)
        return found

    def worst_seen(self, issue: IssueRow) -> dict[str, Observation]:
        """Return the worst observation of an issue's cases, by cell."""
        return standing.worst(each for case in issue.cases for each in self.seen[issue.id, case.id].values())

    def worst(self, issue: IssueRow) -> dict[str, Verdict]:
        """Return the worst verdict of an issue's cases, by cell."""
        return {cell: row.verdict for cell, row in self.worst_seen(issue).items()}

    def verdicts(self, issue: IssueRow, case: CaseRow) -> dict[str, Verdict]:
        """Return the verdicts of one case, by cell."""
        return {cell: each.verdict for cell, each in self.seen[issue.id, case.id].items()}

    def runs(self, verdicts: Mapping[str, Verdict], cases: Iterable[CaseRow]) -> list[StripRun]:
        """Return a strip, with adjacent places of one verdict joined; a verdict is None if it is undecided."""
        ruled = self.ruled(cases)

        def shown(place: tuple[str, CellRow | None]) -> tuple[Verdict | None, bool]:
            version, cell = place
            seen = verdicts.get(cell.id) if cell else None
            says = ruled.get(version) if seen is None and (cell is None or cell.moves == "jax") else None
            return seen or says, says is not None

        found, x = [], 0
        for (verdict, by_rule), of in groupby(self.places, shown):
            width = len(list(of))
            found.append(StripRun(verdict, x, width, by_rule))
            x += width
        return found

    @cached_property
    def standings(self) -> dict[str, Standing]:
        """The state of each issue, the worst first."""
        return {each.issue.id: each for each in standing.standings(self.report)}

    def never_well(self, verdicts: Mapping[str, Verdict]) -> bool:
        """Return True if every decided release of the line is bad; False for a sparse report, which lacks releases."""
        return standing.never_well(self.columns, verdicts) and not self.is_sparse

    @cached_property
    def of_cell(self) -> defaultdict[str, list[Observation]]:
        """The observations by cell, in the order of the report."""
        found: defaultdict[str, list[Observation]] = defaultdict(list)
        for observation in self.report.observations:
            found[observation.cell].append(observation)
        return found

    @cached_property
    def before(self) -> dict[str, CellRow]:
        """The cell before each cell of the line, of those that decided a case, in the order of releases."""
        decided = [cell for cell in self.line if any(row.verdict not in UNDECIDED for row in self.of_cell[cell.id])]
        cells = (LineCell(cell.id, cell.moves, cell.packages, cell.released_on) for cell in decided)
        return {after.id: self.cells[before.id] for before, after in neighbours(cells)}

    @cached_property
    def steps(self) -> Mapping[str, Step]:
        """The changes of results from each cell of the line to the next, by the id of the latter."""
        return steps(self.report.issues, self.seen)

    @cached_property
    def turned_programs(self) -> dict[str, list[tuple[Programs, int]]]:
        """The number of changed programs for each device, by the cell of the release."""
        found: dict[str, list[tuple[Programs, int]]] = {}
        for programs in self.programs:
            for cell, count in Counter(turn.after.cell for turn in turns(programs)).items():
                found.setdefault(cell, []).append((programs, count))
        return found

    @cached_property
    def own(self) -> list[tuple[CellRow, list[Observation], int]]:
        """The unplanned stacks: symptoms and undecided observations, worst first, and the number of clear cases."""
        found = []
        for cell in self.report.cells:
            if cell.kind != "line" and not cell.asks:
                of = self.of_cell[cell.id]
                odd = [row for row in of if stands(row.verdict) in ("symptom", "unknown")]
                odd.sort(key=lambda row: VERDICTS.index(row.verdict))
                found.append((cell, odd, sum(stands(row.verdict) == "well" for row in of)))
        return found
