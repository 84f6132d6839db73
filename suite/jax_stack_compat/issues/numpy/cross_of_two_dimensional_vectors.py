"""jnp.cross of vectors of two numbers warns in jax 0.11, and is a ValueError from 0.12.0

    jnp.cross(jnp.array([1., 2.]), jnp.array([3., 4.]))    # -2; a DeprecationWarning in 0.11; a ValueError from 0.12.0

NumPy 2.0 deprecated it and NumPy 2.5 took it out; JAX follows. jax#38650 announces that 0.12.0 refuses, and so it does,
by jax#40876: a vector of two and one of three numbers, too. The changelog speaks of "2-dimensional arrays" and means
vectors with two elements: a matrix whose rows have three is taken on every release.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def two_and_two() -> tuple[str, str]:
    """Is the cross product of vectors of two numbers the one number that it was?"""
    import jax.numpy as jnp

    return compare(jnp.cross(jnp.array([1.0, 2.0]), jnp.array([3.0, 4.0])), -2.0)


def of_three() -> None:
    """Of vectors of three numbers, by themselves and in rows."""
    import jax.numpy as jnp

    one, other = jnp.array([1.0, 2.0, 0.0]), jnp.array([3.0, 4.0, 5.0])
    assert jnp.cross(one, other).tolist() == [10.0, -5.0, -2.0]
    assert jnp.cross(jnp.stack([one, one]), other).tolist() == [[10.0, -5.0, -2.0]] * 2


def by_hand() -> None:
    """The formula for two, and a third number that is 0."""
    import jax.numpy as jnp

    a, b = jnp.array([1.0, 2.0]), jnp.array([3.0, 4.0])
    assert float(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]) == -2.0
    assert jnp.cross(jnp.append(a, 0.0), jnp.array([3.0, 4.0, 5.0])).tolist() == [10.0, -5.0, -2.0]


def two_and_three() -> tuple[str, str]:
    """Is that of two numbers and three as if the third were 0?"""
    import jax.numpy as jnp

    return compare(jnp.cross(jnp.array([1.0, 2.0]), jnp.array([3.0, 4.0, 5.0])), [10.0, -5.0, -2.0])


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(
        change="numpy/numpy#30461 jax#38650", docs="jax:changelog.html#jax-0-11-0-july-16-2026", attempt="jax#40876"
    ),
    touches=("jax.numpy.cross(a, b) if unseen and form(a) not in ('jax.numpy.append', 'jax.numpy.pad')",),
    control=of_three,
    behaviours={"warns": "documented"},
    rules=(Rule("agrees", "jax<0.11.0"), Rule("warns", "jax<0.12.0", "jax#38650"), Rule("refused")),
    workaround=Workaround("a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]; or give a third number, 0.", by_hand),
    signatures={
        "warns": Signature("DeprecationWarning", "2-dimensional vectors"),
        "refused": Signature("ValueError", "Dimension must be 3 for cross product"),
    },
    cases=(Case(two_and_two), Case(two_and_three)),
)
