"""Comparing with an oracle (NumPy, SciPy, eager, a closed form): one call gives the behaviour and the evidence.

Cell side. Nothing here needs more than NumPy, so that what a reader copies runs as it is.
"""

from __future__ import annotations

from typing import Any

_SHOWN_WHOLE = 8


def compare(got: Any, wanted: Any, *, rtol: float = 0.0, atol: float = 0.0) -> tuple[str, str]:
    """`("agrees", evidence)` where `got` is `wanted`, in shape and to the tolerances, NaNs alike, or `("differs", …)`.

    Both are anything that NumPy takes for an array of numbers or truth values. The evidence shows small arrays whole,
    and of large ones the values that differ most; never a number that two runs would not share.
    """
    import numpy as np

    one, other = np.asarray(got), np.asarray(wanted)
    if one.shape != other.shape:
        return "differs", f"shape {one.shape}, should be {other.shape}"
    same = (one == other) | ((one != one) & (other != other))
    if rtol or atol:
        same |= np.isclose(one, other, rtol=rtol, atol=atol)
    if np.all(same):
        return "agrees", _shown(one)
    if one.size <= _SHOWN_WHOLE:
        return "differs", _beside(one, other)
    with np.errstate(invalid="ignore"):
        apart = np.abs(np.subtract(one, other, dtype=np.result_type(one, other, float)))
    at = np.unravel_index(np.argmax(np.where(same, -1.0, np.nan_to_num(apart, nan=np.inf))), one.shape)
    place = ", ".join(map(str, at))
    return "differs", f"{np.sum(~same)} of {one.size} differ, most at [{place}]: {_beside(one[at], other[at])}"


def _beside(one: Any, other: Any) -> str:
    short, long = (f"{_shown(one, digits)}, should be {_shown(other, digits)}" for digits in (6, 17))
    return long if _shown(one) == _shown(other) else short


def _shown(values: Any, digits: int = 6) -> str:
    import numpy as np

    told = np.array2string(np.asarray(values), precision=digits, threshold=_SHOWN_WHOLE, edgeitems=3)
    return " ".join(told.split())
