"""jnp.cumsum and cumprod with dtype=bool accumulate integers, not bools

JAX converted the input to integers before it accumulated, so 0.5 became 0, and -1 and 1 cancelled; NumPy converts to
bools first (jax#37991). jax#23873 fixed `np.bool_`, but its test, `dtype == np.bool_`, is False for `bool` (jax#37991).
jax#38039 fixed `cumsum` and `cumprod` for `bool`.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround, compare, members


def cumsum() -> tuple[str, str]:
    """Does jnp.cumsum(x, dtype=bool) agree with NumPy for x = [0.5, -1, 1]?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([0.5, -1.0, 1.0], np.float32)
    return compare(jnp.cumsum(jnp.asarray(x), dtype=bool), np.cumsum(x, dtype=bool))


def other_reductions() -> None:
    """cumsum without dtype agrees with NumPy, and so do sum and prod with dtype=bool."""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([0.5, -1.0, 1.0], np.float32)
    np.testing.assert_allclose(jnp.cumsum(jnp.asarray(x)), np.cumsum(x))
    assert [True, True] == [bool(jnp.sum(jnp.asarray(x), dtype=bool)), bool(jnp.prod(jnp.asarray(x), dtype=bool))]


def truth_values_first() -> None:
    """On the example, comparing with 0 before and after cumsum or cumprod agrees with NumPy."""
    import jax.numpy as jnp

    x = jnp.array([0.0, 0.5, -1.0, 1.0, 0.0]) != 0
    assert [False, True, True, True, True] == (jnp.cumsum(x, dtype=int) > 0).tolist()
    assert [True, True, True, False] == (jnp.cumprod(x[1:], dtype=int) > 0).tolist()


def any_so_far(x: Any) -> Any:
    """Compare x with 0, and compare the cumulative sum with 0."""
    import jax.numpy as jnp

    return jnp.cumsum(x != 0, dtype=int) > 0


def numpy_cumsum(x: Any) -> Any:
    """Return NumPy's cumsum with dtype=bool."""
    import numpy as np

    return np.cumsum(x, dtype=bool)


def cumsum_numpy_bool() -> tuple[str, str]:
    """Does jnp.cumsum(x, dtype=np.bool_) agree with NumPy for x = [0.5, -1, 1]?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([0.5, -1.0, 1.0], np.float32)
    return compare(jnp.cumsum(jnp.asarray(x), dtype=np.bool_), np.cumsum(x, dtype=np.bool_))


def cumprod() -> tuple[str, str]:
    """Does jnp.cumprod(x, dtype=bool) agree with NumPy for x = [0.5, 0.25]?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([0.5, 0.25], np.float32)
    return compare(jnp.cumprod(jnp.asarray(x), dtype=bool), np.cumprod(x, dtype=bool))


def all_so_far(x: Any) -> Any:
    """Compare x with 0, and compare the cumulative product with 0."""
    import jax.numpy as jnp

    return jnp.cumprod(x != 0, dtype=int) > 0


def numpy_cumprod(x: Any) -> Any:
    """Return NumPy's cumprod with dtype=bool."""
    import numpy as np

    return np.cumprod(x, dtype=bool)


def cumulative_sum() -> tuple[str, str]:
    """Does jnp.cumulative_sum(x, dtype=bool) agree with np.cumsum for x = [0.5, -1, 1]?"""
    import jax.numpy as jnp
    import numpy as np

    if not hasattr(jnp, "cumulative_sum"):
        return "absent", "there is no jnp.cumulative_sum"
    x = np.array([0.5, -1.0, 1.0], np.float32)
    return compare(jnp.cumulative_sum(jnp.asarray(x), dtype=bool), np.cumsum(x, dtype=bool))


def method() -> tuple[str, str]:
    """Does the method x.cumsum(dtype=bool) agree with NumPy for x = [0.5, -1, 1]?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([0.5, -1.0, 1.0], np.float32)
    return compare(jnp.asarray(x).cumsum(dtype=bool), x.cumsum(dtype=bool))


_REFUSED = Rule("refused", "jax<0.4.27")
_BOTH = (
    _REFUSED,
    Rule("differs", "jax<0.10.2", "JAX converts to integers first; jax#37991"),
    Rule("agrees", "", "jax#38039 (9d7ed1b0aa)"),
)
_INPUTS = ("int32 matrix", "float16 vector", "uint8 scalar", "bool vector", "float32 empty", "zero float32 vector")
_BOOL = "(a, axis, dtype) if dtype in ('builtins.bool', 'bool')"
_NUMPY_BOOL = "dtype in ('jax.numpy.bool_', 'jax.numpy.bool', 'numpy.bool_', 'numpy.bool')"
_METHOD = _BOOL.replace("a, ", "")
_DOES_NOT = {"refused": Signature("TypeError", "does not accept dtype bool", everyday=True)}

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#37991 jax#28646 jax#28669", fix="jax#23873 jax#38039"),
    control=other_reductions,
    workaround=Workaround(
        "If x has no NaN, compare with 0 first: jnp.cumsum(x != 0, dtype=int) > 0.",
        truth_values_first,
        elsewhere=Elsewhere(any_so_far, numpy_cumsum, _INPUTS),
    ),
    cases=(
        Case(
            cumsum,
            rules=_BOTH,
            signatures=_DOES_NOT,
            touches=members("jax.numpy", "cumsum nancumsum", _BOOL),
        ),
        Case(
            cumsum_numpy_bool,
            rules=(_REFUSED, Rule("differs", "jax<0.4.34"), Rule("agrees", "", "jax#23873 (562e9e8dff)")),
            signatures=_DOES_NOT,
            touches=(
                f"jax.numpy.cumsum(a, axis, dtype) if {_NUMPY_BOOL}",
                f"jax.Array.cumsum(axis, dtype) if {_NUMPY_BOOL}",
                f"jax.numpy.cumulative_sum(x, axis, dtype) if {_NUMPY_BOOL}",
            ),
        ),
        Case(
            cumprod,
            rules=_BOTH,
            signatures=_DOES_NOT,
            workaround=Workaround(
                "Instead of cumprod, compare with 0 first: jnp.cumprod(x != 0, dtype=int) > 0.",
                truth_values_first,
                elsewhere=Elsewhere(all_so_far, numpy_cumprod, _INPUTS),
            ),
            touches=(*members("jax.numpy", "cumprod nancumprod", _BOOL), f"jax.Array.cumprod{_METHOD}"),
        ),
        Case(
            cumulative_sum,
            rules=(
                Rule("absent", "jax<0.4.27", "jnp.cumulative_sum is new in 0.4.27"),
                Rule("differs", "jax<0.7.2"),
                Rule("agrees"),
            ),
            workaround=Workaround(
                "Without include_initial, compare with 0 first: jnp.cumsum(x != 0, axis, dtype=int) > 0.",
                truth_values_first,
                elsewhere=Elsewhere(any_so_far, numpy_cumsum, _INPUTS),
            ),
            touches=(f"jax.numpy.cumulative_sum{_BOOL}",),
        ),
        Case(method, rules=_BOTH, signatures=_DOES_NOT, touches=(f"jax.Array.cumsum{_METHOD}",)),
    ),
)
