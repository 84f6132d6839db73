"""x.view() and x.view(None) read the bytes of an array as floats

JAX took `None` for the default float dtype, and read the bytes as floats. ca7b9db551 returns the array unchanged. The
changelog calls returning the array NumPy's semantics. NumPy returns the array for `x.view()`, but reads float64 for
`x.view(None)` (numpy#14875).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def integers() -> tuple[str, str]:
    """Does x.view() of integers return x?"""
    import jax.numpy as jnp

    x = jnp.array([1, 2, 3, 4], jnp.int32)
    return compare(x.view(), x)


def floats_and_named() -> None:
    """For a float32 array x, x.view() returns x, and x.view("int32") reads the bytes as int32."""
    import jax.numpy as jnp

    x = jnp.array([1.0, 2.0], jnp.float32)
    assert x.view().tolist() == [1.0, 2.0]
    assert x.view("int32").tolist() == [0x3F800000, 0x40000000]


def name_the_dtype() -> None:
    """x.view(x.dtype) returns x for arrays of int8, complex64 and bool."""
    import jax.numpy as jnp

    for x in (jnp.array([1, 2, 3, 4], jnp.int8), jnp.array([1 + 2j], jnp.complex64), jnp.array([True, False])):
        assert x.view(x.dtype).dtype == x.dtype
        assert x.view(x.dtype).tolist() == x.tolist()


def viewed(x: Any) -> Any:
    """View an array with its own dtype."""
    return x.view(x.dtype)


def itself(x: Any) -> Any:
    """Return the array."""
    return x


def small_integers() -> tuple[str, str]:
    """Does x.view(None) of four int8 numbers return x, not one float?"""
    import jax.numpy as jnp

    x = jnp.array([1, 2, 3, 4], jnp.int8)
    return compare(x.view(None), x)


def complex_numbers() -> tuple[str, str]:
    """Does x.view() of complex numbers under jit return x, not real and imaginary parts in a row?"""
    import jax
    import jax.numpy as jnp

    x = jnp.array([1 + 2j, 3 - 1j], jnp.complex64)
    return compare(jax.jit(lambda x: x.view())(x), x)


_INPUTS = ("int32 matrix", "bool vector", "complex64 batch", "float16 scalar", "uint8 empty", "zero int8 square")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(fix="jax@ca7b9db551", docs="jax:changelog.html", discussion="numpy/numpy#14875"),
    touches=("jax.Array.view(dtype) if not given(dtype) or dtype == None",),
    control=floats_and_named,
    rules=(Rule("differs", "jax<0.7.2"), Rule("agrees", "", "ca7b9db551, and the changelog")),
    workaround=Workaround(
        "Name the dtype: x.view(x.dtype).", name_the_dtype, elsewhere=Elsewhere(viewed, itself, _INPUTS)
    ),
    cases=(Case(integers), Case(small_integers), Case(complex_numbers)),
)
