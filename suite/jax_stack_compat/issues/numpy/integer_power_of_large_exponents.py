"""jnp.power(2, 64) in int32 is 1 for an array exponent, and 0 for a scalar

A concrete scalar exponent lowers to `jax.lax.integer_pow` (jnp.power's documentation). For an array exponent,
`jnp.power` squares an integer base in a loop of six steps, whatever the exponent is (jax#10692). So 2 to the power of
64 in int32 is 1 if the exponent is an array or traced, while NumPy returns 0. Upstream closed the report as intended:
integer overflow is implementation-defined (jax#10692).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def of_two() -> tuple[str, str]:
    """Does jnp.power([2], [64]) in int32 return [0], as NumPy does?"""
    import jax.numpy as jnp

    return compare(jnp.power(jnp.array([2], "int32"), jnp.array([64], "int32")), [0])


def below_64() -> None:
    """jnp.power agrees with NumPy for array exponents of 5, 10 and 63, and for a Python 64."""
    import jax.numpy as jnp

    assert jnp.power(jnp.array([3, 2, -1], "int32"), jnp.array([5, 10, 63], "int32")).tolist() == [243, 1024, -1]
    assert jnp.power(jnp.array([2], "int32"), 64).tolist() == [0]


def floats() -> None:
    """In float32, 2 to the power of 64 is exact, and 0 to the power of 64 is 0."""
    import jax.numpy as jnp

    got = jnp.power(jnp.array([2.0, 0.0]), jnp.array([64.0, 64.0]))
    assert got.tolist() == [2.0**64, 0.0]


def power_of_floats(base: Any, exponent: Any) -> Any:
    """Convert base and exponent to floats, and compute the power."""
    import jax.numpy as jnp

    return jnp.power(base.astype(float), exponent.astype(float))


def numpy_power_of_floats(base: Any, exponent: Any) -> Any:
    """Return NumPy's power of floats."""
    import numpy as np

    return np.power(base.astype(float), exponent.astype(float))


def scalar_exponent() -> tuple[str, str]:
    """Do jitted and eager jnp.power(2, exponent) agree if the exponent is a scalar array of 64?"""
    import jax
    import jax.numpy as jnp

    exponent = jnp.array(64, "int32")
    compiled = jax.jit(lambda exponent: jnp.power(2, exponent))
    return compare(compiled(exponent), jnp.power(2, exponent))


# A literal exponent is not an array.
_ARRAYS = "jax.numpy.power(x1, x2) if type(x2) not in ('int', 'float') and uses('jax.numpy.int32', 'jax.numpy.int64')"
_INPUTS = (
    "int32 matrix, positive int32 scalar",
    "uint8 vector, uint8 vector",
    "int16 scalar, positive int16 scalar",
    "zero int32 vector, positive int32 scalar",
    "int32 empty, int32 empty",
)

ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(report="jax#10692", docs="jax:_autosummary/jax.numpy.power.html"),
    control=below_64,
    behaviours={"differs": "documented", "agrees": "clear"},
    rules=(Rule("differs", "", "jax#10692 was closed as intended"),),
    workaround=Workaround(
        "Pass floats; float32 results round above 2**24 and overflow to infinity.",
        floats,
        elsewhere=Elsewhere(power_of_floats, numpy_power_of_floats, _INPUTS, rtol=1e-5),
    ),
    cases=(Case(of_two, touches=(_ARRAYS,)), Case(scalar_exponent, touches=(_ARRAYS,))),
)
