"""The records, judged. Each file is read and judged once, even if many cells and reports use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol

from jax_stack_compat.base.errors import BadFile
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.issue import Case
from jax_stack_compat.cell.machine import cores
from jax_stack_compat.judge import verdicts
from jax_stack_compat.judge.record import Record
from jax_stack_compat.judge.verdicts import Judged
from jax_stack_compat.judge.wording import not_imported
from jax_stack_compat.stack.lock import Lock
from jax_stack_compat.stack.plan import Cell
from laboratory.cores import over_cores
from laboratory.records import alike, records
from laboratory.records.records import Stamp, Status


class Seen(NamedTuple):
    """A judged record without its texts, as a tuple, since there are tens of thousands. `cell` ran the case."""

    cell: str
    judged: Judged
    confirmed: bool
    attempts: int
    seconds: float
    peak_rss_mib: int
    system: str
    machine: str
    cpu: str
    not_imported: str | None


# The file of a record, the other inputs of its judgement, and the judgement.
_Known = tuple[Stamp, tuple[str, str, str, int], Seen | None]
# A cell, its lock, and cases planned in it.
_Planned = tuple[Cell, Lock, Sequence[tuple[Entry, Case]]]
_SEEN: dict[str, _Known] = {}
# A case is kept here so that no other object gets its id.
_CASES: dict[int, Case] = {}


class JudgedRecords(Protocol):
    """Records of runs, judged: the ones on this machine's disk, or the ones that are packed."""

    def status(self, cell: str) -> Status | None:
        """Return the cell's last status. Raises BadFile."""

    def of_cell(self, cell: Cell, entry: Entry, case: Case, pinned: Lock) -> Seen | None:
        """Return the cell's own observation of a case if it counts. Raises BadFile."""


class Disk:
    """The records on this machine's disk."""

    def status(self, cell: str) -> Status | None:
        """Return the cell's last status. Raises BadFile."""
        return records.status(cell)

    def of_cell(self, cell: Cell, entry: Entry, case: Case, pinned: Lock) -> Seen | None:
        """Return the cell's own observation of a case if it counts. Raises BadFile."""
        path = f"{records.RECORDS}/{cell.id}/{entry.issue.id}/{case.id}.json"
        if (stamp := records.stamp(path)) is None:
            return None
        grounds = pinned.sha256, records.platform(cell.id), cell.python, id(case)
        known = _SEEN.get(path)
        if known is None or known[:2] != (stamp, grounds):
            record = records.of_cell(cell, entry, case, pinned)
            known = _SEEN[path] = stamp, grounds, shown(case, record) if record else None
            _CASES[id(case)] = case
        return known[2]


DISK = Disk()


def seen(cell: Cell, entry: Entry, case: Case, pinned: Lock, evidence: JudgedRecords = DISK) -> Seen | None:
    """Return the valid observation of a case, judged together with the cases that it waits for. Raises BadFile."""
    places = alike.places(cell, entry, case, pinned)
    found = next(filter(None, (evidence.of_cell(each, entry, case, held) for each, held in places)), None)
    if found is None or not case.waits_for:
        return found
    known = dict(catalogue.by_rule(case, pinned.pins))
    for name, each in catalogue.awaited(case).items():
        if (there := seen(cell, *each, pinned, evidence)) is not None:
            known[name] = there.judged.verdict
    return found._replace(judged=verdicts.waited(found.judged, known))


def read_ahead(planned: Sequence[_Planned]) -> None:
    """Read and judge the records of these cells on all cores; `seen` raises for a faulty record."""
    _CASES.update((id(case), case) for _, _, cases in planned for _, case in cases)

    def read(share: Sequence[_Planned]) -> Mapping[str, _Known]:
        for cell, pinned, cases in share:
            with suppress(BadFile):
                for entry, case in cases:
                    DISK.of_cell(cell, entry, case, pinned)
        return _SEEN

    for found in over_cores(read, [planned[start :: cores()] for start in range(cores())]):
        _SEEN.update(found)


def shown(case: Case, record: Record) -> Seen:
    """Return a record of a case, judged."""
    where, last = record.machine.platform, record.attempts[-1]
    return Seen(
        cell=record.cell,
        judged=verdicts.judge(case, record.attempts),
        confirmed=verdicts.confirmed(record.attempts),
        attempts=len(record.attempts),
        seconds=last.seconds,
        peak_rss_mib=last.peak_rss_mib,
        system=where.system,
        machine=where.machine,
        cpu=where.cpu,
        not_imported=not_imported(last.parts["reproducer"]),
    )
