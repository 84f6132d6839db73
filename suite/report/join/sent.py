"""The results of `check --confirm` from another machine, as a cell of their own in a report.

They are shown with the device, but are not evidence: attributions and answers rest only on this project's own runs.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from packaging.version import Version
from pydantic import AfterValidator, Field, StringConstraints, model_validator

from suite.catalogue import catalogue
from suite.catalogue.catalogue import Entry
from suite.cell.issue import Case
from suite.errors import BadFile, Fault
from suite.fields import Moment, PackageName
from suite.files import FileModel, read, text
from suite.judge.record import Attempt, Key, Machine, Record, Where
from suite.judge.wording import named
from suite.records import keys
from suite.records.seen import shown
from suite.report.assemble import observation
from suite.report.derive import coverage
from suite.report.model import CellRow, Observation, Platform, Report
from suite.spelling import cell_id, version
from suite.stack import releases
from suite.stack.packages import HELD


def _normal(text: str) -> str:
    return str(Version(version(text)))


# Pages show these words unchanged, so few characters are allowed.
_PLAIN = r"[\w ()@.,:;+*#®™-]*"
_Words = Annotated[str, StringConstraints(pattern=rf"^{_PLAIN}([\w)]/{_PLAIN})*$", max_length=100)]
# Markup or paths in the output of a foreign program.
_MARKUP = re.compile(r"[<>]|[/\\~]\w")
_Hash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
_Version = Annotated[str, AfterValidator(_normal)]


class _Where(Where):
    """A machine, in a file from outside."""

    system: _Words
    machine: _Words
    cpu: _Words


class _Machine(Machine):
    """An interpreter, in a file from outside."""

    python: Annotated[str, StringConstraints(pattern=r"^3\.\d{1,2}\.\d{1,2}((a|b|rc)\d{1,2})?\+?$")]
    packages: dict[PackageName, _Version | None] = Field(max_length=50)
    platform: _Where


class _Key(Key):
    """A key, to be compared with this tree's."""

    issue: _Hash
    probe: _Hash


class _Record(Record):
    """A record, in a file from outside."""

    schema_version: Literal[2]
    key: _Key
    started_at: Moment
    machine: _Machine
    attempts: list[Attempt] = Field(min_length=1, max_length=20)


class Sent(FileModel):
    """The file that `check --confirm` writes: records of one interpreter, and JAX's name for its device."""

    mend: ClassVar[str] = "`check --confirm` writes such a file"

    schema_version: Literal[1]
    device: _Words
    records: list[_Record] = Field(min_length=1)

    @model_validator(mode="after")
    def _is_of_one_place(self) -> Sent:
        names = Counter(f"{record.issue}/{record.case}" for record in self.records)
        if twice := [name for name, count in names.items() if count > 1]:
            raise ValueError(f"it has {named(twice)} more than once")
        first, *others = (record.machine for record in self.records)
        if any(
            (machine.python, machine.packages, machine.platform) != (first.python, first.packages, first.platform)
            for machine in others
        ):
            raise ValueError("its records are from more than one interpreter")
        if not first.packages.get("jax"):
            raise ValueError("its packages do not include jax")
        cell_id(self.cell)
        return self

    @property
    def packages(self) -> dict[str, str]:
        """The installed packages, of those that were looked for."""
        return {name: version for name, version in self.records[0].machine.packages.items() if version}

    @property
    def cell(self) -> str:
        """The id of its cell: its jax, its device unless that is a CPU, and a hash of the rest."""
        kind = self.device.partition(" ")[0].lower()
        kind = kind if kind.isalnum() and kind != "cpu" else ""
        told = f"{sorted(self.packages.items())} {self.records[0].machine} {self.device}"
        parts = [
            f"jax-{self.packages['jax']}",
            *[kind] * bool(kind),
            f"sent-{hashlib.sha256(told.encode()).hexdigest()[:8]}",
        ]
        return "+".join(parts)


def is_sent(path: Path) -> bool:
    """Return True if a file was sent in; False for a report and for an unreadable file."""
    try:
        found = json.loads(text(path)) if path.is_file() else None
    except (BadFile, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "records" in found


def add(report: Report, paths: Iterable[Path]) -> Report:
    """Return `report` with a cell for each of these files, replacing older cells with the same id.

    Raises BadFile with every fault in them; a record made by other code than this tree's is a fault.
    """
    wrong: list[Fault] = []
    found: dict[str, tuple[CellRow, list[Observation]]] = {}
    first: dict[str, Path] = {}
    for path in paths:
        try:
            sent = read(Sent, path)
            seen = list(_observations(sent, path))
        except BadFile as error:
            wrong += error.faults
            continue
        if (other := first.setdefault(sent.cell, path)) != path:
            wrong.append(
                Fault(path, "records", f"are of the same interpreter as those of {other}. Merge only one of the files")
            )
        found[sent.cell] = _cell(sent), seen
    if wrong:
        raise BadFile(wrong)
    if not found:
        return report
    observations = [row for row in report.observations if row.cell not in found]
    observations += [row for _, seen in found.values() for row in seen]
    return report.model_copy(
        update={
            "planned_cells": [*(cell for cell in report.planned_cells if cell not in found), *found],
            "cells": [*(cell for cell in report.cells if cell.id not in found), *(row for row, _ in found.values())],
            "observations": observations,
            "coverage": coverage(observations),
        }
    )


def _observations(sent: Sent, path: Path) -> Iterator[Observation]:
    known = {(entry.issue.id, case.id): (entry, case) for entry in catalogue.entries() for case in entry.issue.cases}
    order = {name: place for place, name in enumerate(known)}
    wrong: list[Fault] = []
    for record in sorted(sent.records, key=lambda each: order.get((each.issue, each.case), -1)):
        name = f"{record.issue}/{record.case}"
        if (record.issue, record.case) not in known:
            wrong.append(Fault(path, name, "is not a case of this tree"))
            continue
        entry, case = known[record.issue, record.case]
        if why := _other_code(record, entry, case):
            wrong.append(
                Fault(path, name, f"ran with {why} than this tree's. Run `check --confirm` again with this tree")
            )
            continue
        found = shown(case, record)
        made = observation(sent.cell, record.issue, case, sent.packages, found.judged, found)
        yield made.model_copy(update={"ran_in": None, "detail": "" if _MARKUP.search(made.detail) else made.detail})
    if wrong:
        raise BadFile(wrong)


def _other_code(record: Record, entry: Entry, case: Case) -> str:
    if record.key.probe != keys.probe_sha256():
        return "another probe"
    return "" if record.key.issue == keys.case_sha256(entry, case) else "another reproducer"


def _cell(sent: Sent) -> CellRow:
    machine, offered = sent.records[0].machine, releases.load().packages
    holds = {name: Version(sent.packages[name]).public for name in HELD if name in sent.packages}
    python = machine.python.rpartition(".")[0]
    excluded = releases.exclusion(sent.packages, offered, python)
    return CellRow(
        id=sent.cell,
        kind="arm",
        moves="jax",
        holds=holds,
        python=python,
        released_on=_released_on(sent, offered),
        packages=sent.packages,
        declared="excludes" if excluded else "allows",
        excluded_by=excluded,
        sent_on=Platform(**machine.platform.model_dump(), device=sent.device),
    )


def _released_on(sent: Sent, offered: releases.Packages) -> date:
    """Return the date of its newest release or, if the snapshot has none of its releases, the date of its run."""
    days = [
        offered[name][version].uploaded.date()
        for name, version in sent.packages.items()
        if version in offered.get(name, {})
    ]
    return max(days, default=min(record.started_at for record in sent.records).date())
