"""Under jit, softmax and logsumexp of large scaled scores are NaN and ±inf

XLA computes the scaled scores twice: to find the maximum, and again to subtract the maximum (xla#44738). On a CPU that
fuses multiplication and subtraction, the second product is not rounded, so the largest score does not become 0, and
`exp` may overflow or be 0 for float32 scores over 2**31. The release and the length of a row decide which loops XLA
fuses (`softmax_of_64`). Scaling by a power of two rounds nothing (`half`).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare, members


def softmax() -> tuple[str, str]:
    """Does jit(softmax(0.7 * [1.3e12, 1e12])) return [1, 0]?"""
    import jax
    import jax.numpy as jnp

    given = jax.jit(lambda x: jax.nn.softmax(0.7 * x))(jnp.array([1.3e12, 1e12], jnp.float32))
    return compare(given, [1.0, 0.0])


def half() -> None:
    """With a scale of 0.5, jitted softmax and logsumexp are right; with 0.7, eager softmax is right."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([1.3e12, 1e12], jnp.float32)
    np.testing.assert_allclose(jax.jit(lambda x: jax.nn.logsumexp(0.5 * x))(x), 6.5e11, rtol=1e-5)
    np.testing.assert_allclose(jax.jit(lambda x: jax.nn.softmax(0.5 * x))(x), [1.0, 0.0])
    np.testing.assert_allclose(jax.nn.softmax(0.7 * x), [1.0, 0.0])


def shift_first() -> None:
    """With the largest score subtracted before scaling, the maximum is exactly 0."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([1.3e12, 1e12], jnp.float32)
    top = jax.jit(lambda x: 0.7 * x.max() + jax.nn.logsumexp(0.7 * (x - x.max())))(x)
    np.testing.assert_allclose(top, 9.1e11, rtol=1e-5)
    np.testing.assert_allclose(jax.jit(lambda x: jax.nn.softmax(0.7 * (x - x.max())))(x), [1.0, 0.0])
    np.testing.assert_allclose(jax.jit(lambda x: jax.nn.log_softmax(0.7 * (x - x.max())))(x)[0], 0.0)


def softmax_of_shifted(x: Any) -> Any:
    """Return the softmax of x and of 2**40 * x, with each row's largest score subtracted before scaling."""
    import jax
    import jax.numpy as jnp

    def softmax(x: Any) -> Any:
        return jax.nn.softmax(0.7 * (x - x.max(-1, keepdims=True)))

    jitted = jax.jit(softmax)
    return jnp.stack([jitted(x), jitted(x * 2.0**40)])


def softmax_in_float64(x: Any) -> Any:
    """Compute the softmax of the scaled scores with SciPy in float64."""
    import numpy as np
    import scipy.special

    return np.stack([scipy.special.softmax(0.7 * np.float64(x) * scale, -1) for scale in (1.0, 2.0**40)])


def logsumexp() -> tuple[str, str]:
    """Does jit(logsumexp(0.7 * [1.3e12, 1e12])) return 9.1e11?"""
    import jax
    import jax.numpy as jnp

    given = jax.jit(lambda x: jax.nn.logsumexp(0.7 * x))(jnp.array([1.3e12, 1e12], jnp.float32))
    return compare(given, 9.1e11, rtol=1e-5)


def logsumexp_of_shifted(x: Any) -> Any:
    """Subtract each row's largest score before scaling x and 2**40 * x, and add the scaled maximum afterwards."""
    import jax
    import jax.numpy as jnp

    def logsumexp(x: Any) -> Any:
        top = x.max(-1, keepdims=True)
        return 0.7 * top[..., 0] + jax.nn.logsumexp(0.7 * (x - top), axis=-1)

    jitted = jax.jit(logsumexp)
    return jnp.stack([jitted(x), jitted(x * 2.0**40)])


def logsumexp_in_float64(x: Any) -> Any:
    """Compute the logsumexp of the scaled scores with SciPy in float64."""
    import numpy as np
    import scipy.special

    return np.stack([scipy.special.logsumexp(0.7 * np.float64(x) * scale, -1) for scale in (1.0, 2.0**40)])


def log_softmax() -> tuple[str, str]:
    """Does jit(log_softmax(0.7 * [1.3e12, 1e12])) return [0, -2.1e11]?"""
    import jax
    import jax.numpy as jnp

    given = jax.jit(lambda x: jax.nn.log_softmax(0.7 * x))(jnp.array([1.3e12, 1e12], jnp.float32))
    return compare(given, [0.0, -2.1e11], rtol=1e-5)


def softmax_of_64() -> tuple[str, str]:
    """Is jit(softmax(0.7 * x)) finite for 64 scores from 0 to 1e13?"""
    import jax
    import jax.numpy as jnp

    given = jax.jit(lambda x: jax.nn.softmax(0.7 * x))(jnp.linspace(0.0, 1e13, 64))
    return compare(jnp.isfinite(given).all(), True)


def log_softmax_of_64() -> tuple[str, str]:
    """Is jit(log_softmax(0.7 * x)) finite for 64 scores from 0 to 1e13?"""
    import jax
    import jax.numpy as jnp

    given = jax.jit(lambda x: jax.nn.log_softmax(0.7 * x))(jnp.linspace(0.0, 1e13, 64))
    return compare(jnp.isfinite(given).all(), True)


_FMA = ("fma",)
_GOOD = "in these releases, XLA fuses different loops"
_SHORT = "XLA now fuses different loops for short rows"
_INPUTS = ("float32 matrix", "float32 vector", "positive float32 batch", "zero float32 vector", "int32 matrix")
_SHIFT = Workaround(
    "For nonempty floats and positive c, subtract the maximum: c * (x - x.max(-1, keepdims=True)).",
    shift_first,
    elsewhere=Elsewhere(softmax_of_shifted, softmax_in_float64, _INPUTS, rtol=1e-5, atol=1e-7),
)
_SHIFT_BACK = Workaround(
    "For c > 0 and a finite maximum m, write c*m + logsumexp(c*(x-m)).",
    shift_first,
    elsewhere=Elsewhere(logsumexp_of_shifted, logsumexp_in_float64, _INPUTS, rtol=1e-5, atol=1e-5),
)


def _jitted(names: str) -> tuple[str, ...]:
    """Return touches for functions of scaled scores in a project that uses jit; code does not show the scores' size."""
    seldom = "unseen and not form(a) != '*' and uses('jax.jit', 'equinox.filter_jit')"
    return members("jax", names, f"(a) if {seldom}")


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#37234 jax#38609", attempt="xla#44738"),
    control=half,
    workaround=_SHIFT,
    cases=(
        Case(
            softmax,
            rules=(
                Rule("differs", "jaxlib<0.4.22"),
                Rule("agrees", "jax<0.4.27", _GOOD),
                Rule("differs", "jaxlib<0.4.29"),
                Rule("agrees", "jaxlib<0.4.33", _GOOD),
                Rule("differs", "jaxlib<0.11.1"),
                Rule("agrees", "", _SHORT),
            ),
            cpu=_FMA,
            touches=_jitted("nn.softmax"),
        ),
        Case(
            softmax_of_64,
            rules=(
                Rule("differs", "jaxlib<0.4.22"),
                Rule("agrees", "jax<0.4.27", _GOOD),
                Rule("differs", "jaxlib<0.4.29"),
                Rule("agrees", "jaxlib<0.4.33", _GOOD),
                Rule("differs"),
            ),
            cpu=_FMA,
            touches=_jitted("nn.softmax"),
        ),
        Case(
            logsumexp,
            rules=(Rule("differs", "", "on CPUs with FMA"),),
            cpu=_FMA,
            workaround=_SHIFT_BACK,
            touches=_jitted("nn.logsumexp scipy.special.logsumexp"),
        ),
        Case(
            log_softmax,
            rules=(Rule("differs", "jaxlib<0.11.1"), Rule("agrees", "", _SHORT)),
            cpu=_FMA,
            touches=_jitted("nn.log_softmax"),
        ),
        Case(log_softmax_of_64, rules=(Rule("differs"),), cpu=_FMA, touches=_jitted("nn.log_softmax")),
    ),
)
