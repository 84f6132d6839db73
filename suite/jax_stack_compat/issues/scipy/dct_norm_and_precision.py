"""jax.scipy.fft.idct scales "backward" as "ortho", and casts to float32

`idct` treated each norm except None as "ortho" (`idct_backward`), and `dct` treated each norm except "ortho" as None
(`dct_forward`, jax#22466), without an error. jax#22571 implements "backward", and jax#22567 refuses other norms. `idct`
also cast float64 to float32 (`idct_float64`, jax#23895), until jax#23917.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround, compare, members


def idct_backward() -> tuple[str, str]:
    """Is idct(norm="backward") the inverse of dct(norm="backward")?"""
    import jax.numpy as jnp
    from jax.scipy.fft import dct, idct

    x = jnp.array([1.0, 2.0, 3.0, 5.0])
    return compare(idct(dct(x, norm="backward"), norm="backward"), x, rtol=1e-4)


def ortho() -> None:
    """With norm=None and "ortho", dct and idct of float32 agree with SciPy."""
    import jax.numpy as jnp
    import numpy as np
    import scipy.fft
    from jax.scipy.fft import dct, idct

    x = np.array([1.0, 2.0, 3.0, 5.0], np.float32)
    for norm in (None, "ortho"):
        np.testing.assert_allclose(dct(jnp.asarray(x), norm=norm), scipy.fft.dct(x, norm=norm), rtol=1e-4)
        np.testing.assert_allclose(idct(jnp.asarray(x), norm=norm), scipy.fft.idct(x, norm=norm), rtol=1e-4)


def leave_it_out() -> None:
    """Without norm, idct inverts dct, and dct(x) / (2 * n) agrees with norm="forward" in SciPy."""
    import jax.numpy as jnp
    import numpy as np
    import scipy.fft
    from jax.scipy.fft import dct, idct

    x = jnp.array([1.0, 2.0, 3.0, 5.0])
    np.testing.assert_allclose(idct(dct(x)), x, rtol=1e-4)
    forward = scipy.fft.dct(np.asarray(x), norm="forward")
    np.testing.assert_allclose(dct(x) / (2 * x.size), forward, rtol=1e-4)


def without_norm(x: Any) -> Any:
    """Return idct with norm="backward" and dct with norm="forward", without naming a norm."""
    import jax.numpy as jnp
    from jax.scipy.fft import dct, idct

    return jnp.stack([idct(x), dct(x) / (2 * x.shape[-1])])


def with_norm(x: Any) -> Any:
    """Return SciPy's idct with norm="backward" and dct with norm="forward" in float64."""
    import numpy as np
    import scipy.fft

    x = np.asarray(x, np.float64)
    return np.stack([scipy.fft.idct(x, norm="backward"), scipy.fft.dct(x, norm="forward")])


def dct_forward() -> tuple[str, str]:
    """Does dct(norm="forward") agree with SciPy?"""
    import jax.numpy as jnp
    import numpy as np
    import scipy.fft
    from jax.scipy.fft import dct

    x = np.array([1.0, 2.0, 3.0, 5.0], np.float32)
    return compare(dct(jnp.asarray(x), norm="forward"), scipy.fft.dct(x, norm="forward"), rtol=1e-4)


def idct_float64() -> tuple[str, str]:
    """Does idct(x) of float64 agree with SciPy to ten digits?"""
    import jax.numpy as jnp
    import numpy as np
    import scipy.fft
    from jax.scipy.fft import idct

    x = np.arange(1.0, 9.0) / 7.0
    return compare(idct(jnp.asarray(x)), scipy.fft.idct(x), rtol=1e-10)


_ELSEWHERE = Elsewhere(
    without_norm,
    with_norm,
    ("float32 matrix", "float32 batch", "float32 one", "zero float32 vector", "int8 vector", "float16 matrix"),
    rtol=1e-2,
    atol=1e-3,
)


def _named(functions: str, condition: str) -> tuple[str, ...]:
    """Return functions of jax.scipy.fft with a condition on the norm."""
    return members("jax.scipy.fft", functions, f"(x, type, n, axis, norm) if {condition}")


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#22466 jax#23895", fix="jax#22567 jax#22571 jax#23917"),
    control=ortho,
    cases=(
        Case(
            idct_backward,
            rules=(Rule("differs", "jax<0.4.31"), Rule("agrees", "", "jax#22571 (2efd1ec011)")),
            workaround=Workaround("Omit norm: idct(x).", leave_it_out, elsewhere=_ELSEWHERE),
            touches=_named("idct idctn", "norm == 'backward'"),
        ),
        Case(
            dct_forward,
            signatures={"refused": Signature("ValueError", "is not implemented", "jax._src.scipy.fft")},
            rules=(Rule("differs", "jax<0.4.31"), Rule("refused", "", "jax#22567 (326559ca47)")),
            workaround=Workaround(
                'For dct without n and axis, replace norm="forward" by dct(x) / (2 * x.shape[-1]).',
                leave_it_out,
                elsewhere=_ELSEWHERE,
            ),
            touches=_named("dct idct dctn idctn", "norm == 'forward'"),
        ),
        Case(
            idct_float64,
            rules=(Rule("differs", "jax<0.4.34"), Rule("agrees", "", "jax#23917 (96268dcae6)")),
            x64=True,
            touches=members("jax.scipy.fft", "idct idctn", " if uses('jax_enable_x64')"),
        ),
    ),
)
