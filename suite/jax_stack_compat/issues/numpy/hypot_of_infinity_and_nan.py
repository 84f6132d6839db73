"""jnp.hypot of infinity beside NaN or infinity is NaN, and of complex numbers it raises

    jnp.hypot(jnp.inf, jnp.nan)               # nan up to jax 0.4.26, NumPy: inf
    jnp.hypot(jnp.inf, jnp.inf)               # nan up to jax 0.4.26, NumPy: inf
    jnp.hypot(jnp.array(3j), 4.0)             # 5.0 up to jax 0.4.26, warns from 0.4.27, a ValueError from 0.4.33

The hypotenuse is infinite if one leg is, whatever the other is; the C standard says so, too. JAX divides the shorter
leg by the longer one, and infinity by infinity is NaN. jax#20754 tests for infinity first, in 0.4.27. Since then
complex numbers warn, for which NumPy has no hypot; commit 8bcd288621 has them raise.

Seen in these runs: one infinite leg beside a finite one gave infinity on every release (control `finite`).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def infinity() -> tuple[str, str]:
    """Is hypot of infinity with NaN, and with infinity, that of NumPy?"""
    import jax.numpy as jnp
    import numpy as np

    x, y = np.array([[np.inf, np.nan, np.inf, -np.inf], [np.nan, -np.inf, np.inf, np.inf]], np.float32)
    return compare(jnp.hypot(jnp.asarray(x), jnp.asarray(y)), np.hypot(x, y))


def finite() -> None:
    """With at most one infinite leg and no NaN it is that of NumPy."""
    import jax.numpy as jnp
    import numpy as np

    x, y = np.array([[3.0, np.inf, -1.0, 0.0], [-4.0, 1.0, -np.inf, 0.0]], np.float32)
    np.testing.assert_allclose(jnp.hypot(jnp.asarray(x), jnp.asarray(y)), np.hypot(x, y), rtol=1e-6)


def infinity_first() -> None:
    """Infinity where one of both is infinite."""
    import jax.numpy as jnp
    import numpy as np

    x, y = jnp.array([np.inf, np.nan, np.inf, 3.0]), jnp.array([np.nan, -np.inf, np.inf, 4.0])
    got = jnp.where(jnp.isinf(x) | jnp.isinf(y), jnp.inf, jnp.hypot(x, y))
    np.testing.assert_allclose(got, [np.inf, np.inf, np.inf, 5.0], rtol=1e-6)


def complex_numbers() -> tuple[str, str]:
    """Does hypot take complex numbers, and give 5 for 3j and 4?"""
    import jax.numpy as jnp

    got = float(jnp.hypot(jnp.array(3j), jnp.array(4.0)))
    return ("taken" if abs(got - 5.0) < 1e-5 else "other"), f"{got:.4g}"


def absolute_values() -> None:
    """The absolute values are taken on every release."""
    import jax.numpy as jnp

    assert abs(float(jnp.hypot(jnp.abs(jnp.array(3j)), jnp.abs(jnp.array(4.0)))) - 5.0) < 1e-5


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(fix="jax#20754", change="jax@8bcd288621", docs="jax:changelog.html"),
    control=finite,
    cases=(
        Case(
            infinity,
            rules=(Rule("differs", "jax<0.4.27"), Rule("agrees", "", "jax#20754 (2899213efb)")),
            workaround=Workaround("jnp.where(jnp.isinf(x) | jnp.isinf(y), jnp.inf, jnp.hypot(x, y))", infinity_first),
            # The data decide, so a use is possible at most.
            touches=("jax.numpy.hypot if unseen and not within('jax.numpy.where')",),
        ),
        Case(
            complex_numbers,
            behaviours={"taken": "clear", "other": "different", "warns": "documented", "refused": "documented"},
            rules=(
                Rule("taken", "jax<0.4.27"),
                Rule("warns", "jax<0.4.32", "jax#20754"),
                Rule("refused", "", "8bcd288621, and the changelog"),
            ),
            workaround=Workaround("Take absolute values first: jnp.hypot(jnp.abs(x), jnp.abs(y)).", absolute_values),
            signatures={
                "warns": Signature("DeprecationWarning", "Passing complex-valued inputs to hypot is deprecated"),
                "refused": Signature("ValueError", "hypot is not well defined for complex-valued inputs"),
            },
            touches=("jax.numpy.hypot if uses('jax.numpy.complex64', 'jax.numpy.complex128', 'jax.lax.complex')",),
        ),
    ),
)
