"""A jitted vmap of a matrix product and a reduction is wrong in the rows past a block's end

    jax.jit(jax.vmap(lambda row: jnp.sum((matrix @ row) ** 2)))(x)    # x of shape (32769, 3): the last row is wrong

You'd expect what eager execution gives. With jaxlib 0.10.2 on a CPU the last row of 32769 is that of another one,
1065369600 for 1073741824, without a warning. Other projects met it as failures of tests. XLA hands such a fusion to the
library YNNPACK, which works in blocks. jaxlib 0.11.0 is right, and so is 0.10.2 with the flag that switches these
fusions off. The report has the sum of squares, float32 from 32769 rows on and float64 from 16385, and 0.10.1 for right.

Where a block ends may depend on the processor and the number of threads; these sizes are the report's, met again here.

Seen in these runs:

- With `jnp.max` in the place of the sum of squares, jaxlib 0.9.1 to 0.10.2 are wrong: in 232 of 33000 rows.
- Without `vmap`, as `jnp.sum((x @ matrix.T) ** 2, axis=1)`, 32769 rows are right, and so are 16384 rows with it.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def float32() -> tuple[str, str]:
    """Is jit(vmap(sum of squares of matrix @ row)) what eager execution gives, for 32769 rows?"""
    import jax
    import jax.numpy as jnp

    matrix, x = jnp.eye(3), jnp.zeros((32769, 3)).at[:, 0].set(jnp.arange(32769.0))
    f = jax.vmap(lambda row: jnp.sum((matrix @ row) ** 2))
    return compare(jax.jit(f)(x), f(x), rtol=1e-5)


def control_block() -> None:
    """Half as many rows, and as many without vmap, are right under jit."""
    import jax
    import jax.numpy as jnp

    matrix = jnp.eye(3)
    for f, rows in (
        (jax.vmap(lambda row: jnp.sum((matrix @ row) ** 2)), 16384),
        (lambda x: jnp.sum((x @ matrix.T) ** 2, axis=1), 32769),
    ):
        x = jnp.zeros((rows, 3)).at[:, 0].set(jnp.arange(float(rows)))
        assert jnp.allclose(jax.jit(f)(x), x[:, 0] ** 2, rtol=1e-5), rows


def float64() -> tuple[str, str]:
    """Is it in float64, for 16385 rows?"""
    import jax
    import jax.numpy as jnp

    matrix, x = jnp.eye(3), jnp.zeros((16385, 3)).at[:, 0].set(jnp.arange(16385.0))
    f = jax.vmap(lambda row: jnp.sum((matrix @ row) ** 2))
    return compare(jax.jit(f)(x), f(x), rtol=1e-5)


def maximum() -> tuple[str, str]:
    """Is it with jnp.max of matrix @ row, for 33000 rows?"""
    import jax
    import jax.numpy as jnp

    matrix = jnp.array([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 3.0]])
    x = jnp.zeros((33000, 3)).at[:, 0].set(jnp.arange(33000.0))
    f = jax.vmap(lambda row: jnp.max(matrix @ row))
    return compare(jax.jit(f)(x), f(x), rtol=1e-5)


_AGREES = Rule("agrees")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#39103"),
    touches=("fused reductions",),
    control=control_block,
    rules=(Rule("differs", "jaxlib==0.10.2"), _AGREES),
    workaround=Workaround(
        "Set XLA_FLAGS=--xla_cpu_experimental_ynn_fusion_type= in the environment, or write it without vmap.",
        environment={"XLA_FLAGS": "--xla_cpu_experimental_ynn_fusion_type="},
        fails=("jaxlib<0.8.1",),  # it does not know the flag, and aborts
    ),
    cases=(
        Case(float32),
        Case(float64, x64=True),
        Case(maximum, rules=(Rule("differs", "jaxlib>=0.9.1,<0.11"), _AGREES)),
    ),
)
