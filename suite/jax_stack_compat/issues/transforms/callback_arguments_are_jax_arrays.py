"""A callback gets jax.Arrays and no NumPy arrays from jax 0.4.27 on: .sort() then does nothing, and float64 is float32

    def sorted_(x):
        x.sort()              # sorts a NumPy array in place; a jax.Array gives a new one, and stays as it is
        return x
    jax.pure_callback(sorted_, x, x)    # x unsorted, and no error, from jax 0.4.27

Code that was written for NumPy goes on to run with a `jax.Array`, and some of it does something else. The changelog of
0.4.27 has the change, for `pure_callback`, `io_callback` and `debug.callback` alike; jax#21526 was surprised by it, and
jax#20627 had asked for it. To assign to an element was an error before, too: the NumPy arrays of a callback could
only be read.

Seen in these runs:

- `x.sort()` in a callback raises up to 0.4.26, and does nothing from 0.4.27 on.
- Without x64 `np.sum(x, dtype=np.float64)` sums in float32 from 0.4.27 on, since it is JAX's sum of a `jax.Array`.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def sort_in_place() -> tuple[str, str]:
    """Is what a pure_callback sorts in place and returns sorted?"""
    import jax
    import jax.numpy as jnp

    def callback(x: Any) -> Any:
        x.sort()
        return x

    x = jnp.array([3.0, 1.0, 2.0])
    return compare(jax.jit(lambda x: jax.pure_callback(callback, x, x))(x), [1.0, 2.0, 3.0])


def converted() -> None:
    """What is made a NumPy array first is one."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def callback(x: Any) -> Any:
        assert isinstance(np.asarray(x), np.ndarray)
        return np.sort(np.asarray(x))

    x = jnp.array([3.0, 1.0, 2.0])
    assert jax.jit(lambda x: jax.pure_callback(callback, x, x))(x).tolist() == [1.0, 2.0, 3.0]


def copied() -> None:
    """A copy in NumPy to work on: np.array(x)."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def callback(x: Any) -> Any:
        x = np.array(x)
        x.sort()
        assert np.sum(x, dtype=np.float64) == 2.0**24 + 3.0
        return x

    x = jnp.array([2.0**24, 1.0, 1.0, 1.0])
    assert jax.jit(lambda x: jax.pure_callback(callback, x, x))(x).tolist() == [1.0, 1.0, 1.0, 2.0**24]


def sum_in_double() -> tuple[str, str]:
    """Is a sum with dtype=np.float64 in a pure_callback one of float64?"""
    import warnings

    import jax
    import jax.numpy as jnp
    import numpy as np

    def callback(x: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that float64 is not available
            return np.float32(np.sum(x, dtype=np.float64) - 2.0**24)

    wanted, x = jax.ShapeDtypeStruct((), "float32"), jnp.array([2.0**24, 1.0, 1.0, 1.0])
    return compare(jax.jit(lambda x: jax.pure_callback(callback, wanted, x))(x), 3.0)


def isinstance_of_ndarray() -> tuple[str, str]:
    """Are the arguments of pure_callback, io_callback and jax.debug.callback NumPy arrays?"""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.experimental import io_callback

    seen: list[bool] = []

    def callback(x: Any) -> Any:
        seen.append(isinstance(x, np.ndarray))
        return np.asarray(x)

    def called(x: jax.Array) -> jax.Array:
        jax.debug.callback(callback, x)
        return jax.pure_callback(callback, x, io_callback(callback, x, x))

    jax.block_until_ready(jax.jit(called)(jnp.ones(2)))
    jax.effects_barrier()
    return "agrees" if all(seen) else "other" if any(seen) else "differs", f"{seen}"


_NEW = Rule("differs", "", "the changelog")

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(report="jax#21526 jax#20627", docs="jax:changelog.html#jax-0-4-27-may-7-2024"),
    touches=("jax.pure_callback", "jax.experimental.io_callback", "jax.debug.callback"),
    control=converted,
    rules=(Rule("agrees", "jax<0.4.27"), _NEW),
    workaround=Workaround("At the start of a callback: x = np.array(x).", copied),
    cases=(
        Case(
            sort_in_place,
            rules=(Rule("refused", "jax<0.4.27"), _NEW),
            signatures={"refused": Signature("XlaRuntimeError", "sort array is read-only")},
            touches=("jax.pure_callback", "jax.experimental.io_callback"),
        ),
        Case(sum_in_double, touches=("jax.pure_callback", "jax.experimental.io_callback")),
        Case(isinstance_of_ndarray, behaviours={"other": "different"}),
    ),
)
