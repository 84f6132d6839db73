"""Ordinary mistakes with traced values, which JAX documents itself: their meaning, in a line. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from jax_stack_compat.check.explain.raised import Raised
from jax_stack_compat.packages import PACKAGES

# By class, as the page names them.
ORDINARY: Mapping[str, str] = {
    "ConcretizationTypeError": "code asks for the value of a traced array, as `float(x)` and `int(x)` do under jax.jit",
    "NonConcreteBooleanIndexError": "a traced array is indexed by a mask, so the shape of the result is not known",
    "TracerArrayConversionError": "NumPy, or code that calls it, is given a traced array",
    "TracerBoolConversionError": "Python's `if`, `while`, `and` or `not` asks for the value of a traced array",
    "TracerIntegerConversionError": "a traced array is used as a Python integer, such as the index of a list",
    "UnexpectedTracerError": "a traced value left the function that was traced, and was used later",
}
PAGE = f"{PACKAGES['jax'].documentation}errors.html#jax.errors."


def told(errors: Iterable[Raised]) -> Iterator[tuple[str, str]]:
    """Yield each ordinary mistake among exceptions: its class, and a line with its meaning and its documentation."""
    types = dict.fromkeys(error.type for error in errors if error.type in ORDINARY)
    yield from ((type, f"{type}: {ORDINARY[type]}. See {PAGE}{type}") for type in types)
