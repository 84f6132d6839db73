"""jnp.power of integers uses six bits of an exponent in an array: 2 to the power of 64 is 1

    jnp.power(jnp.array([2]), jnp.array([64]))    # 1, NumPy: 0, as 2**64 wraps to 0 in int32
    jnp.power(jnp.array([2]), 64)                 # 0

The loop that squares the base runs six times, whatever the exponent is, so that an exponent from 64 on counts modulo
64. One that is a Python number takes another way, and wraps as NumPy's does. jax#10692 was closed as intended: after an
overflow the value is the implementation's.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def of_two() -> tuple[str, str]:
    """Is 2 to the power of 64 what it is in NumPy, in int32?"""
    import jax.numpy as jnp

    return compare(jnp.power(jnp.array([2], "int32"), jnp.array([64], "int32")), [0])


def below_64() -> None:
    """Exponents up to 63 are right, and so is a Python number."""
    import jax.numpy as jnp

    assert jnp.power(jnp.array([3, 2, -1], "int32"), jnp.array([5, 10, 63], "int32")).tolist() == [243, 1024, -1]
    assert jnp.power(jnp.array([2], "int32"), 64).tolist() == [0]


def floats() -> None:
    """In floats, where an overflow is infinity."""
    import jax.numpy as jnp

    got = jnp.power(jnp.array([2.0, 0.0]), jnp.array([64.0, 64.0]))
    assert got.tolist() == [2.0**64, 0.0]


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#10692"),
    control=below_64,
    behaviours={"differs": "documented", "agrees": "clear"},
    rules=(Rule("differs", "", "jax#10692 was closed as intended"),),
    workaround=Workaround("Take the power in floats, where an overflow shows as infinity.", floats),
    cases=(Case(of_two, touches=("jax.numpy.power if uses('jax.numpy.int32', 'jax.numpy.int64')",)),),
)
