"""The cost of each case: the median seconds and the peak memory of its records on the line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from statistics import median
from typing import Literal, NamedTuple

from suite.files import ROOT, FileModel, dump, read
from suite.judge.record import Record
from suite.records.work import Name

PATH = ROOT / "suite" / "run" / "schedule" / "costs.json"
# A cost that changed by a smaller factor is kept, so that the file does not change with every run.
_SAME = 1.5


class Cost(NamedTuple):
    """A case's seconds of wall time, and its peak memory in MiB."""

    seconds: float
    mib: int


# The cost of a case that was never run.
UNKNOWN = Cost(1.0, 512)


class Costs(FileModel):
    """The file costs.json."""

    schema_version: Literal[1] = 1
    cases: Mapping[str, Cost]


@cache
def load() -> Mapping[str, Cost]:
    """Return the cost of each case, by `issue/case`. Raises BadFile."""
    return read(Costs, PATH).cases


def of(issue: str, case: str) -> Cost:
    """Return the cost of a case, UNKNOWN if it was never measured."""
    return load().get(f"{issue}/{case}", UNKNOWN)


def seconds(names: Iterable[Name]) -> dict[Name, float]:
    """Return the seconds of these cases."""
    return {name: of(*name).seconds for name in names}


def measured(runs: Iterable[Record], before: Mapping[str, Cost]) -> Mapping[str, Cost]:
    """Return the costs by these records; a cost in `before` that is similar is kept."""
    of_case: dict[str, list[Cost]] = {}
    for record in runs:
        last = record.attempts[-1]
        of_case.setdefault(f"{record.issue}/{record.case}", []).append(Cost(last.seconds, last.peak_rss_mib))
    found = {}
    for name, seen in sorted(of_case.items()):
        seconds = float(f"{median(attempt.seconds for attempt in seen):.2g}")
        cost = Cost(seconds, round(max(attempt.mib for attempt in seen), -1))
        kept = before.get(name)
        found[name] = kept if kept is not None and _is_about(kept, cost) else cost
    return found


def text(cases: Mapping[str, Cost]) -> str:
    """Return the text of costs.json."""
    return dump(Costs(cases=cases).model_dump(mode="json"))


def _is_about(one: Cost, other: Cost) -> bool:
    return all(max(a, b) <= _SAME * min(a, b) for a, b in zip(one, other, strict=True))
