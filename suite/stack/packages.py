"""The packages that a cell can hold: the stack, its guests, and two that jax imports and does not declare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Package:
    """A package that a cell can hold.

    `oldest` is the first release that a cell can hold; for packages of the stack, the newest release on the line's
    first day. With `asked`, every cell requests the package by name; the others are dependencies, unless a cell holds
    them.
    """

    oldest: str
    asked: bool = False


# In the order in which a cell's id names them. Every lock pins all of them.
PACKAGES: Mapping[str, Package] = {
    "jax": Package("0.4.18", asked=True),
    "jaxlib": Package("0.4.18"),
    "equinox": Package("0.11.0", asked=True),
    "diffrax": Package("0.4.1", asked=True),
    "lineax": Package("0.0.4"),
    "optimistix": Package("0.0.6"),
    "jaxtyping": Package("0.2.22"),
    "numpy": Package("1.26.0"),
    "scipy": Package("1.11.3"),
}
# Packages that build on the stack. A cell that holds a guest runs only the guest's cases: see `suite.catalogue`.
GUESTS: Mapping[str, Package] = {
    "numpyro": Package("0.15.3"),
    "tensorflow-probability": Package("0.24.0"),
    "dm-haiku": Package("0.0.12"),
    "flax": Package("0.9.0"),
    "optax": Package("0.1.5"),
    "blackjax": Package("1.0.0"),
    "e3nn-jax": Package("0.20.3"),
}
HELD: Mapping[str, Package] = {**PACKAGES, **GUESTS}
_GUESTS = frozenset(GUESTS)
# The axes: the things that a cell can hold and that an arm can move.
AXES = (*HELD, "python")
# `jax.export` and Pallas import these on many releases, and no metadata declares them. All cells have them, except the
# cells with `beside = false`.
BESIDE = frozenset({"absl-py", "flatbuffers"})
# Every jax requires opt-einsum, and nobody names it by hand: a list of pins with it is a complete stack.
LISTED = "opt-einsum"


def guests(names: Iterable[str]) -> frozenset[str]:
    """Return the packages that do not belong to the stack."""
    return _GUESTS.intersection(names)
