"""Results of orders, brought home: checked, joined with earlier ones, and filed under the device's cell."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from jax_stack_compat.base.console import OUT
from jax_stack_compat.base.errors import Misused, shown
from jax_stack_compat.base.files import dump
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.packages import ASKED
from laboratory.orders import archives, differences
from laboratory.orders.archives import DeviceRun, Timed
from laboratory.orders.runner.kept import SIDES, Side
from laboratory.programs import cases, sources
from laboratory.programs.model import Program
from laboratory.timings import release_line, results
from laboratory.timings.own_stack import like


def bring_home(paths: Sequence[Path]) -> None:
    """File the results in these archives. Raises BadFile before anything is written, and OSError."""
    found = [archives.read(path) for path in paths]
    stored = {run.cell: run for run in archives.load_all()}
    for run in found:
        mine, other_code = _of_this_tree(run)
        before = stored.get(run.cell)
        if before is not None and before.stack.digest != run.stack.digest:
            OUT.print(f"{run.cell}: these results replace those of another stack: {_told(before)}", soft_wrap=True)
            before = None
        whole = _finished(_joined(before, mine) if before else mine)
        stored[run.cell] = whole
        path = archives.save(whole)
        OUT.print(_summary(whole, other_code), soft_wrap=True)
        told = "`nox -s report -- --published` shows it, and `nox -s rebuild` adds it to what `check` reads"
        OUT.print(f"filed in {shown(path)}: {told}", soft_wrap=True)
        if whole.timings and whole.stack.platform != "cpu":
            OUT.print(_file_timings(whole), soft_wrap=True)


def are_archives(paths: Iterable[Path]) -> bool:
    """Return True if all paths are archives of results, and False if none is. Raises Misused for a mixture."""
    kinds = {path.name.endswith(archives.SUFFIX) for path in paths}
    if len(kinds) > 1:
        raise Misused("results of orders and reports of shards are merged one kind at a time")
    return kinds == {True}


def _of_this_tree(run: DeviceRun) -> tuple[DeviceRun, int]:
    """Return the results of this tree's code, and the number of records of other code. Raises BadFile."""
    kept = {side: list(archives.valid_records(run, side).values()) for side in SIDES}
    lost = sum(len(run.records[side]) - len(kept[side]) for side in SIDES)
    every = sources.programs()
    programs = [_judged(program, every, run) for program in run.programs if program.workload in every]
    return run.model_copy(update={"records": kept, "programs": programs, "texts": {}}), lost


def _judged(program: Program, every: Mapping[str, str], run: DeviceRun) -> Program:
    """Return a program with its source's hash, and the behaviour of its device case."""
    text = "" if program.reason else run.texts.get(f"{program.workload}.hlo.txt", "")
    seen, shown = cases.seen(program.workload, text, program.counts, program.reason)
    return program.model_copy(update={"source": every[program.workload], "seen": seen, "shown": shown})


def _joined(before: DeviceRun, now: DeviceRun) -> DeviceRun:
    """Return the results of two runs on one stack: the later run's, and what only the earlier one has."""

    def records(side: Side) -> list[Any]:
        return list({**before.by_case(side), **now.by_case(side)}.values())

    programs = {program.workload: program for program in (*before.programs, *now.programs)}
    timings = {timed.benchmark: timed for timed in (*before.timings, *now.timings)}
    return now.model_copy(
        update={
            "records": {side: records(side) for side in SIDES},
            "numbers": {side: {**before.numbers[side], **now.numbers[side]} for side in SIDES},
            "numbers_machine": {**before.numbers_machine, **now.numbers_machine},
            "programs": list(programs.values()),
            "timings": list(timings.values()),
        }
    )


def _finished(run: DeviceRun) -> DeviceRun:
    """Return results with the differences between the numbers of both sides."""
    device, cpu = run.numbers["device"], run.numbers["cpu"]
    return run.model_copy(
        update={
            "compared": differences.compared(device, cpu),
            "differences": list(differences.differences(device, cpu)),
        }
    )


def _summary(run: DeviceRun, other_code: int) -> str:
    counts = ", ".join(f"{len(run.records[side])} cases on the {_place(side, run)}" for side in SIDES)
    told = f"{run.cell}: {counts}, {run.compared} calls on both, {len(run.programs)} programs"
    told += f", {sum(bool(each.samples) for each in run.timings)} timings"
    return told + (f"; {other_code} records are of other code than this tree's, and left out" if other_code else "")


def _place(side: Side, run: DeviceRun) -> str:
    return run.stack.kind if side == "device" else "CPU"


def _told(run: DeviceRun) -> str:
    return " ".join(f"{name}=={run.stack.packages[name]}" for name in ASKED if name in run.stack.packages)


def _file_timings(run: DeviceRun) -> str:
    """Write the timings as asv's results of this device, if a release of the line has the stack; return a message."""
    versions = {name: run.stack.packages.get(name, "missing") for name in ASKED}
    try:
        cell = like(versions)
    except Misused as error:
        return f"the timings stay in the archive, and are not on the line: {error}"
    machine = f"{run.stack.platform}-{results.slug(run.stack.kind)}-x{run.stack.count}"
    commit = release_line.hashes(release_line.commits())[cell.id]
    folder = results.RESULTS / machine
    write(folder / "machine.json", dump({**_hardware(run, machine), "version": 1}))
    write(folder / f"{commit[:8]}-existing.json", json.dumps(_of_asv(run, machine, commit)))
    return f"the timings are filed as {machine}, {cell.id}"


def _hardware(run: DeviceRun, machine: str) -> dict[str, str]:
    where = run.records["device"][0].machine if run.records["device"] else None
    cpu = where.platform.cpu if where else ""
    return {
        **{"machine": machine, "os": where.platform.system if where else "", "cpu": f"{run.stack.kind}, {cpu}"},
        **{"arch": where.platform.machine if where else "", "num_cpu": str(where.cores if where else ""), "ram": ""},
    }


def _of_asv(run: DeviceRun, machine: str, commit: str) -> dict[str, Any]:
    """Return asv's file of results on one commit."""
    python = ".".join(run.stack.python.split(".")[:2])
    known: Mapping[str, Any] = results.load(results.RESULTS / "benchmarks.json")
    rows: dict[str, list[Any]] = {}
    by_name: dict[str, dict[str, Timed]] = {}
    for timed in run.timings:
        by_name.setdefault(timed.benchmark.partition("(")[0], {})[timed.benchmark] = timed
    for name, of in by_name.items():
        wanted = results.keys_of(name, known[name]["params"]) if name in known else []
        # A benchmark that was cut off between its parameters has no result.
        if not wanted or of.keys() < set(wanted):
            continue
        mine = [of[key] for key in wanted]
        values = [_value(timed) for timed in mine]
        samples = [timed.samples or None for timed in mine]
        rows[name] = [values, known[name]["params"], mine[0].version, 0, 0.0, samples]
    return {
        **{"commit_hash": commit, "env_name": "existing", "python": python, "requirements": {}, "env_vars": {}},
        "date": int(datetime.now(UTC).timestamp() * 1000),
        "params": {**_hardware(run, machine), "python": python},
        "result_columns": ["result", "params", "version", "started_at", "duration", "samples"],
        **{"results": rows, "durations": {}, "version": 2},
    }


def _value(timed: Timed) -> float | None:
    """Return asv's value of a benchmark: the median, NaN if the release lacks its subject, None if it failed."""
    if timed.failed:
        return None
    return median(timed.samples) if timed.samples else float("nan")
