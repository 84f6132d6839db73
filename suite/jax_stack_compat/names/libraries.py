"""The use of names by libraries on JAX, a measure of how much an issue matters."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Literal

from jax_stack_compat.base.errors import usable
from jax_stack_compat.names.model import FOLDER

NAME = "libraries.json"
Matters = Literal["everyday", "sometimes", "corner"]
_EVERYDAY, _SOMETIMES = 10, 3


@cache
def _used() -> Mapping[str, int]:
    path = FOLDER / NAME
    with usable(path):
        return dict(json.loads(path.read_text(encoding="utf-8"))["used"]) if path.exists() else {}


def users(names: Iterable[str]) -> int:
    """Return the number of libraries that use the most popular of these names."""
    return max((_used().get(name, 0) for name in names), default=0)


def matters(count: int) -> Matters:
    """Return how much a name matters, given the number of libraries that use it."""
    return "everyday" if count >= _EVERYDAY else "sometimes" if count >= _SOMETIMES else "corner"
