"""The explanations for a change of numbers."""

import pytest

from laboratory.cell.numbers.recipes import NumericCall
from laboratory.collect.numbers import explained


@pytest.mark.parametrize(
    ("function", "before", "release", "wanted"),
    [
        ("jax.random.uniform", "0.4.38", "0.5.0", "random-stream-of-uniform-draws same-seed-other-numbers"),
        ("jax.random.uniform", "0.5.1", "0.5.2", ""),
        ("jax.scipy.linalg.toeplitz", "0.4.35", "0.5.0", "toeplitz-batch"),
        ("jax.nn.initializers.he_normal", "0.4.38", "0.5.0", "random-stream-of-normal-draws"),
        ("jax.numpy.no_such_function", "0.4.18", "0.12.0", ""),
    ],
)
def test_an_issue_explains_what_changes_where_its_case_does(
    function: str, before: str, release: str, wanted: str
) -> None:
    """An issue explains a change if it touches the function or one below it, and a case changes on that release."""
    assert set(wanted.split()) <= set(explained.by(function, before, release).split())
    assert bool(wanted) is bool(explained.by(function, before, release))


@pytest.mark.parametrize(
    ("call", "before", "release", "wanted"),
    [
        ("jax.numpy.sort(ties, descending=True)", "0.4.20", "0.4.25", "parameters"),
        ("jax.numpy.sort(ties, axis=0)", "0.4.20", "0.4.25", ""),
        ("jax.numpy.sort(ties, descending=True)", "0.4.25", "0.4.30", ""),
    ],
)
def test_a_keyword_that_is_new_explains_a_call(call: str, before: str, release: str, wanted: str) -> None:
    """A call with a keyword that one of two releases lacks is explained by the parameters; others are not."""
    assert wanted == explained.by_parameters(NumericCall("jax.numpy.sort", call, "eager", (), ""), before, release)


@pytest.mark.parametrize(("release", "shows"), [("0.4.30", True), ("0.12.0.1", False)])
def test_an_issue_that_shows_on_a_release_is_named(release: str, shows: bool) -> None:
    """A silent issue that touches the function is named only on releases where one of its cases goes wrong."""
    found = explained.affecting("jax.lax.linalg.tridiagonal_solve", release)

    assert shows is ("tridiagonal-solve-reads-unused-entries" in found)
