"""jax.nn.gelu loses its negative tail: approximate=False up to jax 0.4.33, the default on every release

    jax.nn.gelu(-6.0, approximate=False)    # -0 up to jax 0.4.33, should be -5.92e-9
    jax.nn.gelu(-5.0)                       # -0 from jax 0.4.24 on, should be -2.29e-7

The normal distribution's function at negative points was made as `1 + erf(x)`, where all digits cancel: 6% off at -5, 0
from -6 on. ca97af9d43, in 0.4.34, takes `erfc`; it is not in the changelog, and moves every golden file of a
transformer that asks for the exact form. PyTorch has the same fault (pytorch#187806).

Seen in these runs:

- The default, `approximate=True`, cancels in the same way, in `1 + tanh(u)`. Up to 0.4.23 it is 30% off at -5; from
  0.4.24 on it is 0 there. `approximate=False`, another formula, has the tail from 0.4.34 on.
- In float16 the exact form is 8% off at -3 already, up to 0.4.33.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def exact() -> tuple[str, str]:
    """Is gelu(x, approximate=False) x times the normal distribution's function at -5, -6 and -8?"""
    import math

    import jax

    x = [-5.0, -6.0, -8.0]
    wanted = [0.5 * x * math.erfc(-x / math.sqrt(2.0)) for x in x]
    return compare(jax.nn.gelu(jax.numpy.array(x), approximate=False), wanted, rtol=1e-3)


def right_of_it() -> None:
    """Above -2 both forms are right."""
    import math

    import jax
    import numpy as np

    x = np.array([-2.0, -0.5, 0.5, 3.0], np.float32)
    wanted = [0.5 * x * math.erfc(-x / math.sqrt(2.0)) for x in x.tolist()]
    np.testing.assert_allclose(jax.nn.gelu(x, approximate=False), wanted, rtol=1e-4)
    np.testing.assert_allclose(jax.nn.gelu(x), wanted, atol=1e-3)


def write_it_out() -> None:
    """With norm.cdf for the exact form, and with a sigmoid, which is (1 + tanh) / 2, for the default one."""
    import math

    import jax
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([-5.0, -6.0, -8.0])
    wanted = [0.5 * x * math.erfc(-x / math.sqrt(2.0)) for x in x.tolist()]
    np.testing.assert_allclose(x * jax.scipy.stats.norm.cdf(x), wanted, rtol=1e-3)
    x = jnp.array([-5.0])
    twice = 2.0 * math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)
    np.testing.assert_allclose(x * jax.nn.sigmoid(twice), [-2.2918e-07], rtol=1e-2)


def default() -> tuple[str, str]:
    """Is gelu(x), the default, what its formula with tanh says at -5 and -6?"""
    import math

    import jax

    x = [-5.0, -6.0]
    wanted = [x / (1.0 + math.exp(-2.0 * math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3))) for x in x]
    return compare(jax.nn.gelu(jax.numpy.array(x)), wanted, rtol=1e-2)


def half_precision() -> tuple[str, str]:
    """Is gelu(x, approximate=False) of a float16 of -3 right to 2%?"""
    import math

    import jax

    got = jax.nn.gelu(jax.numpy.array([-3.0], jax.numpy.float16), approximate=False)
    return compare(got, [-1.5 * math.erfc(3.0 / math.sqrt(2.0))], rtol=2e-2)


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(fix="jax@ca97af9d43", report="pytorch/pytorch#187806"),
    control=right_of_it,
    rules=(Rule("differs", "jax<0.4.34"), Rule("agrees", "", "ca97af9d43")),
    workaround=Workaround("Write it out with norm.cdf, or with a sigmoid for the default form.", write_it_out),
    cases=(
        Case(exact, touches=("jax.nn.gelu(x, approximate) if approximate == False and x < -3",)),
        Case(
            default,
            rules=(Rule("differs"),),
            touches=("jax.nn.gelu(x, approximate) if not approximate == False and x < -3",),
        ),
        Case(
            half_precision,
            touches=("jax.nn.gelu(x, approximate) if approximate == False and x < -2 and uses('jax.numpy.float16')",),
        ),
    ),
)
