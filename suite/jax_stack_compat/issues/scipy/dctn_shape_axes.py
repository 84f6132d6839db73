"""dctn and idctn with a shape transform the wrong axes, or leave the shape out

    x = jnp.arange(6.0).reshape(2, 3)
    jax.scipy.fft.dctn(x, s=(5,)).shape                      # (5, 3) up to jax 0.9.2, SciPy: (2, 5)
    jax.scipy.fft.dctn(x, s=(4, 5), axes=(-2, -1)).shape     # (2, 3) up to jax 0.7.2, SciPy: (4, 5)

`s` without `axes` means the last `len(s)` axes, in SciPy and in `jnp.fft.fftn`. JAX took it for the first ones, and
then transformed all. Where `s` happens to be the length of the first axis the shape is right and only the values are
wrong. jax#29426 says so; JAX's own documentation had the wrong shape as an example until the day of the fix, in 0.10.0.

With `axes` as well, `s` was ignored (jax#31836): no padding, no truncation, no error. That one went in 0.8.0.

Seen in these runs:

- `dctn` and `idctn` ignore `s=(4, 5)` with `axes=(-2, -1)`, up to 0.7.2.
- Axes counted from the front help against both faults: `axes=(0, 1)`, and `axes=(1,)` for a shorter `s`.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def dctn_shape_alone() -> tuple[str, str]:
    """Does dctn(x, s=(3,)) of a (2, 3) array transform its last axis alone?"""
    import jax
    import numpy as np
    import scipy.fft

    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    return compare(jax.scipy.fft.dctn(jax.numpy.asarray(x), s=(3,)), scipy.fft.dctn(x, s=(3,)), rtol=1e-4, atol=1e-4)


def no_shape() -> None:
    """Without a shape both are SciPy's, over all axes and over one counted from the end; so is fftn with a shape."""
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
    """The same transforms, with their axes named and counted from the front."""
    import jax
    import numpy as np
    import scipy.fft

    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    for name in ("dctn", "idctn"):
        ours, theirs = getattr(jax.scipy.fft, name), getattr(scipy.fft, name)
        for s, axes in (((3,), (1,)), ((2,), (1,)), ((4, 5), (0, 1))):
            got = ours(jax.numpy.asarray(x), s=s, axes=axes)
            np.testing.assert_allclose(got, theirs(x, s=s, axes=axes), rtol=1e-4, atol=1e-4)


def idctn_shape_alone() -> tuple[str, str]:
    """Does idctn(x, s=(2,)) of a (2, 3) array transform its last axis alone?"""
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


_COUNTED = "dac1f4cf85 counts axes from the front before it looks them up"
_NEGATIVE = (Rule("differs", "jax<0.8.0"), Rule("agrees", "", _COUNTED))

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#29426 jax#31836", fix="jax@2d252fb19d jax@dac1f4cf85"),
    touches=("jax.scipy.fft.dctn", "jax.scipy.fft.idctn"),
    control=no_shape,
    rules=(Rule("differs", "jax<0.10.0"), Rule("agrees", "", "2d252fb19d takes the last len(s) axes")),
    workaround=Workaround("Name the axes, counted from the front: s=(5,), axes=(1,).", axes_from_the_front),
    cases=(
        Case(dctn_shape_alone),
        Case(idctn_shape_alone),
        Case(dctn_negative_axes, rules=_NEGATIVE),
        Case(idctn_negative_axes, rules=_NEGATIVE),
    ),
)
