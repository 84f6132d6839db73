"""Host callbacks receive jax.Array arguments instead of NumPy arrays

Under jit, callbacks once received NumPy arrays. 9616900cc9 passes a `jax.Array` to the callbacks of `jax.pure_callback`
and `io_callback`, and 6e23c14f85, which closed jax#20627, to those of `jax.debug.callback`; a maintainer calls the
change deliberate (jax#21526). A `jax.Array` has JAX's methods: `x.sort()` leaves `x` unsorted (`sort_in_place`).
Without x64, `np.sum(x, dtype=np.float64)` of a `jax.Array` warns and sums in float32 (`sum_in_double`).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround, compare


def isinstance_of_ndarray() -> tuple[str, str]:
    """Under jit, are the arguments of pure_callback, io_callback and jax.debug.callback NumPy arrays?"""
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


def converted() -> None:
    """In a callback, np.asarray(x) is a NumPy array, and np.sort sorts it."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def callback(x: Any) -> Any:
        assert isinstance(np.asarray(x), np.ndarray)
        return np.sort(np.asarray(x))

    x = jnp.array([3.0, 1.0, 2.0])
    assert jax.jit(lambda x: jax.pure_callback(callback, x, x))(x).tolist() == [1.0, 2.0, 3.0]


def copied() -> None:
    """A callback can sort the copy np.array(x) in place and sum it in float64."""
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


def sorted_copy(x: Any) -> Any:
    """Sort a copy of the argument in a callback."""
    import jax
    import numpy as np

    def callback(x: Any) -> Any:
        x = np.array(x)
        x.sort()
        return x

    return jax.jit(lambda x: jax.pure_callback(callback, x, x))(x)


def numpy_sorted(x: Any) -> Any:
    """Sort with NumPy."""
    import numpy as np

    return np.sort(x)


def sort_in_place() -> tuple[str, str]:
    """Does jax.pure_callback return a sorted array if the callback calls x.sort() and returns x?"""
    import jax
    import jax.numpy as jnp

    def callback(x: Any) -> Any:
        x.sort()
        return x

    x = jnp.array([3.0, 1.0, 2.0])
    return compare(jax.jit(lambda x: jax.pure_callback(callback, x, x))(x), [1.0, 2.0, 3.0])


def sum_in_double() -> tuple[str, str]:
    """Does np.sum(x, dtype=np.float64) in a pure_callback sum in float64?"""
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


_CALLBACKS = ("jax.pure_callback", "jax.experimental.io_callback", "jax.debug.callback")
_INSIDE = f"within{_CALLBACKS} and not within('numpy.array', 'numpy.copy')"
_DOUBLE = "dtype in ('float64', 'numpy.float64', 'builtins.float') and not uses('jax_enable_x64')"
_NEW = Rule("differs", "", "9616900cc9; for jax.debug.callback, 6e23c14f85")

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(
        report="jax#21526",
        change="jax@9616900cc9 jax@6e23c14f85",
        docs="jax:changelog.html#jax-0-4-27-may-7-2024",
        discussion="jax#20627",
    ),
    control=converted,
    rules=(Rule("agrees", "jax<0.4.27"), _NEW),
    workaround=Workaround(
        "At the start of a callback, copy each array: x = np.array(x).",
        copied,
        elsewhere=Elsewhere(
            sorted_copy,
            numpy_sorted,
            ("float32 vector", "int32 matrix", "float16 batch", "uint8 one", "bool vector", "float32 empty"),
        ),
    ),
    cases=(
        Case(
            isinstance_of_ndarray,
            behaviours={"agrees": "clear", "differs": "documented", "other": "different"},
            touches=_CALLBACKS,
        ),
        Case(
            sort_in_place,
            rules=(Rule("refused", "jax<0.4.27"), _NEW),
            signatures={"refused": Signature("XlaRuntimeError", "sort array is read-only")},
            touches=(f"jax.Array.sort() if {_INSIDE}",),
        ),
        Case(sum_in_double, touches=(f"jax.Array.sum(axis, dtype) if {_DOUBLE} and {_INSIDE}",)),
    ),
)
