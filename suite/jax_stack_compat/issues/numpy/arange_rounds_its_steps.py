"""jnp.arange(start, stop) of bfloat16 rounds twice: the count and the sum

jax#33602 made `jnp.arange(start, stop)` count from 0 in the dtype of the result and add the start: in bfloat16 both
steps round. Before, JAX used NumPy's `arange`, whose documented step, `dtype(start + 1) - dtype(start)`, is worse for
other starts (`from_256`, `from_a_fraction`). JAX used NumPy for ranges with a step (`downwards`) until 3dd61872d0; now
the program computes them, in float32 for narrower floats. JAX's page of `arange` advises to scale a range of integers.
"""

from __future__ import annotations

from collections.abc import Mapping

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare
from jax_stack_compat.cell.issue import Meaning


def from_one() -> tuple[str, str]:
    """Is each number of jnp.arange(1, 3000) in bfloat16 the exact number, rounded once, as in NumPy?"""
    import jax.numpy as jnp
    import numpy as np

    wanted = jnp.array(np.arange(1, 3000)).astype(jnp.bfloat16).astype(jnp.float32)
    return compare(jnp.arange(1, 3000, dtype=jnp.bfloat16).astype(jnp.float32), wanted, rtol=0.0)


def from_zero() -> None:
    """jnp.arange from 0 rounds each bfloat16 once, and ranges of integers are exact."""
    import jax.numpy as jnp
    import numpy as np

    wanted = jnp.array(np.arange(3000)).astype(jnp.bfloat16)
    assert bool((jnp.arange(3000, dtype=jnp.bfloat16) == wanted).all())
    np.testing.assert_array_equal(jnp.arange(3000, 0, -1), np.arange(3000, 0, -1))


def by_numpy() -> None:
    """The numbers of np.arange without a dtype are rounded once if they are converted last."""
    import jax.numpy as jnp
    import numpy as np

    assert float(jnp.array(np.arange(1, 3000)).astype(jnp.bfloat16)[2056]) == 2064.0
    assert float(jnp.array(np.arange(3000, 0, -1)).astype(jnp.bfloat16)[2996]) == 4.0
    got = jnp.array(np.arange(0.3, 5000.0)).astype(jnp.float32)
    np.testing.assert_array_equal(got, np.arange(0.3, 5000.0).astype(np.float32))


def other_ranges() -> None:
    """With steps of 1, -3, 0.5 and 0.1, NumPy's numbers, converted last, are the exact numbers rounded to the dtype."""
    import jax.numpy as jnp
    import numpy as np

    for start, stop, step in ((1, 600, 1), (600, 0, -3), (-5.5, 300.0, 0.5), (0, 50, 0.1), (0.3, 500.0, 1), (3, 3, 1)):
        exact = [start + k * step for k in range(max(0, round((stop - start) / step + 0.49)))]
        for dtype in (jnp.bfloat16, jnp.float16, jnp.float32):
            got = jnp.array(np.arange(start, stop, step)).astype(dtype)
            np.testing.assert_array_equal(got, np.array(exact, float).astype(np.float32).astype(dtype))


def downwards() -> tuple[str, str]:
    """Is each number of jnp.arange(3000, 0, -1) in bfloat16 the exact number, rounded once?"""
    import jax.numpy as jnp
    import numpy as np

    wanted = jnp.array(np.arange(3000, 0, -1)).astype(jnp.bfloat16).astype(jnp.float32)
    return compare(jnp.arange(3000, 0, -1, dtype=jnp.bfloat16).astype(jnp.float32), wanted, rtol=0.0)


def from_a_fraction() -> tuple[str, str]:
    """Is each number of jnp.arange(0.3, 5000) in float32 the exact number, rounded once?"""
    import jax.numpy as jnp
    import numpy as np

    return compare(jnp.arange(0.3, 5000.0, dtype=jnp.float32), np.arange(0.3, 5000.0).astype(np.float32), rtol=0.0)


def from_256() -> tuple[str, str]:
    """Is each number of jnp.arange(256, 400) in bfloat16 the exact number, rounded once?"""
    import jax.numpy as jnp
    import numpy as np

    wanted = jnp.array(np.arange(256, 400)).astype(jnp.bfloat16).astype(jnp.float32)
    return compare(jnp.arange(256, 400, dtype=jnp.bfloat16).astype(jnp.float32), wanted, rtol=0.0)


_ARANGE = "jax.numpy.arange(start, stop, step, dtype)"
_WHOLE = "given(stop) and not given(step)"
_BFLOAT16, _FLOAT16 = "dtype in ('jax.numpy.bfloat16', 'bfloat16')", "dtype in ('jax.numpy.float16', 'float16')"


def _few(exact: int) -> str:
    """Return the condition of a range from a small odd number, beyond the integers that are exact in the dtype."""
    return f"(abs(start) == 1 and stop > {exact + 2} or abs(start) in (3, 5) and stop > {exact + 6})"


def _some(exact: int) -> str:
    """Return the condition of a range beyond the integers that are exact in the dtype."""
    return f"0 < abs(start) < {exact} and stop > {2 * exact} or start > {exact} and unseen"


_BY_NUMPY: Mapping[str, Meaning] = {"differs": "documented"}
_SUM = (Rule("differs", "jax<0.8.2"), Rule("agrees", "", "jax#33602"))

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        cause="jax#33602",
        change="jax@3dd61872d0",
        docs="jax:_autosummary/jax.numpy.arange.html https://numpy.org/doc/stable/reference/generated/numpy.arange.html",
    ),
    control=from_zero,
    workaround=Workaround(
        "Convert NumPy's numbers, if below 2**31: jnp.array(np.arange(...)).astype(dtype); jit makes them a constant.",
        by_numpy,
        elsewhere=other_ranges,
    ),
    cases=(
        Case(
            from_one,
            rules=(Rule("agrees", "jax<0.8.2"), Rule("differs", "", "jax#33602")),
            touches=(
                f"{_ARANGE} if ({_few(256)} or {_some(256)}) and {_WHOLE} and {_BFLOAT16}",
                f"{_ARANGE} if ({_few(2048)} or {_some(2048)}) and {_WHOLE} and {_FLOAT16}",
            ),
        ),
        Case(
            downwards,
            behaviours=_BY_NUMPY,
            rules=(Rule("differs", "jax<0.10.0"), Rule("agrees", "", "3dd61872d0")),
            touches=(
                f"{_ARANGE} if abs(step) == 1 and start > 256 and {_BFLOAT16}",
                f"{_ARANGE} if abs(step) == 1 and start > 2048 and {_FLOAT16}",
            ),
        ),
        Case(
            from_256,
            behaviours=_BY_NUMPY,
            rules=_SUM,
            touches=(
                f"{_ARANGE} if start >= 256 and stop > start and not given(step) and {_BFLOAT16}",
                f"{_ARANGE} if start >= 2048 and stop > start and not given(step) and {_FLOAT16}",
            ),
        ),
        Case(
            from_a_fraction,
            behaviours=_BY_NUMPY,
            rules=_SUM,
            touches=(
                f"{_ARANGE} if type(start) == 'float' and abs(start) not in (0, 0.5, 1) and stop >= 100 and unseen"
                " and not given(step) and not dtype in ('jax.numpy.int32', 'int32', 'jax.numpy.int64', 'int64')",
            ),
        ),
    ),
)
