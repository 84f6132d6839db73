"""Comparison of a call's result with its reference, and with its earlier result."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from laboratory.cell.numbers.inputs import INPUTS
from laboratory.cell.numbers.recipes import NumericCall, calls
from laboratory.collect.numbers import collect, compare, outcomes, reference
from laboratory.collect.numbers.outcomes import Outcome, Outcomes

CALLS = {call.key: call for call in calls()}
SIN = CALLS["eager jax.numpy.sin(float32)"]


def returned(*values: Any, dtype: str = "float32") -> Outcome:
    """The outcome of a call that returns arrays of a type."""
    made = [np.asarray(value, dtype) for value in values]
    return {"values": [[dtype, list(each.shape), each.tobytes().hex()] for each in made]}


def of(call: NumericCall, **changed: Any) -> Outcome:
    """The reference's own values as an outcome, with some elements changed: `at=3, to=1.0`."""
    value = np.array(reference.values(call)[0][0], np.float32)
    if changed:
        value[changed["at"]] = changed["to"]
    return returned(value)


@pytest.mark.parametrize(
    ("at", "to", "status", "detail"),
    [
        (2, np.nan, "differs", "nan for 1, 64-bit NumPy has 0.841471"),
        (2, -0.841471, "differs", "-0.841471 for 1, 64-bit NumPy has 0.841471"),
        (2, 0.84148, "off", "0.84148 for 1, 64-bit NumPy has 0.841471"),
        (-1, 0.0, "edge", "0 for nan, 64-bit NumPy has nan"),
        (-3, np.inf, "edge", "inf for inf, 64-bit NumPy has nan"),
        (0, 1.0, "edge", "1 for 0, 64-bit NumPy has 0"),
    ],
)
def test_a_value_that_is_another_is_told(at: int, to: float, status: str, detail: str) -> None:
    """NaN for a number, another sign or a distant value differs, at an edge or not; a near value is off by units."""
    found = compare.judged(SIN, of(SIN, at=at, to=to))

    assert (status, detail) == (found.status, found.detail)


def test_a_subnormal_input_decides_nothing() -> None:
    """The reference's own values are right; XLA may treat a subnormal input as 0, so its result is not compared."""
    place = INPUTS["float32"][1].index(1e-40)

    assert "right" == compare.judged(SIN, of(SIN, at=place, to=0.0)).status


def test_what_has_no_reference_is_unknown() -> None:
    """A call without a reference, a call that raises and a call that ends the process have their own statuses."""
    call = CALLS["eager jax.random.bits(prng_key, (3,))"]

    assert ("unknown", "raises", "ended") == tuple(
        compare.judged(call, outcome).status
        for outcome in (returned([1, 2, 3], dtype="uint32"), {"raises": "TypeError"}, {"ended": "hung"})
    )


@pytest.mark.parametrize(
    ("old", "new", "kind", "detail"),
    [
        (returned([1.0]), {"raises": "TypeError"}, "raises", "raises TypeError, was float32"),
        ({"raises": "TypeError"}, returned([1.0]), "returns", "returns float32, was TypeError"),
        ({"raises": "TypeError"}, {"raises": "ValueError"}, "exception", "raises ValueError, was TypeError"),
        (returned([1.0]), {"ended": "SIGSEGV"}, "ended", "ends with SIGSEGV, was float32"),
        (returned([1.0]), returned([1.0], dtype="float16"), "dtype", "float16, was float32"),
        (returned([1.0]), returned([[1.0]]), "shape", "(1, 1), was (1,)"),
        (returned([1.0, 2.0]), returned([1.0, np.nan]), "value", "nan at [1], was 2"),
        (returned([1, 2], dtype="int32"), returned([1, 3], dtype="int32"), "value", "3 at [1], was 2"),
        (returned([1.0]), returned([1.0000001]), "rounding", "up to 1 ulp"),
    ],
)
def test_a_change_has_a_kind(old: Outcome, new: Outcome, kind: str, detail: str) -> None:
    """A change is one of exception, type, shape, value or rounding; any bit of an integer is a value."""
    found = compare.change(CALLS["eager jax.numpy.cumsum(vector)"], old, new)

    assert found is not None
    assert (kind, detail) == (found.kind, found.detail)


def test_a_change_at_an_edge_alone_says_so() -> None:
    """A change only for 0, infinite, NaN, tiny or huge inputs is an edge; with any other input it is a value."""
    found = [compare.change(SIN, of(SIN), new) for new in (of(SIN, at=0, to=1.0), of(SIN, at=[0, 2], to=1.0))]

    assert [("edge", "1 for 0, was 0"), ("value", "1 for 1, was 0.841471")] == [
        (each.kind, each.detail) for each in found if each
    ]


NUMBERS = arrays.arrays(np.float32, st.integers(0, 8), elements=st.floats(width=32))


@given(NUMBERS)
def test_nothing_changes_from_a_value_to_itself(value: Any) -> None:
    """Equal bits are not a change, even for NaN and infinity."""
    assert compare.change(SIN, returned(value), returned(value.copy())) is None


OUTCOMES = st.one_of(
    st.just({"raises": "TypeError"}), st.just({"same": "eager"}), NUMBERS.map(lambda each: returned(each))
)
WALKS = st.dictionaries(
    st.sampled_from(["0.4.9", "0.4.10", "0.5.0", "0.12.0.1"]),
    st.dictionaries(st.sampled_from(["eager a", "jit a", "eager b"]), OUTCOMES),
    max_size=4,
)


@given(WALKS)
def test_outcomes_of_releases_are_kept_whole(walks: dict[str, dict[str, Outcome]]) -> None:
    """Joining and splitting the outcomes of releases changes nothing."""
    assert walks == outcomes.split(outcomes.join(walks, {}))


def test_every_call_has_the_cpu_that_made_it() -> None:
    """The first CPU is the calls' own where nothing else is said."""
    joined = outcomes.join({}, {"eager a": "avx", "eager b": "avx amx", "jit a": "avx"})

    assert (joined.features, joined.elsewhere) == (("avx", "avx amx"), {"eager b": 1})


BEFORE = {"eager a": returned([1.0]), "jit a": {"same": "eager"}, "eager b": {"raises": "TypeError"}}


def test_another_cpu_is_no_change() -> None:
    """If a call has not changed on the present CPU, the first CPU's result is kept; else the change is reported."""
    here = {**BEFORE, "eager a": returned([1.0000001])}
    new = {**here, "eager b": returned([2.0]), "eager c": returned([3.0])}

    found = collect.carried(new, here, BEFORE)

    assert {**BEFORE, "eager b": returned([2.0]), "eager c": returned([3.0])} == found


def test_a_bfloat16_is_read_as_it_was_written() -> None:
    """The bytes of a bfloat16 are the upper half of a float32's."""
    wanted = np.array([1.0, -2.5, np.inf], np.float32)
    upper = (wanted.view(np.uint32) >> 16).astype(np.uint16)

    found = outcomes.arrays({"values": [["bfloat16", [3], upper.tobytes().hex()]]})

    assert found is not None
    np.testing.assert_array_equal(wanted, found[0])


def test_the_file_of_outcomes_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Releases, features, spans and mixed pairs survive writing and reading."""
    spans = ((0, 0, returned([1.0])), (1, 1, {"raises": "TypeError"}))
    mixed = {"0.5.0": {"eager a": returned([1.0])}}
    written = Outcomes(("0.4.9", "0.5.0"), ("avx", "avx amx"), {"eager a": spans}, mixed, {"eager a": 1})
    path = tmp_path / "numbers.json.xz"
    path.write_bytes(outcomes.packed(written))

    assert written == outcomes.load(path)
