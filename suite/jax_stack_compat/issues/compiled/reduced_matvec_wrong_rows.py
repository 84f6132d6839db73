"""jax.jit of vmapped jnp.sum((matrix @ row) ** 2) can err in last rows

On CPUs, XLA passes a fused matrix product and reduction to YNNPACK; without YNNPACK, the results agree with NumPy
(`without_fusions`). jax#39103 found the sum of squares of a 3 by 3 matrix times a row wrong in float32 with 32769 rows
(`float32`) and in float64 with 16385 (`float64`). `jnp.max` is wrong, too (`maximum`), and so is the sum of squares of
`matrix @ x.T` without vmap (`product_with_columns`).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def float32() -> tuple[str, str]:
    """Does jax.jit of vmapped jnp.sum((matrix @ row) ** 2) agree with eager execution for 32769 rows of 3?"""
    import jax
    import jax.numpy as jnp

    matrix, x = jnp.eye(3), jnp.zeros((32769, 3)).at[:, 0].set(jnp.arange(32769.0))
    f = jax.vmap(lambda row: jnp.sum((matrix @ row) ** 2))
    return compare(jax.jit(f)(x), f(x), rtol=1e-5)


def control_block() -> None:
    """Under jit, the sum of squares is correct for 16384 rows, and for x @ matrix.T without vmap."""
    import jax
    import jax.numpy as jnp

    matrix = jnp.eye(3)
    for f, rows in (
        (jax.vmap(lambda row: jnp.sum((matrix @ row) ** 2)), 16384),
        (lambda x: jnp.sum((x @ matrix.T) ** 2, axis=1), 32769),
    ):
        x = jnp.zeros((rows, 3)).at[:, 0].set(jnp.arange(float(rows)))
        assert jnp.allclose(jax.jit(f)(x), x[:, 0] ** 2, rtol=1e-5), rows


def without_fusions() -> None:
    """Without YNNPACK, reductions of random products agree with NumPy, in float16 and wider, for few and many rows."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def reduced(reduce: Any, matrix: Any, x: Any) -> Any:
        return jax.jit(jax.vmap(lambda row: reduce(matrix @ row)))(x)

    random = np.random.default_rng(0)
    for rows, dtype in ((33000, "float32"), (17000, "float"), (7, "float16")):
        x, matrix = random.normal(size=(rows, 3)).astype(dtype), random.normal(size=(3, 3)).astype(dtype)
        product = x.astype("float64") @ matrix.T.astype("float64")
        for reduce, wanted in (
            (lambda y: jnp.sum(y**2), np.sum(product**2, axis=1)),
            (jnp.max, np.max(product, axis=1)),
            (jnp.linalg.norm, np.linalg.norm(product, axis=1)),
        ):
            np.testing.assert_allclose(reduced(reduce, jnp.asarray(matrix), x), wanted, rtol=1e-2, atol=1e-2)


def float64() -> tuple[str, str]:
    """Does jax.jit of vmapped jnp.sum((matrix @ row) ** 2) agree with eager mode in float64, for 16385 rows of 3?"""
    import jax
    import jax.numpy as jnp

    matrix, x = jnp.eye(3), jnp.zeros((16385, 3)).at[:, 0].set(jnp.arange(16385.0))
    f = jax.vmap(lambda row: jnp.sum((matrix @ row) ** 2))
    return compare(jax.jit(f)(x), f(x), rtol=1e-5)


def maximum() -> tuple[str, str]:
    """Does jax.jit of vmapped jnp.max(matrix @ row) agree with eager execution for 33000 rows of 3?"""
    import jax
    import jax.numpy as jnp

    matrix = jnp.array([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 3.0]])
    x = jnp.zeros((33000, 3)).at[:, 0].set(jnp.arange(33000.0))
    f = jax.vmap(lambda row: jnp.max(matrix @ row))
    return compare(jax.jit(f)(x), f(x), rtol=1e-5)


def product_with_columns() -> tuple[str, str]:
    """Does jax.jit of jnp.sum((matrix @ x.T) ** 2, axis=0), without vmap, agree with eager mode for 33000 rows of 3?"""
    import jax
    import jax.numpy as jnp

    matrix, x = jnp.eye(3), jnp.zeros((33000, 3)).at[:, 0].set(jnp.arange(33000.0))

    def f(x: jax.Array) -> jax.Array:
        return jnp.sum((matrix @ x.T) ** 2, axis=0)

    return compare(jax.jit(f)(x), f(x), rtol=1e-5)


_AGREES = Rule("agrees")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#39103"),
    touches=("fused reductions",),
    control=control_block,
    rules=(Rule("differs", "jaxlib==0.10.2"), _AGREES),
    workaround=Workaround(
        "Set XLA_FLAGS=--xla_cpu_experimental_ynn_fusion_type= before JAX starts; XLA then fuses without YNNPACK.",
        environment={"XLA_FLAGS": "--xla_cpu_experimental_ynn_fusion_type="},
        fails=("jaxlib<0.8.1",),  # it does not know the flag, and aborts
        elsewhere=without_fusions,
    ),
    cases=(
        Case(float32),
        Case(float64, x64=True),
        Case(maximum, rules=(Rule("differs", "jaxlib>=0.9.1,<0.11"), _AGREES)),
        Case(product_with_columns),
    ),
)
