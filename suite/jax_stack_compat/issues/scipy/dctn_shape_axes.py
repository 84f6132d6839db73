"""dctn and idctn can misapply s if axes are negative or not given

Given `s` without `axes`, JAX transformed all axes, and resized the first ones; SciPy transforms and resizes the last
`len(s)` axes (jax#29426). For two or more `axes`, JAX ignored the sizes of negative axes, because it matched `s` with
`axes` before it resolved the negative axes (jax#31836).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare, members


def dctn_shape_alone() -> tuple[str, str]:
    """Does dctn(x, s=(3,)) transform only the last axis of a (2, 3) array?"""
    import jax
    import numpy as np
    import scipy.fft

    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    return compare(jax.scipy.fft.dctn(jax.numpy.asarray(x), s=(3,)), scipy.fft.dctn(x, s=(3,)), rtol=1e-4, atol=1e-4)


def no_shape() -> None:
    """Without s, dctn and idctn agree with SciPy for axes=None and axes=(-1,), and fftn with s resizes axis -1."""
    import jax
    import numpy as np
    import scipy.fft

    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    for name in ("dctn", "idctn"):
        ours, theirs = getattr(jax.scipy.fft, name), getattr(scipy.fft, name)
        for axes in (None, (-1,)):
            np.testing.assert_allclose(
                ours(jax.numpy.asarray(x), axes=axes), theirs(x, axes=axes), rtol=1e-4, atol=1e-4
            )
    assert jax.numpy.fft.fftn(x, s=(5,), axes=(-1,)).shape == (2, 5)


def axes_from_the_front() -> None:
    """With s and non-negative axes, dctn and idctn agree with SciPy."""
    import jax
    import numpy as np
    import scipy.fft

    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    for name in ("dctn", "idctn"):
        ours, theirs = getattr(jax.scipy.fft, name), getattr(scipy.fft, name)
        for s, axes in (((3,), (1,)), ((2,), (1,)), ((4, 5), (0, 1))):
            got = ours(jax.numpy.asarray(x), s=s, axes=axes)
            np.testing.assert_allclose(got, theirs(x, s=s, axes=axes), rtol=1e-4, atol=1e-4)


def last_two(x: Any) -> Any:
    """Resize the last two axes to 4 and transform them, with the axes given as non-negative numbers."""
    import jax

    axes = tuple(range(x.ndim))[-2:]
    return jax.numpy.stack([f(x, s=[4] * len(axes), axes=axes) for f in (jax.scipy.fft.dctn, jax.scipy.fft.idctn)])


def scipy_last_two(x: Any) -> Any:
    """Transform the last two axes with SciPy."""
    import numpy as np
    import scipy.fft

    return np.stack([f(x, s=[4] * min(x.ndim, 2)) for f in (scipy.fft.dctn, scipy.fft.idctn)])


def idctn_shape_alone() -> tuple[str, str]:
    """Does idctn(x, s=(2,)) transform only the last axis of a (2, 3) array?"""
    import jax
    import numpy as np
    import scipy.fft

    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    return compare(jax.scipy.fft.idctn(jax.numpy.asarray(x), s=(2,)), scipy.fft.idctn(x, s=(2,)), rtol=1e-4, atol=1e-4)


def dctn_negative_axes() -> tuple[str, str]:
    """Does dctn(x, s=(4, 5), axes=(-2, -1)) pad x to (4, 5)?"""
    import jax
    import numpy as np
    import scipy.fft

    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    got = jax.scipy.fft.dctn(jax.numpy.asarray(x), s=(4, 5), axes=(-2, -1))
    return compare(got, scipy.fft.dctn(x, s=(4, 5), axes=(-2, -1)), rtol=1e-4, atol=1e-4)


def idctn_negative_axes() -> tuple[str, str]:
    """Does idctn(x, s=(4, 5), axes=(-2, -1)) pad x to (4, 5)?"""
    import jax
    import numpy as np
    import scipy.fft

    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    got = jax.scipy.fft.idctn(jax.numpy.asarray(x), s=(4, 5), axes=(-2, -1))
    return compare(got, scipy.fft.idctn(x, s=(4, 5), axes=(-2, -1)), rtol=1e-4, atol=1e-4)


_BOTH = "dctn idctn"
_ALONE = members(
    "jax.scipy.fft",
    _BOTH,
    # Two sizes are right for a matrix, and wrong for a batch of matrices.
    "(x, type, s, axes) if (len(s) == 1 or len(s) > 1 and unseen) and (not given(axes) or axes == None)",
)
_NEGATIVE = members("jax.scipy.fft", _BOTH, "(x, type, s, axes) if len(s) > 1 and min(axes) < 0")
_SINCE_0_8 = (Rule("differs", "jax<0.8.0"), Rule("agrees", "", "jax@dac1f4cf85 resolves negative axes first"))

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#29426 jax#31836", fix="jax@2d252fb19d jax@dac1f4cf85", attempt="jax#34123"),
    control=no_shape,
    rules=(Rule("differs", "jax<0.10.0"), Rule("agrees", "", "jax@2d252fb19d transforms the last len(s) axes")),
    workaround=Workaround(
        "For real x, pass non-negative axes together with s: s=(5,), axes=(1,).",
        axes_from_the_front,
        elsewhere=Elsewhere(
            last_two,
            scipy_last_two,
            (
                *("float32 matrix", "float32 vector", "float32 batch", "float32 one", "zero float32 square"),
                *("int32 matrix", "float16 matrix", "uint8 batch"),
            ),
            rtol=1e-3,
            atol=1e-3,
        ),
    ),
    cases=(
        Case(dctn_shape_alone, touches=_ALONE),
        Case(idctn_shape_alone, touches=_ALONE),
        Case(dctn_negative_axes, rules=_SINCE_0_8, touches=_NEGATIVE),
        Case(idctn_negative_axes, rules=_SINCE_0_8, touches=_NEGATIVE),
    ),
)
