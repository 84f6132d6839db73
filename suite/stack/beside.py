"""Packages that parts of jax import, and that no metadata declares."""

from __future__ import annotations

# `jax.export` and Pallas import these on many releases. All cells have them, except the cells with `beside = false`.
BESIDE = frozenset({"absl-py", "flatbuffers"})
# Every jax requires opt-einsum, and nobody names it by hand: a list of pins with it is a complete stack.
LISTED = "opt-einsum"
