"""float, int and math of an array of one element raise a TypeError since jax 0.4.25, unless it has no dimensions

    float(jnp.ones(1))    # 1.0 and a DeprecationWarning up to jax 0.4.24; from 0.4.25
                          # TypeError: Only scalar arrays can be converted to Python scalars; got arr.ndim=1

JAX took over what NumPy 1.25 had warned of, two years before NumPy did it: `float(np.ones(1))` raises from NumPy 2.4
on. A loss that kept a dimension, or `x @ w` with a matrix of one row, is printed or logged until the upgrade. Python
does not show such warnings but in the file that is run. `if`, `bool` and `.item()` take an array of one element as
ever.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def to_float() -> tuple[str, str]:
    """Is float of an array of one element a number?"""
    import jax.numpy as jnp

    return "number", f"{float(jnp.ones(1))}"


def without_dimensions() -> None:
    """One without dimensions is taken on every release; truth is asked of both."""
    import math

    import jax.numpy as jnp

    assert float(jnp.ones(())) == int(jnp.ones(())) == math.sqrt(jnp.ones(())) == 1.0
    assert bool(jnp.ones(1))


def item() -> None:
    """.item(), or the element itself, or a reshape."""
    import jax.numpy as jnp

    x = jnp.ones((1, 1))
    assert x[0, 0].item() == float(x[0, 0]) == float(x.reshape(())) == float(x.squeeze()) == 1.0


def to_int() -> tuple[str, str]:
    """Is int of one of shape (1, 1)?"""
    import jax.numpy as jnp

    return "number", f"{int(jnp.ones((1, 1)))}"


def to_math() -> tuple[str, str]:
    """Does math.sqrt take one?"""
    import math

    import jax.numpy as jnp

    return "number", f"{math.sqrt(jnp.ones(1))}"


ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(change="jax@1fe46aa8be", docs="jax:changelog.html"),
    touches=("jax.Array.__float__", "jax.Array.__int__", "conversion to Python numbers"),
    control=without_dimensions,
    behaviours={"number": "clear", "warns": "documented"},
    rules=(Rule("warns", "jax<0.4.25"), Rule("refused", "", "1fe46aa8be")),
    workaround=Workaround("Take the element, or x.squeeze().", item),
    signatures={
        "warns": Signature("DeprecationWarning", "Conversion of an array with ndim > 0 to a scalar"),
        "refused": Signature("TypeError", "Only scalar arrays can be converted to Python scalars"),
    },
    cases=(Case(to_float), Case(to_int), Case(to_math)),
)
