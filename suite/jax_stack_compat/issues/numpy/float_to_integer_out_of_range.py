"""astype saturates out-of-range floats; jnp.asarray(x, dtype) may not

"Sharp bits" says that casts of out-of-range floats may differ from NumPy and between backends; a maintainer calls this
expected (jax#13101). `astype` of a JAX array returns the nearer end of the range, and 0 for NaN. `jnp.asarray`, and on
some releases `jax.lax.convert_element_type`, convert NumPy arrays before XLA, with NumPy's result
(`convert_numpy_array`). jax#20803 proposed XLA's casts for `jnp.uint8(-1.0)`, and was closed as likely to break users.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround, members


def astype() -> tuple[str, str]:
    """Does x.astype(dtype) saturate 300 and -1 to uint8 and 1e10 to int32, and return 0 for NaN?"""
    import jax.numpy as jnp

    small = jnp.array([300.0, -1.0, float("nan")]).astype("uint8").tolist()
    large = jnp.array([1e10, -1e10, float("nan")]).astype("int32").tolist()
    saturates = small == [255, 0, 0] and large == [2**31 - 1, -(2**31), 0]
    return ("saturates" if saturates else "other"), f"{small}, {large}"


def in_range() -> None:
    """For floats in range, astype, jnp.asarray and jnp.array cut off the fraction."""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([0.0, 254.9, 3.5], np.float32)
    assert [0, 254, 3] == jnp.asarray(x).astype("uint8").tolist() == jnp.asarray(x, dtype="uint8").tolist()
    assert jnp.array([254.9], dtype="int32").tolist() == [254]


def clip_first() -> None:
    """After clipping to 0 and 255, with 0 for NaN, astype and jnp.asarray return the same array."""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([300.0, -1.0, np.nan], np.float32)
    kept = np.nan_to_num(np.clip(x, 0.0, 255.0), nan=0.0)
    assert [255, 0, 0] == jnp.asarray(kept).astype("uint8").tolist() == jnp.asarray(kept, dtype="uint8").tolist()


def pixels(x: Any) -> Any:
    """Scale x by 128, clip to 0 and 255, and cast to uint8."""
    import jax.numpy as jnp

    return jnp.nan_to_num(jnp.clip(128 * x, 0, 255)).astype("uint8")


def numpy_pixels(x: Any) -> Any:
    """Scale x by 128, clip to 0 and 255, and cast to uint8 with NumPy."""
    import numpy as np

    return np.clip(128 * x.astype("float32"), 0, 255).astype("uint8")


def asarray() -> tuple[str, str]:
    """Does jnp.asarray(x, dtype="uint8") saturate 300 and -1 in a NumPy array?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([300.0, -1.0], np.float32)
    with np.errstate(invalid="ignore"):
        host = x.astype("uint8").tolist()
    got = jnp.asarray(x, dtype="uint8").tolist()
    return ("numpy" if got == host else "saturates" if got == [255, 0] else "other"), f"what NumPy gives: {got == host}"


def from_list() -> tuple[str, str]:
    """Does jnp.array([300.0], dtype="uint8") raise?"""
    import jax.numpy as jnp

    return "converted", f"{jnp.array([300.0], dtype='uint8').tolist()}"


def convert_numpy_array() -> tuple[str, str]:
    """Does jax.lax.convert_element_type saturate 300 and -1 in a NumPy array?"""
    import jax
    import numpy as np

    x = np.array([300.0, -1.0], np.float32)
    with np.errstate(invalid="ignore"):
        host, got = x.astype("uint8").tolist(), jax.lax.convert_element_type(x, "uint8").tolist()
    return ("saturates" if got == [255, 0] else "numpy" if got == host else "other"), f"what NumPy gives: {got == host}"


def convert_numpy_scalar() -> tuple[str, str]:
    """Does jax.lax.convert_element_type saturate a NumPy scalar of 300?"""
    import jax
    import numpy as np

    x = np.float32(300.0)
    with np.errstate(invalid="ignore"):
        host, got = int(x.astype("uint8")), int(jax.lax.convert_element_type(x, "uint8"))
    return ("saturates" if got == 255 else "numpy" if got == host else "other"), f"what NumPy gives: {got == host}"


_NAMES = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_INTEGERS = (*_NAMES, *(f"{of}.{each}" for of in ("jax.numpy", "numpy") for each in _NAMES), "builtins.int")
_UNCLIPPED = f"in {_INTEGERS} and unseen and not within('jax.numpy.clip', 'jax.numpy.nan_to_num')"
_CONVERTED = (f"jax.lax.convert_element_type(operand, new_dtype) if new_dtype {_UNCLIPPED}",)
_ELSEWHERE = Elsewhere(
    pixels,
    numpy_pixels,
    ("float32 matrix", "float16 vector", "int32 batch", "float32 scalar", "float32 empty", "unit float32 vector"),
)

ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(
        report="jax#13101",
        change="jax@b43662fe28 jax@6a3f1e3c7b jax@b19a213cc4 jax@f7337b2648",
        docs="jax:notebooks/Common_Gotchas_in_JAX.html",
        attempt="jax#20803",
    ),
    control=in_range,
    behaviours={"saturates": "documented", "numpy": "documented", "other": "different"},
    workaround=Workaround(
        'Clip floats to what both dtypes hold: jnp.nan_to_num(jnp.clip(x, 0.0, 255.0)).astype("uint8").',
        clip_first,
        elsewhere=_ELSEWHERE,
    ),
    cases=(
        Case(
            astype,
            rules=(Rule("saturates", "", "documented under The Sharp Bits"),),
            touches=(
                f"jax.Array.astype(dtype) if dtype {_UNCLIPPED}",
                f"jax.numpy.astype(x, dtype) if dtype {_UNCLIPPED}",
            ),
        ),
        Case(
            asarray,
            rules=(Rule("numpy"),),
            touches=members(
                "jax.numpy",
                "asarray array",
                f"(a, dtype) if dtype {_UNCLIPPED} and form(a) != 'compare' and not seen(0 <= min(a) and max(a) < 128)",
            ),
        ),
        Case(
            from_list,
            behaviours={"converted": "documented", "refused": "documented", "other": "different"},
            signatures={"refused": Signature("OverflowError", "out of bounds for uint8", everyday=True)},
            rules=(Rule("converted", "numpy<2"), Rule("refused")),
            workaround=Workaround(
                'Make an array x without the dtype, then take jnp.clip(x, 0, 255).astype("uint8").',
                clip_first,
                elsewhere=_ELSEWHERE,
            ),
            touches=members(
                "jax.numpy",
                "asarray array",
                "(a, dtype) if dtype in ('uint8', 'jax.numpy.uint8', 'numpy.uint8') and (max(a) > 255 or min(a) < 0)",
            ),
        ),
        Case(
            convert_numpy_array,
            rules=(
                Rule("saturates", "jax<0.7.2"),
                Rule("numpy", "jax<0.8.0", "jax@b43662fe28"),
                Rule("saturates", "jax<0.11.0", "jax@6a3f1e3c7b reverts jax@b43662fe28"),
                Rule("numpy", "", "jax@f7337b2648"),
            ),
            touches=_CONVERTED,
        ),
        Case(
            convert_numpy_scalar,
            rules=(
                Rule("saturates", "jax<0.10.1"),
                Rule("saturates", "jaxlib<0.10.1", "jax's code asks for a newer jaxlib"),
                Rule("numpy", "", "jax@b19a213cc4"),
            ),
            touches=_CONVERTED,
        ),
    ),
)
