"""jnp.isscalar is True for arrays without dimensions, unlike np.isscalar

Before, `jnp.isscalar` depended on weak types: True for `jnp.array(1.0)`, False for `jnp.zeros(())` and `np.array(3)`
(jax#6456). JAX has no scalar objects, and jit turns a number into an array, so the documentation calls an array without
dimensions a scalar, too. 45f0e9ad68 also converted strings to arrays, which raises a TypeError; 0140a98e34 calls
`np.isscalar` first.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def zero_dimensions() -> tuple[str, str]:
    """Is jnp.isscalar(x) True for JAX and NumPy arrays without dimensions?"""
    import jax.numpy as jnp
    import numpy as np

    got = [bool(jnp.isscalar(x)) for x in (jnp.zeros(()), jnp.sum(jnp.ones(3)), np.array(1.0))]
    return {"[False, False, False]": "array", "[True, True, True]": "scalar"}.get(str(got), "other"), f"{got}"


def numbers() -> None:
    """jnp.isscalar is True for a Python number, and False for an array with a dimension."""
    import jax.numpy as jnp

    assert jnp.isscalar(1.0)
    assert not jnp.isscalar(jnp.ones(1))


def ask_numpy() -> None:
    """np.isscalar is False for jnp.zeros(()), and True for a number and a string; jnp.ndim counts dimensions."""
    import jax.numpy as jnp
    import numpy as np

    assert [False, True, True] == [np.isscalar(x) for x in (jnp.zeros(()), 1.0, "a")]
    assert jnp.ndim(jnp.zeros(())) == 0 == jnp.ndim(1.0)


def other_objects() -> None:
    """np.isscalar is False for arrays and containers, and True for other numbers, bytes and dates."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    arrays = (jnp.array(1.0), jnp.asarray(2), jnp.float32(1), jnp.sum(jnp.ones(3)), np.array(1.0), jnp.ones((2, 2)))
    assert not any(np.isscalar(x) for x in (*arrays, None, [1]))
    assert all(np.isscalar(x) for x in (1, 1j, True, 2**70, np.float32(1), b"a", np.datetime64("2024-01-01")))
    assert not jax.jit(lambda x: np.isscalar(x))(1.0), "an argument of a jitted function is an array"


def string() -> tuple[str, str]:
    """Does jnp.isscalar("a") return, instead of raising a TypeError?"""
    import jax.numpy as jnp

    return "answered", f'isscalar("a") is {bool(jnp.isscalar("a"))}'


ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(report="jax#6456", change="jax@45f0e9ad68", fix="jax@0140a98e34", docs="jax:changelog.html"),
    control=numbers,
    workaround=Workaround(
        "Use np.isscalar(x), which is False for tracers, as under jit and grad.", ask_numpy, elsewhere=other_objects
    ),
    cases=(
        Case(
            zero_dimensions,
            behaviours={"array": "clear", "scalar": "documented", "other": "different"},
            rules=(Rule("array", "jax<0.4.35"), Rule("scalar", "", "45f0e9ad68, and the changelog")),
            touches=("jax.numpy.isscalar(element) if type(element) not in ('int', 'float', 'complex', 'bool', 'str')",),
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
