"""The merge of shards into one report, or every reason why they are not parts of one run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from suite.catalogue import catalogue
from suite.errors import BadFile, Fault
from suite.files import ROOT
from suite.judge.wording import named
from suite.report.assemble import untried
from suite.report.by_rule import NO_LINE, Line
from suite.report.derive import derive
from suite.report.join.shard_faults import faults
from suite.report.model import CellRow, Observation, Report
from suite.report.stored import COMPAT, read_report
from suite.stack import lock, plan, releases
from suite.stack.releases import Packages

HERE = ROOT / "suite"


def merge(paths: Iterable[Path]) -> Report:
    """Merge the reports in these files, or in folders with a compat.json; planned cells in none of them are not-run.

    Raises BadFile with every fault in the files, and every reason why they are not parts of one run.
    """
    shards: dict[Path, Report] = {}
    wrong: list[Fault] = []
    for path in (path / COMPAT if path.is_dir() else path for path in paths):
        try:
            shards[path] = read_report(path)
        except BadFile as error:
            wrong += error.faults
    if wrong := [*wrong, *faults(shards)]:
        raise BadFile(wrong)
    plans = planned_here()
    for path, shard in shards.items():
        # Only runs of a tag are sharded.
        if shard.shard and set(shard.planned_cells) not in plans:
            raise BadFile(
                [Fault(path, "planned_cells", f"{_other_plan(shard, plans)}: merge in the tree that was run")]
            )
    offered, line = releases.load().packages, lock.jax_line()
    whole = join(shards, offered, line)
    absent = set(whole.planned_cells).difference(cell.id for cell in whole.cells)
    if not absent:
        return whole
    # Missing cells still have locks and expectations, in this tree. Join them as one more shard, which must agree too.
    planned = [cell for cell in plan.cells() if cell.id in absent]
    ids = {issue.id for issue in whole.issues}
    entries = catalogue.select([], headlines=whole.rows != "cases")
    here = untried(planned, [entry for entry in entries if entry.issue.id in ids], whole.rows)
    shards[HERE] = here.model_copy(update={"planned_cells": whole.planned_cells, "generated_at": whole.generated_at})
    wrong = [Fault(HERE, "cells", f"{name} is not planned") for name in sorted(absent - {cell.id for cell in planned})]
    if wrong := [*wrong, *faults(shards)]:
        why = f"{named(sorted(absent))} in no shard, and this is not the tree that was run"
        raise BadFile([Fault(HERE, "planned_cells", why), *wrong])
    return join(shards, offered, line)


def planned_here() -> list[set[str]]:
    """Return the cells of each tag, as planned in this tree. Raises BadFile."""
    return [{cell.id for cell in plan.tagged(tag)} for tag in plan.TAGS]


def _other_plan(shard: Report, plans: Sequence[set[str]]) -> str:
    """Describe how a shard's plan differs from the nearest one of this tree."""
    theirs = set(shard.planned_cells)
    mine = min(plans, key=lambda plan: len(plan ^ theirs))
    more, less = sorted(theirs - mine), sorted(mine - theirs)
    told = [f"{verb} {named(names)}" for verb, names in (("has", more), ("lacks", less)) if names]
    return f"{' and '.join(told)}, unlike what is planned here"


def join(shards: Mapping[Path, Report], offered: Packages, line: Line = NO_LINE) -> Report:
    """Return one report of all `shards`, which have no `faults`, in the order of the plan.

    Of equal observations the first is kept, unless it was not run.
    """
    first = next(iter(shards.values()))
    place = {cell: number for number, cell in enumerate(first.planned_cells)}
    ids = [(issue.id, case.id) for issue in first.issues for case in issue.cases]
    cases = {name: number for number, name in enumerate(ids)}
    ordered = sorted(shards.values(), key=lambda each: min((place[cell.id] for cell in each.cells), default=len(place)))
    cells: dict[int, CellRow] = {}
    seen: dict[tuple[int, int], Observation] = {}
    for shard in ordered:
        for cell in shard.cells:
            number = place[cell.id]
            if number not in cells or cells[number].declared_observed is None:
                cells[number] = cell
        for observation in shard.observations:
            where = place[observation.cell], cases[observation.issue, observation.case]
            if where not in seen or seen[where].verdict == "not-run":
                seen[where] = observation
    joined = first.model_copy(
        update={
            "generated_at": max(shard.generated_at for shard in ordered),
            "platform": next((brought.platform for brought in ordered if brought.platform.system), first.platform),
            "shard": None,
            "cells": [cells[number] for number in sorted(cells)],
            "observations": [seen[where] for where in sorted(seen)],
        }
    )
    return derive(joined, offered, line)
