"""Reports on the real stacks and issues, of any size, made from the expected behaviours without a run."""

import base64
import hashlib
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from jax_stack_compat.base.errors import BadFile, Fault
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.judge.metadata import declared_observed
from jax_stack_compat.judge.rules import concerned, first_match, requirements
from jax_stack_compat.judge.verdict_table import UNDECIDED
from jax_stack_compat.stack import plan, releases
from jax_stack_compat.stack.plan import Cell
from laboratory.records.records import Status
from laboratory.records.work import planned
from laboratory.report.assemble import untried
from laboratory.report.derive import derive
from laboratory.report.model import Observation, Report
from laboratory.run.schedule import scheduler
from laboratory.run.spread.worker import Kept


def pretend(packages: Path, pins: Mapping[str, str]) -> None:
    """Make these releases appear installed in a folder of packages, without contents."""
    for name, version in pins.items():
        folder = packages / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir(parents=True, exist_ok=True)
        text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        (folder / "METADATA").write_text(text, encoding="utf-8")


def refused(read: Callable[..., object], *given: Any) -> list[Fault]:
    """Return the faults that `read` raises."""
    with pytest.raises(BadFile) as caught:
        read(*given)
    return caught.value.faults


def packed(path: Path, info: str, files: Mapping[str, bytes]) -> Path:
    """Pack a wheel of these files, and of the RECORD that its folder of metadata `info` has then."""
    rows = [f"{info}/RECORD,,\n"]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
            rows.append(f"{name},sha256={digest},{len(content)}\n")
        archive.writestr(f"{info}/RECORD", "".join(rows))
    return path


def ran(cell: Cell, entries: Sequence[Entry], *, fresh: bool = False) -> Status:
    """Run a cell on this machine, and return how far it got."""
    (status,) = scheduler.run([planned(cell, entries, fresh=fresh)], lambda _: Kept())
    return status


def started_with(folder: Path) -> list[int]:
    """Return the living processes, without zombies, whose cases leave their files in `folder`."""
    mark, found = f"CORPUS_FOLDER={folder}".encode(), []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            found += [int(path.parent.name)] if mark in path.read_bytes().split(b"\0") else []
    return found


def some() -> list[Entry]:
    """The six issues of the first reports, which the tests name, and every twelfth of the others."""
    first = {"stack-smoke", "wraps-lower-bypass", "method-jit-caching", "compute-on-aot"}
    first |= {"filter-grad-return-type", "tracer-hash-while-loop"}
    return [each for number, each in enumerate(catalogue.entries()) if each.issue.id in first or number % 12 == 0]


def as_known(cells: Sequence[Cell], entries: Sequence[Entry] = ()) -> Report:
    """Return a report in which each case has its expected behaviour and each workaround helps."""
    blank = untried(cells, entries or some())
    cases = {(issue.id, case.id): case for issue in blank.issues for case in issue.cases}
    row_zero = {(issue.id, case.id) for issue in blank.issues if issue.row_zero for case in issue.cases}
    gone = {cell.id for cell in cells if cell.unavailable is not None}
    pins = {cell.id: cell.packages for cell in blank.cells}

    def blocked(each: Observation) -> bool:
        rules = [first_match(cases[key].rules, pins[each.cell]) for key in row_zero]
        stops = [rule for rule in rules if rule is not None and rule.behaviour == "import-error"]
        named = {wanted.name for rule in stops for wanted in requirements(rule.on)} - {"jax", "jaxlib"}
        needed = concerned(cases[each.issue, each.case].needs)
        return (each.issue, each.case) not in row_zero and not named.isdisjoint(needed)

    def ran(each: Observation) -> Observation:
        if each.cell in gone or each.expected is None:
            return each.model_copy(update={"verdict": "unavailable", "reason": "plan.yanked"})
        if blocked(each):
            return each.model_copy(update={"verdict": "blocked", "reason": "import.exception"})
        case = cases[each.issue, each.case]
        verdict = case.behaviours.get(each.expected, "different")
        helps = case.workaround is not None and verdict not in ("clear", "absent", "different")
        return each.model_copy(
            update={
                **{"verdict": verdict, "behaviour": each.expected, "agreement": "as-expected", "attempts": 1},
                **{"reason": None if verdict == "clear" else f"run.{each.expected}", "detail": f"saw {each.expected}"},
                **{"seconds": 0.5, "peak_rss_mib": 150},
                "workaround": "holds" if helps else "none",
            }
        )

    observations = [ran(each) for each in blank.observations]
    broken = {each.cell for each in observations if (each.issue, each.case) in row_zero and each.verdict != "clear"}
    shown = [
        cell
        if cell.id in gone
        else cell.model_copy(update={"declared_observed": declared_observed(cell.declared, cell.id not in broken)})
        for cell in blank.cells
    ]
    platform = blank.platform.model_copy(update={"system": "Linux", "machine": "x86_64", "cpu": "a cpu"})
    made = blank.model_copy(update={"observations": observations, "cells": shown, "platform": platform})
    return derive(made, releases.load().packages)


def otherwise(of: Report) -> Report:
    """Return the previous day's report, with every seventh observation different and some missing."""

    def was(number: int, each: Observation) -> Observation:
        if number % 7 or each.verdict in UNDECIDED:
            return each
        verdict = "clear" if each.verdict == "affected" else "affected"
        return each.model_copy(update={"verdict": verdict, "behaviour": "otherwise"})

    observations = [was(*each) for each in enumerate(of.observations) if each[0] % 29]
    return of.model_copy(update={"observations": observations, "generated_at": of.generated_at - timedelta(days=1)})


def few() -> list[Cell]:
    """Some stacks of every kind: releases of jax and of libraries, a yanked one, and arms."""
    wanted = ("0.4.31", "0.4.32", "0.4.36", "0.4.38", "0.5.3", "0.6.0", "0.7.0", "0.8.0", "0.12.0.1")
    of_line = {*(f"jax-{version}" for version in wanted), "equinox-0.11.10", "diffrax-0.6.1"}
    return [
        cell
        for cell in plan.cells()
        if cell.id in of_line
        or (cell.id.startswith("jax-0.4.3") and "equinox-0.11.8+diffrax-0.6.0" in cell.id)
        or cell.id == "jax-0.7.0+equinox-0.11.8+diffrax-0.6.0"
    ]
