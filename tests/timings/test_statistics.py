"""Verdicts on times and counts: changes are found, noise is not a change, and unmeasured is not stable."""

import math
from dataclasses import replace
from datetime import date
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jax_stack_compat.base.errors import Exit
from laboratory.boundaries.neighbours import LineCell
from laboratory.timings import compare, counts, statistics
from laboratory.timings.counts import Counted, Counts, CountTurn, Unit
from laboratory.timings.results import OUTCOMES, ResultRow
from laboratory.timings.statistics import LACKS, Pair, Side, Verdict

# The spread of the least of thirty calls between processes, on the machine used for the design.
NOISE = 0.027
SEEDS = st.integers(0, 2**32 - 1)


def processes(
    generator: np.random.Generator, factor: float = 1.0, count: int = 8, noise: float = NOISE
) -> tuple[float, ...]:
    """Draw the measurements of `count` processes whose work takes a millisecond times `factor`."""
    return tuple(factor * 1e-3 * np.exp(generator.normal(0, noise, count)))


def pair(seed: int, factor: float = 1.0, count: int = 8, noise: float = NOISE) -> Pair:
    """Two sides, the other of which is slower by `factor`."""
    generator = np.random.default_rng(seed)
    return Pair(Side(processes(generator, 1, count, noise)), Side(processes(generator, factor, count, noise)))


def outcome(first: Pair, again: Pair | None = None, fence: float | None = None) -> Verdict:
    """The verdict on one benchmark."""
    fences = {} if fence is None else {"it": fence}
    return statistics.judge({"it": first}, {} if again is None else {"it": again}, fences)["it"]


@settings(max_examples=5, deadline=None)
@given(SEEDS, st.sampled_from([NOISE, 0.1, 0.4]))
def test_the_same_lock_on_both_sides_never_regresses(seed: int, noise: float) -> None:
    """A hundred benchmarks of identical releases, five times over, quiet or noisy: none regresses or improves."""
    first = {str(number): pair(seed + number, noise=noise) for number in range(100)}
    again = {str(number): pair(seed + 1000 + number, noise=noise) for number in range(100)}

    verdicts = statistics.judge(first, again, {})

    assert not {"regressed", "improved"} & {verdict.outcome for verdict in verdicts.values()}


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_a_fifth_more_time_is_caught(seed: int) -> None:
    """Eight processes a side find a slow-down of 20% among ten unchanged benchmarks."""
    slow = {"slow": pair(seed, 1.2)}
    first = slow | {str(number): pair(seed + 1 + number) for number in range(10)}
    looking = statistics.candidates(first, {})

    verdicts = statistics.judge(first, {key: pair(seed + 500, 1.2 if key == "slow" else 1) for key in looking}, {})

    assert "slow" in looking
    assert "regressed" == verdicts["slow"].outcome
    assert pytest.approx(0.2, abs=0.1) == verdicts["slow"].change
    assert {"slow"} == {key for key, verdict in verdicts.items() if verdict.outcome in ("regressed", "improved")}


def test_all_may_regress_at_once() -> None:
    """The correction for many benchmarks does not hide a slow-down of all hundred."""
    first, again = ({str(n): pair(n + seed, 1.3) for n in range(100)} for seed in (0, 1000))

    assert {"regressed"} == {verdict.outcome for verdict in statistics.judge(first, again, {}).values()}


SLOWER, SAME, FASTER = (pair(1, factor) for factor in (1.5, 1, 1 / 1.5))
AGAIN, NOT_AGAIN, OTHERWISE = (pair(2, factor) for factor in (1.5, 1, 1 / 1.5))


@pytest.mark.parametrize(
    ("first", "again", "fence", "expected"),
    [
        (SLOWER, AGAIN, None, "regressed"),
        (FASTER, OTHERWISE, None, "improved"),
        (pair(1, 1.05), pair(2, 1.05), None, "stable"),
        # A change counts only if a second measurement shows it, in the same direction.
        *((SLOWER, again, None, "insufficient") for again in (None, NOT_AGAIN, OTHERWISE)),
        # A difference that runs of one lock also show is not a change.
        (SLOWER, AGAIN, 0.4, "regressed"),
        (SLOWER, AGAIN, 0.6, "insufficient"),
        # If runs of one lock differ by 20%, an equal result is not stable.
        (SAME, None, 0.15, "stable"),
        (SAME, None, 0.25, "insufficient"),
        # Six processes a side can neither show a change nor stability.
        *((pair(1, of, n), pair(2, of, n), None, "insufficient") for n in (1, 6, 7) for of in (1, 3)),
    ],
)
def test_a_change_has_a_direction_and_a_size_and_is_confirmed(
    first: Pair, again: Pair | None, fence: float | None, expected: str
) -> None:
    """Slower is regressed, faster is improved, possible noise is insufficient, and less than 10% is stable."""
    assert expected == outcome(first, again, fence).outcome
    assert again is not NOT_AGAIN or "does not confirm" in outcome(first, again, fence).reason


SIDES = st.builds(
    Side,
    st.lists(st.floats(1e-6, 10), max_size=10).map(tuple),
    st.integers(0, 2),
    st.integers(0, 2),
    st.sampled_from(["1", "2"]),
)


@settings(max_examples=50)
@given(SIDES, SIDES, st.booleans(), st.sampled_from([None, 0.0, 0.5]))
def test_what_was_not_measured_is_never_stable(base: Side, other: Side, count: bool, fence: float | None) -> None:
    """A side without a value, a failure, another version and a missing benchmark have their own outcomes."""
    verdict = outcome(Pair(base, other, count), Pair(base, other, count), fence)

    assert verdict.outcome in OUTCOMES
    if base.failed or other.failed:
        assert "failed" == verdict.outcome
    elif base.lacking or other.lacking or not base.values or not other.values or base.version != other.version:
        assert "not-measured" == verdict.outcome
    if verdict.outcome != "stable":
        assert verdict.reason or verdict.outcome in ("regressed", "improved")


@pytest.mark.parametrize("odd", [math.nan, math.inf, 0.0, -1.0])
def test_a_value_that_is_no_time_decides_nothing(odd: float) -> None:
    """A clock that stood still, or a value that is not a number, is neither a change nor its absence."""
    usual = pair(1)
    strange = replace(usual, other=Side((*usual.other.values[:-1], odd)))

    assert outcome(strange, strange).outcome in ("not-measured", "insufficient")


@pytest.mark.parametrize(
    ("base", "other", "expected"),
    [
        ([100], [105], ("regressed", "")),
        ([100], [95], ("improved", "")),
        ([1000], [1001], ("stable", "within 1.0%")),
        ([0], [1], ("regressed", "")),
        ([7, 8], [7, 7], ("insufficient", "the count differs between processes of one side")),
        ([1000, 1001], [1003, 1004], ("stable", "within 1.0%")),
        ([1000, 1001], [1050, 1050], ("regressed", "")),
        ([1000, 1020], [1050, 1050], ("stable", "within 6.0%")),
    ],
)
def test_counts_are_exact(base: list[float], other: list[float], expected: tuple[str, str]) -> None:
    """5% more equations is a regression, one in a thousand is stable, and neither needs a second measurement."""
    verdict = outcome(Pair(Side(tuple(base)), Side(tuple(other)), count=True))

    assert expected == (verdict.outcome, verdict.reason)


def test_the_exit_code_means_what_it_says() -> None:
    """The exit code is 1 for a regression, 3 for a missing result, 4 for noise, else 0; missing subjects are fine."""
    lacks = Verdict("not-measured", f"{LACKS} on the base side")
    stable, improved, regressed = Verdict("stable"), Verdict("improved"), Verdict("regressed")

    assert Exit.AS_EXPECTED == compare.exit_code([stable, improved, lacks])
    assert Exit.UNEXPECTED == compare.exit_code([stable, regressed, Verdict("failed")])
    for missing in ("failed", "not-measured"):
        assert Exit.INCOMPLETE == compare.exit_code([stable, Verdict("insufficient"), Verdict(missing)])
    assert Exit.UNDECIDED == compare.exit_code([stable, lacks, Verdict("insufficient")])
    assert Exit.INCOMPLETE == compare.exit_code([])
    assert Exit.INCOMPLETE == compare.exit_code([lacks])


def test_processes_become_sides() -> None:
    """Each process gives its least value; failures are counted apart, and processes that never ran are ignored."""
    here = {"a": ResultRow("measured", "1", False, value=2.0, least=1.5)}
    broken, absent = {"a": ResultRow("failed", "1", False)}, {"a": ResultRow("missing", "1", False)}

    made = compare.pair("a", [here, here], [here, broken, absent, {}])

    assert Pair(Side((1.5, 1.5), version="1"), Side((1.5,), failed=1, version="1")) == made


@settings(max_examples=10, deadline=None)
@given(SEEDS, st.sampled_from([NOISE, 0.1]))
def test_noise_is_told_from_one_lock(seed: int, noise: float) -> None:
    """Without a change the fence grows with the noise, and at most a tenth of verdicts are false."""
    values = processes(np.random.default_rng(seed), count=16, noise=noise)

    found = statistics.noise(values, "1")

    assert 0 < found.fence < 8 * noise
    assert found.false_positives <= 0.1
    assert noise > NOISE or (found.detectable is not None and found.detectable <= 0.20)
    assert found == statistics.noise([1000 * value for value in values], "1")


TRACE = "basics.Scan.time_trace"
LINE = [
    LineCell(f"jax-{version}", "jax", {"jax": version}, date(2025, month, 1))
    for month, version in ((1, "0.8.2"), (2, "0.9.0"), (3, "0.8.3"))
]
# The same releases, ordered by day.
BRANCH = [replace(cell, released_on=date(2025, month, 1)) for cell, month in zip(LINE, (1, 3, 2), strict=True)]


def made(**values: float) -> Counts:
    """Return a benchmark's counts by release (`v0_9_0` is jax 0.9.0): calls, and thousands of instructions."""
    found = Counts(machine="m")
    for cell, calls in values.items():
        counted = Counted(version="1", calls=calls, instructions=1000 * calls)
        found = found.plus(f"jax-{cell[1:].replace('_', '.')}", "lock", {TRACE: counted})
    return found


def test_a_change_is_named_by_its_neighbours_and_its_size() -> None:
    """A change is between neighbours in version order, and larger than a hundredth."""
    found = made(v0_8_2=100, v0_9_0=112, v0_8_3=100.9)

    (turn,) = counts.turns(found, LINE, "calls", {})

    assert CountTurn(TRACE, "calls", "jax-0.8.2", "jax-0.9.0", 100, 112) == turn
    assert pytest.approx(0.12) == turn.change
    assert "12.0% more calls, 100 before, 112 after" == turn.told
    assert "2.5 times as many calls, 100 before, 250 after" == replace(turn, new=250).told
    assert "50.0% fewer calls, 100 before, 50 after" == replace(turn, new=50).told
    assert {TRACE} == {each.benchmark for each in counts.turns(found, LINE, "instructions", {})}


CALLS = {TRACE: Counted(version="1", calls=100)}


@pytest.mark.parametrize(
    ("found", "unit", "fence", "between"),
    [
        # A release with calls only does not hide a change of instructions between its neighbours.
        (made(v0_8_2=100, v0_9_0=112).plus("jax-0.8.3", "lock", CALLS), "instructions", 0.0, [("0.8.2", "0.9.0")]),
        # A change of a noisy count must exceed the count's own noise.
        (made(v0_8_2=100, v0_9_0=105), "calls", 0.06, []),
        (made(v0_8_2=100, v0_9_0=105), "calls", 0.04, [("0.8.2", "0.9.0")]),
        # Counts of two versions of a benchmark are not compared.
        (made(v0_8_2=100).plus("jax-0.9.0", "lock", {TRACE: Counted(version="2", calls=200)}), "calls", 0.0, []),
    ],
)
def test_a_change_is_of_the_same_count(found: Counts, unit: Unit, fence: float, between: list[tuple[str, str]]) -> None:
    """A change is between two releases counted in the same unit, and larger than the fence."""
    turns = counts.turns(found, BRANCH, unit, {counts.name(TRACE, unit): fence})

    assert between == [(turn.before.removeprefix("jax-"), turn.after.removeprefix("jax-")) for turn in turns]


def test_counts_are_kept_as_they_are(tmp_path: Path) -> None:
    """Counts are read as they were written, in the order of the line, and only for the lock that they came from."""
    found = made(v0_9_0=112, v0_8_2=100).plus(
        "jax-0.8.3", "lock", {TRACE: Counted(version="1", failed="KeyError: 'a'")}
    )

    counts.save(found, [cell.id for cell in LINE], tmp_path)

    again = counts.load("m", tmp_path)
    assert ["jax-0.8.2", "jax-0.9.0", "jax-0.8.3"] == [each.cell for each in again.releases]
    assert found.known("jax-0.9.0", "lock") == again.known("jax-0.9.0", "lock") != {}
    assert {} == again.known("jax-0.9.0", "another lock")


def test_counting_calls_again_loses_no_instructions() -> None:
    """Instructions, which take minutes, are kept when calls of the same version are counted later."""
    again = made(v0_9_0=100).plus("jax-0.9.0", "lock", {TRACE: Counted(version="1", calls=101)})

    assert (101, 100_000) == (again.known("jax-0.9.0", "lock")[TRACE].calls, 100_000)
    assert 100_000 == again.known("jax-0.9.0", "lock")[TRACE].instructions


@given(st.integers(0, 200))
def test_every_release_has_its_turn(count: int) -> None:
    """Each place occurs once, and the first quarter of a long line leaves no gap above a third."""
    places = counts.spread(count)

    assert list(range(count)) == sorted(places)
    begun = sorted(places[: max(5, count // 4)])
    assert all(after - before <= count / 3 + 2 for before, after in pairwise(begun))
