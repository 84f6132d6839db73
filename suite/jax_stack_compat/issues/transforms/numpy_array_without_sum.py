"""NumPy arrays reach the backward rule of a custom_vjp, and return from grad's aux, without .sum

    f.defvjp(lambda x, c: (x, c), lambda c, g: (g * c.sum(), ...))      # c was a numpy.ndarray
    AttributeError: 'TypedNdArray' object has no attribute 'sum'

jax 0.7.2 puts NumPy constants into a private type that "duck types" as an ndarray, its changelog says, and may break
`isinstance(x, np.ndarray)`. It has no `sum`, `mean`, `max`, `tolist` or `copy`. Loops over it and unpacking work. 0.9.2
makes it a subclass of `np.ndarray` (dda9695795), with all of these. Equinox met the type in jax 0.7.2, as a static
parameter of its `noinline` (equinox#1095), and equinox#1099 teaches it to `is_array`.

Seen in these runs:

- The changelog names `custom_jvp` rules. There an ndarray is an ndarray on every release run. The private type
  arrives in the backward rule of a `custom_vjp`, from 0.7.2 (as `LiteralArray`; `TypedNdArray` from 0.8.0); the forward
  rule gets an ndarray.
- From 0.8.0 `jax.grad(f, has_aux=True)` and `jax.vjp` return it: an argument that f returns unchanged comes back as
  neither an ndarray nor a `jax.Array`.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def custom_vjp() -> tuple[str, str]:
    """Can the backward rule of a custom_vjp call .sum() on an ndarray that the forward rule passed on?"""
    import jax
    import numpy as np

    f = jax.custom_vjp(lambda x, c: x * c.sum())
    f.defvjp(lambda x, c: (x * c.sum(), c), lambda c, g: (g * c.sum(), g * np.ones(3)))
    got = float(jax.grad(lambda x: f(x, np.arange(3, dtype=np.float32)))(1.0))
    return ("array" if got == 3.0 else "other"), f"the gradient is {got}"


def jax_arrays() -> None:
    """A jax.Array is one in both places."""
    import jax
    import jax.numpy as jnp

    f = jax.custom_vjp(lambda x, c: x * c.sum())
    f.defvjp(lambda x, c: (x * c.sum(), c), lambda c, g: (g * c.sum(), g * jnp.ones_like(c)))
    assert float(jax.grad(lambda x: f(x, jnp.arange(3.0)))(1.0)) == 3.0
    assert float(jax.grad(lambda x: (jnp.sum(x * x), x), has_aux=True)(jnp.array([1.0, 2.0]))[1].sum()) == 3.0


def as_an_array() -> None:
    """np.asarray of what arrives, as the changelog says: it is an ndarray on every release."""
    import jax
    import numpy as np

    f = jax.custom_vjp(lambda x, c: x * jax.numpy.sum(c))
    f.defvjp(lambda x, c: (x * np.asarray(c).sum(), c), lambda c, g: (g * np.asarray(c).sum(), g * np.ones(3)))
    assert float(jax.grad(lambda x: f(x, np.arange(3, dtype=np.float32)))(1.0)) == 3.0
    x = np.array([1.0, 2.0], np.float32)
    got = jax.grad(lambda x: (jax.numpy.sum(x * x), x), has_aux=True)(x)[1]
    assert float(np.asarray(got).sum()) == 3.0


def aux() -> tuple[str, str]:
    """Has an ndarray that f returns as grad's aux its .sum()?"""
    import jax
    import numpy as np

    x = np.array([1.0, 2.0], np.float32)
    got = jax.grad(lambda x: (jax.numpy.sum(x * x), x), has_aux=True)(x)[1]
    return ("array" if float(got.sum()) == 3.0 else "other"), f"an ndarray: {isinstance(got, np.ndarray)}"


def custom_jvp() -> tuple[str, str]:
    """Is an ndarray still one in the rule of a custom_jvp?"""
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
        report="equinox#1095", fix="jax@dda9695795", docs="jax:changelog.html", attempt="equinox#1099"
    ),
    touches=("jax.custom_vjp", "jax.custom_jvp", "jax.grad(has_aux=)", "jax.vjp(has_aux=)"),
    known_by=r"'(LiteralArray|TypedNdArray)'",
    control=jax_arrays,
    behaviours={"array": "clear", "other": "different"},
    workaround=Workaround("Convert what arrives: np.asarray(c).sum(), or give a jax.Array.", as_an_array),
    signatures={"no-sum": Signature("AttributeError", "object has no attribute 'sum'", everyday=True)},
    cases=(
        Case(
            custom_vjp, rules=(Rule("array", "jax<0.7.2"), Rule("no-sum", "jax<0.9.2"), Rule("array", "", "dda9695795"))
        ),
        Case(aux, rules=(Rule("array", "jax<0.8.0"), Rule("no-sum", "jax<0.9.2"), Rule("array", "", "dda9695795"))),
        Case(custom_jvp, rules=(Rule("array"),)),
    ),
)
