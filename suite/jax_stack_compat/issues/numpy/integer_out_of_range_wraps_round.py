"""Comparing a uint8 array with 300 is wrong: JAX wraps the Python integer

JAX converts a Python integer that fits int32 (with x64: int64) to the array's dtype, so 300 becomes 44; a maintainer
wrote that `clip` of uint32 with -1 may be intended (jax#15626). Storing 300 in uint8 (`fill`) counts as documented;
`comparison` and `clip` have exact answers. Without x64, uint32 and int32 promote to int32 (jax#4187, jax#27021), which
the design page on promotion rules out. For `jnp.uint8(300)` (`constructor`), older NumPy wrapped the number; newer
NumPy raises OverflowError.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround, compare


def comparison() -> tuple[str, str]:
    """Do `<`, `>` and `==` compare a uint8 100 exactly with 300 and -1?"""
    import jax.numpy as jnp

    x = jnp.full(1, 100, "uint8")
    return compare([(x < 300)[0], (x > -1)[0], (x == 300)[0]], [True, True, False])


def in_range() -> None:
    """Integers in range are compared, clipped and converted exactly."""
    import jax.numpy as jnp

    x = jnp.full(1, 100, "uint8")
    assert [(x < 200)[0], (x > 0)[0], (x == 100)[0]] == [True, True, True]
    assert jnp.clip(x, 0, 50).tolist() == [50]
    assert int(jnp.uint8(255)) == 255
    assert bool(jnp.array(2**31 - 1, jnp.uint32) > jnp.array(0, jnp.int32))


def wider_first() -> None:
    """Converted first, uint8 to int32 and uint32 to float32, the arrays compare and clip exactly."""
    import jax.numpy as jnp

    x = jnp.full(1, 100, "uint8").astype(jnp.int32)
    assert [(x < 300)[0], (x > -1)[0], (x == 300)[0]] == [True, True, False]
    assert jnp.clip(x, 0, 300).tolist() == [100]
    assert bool(jnp.array(2**31, jnp.uint32).astype(jnp.float32) > jnp.array(0, jnp.int32))


def compared(x: Any) -> Any:
    """Convert to int32, and compare."""
    import jax.numpy as jnp

    wider = x.astype(jnp.int32)
    return jnp.stack([wider < 70000, wider > -1, wider == 300])


def numpy_compared(x: Any) -> Any:
    """Compare in NumPy's int64."""
    import numpy as np

    wide = x.astype(np.int64)
    return np.stack([wide < 70000, wide > -1, wide == 300])


def clip() -> tuple[str, str]:
    """Does jnp.clip(x, 0, 300) return 100 if x is a uint8 of 100?"""
    import jax.numpy as jnp

    return compare(jnp.clip(jnp.full(1, 100, "uint8"), 0, 300), [100])


def clipped(x: Any) -> Any:
    """Convert to int32, and clip."""
    import jax.numpy as jnp

    return jnp.clip(x.astype(jnp.int32), -1, 70000)


def numpy_clipped(x: Any) -> Any:
    """Clip in NumPy's int64."""
    import numpy as np

    return np.clip(x.astype(np.int64), -1, 70000)


def fill() -> tuple[str, str]:
    """Do jnp.full, .at[0].set and jnp.pad refuse to store 300 in a uint8 array?"""
    import jax.numpy as jnp

    x = jnp.zeros(1, "uint8")
    got = [jnp.full(1, 300, "uint8")[0], x.at[0].set(300)[0], jnp.pad(x, (1, 0), constant_values=300)[0]]
    return ("wrapped" if set(map(int, got)) == {44} else "other"), f"{[int(each) for each in got]}"


def unsigned_and_signed() -> tuple[str, str]:
    """Without x64, is jnp.array(2**31, jnp.uint32) > jnp.array(0, jnp.int32) True?"""
    import jax.numpy as jnp

    return compare(jnp.array(2**31, jnp.uint32) > jnp.array(0, jnp.int32), True)


def in_x64() -> None:
    """With x64, uint32 and int32 promote to int64, and compare exactly."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    assert bool(jnp.array(2**31, jnp.uint32) > jnp.array(0, jnp.int32))
    assert bool(jnp.array(2**31 + 1, jnp.uint32) > jnp.array(2**31 - 1, jnp.int32))


def matrices_in_x64() -> None:
    """With x64, uint32 matrices and int32 vectors compare as in NumPy, even at the ends of their ranges."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    jax.config.update("jax_enable_x64", True)
    x = np.array([[0, 1, 2**24 + 1, 2**31 - 1], [7, 2**31, 2**31 + 1, 2**32 - 1]], np.uint32)
    y = np.array([-1, 1, 2**24, 2**31 - 1], np.int32)
    for one, other in ((x, y), (y, x), (x[0, 0], y[0]), (x[:0], y)):
        a, b = jnp.asarray(one), jnp.asarray(other)
        np.testing.assert_array_equal(
            jnp.stack([a < b, a > b, a == b]), np.stack([one < other, one > other, one == other])
        )
        np.testing.assert_array_equal(jnp.maximum(a, b), np.maximum(one, other))


def constructor() -> tuple[str, str]:
    """Does jnp.uint8(300) raise OverflowError?"""
    import jax.numpy as jnp

    return "wrapped", f"{jnp.uint8(300)}"


_INPUTS = ("uint8 vector", "int8 matrix", "uint16 scalar", "int16 batch", "zero uint8 one", "uint8 empty")
_WIDER = "For 8- and 16-bit dtypes and numbers within int32, convert the array: x.astype(jnp.int32)."
_WITH_X64 = Workaround(
    "For uint32 arrays beside int32 arrays, enable x64, which makes default dtypes 64-bit: "
    'jax.config.update("jax_enable_x64", True).',
    in_x64,
    elsewhere=matrices_in_x64,
)

_SMALL = "uses('jax.numpy.uint8', 'jax.numpy.int8', 'jax.numpy.uint16', 'jax.numpy.int16')"
_COMPARED = ("jax.Array.__lt__", "jax.Array.__gt__", "jax.Array.__eq__")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        report="jax#15626 jax#27021 jax#4187", docs="jax:type_promotion.html jax:jep/9407-type-promotion.html"
    ),
    touches=("integer dtypes", "jax.numpy.uint8", "jax.numpy.int8", "jax.numpy.uint16", "jax.numpy.int16"),
    control=in_range,
    rules=(Rule("differs"),),
    cases=(
        Case(
            comparison,
            workaround=Workaround(_WIDER, wider_first, elsewhere=Elsewhere(compared, numpy_compared, _INPUTS)),
            touches=_COMPARED,
        ),
        Case(
            clip,
            workaround=Workaround(_WIDER, wider_first, elsewhere=Elsewhere(clipped, numpy_clipped, _INPUTS)),
            touches=(
                "jax.numpy.clip(arr, min, max) "
                f"if seen(min < -128 or max > 255) and form(arr) != 'astype' and {_SMALL}",
            ),
        ),
        Case(unsigned_and_signed, workaround=_WITH_X64, touches=_COMPARED),
        Case(
            fill,
            behaviours={"wrapped": "documented", "other": "different"},
            rules=(Rule("wrapped"),),
            touches=(
                "jax.numpy.full(shape, fill_value, dtype) if dtype in ('jax.numpy.uint8', 'uint8')"
                " and (fill_value < 0 or fill_value > 255)",
                "jax.numpy.pad(array, width, mode, constant_values) if constant_values < 0 or constant_values > 255",
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
            rules=(Rule("warns", "numpy<2"), Rule("refused", "", "NumPy 2 refuses an integer that is out of range")),
            touches=("jax.numpy.uint8(x) if x < 0 or x > 255",),
        ),
    ),
)
