"""Gradients can be wrong at indices that JAX clips

The derivative rule of `.at[].max` and `.at[].min` passed `mode` to its last step alone (jax#40648). The batching rule
of `lax.dynamic_slice` promised indices in bounds, so gradients dropped other indices; jax#34229 clips those, and
jax#25880 keeps `.at[].get(mode="clip")` from using `dynamic_slice`. JAX's documentation says that reverse mode does not
preserve the out-of-bounds semantics of indexing (`indexing`, jax#5760).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import DERIVATIVES, Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare, members


def at_max() -> tuple[str, str]:
    """If i is past the end, does x.at[i].max(u, mode="clip") have the gradients of the last entry, by u and by x?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def loss(u: jax.Array, x: jax.Array) -> jax.Array:
        return x.at[jnp.array([5])].max(u, mode="clip").dot(jnp.array([1.0, 2.0, 3.0]))

    return compare(np.concatenate(jax.grad(loss, (0, 1))(jnp.array([10.0]), jnp.arange(3.0))), [3.0, 1.0, 2.0, 0.0])


def not_clipped() -> None:
    """Gradients are as expected in bounds, for an unbatched read past the end, and with mode="drop"."""
    import jax
    import jax.numpy as jnp

    x = jnp.arange(3.0)
    assert jax.grad(lambda x: jax.vmap(lambda i: x[i])(jnp.array([2])).sum())(x).tolist() == [0.0, 0.0, 1.0]
    assert jax.grad(lambda x: x[jnp.int32(5)])(x).tolist() == [0.0, 0.0, 1.0]
    assert jax.grad(lambda u: x.at[jnp.array([2])].max(u, mode="clip").sum())(jnp.array([10.0])).tolist() == [1.0]
    assert jax.grad(lambda u: x.at[jnp.array([5])].max(u, mode="drop").sum())(jnp.array([10.0])).tolist() == [0.0]


def clip_yourself() -> None:
    """If jnp.clip limits the index first, the gradients are those of the last entry."""
    import jax
    import jax.numpy as jnp

    x, i = jnp.arange(3.0), jnp.clip(jnp.array([5]), 0, 2)
    assert jax.grad(lambda x: jax.vmap(lambda i: x[i])(i).sum())(x).tolist() == [0.0, 0.0, 1.0]
    assert jax.grad(lambda u: x.at[i].max(u).sum())(jnp.array([10.0])).tolist() == [1.0]


def gradients(x: Any) -> Any:
    """Return the gradient of two batched row reads by the array, and of x.at[i].max(u) by u."""
    import jax
    import jax.numpy as jnp

    i = jnp.clip(jnp.array([9, 1]), 0, len(x) - 1)
    reads = jax.grad(lambda x: jax.vmap(lambda i: x[i])(i).sum())(x)
    return jnp.concatenate([reads, jax.grad(lambda u: x.at[i[:1]].max(u, mode="clip").sum())(x[:1] + 99)])


def counted(x: Any) -> Any:
    """Return how often each row is read, and 1 for each updated entry."""
    import numpy as np

    reads = np.zeros_like(x)
    np.add.at(reads, np.minimum([9, 1], len(x) - 1), 1)
    return np.concatenate([reads, np.ones_like(x[:1])])


def indexing() -> tuple[str, str]:
    """Is the gradient of x[i] under jax.vmap 1 at the last entry, for scalars i past the end?"""
    import jax
    import jax.numpy as jnp

    def loss(x: jax.Array) -> jax.Array:
        return jax.vmap(lambda i: x[i])(jnp.array([5])).sum()

    return compare(jax.grad(loss)(jnp.arange(3.0)), [0.0, 0.0, 1.0])


def dynamic_index_in_dim() -> tuple[str, str]:
    """Is the gradient of a batched lax.dynamic_index_in_dim 1 at the last entry, if the index is past the end?"""
    import jax
    import jax.numpy as jnp

    def loss(x: jax.Array) -> jax.Array:
        return jax.vmap(lambda i: jax.lax.dynamic_index_in_dim(x, i, keepdims=False))(jnp.array([5])).sum()

    return compare(jax.grad(loss)(jnp.arange(3.0)), [0.0, 0.0, 1.0])


def get_clip() -> tuple[str, str]:
    """Is the gradient of a batched x.at[i].get(mode="clip") 1 at the last entry, if i is past the end?"""
    import jax
    import jax.numpy as jnp

    def loss(x: jax.Array) -> jax.Array:
        return jax.vmap(lambda i: x.at[i].get(mode="clip"))(jnp.array([5])).sum()

    return compare(jax.grad(loss)(jnp.arange(3.0)), [0.0, 0.0, 1.0])


# A method is reported only where its condition is met.
_TAKEN = f"not {DERIVATIVES.replace('uses', 'without')}"
_SCATTER = "(operand, scatter_indices, updates, dimension_numbers, indices_are_sorted, unique_indices, mode)"
_SEGMENT = "(data, segment_ids, num_segments, indices_are_sorted, unique_indices, bucket_size, mode)"
_CLIPPED = f"mode in ('clip', 'jax.lax.GatherScatterMode.CLIP') and {DERIVATIVES}"
_BATCHED = f"uses('jax.vmap', 'equinox.filter_vmap', 'jax.numpy.vectorize') and {DERIVATIVES}"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        report="jax#40626 jax#34228 jax#25878",
        fix="jax#25880 jax#34229",
        attempt="jax#40648",
        discussion="jax#5760",
        docs="jax:notebooks/Common_Gotchas_in_JAX.html#out-of-bounds-indexing",
    ),
    control=not_clipped,
    rules=(Rule("differs", "jax<0.9"), Rule("agrees", "", "jax#34229 (0b4a4407b7)")),
    workaround=Workaround(
        "Clip non-negative int32 indices: jnp.clip(i, 0, n-size), with n the axis's length, size the slice's.",
        clip_yourself,
        elsewhere=Elsewhere(
            gradients,
            counted,
            ("float32 vector", "float16 matrix", "float32 batch", "float32 one", "zero float32 square"),
        ),
    ),
    cases=(
        Case(
            at_max,
            rules=(Rule("differs", "jax<0.12"), Rule("agrees", "", "_scatter_extremal_jvp passes the mode on")),
            touches=(
                *members("jax.Array.at", "max min", f"(u, mode) if mode == 'clip' and {_TAKEN}"),
                *members("jax.lax", "scatter_max scatter_min", f"{_SCATTER} if {_CLIPPED}"),
                *members("jax.ops", "segment_max segment_min", f"{_SEGMENT} if {_CLIPPED}"),
            ),
        ),
        Case(
            dynamic_index_in_dim,
            touches=(
                f"jax.lax.dynamic_index_in_dim(operand, index) if type(index) != 'int' and {_BATCHED}",
                f"jax.lax.dynamic_slice_in_dim(operand, start_index) if type(start_index) != 'int' and {_BATCHED}",
                f"jax.lax.dynamic_slice if {_BATCHED}",
            ),
        ),
        Case(
            get_clip,
            rules=(Rule("differs", "jax<0.5"), Rule("agrees", "", "jax#25880 (54fbf0b3f2)")),
            touches=(f"jax.Array.at.get(i, mode) if mode == 'clip' and {_TAKEN} and not without('jax.vmap')",),
        ),
        Case(indexing, behaviours={"differs": "documented", "agrees": "clear"}, touches=("jax.Array.__getitem__",)),
    ),
)
