"""A Python integer out of range for a small dtype wraps round: uint8 100 is not less than 300, and clip gives 44

    x = jnp.full(1, 100, "uint8")
    x < 300, jnp.clip(x, 0, 300), jnp.maximum(x, 300)    # [False], [44], [100] on every release
    jnp.uint8(300)                                       # an OverflowError beside NumPy 2

You'd expect what NumPy 2 says: True, 100, and for what cannot be an answer an OverflowError. To JAX a Python integer is
of the array's type, whatever its value, as its page on type promotion has it; 300 is 44 then, and nothing is said. For
`x + 300` that is how an unsigned integer wraps round. For a comparison it is a wrong answer: a mask by a threshold out
of range selects the wrong pixels of an image. Two arrays of 32 bits, with and without a sign, have the same (jax#27021,
open). Only what is made from the number itself is refused, and by NumPy: beside NumPy 1 with a warning, and the number
wraps round.

Seen in these runs: comparisons with a Python integer out of range, and `clip` by one, are wrong from 0.4.18 on.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def comparison() -> tuple[str, str]:
    """Is 100 in uint8 less than 300, and more than -1?"""
    import jax.numpy as jnp

    x = jnp.full(1, 100, "uint8")
    return compare([(x < 300)[0], (x > -1)[0], (x == 300)[0]], [True, True, False])


def in_range() -> None:
    """Integers in range are what they are."""
    import jax.numpy as jnp

    x = jnp.full(1, 100, "uint8")
    assert [(x < 200)[0], (x > 0)[0], (x == 100)[0]] == [True, True, True]
    assert jnp.clip(x, 0, 50).tolist() == [50]
    assert int(jnp.uint8(255)) == 255
    assert bool(jnp.array(2**31 - 1, jnp.uint32) > jnp.array(0, jnp.int32))


def wider_first() -> None:
    """The array converted first, to a type that holds both: float32 for uint32, which has no wider one without x64."""
    import jax.numpy as jnp

    x = jnp.full(1, 100, "uint8").astype(jnp.int32)
    assert [(x < 300)[0], (x > -1)[0], (x == 300)[0]] == [True, True, False]
    assert jnp.clip(x, 0, 300).tolist() == [100]
    assert bool(jnp.array(2**31, jnp.uint32).astype(jnp.float32) > jnp.array(0, jnp.int32))


def clip() -> tuple[str, str]:
    """Is 100 in uint8 clipped to 0 and 300 still 100?"""
    import jax.numpy as jnp

    return compare(jnp.clip(jnp.full(1, 100, "uint8"), 0, 300), [100])


def fill() -> tuple[str, str]:
    """Are full(300), at[0].set(300) and pad(constant_values=300) of uint8 refused?"""
    import jax.numpy as jnp

    x = jnp.zeros(1, "uint8")
    got = [jnp.full(1, 300, "uint8")[0], x.at[0].set(300)[0], jnp.pad(x, (1, 0), constant_values=300)[0]]
    return ("wrapped" if set(map(int, got)) == {44} else "other"), f"{[int(each) for each in got]}"


def unsigned_and_signed() -> tuple[str, str]:
    """Is 2 ** 31 in uint32 more than 0 in int32?"""
    import jax.numpy as jnp

    return compare(jnp.array(2**31, jnp.uint32) > jnp.array(0, jnp.int32), True)


def constructor() -> tuple[str, str]:
    """Is jnp.uint8(300) refused?"""
    import jax.numpy as jnp

    return "wrapped", f"{jnp.uint8(300)}"


_WIDER = Workaround("Convert the array first, to a type that holds both: x.astype(jnp.int32) < 300.", wider_first)

_SMALL = "uses('jax.numpy.uint8', 'jax.numpy.int8', 'jax.numpy.uint16', 'jax.numpy.int16')"
_COMPARED = ("jax.Array.__lt__", "jax.Array.__gt__", "jax.Array.__eq__")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#27021", change="jax#19701", docs="jax:type_promotion.html"),
    touches=("integer dtypes", "jax.numpy.uint8", "jax.numpy.int8", "jax.numpy.uint16", "jax.numpy.int16"),
    control=in_range,
    rules=(Rule("differs"),),
    cases=(
        Case(comparison, workaround=_WIDER, touches=_COMPARED),
        Case(
            clip,
            workaround=_WIDER,
            touches=(f"jax.numpy.clip(arr, min, max) if (min < -128 or max > 255) and {_SMALL}",),
        ),
        Case(unsigned_and_signed, workaround=_WIDER, touches=_COMPARED),
        Case(
            fill,
            behaviours={"wrapped": "documented", "other": "different"},
            rules=(Rule("wrapped"),),
            touches=(
                "jax.numpy.full(shape, fill_value, dtype) if dtype in ('jax.numpy.uint8', 'uint8')"
                " and (fill_value < 0 or fill_value > 255)",
                "jax.numpy.pad(constant_values=)",
                "jax.Array.at",
            ),
        ),
        Case(
            constructor,
            behaviours={"wrapped": "affected", "refused": "clear"},
            signatures={
                "refused": Signature("OverflowError", "out of bounds for uint8", everyday=True),
                "warns": Signature("DeprecationWarning", "conversion of out-of-bound Python integers"),
            },
            rules=(Rule("warns", "numpy<2"), Rule("refused", "", "jax#19701")),
            touches=("jax.numpy.uint8(x) if x < 0 or x > 255",),
        ),
    ),
)
