"""Rows of published numbers."""

import pytest

from jax_stack_compat.numbers import query
from jax_stack_compat.numbers.model import CallRow, Measured

RIGHT = {"form": "eager", "status": "right", "ulp": "", "detail": ""}
UNCHANGED = dict.fromkeys(("change", "was", "package", "explained"), "")


def call_row(function: str, first: str, last: str, **more: str) -> CallRow:
    """Return a row of a function's call from one release to another; it is right unless `more` says otherwise."""
    where = {"function": function, "call": f"{function}(x)", "first": first, "last": last, "digest": first}
    return CallRow(**{**RIGHT, **UNCHANGED, **where, **more})


def publish(rows: tuple[CallRow, ...], patch: pytest.MonkeyPatch) -> None:
    """Have these rows published, and their releases measured."""
    by_function = {row.function: tuple(each for each in rows if each.function == row.function) for row in rows}
    releases = tuple({release: None for row in rows for release in (row.first, row.last)})
    patch.setattr(query, "by_function", lambda: by_function)
    patch.setattr(query, "measured", lambda: Measured(releases=releases, cpu=(), functions=1, calls=1))
