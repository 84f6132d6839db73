"""jnp.arange of floats is off by more than rounding: bfloat16 from a start since jax 0.8.2, other forms before

    jnp.arange(1, 3000, dtype=jnp.bfloat16)         # 379 wrong, by up to 16, from jax 0.8.2; none before
    jnp.arange(3000, 0, -1, dtype=jnp.bfloat16)     # 2998 wrong, by up to 45060, up to 0.9.2; none since
    jnp.arange(0.3, 5000)                           # float32: 4992 wrong, by up to 5e-4, up to 0.8.1; none since

You'd expect each number rounded once. Up to 0.8.1 NumPy made what has a start or a step, in the dtype that is asked
for: it rounds the first two numbers, and adds their difference. jax#33602, in 0.8.2, has the program count from 0 and
add the start: the count is rounded, and then the sum. 3dd61872d0, in 0.10.0, has the program compute what has a step,
too. The changelog warns of narrow floats for `step` only, filed under 0.9.2, and advises `jnp.array(np.arange(...))`.
That is right on every release tried, as long as NumPy is not given the narrow dtype.

Seen in these runs:

- float16 from 1 to 3000 has 238 wrong from 0.8.2 on.
- `start + jnp.arange(n, dtype=jnp.bfloat16)`, written out, has the same 379 wrong on every release tried; in integers,
  converted last, none.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def from_one() -> tuple[str, str]:
    """Are the numbers of arange(1, 3000) in bfloat16 rounded once?"""
    import jax.numpy as jnp
    import numpy as np

    wanted = jnp.array(np.arange(1, 3000)).astype(jnp.bfloat16).astype(jnp.float32)
    return compare(jnp.arange(1, 3000, dtype=jnp.bfloat16).astype(jnp.float32), wanted, rtol=0.0)


def from_zero() -> None:
    """From 0 and by 1 each is rounded once, and integers are exact."""
    import jax.numpy as jnp
    import numpy as np

    wanted = jnp.array(np.arange(3000)).astype(jnp.bfloat16)
    assert bool((jnp.arange(3000, dtype=jnp.bfloat16) == wanted).all())
    np.testing.assert_array_equal(jnp.arange(3000, 0, -1), np.arange(3000, 0, -1))


def by_numpy() -> None:
    """NumPy's, in its own dtype, converted after that."""
    import jax.numpy as jnp
    import numpy as np

    assert float(jnp.array(np.arange(1, 3000)).astype(jnp.bfloat16)[2056]) == 2064.0
    assert float(jnp.array(np.arange(3000, 0, -1)).astype(jnp.bfloat16)[2996]) == 4.0
    got = jnp.array(np.arange(0.3, 5000.0)).astype(jnp.float32)
    np.testing.assert_array_equal(got, np.arange(0.3, 5000.0).astype(np.float32))


def downwards() -> tuple[str, str]:
    """Are those of arange(3000, 0, -1) in bfloat16?"""
    import jax.numpy as jnp
    import numpy as np

    wanted = jnp.array(np.arange(3000, 0, -1)).astype(jnp.bfloat16).astype(jnp.float32)
    return compare(jnp.arange(3000, 0, -1, dtype=jnp.bfloat16).astype(jnp.float32), wanted, rtol=0.0)


def from_a_fraction() -> tuple[str, str]:
    """Are those of arange(0.3, 5000) in float32?"""
    import jax.numpy as jnp
    import numpy as np

    return compare(jnp.arange(0.3, 5000.0, dtype=jnp.float32), np.arange(0.3, 5000.0).astype(np.float32), rtol=0.0)


_ARANGE = "jax.numpy.arange(start, stop, step, dtype)"
_BFLOAT16, _FLOAT16 = "dtype in ('jax.numpy.bfloat16', 'bfloat16')", "dtype in ('jax.numpy.float16', 'float16')"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(fix="jax#33602 jax@3dd61872d0", docs="jax:changelog.html"),
    control=from_zero,
    workaround=Workaround("Have NumPy count, and convert last: jnp.array(np.arange(...)).astype(dtype).", by_numpy),
    cases=(
        Case(
            from_one,
            rules=(Rule("agrees", "jax<0.8.2"), Rule("differs", "", "jax#33602")),
            touches=(
                f"{_ARANGE} if start != 0 and stop > 256 and not given(step) and {_BFLOAT16}",
                f"{_ARANGE} if start != 0 and stop > 2048 and not given(step) and {_FLOAT16}",
            ),
        ),
        Case(
            downwards,
            rules=(Rule("differs", "jax<0.10.0"), Rule("agrees", "", "3dd61872d0")),
            touches=(
                f"{_ARANGE} if step < 0 and start > 256 and {_BFLOAT16}",
                f"{_ARANGE} if step < 0 and start > 2048 and {_FLOAT16}",
            ),
        ),
        Case(
            from_a_fraction,
            rules=(Rule("differs", "jax<0.8.2"), Rule("agrees", "", "jax#33602")),
            touches=(
                f"{_ARANGE} if type(start) == 'float' and abs(start) not in (0, 0.5, 1) and stop >= 100"
                " and not dtype in ('jax.numpy.int32', 'int32', 'jax.numpy.int64', 'int64')",
            ),
        ),
    ),
)
