"""A workaround run on inputs that are not the example's: made from their names, the same on every release.

Cell side. A call's inputs are separated by commas: "float32 vector, positive float32 scalar". Each has a dtype, a shape
and perhaps a kind of values; without one, they are ordinary numbers of both signs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax_stack_compat.cell import signatures
from jax_stack_compat.cell.issue import Case, Elsewhere
from jax_stack_compat.cell.oracle import compare

SHAPES: dict[str, tuple[int, ...]] = {
    **{"scalar": (), "one": (1,), "vector": (7,), "matrix": (3, 4)},
    **{"square": (3, 3), "batch": (2, 3, 3), "empty": (0,)},
}
# "unit" is between 0 and 1, without its ends.
VALUES = ("positive", "unit", "zero")
_UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
_SIGNED = ("int8", "int16", "int32", "int64")
DTYPES = ("float16", "float32", "float64", "complex64", "complex128", "bool", *_SIGNED, *_UNSIGNED)


def run(case: Case) -> dict[str, str]:
    """Run the workaround of a case elsewhere. Return "" for each input on which it helps, or else what it did.

    A second program counts as one input, `program`.
    """
    if case.workaround is None or case.workaround.elsewhere is None:
        return {}
    import jax

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", case.x64 or before)
    try:
        return _run(case.workaround.elsewhere)
    finally:
        jax.config.update("jax_enable_x64", before)


def _run(elsewhere: Elsewhere | Callable[[], None]) -> dict[str, str]:
    if isinstance(elsewhere, Elsewhere):
        return {name: _of_input(elsewhere, name) for name in elsewhere.inputs}
    try:
        elsewhere()
    except Exception as error:
        return {"program": _raised(error)}
    return {"program": ""}


def parsed(text: str) -> tuple[str, str, str]:
    """Return the kind of values ("" for ordinary), the dtype and the shape that an input names. Raises ValueError."""
    words = ["", "", *text.split()]
    *kinds, dtype, shape = words
    kind = " ".join(kinds).strip()
    if shape not in SHAPES:
        raise ValueError(f"{text!r} names no shape; the shapes are {', '.join(SHAPES)}")
    if dtype not in DTYPES:
        raise ValueError(f"{text!r} names no dtype; the dtypes are {', '.join(DTYPES)}")
    if kind and kind not in VALUES:
        raise ValueError(f"{text!r} names no kind of values; the kinds are {', '.join(VALUES)}")
    return kind, dtype, shape


def array(text: str, place: int = 0) -> Any:
    """Return the NumPy array that an input names. Arguments at other places of a call have other values."""
    import numpy as np

    kind, dtype, shape = parsed(text.strip())
    dimensions = SHAPES[shape]
    size = 1
    for length in dimensions:
        size *= length
    # Sixteenths are exact in each float dtype, and 101 is prime, so that no two neighbours are equal.
    numbers = [(37 * index + 11 * place + 5) % 101 for index in range(size)]
    return np.asarray([_value(number, kind, dtype) for number in numbers], dtype).reshape(dimensions)


def _value(number: int, kind: str, dtype: str) -> complex:
    if kind == "zero":
        return 0
    if dtype == "bool":
        return number % 3 > 0
    if dtype in (*_SIGNED, *_UNSIGNED):
        least = 1 if kind else 0 if dtype in _UNSIGNED else -6
        return number % 13 + least
    if kind == "unit":
        return (number + 1) / 102
    if kind == "positive":
        return (number + 1) / 16
    real = (number - 50) / 16
    return complex(real, (number % 7 - 3) / 4) if dtype.startswith("complex") else real


def _of_input(elsewhere: Elsewhere, name: str) -> str:
    import jax.numpy as jnp

    arguments = [array(text, place) for place, text in enumerate(name.split(","))]
    wanted = elsewhere.reference(*arguments)
    try:
        got = elsewhere.function(*map(jnp.asarray, arguments))
        answer, evidence = compare(got, wanted, rtol=elsewhere.rtol, atol=elsewhere.atol)
    except Exception as error:
        return _raised(error)
    return "" if answer == "agrees" else evidence


def _raised(error: Exception) -> str:
    told = " ".join(signatures.text(error).split())[:300]
    return f"{type(error).__name__}: {told}".removesuffix(": ")
