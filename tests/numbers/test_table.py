"""The rows of the table, made from the results of calls."""

from typing import Any

import pytest

from laboratory.collect.numbers import table
from laboratory.collect.numbers.outcomes import Outcome, Outcomes
from tests.numbers.test_compare import returned

KEY = "eager jax.numpy.cumsum(vector)"
OLD, NEW, OTHER = returned([1.0]), returned([2.0]), returned([3.0])


def outcomes(key: str, *spans: tuple[int, int, Outcome], mixed: Any = None) -> Outcomes:
    """Return the outcomes of one call on two releases, and on the second with the jaxlib of the first."""
    return Outcomes(("0.4.30", "0.4.31"), (), {key: spans}, {"0.4.31": {key: mixed}} if mixed else {})


@pytest.mark.parametrize(("mixed", "package"), [(OLD, "jaxlib"), (NEW, "jax"), (OTHER, "both"), (None, "")])
def test_the_mixed_pair_tells_jax_from_jaxlib(mixed: Outcome | None, package: str) -> None:
    """If the earlier jaxlib gives the old value, jaxlib changed it; if the new one, jax did; if another, both did."""
    before, after = table.rows(outcomes(KEY, (0, 0, OLD), (1, 1, NEW), mixed=mixed))

    assert ("", package) == (before.package, after.package)


def test_a_difference_that_is_documented_says_so() -> None:
    """The detail has the two values, and what the documentation says."""
    shape = {"values": [["float32", [4], "00" * 16], ["float32", [4], "00" * 16]]}
    (row,) = table.rows(outcomes("eager jax.numpy.polydiv(coefficients, right)", (0, 1, shape)))

    assert "documented" == row.status
    assert "shape (4,), 64-bit NumPy has (2,): leading zeros are dropped with trim_leading_zeros=True" == row.detail
