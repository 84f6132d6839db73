"""The complex sign of logsumexp and sign, and the branch of geomspace, follow NumPy 2 since jax 0.4.24 and 0.4.26

    jax.scipy.special.logsumexp(jnp.array([1 + 1j, 2 - 3j]), return_sign=True)
    # (1.788-3.351j, 1) up to jax 0.4.23; (1.788, -0.978+0.208j) from 0.4.24
    jnp.geomspace(-1 + 1j, 1 - 16j, 3)[1]    # 4.340+1.959j up to jax 0.4.25, -4.340-1.959j from 0.4.26

NumPy 2 took `x / abs(x)` for the sign of a complex number, and another of the spirals that join two of them. JAX took
both over at once, jax#19389 and jax#20552, and the changelogs say so. NumPy 1.26 beside jax 0.4.24, which is what an
installer gave in that spring, has the old ones.

Seen in these runs: without `return_sign` the logsumexp of complex numbers moved by 2πi in 0.4.24, from -3.351j to
2.932j. Its exponential is the same. Code that takes the imaginary part for a phase gets another one.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, members


def logsumexp_sign() -> tuple[str, str]:
    """Is logsumexp(x, return_sign=True) of complex numbers a real logarithm and a sign of length 1?"""
    import jax
    import jax.numpy as jnp

    got = jax.scipy.special.logsumexp(jnp.array([1 + 1j, 2 - 3j], jnp.complex64), return_sign=True)
    value, sign = (complex(x) for x in got)
    old = abs(value - (1.787990 - 3.351346j)) < 1e-4 and abs(sign - 1) < 1e-4
    new = abs(value - 1.787990) < 1e-4 and abs(sign - (-0.978082 + 0.208219j)) < 1e-4
    return ("old" if old else "numpy-2" if new else "other"), f"{value:.4f}, sign {sign:.4f}"


def real_numbers() -> None:
    """Of real numbers all are as ever."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    value, sign = jax.scipy.special.logsumexp(jnp.array([0.0, 0.0]), b=jnp.array([1.0, -3.0]), return_sign=True)
    np.testing.assert_allclose([value, sign], [np.log(2.0), -1.0], rtol=1e-5)
    np.testing.assert_allclose(jnp.geomspace(1.0, 100.0, 3), [1.0, 10.0, 100.0], rtol=1e-5)
    assert jnp.sign(jnp.array([-2.0, 0.0, 3.0])).tolist() == [-1.0, 0.0, 1.0]


def written_out() -> None:
    """What is meant, written out: the same on every release."""
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([1 + 1j, 2 - 3j], jnp.complex64)
    total = jnp.sum(jnp.exp(x))
    np.testing.assert_allclose(jnp.log(jnp.abs(total)), 1.787990, rtol=1e-5)
    np.testing.assert_allclose(total / jnp.abs(total), -0.978082 + 0.208219j, rtol=1e-4)
    start, stop, part = -1 + 1j, 1 - 16j, np.array([0.0, 0.5, 1.0])
    middle = (jnp.asarray(start) * jnp.exp(part * jnp.log(jnp.asarray(stop / start))))[1]
    np.testing.assert_allclose(middle, -4.340021 - 1.958515j, rtol=1e-4)


def logsumexp() -> tuple[str, str]:
    """Is the imaginary part of the logsumexp of complex numbers between -pi and pi?"""
    import jax
    import jax.numpy as jnp

    got = complex(jax.scipy.special.logsumexp(jnp.array([1 + 1j, 2 - 3j], jnp.complex64)))
    old, new = abs(got - (1.787990 - 3.351346j)) < 1e-4, abs(got - (1.787990 + 2.931839j)) < 1e-4
    return ("old" if old else "numpy-2" if new else "other"), f"{got:.4f}"


def sign() -> tuple[str, str]:
    """Is the sign of 3 + 4j 0.6 + 0.8j?"""
    import jax.numpy as jnp

    got = complex(jnp.sign(jnp.array(3 + 4j, jnp.complex64)))
    return ("old" if got == 1 else "numpy-2" if abs(got - (0.6 + 0.8j)) < 1e-5 else "other"), f"{got:.4f}"


def geomspace() -> tuple[str, str]:
    """Is the geometric mean of -1 + 1j and 1 - 16j on NumPy 2's spiral?"""
    import jax.numpy as jnp

    got = complex(jnp.geomspace(-1 + 1j, 1 - 16j, 3)[1])
    old, new = abs(got - (4.340021 + 1.958515j)) < 1e-3, abs(got + (4.340021 + 1.958515j)) < 1e-3
    return ("old" if old else "numpy-2" if new else "other"), f"{got:.4f}"


ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(change="jax@7d6a134f4e jax@fd7c85b349", docs="jax:changelog.html"),
    touches=(
        *members("jax.numpy", "sign geomspace"),
        "jax.scipy.special.logsumexp(return_sign=)",
        "jax.nn.logsumexp(return_sign=)",
    ),
    control=real_numbers,
    behaviours={"old": "clear", "numpy-2": "documented", "other": "different"},
    rules=(Rule("old", "jax<0.4.24"), Rule("numpy-2", "", "jax#19389 (7d6a134f4e), and the changelog")),
    workaround=Workaround("Write out what is meant: the logarithm, the sign, the powers.", written_out),
    cases=(
        Case(logsumexp_sign),
        Case(geomspace, rules=(Rule("old", "jax<0.4.26"), Rule("numpy-2", "", "fd7c85b349, and the changelog"))),
        Case(sign),
        Case(logsumexp),
    ),
)
