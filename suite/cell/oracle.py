"""Comparing with an oracle (NumPy, SciPy, eager, a closed form): one call gives the behaviour and the evidence.

Cell side. Nothing here needs more than NumPy, so that what a reader copies runs as it is.
"""

from __future__ import annotations

from typing import Any


def compare(got: Any, wanted: Any, *, rtol: float = 0.0, atol: float = 0.0) -> tuple[str, str]:
    """`("agrees", evidence)` where `got` is `wanted`, in shape and to the tolerances, NaNs alike; else `("differs", …)`.

    Both are anything that NumPy takes for an array of numbers or truth values. The evidence shows the values that
    differ most, and not a number that two runs would not share.
    """
    import numpy as np

    one, other = np.asarray(got), np.asarray(wanted)
    if one.shape != other.shape:
        return "differs", f"shape {one.shape}, should be {other.shape}"
    if np.allclose(one, other, rtol=rtol, atol=atol, equal_nan=True):
        return "agrees", _shown(one)
    return "differs", f"{_shown(one)}, should be {_shown(other)}"


def _shown(values: Any) -> str:
    import numpy as np

    return " ".join(np.array2string(values, precision=6, threshold=8, edgeitems=3).split())
