"""Rows of published numbers."""

from jax_stack_compat.numbers.model import CallRow

RIGHT = {"form": "eager", "status": "right", "ulp": "", "detail": ""}
UNCHANGED = dict.fromkeys(("change", "was", "package", "explained"), "")


def call_row(function: str, first: str, last: str, **more: str) -> CallRow:
    """Return a row of a function's call from one release to another; it is right unless `more` says otherwise."""
    where = {"function": function, "call": f"{function}(x)", "first": first, "last": last, "digest": first}
    return CallRow(**{**RIGHT, **UNCHANGED, **where, **more})
