"""Rows of device cases along the compiled releases, with bands of equal behaviour. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from jax_stack_compat.judge.verdict_table import Verdict
from laboratory.programs.cases import CASES, DeviceCase, verdicts
from laboratory.programs.model import Programs, ReleasePrograms


@dataclass(frozen=True)
class CaseCell:
    """A case on a release; `verdict` is None if the case was not compiled or is undecided."""

    release: ReleasePrograms
    verdict: Verdict | None
    seen: str
    shown: str


@dataclass(frozen=True)
class ProgramRow:
    """A case along the compiled releases."""

    case: DeviceCase
    cells: tuple[CaseCell, ...]

    @property
    def bands(self) -> list[tuple[CaseCell, CaseCell, int]]:
        """The runs of neighbouring releases with the same behaviour: the first, the last, and how many."""
        told = [each for each in self.cells if each.verdict]
        of = [list(alike) for _, alike in groupby(told, lambda cell: (cell.verdict, cell.seen))]
        return [(alike[0], alike[-1], len(alike)) for alike in of]


@dataclass(frozen=True)
class Device:
    """The device cases of an issue on one target."""

    found: Programs
    rows: tuple[ProgramRow, ...]


def rows(found: Programs, cases: Sequence[DeviceCase] = CASES) -> tuple[ProgramRow, ...]:
    """Return the rows of the cases that have a program on any release."""
    judged = [(release, verdicts(release)) for release in found.releases]
    every = [ProgramRow(case, tuple(_cell(release, case, of) for release, of in judged)) for case in cases]
    return tuple(row for row in every if row.bands)


def of_issue(compiled: Sequence[Programs], issue: str) -> list[Device]:
    """Return the results of an issue's device cases, by target."""
    mine = [case for case in CASES if case.issue == issue]
    return [Device(found, of) for found in compiled if (of := rows(found, mine))]


def _cell(release: ReleasePrograms, case: DeviceCase, of: dict[str, Verdict]) -> CaseCell:
    program = release.program(case.program)
    return CaseCell(release, of.get(case.program), program.seen if program else "", program.shown if program else "")
