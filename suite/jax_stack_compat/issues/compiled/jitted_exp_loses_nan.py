"""The exponential of a NaN that the compiler knows to be one is a number under jit

    jax.jit(lambda x: jnp.exp(x * jnp.nan))(0.123)     # 1784.9 with jax 0.11.1, another number next time; should be NaN

Eager execution gives NaN, and so does jit where the NaN comes in as an argument. Where it is in the program, LLVM sees
that XLA's exponential on CPUs is of a NaN, and takes what it computes with it for undefined: the optimized code of
0.6.1 stores `poison`, and what comes out is what a register held, on another processor perhaps a NaN. There is no
error, and guards against NaN do not fire. jax#29537 has float64 with 0.6.2, for a regression from 0.6.1, met by SciPy
(scipy#23177), which expected that failure of one of its tests up to scipy#24249; 0.7.0 is right there.

Seen in these runs:

- float32, the default, is wrong from 0.4.18 to 0.11.1, 0.6.1 and 0.7.0 included. It is right from 0.11.2 on.
- bfloat16 is wrong from 0.4.26 to 0.11.1.
- float64 is wrong with 0.6.2 alone.
- The workaround below holds in a `fori_loop` too.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def float32() -> tuple[str, str]:
    """Is jit(exp(x * nan)) NaN in float32?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    sizes = [jnp.full(n, 0.123, "float32") for n in range(1, 9)]
    got = jax.jit(lambda arrays: [jnp.exp(x * jnp.nan) for x in arrays])(sizes)
    kept = all(np.isnan(np.asarray(one, float)).all() for one in got)
    return ("kept", "NaN for 1 to 8 elements") if kept else ("lost", "numbers, should be NaN")


def argument() -> None:
    """A NaN that comes in as an argument stays one."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    for dtype in (np.float32, np.float64):
        got = jax.jit(lambda x: jnp.exp(x * 2.0))(np.array([np.nan, 0.0], dtype))
        np.testing.assert_array_equal(got, [np.nan, 1.0])


def keep_it() -> None:
    """The NaN itself, chosen by jnp.where, alone and in a loop."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def exp(y: jax.Array) -> jax.Array:
        return jnp.where(jnp.isnan(y), y, jnp.exp(y))

    for n in (1, 8):
        x = jnp.full(n, 0.123)
        assert np.isnan(jax.jit(lambda x: exp(x * jnp.nan))(x)).all()
        assert np.isnan(jax.jit(lambda x: jax.lax.fori_loop(0, 3, lambda i, c: exp(c * jnp.nan), x))(x)).all()


def float64() -> tuple[str, str]:
    """Is it in float64?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    sizes = [jnp.full(n, 0.123, "float64") for n in range(1, 9)]
    got = jax.jit(lambda arrays: [jnp.exp(x * jnp.nan) for x in arrays])(sizes)
    kept = all(np.isnan(np.asarray(one, float)).all() for one in got)
    return ("kept", "NaN for 1 to 8 elements") if kept else ("lost", "numbers, should be NaN")


def bfloat16() -> tuple[str, str]:
    """Is it in bfloat16?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    sizes = [jnp.full(n, 0.123, "bfloat16") for n in range(1, 9)]
    got = jax.jit(lambda arrays: [jnp.exp(x * jnp.nan) for x in arrays])(sizes)
    kept = all(np.isnan(np.asarray(one, float)).all() for one in got)
    return ("kept", "NaN for 1 to 8 elements") if kept else ("lost", "numbers, should be NaN")


_NAN = "uses('jax.numpy.nan') and not within('jax.numpy.where')"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#29537 scipy/scipy#23177"),
    control=argument,
    behaviours={"kept": "clear"},
    workaround=Workaround("Choose the NaN yourself: jnp.where(jnp.isnan(y), y, jnp.exp(y)).", keep_it),
    cases=(
        Case(
            float32,
            rules=(Rule("lost", "jaxlib<0.11.2"), Rule("kept")),
            touches=(f"jax.numpy.exp if {_NAN}",),
        ),
        Case(
            float64,
            x64=True,
            rules=(Rule("lost", "jaxlib==0.6.2", "jax#29537"), Rule("kept")),
            touches=(f"jax.numpy.exp if {_NAN} and uses('jax_enable_x64')",),
        ),
        Case(
            bfloat16,
            rules=(Rule("lost", "jaxlib>=0.4.26,<0.11.2"), Rule("kept")),
            touches=(f"jax.numpy.exp if {_NAN} and uses('jax.numpy.bfloat16')",),
        ),
    ),
)
