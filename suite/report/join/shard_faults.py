"""The check that reports are parts of one run, with every reason why not, by file and key. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from suite.catalogue import catalogue
from suite.errors import Fault
from suite.judge.wording import named
from suite.report.model import Report
from suite.stack import chosen

Shards = Mapping[Path, Report]
# A shard's facts, by key.
Facts = dict[str, Any]

# Results of a cell, which shards may disagree on until they are joined.
_RESULTS = {"declared_observed", "blocked_by"}
# Computed fields of a case.
_COMPUTED: Any = {"intervals": True, "by_rule": True, "turns": True, "rules": {"__all__": {"evidence"}}}
_SHARED_FIELDS = {"verdict", "behaviour", "reason", "expected", "workaround"}


def faults(shards: Shards) -> list[Fault]:
    """Return every reason why `shards` are not parts of one run; the first shard with a fact is right."""
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
        for cell in shard.run_here
        for issue in shard.issues
        if chosen.is_planned(issue.id, cell.holds, shard.rows)
        for case in catalogue.run_where(cell.runs, cell.holds, issue.cases, row_zero=issue.row_zero)
    }
    # Cells that were sent in have no plan.
    sent = {cell.id for cell in shard.cells if cell.sent_on is not None}
    there = [f"{row.cell}: {row.issue}/{row.case}" for row in shard.observations if row.cell not in sent]
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
    """Return what a shard says of its cells; other shards may have the same cells."""
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
        more, less = ([name for name in one if name not in two] for one, two in ((mine, theirs), (theirs, mine)))
        told = [f"{word} {named(names)}" for word, names in (("has", more), ("lacks", less)) if names]
        return f"{' and '.join(told) or 'has another order'}, unlike {other}"
    values = f"is {mine!r}, but {theirs!r} in "
    return f"{values if len(values) < 80 else 'is not what it is in '}{other}"
