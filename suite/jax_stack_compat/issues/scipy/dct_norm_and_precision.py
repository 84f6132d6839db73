"""jax.scipy.fft.idct takes every norm for "ortho", and float64 for float32

    jax.scipy.fft.idct(x, norm="backward")          # up to jax 0.4.30 what norm="ortho" gives
    jax.scipy.fft.idct(jnp.ones(4)).dtype           # float32 up to jax 0.4.33, with x64 on

"backward" is SciPy's name for its default. `idct` scaled for every norm that is not None as for "ortho", and `dct` for
every norm that is not "ortho" as for None: so dct and idct with one and the same norm="backward" were not each other's
inverse. jax#22466 reported wrong scales; jax#22571 gave "backward" its meaning and jax#22567 refuses all others, in
0.4.31. "forward" is refused to this day. jax#23895 found float64 input cast to float32: seven digits are left, and a
number over 3.4e38 is infinite. jax#23917 mended that in 0.4.34.

Seen in these runs: "forward" raised nothing either, up to 0.4.30: `dct(x, norm="forward")` was 2 n times SciPy's.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def idct_backward() -> tuple[str, str]:
    """Is idct(norm="backward") the inverse of dct(norm="backward")?"""
    import jax.numpy as jnp
    from jax.scipy.fft import dct, idct

    x = jnp.array([1.0, 2.0, 3.0, 5.0])
    return compare(idct(dct(x, norm="backward"), norm="backward"), x, rtol=1e-4)


def ortho() -> None:
    """norm=None and "ortho" are SciPy's in float32."""
    import jax.numpy as jnp
    import numpy as np
    import scipy.fft
    from jax.scipy.fft import dct, idct

    x = np.array([1.0, 2.0, 3.0, 5.0], np.float32)
    for norm in (None, "ortho"):
        np.testing.assert_allclose(dct(jnp.asarray(x), norm=norm), scipy.fft.dct(x, norm=norm), rtol=1e-4)
        np.testing.assert_allclose(idct(jnp.asarray(x), norm=norm), scipy.fft.idct(x, norm=norm), rtol=1e-4)


def leave_it_out() -> None:
    """No norm, which is "backward"; over 2 n it is "forward"."""
    import jax.numpy as jnp
    import numpy as np
    import scipy.fft
    from jax.scipy.fft import dct, idct

    x = jnp.array([1.0, 2.0, 3.0, 5.0])
    np.testing.assert_allclose(idct(dct(x)), x, rtol=1e-4)
    forward = scipy.fft.dct(np.asarray(x), norm="forward")
    np.testing.assert_allclose(dct(x) / (2 * x.size), forward, rtol=1e-4)


def dct_forward() -> tuple[str, str]:
    """Is dct(norm="forward") that of SciPy?"""
    import jax.numpy as jnp
    import numpy as np
    import scipy.fft
    from jax.scipy.fft import dct

    x = np.array([1.0, 2.0, 3.0, 5.0], np.float32)
    return compare(dct(jnp.asarray(x), norm="forward"), scipy.fft.dct(x, norm="forward"), rtol=1e-4)


def idct_float64() -> tuple[str, str]:
    """Has idct of float64 the digits of float64?"""
    import jax.numpy as jnp
    import numpy as np
    import scipy.fft
    from jax.scipy.fft import idct

    x = np.arange(1.0, 9.0) / 7.0
    return compare(idct(jnp.asarray(x)), scipy.fft.idct(x), rtol=1e-10)


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#22466 jax#23895", fix="jax#22567 jax#22571 jax#23917"),
    touches=("jax.scipy.fft.idct", "jax.scipy.fft.dct"),
    control=ortho,
    cases=(
        Case(
            idct_backward,
            rules=(Rule("differs", "jax<0.4.31"), Rule("agrees", "", "jax#22571 (2efd1ec011)")),
            workaround=Workaround("Leave the norm out: it is the same.", leave_it_out),
        ),
        Case(
            dct_forward,
            signatures={"refused": Signature("ValueError", "is not implemented", "jax._src.scipy.fft")},
            rules=(Rule("differs", "jax<0.4.31"), Rule("refused", "", "jax#22567 (326559ca47)")),
            workaround=Workaround('For norm="forward" divide: dct(x) / (2 * n).', leave_it_out),
        ),
        Case(
            idct_float64, rules=(Rule("differs", "jax<0.4.34"), Rule("agrees", "", "jax#23917 (96268dcae6)")), x64=True
        ),
    ),
)
