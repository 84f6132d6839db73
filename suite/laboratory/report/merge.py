"""The merge of shards into one report, or every reason why they are not parts of one run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from jax_stack_compat.base.errors import BadFile, Fault
from jax_stack_compat.base.files import ROOT
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.judge.wording import named
from jax_stack_compat.stack import chosen, lock, plan, releases
from jax_stack_compat.stack.releases import Packages
from laboratory.report.assemble import untried
from laboratory.report.derive import NO_LINE, Line, derive
from laboratory.report.folder.compat_json import COMPAT, read_report
from laboratory.report.model import CellRow, Observation, Report

HERE = ROOT / "suite"
Shards = Mapping[Path, Report]
# A shard's facts, by key.
Facts = dict[str, Any]

# Results of a cell, which shards may disagree on until they are joined.
_RESULTS = {"declared_observed", "blocked_by"}
# Computed fields of a case.
_COMPUTED: Any = {"intervals": True, "by_rule": True, "turns": True, "rules": {"__all__": {"evidence"}}}
_SHARED_FIELDS = {"verdict", "behaviour", "reason", "expected", "workaround"}


def merge(paths: Iterable[Path]) -> Report:
    """Merge the reports in these files, or in folders with a compat.json; planned cells that no report has are not-run.

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
        why = f"{named(sorted(absent))} are in no shard, and this is not the tree that was run"
        raise BadFile([Fault(HERE, "planned_cells", why), *wrong])
    return join(shards, offered, line)


def planned_here() -> list[set[str]]:
    """Return the cells of each tag, as planned in this tree. Raises BadFile."""
    return [{cell.id for cell in plan.tagged(tag)} for tag in plan.TAGS]


def _other_plan(shard: Report, plans: Sequence[set[str]]) -> str:
    """Describe how a shard's plan differs from the nearest one of this tree."""
    theirs = set(shard.planned_cells)
    mine = min(plans, key=lambda plan: len(plan ^ theirs))
    return f"{_more_and_less(sorted(theirs), sorted(mine))}, unlike what is planned here"


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


# The check that reports are parts of one run


def faults(shards: Shards) -> list[Fault]:
    """Return every reason why `shards` are not parts of one run; the first shard wins a contradiction."""
    found = list(chain.from_iterable(_torn(path, shard) for path, shard in shards.items()))
    for facts in (_of_run, _of_cells):
        known: dict[str, tuple[Path, Any]] = {}
        for path, shard in shards.items():
            for key, mine in facts(shard).items():
                other, theirs = known.setdefault(key, (path, mine))
                if mine != theirs:
                    found.append(Fault(path, key, _difference(mine, other, theirs)))
    return found


def _torn(path: Path, shard: Report) -> Iterator[Fault]:
    """Yield the faults of a shard by itself: its contents must be exactly what it plans."""
    cells = [cell.id for cell in shard.cells]
    planned = {
        f"{cell.id}: {issue.id}/{case.id}"
        for cell in shard.cells
        for issue in shard.issues
        if chosen.is_planned(issue.id, cell.holds, shard.rows)
        for case in catalogue.run_where(cell.runs, cell.holds, issue.cases, row_zero=issue.row_zero)
    }
    there = [f"{row.cell}: {row.issue}/{row.case}" for row in shard.observations]
    for key, names, wanted in (
        ("planned_cells", shard.planned_cells, set(shard.planned_cells)),
        ("cells", cells, set(shard.planned_cells).intersection(cells)),
        ("observations", there, planned),
    ):
        for message, odd in (
            ("appears twice", [name for name, count in Counter(names).items() if count > 1]),
            ("was not planned", [name for name in dict.fromkeys(names) if name not in wanted]),
            ("is missing", sorted(wanted.difference(names))),
        ):
            if odd:
                yield Fault(path, key, f"{named(odd)} {message}")


def _of_run(shard: Report) -> Facts:
    """Return the facts that all shards of a run must share."""
    common = {"suite_version", "probe_sha256", "planned_cells", "rows"}
    facts = {**shard.model_dump(include=common), "issues": [issue.id for issue in shard.issues]}
    for issue in shard.issues:
        of_issue = {**issue.model_dump(exclude={"cases"}), "cases": [case.id for case in issue.cases]}
        facts |= {f"issues.{issue.id}.{key}": value for key, value in of_issue.items()}
        for case in issue.cases:
            of_case = case.model_dump(exclude=_COMPUTED)
            facts |= {f"issues.{issue.id}.cases.{case.id}.{key}": value for key, value in of_case.items()}
    # A shard in which no cell ran names no platform.
    where = shard.platform.model_dump(include={"system", "machine"}) if shard.platform.system else {}
    return facts | {f"platform.{key}": value for key, value in where.items()}


def _of_cells(shard: Report) -> Facts:
    """Return a shard's facts about its cells; other shards may have the same cells."""
    facts: Facts = {}
    for cell in shard.cells:
        of_cell = cell.model_dump(mode="json", exclude=_RESULTS)
        facts |= {f"cells.{cell.id}.{key}": value for key, value in of_cell.items()}
    for observation in shard.observations:
        # An observation that was not run contradicts nothing.
        if observation.verdict != "not-run":
            of_case = observation.model_dump(include=_SHARED_FIELDS)
            name = f"observations.{observation.cell}/{observation.issue}/{observation.case}"
            facts |= {f"{name}.{key}": value for key, value in of_case.items()}
    return facts


def _difference(mine: Any, other: Path, theirs: Any) -> str:
    if all(isinstance(names, list) and all(isinstance(name, str) for name in names) for names in (mine, theirs)):
        return f"{_more_and_less(mine, theirs) or 'has another order'}, unlike {other}"
    values = f"is {mine!r}, but {theirs!r} in "
    return f"{values if len(values) < 80 else 'differs from '}{other}"


def _more_and_less(mine: Sequence[str], theirs: Sequence[str]) -> str:
    more = [name for name in mine if name not in theirs]
    less = [name for name in theirs if name not in mine]
    return " and ".join(f"{word} {named(names)}" for word, names in (("has", more), ("lacks", less)) if names)
