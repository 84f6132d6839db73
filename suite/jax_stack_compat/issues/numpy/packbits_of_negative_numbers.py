"""jnp.packbits packs a negative number as an unset bit

`jnp.packbits` set the bit of an element above 0, so a negative element left its bit unset. NumPy sets the bit of an
element other than 0. jax#28593 tests elements with `!= 0` instead of `> 0`.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def packbits() -> tuple[str, str]:
    """Does jnp.packbits pack a negative number as a set bit, as NumPy does?"""
    import jax.numpy as jnp
    import numpy as np

    bits = np.array([-1, 0, 1], np.int32)
    return compare(jnp.packbits(jnp.asarray(bits)), np.packbits(bits))


def zero_and_one() -> None:
    """jnp.packbits packs 0 and 1."""
    import jax.numpy as jnp

    assert jnp.packbits(jnp.array([1, 0, 1])).tolist() == [160]


def compare_with_zero() -> None:
    """jnp.packbits(x != 0) packs a negative number as a set bit."""
    import jax.numpy as jnp

    assert jnp.packbits(jnp.array([-1, 0, 1]) != 0).tolist() == [160]


def packed(x: Any) -> Any:
    """Pack the truth values of x != 0."""
    import jax.numpy as jnp

    return jnp.packbits(x != 0)


def numpy_packbits(x: Any) -> Any:
    """Return NumPy's packbits."""
    import numpy as np

    return np.packbits(x)


_INPUTS = ("int8 matrix", "uint8 vector", "bool batch", "int32 scalar", "int16 empty", "zero int32 square")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(fix="jax#28593"),
    cases=(
        Case(
            packbits,
            zero_and_one,
            rules=(Rule("differs", "jax<0.6.1"), Rule("agrees", "", "jax#28593 (261141615d)")),
            workaround=Workaround(
                "Write jnp.packbits(x != 0).",
                compare_with_zero,
                elsewhere=Elsewhere(packed, numpy_packbits, _INPUTS),
            ),
            touches=("jax.numpy.packbits(a) if a < 0 and form(a) != 'compare'",),
        ),
    ),
)
