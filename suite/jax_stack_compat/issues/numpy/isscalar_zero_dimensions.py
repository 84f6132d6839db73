"""jnp.isscalar of an array without dimensions is True since jax 0.4.35, and is False in NumPy

    jnp.isscalar(jnp.zeros(()))      # False up to jax 0.4.34, True from 0.4.35
    jnp.isscalar("a")                # a TypeError on 0.4.35 alone

Up to 0.4.34 it depended on the weak type: `jnp.array(1.0)` was a scalar, `jnp.zeros(())` and `jnp.sum(x)` were not.
45f0e9ad68, in 0.4.35, says True for all that has no dimensions, and the changelog says so. NumPy says False of any
array. Code that asks whether it must call `.item()`, or may index, takes the other branch.

Seen in these runs:

- `np.array(1.0)`, NumPy's own, is a scalar from 0.4.35 on too.
- 0.4.35 raises for a string. 0.4.36 answers again.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def zero_dimensions() -> tuple[str, str]:
    """Is an array without dimensions a scalar to jnp.isscalar?"""
    import jax.numpy as jnp
    import numpy as np

    got = [bool(jnp.isscalar(x)) for x in (jnp.zeros(()), jnp.sum(jnp.ones(3)), np.array(1.0))]
    return {"[False, False, False]": "array", "[True, True, True]": "scalar"}.get(str(got), "other"), f"{got}"


def numbers() -> None:
    """A Python number is a scalar, and an array with dimensions is none."""
    import jax.numpy as jnp

    assert jnp.isscalar(1.0)
    assert not jnp.isscalar(jnp.ones(1))


def ask_numpy() -> None:
    """np.isscalar for Python's and NumPy's scalars, jnp.ndim for the number of dimensions."""
    import jax.numpy as jnp
    import numpy as np

    assert [False, True, True] == [np.isscalar(x) for x in (jnp.zeros(()), 1.0, "a")]
    assert jnp.ndim(jnp.zeros(())) == 0 == jnp.ndim(1.0)


def string() -> tuple[str, str]:
    """Can jnp.isscalar be asked about a string?"""
    import jax.numpy as jnp

    return "answered", f'isscalar("a") is {bool(jnp.isscalar("a"))}'


ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(cause="jax@45f0e9ad68", fix="jax@0140a98e34", docs="jax:changelog.html"),
    control=numbers,
    workaround=Workaround("Ask for what is meant: jnp.ndim(x) == 0, or np.isscalar(x).", ask_numpy),
    cases=(
        Case(
            zero_dimensions,
            behaviours={"array": "clear", "scalar": "documented", "other": "different"},
            rules=(Rule("array", "jax<0.4.35"), Rule("scalar", "", "45f0e9ad68, and the changelog")),
        ),
        Case(
            string,
            behaviours={"answered": "clear", "refused": "affected"},
            signatures={"refused": Signature("TypeError", "is not a valid JAX array type", everyday=True)},
            rules=(Rule("refused", "jax==0.4.35"), Rule("answered")),
            touches=("jax.numpy.isscalar(element) if type(element) == 'str'",),
        ),
    ),
)
