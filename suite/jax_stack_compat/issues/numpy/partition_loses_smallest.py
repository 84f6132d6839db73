"""partition and argpartition of integers take the smallest value for the largest, and lose it

    jnp.partition(jnp.array([3, 0, 2, 1], jnp.uint8), 1)        # [1, 2, 3, 2] up to jax 0.4.30: the 0 is gone, 2 twice
    jnp.partition(jnp.array([-2**31, 5, 3], jnp.int32), 1)      # [3, 5, 5] up to jax 0.11.2: -2**31 is gone

The small end is found as the large end of `-x`. An unsigned 0 stays 0 under that, and the smallest signed integer stays
itself: the one value that should come first comes last, and what is given back is no rearrangement of the input.
jax#22288 mended it for unsigned integers, in 0.4.31, with a special case. The same fault in signed ones was seen two
years after that: jax#40338, in 0.12.0, inverts bits instead of the sign, there and in `jnp.top_k(mode="smallest")`,
which came with 0.11.1 and had the same fault.

Seen in these runs:

- The signed form is wrong from 0.4.18 to 0.11.2, for int8, where -128 is no rare value, as for int16 and int32.
- A sort is right where a partition is wrong.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def unsigned() -> tuple[str, str]:
    """Does partition of unsigned integers with a 0 put the smallest two first, for 8, 16 and 32 bits?"""
    import jax.numpy as jnp
    import numpy as np

    got = [np.sort(jnp.partition(jnp.array([3, 0, 2, 1], f"uint{bits}"), 1)[:2]) for bits in (8, 16, 32)]
    return compare(got, [[0, 1]] * 3)


def signed_and_float() -> None:
    """Signed integers without that value, and floats."""
    import jax.numpy as jnp
    import numpy as np

    for dtype in ("int32", "float32"):
        assert np.sort(jnp.partition(jnp.array([3, -7, 2, 0], dtype), 1)[:2]).tolist() == [-7, 0]
        assert np.sort(jnp.argpartition(jnp.array([3, -7, 2, 0], dtype), 1)[:2]).tolist() == [1, 3]


def sort_instead() -> None:
    """A sorted array is partitioned everywhere."""
    import jax.numpy as jnp

    assert jnp.sort(jnp.array([3, 0, 2, 1], "uint8")).tolist() == [0, 1, 2, 3]
    assert jnp.argsort(jnp.array([3, 0, 2, 1], "uint8")).tolist() == [1, 3, 2, 0]
    assert jnp.sort(jnp.array([-(2**31), 5, 3], "int32")).tolist() == [-(2**31), 3, 5]


def smallest_signed() -> tuple[str, str]:
    """Does partition of integers with the smallest of their dtype put it first, for 8, 16 and 32 bits?"""
    import jax.numpy as jnp
    import numpy as np

    lowest = [np.iinfo(f"int{bits}").min for bits in (8, 16, 32)]
    got = [jnp.partition(jnp.array([low, 5, 3], f"int{8 << at}"), 0)[0] for at, low in enumerate(lowest)]
    return compare(got, lowest)


def smallest_by_top_k() -> tuple[str, str]:
    """Does top_k(mode="smallest") find the smallest of a dtype, for 8, 16 and 32 bits?"""
    import jax.numpy as jnp
    import numpy as np

    if not hasattr(jnp, "top_k"):
        return "absent", "there is no jnp.top_k"
    lowest = [np.iinfo(f"int{bits}").min for bits in (8, 16, 32)]
    rows = [jnp.array([low, 5, 3], f"int{8 << at}") for at, low in enumerate(lowest)]
    return compare([jnp.top_k(row, 1, mode="smallest")[0][0] for row in rows], lowest)


def unsigned_argpartition() -> tuple[str, str]:
    """Does argpartition of unsigned integers give the places of the smallest two?"""
    import jax.numpy as jnp
    import numpy as np

    return compare(np.sort(jnp.argpartition(jnp.array([3, 0, 2, 1], "uint8"), 1)[:2]), [1, 3])


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#22137", fix="jax#22288 jax#40338"),
    touches=("jax.numpy.partition", "jax.numpy.argpartition", "jax.numpy.top_k(mode=)"),
    control=signed_and_float,
    rules=(Rule("differs", "jax<0.4.31"), Rule("agrees", "", "jax#22288 (2780b61bfd)")),
    workaround=Workaround("Sort: jnp.sort, jnp.argsort.", sort_instead),
    cases=(
        Case(unsigned),
        Case(smallest_signed, rules=(Rule("differs", "jax<0.12.0"), Rule("agrees", "", "jax#40338"))),
        Case(
            smallest_by_top_k,
            rules=(
                Rule("absent", "jax<0.11.1", "it came with 0.11.1"),
                Rule("differs", "jax<0.12.0"),
                Rule("agrees", "", "jax#40338"),
            ),
        ),
        Case(unsigned_argpartition),
    ),
)
