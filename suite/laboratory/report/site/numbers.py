"""The site's view of the published numbers: what each call returns along the releases, and what a release changed.

Pure, and nothing is judged here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from packaging.version import Version

from jax_stack_compat.numbers.model import CallRow, Measured, by_function, measured


@dataclass(frozen=True)
class MeasuredNumbers:
    """What was measured, and the rows of each function; no rows if a report has no numbers."""

    measured: Measured
    rows: Mapping[str, tuple[CallRow, ...]]


@dataclass(frozen=True)
class ChangedNumbers:
    """The calls that return something else on a release than on `before`, the measured release before it.

    `skipped` has the releases between the two. `unlisted` counts the calls that differ only by `rounding`, or by `bits`
    in results of which only a digest is kept.
    """

    before: str
    skipped: list[str]
    functions: dict[str, list[CallRow]]
    unlisted: Mapping[str, int]


NOTHING = MeasuredNumbers(Measured(releases=(), cpu=(), functions=0, calls=0), {})


def load() -> MeasuredNumbers:
    """Return the published numbers. Raises BadFile."""
    return MeasuredNumbers(measured(), by_function())


def by_call(rows: Iterable[CallRow]) -> dict[tuple[str, str], list[CallRow]]:
    """Return rows by form and call."""
    found: dict[tuple[str, str], list[CallRow]] = {}
    for row in rows:
        found.setdefault((row.form, row.call), []).append(row)
    return found


def stretches(rows: Iterable[CallRow], releases: tuple[str, ...]) -> list[CallRow]:
    """Return the rows of one call; adjacent rows that differ only by rounding are joined."""
    found: list[CallRow] = []
    for row in rows:
        before = found[-1] if found else None
        if before is not None and not row.listed and row.status == before.status and _follows(before, row, releases):
            found[-1] = replace(
                row, first=before.first, change=before.change, was=before.was, explained=before.explained
            )
        else:
            found.append(row)
    return found


def changed(numbers: MeasuredNumbers, release: str, line: Iterable[str]) -> ChangedNumbers | None:
    """Return what changed with a release of jax; None if it or no earlier release was measured.

    `line` has all releases of jax.
    """
    place = _place(numbers.measured.releases, release)
    if place < 1:
        return None
    before = numbers.measured.releases[place - 1]
    skipped = [each for each in line if Version(before) < Version(each) < Version(release)]
    turned = [row for rows in numbers.rows.values() for row in rows if row.first == release and row.change]
    functions: dict[str, list[CallRow]] = {}
    for row in turned:
        if row.listed:
            functions.setdefault(row.function, []).append(row)
    # Changes that no issue explains come first.
    ordered = sorted(functions.items(), key=lambda each: (all(row.explained for row in each[1]), each[0]))
    return ChangedNumbers(before, sorted(skipped, key=Version), dict(ordered), unlisted(turned))


def unlisted(rows: Iterable[CallRow]) -> dict[str, int]:
    """Return the number of changes that are not listed, by kind."""
    return dict(Counter(row.change for row in rows if row.change and not row.listed))


def call(row: CallRow) -> str:
    """Return a call as written in code, without its function's module: `jit: sin(float32)`."""
    name = row.function.rpartition(".")[2]
    text = row.call.replace(f"{row.function}(", f"{name}(", 1)
    return text if row.form == "eager" else f"{row.form}: {text}"


def _follows(before: CallRow, row: CallRow, releases: tuple[str, ...]) -> bool:
    return _place(releases, row.first) == _place(releases, before.last) + 1


def _place(releases: tuple[str, ...], release: str) -> int:
    return releases.index(release) if release in releases else -1
