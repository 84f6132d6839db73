"""A jitted function cannot use a jax.Array from outside as a slice bound

jax#18679, for shape polymorphism, made `_preprocess_slice` compare the bounds: under jit, JAX traces even a comparison
of two known arrays. jax#18818 first converts known arrays to Python integers. pertpy's `beta[:, :index]` raised the
error (scverse/pertpy#454, jax#18979). Outside jit, a slice takes an array as its bound (`outside`).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def stop() -> tuple[str, str]:
    """Can a jitted function take x[:, :index], where index is a jax.Array from outside?"""
    import jax
    import jax.numpy as jnp

    index = jnp.array(2)
    return compare(jax.jit(lambda x: x[:, :index])(jnp.arange(6).reshape(2, 3)), [[0, 1], [3, 4]])


def outside() -> None:
    """Outside jit, x[index:] takes a jax.Array."""
    import jax.numpy as jnp

    assert jnp.arange(4)[jnp.array(2) :].tolist() == [2, 3]


def as_a_number() -> None:
    """With int(index), jitted slices and .at[].set agree with NumPy."""
    import jax
    import jax.numpy as jnp

    index = int(jnp.array(2))
    assert jax.jit(lambda x: x[index:])(jnp.arange(4)).tolist() == [2, 3]
    assert jax.jit(lambda x: x.at[index:].set(9))(jnp.arange(4)).tolist() == [0, 1, 9, 9]


def as_numbers_elsewhere() -> None:
    """int(index) of other dtypes, also negated, serves as start, stop or step in jit, grad, vmap and scan."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    for dtype in ("int32", "int8", "uint8"):
        two = int(jnp.array(2, dtype))
        for taken in (np.s_[two:], np.s_[:, :two], np.s_[::two], np.s_[-two:, 0], np.s_[::-two], np.s_[9:two]):
            np.testing.assert_array_equal(jax.jit(lambda x, taken=taken: x[taken])(x), x[taken])
    assert jax.jit(jax.grad(lambda x: x[two:].sum()))(x).sum() == 4
    assert jax.vmap(lambda row: row[two:])(x).shape == (3, 2)
    assert jax.lax.scan(lambda total, row: (total + row[two:].sum(), None), 0.0, x)[0] == 39


def start() -> tuple[str, str]:
    """Can a jitted function take x[index:], where index is a jax.Array from outside?"""
    import jax
    import jax.numpy as jnp

    index = jnp.array(2)
    return compare(jax.jit(lambda x: x[index:])(jnp.arange(4)), [2, 3])


def set_from() -> tuple[str, str]:
    """Can a jitted function call x.at[index:].set, where index is a jax.Array from outside?"""
    import jax
    import jax.numpy as jnp

    index = jnp.array(2)
    return compare(jax.jit(lambda x: x.at[index:].set(9))(jnp.arange(4)), [0, 1, 9, 9])


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="jax#18979 scverse/pertpy#454", cause="jax#18679", fix="jax#18818"),
    touches=("indexing", "slices"),
    known_by=r"\bin (clamp_index|_preprocess_slice)\b",
    control=outside,
    rules=(Rule("refused", "jax==0.4.21", "jax#18818"), Rule("agrees")),
    workaround=Workaround(
        "Convert the index to a Python integer: int(index).", as_a_number, elsewhere=as_numbers_elsewhere
    ),
    signatures={
        "refused": Signature(
            "TracerBoolConversionError", "boolean conversion of traced array with shape bool[].", everyday=True
        )
    },
    cases=(Case(stop), Case(start), Case(set_from)),
)
