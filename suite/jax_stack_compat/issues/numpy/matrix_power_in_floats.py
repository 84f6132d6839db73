"""jnp.linalg.matrix_power of integers and truth values is computed in float32, up to jax 0.6.0

    jnp.linalg.matrix_power(jnp.array([[1, 1], [1, 0]]), 40)[0, 0]    # 165580144. up to jax 0.6.0, should be 165580141
    jnp.linalg.matrix_power(jnp.array([[True, True], [False, True]]), 2)[0, 1]    # 2. up to jax 0.6.0, should be True

Whatever came in was made a float first. A boolean power counts the walks between two nodes where NumPy says whether
there is one: numbers above 1 that `== True` takes for False. jax#28603 reported that on 0.6.0, jax#28612 took the
promotion away, and 0.6.1 is the first release that has it.

Seen in these runs: integer powers lose digits up to 0.6.0. A float32 holds integers up to 2**24; the Fibonacci numbers
above that come out rounded.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def integers() -> tuple[str, str]:
    """Is the 40th power of [[1, 1], [1, 0]] exact?"""
    import jax.numpy as jnp
    import numpy as np

    power = jnp.linalg.matrix_power(jnp.array([[1, 1], [1, 0]], jnp.int32), 40)
    return compare(np.asarray(power, np.int64), [[165580141, 102334155], [102334155, 63245986]])


def floats() -> None:
    """Powers of floats are right, and so are the negative powers of integers, which are floats."""
    import jax.numpy as jnp
    import numpy as np

    for dtype, n, wanted in (("float32", 10, [[89, 55], [55, 34]]), ("int32", -1, [[0, 1], [1, -1]])):
        power = jnp.linalg.matrix_power(jnp.array([[1, 1], [1, 0]], dtype), n)
        np.testing.assert_allclose(power, wanted, rtol=1e-5, atol=1e-6)


def repeated_matmul() -> None:
    """Products one after the other, which keep the dtype."""
    import functools

    import jax.numpy as jnp

    fibonacci, walk = jnp.array([[1, 1], [1, 0]], jnp.int32), jnp.array([[True, True], [False, True]])
    assert functools.reduce(jnp.matmul, [fibonacci] * 40).tolist() == [[165580141, 102334155], [102334155, 63245986]]
    assert functools.reduce(jnp.matmul, [walk] * 2).tolist() == [[True, True], [False, True]]


def truth_values() -> tuple[str, str]:
    """Is the square of a matrix of truth values one of truth values?"""
    import jax.numpy as jnp
    import numpy as np

    power = jnp.linalg.matrix_power(jnp.array([[True, True], [False, True]]), 2)
    return compare(np.asarray(power, int), [[1, 1], [0, 1]])


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#28603", fix="jax#28612"),
    touches=("jax.numpy.linalg.matrix_power",),
    control=floats,
    rules=(Rule("differs", "jax<0.6.1"), Rule("agrees", "", "jax#28612 (1e1f1e0d7a)")),
    workaround=Workaround("Multiply: functools.reduce(jnp.matmul, [a] * n).", repeated_matmul),
    cases=(Case(integers), Case(truth_values)),
)
