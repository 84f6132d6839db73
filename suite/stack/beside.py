"""Packages that jax imports in places and no metadata declares."""

from __future__ import annotations

# `jax.export` and Pallas import them on many releases. Every cell has them, but for those of an arm without.
BESIDE = frozenset({"absl-py", "flatbuffers"})
# Every jax requires it, and nobody names it by hand: where it is listed, all of a stack is.
LISTED = "opt-einsum"
