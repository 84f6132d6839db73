"""cumsum and cumprod with dtype=bool truncate to an integer first

    jnp.cumsum(jnp.array([0.5, -1.0, 1.0]), dtype=bool)     # [False, True, False], NumPy: [True, True, True]

NumPy makes truth values of its input and accumulates those. JAX up to 0.10.1 converted to int32, which makes 0 of 0.5
and lets -1 and 1 cancel, and made truth values of the sums. Up to 0.4.26 a TypeError refused bool; 34c5163fd2, in
0.4.27, took that away. jax#28646 and jax#28669 (`nancumsum`) met it on 0.6.0, jax#37991 again on 0.10, with the cause:
the code asked `dtype == np.bool_`, to which `bool` is not equal. jax#38039, in 0.10.2, mended it.

Seen in these runs:

- The changelog of 0.4.34 says that it is fixed (jax#23873). That release mended `dtype=np.bool_` alone. With `bool`, as
  a user writes it, it was wrong from 0.4.27 to 0.10.1: 25 months, 20 of them after the fix. From 0.4.34 to 0.10.1 the
  shortest way out is `dtype=np.bool_`.
- `cumprod` had the same fault on the same releases: `cumprod([0.5, 0.25])` as bool is all False.
- `jnp.cumulative_sum`, which came with 0.4.27, had it too, with `bool`, and is right from 0.7.2 on.
- `jnp.sum(x, dtype=bool)` and `jnp.prod` were right all the time.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare, members


def cumsum() -> tuple[str, str]:
    """Is jnp.cumsum(x, dtype=bool) that of NumPy, for values below 1 and for values that cancel?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([0.5, -1.0, 1.0], np.float32)
    return compare(jnp.cumsum(jnp.asarray(x), dtype=bool), np.cumsum(x, dtype=bool))


def other_reductions() -> None:
    """Without a dtype it is NumPy's, and a sum or a product to bool is too."""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([0.5, -1.0, 1.0], np.float32)
    np.testing.assert_allclose(jnp.cumsum(jnp.asarray(x)), np.cumsum(x))
    assert [True, True] == [bool(jnp.sum(jnp.asarray(x), dtype=bool)), bool(jnp.prod(jnp.asarray(x), dtype=bool))]


def truth_values_first() -> None:
    """Truth values first, integers after: any so far, and all so far."""
    import jax.numpy as jnp

    x = jnp.array([0.0, 0.5, -1.0, 1.0, 0.0]) != 0
    assert [False, True, True, True, True] == (jnp.cumsum(x, dtype=int) > 0).tolist()
    assert [True, True, True, False] == (jnp.cumprod(x[1:], dtype=int) > 0).tolist()


def cumsum_numpy_bool() -> tuple[str, str]:
    """Is jnp.cumsum(x, dtype=np.bool_) that of NumPy?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([0.5, -1.0, 1.0], np.float32)
    return compare(jnp.cumsum(jnp.asarray(x), dtype=np.bool_), np.cumsum(x, dtype=np.bool_))


def cumprod() -> tuple[str, str]:
    """Is jnp.cumprod(x, dtype=bool) that of NumPy, for values below 1?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([0.5, 0.25], np.float32)
    return compare(jnp.cumprod(jnp.asarray(x), dtype=bool), np.cumprod(x, dtype=bool))


def cumulative_sum() -> tuple[str, str]:
    """Is jnp.cumulative_sum(x, dtype=bool) NumPy's cumsum, for values below 1 and for values that cancel?"""
    import jax.numpy as jnp
    import numpy as np

    if not hasattr(jnp, "cumulative_sum"):
        return "absent", "there is no jnp.cumulative_sum"
    x = np.array([0.5, -1.0, 1.0], np.float32)
    return compare(jnp.cumulative_sum(jnp.asarray(x), dtype=bool), np.cumsum(x, dtype=bool))


_REFUSED = Rule("refused", "jax<0.4.27")
_BOTH = (
    _REFUSED,
    Rule("differs", "jax<0.10.2", "jax#23873 (0.4.34) did not reach it"),
    Rule("agrees", "", "jax#38039 (9d7ed1b0aa)"),
)
_DOES_NOT = {"refused": Signature("TypeError", "does not accept dtype bool", everyday=True)}

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#37991 jax#28646 jax#28669", fix="jax#23873 jax#38039"),
    touches=members("jax.numpy", "cumsum cumprod nancumsum nancumprod cumulative_sum cumulative_prod", "(dtype=)"),
    control=other_reductions,
    workaround=Workaround("Ask for truth values first: jnp.cumsum(x != 0, dtype=int) > 0.", truth_values_first),
    cases=(
        Case(cumsum, rules=_BOTH, signatures=_DOES_NOT),
        Case(
            cumsum_numpy_bool,
            rules=(_REFUSED, Rule("differs", "jax<0.4.34"), Rule("agrees", "", "jax#23873 (562e9e8dff)")),
            signatures=_DOES_NOT,
        ),
        Case(cumprod, rules=_BOTH, signatures=_DOES_NOT),
        Case(
            cumulative_sum,
            rules=(Rule("absent", "jax<0.4.27", "it came with 0.4.27"), Rule("differs", "jax<0.7.2"), Rule("agrees")),
        ),
    ),
)
