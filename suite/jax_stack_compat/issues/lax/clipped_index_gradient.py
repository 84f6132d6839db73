"""Gradients at clipped indices: infinite through `.at[].max`, 0 through batched reads

    x, i = jnp.arange(3.0), jnp.array([5])
    jax.grad(lambda u: x.at[i].max(u, mode="clip").sum())(jnp.array([10.0]))    # inf up to jax 0.11.2, should be 1
    jax.grad(lambda x: jax.vmap(lambda i: x[i])(i).sum())(x)                    # 0, 0, 0 up to 0.8.3, should be 0, 0, 1

The index is past the end. Reading and writing clip it to 2, as documented, and the values are right; reverse mode alone
takes it as it came. jax#25880 (0.5.0) mended `.at[i].get(mode="clip")` under vmap, jax#34229 (0.9.0) what
`dynamic_slice` becomes there; jax#34228 still stands open. For `.at[].max` and `.min` jax#40626 and jax#40648 of
2026-09 are open, and yet 0.12.0 is right.

Seen in these runs:

- Plain indexing, `x[i]` under vmap, has the same fault as `dynamic_index_in_dim`, up to 0.8.3. Both are right from
  0.9.0 on.
- With `.at[].max` the operand's gradient is wrong too, up to 0.11.2: 3 where the update had won, should be 0.
- With mode="drop" the gradient by the update is right from 0.4.18 on.
"""

from __future__ import annotations

from jax_stack_compat.cell import DERIVATIVES, Case, Issue, Rule, Upstream, Workaround, compare, members


def at_max() -> tuple[str, str]:
    """Is the gradient of x.at[[5]].max(u, mode="clip"), by u and by x, that of the clipped index?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def loss(u: jax.Array, x: jax.Array) -> jax.Array:
        return x.at[jnp.array([5])].max(u, mode="clip").dot(jnp.array([1.0, 2.0, 3.0]))

    return compare(np.concatenate(jax.grad(loss, (0, 1))(jnp.array([10.0]), jnp.arange(3.0))), [3.0, 1.0, 2.0, 0.0])


def not_clipped() -> None:
    """An index inside is right everywhere, and so are the unbatched read and mode="drop"."""
    import jax
    import jax.numpy as jnp

    x = jnp.arange(3.0)
    assert jax.grad(lambda x: jax.vmap(lambda i: x[i])(jnp.array([2])).sum())(x).tolist() == [0.0, 0.0, 1.0]
    assert jax.grad(lambda x: x[jnp.int32(5)])(x).tolist() == [0.0, 0.0, 1.0]
    assert jax.grad(lambda u: x.at[jnp.array([2])].max(u, mode="clip").sum())(jnp.array([10.0])).tolist() == [1.0]
    assert jax.grad(lambda u: x.at[jnp.array([5])].max(u, mode="drop").sum())(jnp.array([10.0])).tolist() == [0.0]


def clip_yourself() -> None:
    """The index clipped by jnp.clip."""
    import jax
    import jax.numpy as jnp

    x, i = jnp.arange(3.0), jnp.clip(jnp.array([5]), 0, 2)
    assert jax.grad(lambda x: jax.vmap(lambda i: x[i])(i).sum())(x).tolist() == [0.0, 0.0, 1.0]
    assert jax.grad(lambda u: x.at[i].max(u).sum())(jnp.array([10.0])).tolist() == [1.0]


def indexing() -> tuple[str, str]:
    """Is the gradient of vmap of x[i] 1 at the last entry, for an i past the end?"""
    import jax
    import jax.numpy as jnp

    def loss(x: jax.Array) -> jax.Array:
        return jax.vmap(lambda i: x[i])(jnp.array([5])).sum()

    return compare(jax.grad(loss)(jnp.arange(3.0)), [0.0, 0.0, 1.0])


def dynamic_index_in_dim() -> tuple[str, str]:
    """Is it, of vmap of lax.dynamic_index_in_dim?"""
    import jax
    import jax.numpy as jnp

    def loss(x: jax.Array) -> jax.Array:
        return jax.vmap(lambda i: jax.lax.dynamic_index_in_dim(x, i, keepdims=False))(jnp.array([5])).sum()

    return compare(jax.grad(loss)(jnp.arange(3.0)), [0.0, 0.0, 1.0])


def get_clip() -> tuple[str, str]:
    """Is it, of vmap of x.at[i].get(mode="clip")?"""
    import jax
    import jax.numpy as jnp

    def loss(x: jax.Array) -> jax.Array:
        return jax.vmap(lambda i: x.at[i].get(mode="clip"))(jnp.array([5])).sum()

    return compare(jax.grad(loss)(jnp.arange(3.0)), [0.0, 0.0, 1.0])


# A method is reported only where its condition is met.
_TAKEN = f"not {DERIVATIVES.replace('uses', 'without')}"
_SCATTER = "(operand, scatter_indices, updates, dimension_numbers, indices_are_sorted, unique_indices, mode)"
_CLIPPED = f"mode in ('clip', 'jax.lax.GatherScatterMode.CLIP') and {DERIVATIVES}"
_BATCHED = f"uses('jax.vmap', 'equinox.filter_vmap', 'jax.numpy.vectorize') and {DERIVATIVES}"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#25878 jax#34228 jax#40626", fix="jax#25880 jax#34229", attempt="jax#40648"),
    control=not_clipped,
    rules=(Rule("differs", "jax<0.9"), Rule("agrees", "", "jax#34229 (0b4a4407b7)")),
    workaround=Workaround("Clip the index first: jnp.clip(i, 0, len(x) - 1).", clip_yourself),
    cases=(
        Case(
            at_max,
            rules=(Rule("differs", "jax<0.12"), Rule("agrees")),
            touches=(
                *members("jax.Array.at", "max min", f"(u, mode) if mode == 'clip' and {_TAKEN}"),
                *members("jax.lax", "scatter_max scatter_min", f"{_SCATTER} if {_CLIPPED}"),
            ),
        ),
        Case(indexing, touches=("jax.Array.__getitem__",)),
        Case(
            dynamic_index_in_dim,
            touches=(
                f"jax.lax.dynamic_index_in_dim(operand, index) if type(index) != 'int' and {_BATCHED}",
                f"jax.lax.dynamic_slice if {_BATCHED}",
            ),
        ),
        Case(
            get_clip,
            rules=(Rule("differs", "jax<0.5"), Rule("agrees", "", "jax#25880 (54fbf0b3f2)")),
            touches=(f"jax.Array.at.get(i, mode) if mode == 'clip' and {_TAKEN} and not without('jax.vmap')",),
        ),
    ),
)
