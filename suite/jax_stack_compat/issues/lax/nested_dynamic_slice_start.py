"""Under jit, nested dynamic_slice calls past the end read other entries

`lax.dynamic_slice` clamps its start so that the slice fits. XLA merged two nested slices: it clamped the inner start by
the outer slice's size, added the outer start as given, and clamped the sum (xla#48024). `jnp.roll` by a traced shift
ends with a `dynamic_slice` too (`rolled`, xla#49121).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def slices() -> tuple[str, str]:
    """Under jax.jit, if a lax.dynamic_slice takes a slice of another, are both starts clamped?"""
    import jax
    import numpy as np

    def f(x: jax.Array, i: int, j: int) -> jax.Array:
        return jax.lax.dynamic_slice(jax.lax.dynamic_slice(x, (i,), (4,)), (j,), (1,))

    x = np.arange(10.0, dtype=np.float32)
    return compare([jax.jit(f)(x, i, j)[0] for i, j in ((9, 0), (3, 5), (6, 0))], [6.0, 6.0, 6.0])


def inside() -> None:
    """Two slices with starts in range, and one slice past the end, read the expected entries."""
    import jax
    import numpy as np

    def f(x: jax.Array, i: int, j: int) -> jax.Array:
        return jax.lax.dynamic_slice(jax.lax.dynamic_slice(x, (i,), (4,)), (j,), (1,))

    x = np.arange(10.0, dtype=np.float32)
    assert jax.jit(f)(x, 5, 3)[0] == 8.0
    assert jax.jit(lambda x, i: jax.lax.dynamic_slice(x, (i,), (4,)))(x, 9).tolist() == [6.0, 7.0, 8.0, 9.0]


def clip_starts() -> None:
    """If jnp.clip limits both starts first, the slices read the expected entries."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def f(x: jax.Array, i: int, j: int) -> jax.Array:
        some = jax.lax.dynamic_slice(x, (jnp.clip(i, 0, 6),), (4,))
        return jax.lax.dynamic_slice(some, (jnp.clip(j, 0, 3),), (1,))

    x = np.arange(10.0, dtype=np.float32)
    assert [float(jax.jit(f)(x, i, j)[0]) for i, j in ((9, 0), (3, 5), (6, 0))] == [6.0, 6.0, 6.0]


def slices_of_slices(x: Any) -> Any:
    """Slice a slice, and a rolled array, along the first axis; the starts are traced and clipped."""
    import jax
    import jax.numpy as jnp

    def f(x: Any, i: Any, j: Any, k: Any) -> Any:
        n, size = len(x), (len(x) + 1) // 2
        some = jax.lax.dynamic_slice_in_dim(x, jnp.clip(i, 0, n - size), size)
        one = jax.lax.dynamic_slice_in_dim(some, jnp.clip(j, 0, size - 1), 1)
        return jnp.concatenate([one, jax.lax.dynamic_slice_in_dim(jnp.roll(x, i, 0), jnp.clip(k, 0, n - size), size)])

    return jax.jit(f)(x, 9, 0, 8)


def numpy_slices(x: Any) -> Any:
    """Slice with NumPy, from the starts that fit."""
    import numpy as np

    start = len(x) - (len(x) + 1) // 2
    return np.concatenate([x[start : start + 1], np.roll(x, 9, 0)[start:]])


def rolled() -> tuple[str, str]:
    """Does jax.jit clamp the start of a lax.dynamic_slice of jnp.roll by a traced shift?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def f(x: jax.Array, shift: int, start: int) -> jax.Array:
        return jax.lax.dynamic_slice(jnp.roll(x, shift), (start,), (4,))

    return compare(jax.jit(f)(np.arange(9), 4, 12), np.roll(np.arange(9), 4)[5:9])


_SLICES = "'jax.lax.dynamic_slice', 'jax.lax.dynamic_slice_in_dim', 'jax.lax.dynamic_index_in_dim'"
_OF_SLICES = f"if form(operand) in ({_SLICES}) and without('jax.numpy.clip')"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#40849 xla#49121", discussion="xla#48024"),
    control=inside,
    rules=(Rule("differs", "jaxlib<0.12"), Rule("agrees")),
    workaround=Workaround(
        "Clip non-negative int32 starts: jnp.clip(i, 0, n - size), where n is the axis's length.",
        clip_starts,
        elsewhere=Elsewhere(
            slices_of_slices,
            numpy_slices,
            (
                "float32 vector",
                "int32 matrix",
                "float16 batch",
                "int8 vector",
                "complex64 matrix",
                "bool vector",
                "float32 one",
            ),
        ),
    ),
    cases=(
        Case(
            slices,
            touches=(
                # A literal start is clamped before XLA sees it.
                f"jax.lax.dynamic_slice(operand, start) {_OF_SLICES} and max(start) >= 2**31",
                f"jax.lax.dynamic_slice_in_dim(operand, start) {_OF_SLICES} and type(start) != 'int'",
                f"jax.lax.dynamic_index_in_dim(operand, start) {_OF_SLICES} and type(start) != 'int'",
            ),
        ),
        Case(
            rolled,
            touches=(
                f"jax.numpy.roll(a, shift) if type(shift) != 'int' and within({_SLICES}) and without('jax.numpy.clip')",
            ),
        ),
    ),
)
