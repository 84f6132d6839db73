"""The cost of each case: the median seconds and the peak memory of its records on the line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from jax_stack_compat.base.files import FileModel, read
from jax_stack_compat.judge.prediction import Name

PATH = Path(__file__).with_name("costs.json")


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
