"""float, int and math functions refuse an array with dimensions

JAX refuses to convert an array with dimensions to a Python number, regardless of its size (1fe46aa8be). Before, the
conversion of one element gave a DeprecationWarning, which jax#17650 moved from NumPy into JAX. The changelog says that
the refusal follows NumPy's deprecation. `if` and `bool` still take an array of one element (`without_dimensions`).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def to_float() -> tuple[str, str]:
    """Does float() take an array of shape (1,)?"""
    import jax.numpy as jnp

    return "number", f"{float(jnp.ones(1))}"


def without_dimensions() -> None:
    """float, int and math.sqrt take an array without dimensions; bool also takes an array of shape (1,)."""
    import math

    import jax.numpy as jnp

    assert float(jnp.ones(())) == int(jnp.ones(())) == math.sqrt(jnp.ones(())) == 1.0
    assert bool(jnp.ones(1))


def item() -> None:
    """For x of shape (1, 1), float takes x.squeeze() and x[0, 0], and x[0, 0].item() is a number."""
    import jax.numpy as jnp

    x = jnp.ones((1, 1))
    assert x[0, 0].item() == float(x[0, 0]) == float(x.reshape(())) == float(x.squeeze()) == 1.0


def squeezed() -> None:
    """float, int and math.sqrt take x.squeeze() of other dtypes without a warning; float refuses two elements."""
    import math
    import warnings

    import jax.numpy as jnp

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for dtype in ("float16", "bfloat16", "int8", "uint32", "bool"):
            for shape in ((), (1,), (1, 1, 1)):
                x = jnp.ones(shape, dtype)
                assert float(x.squeeze()) == int(x.squeeze()) == math.sqrt(x.squeeze()) == 1
        assert complex(jnp.full((1, 1), 2j).squeeze()) == 2j
    try:
        float(jnp.ones((1, 2)).squeeze())
    except TypeError:
        return
    raise AssertionError("an array of two elements became a number")


def to_int() -> tuple[str, str]:
    """Does int() take an array of shape (1, 1)?"""
    import jax.numpy as jnp

    return "number", f"{int(jnp.ones((1, 1)))}"


def to_math() -> tuple[str, str]:
    """Does math.sqrt take an array of shape (1,)?"""
    import math

    import jax.numpy as jnp

    return "number", f"{math.sqrt(jnp.ones(1))}"


ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(change="jax#17650 jax@1fe46aa8be", docs="jax:changelog.html"),
    touches=("jax.Array.__float__", "jax.Array.__int__", "conversion to Python numbers"),
    control=without_dimensions,
    behaviours={"number": "clear", "warns": "documented"},
    rules=(Rule("warns", "jax<0.4.25"), Rule("refused", "", "1fe46aa8be")),
    workaround=Workaround("Drop the dimensions first: float(x.squeeze()).", item, elsewhere=squeezed),
    signatures={
        "warns": Signature("DeprecationWarning", "Conversion of an array with ndim > 0 to a scalar"),
        "refused": Signature("TypeError", "Only scalar arrays can be converted to Python scalars"),
    },
    cases=(Case(to_float), Case(to_int), Case(to_math)),
)
