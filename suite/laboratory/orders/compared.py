"""Cases on a device and on the CPU beside it, judged and compared. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.cell.issue import Case
from jax_stack_compat.judge import verdicts
from jax_stack_compat.judge.record import Record
from jax_stack_compat.judge.verdict_table import UNDECIDED
from jax_stack_compat.judge.verdicts import Judged
from laboratory.orders import archives
from laboratory.orders.archives import DeviceRun, DeviceStackRow, valid_records
from laboratory.orders.carried import Name, every, is_of_device
from laboratory.orders.runner.kept import Side
from laboratory.programs.model import Program, Programs

# Not run on this side.
_NOT_RUN = Judged("not-run", None, "run.not-tried", "it was not run on this side")


@dataclass(frozen=True)
class DeviceRow:
    """A case on a device and on its CPU sibling: the same interpreter, told to use the CPU.

    A case `about_devices` has no sibling, and a `question` that no other page asks.
    """

    issue: str
    case: str
    device: Judged
    cpu: Judged
    about_devices: bool = False
    question: str = ""

    @property
    def ran_there(self) -> bool:
        """True if it ran on the device."""
        return self.device != _NOT_RUN

    @property
    def is_decided(self) -> bool:
        """True if both sides say something about upstream."""
        return self.device.verdict not in UNDECIDED and self.cpu.verdict not in UNDECIDED

    @property
    def differs(self) -> bool:
        """True if both sides are decided, and show different behaviours."""
        seen = [each.behaviour or each.verdict for each in (self.device, self.cpu)]
        return self.is_decided and seen[0] != seen[1]


@dataclass(frozen=True)
class DeviceCell:
    """The cell of a device: its results beside those of the CPU."""

    run: DeviceRun
    rows: tuple[DeviceRow, ...]

    @property
    def id(self) -> str:
        """The cell's id."""
        return self.run.cell

    @property
    def stack(self) -> DeviceStackRow:
        """The stack and its device."""
        return self.run.stack

    @property
    def decided(self) -> list[DeviceRow]:
        """The cases that both sides decide."""
        return [row for row in self.rows if row.is_decided]

    @property
    def different(self) -> list[DeviceRow]:
        """The cases that differ from the CPU."""
        return [row for row in self.rows if row.differs]

    @property
    def undecided(self) -> list[DeviceRow]:
        """The cases that ran on the device, and that a side leaves undecided."""
        return [row for row in self.rows if row.ran_there and not row.is_decided and not row.about_devices]

    @property
    def about_devices(self) -> list[DeviceRow]:
        """The device cases that ran."""
        return [row for row in self.rows if row.about_devices and row.ran_there]

    @cached_property
    def by_case(self) -> Mapping[Name, DeviceRow]:
        """The rows, by the ids of issue and case."""
        return {(row.issue, row.case): row for row in self.rows}


@dataclass(frozen=True)
class ProgramPair:
    """A program compiled by the device, and its prediction: the same release compiled without the device."""

    workload: str
    predicted: Program
    here: Program
    counts: tuple[tuple[str, int, int], ...]

    @property
    def is_same(self) -> bool:
        """True if all counts that both have are equal."""
        return not self.counts and bool(self.predicted.reason) == bool(self.here.reason)


def load_all() -> tuple[DeviceCell, ...]:
    """Return the judged results of all devices. Raises BadFile."""
    return tuple(map(cell_of, archives.load_all()))


def cell_of(run: DeviceRun) -> DeviceCell:
    """Return the judged results of a device. Raises BadFile."""
    device, cpu = (_judged(run, side) for side in ("device", "cpu"))
    rows = [
        DeviceRow(
            issue=entry.issue.id,
            case=case.id,
            device=device.get(name, _NOT_RUN),
            cpu=cpu.get(name, _NOT_RUN),
            about_devices=is_of_device(entry),
            question=case.question,
        )
        for name, (entry, case) in every().items()
        if name in device or name in cpu
    ]
    return DeviceCell(run, tuple(rows))


def _judged(run: DeviceRun, side: Side) -> dict[Name, Judged]:
    """Return the verdict on each case of a side, with the cases that it waits for."""
    records = valid_records(run, side)
    cases = {name: case for name, (_, case) in every().items()}
    alone = {name: verdicts.judge(cases[name], record.attempts) for name, record in records.items()}
    return {name: _waited(cases[name], records[name], judged, alone) for name, judged in alone.items()}


def _waited(case: Case, record: Record, judged: Judged, alone: Mapping[Name, Judged]) -> Judged:
    if not case.waits_for:
        return judged
    pins = {name: version for name, version in record.machine.packages.items() if version}
    known = dict(catalogue.by_rule(case, pins))
    for text in case.waits_for:
        issue, _, name = text.partition("/")
        if (issue, name) in alone:
            known[text] = alone[issue, name].verdict
    return verdicts.waited(judged, known)


def programs(run: DeviceRun, compiled: Programs) -> list[ProgramPair]:
    """Return the programs of a device that its release also compiled without it."""
    release = compiled.release(f"jax-{run.stack.packages['jax']}")
    found = []
    for here in run.programs:
        predicted = release.program(here.workload) if release else None
        if predicted is None or predicted.source != here.source:
            continue
        both = [name for name in predicted.counts if name in here.counts]
        counts = [(name, predicted.counts[name], here.counts[name]) for name in both]
        other = tuple(row for row in counts if row[1] != row[2])
        found.append(ProgramPair(here.workload, predicted, here, other))
    return found
