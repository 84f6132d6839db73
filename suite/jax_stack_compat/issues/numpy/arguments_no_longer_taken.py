"""JAX refuses __jax_array__ objects, integer where= and arrays as dtype

`jax.jit` and functions such as `jnp.sin` refuse an object that defines `__jax_array__`, unless it is a pytree
(jax#28355). JAX accepted an array as a dtype inadvertently (jax#21856). `where` was documented as boolean,
but not checked (jax#25290). `__jax_array__`, integer `where` and array dtypes first gave a DeprecationWarning; the
changelog lists the errors as breaking changes.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare, members


def jax_array_object() -> tuple[str, str]:
    """Does jnp.sin take an object that has __jax_array__?"""
    import jax
    import jax.numpy as jnp

    class Wrapped:
        def __jax_array__(self) -> jax.Array:
            return jnp.zeros(2)

    return compare(jnp.sin(Wrapped()), [0.0, 0.0])


def as_documented() -> None:
    """JAX takes arrays as operands, booleans as where=, and dtypes as dtype."""
    import jax
    import jax.numpy as jnp

    assert jnp.sin(jnp.zeros(2)).tolist() == [0.0, 0.0]
    assert jax.jit(lambda x: x + 1.0)(jnp.zeros(2)).tolist() == [1.0, 1.0]
    assert float(jnp.sum(jnp.array([1.0, 2.0]), where=jnp.array([True, False]))) == 1.0
    assert jnp.array([1.5, 2.5]).astype("int32").tolist() == [1, 2]


def converted() -> None:
    """JAX takes jnp.asarray(object), where=mask.astype(bool) and x.astype(y.dtype)."""
    import jax
    import jax.numpy as jnp

    class Wrapped:
        def __jax_array__(self) -> jax.Array:
            return jnp.zeros(2)

    assert jax.jit(lambda x: x + 1.0)(jnp.asarray(Wrapped())).tolist() == [1.0, 1.0]
    assert float(jnp.sum(jnp.array([1.0, 2.0]), where=jnp.array([1, 0]).astype(bool))) == 1.0
    assert jnp.array([1.5, 2.5]).astype(jnp.array([1, 2]).dtype).tolist() == [1, 2]


def converted_elsewhere() -> None:
    """Under jit, vmap and grad, JAX takes converted objects and masks of other dtypes and shapes, and y.dtype."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x = np.arange(6, dtype=np.float32).reshape(2, 3)

    class Wrapped:
        def __jax_array__(self) -> jax.Array:
            return jnp.asarray(x)

    np.testing.assert_array_equal(jax.vmap(jax.grad(jnp.sum))(jnp.asarray(Wrapped())), np.ones((2, 3)))
    for mask in (x, x > 2, x.astype(np.uint8), np.float16(1)):
        got = jax.jit(lambda where: jnp.sum(x, axis=-1, where=where))(jnp.asarray(mask).astype(bool))
        np.testing.assert_array_equal(got, np.sum(x, axis=-1, where=mask != 0))
        assert jax.jit(lambda x, y: x.astype(y.dtype))(x, mask).dtype == jnp.asarray(mask).dtype


def jax_array_object_in_jit() -> tuple[str, str]:
    """Does jax.jit(f) take an object that has __jax_array__?"""
    import jax
    import jax.numpy as jnp

    class Wrapped:
        def __jax_array__(self) -> jax.Array:
            return jnp.zeros(2)

    return compare(jax.jit(lambda x: x + 1.0)(Wrapped()), [1.0, 1.0])


def where_of_integers() -> tuple[str, str]:
    """Does jnp.sum take a where= of integers?"""
    import jax.numpy as jnp

    return compare(jnp.sum(jnp.array([1.0, 2.0]), where=jnp.array([1, 0])), 1.0)


def dtype_of_an_array() -> tuple[str, str]:
    """Does x.astype(y) take an array y as the dtype?"""
    import jax.numpy as jnp

    return compare(jnp.array([1.5, 2.5]).astype(jnp.array([1, 2])), [1, 2])


_BOOLEAN = (
    *("compare", "astype"),
    *members("jax.numpy", "isnan isfinite isinf logical_and logical_or logical_not ones zeros"),
)
_MASK = f"if given(where) and where not in (True, False, None) and form(where) not in {_BOOLEAN}"
_MADE = "in ('jax.numpy.array', 'jax.numpy.asarray', 'jax.numpy.zeros', 'jax.numpy.ones', 'jax.numpy.arange')"

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(
        report="keras-team/keras-hub#2479",
        change="jax#28355 jax@395849bd7a jax#25290 jax@d369bb0e1d jax#21856 jax@3e98d52851",
        docs="jax:changelog.html#jax-0-8-0-october-15-2025",
    ),
    control=as_documented,
    behaviours={"warns": "documented"},
    rules=(Rule("agrees", "jax<0.6.1"), Rule("warns", "jax<0.8.0", "jax#28355"), Rule("refused", "", "395849bd7a")),
    workaround=Workaround("Call jnp.asarray on the object first.", converted, elsewhere=converted_elsewhere),
    signatures={
        "warns": Signature("DeprecationWarning", "__jax_array__() during abstractification is deprecated"),
        "refused": Signature("ValueError", "__jax_array__() during abstractification is no longer supported"),
    },
    cases=(
        Case(jax_array_object, touches=("__jax_array__",)),
        Case(jax_array_object_in_jit, touches=("__jax_array__",)),
        Case(
            where_of_integers,
            rules=(
                Rule("agrees", "jax<0.4.36"),
                Rule("warns", "jax<0.8.0", "jax#25290"),
                Rule("refused", "", "d369bb0e1d"),
            ),
            workaround=Workaround(
                "Convert the mask: where=mask.astype(bool).", converted, elsewhere=converted_elsewhere
            ),
            signatures={
                "warns": Signature("DeprecationWarning", "where must be None or a boolean array"),
                "refused": Signature("ValueError", "where must be None or a boolean array"),
            },
            touches=(
                *members(
                    "jax.numpy",
                    "sum prod max min amax amin mean var std any all "
                    "nansum nanprod nanmax nanmin nanmean nanvar nanstd",
                    f"(a, axis, dtype, out, keepdims, initial, where) {_MASK}",
                ),
                *members("jax.Array", "sum prod max min mean var std any all", f"(axis, where) {_MASK}"),
            ),
        ),
        Case(
            dtype_of_an_array,
            rules=(
                Rule("unhashable", "jax<0.4.30", "a concrete array as dtype raised a TypeError"),
                Rule("warns", "jax<0.8.0", "jax#21856"),
                Rule("refused", "", "3e98d52851"),
            ),
            workaround=Workaround(
                "Pass the array's dtype: x.astype(y.dtype).", converted, elsewhere=converted_elsewhere
            ),
            signatures={
                "warns": Signature("DeprecationWarning", "Passing an array as a dtype argument is deprecated"),
                "refused": Signature("ValueError", "Passing an array as a dtype argument is no longer supported"),
                "unhashable": Signature("TypeError", "unhashable type: …ArrayImpl"),
            },
            behaviours={"agrees": "clear", "differs": "different", "warns": "documented", "unhashable": "absent"},
            touches=(
                f"jax.Array.astype(dtype) if form(dtype) {_MADE}",
                *members("jax.numpy", "zeros ones array asarray", f"(shape, dtype) if form(dtype) {_MADE}"),
                f"jax.numpy.full(shape, fill_value, dtype) if form(dtype) {_MADE}",
            ),
        ),
    ),
)
