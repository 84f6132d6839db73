"""Verdicts on times, from samples of a noisy machine. Pure: nothing is run or read here.

A sample is a process. Calls within a process are not independent: they share its memory layout and its caches. Between
processes the median of a trace can differ by 65% although nothing changed. So each process counts once, with its least
time, since noise only adds. A side has at least MIN_PROCESSES processes, in turns with the other side's.

A change counts if all of these are true:

- it is larger than GATE and than the benchmark's own fence, the largest difference expected of two sides of one lock;
- a Mann-Whitney test over the processes passes at ALPHA;
  - a second, independent measurement passes all of this again, in the same direction. There, ALPHA is corrected for the
    number of benchmarks measured again (Benjamini-Hochberg: one in a hundred of the reported changes is false). The
    first measurement only selects benchmarks for the second, so it is not corrected. With a correction for hundreds of
    benchmarks, eight processes a side (least possible p: 0.00016) could never show a single slow benchmark.

Every other change larger than GATE is `insufficient`, never `stable`. So is a benchmark too noisy to show a change of
RESOLUTION. Counts need no test. Most counts (equations, traces) are the same in every process; instructions and calls
differ by less than a hundredth. A change of a count must be larger than COUNT_GATE, than the benchmark's own fence, and
than COUNT_MARGIN times the spread of a side's processes.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import scipy

from laboratory.timings.counts import COUNT_GATE
from laboratory.timings.results import OUTCOMES, Fence, Outcome

MIN_PROCESSES = 8
ALPHA = 0.01
GATE = 0.10
COUNT_MARGIN = 3.0
# A benchmark that cannot show a change of this size is not called stable.
RESOLUTION = 0.20
# The start of the reason if the release or the machine lacks a benchmark's subject.
LACKS = "n/a"
_SPLITS = 100
# The slow-downs tried, to find the least that a benchmark can show.
_STEPS = (0.12, 0.15, 0.20, 0.25, 0.30, 0.40, 0.50, 0.75, 1.00, 2.00)
_COUNT_STEPS = (0.011, 0.02, 0.03, 0.05, 0.08, 0.10, *_STEPS)
_UNCONFIRMED = "not measured a second time"

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Side:
    """One side of a benchmark: the least value of each process, and the number of processes without a value.

    `failed` processes raised or ran out of time. In `lacking` processes the release lacks the subject.
    """

    values: tuple[float, ...] = ()
    failed: int = 0
    lacking: int = 0
    version: str = ""

    @property
    def middle(self) -> float:
        """The median of the processes; NaN without values."""
        return float(np.median(self.values)) if self.values else math.nan


@dataclass(frozen=True)
class Pair:
    """One benchmark on both sides; `count` if its values are counts, not times or sizes."""

    base: Side
    other: Side
    count: bool = False


@dataclass(frozen=True)
class Verdict:
    """A judged benchmark: `change` is 0.2 for a fifth more, `limit` is the threshold, `p` is from the first test."""

    outcome: Outcome
    reason: str = ""
    change: float = math.nan
    limit: float = math.nan
    p: float = math.nan


def candidates(pairs: Mapping[str, Pair], fences: Mapping[str, float]) -> tuple[str, ...]:
    """Return the benchmarks that look changed, which only a second measurement can confirm."""
    return tuple(key for key, pair in pairs.items() if _looks_changed(_first(pair, fences.get(key))))


def judge(first: Mapping[str, Pair], again: Mapping[str, Pair], fences: Mapping[str, float]) -> dict[str, Verdict]:
    """Return the verdict on each benchmark of `first`; `again` has the second measurements.

    A benchmark without a fence must exceed the difference between the halves of its own sides.
    """
    verdicts = {key: _first(pair, fences.get(key)) for key, pair in first.items()}
    looking = [key for key, verdict in verdicts.items() if _looks_changed(verdict) and key in again]
    second = [_first(again[key], verdicts[key].limit) for key in looking]
    # A test without a result still counts as one of the tests.
    tests = [verdict.p if math.isfinite(verdict.p) else 1.0 for verdict in second]
    corrected = scipy.stats.false_discovery_control(tests) if tests else ()
    for key, verdict, p in zip(looking, second, corrected, strict=True):
        verdicts[key] = _confirmed(verdicts[key], verdict, float(p))
    return verdicts


def last_line(verdicts: Iterable[Verdict]) -> str:
    """Return the number of benchmarks with each outcome, and the number of all."""
    counts = Counter(verdict.outcome for verdict in verdicts)
    always = ("regressed", "stable", "not-measured", "failed")
    shown = [f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome] or outcome in always]
    return f"{', '.join(shown)}, of {counts.total()}"


def noise(values: Sequence[float], version: str) -> Fence:
    """Return the noise of one lock, from the values of its processes in the order of their runs.

    Two consecutive processes form a round. A comparison assigns one of them to each side, so that the machine's drift
    affects both. Eight processes a side allow 128 such comparisons; at most a hundred are made. `fence` is Q3 + 3·IQR
    of the differences between the sides. `false_positives` is the share that a single measurement would call a change.
    `detectable` is the least tried slow-down that nine in ten comparisons show.
    """
    sides = _halves(values)
    base, other = sides[:, 0], sides[:, 1]
    differences = _sizes(base, other)
    fence = _fence(differences)
    alarms = (differences > GATE) & (_tests(base, other) <= ALPHA)

    def shows(more: float) -> bool:
        slower = other * (1 + more)
        changes = np.median(slower, axis=1) / np.median(base, axis=1) - 1
        return bool(np.mean((changes > max(GATE, fence)) & (_tests(base, slower) <= ALPHA)) >= 0.9)

    return Fence(
        fence=round(fence, 4),
        false_positives=round(float(np.mean(alarms)), 4),
        detectable=next(filter(shows, _STEPS), None),
        version=version,
    )


def count_noise(values: Sequence[float], version: str) -> Fence:
    """Return the noise of a count, from few processes: every way to halve the values is a comparison.

    `fence` is COUNT_MARGIN times the spread of all values.
    """
    sides = np.asarray(values, dtype=float)[_halvings(len(values) // 2 * 2)]
    base, other = sides[:, 0], sides[:, 1]
    fence = COUNT_MARGIN * _spread(values)
    limits = np.maximum(COUNT_GATE, COUNT_MARGIN * np.maximum(_spreads(base), _spreads(other)))

    def shows(more: float) -> bool:
        changes = np.median(other * (1 + more), axis=1) / np.median(base, axis=1) - 1
        return bool(np.mean(changes > np.maximum(limits, fence)) >= 0.9)

    return Fence(
        fence=round(fence, 5),
        false_positives=round(float(np.mean(_sizes(base, other) > limits)), 4),
        detectable=next(filter(shows, _COUNT_STEPS), None),
        version=version,
    )


def _looks_changed(verdict: Verdict) -> bool:
    return verdict.reason == _UNCONFIRMED


_UNDECIDED: tuple[tuple[Outcome, str, Callable[[Side], bool]], ...] = (
    ("failed", "", lambda side: bool(side.failed)),
    ("not-measured", f"{LACKS} ", lambda side: bool(side.lacking)),
    ("not-measured", "nothing was measured ", lambda side: not side.values),
)


def _first(pair: Pair, fence: float | None) -> Verdict:
    """Judge one measurement: an apparent change is insufficient until a second measurement confirms it."""
    base, other = pair.base, pair.other
    for outcome, what, is_so in _UNDECIDED:
        if where := " and ".join(name for name, side in (("base", base), ("other", other)) if is_so(side)):
            return Verdict(outcome, f"{what}on the {where} side")
    if base.version != other.version:
        return Verdict("not-measured", "the two sides ran different versions of the benchmark")
    if not all(math.isfinite(value) for value in (*base.values, *other.values)):
        return Verdict("not-measured", "a measured value is not a number")
    return (_count if pair.count else _time)(base, other, fence)


def _count(base: Side, other: Side, fence: float | None) -> Verdict:
    before, after = base.middle, other.middle
    own = max(_spread(base.values), _spread(other.values))
    limit = max(COUNT_GATE, fence or 0.0, COUNT_MARGIN * own)
    change = 0.0 if before == after else (after - before) / abs(before) if before else math.copysign(math.inf, after)
    if abs(change) > limit:
        return Verdict("regressed" if change > 0 else "improved", "", change, limit)
    if limit > RESOLUTION:
        return Verdict("insufficient", "the count differs between processes of one side", change, limit)
    return Verdict("stable", f"within {limit:.1%}" if change else "", change, limit)


def _time(base: Side, other: Side, fence: float | None) -> Verdict:
    if (fewest := min(len(base.values), len(other.values))) < MIN_PROCESSES:
        return Verdict("insufficient", f"{fewest} processes on a side, and {MIN_PROCESSES} are needed")
    if min(*base.values, *other.values) <= 0:
        if set(base.values) == set(other.values) == {0.0}:
            return Verdict("stable", "", 0.0, GATE)
        return Verdict("insufficient", "a time of zero: the clock does not resolve it")
    if fence is None:
        fence = _fence(np.concatenate([_own_differences(side.values) for side in (base, other)]))
    limit = max(GATE, fence)
    a, b = np.asarray([base.values]), np.asarray([other.values])
    undecided = Verdict("insufficient", _UNCONFIRMED, other.middle / base.middle - 1, limit)
    size = float(_sizes(a, b)[0])
    if size <= GATE:
        if fence > RESOLUTION:
            return replace(undecided, reason=f"too noisy to show a change of {RESOLUTION:.0%}")
        return replace(undecided, outcome="stable", reason="")
    if size <= limit:
        return replace(undecided, reason="not more than the difference between runs of one lock")
    p = float(_tests(a, b)[0])
    return replace(undecided, p=p, reason=f"the processes overlap (p = {p:.2g})" if p > ALPHA else _UNCONFIRMED)


def _confirmed(first: Verdict, second: Verdict, p: float) -> Verdict:
    """Return the verdict on an apparent change; `p` is the second test's, corrected."""
    if not _looks_changed(second) or (second.change > 0) != (first.change > 0) or p > ALPHA:
        return replace(first, reason=f"a second measurement does not confirm it ({_percent(second.change)})")
    outcome: Outcome = "regressed" if first.change > 0 else "improved"
    return replace(first, outcome=outcome, reason=f"confirmed: {_percent(second.change)}")


def _percent(change: float) -> str:
    return f"{change:+.0%}" if math.isfinite(change) else "no value"


def _spread(values: Sequence[float]) -> float:
    """Return the largest difference between the values, as a ratio."""
    return float(_spreads(np.asarray([values]))[0])


def _spreads(values: Array) -> Array:
    least, most = values.min(axis=1), values.max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(least == most, 0.0, np.abs(np.divide(most - least, least)))


def _sizes(base: Array, other: Array) -> Array:
    """Return the difference between the sides as a ratio, row by row, whichever side is slower."""
    ratios: Array = np.median(other, axis=1) / np.median(base, axis=1)
    return np.maximum(ratios, 1 / ratios) - 1


def _tests(base: Array, other: Array) -> Array:
    """Return the p of a two-sided Mann-Whitney test, row by row: exact for small samples without ties."""
    p: Array = np.atleast_1d(scipy.stats.mannwhitneyu(base, other, axis=1).pvalue)
    return p


def _fence(differences: Array) -> float:
    """Return Q3 + 3·IQR, Tukey's outer fence, beyond which no value of this distribution is expected."""
    first, third = np.percentile(differences, [25, 75])
    return float(third + 3 * (third - first))


def _own_differences(values: Sequence[float]) -> Array:
    """Return the differences between halves of one side, scaled to twice the processes: the noise of a median."""
    halves = np.asarray(values)[_halvings(len(values) // 2 * 2)]
    return _sizes(halves[:, 0], halves[:, 1]) / math.sqrt(2)


@cache
def _halvings(count: int) -> Array:
    """Return ways to halve so many places. The first place is always in the first half, to avoid repeats."""
    every = [(0, *rest) for rest in combinations(range(1, count), count // 2 - 1)]
    chosen = every if len(every) <= _SPLITS else random.Random(0).sample(every, _SPLITS)
    return np.asarray([(one, [place for place in range(count) if place not in one]) for one in chosen])


def _halves(values: Sequence[float]) -> Array:
    """Return comparisons of a release with itself, as an array of comparison × side × round."""
    rounds = np.asarray(values[: len(values) // 2 * 2], dtype=float).reshape(-1, 2)
    turns = _turns(len(rounds))
    return np.stack([np.where(turns, *rounds.T[::-1]), np.where(turns, *rounds.T)], axis=1)


@cache
def _turns(rounds: int) -> Array:
    """Return in which rounds the sides swap: never in the first, since a swap of all is the same comparison."""
    every = range(2 ** (rounds - 1))
    chosen = every if len(every) <= _SPLITS else random.Random(0).sample(every, _SPLITS)
    return np.asarray([[bool(number >> place & 1) for place in range(rounds)] for number in chosen])
