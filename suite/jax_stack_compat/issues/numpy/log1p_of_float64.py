"""jnp.log1p of float64 is off by up to 129 ulps between -0.4142 and -0.2929 on a CPU, up to jaxlib 0.11.0

    jnp.log1p(-0.4141892)     # -0.534758408432045 up to jaxlib 0.11.0, should be -0.534758408432060, with x64 on

The error grows towards -0.4142 and is 129 units in the last place there, where NumPy's is one. What is made of it loses
as much, as arctanh does up to 0.4142. jax#39707 reports it for a CPU, not for a GPU, and not for float32. The
cause is XLA's: a rational approximation that is good from -0.2929 to 0.4142 was also taken from -0.4142 on.
openxla/xla#46765 mends the range, in jaxlib 0.11.1.

Seen in these runs:

- jax 0.11.0 and 0.11.1 lower `log1p` to the same text, so that the change is in jaxlib.
- With jaxlib 0.11.0, errors above 2.5 units were from -0.4142 to -0.351 only. From -0.53 to -0.4143 they were within
  1.5. With 0.11.1 all were within 2.2. Those of arctanh were above 2.5 from 0.356 to 0.4142.
- `jnp.log(1 + x)`, which log1p is there to improve on, was right to a few units in that range on every release.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


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


_LOG = Workaround("jnp.where(jnp.abs(x) > 0.25, jnp.log(1 + x), jnp.log1p(x))", log_of_the_sum)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#39707", fix="xla#46765"),
    control=elsewhere,
    behaviours={"inaccurate": "affected", "accurate": "clear"},
    rules=(Rule("inaccurate", "jaxlib<0.11.1", "the range is XLA's"), Rule("accurate", "", "openxla/xla#46765")),
    x64=True,
    cases=(
        Case(
            log1p,
            workaround=_LOG,
            touches=("jax.numpy.log1p if uses('jax_enable_x64') and not within('jax.numpy.where')",),
        ),
        Case(arctanh, touches=("jax.numpy.arctanh if uses('jax_enable_x64')",)),
    ),
)
