"""Metadata compared with what was seen."""

from __future__ import annotations

import pytest

from suite.judge.metadata import Declared, DeclaredObserved, declared_observed, reached
from tests.judge.stacks import OFFERED, PYTHON, pins


@pytest.mark.parametrize(
    ("says", "works", "word"),
    [
        ("allows", True, "supported"),
        ("allows", False, "latent"),
        ("excludes", False, "guarded"),
        ("excludes", True, "excluded"),
        ("allows", None, None),
        ("excludes", None, None),
    ],
)
def test_declared_against_observed(says: Declared, works: bool | None, word: DeclaredObserved | None) -> None:
    """Metadata and observation give one of four words, or none if nothing was seen."""
    assert word == declared_observed(says, works)


def test_what_a_case_does_not_reach_cannot_matter_to_it() -> None:
    """A case that needs only jax reaches jaxlib and NumPy, but no library on JAX; diffrax reaches those."""
    of_jax, of_diffrax = (reached([name], pins("jax-0.9.0"), OFFERED, PYTHON) for name in ("jax", "diffrax"))

    assert {"jax", "jaxlib", "numpy"} <= of_jax - {"equinox", "diffrax", "lineax"} == of_jax
    assert {"jax", "jaxlib", "equinox", "lineax", "optimistix"} <= of_diffrax
