"""jax.nn.gelu loses digits of its negative tail, and returns 0

With approximate=False, `gelu` computed `1 + erf`, whose digits cancel for negative x; jax@ca97af9d43 computes `erfc`
instead (`exact`). With approximate=True, `gelu` computes `1 + tanh(u)`, which cancels in the same way (`default`).
PyTorch's exact form of GELU loses digits, too (pytorch#187806).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def exact() -> tuple[str, str]:
    """Does gelu(x, approximate=False) agree with x * norm.cdf(x) at -5, -6 and -8?"""
    import math

    import jax

    x = [-5.0, -6.0, -8.0]
    wanted = [0.5 * x * math.erfc(-x / math.sqrt(2.0)) for x in x]
    return compare(jax.nn.gelu(jax.numpy.array(x), approximate=False), wanted, rtol=1e-3)


def right_of_it() -> None:
    """From -2 to 3, both forms of gelu agree with x * norm.cdf(x), the default form to 0.001."""
    import math

    import jax
    import numpy as np

    x = np.array([-2.0, -0.5, 0.5, 3.0], np.float32)
    wanted = [0.5 * x * math.erfc(-x / math.sqrt(2.0)) for x in x.tolist()]
    np.testing.assert_allclose(jax.nn.gelu(x, approximate=False), wanted, rtol=1e-4)
    np.testing.assert_allclose(jax.nn.gelu(x), wanted, atol=1e-3)


def with_erfc() -> None:
    """Computed with erfc, gelu keeps its digits at -5, -6 and -8 in float32, and at -3 in float16."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import scipy.stats

    for x, rtol in ((jnp.array([-5.0, -6.0, -8.0]), 1e-3), (jnp.array([-3.0], jnp.float16), 1e-2)):
        wanted = x * scipy.stats.norm.cdf(np.asarray(x, np.float64))
        np.testing.assert_allclose(0.5 * x * jax.scipy.special.erfc(-x * 0.5**0.5), wanted, rtol=rtol)


def exact_form(x: Any) -> Any:
    """Compute gelu with erfc."""
    import jax

    return 0.5 * x * jax.scipy.special.erfc(-x * 0.5**0.5)


def exact_in_float64(x: Any) -> Any:
    """Compute gelu in float64."""
    import numpy as np
    import scipy.stats

    return x * scipy.stats.norm.cdf(np.asarray(x, np.float64))


def default() -> tuple[str, str]:
    """Does gelu(x) (approximate=True) agree with the tanh formula at -5 and -6?"""
    import math

    import jax

    x = [-5.0, -6.0]
    wanted = [x / (1.0 + math.exp(-2.0 * math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3))) for x in x]
    return compare(jax.nn.gelu(jax.numpy.array(x)), wanted, rtol=1e-2)


def with_sigmoid() -> None:
    """Written with sigmoid(u) = (1 + tanh(u / 2)) / 2, the tanh formula keeps its digits at -5 and -6."""
    import math

    import jax
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([-5.0, -6.0])
    wanted = [x / (1.0 + math.exp(-2.0 * math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3))) for x in x.tolist()]
    np.testing.assert_allclose(x * jax.nn.sigmoid(1.5957691 * (x + 0.044715 * x**3)), wanted, rtol=1e-3)


def tanh_form(x: Any) -> Any:
    """Compute the tanh formula with a sigmoid."""
    import jax

    return x * jax.nn.sigmoid(1.5957691 * (x + 0.044715 * x**3))


def tanh_in_float64(x: Any) -> Any:
    """Compute the tanh formula in float64."""
    import numpy as np

    wide = np.asarray(x, np.float64)
    return 0.5 * wide * (1.0 + np.tanh(np.sqrt(2.0 / np.pi) * (wide + 0.044715 * wide**3)))


def half_precision() -> tuple[str, str]:
    """Does gelu(x, approximate=False) agree with x * norm.cdf(x) to 2% for a float16 x of -3?"""
    import math

    import jax

    got = jax.nn.gelu(jax.numpy.array([-3.0], jax.numpy.float16), approximate=False)
    return compare(got, [-1.5 * math.erfc(3.0 / math.sqrt(2.0))], rtol=2e-2)


_INPUTS = (
    *("float32 matrix", "float32 scalar", "positive float32 vector", "zero float32 vector", "float32 empty"),
    *("float16 batch", "int32 vector"),
)
_ERFC = Workaround(
    "For floats, write the exact form: 0.5 * x * jax.scipy.special.erfc(-x * 0.5**0.5).",
    with_erfc,
    elsewhere=Elsewhere(exact_form, exact_in_float64, _INPUTS, rtol=2e-2, atol=1e-6),
)
_SIGMOID = Workaround(
    "Use a sigmoid in float32: x * jax.nn.sigmoid(1.5957691 * (x + 0.044715 * x**3)).",
    with_sigmoid,
    elsewhere=Elsewhere(tanh_form, tanh_in_float64, _INPUTS, rtol=2e-2, atol=1e-6),
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(fix="jax@ca97af9d43", discussion="pytorch/pytorch#187806"),
    control=right_of_it,
    rules=(Rule("differs", "jax<0.4.34"), Rule("agrees", "", "ca97af9d43")),
    workaround=_ERFC,
    cases=(
        Case(
            exact,
            # The keyword alone does not narrow a use.
            touches=(
                "jax.nn.gelu(x, approximate) if given(approximate) and not approximate != False "
                "and (seen(x < -3) or unseen or form(x) == 'jax.numpy.linspace')",
            ),
        ),
        Case(
            default,
            rules=(Rule("differs"),),
            workaround=_SIGMOID,
            touches=(
                "jax.nn.gelu(x, approximate) if not approximate == False and "
                "(seen(x < -3) or unseen and form(x) == 'jax.numpy.array')",
            ),
        ),
        Case(
            half_precision,
            touches=("jax.nn.gelu(x, approximate) if approximate == False and x < -2 and uses('jax.numpy.float16')",),
        ),
    ),
)
