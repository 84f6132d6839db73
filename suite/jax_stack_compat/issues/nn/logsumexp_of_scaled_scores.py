"""jit(logsumexp(c * x)) is -inf, and jit(softmax(c * x)) NaN, for large scores on a CPU with FMA

    x = jnp.array([1.3e12, 1e12])
    jax.jit(lambda x: jax.nn.logsumexp(0.7 * x))(x)     # -inf from jax 0.4.18 on, should be 9.1e11
    jax.jit(lambda x: jax.nn.softmax(0.7 * x))(x)       # NaN on many releases, should be [1, 0]

Both subtract the largest score first. Compiled, the product 0.7 * x is computed twice: once for the maximum, rounded,
and once in a fused multiply-add with the subtraction, not rounded. At the largest score the difference is then the
rounding error and not 0. From 2**31 on that can be 128, and its exponential is 0 or infinite. Eager it is right; so is
a power of two for the factor, and a CPU without FMA (--xla_cpu_max_isa=AVX shows it). jax#37234 and jax#38609 report
softmax at the end of long programs, and are open; openxla/xla#44738, closed, is an attempt for the latter, to keep such
a product out of two fusions. Attention scales its scores by such a factor.

Seen in these runs, all on a CPU with AVX-512 and FMA:

- logsumexp is -inf on every release, with NaN for a gradient.
- softmax went wrong, right and wrong again: with jaxlib 0.4.22, 0.4.29, 0.4.33 and 0.11.1, on the same lowered text on
  both sides, and with jax 0.4.27. So it is which loops XLA fuses.
- Of 200 random pairs of scores in each power of two, 62 gave -inf from 2**31 to 2**32, and none below.
- `jax.lax.optimization_barrier` round the product helps logsumexp on jax 0.11.2 and 0.12.0, and not from 0.4.35 to
  0.11.0. To shift before scaling helps on every release.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def logsumexp() -> tuple[str, str]:
    """Is the compiled logsumexp of 0.7 * [1.3e12, 1e12] 9.1e11?"""
    import jax
    import jax.numpy as jnp

    given = jax.jit(lambda x: jax.nn.logsumexp(0.7 * x))(jnp.array([1.3e12, 1e12], jnp.float32))
    return compare(given, 9.1e11, rtol=1e-5)


def half() -> None:
    """With a power of two, which rounds nothing, all are right, and so are they eager."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([1.3e12, 1e12], jnp.float32)
    np.testing.assert_allclose(jax.jit(lambda x: jax.nn.logsumexp(0.5 * x))(x), 6.5e11, rtol=1e-5)
    np.testing.assert_allclose(jax.jit(lambda x: jax.nn.softmax(0.5 * x))(x), [1.0, 0.0])
    np.testing.assert_allclose(jax.nn.softmax(0.7 * x), [1.0, 0.0])


def shift_first() -> None:
    """The largest score subtracted before the factor: 0 times anything is 0."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([1.3e12, 1e12], jnp.float32)
    top = jax.jit(lambda x: 0.7 * x.max() + jax.nn.logsumexp(0.7 * (x - x.max())))(x)
    np.testing.assert_allclose(top, 9.1e11, rtol=1e-5)
    np.testing.assert_allclose(jax.jit(lambda x: jax.nn.softmax(0.7 * (x - x.max())))(x), [1.0, 0.0])
    np.testing.assert_allclose(jax.jit(lambda x: jax.nn.log_softmax(0.7 * (x - x.max())))(x)[0], 0.0)


def softmax() -> tuple[str, str]:
    """Is the compiled softmax of 0.7 * [1.3e12, 1e12] [1, 0]?"""
    import jax
    import jax.numpy as jnp

    given = jax.jit(lambda x: jax.nn.softmax(0.7 * x))(jnp.array([1.3e12, 1e12], jnp.float32))
    return compare(given, [1.0, 0.0])


def log_softmax() -> tuple[str, str]:
    """Is the compiled log_softmax of 0.7 * [1.3e12, 1e12] 0 for the larger?"""
    import jax
    import jax.numpy as jnp

    given = jax.jit(lambda x: jax.nn.log_softmax(0.7 * x))(jnp.array([1.3e12, 1e12], jnp.float32))
    return compare(given, [0.0, -2.1e11], rtol=1e-5)


_FMA = ("fma",)
_GOOD = "XLA fuses other loops"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#37234 jax#38609", change="xla#44738"),
    control=half,
    workaround=Workaround("Shift before you scale: softmax(c * (x - x.max())).", shift_first),
    cases=(
        Case(
            logsumexp,
            rules=(Rule("differs", "", "on CPUs with FMA"),),
            cpu=_FMA,
            touches=("jax.nn.logsumexp", "jax.scipy.special.logsumexp"),
        ),
        Case(
            softmax,
            rules=(
                Rule("differs", "jaxlib<0.4.22"),
                Rule("agrees", "jax<0.4.27", _GOOD),
                Rule("differs", "jaxlib<0.4.29"),
                Rule("agrees", "jaxlib<0.4.33", _GOOD),
                Rule("differs", "jaxlib<0.11.1"),
                Rule("agrees", "", _GOOD),
            ),
            cpu=_FMA,
            touches=("jax.nn.softmax",),
        ),
        Case(
            log_softmax,
            rules=(Rule("differs", "jaxlib<0.11.1"), Rule("agrees", "", _GOOD)),
            cpu=_FMA,
            touches=("jax.nn.log_softmax",),
        ),
    ),
)
