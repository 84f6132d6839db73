"""Samples → a verdict on time that holds on a noisy machine. Pure: nothing is run or read here.

The sample is the process. What calls in one process say of each other is not independent: they share its memory layout,
its caches and its luck, and between processes the median of a trace can differ by 65% where nothing changed. So each
process counts once, with the least it measured (noise only ever adds), and a side is at least MIN_PROCESSES of them,
taken in turns with the other side's.

A change counts when all of these hold:

- it is larger than GATE, and larger than the benchmark's own fence: what two sides of one lock differ by, at worst;
- a Mann-Whitney test over the processes passes at ALPHA;
- a second, independent measurement passes all of it again, in the same direction. There, ALPHA is corrected for the
  number of benchmarks measured again (Benjamini-Hochberg: of the changes told, one in a hundred is none). The first
  measurement only chooses what to look at again; were it corrected for hundreds of benchmarks, eight processes a side,
  whose least possible p is 0.00016, could never show one slow benchmark, however slow.

Everything else that is larger than GATE is `insufficient`, and never `stable`: so is a benchmark too noisy to show a
change of RESOLUTION. Counts (equations, instructions, traces) have no noise: they are compared exactly, with a gate of
COUNT_GATE.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats

from suite.timings.results import OUTCOMES, Outcome

MIN_PROCESSES = 8
ALPHA = 0.01
GATE = 0.10
COUNT_GATE = 0.01
# The change that a benchmark must be able to show, or its silence says nothing.
RESOLUTION = 0.20
# The reason of what a release does not have, or a machine: nobody's shortcoming.
LACKS = "n/a"
_SPLITS = 100


@dataclass(frozen=True)
class Side:
    """What the processes of one side said of one benchmark: the least that each measured, and what became of others.

    `failed` raised or ran out of time, `lacking` said that this release has no such thing, and `missing` never ran.
    """

    values: tuple[float, ...] = ()
    failed: int = 0
    lacking: int = 0
    missing: int = 0
    version: str = ""


@dataclass(frozen=True)
class Pair:
    """One benchmark on both sides; `count` where its values are counts of something, and not times or sizes."""

    base: Side
    other: Side
    count: bool = False


@dataclass(frozen=True)
class Verdict:
    """A judged benchmark: `change` is 0.2 for a fifth more, `limit` what it had to exceed, `p` the first test's."""

    outcome: Outcome
    reason: str = ""
    change: float = math.nan
    limit: float = math.nan
    p: float = math.nan


@dataclass(frozen=True)
class Noise:
    """What one benchmark does where nothing changed.

    `fence` is Q3 + 3·IQR of the differences between two sides of one lock, `false_positives` the share of such
    comparisons that a single measurement would take for a change, and `detectable` the least slow-down of those
    tried that nine in ten comparisons show; infinite where none is.
    """

    fence: float
    false_positives: float
    detectable: float


def candidates(pairs: Mapping[str, Pair], fences: Mapping[str, float]) -> tuple[str, ...]:
    """The benchmarks that look changed, and that only a second measurement can tell."""
    return tuple(key for key, pair in pairs.items() if _looks_changed(_first(pair, fences.get(key))))


def judge(first: Mapping[str, Pair], again: Mapping[str, Pair], fences: Mapping[str, float]) -> dict[str, Verdict]:
    """The verdict on each benchmark of `first`, where `again` has what was measured a second time.

    A benchmark without a fence of its own, from runs of one lock, is held to what the halves of its sides differ by.
    """
    verdicts = {key: _first(pair, fences.get(key)) for key, pair in first.items()}
    looking = {key: verdict for key, verdict in verdicts.items() if _looks_changed(verdict)}
    second = {key: _first(again[key], verdicts[key].limit) for key in looking if key in again}
    # A test that could not be made still counts among those that were asked for.
    tests = [verdict.p if math.isfinite(verdict.p) else 1.0 for verdict in second.values()]
    corrected = dict(zip(second, stats.false_discovery_control(tests) if tests else (), strict=True))
    for key, verdict in looking.items():
        verdicts[key] = _confirmed(verdict, second.get(key), float(corrected.get(key, 1.0)))
    return verdicts


def last_line(verdicts: Iterable[Verdict]) -> str:
    """How many of each outcome: nothing that was planned is left out."""
    counts = Counter(verdict.outcome for verdict in verdicts)
    always = ("regressed", "stable", "not-measured", "failed")
    shown = [f"{counts[each]} {each}" for each in OUTCOMES if counts[each] or each in always]
    return f"{', '.join(shown)}, of {counts.total()}"


def noise(values: Sequence[float]) -> Noise:
    """What the values of processes of one lock, in the order of their runs, say about comparisons of two halves.

    Each two that follow each other are a round, and a comparison gives one of them to each side: as in a real one, the
    machine's drift falls on both. With eight processes a side there are 128 such comparisons; no more than a hundred
    are made.
    """
    sides = _halves(values)
    base, other = sides[:, 0], sides[:, 1]
    differences = _sizes(base, other)
    fence = _fence(differences)
    limit = max(GATE, fence)
    alarms = (differences > GATE) & (_tests(base, other) <= ALPHA)
    detectable = math.inf
    for more in _STEPS:
        slower = other * (1 + more)
        changes = np.median(slower, axis=1) / np.median(base, axis=1) - 1
        if np.mean((changes > limit) & (_tests(base, slower) <= ALPHA)) >= 0.9:
            detectable = more
            break
    return Noise(fence, float(np.mean(alarms)), detectable)


_STEPS = (0.12, 0.15, 0.20, 0.25, 0.30, 0.40, 0.50, 0.75, 1.00, 2.00)


def _looks_changed(verdict: Verdict) -> bool:
    return verdict.reason == _UNCONFIRMED


_UNCONFIRMED = "not measured a second time"


def _first(pair: Pair, fence: float | None) -> Verdict:
    """What one measurement says: one that looks changed is insufficient, as long as it is not confirmed."""
    base, other = pair.base, pair.other
    if base.failed or other.failed:
        where = " and ".join(name for name, side in (("base", base), ("other", other)) if side.failed)
        return Verdict("failed", f"on the {where} side")
    if base.lacking or other.lacking:
        where = " and ".join(name for name, side in (("base", base), ("other", other)) if side.lacking)
        return Verdict("not-measured", f"{LACKS} on the {where} side")
    if not base.values or not other.values:
        where = " and ".join(name for name, side in (("base", base), ("other", other)) if not side.values)
        return Verdict("not-measured", f"nothing was measured on the {where} side")
    if base.version != other.version:
        return Verdict("not-measured", "the benchmark is not the same on both sides")
    if not all(math.isfinite(value) for value in (*base.values, *other.values)):
        return Verdict("not-measured", "what was measured is no number")
    return _count(base, other) if pair.count else _time(base, other, fence)


def _count(base: Side, other: Side) -> Verdict:
    if len(set(base.values)) > 1 or len(set(other.values)) > 1:
        return Verdict("insufficient", "the count differs between processes of one side")
    before, after = base.values[0], other.values[0]
    change = 0.0 if before == after else (after - before) / abs(before) if before else math.copysign(math.inf, after)
    outcome: Outcome = "stable" if abs(change) <= COUNT_GATE else "regressed" if change > 0 else "improved"
    reason = "" if outcome != "stable" or not change else f"within {COUNT_GATE:.0%}"
    return Verdict(outcome, reason, change, COUNT_GATE)


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
    a, b = np.asarray(base.values), np.asarray(other.values)
    change = float(np.median(b) / np.median(a) - 1)
    size = float(_sizes(a[None], b[None])[0])
    if size <= GATE:
        if fence > RESOLUTION:
            return Verdict("insufficient", f"too noisy to show a change of {RESOLUTION:.0%}", change, limit)
        return Verdict("stable", "", change, limit)
    if size <= limit:
        return Verdict("insufficient", "no more than runs of one lock differ by", change, limit)
    p = float(_tests(a[None], b[None])[0])
    if p > ALPHA:
        return Verdict("insufficient", f"the processes overlap (p = {p:.2g})", change, limit, p)
    return Verdict("insufficient", _UNCONFIRMED, change, limit, p)


def _confirmed(first: Verdict, second: Verdict | None, p: float) -> Verdict:
    """The verdict on what looked changed; `p` is the second test's, corrected."""
    if second is None:
        return first
    if not _looks_changed(second) or (second.change > 0) != (first.change > 0) or p > ALPHA:
        reason = f"a second measurement does not confirm it ({_percent(second.change)})"
        return Verdict("insufficient", reason, first.change, first.limit, first.p)
    outcome: Outcome = "regressed" if first.change > 0 else "improved"
    return Verdict(outcome, f"confirmed: {_percent(second.change)}", first.change, first.limit, first.p)


def _percent(change: float) -> str:
    return f"{change:+.0%}" if math.isfinite(change) else "no value"


def _sizes(base: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """How far apart the sides are, row by row: the same whichever is the slower."""
    ratios = np.median(other, axis=1) / np.median(base, axis=1)
    sizes: np.ndarray[Any, Any] = np.maximum(ratios, 1 / ratios) - 1
    return sizes


def _tests(base: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The p of a two-sided Mann-Whitney test, row by row: exact for as few as eight without ties."""
    p: np.ndarray[Any, Any] = np.atleast_1d(stats.mannwhitneyu(base, other, axis=1).pvalue)
    return p


def _fence(differences: np.ndarray[Any, Any]) -> float:
    """Q3 + 3·IQR: Tukey's outer fence, beyond which nothing of this distribution is expected."""
    first, third = np.percentile(differences, [25, 75])
    return float(third + 3 * (third - first))


def _own_differences(values: Sequence[float]) -> np.ndarray[Any, Any]:
    """What the halves of one side differ by, scaled to sides of twice as many processes: the noise of a median."""
    halves = np.asarray(values)[_halvings(len(values) // 2 * 2)]
    return _sizes(halves[:, 0], halves[:, 1]) / math.sqrt(2)


@cache
def _halvings(count: int) -> np.ndarray[Any, Any]:
    """Places in two halves, in different ways. The first place is always in one: in the other is the same halving."""
    every = [(0, *rest) for rest in combinations(range(1, count), count // 2 - 1)]
    chosen = every if len(every) <= _SPLITS else random.Random(0).sample(every, _SPLITS)
    return np.asarray([(one, [place for place in range(count) if place not in one]) for one in chosen])


def _halves(values: Sequence[float]) -> np.ndarray[Any, Any]:
    """Comparisons of values with themselves: comparison × side × round."""
    rounds = np.asarray(values[: len(values) // 2 * 2], dtype=float).reshape(-1, 2)
    turns = np.asarray(_turns(len(rounds)))
    left = np.where(turns, rounds[:, 1], rounds[:, 0])
    right = np.where(turns, rounds[:, 0], rounds[:, 1])
    return np.stack([left, right], axis=1)


@cache
def _turns(rounds: int) -> tuple[tuple[bool, ...], ...]:
    """In which rounds the two sides swap. The first never does: swapping all is the same comparison, mirrored."""
    every = 2 ** (rounds - 1)
    chosen = range(every) if every <= _SPLITS else random.Random(0).sample(range(every), _SPLITS)
    return tuple(tuple(bool(number >> place & 1) for place in range(rounds)) for number in chosen)
