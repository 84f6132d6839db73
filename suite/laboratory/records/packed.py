"""The packed records as evidence for a report: read into memory, without writing them to this machine's disk."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from jax_stack_compat.base.errors import BadFile
from jax_stack_compat.base.files import faults
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.issue import Case
from jax_stack_compat.judge.record import Record
from jax_stack_compat.stack.lock import Lock
from jax_stack_compat.stack.plan import Cell
from laboratory.records import archive, keys
from laboratory.records.archive import CellLine, PackedRecord
from laboratory.records.records import Status
from laboratory.records.seen import Seen, shown


class _Line(NamedTuple):
    """A line of records: the first, judged, and the places of time and memory among the values of each."""

    first: Seen | None
    seconds: int
    # The oldest records lack it.
    peak_rss_mib: int | None


class Packed:
    """The records packed in a folder. A record counts as it would on disk, in the cell that ran it. Raises BadFile."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or archive.FOLDER
        self._records, self._cells = archive.load(self._folder)
        # The records of a line have one text.
        self._lines: dict[int, _Line] = {}

    def status(self, cell: str) -> Status | None:
        """Return the cell's packed status."""
        line = self._cells.get(cell)
        return line.status if line else None

    def of_cell(self, cell: Cell, entry: Entry, case: Case, pinned: Lock) -> Seen | None:
        """Return the cell's own observation of a case if it counts. Raises BadFile."""
        packed, line = self._records.get((cell.id, entry.issue.id, case.id)), self._cells.get(cell.id)
        if packed is None or line is None or (line.lock, line.packages) != (pinned.sha256, pinned.pins):
            return None
        platform = line.status.platform or keys.here()
        if packed.key["platform"] != platform or not archive.holds(packed.key, cell, entry, case):
            return None
        known = self._lines.get(id(packed.shared))
        if known is None:
            known = self._lines[id(packed.shared)] = self._judged(packed, line, case)
        if known.first is None:
            return None
        memory = 0 if known.peak_rss_mib is None else packed.own[known.peak_rss_mib]
        return known.first._replace(cell=cell.id, seconds=packed.own[known.seconds], peak_rss_mib=memory)

    def _judged(self, packed: PackedRecord, line: CellLine, case: Case) -> _Line:
        # The record with the place of each value instead of the value; only these three are no numbers.
        places = archive.record(packed._replace(own=range(len(packed.own))), line, self._folder)
        machine, last = places["machine"], places["attempts"][-1]
        texts = {name: packed.own[machine[name]] for name in ("import_errors", "unforkable")}
        whole = {**places, "started_at": packed.own[places["started_at"]], "machine": {**machine, **texts}}
        try:
            record = Record.model_validate(whole)
        except ValidationError as error:
            raise BadFile(faults(Record, self._folder, error)) from error
        counts = record.machine.remade or not record.fails_to_import
        return _Line(shown(case, record) if counts else None, last["seconds"], last.get("peak_rss_mib"))
