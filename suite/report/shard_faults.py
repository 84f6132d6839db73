"""Whether reports are parts of one run: every reason why not, by file and key. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from suite.errors import Fault
from suite.report.model import CellRow, IssueRow, Observation, Report
from suite.run import catalogue

Shards = Mapping[Path, Report]

# What a run must have in common, whole.
_COMMON = ("suite_version", "probe_sha256", "planned_cells")
# What a cell is found to be, as against what it is.
_FOUND = {"declared_observed", "blocked_by"}
_TOLD = {"verdict", "behaviour", "reason", "expected", "workaround"}


def faults(shards: Shards) -> list[Fault]:
    """Every reason why `shards` are not parts of one run."""
    if not shards:
        return []
    torn = chain.from_iterable(_torn(path, shard) for path, shard in shards.items())
    return [*torn, *_unlike(shards), *_unlike_in_common(shards)]


def _torn(path: Path, shard: Report) -> Iterator[Fault]:
    """What is wrong in a shard by itself: it must have all of what it says it is, and nothing else."""
    cells = [cell.id for cell in shard.cells]
    planned = {
        f"{cell.id}: {issue.id}/{case.id}"
        for cell in shard.cells
        for issue in shard.issues
        for case in issue.cases
        if catalogue.concerns(cell.runs, case.needs, row_zero=issue.row_zero)
    }
    there = [f"{each.cell}: {each.issue}/{each.case}" for each in shard.observations]
    for key, names, wanted in (
        ("planned_cells", shard.planned_cells, set(shard.planned_cells)),
        ("cells", cells, set(shard.planned_cells).intersection(cells)),
        ("observations", there, planned),
    ):
        for message, odd in (
            ("stands there twice", [name for name, count in Counter(names).items() if count > 1]),
            ("is not of what was planned", [name for name in dict.fromkeys(names) if name not in wanted]),
            ("is missing", sorted(wanted.difference(names))),
        ):
            if odd:
                yield Fault(path, key, f"{named(odd)} {message}")


def _unlike(shards: Shards) -> Iterator[Fault]:
    """Where shards differ from the first in what all must have."""
    (first, reference), *others = shards.items()
    for path, shard in others:
        mine, whole = ({key: getattr(each, key) for key in _COMMON} for each in (shard, reference))
        yield from _differences(path, "", mine, first, whole)
        issues = {issue.id: issue for issue in shard.issues}
        known = {issue.id: issue for issue in reference.issues}
        yield from _differences(path, "", {"issues": list(issues)}, first, {"issues": list(known)})
        for name in [each for each in known if each in issues]:
            yield from _differences(path, f"issues.{name}.", _tables(issues[name]), first, _tables(known[name]))
    where: tuple[Path, Report] | None = None
    for path, shard in shards.items():
        # One in which no cell ran saw no machine.
        if shard.platform.system:
            where = where or (path, shard)
            mine, whole = (each.platform.model_dump(include={"system", "machine"}) for each in (shard, where[1]))
            yield from _differences(path, "platform.", mine, where[0], whole)


def _unlike_in_common(shards: Shards) -> Iterator[Fault]:
    """Where shards differ on a cell, or an observation, that more than one of them has."""
    cells: dict[str, tuple[Path, CellRow]] = {}
    told: dict[tuple[str, str, str], tuple[Path, Observation]] = {}
    for path, shard in shards.items():
        for cell in shard.cells:
            before, known = cells.setdefault(cell.id, (path, cell))
            mine, theirs = (each.model_dump(mode="json", exclude=_FOUND) for each in (cell, known))
            yield from _differences(path, f"cells.{cell.id}.", mine, before, theirs)
        for each in shard.observations:
            key = each.cell, each.issue, each.case
            # Not to have run it contradicts nobody.
            if each.verdict != "not-run":
                before, other = told.setdefault(key, (path, each))
                mine, theirs = (one.model_dump(include=_TOLD) for one in (each, other))
                yield from _differences(path, f"observations.{'/'.join(key)}.", mine, before, theirs)


def _tables(issue: IssueRow) -> dict[str, Any]:
    """What an issue says, key by key, but for what is computed of it."""
    said = issue.model_dump(mode="json", exclude={"cases"})
    said["cases"] = [case.id for case in issue.cases]
    for case in issue.cases:
        dumped = case.model_dump(mode="json", exclude={"intervals", "turns"})
        said |= {f"cases.{case.id}.{name}": value for name, value in dumped.items()}
    return said


def _differences(
    path: Path, prefix: str, mine: Mapping[str, Any], other: Path, theirs: Mapping[str, Any]
) -> Iterator[Fault]:
    for key in dict.fromkeys([*theirs, *mine]):
        if mine.get(key) != theirs.get(key):
            yield Fault(path, f"{prefix}{key}", _difference(mine.get(key), other, theirs.get(key)))


def _difference(mine: Any, other: Path, theirs: Any) -> str:
    if _are_names(mine) and _are_names(theirs):
        more, less = ([name for name in one if name not in two] for one, two in ((mine, theirs), (theirs, mine)))
        told = [f"{word} {named(names)}" for word, names in (("has", more), ("lacks", less)) if names]
        return f"{' and '.join(told) or 'has another order'}, unlike {other}"
    values = f"is {mine!r}, but {theirs!r} in "
    return f"{values if len(values) < 80 else 'is not what it is in '}{other}"


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def named(names: Sequence[str]) -> str:
    """A few of these names, and how many more there are."""
    rest = len(names) - 3
    return ", ".join(names[:3]) + (f" and {rest} more" if rest > 0 else "")
