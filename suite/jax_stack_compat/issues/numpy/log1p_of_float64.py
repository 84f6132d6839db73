"""On a CPU, jnp.log1p of float64 is off by up to 129 ulps near -0.414

XLA's rational approximation is good from -0.2929 to 0.4142, but XLA also used it from -0.4142 to -0.2929
(openxla/xla#46765). The error peaks at -0.4142; NumPy is within one unit in the last place (jax#39707). `arctanh` has
the same error on both sides of 0.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def log1p() -> tuple[str, str]:
    """Is jnp.log1p of float64 within 16 units in the last place between -0.53 and -0.28?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.linspace(-0.53, -0.28, 2001)
    wanted = np.log1p(x)
    units = int(np.max(np.abs(np.asarray(jnp.log1p(x)) - wanted) / np.spacing(np.abs(wanted))))
    if units > 16:
        return "inaccurate", f"more than {units // 16 * 16} units in the last place off"
    return "accurate", "less than 17 units in the last place off"


def elsewhere() -> None:
    """From -0.2 to 0.2 and from 0.5 to 3, jnp.log1p agrees with NumPy."""
    import jax.numpy as jnp
    import numpy as np

    for x in (np.linspace(-0.2, 0.2, 1001), np.linspace(0.5, 3.0, 1001)):
        np.testing.assert_allclose(jnp.log1p(x), np.log1p(x), rtol=4e-15)


def log_of_the_sum() -> None:
    """jnp.log(1 + x) agrees with np.log1p below -0.25, and jnp.log1p agrees from -0.25 to 3."""
    import jax.numpy as jnp
    import numpy as np

    x = np.linspace(-0.99, 3.0, 4001)
    np.testing.assert_allclose(jnp.where(x < -0.25, jnp.log(1.0 + x), jnp.log1p(x)), np.log1p(x), rtol=1e-15)


def small_and_large() -> None:
    """Jitted jnp.where forms of log1p, its gradient and arctanh are right near 0 and 1, in float64 and float32."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    log = jax.jit(lambda x: jnp.where(x < -0.25, jnp.log(1 + x), jnp.log1p(x)))
    half = jax.jit(lambda x: jnp.where(jnp.abs(x) < 0.25, jnp.arctanh(x), (jnp.log(1 + x) - jnp.log(1 - x)) / 2))
    for dtype in ("float64", "float32"):
        x = np.concatenate([np.geomspace(1e-12, 0.9, 75), 1 - np.geomspace(1e-3, 0.9, 75)]).astype(dtype)
        x, rtol = np.stack([x, -x]), 4.0 * float(np.finfo(dtype).eps)
        np.testing.assert_allclose(log(x), np.log1p(x), rtol=rtol)
        np.testing.assert_allclose(jax.grad(lambda x: log(x).sum())(x), 1 / (1 + x), rtol=rtol)
        np.testing.assert_allclose(half(x), np.arctanh(x), rtol=rtol)


def arctanh() -> tuple[str, str]:
    """Is jnp.arctanh of float64 within 16 units in the last place between 0.2 and 0.6?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.linspace(0.2, 0.6, 2001)
    wanted = np.arctanh(x)
    units = int(np.max(np.abs(np.asarray(jnp.arctanh(x)) - wanted) / np.spacing(np.abs(wanted))))
    if units > 16:
        return "inaccurate", f"more than {units // 16 * 16} units in the last place off"
    return "accurate", "less than 17 units in the last place off"


def two_logarithms() -> None:
    """Where abs(x) is 0.25 or more, half the difference of two logarithms agrees with np.arctanh."""
    import jax.numpy as jnp
    import numpy as np

    x = np.linspace(-0.99, 0.99, 4001)
    logs = (jnp.log(1 + x) - jnp.log(1 - x)) / 2
    np.testing.assert_allclose(jnp.where(jnp.abs(x) < 0.25, jnp.arctanh(x), logs), np.arctanh(x), rtol=1e-15)


_LOG1P = ("jax.numpy.log1p", "jax.lax.log1p")
_ARCTANH = ("jax.numpy.arctanh", "jax.numpy.atanh", "jax.lax.atanh")
_X64 = "uses('jax_enable_x64') and not within('jax.numpy.where')"
# exp and abs return no negative number.
_OTHER = f"{_X64} and form(x) not in ('jax.numpy.exp', 'jax.numpy.abs')"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#39707", change="xla#46765"),
    control=elsewhere,
    behaviours={"inaccurate": "affected", "accurate": "clear"},
    rules=(
        Rule("inaccurate", "jaxlib<0.11.1", "XLA sets the range of the approximation"),
        Rule("accurate", "", "openxla/xla#46765"),
    ),
    x64=True,
    cases=(
        Case(
            log1p,
            workaround=Workaround(
                "Use jnp.where(x < -0.25, jnp.log(1 + x), jnp.log1p(x)).", log_of_the_sum, elsewhere=small_and_large
            ),
            touches=(
                *(f"{name}(x) if (x < -0.29 and x > -0.4143 or seen(form(x) == '-')) and {_OTHER}" for name in _LOG1P),
                f"jax.scipy.special.xlog1py(x, y) if y < -0.29 and y > -0.4143 and {_X64}",
            ),
        ),
        Case(
            arctanh,
            workaround=Workaround(
                "Use jnp.where(jnp.abs(x) < 0.25, jnp.arctanh(x), (jnp.log(1 + x) - jnp.log(1 - x)) / 2).",
                two_logarithms,
                elsewhere=small_and_large,
            ),
            touches=tuple(f"{name}(x) if not seen(abs(x) < 0.29 or abs(x) > 0.4143) and {_OTHER}" for name in _ARCTANH),
        ),
    ),
)
