"""jnp.log1p of float64 is wrong in the last two digits between -0.53 and -0.28, up to jax 0.11.0

    jnp.log1p(-0.4141892)     # -0.534758408432045 up to jax 0.11.0, should be -0.534758408432060, with x64 on

The error grows towards -0.4142 and is 128 units in the last place there, where NumPy's is one. What is made of it loses
as much: arctanh between 0.2 and 0.6. jax#39707, of August 2026, is open, and finds the CPU alone concerned.

Seen in these runs: it is mended. From 0.11.1 it is right to three units. `jnp.log(1 + x)`, which log1p is there to
improve on, is right to a few units in that range on every release.
"""

from __future__ import annotations

from suite.cell import Case, Issue, Rule, Upstream, Workaround, main


def log1p() -> tuple[str, str]:
    """Is log1p within 16 units in the last place between -0.53 and -0.28?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.linspace(-0.53, -0.28, 2001)
    wanted = np.log1p(x)
    units = int(np.max(np.abs(np.asarray(jnp.log1p(x)) - wanted) / np.spacing(np.abs(wanted))))
    if units > 16:
        return "inaccurate", f"more than {units // 16 * 16} units in the last place off"
    return "accurate", "less than 17 units in the last place off"


def arctanh() -> tuple[str, str]:
    """And arctanh between 0.2 and 0.6?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.linspace(0.2, 0.6, 2001)
    wanted = np.arctanh(x)
    units = int(np.max(np.abs(np.asarray(jnp.arctanh(x)) - wanted) / np.spacing(np.abs(wanted))))
    if units > 16:
        return "inaccurate", f"more than {units // 16 * 16} units in the last place off"
    return "accurate", "less than 17 units in the last place off"


def elsewhere() -> None:
    """Near 0 it is right, and so is log."""
    import jax.numpy as jnp
    import numpy as np

    for x in (np.linspace(-0.2, 0.2, 1001), np.linspace(0.5, 3.0, 1001)):
        np.testing.assert_allclose(jnp.log1p(x), np.log1p(x), rtol=4e-15)


def log_of_the_sum() -> None:
    """log(1 + x), for x that is not near 0."""
    import jax.numpy as jnp
    import numpy as np

    x = np.linspace(-0.53, -0.28, 2001)
    np.testing.assert_allclose(jnp.where(jnp.abs(x) > 0.25, jnp.log(1.0 + x), jnp.log1p(x)), np.log1p(x), rtol=2e-15)


_LOG = Workaround("jnp.where(jnp.abs(x) > 0.25, jnp.log(1 + x), jnp.log1p(x))", log_of_the_sum)
_OLD = Rule("inaccurate", "jax<0.11.1", "run on releases of the line from 0.4.18 to 0.11.0")
_NEW = Rule("accurate", "", "run on releases of the line from 0.11.1")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=(Upstream("jax-ml/jax#39707", "report"),),
    touches=("jax.numpy.log1p", "jax.numpy.arctanh"),
    cases=(
        Case(
            log1p,
            elsewhere,
            behaviours={"inaccurate": "affected", "accurate": "clear"},
            rules=(_OLD, _NEW),
            workaround=_LOG,
            x64=True,
        ),
        Case(
            arctanh,
            elsewhere,
            behaviours={"inaccurate": "affected", "accurate": "clear"},
            rules=(_OLD, _NEW),
            x64=True,
        ),
    ),
)

if __name__ == "__main__":
    main(ISSUE)
