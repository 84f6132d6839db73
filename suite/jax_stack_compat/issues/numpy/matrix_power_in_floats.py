"""jnp.linalg.matrix_power of integers and booleans returns floats

`jnp.linalg.matrix_power` converted its matrix to floats, until jax#28612. So the power of a boolean matrix counted the
walks between two nodes, where NumPy's power tells whether a walk exists (jax#28603, `truth_values`). Integers above
2**24 are rounded in float32 (`integers`).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def truth_values() -> tuple[str, str]:
    """Does jnp.linalg.matrix_power of a boolean matrix agree with NumPy?"""
    import jax.numpy as jnp
    import numpy as np

    power = jnp.linalg.matrix_power(jnp.array([[True, True], [False, True]]), 2)
    return compare(np.asarray(power, int), [[1, 1], [0, 1]])


def floats() -> None:
    """jnp.linalg.matrix_power agrees with NumPy for floats, and for negative powers of integers, which are floats."""
    import jax.numpy as jnp
    import numpy as np

    for dtype, n, wanted in (("float32", 10, [[89, 55], [55, 34]]), ("int32", -1, [[0, 1], [1, -1]])):
        power = jnp.linalg.matrix_power(jnp.array([[1, 1], [1, 0]], dtype), n)
        np.testing.assert_allclose(power, wanted, rtol=1e-5, atol=1e-6)


def repeated_matmul() -> None:
    """Repeated products with jnp.matmul keep the dtype, and are exact below 2**31."""
    import functools

    import jax.numpy as jnp

    fibonacci, walk = jnp.array([[1, 1], [1, 0]], jnp.int32), jnp.array([[True, True], [False, True]])
    assert functools.reduce(jnp.matmul, [fibonacci] * 40).tolist() == [[165580141, 102334155], [102334155, 63245986]]
    assert functools.reduce(jnp.matmul, [walk] * 2).tolist() == [[True, True], [False, True]]


def fifth_power(a: Any) -> Any:
    """Multiply five copies of the matrix."""
    import functools

    import jax.numpy as jnp

    return functools.reduce(jnp.matmul, [a] * 5)


def numpy_fifth_power(a: Any) -> Any:
    """Return NumPy's fifth power of the matrix."""
    import numpy as np

    return np.linalg.matrix_power(a, 5)


def integers() -> tuple[str, str]:
    """Is jnp.linalg.matrix_power([[1, 1], [1, 0]], 40) exact?"""
    import jax.numpy as jnp
    import numpy as np

    power = jnp.linalg.matrix_power(jnp.array([[1, 1], [1, 0]], jnp.int32), 40)
    return compare(np.asarray(power, np.int64), [[165580141, 102334155], [102334155, 63245986]])


_FLOATS = (
    *("jax.numpy.eye", "jax.numpy.zeros", "jax.numpy.ones", "jax.numpy.linalg.inv", "jax.scipy.linalg.expm"),
    *("jax.random.normal", "jax.random.uniform", "jax.nn.softmax"),
)
_POWER = f"jax.numpy.linalg.matrix_power(a, n) if not seen(n < 0) and not form(a) in {_FLOATS}"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#28603", fix="jax#28612"),
    touches=(
        f"{_POWER} and (seen(form(a) == 'compare' or a in (True, False)) or unseen)",
        f"{_POWER} and uses('jax.numpy.int32', 'jax.numpy.int64', 'jax.numpy.bool_') and not seen(a > -1)",
    ),
    control=floats,
    rules=(Rule("differs", "jax<0.6.1"), Rule("agrees", "", "jax#28612 (1e1f1e0d7a)")),
    workaround=Workaround(
        "For an int n > 0, use functools.reduce(jnp.matmul, [a] * n): n-1 products; overflow wraps.",
        repeated_matmul,
        elsewhere=Elsewhere(
            fifth_power,
            numpy_fifth_power,
            ("int32 square", "bool square", "uint8 batch", "int8 batch", "float32 square"),
            rtol=1e-5,
        ),
    ),
    cases=(Case(truth_values), Case(integers)),
)
