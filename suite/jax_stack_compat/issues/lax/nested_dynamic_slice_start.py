"""Under jit a dynamic_slice of a dynamic_slice reads the wrong place where a start index is past the end

    f = lambda x, i, j: dynamic_slice(dynamic_slice(x, (i,), (4,)), (j,), (1,))      # x = arange(10)
    jax.jit(f)(x, 9, 0)                                # 9 up to jaxlib 0.11.2; should be 6, as each slice alone clamps

A start index is clamped so that the slice fits, as documented: 9 becomes 6 for a slice of four. XLA makes one slice of
the two, adds the indices, and clamps them together. Eager execution is right. `jnp.roll` by a traced shift is such a
slice: a window of a rolled array that runs past the end is another one. openxla/xla#49121 and jax#40849, both of
2026-09-19 to 21, are open; jax#40849 has it with a development version of 0.12.0.

Seen in these runs: both are wrong from 0.4.18 to 0.11.2, and right from 0.12.0 on.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def slices() -> tuple[str, str]:
    """Does a jitted slice of a slice clamp each of the two start indices?"""
    import jax
    import numpy as np

    def f(x: jax.Array, i: int, j: int) -> jax.Array:
        return jax.lax.dynamic_slice(jax.lax.dynamic_slice(x, (i,), (4,)), (j,), (1,))

    x = np.arange(10.0, dtype=np.float32)
    return compare([jax.jit(f)(x, i, j)[0] for i, j in ((9, 0), (3, 5), (6, 0))], [6.0, 6.0, 6.0])


def inside() -> None:
    """Start indices in range, and one slice alone, are right."""
    import jax
    import numpy as np

    def f(x: jax.Array, i: int, j: int) -> jax.Array:
        return jax.lax.dynamic_slice(jax.lax.dynamic_slice(x, (i,), (4,)), (j,), (1,))

    x = np.arange(10.0, dtype=np.float32)
    assert jax.jit(f)(x, 5, 3)[0] == 8.0
    assert jax.jit(lambda x, i: jax.lax.dynamic_slice(x, (i,), (4,)))(x, 9).tolist() == [6.0, 7.0, 8.0, 9.0]


def clip_starts() -> None:
    """Each start clipped before."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def f(x: jax.Array, i: int, j: int) -> jax.Array:
        some = jax.lax.dynamic_slice(x, (jnp.clip(i, 0, 6),), (4,))
        return jax.lax.dynamic_slice(some, (jnp.clip(j, 0, 3),), (1,))

    x = np.arange(10.0, dtype=np.float32)
    assert [float(jax.jit(f)(x, i, j)[0]) for i, j in ((9, 0), (3, 5), (6, 0))] == [6.0, 6.0, 6.0]


def rolled() -> tuple[str, str]:
    """Does a jitted slice of jnp.roll by a traced shift clamp its start index?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def f(x: jax.Array, shift: int, start: int) -> jax.Array:
        return jax.lax.dynamic_slice(jnp.roll(x, shift), (start,), (4,))

    return compare(jax.jit(f)(np.arange(9), 4, 12), np.roll(np.arange(9), 4)[5:9])


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#40849 xla#49121"),
    control=inside,
    rules=(Rule("differs", "jaxlib<0.12"), Rule("agrees")),
    workaround=Workaround("Clip each start yourself: jnp.clip(i, 0, len(x) - size).", clip_starts),
    cases=(
        Case(
            slices,
            touches=(
                "jax.lax.dynamic_slice(operand, start_indices) "
                "if max(start_indices) >= 2**31 and without('jax.numpy.clip')",
            ),
        ),
        Case(rolled, touches=("jax.numpy.roll(a, shift) if type(shift) != 'int' and uses('jax.lax.dynamic_slice')",)),
    ),
)
