"""x.view() and x.view(None) read the bytes as floats, up to jax 0.7.1

    jnp.arange(3).view()                        # [0., 1.4e-45, 2.8e-45] up to jax 0.7.1, should be [0, 1, 2]
    jnp.array([1, 2, 3, 4], jnp.int8).view()    # [1.5e-36], one float of the four bytes

Without a dtype NumPy gives the array as it is. JAX took `None` for the default float, as its constructors do, and read
the memory as that: integers become subnormal numbers, a complex array twice as many reals, four bytes or truth values
one number. Nothing raises where the sizes fit. A change by mypy's annotations found it; ca7b9db551 mended it, in 0.7.2,
and the changelog names it as a bug of `view(dtype=None)`.

Seen in these runs:

- The call without any argument does it too, eager and under jit, up to 0.7.1.
- The shape changes: four int8 are one float, and two complex numbers four.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def integers() -> tuple[str, str]:
    """Is x.view() of integers x?"""
    import jax.numpy as jnp

    x = jnp.array([1, 2, 3, 4], jnp.int32)
    return compare(x.view(), x)


def floats_and_named() -> None:
    """A float32 array is itself, and a dtype that is named is the one that is read."""
    import jax.numpy as jnp

    x = jnp.array([1.0, 2.0], jnp.float32)
    assert x.view().tolist() == [1.0, 2.0]
    assert x.view("int32").tolist() == [0x3F800000, 0x40000000]


def name_the_dtype() -> None:
    """With its own dtype an array is itself on every release."""
    import jax.numpy as jnp

    for x in (jnp.array([1, 2, 3, 4], jnp.int8), jnp.array([1 + 2j], jnp.complex64), jnp.array([True, False])):
        assert x.view(x.dtype).dtype == x.dtype
        assert x.view(x.dtype).tolist() == x.tolist()


def small_integers() -> tuple[str, str]:
    """Is x.view(None) of four int8 x, and not one number?"""
    import jax.numpy as jnp

    x = jnp.array([1, 2, 3, 4], jnp.int8)
    return compare(x.view(None), x)


def complex_numbers() -> tuple[str, str]:
    """Is x.view() of complex numbers x under jit, and not its real and imaginary parts in a row?"""
    import jax
    import jax.numpy as jnp

    x = jnp.array([1 + 2j, 3 - 1j], jnp.complex64)
    return compare(jax.jit(lambda x: x.view())(x), x)


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(fix="jax@ca7b9db551", docs="jax:changelog.html"),
    touches=("jax.Array.view(dtype) if not given(dtype) or dtype == None",),
    control=floats_and_named,
    rules=(Rule("differs", "jax<0.7.2"), Rule("agrees", "", "ca7b9db551, and the changelog")),
    workaround=Workaround("Name the dtype: x.view(x.dtype), or leave view out.", name_the_dtype),
    cases=(Case(integers), Case(small_integers), Case(complex_numbers)),
)
