"""jnp.partition and argpartition misplace or lose the smallest integer

JAX finds the smallest values as the largest of `-x`. An unsigned 0 and the smallest signed integer are their own
negatives, so they come last instead of first, and jnp.partition may lose them (jax#40338). jax#22288 adds 1 to unsigned
integers before it negates them; jax#40338 inverts bits instead, in `jnp.top_k(mode="smallest")` too.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def unsigned() -> tuple[str, str]:
    """Does jnp.partition put the smallest two of [3, 0, 2, 1] first, for uint8, uint16 and uint32?"""
    import jax.numpy as jnp
    import numpy as np

    got = [np.sort(jnp.partition(jnp.array([3, 0, 2, 1], f"uint{bits}"), 1)[:2]) for bits in (8, 16, 32)]
    return compare(got, [[0, 1]] * 3)


def signed_and_float() -> None:
    """jnp.partition and argpartition of float32, and of int32 without its smallest value, agree with NumPy."""
    import jax.numpy as jnp
    import numpy as np

    for dtype in ("int32", "float32"):
        assert np.sort(jnp.partition(jnp.array([3, -7, 2, 0], dtype), 1)[:2]).tolist() == [-7, 0]
        assert np.sort(jnp.argpartition(jnp.array([3, -7, 2, 0], dtype), 1)[:2]).tolist() == [1, 3]


def sort_instead() -> None:
    """On the examples, jnp.sort and jnp.argsort put the smallest values first."""
    import jax.numpy as jnp

    assert jnp.sort(jnp.array([3, 0, 2, 1], "uint8")).tolist() == [0, 1, 2, 3]
    assert jnp.argsort(jnp.array([3, 0, 2, 1], "uint8")).tolist() == [1, 3, 2, 0]
    assert jnp.sort(jnp.array([-(2**31), 5, 3], "int32")).tolist() == [-(2**31), 3, 5]


def pivots(x: Any) -> Any:
    """Return the sorted numbers, once from jnp.sort and once from jnp.argsort."""
    import jax.numpy as jnp

    return jnp.stack([jnp.sort(x), jnp.take_along_axis(x, jnp.argsort(x), axis=-1)])


def numpy_pivots(x: Any) -> Any:
    """For each k, take element k of np.partition(x, k), and return these numbers twice."""
    import numpy as np

    each = np.stack([np.partition(x, kth)[..., kth] for kth in range(x.shape[-1])], -1)
    return np.stack([each, each])


def smallest_signed() -> tuple[str, str]:
    """Does jnp.partition put the smallest int8, int16 and int32 first?"""
    import jax.numpy as jnp
    import numpy as np

    lowest = [np.iinfo(f"int{bits}").min for bits in (8, 16, 32)]
    got = [jnp.partition(jnp.array([low, 5, 3], f"int{8 << at}"), 0)[0] for at, low in enumerate(lowest)]
    return compare(got, lowest)


def smallest_by_top_k() -> tuple[str, str]:
    """Does jnp.top_k(mode="smallest") find the smallest int8, int16 and int32?"""
    import jax.numpy as jnp
    import numpy as np

    if not hasattr(jnp, "top_k"):
        return "absent", "there is no jnp.top_k"
    lowest = [np.iinfo(f"int{bits}").min for bits in (8, 16, 32)]
    rows = [jnp.array([low, 5, 3], f"int{8 << at}") for at, low in enumerate(lowest)]
    return compare([jnp.top_k(row, 1, mode="smallest")[0][0] for row in rows], lowest)


def unsigned_argpartition() -> tuple[str, str]:
    """Does jnp.argpartition of [3, 0, 2, 1] in uint8 give the indices of the smallest two?"""
    import jax.numpy as jnp
    import numpy as np

    return compare(np.sort(jnp.argpartition(jnp.array([3, 0, 2, 1], "uint8"), 1)[:2]), [1, 3])


# These return floats.
_FLOATS = "('jax.random.normal', 'jax.random.uniform', 'jax.numpy.linspace', 'jax.numpy.linalg.norm')"
_PARTITION = f"jax.numpy.partition(a) if unseen and form(a) not in {_FLOATS}"
_ARGPARTITION = f"jax.numpy.argpartition(a) if unseen and form(a) not in {_FLOATS}"
_UNSIGNED = "uses('jax.numpy.uint8', 'jax.numpy.uint16', 'jax.numpy.uint32')"
_BYTES = f"if (unseen or {_UNSIGNED}) and form(a) not in {_FLOATS}"
_INVERTED = "jax#40338 inverts bits"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#22137", fix="jax#22288 jax#40338"),
    control=signed_and_float,
    rules=(Rule("differs", "jax<0.4.31"), Rule("agrees", "", "jax#22288 (2780b61bfd)")),
    workaround=Workaround(
        "Sort the whole array: jnp.sort(x), jnp.argsort(x).",
        sort_instead,
        elsewhere=Elsewhere(pivots, numpy_pivots, ("int8 vector", "uint8 matrix", "zero uint16 one", "float32 batch")),
    ),
    cases=(
        Case(unsigned, touches=(f"jax.numpy.partition(a) {_BYTES}",)),
        Case(
            smallest_signed,
            rules=(Rule("differs", "jax<0.12.0"), Rule("agrees", "", _INVERTED)),
            touches=(_PARTITION, _ARGPARTITION),
        ),
        Case(
            smallest_by_top_k,
            rules=(
                Rule("absent", "jax<0.11.1", "jnp.top_k is new in 0.11.1"),
                Rule("differs", "jax<0.12.0"),
                Rule("agrees", "", _INVERTED),
            ),
            touches=("jax.numpy.top_k(a, k, axis, mode) if unseen and mode == 'smallest'",),
        ),
        Case(unsigned_argpartition, touches=(f"jax.numpy.argpartition(a) {_BYTES}",)),
    ),
)
