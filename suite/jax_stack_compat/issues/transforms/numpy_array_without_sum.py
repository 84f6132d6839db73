"""A NumPy array can lack .sum in custom_vjp's backward rule and grad's aux

JAX wraps a NumPy array that becomes a constant in a private type, to canonicalize it once (b43662fe28). The changelog
says that the type duck types as an ndarray, but the type had no `sum`, and backward rules receive it (`custom_vjp`).
b8f92cbe9b canonicalizes the inputs of `jax.vjp`, so an array by which `jax.grad` differentiates has the private type
in aux (`aux`). dda9695795 makes the private type a subclass of `np.ndarray`.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround, members


def custom_vjp() -> tuple[str, str]:
    """Can the backward rule of a jax.custom_vjp call .sum() on an ndarray that the forward rule passed on?"""
    import jax
    import numpy as np

    f = jax.custom_vjp(lambda x, c: x * c.sum())
    f.defvjp(lambda x, c: (x * c.sum(), c), lambda c, g: (g * c.sum(), g * np.ones(3)))
    got = float(jax.grad(lambda x: f(x, np.arange(3, dtype=np.float32)))(1.0))
    return ("array" if got == 3.0 else "other"), f"the gradient is {got}"


def jax_arrays() -> None:
    """A jax.Array in a backward rule, and as the aux of jax.grad, has .sum."""
    import jax
    import jax.numpy as jnp

    f = jax.custom_vjp(lambda x, c: x * c.sum())
    f.defvjp(lambda x, c: (x * c.sum(), c), lambda c, g: (g * c.sum(), g * jnp.ones_like(c)))
    assert float(jax.grad(lambda x: f(x, jnp.arange(3.0)))(1.0)) == 3.0
    assert float(jax.grad(lambda x: (jnp.sum(x * x), x), has_aux=True)(jnp.array([1.0, 2.0]))[1].sum()) == 3.0


def as_an_array() -> None:
    """np.asarray gives an ndarray in the backward rule and in aux, as the changelog says, on every release."""
    import jax
    import numpy as np

    f = jax.custom_vjp(lambda x, c: x * jax.numpy.sum(c))
    f.defvjp(lambda x, c: (x * np.asarray(c).sum(), c), lambda c, g: (g * np.asarray(c).sum(), g * np.ones(3)))
    assert float(jax.grad(lambda x: f(x, np.arange(3, dtype=np.float32)))(1.0)) == 3.0
    x = np.array([1.0, 2.0], np.float32)
    got = jax.grad(lambda x: (jax.numpy.sum(x * x), x), has_aux=True)(x)[1]
    assert float(np.asarray(got).sum()) == 3.0


def gradient_and_aux(x: Any) -> Any:
    """Convert the array in a backward rule and the array in aux with np.asarray."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    f = jax.custom_vjp(lambda y, c: y * jnp.sum(c))
    f.defvjp(lambda y, c: (y * jnp.sum(c), c), lambda c, g: (g * np.asarray(c).sum(dtype=np.float32), np.zeros_like(c)))
    c = np.asarray(x)
    gradient = jax.grad(lambda y: f(y, c).astype(jnp.float32))(jnp.float32(2.0))
    aux = jax.grad(lambda c: (jnp.sum(c * c), c), has_aux=True)(c)[1]
    return np.append(np.asarray(aux).copy(), gradient)


def sum_and_array(x: Any) -> Any:
    """Return the array, and its sum at the end."""
    import numpy as np

    return np.append(x, x.sum(dtype=np.float32))


def aux() -> tuple[str, str]:
    """Can .sum() be called on an ndarray in aux, if jax.grad(f, has_aux=True) differentiates by it?"""
    import jax
    import numpy as np

    x = np.array([1.0, 2.0], np.float32)
    got = jax.grad(lambda x: (jax.numpy.sum(x * x), x), has_aux=True)(x)[1]
    return ("array" if float(got.sum()) == 3.0 else "other"), f"an ndarray: {isinstance(got, np.ndarray)}"


def custom_jvp() -> tuple[str, str]:
    """Does a jax.custom_jvp rule get an np.ndarray if jax.grad does not differentiate by that argument?"""
    import jax
    import numpy as np

    seen = []
    f = jax.custom_jvp(lambda x, c: x * jax.numpy.sum(c))

    def rule(primals: tuple, tangents: tuple) -> tuple:  # type: ignore[type-arg]
        seen.append(isinstance(primals[1], np.ndarray))
        return f(*primals), tangents[0] * jax.numpy.sum(primals[1])

    f.defjvp(rule)
    jax.grad(lambda x: f(x, np.arange(3, dtype=np.float32)))(1.0)
    return ("array" if seen == [True] else "other"), f"isinstance(c, np.ndarray) is {seen[0]}"


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(
        cause="jax@b43662fe28 jax@b8f92cbe9b",
        fix="jax@dda9695795",
        docs="jax:changelog.html#jax-0-7-2-september-16-2025",
        discussion="equinox#1095 equinox#1099",
    ),
    touches=("NumPy arrays as arguments",),
    known_by=r"'(LiteralArray|TypedNdArray)'",
    also={"no-sum": Signature("AttributeError", "'TypedNdArray' object has no attribute")},
    control=jax_arrays,
    behaviours={"array": "clear", "other": "different"},
    workaround=Workaround(
        "Convert the array, unless JAX traces it: np.asarray(c).sum().",
        as_an_array,
        elsewhere=Elsewhere(
            gradient_and_aux,
            sum_and_array,
            ("float32 matrix", "float16 vector", "float32 empty", "float32 scalar", "zero float16 batch"),
            rtol=1e-3,
        ),
    ),
    signatures={"no-sum": Signature("AttributeError", "object has no attribute 'sum'", everyday=True)},
    cases=(
        Case(
            custom_vjp,
            rules=(
                Rule("array", "jax<0.7.2"),
                Rule("no-sum", "jax<0.9.2", "b43662fe28"),
                Rule("array", "", "dda9695795"),
            ),
            touches=("jax.custom_vjp",),
        ),
        Case(
            aux,
            rules=(
                Rule("array", "jax<0.8.0"),
                Rule("no-sum", "jax<0.9.2", "b8f92cbe9b"),
                Rule("array", "", "dda9695795"),
            ),
            touches=(
                *members("jax", "grad value_and_grad", "(fun, argnums, has_aux) if given(has_aux) and unseen"),
                "jax.vjp(fun, primal, has_aux) if given(has_aux) and unseen",
            ),
        ),
        Case(custom_jvp, rules=(Rule("array"),), touches=("jax.custom_jvp",)),
    ),
)
