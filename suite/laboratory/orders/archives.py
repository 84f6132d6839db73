"""The results of orders that came home: one file for each stack and device, in reports/published/devices."""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from jax_stack_compat.base.errors import BadFile, Fault
from jax_stack_compat.base.fields import CellId, PackageName
from jax_stack_compat.base.files import REPORTS, FileModel, content, parse
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.judge.record import Record
from laboratory.orders.carried import case_keys
from laboratory.orders.runner.kept import Side
from laboratory.programs.model import Program
from laboratory.records import keys

FOLDER = REPORTS / "published" / "devices"
SUFFIX = ".json.xz"
# In bytes, packed and unpacked: a run leaves at most 15 MB.
_PACKED, _UNPACKED = 16_000_000, 512 * 2**20


class OrdersRow(FileModel):
    """The orders that were carried out."""

    made_at: datetime
    suite_version: str
    wants: str


class DeviceStackRow(FileModel):
    """The interpreter's stack and its device; `digest` is a hash of all of it."""

    cell: CellId
    digest: str = Field(pattern=r"^[0-9a-f]{64}$")
    python: str
    packages: dict[PackageName, str]
    platform: str
    kind: str = Field(min_length=1, max_length=100)
    count: int = Field(ge=1)
    runtime: str = ""
    driver: str = ""
    flags: dict[str, str] = Field(default_factory=dict)


class Timed(FileModel):
    """A benchmark's samples in seconds, or why there are none."""

    benchmark: str
    version: str
    samples: list[float] = Field(default_factory=list)
    lacking: str = ""
    failed: str = ""


class NumberRow(FileModel):
    """A call whose result on the device is another than on the CPU.

    `kind` is the kind of the difference. `device` and `cpu` are the statuses against the reference, and `wrong` says
    how the device's result differs from the reference.
    """

    function: str
    form: str
    call: str
    kind: str
    detail: str
    device: str
    cpu: str
    wrong: str = ""

    @property
    def is_listed(self) -> bool:
        """True if the difference is larger than rounding, as far as the kept results show."""
        return self.kind not in ("rounding", "bits")

    @property
    def told(self) -> str:
        """The difference in words: `jax.numpy.sinc(float32): nan for inf, on the CPU 0`."""
        form = "" if self.form == "eager" else f"{self.form} of "
        return f"{form}{self.call}: {self.detail}"


class DeviceRun(FileModel):
    """What ran on a device, and on the CPU beside it, with the same interpreter."""

    schema_version: Literal[1]
    orders: OrdersRow
    stack: DeviceStackRow
    records: dict[Side, list[Record]]
    numbers: dict[Side, dict[str, dict[str, Any]]]
    numbers_machine: dict[Side, dict[str, Any]]
    programs: list[Program]
    texts: dict[str, str] = Field(default_factory=dict)
    timings: list[Timed]
    # Found when the results came home.
    compared: int = 0
    differences: list[NumberRow] = Field(default_factory=list)

    @property
    def cell(self) -> str:
        """The id of the device's cell: `jax-0.11.2+nvidia-h100`."""
        return self.stack.cell

    def by_case(self, side: Side) -> Mapping[tuple[str, str], Record]:
        """Return a side's records, by the ids of issue and case."""
        return {(record.issue, record.case): record for record in self.records[side]}


def read(path: Path) -> DeviceRun:
    """Return the results in an archive, which another machine wrote. Raises BadFile with every fault in it."""
    try:
        packed = content(path)
        if len(packed) > _PACKED:
            raise ValueError(f"has {len(packed) / 1e6:.0f} MB, and a run leaves at most 15")
        decompressor = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_UNPACKED)
        text = decompressor.decompress(packed, max_length=_UNPACKED)
        if not decompressor.eof:
            raise ValueError("is cut short, or unpacks to more than 512 MiB")
        found = parse(DeviceRun, text.decode("utf-8"), path)
    except (OSError, ValueError, lzma.LZMAError) as error:
        raise BadFile([Fault(path, "archive", str(error))]) from error
    if wrong := _faults(found, path):
        raise BadFile(wrong)
    return found


def _faults(found: DeviceRun, path: Path) -> list[Fault]:
    """Return where an archive contradicts itself."""
    wrong = []
    cells = {"device": found.cell, "cpu": f"{found.cell}+on-cpu"}
    for side, records in found.records.items():
        for number, record in enumerate(records):
            if (record.cell, record.key.lock) != (cells[side], found.stack.digest):
                key = f"records.{side}.{number}"
                wrong.append(Fault(path, key, f"is of {record.cell}, and not of this stack's {cells[side]}"))
    return wrong


def load_all(folder: Path | None = None) -> tuple[DeviceRun, ...]:
    """Return all results that came home, by cell. Raises BadFile."""
    return tuple(read(path) for path in sorted((folder or FOLDER).glob(f"*{SUFFIX}")))


def save(found: DeviceRun, folder: Path | None = None) -> Path:
    """Write the results of a stack, and return the path. Raises OSError."""
    path = (folder or FOLDER) / f"{found.cell}{SUFFIX}"
    text = json.dumps(found.model_dump(mode="json", exclude_unset=True), separators=(",", ":"))
    write(path, lzma.compress(text.encode()))
    return path


def valid(found: DeviceRun) -> dict[Side, list[str]]:
    """Return, by side, the cases whose records have the keys of this tree. Raises BadFile."""
    return {side: ["/".join(name) for name in valid_records(found, side)] for side in found.records}


def valid_records(found: DeviceRun, side: Side) -> dict[tuple[str, str], Record]:
    """Return a side's records that have the keys of this tree, by the ids of issue and case. Raises BadFile."""
    wanted, probe = case_keys(), keys.probe_sha256()
    return {
        name: record
        for name, record in found.by_case(side).items()
        if (record.key.issue, record.key.probe) == (wanted.get(name), probe)
    }
