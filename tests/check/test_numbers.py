"""The numbers of the functions that a source calls, in an answer."""

import pytest

from jax_stack_compat.check.source import numbers
from tests.numbers.rows import call_row as row
from tests.numbers.rows import publish

ROWS = (
    row("jax.numpy.sinc", "0.6.0", "0.6.0", status="differs", detail="nan for inf, NumPy has 0"),
    row("jax.numpy.sinc", "0.7.0", "0.7.0", change="value", was="0 for inf, was nan"),
    row("jax.numpy.exp", "0.6.0", "0.6.0"),
    row("jax.numpy.exp", "0.7.0", "0.7.0", change="rounding", was="up to 1 ulp"),
    row("jax.numpy.abs", "0.6.0", "0.7.0", status="edge", detail="1 for nan, NumPy has nan"),
    row("jax.numpy.log", "0.6.0", "0.6.0"),
    row("jax.numpy.log", "0.7.0", "0.7.0", change="edge", was="0 for inf, was inf"),
)
CALLED = {"jax.numpy.sinc", "jax.numpy.exp", "jax.numpy.absolute", "jax.numpy.log", "jax.jit"}


@pytest.fixture(autouse=True)
def published(monkeypatch: pytest.MonkeyPatch) -> None:
    """Publish the rows."""
    publish(ROWS, monkeypatch)


def test_an_upgrade_tells_other_values_and_counts_edges_and_rounding() -> None:
    """Called functions with other values are listed; changes at edges and of rounding are counted."""
    found = numbers.numbers(CALLED, "0.7.0", "0.6.0")

    assert found is not None
    assert ["jax.numpy.sinc(x): 0 for inf, was nan"] == [numbers.told(each) for each in found.changed]
    assert "Of the 4 numerical functions you call, 1 returns other values on jax 0.7.0 than on 0.6.0" in found.sentence
    assert "; 1 does so only at 0, infinity, NaN, tiny or huge numbers; 1 differs by rounding alone." in found.sentence


@pytest.mark.parametrize(
    ("release", "told"),
    [
        (
            "0.6.0",
            "Of the 4 numerical functions you call, 1 differs from NumPy or SciPy in 64 bits for some inputs on "
            "jax 0.6.0: jax.numpy.sinc.",
        ),
        ("0.7.0", ""),
    ],
)
def test_a_stack_names_functions_that_differ(release: str, told: str) -> None:
    """For a single release, the called functions that differ from their reference, not only at edges, are named."""
    found = numbers.numbers(CALLED, release)

    assert found is not None
    assert told == found.sentence


@pytest.mark.parametrize(("new", "old"), [("0.8.0", None), ("0.7.0", "0.5.0"), (None, None)])
def test_what_was_not_measured_is_not_told(new: str | None, old: str | None) -> None:
    """For a release that was not measured, the answer has no numbers."""
    assert numbers.numbers(CALLED, new, old) is None
