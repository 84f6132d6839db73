"""jnp.floor, ceil and trunc of integers return integers, not floats

`jnp.floor`, `ceil` and `trunc` converted integers and truth values to floats, as NumPy did. jax#21441 keeps the dtype
instead, as the array API standard asks and NumPy now does (numpy/numpy#26766). A product of the integer result can wrap
round (`wraps_round`). `jnp.fix` changed as well; its documentation said "same shape and dtype" (jax#23233).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, members


def dtype() -> tuple[str, str]:
    """Do jnp.floor, jnp.ceil and jnp.trunc of integers and truth values return floats?"""
    import jax.numpy as jnp

    given = [jnp.asarray(1, dtype) for dtype in ("int8", "uint8", "int32", "bool")]
    found = {(x.dtype.name, f(x).dtype.name) for f in (jnp.floor, jnp.ceil, jnp.trunc) for x in given}
    floats, kept = {(x.dtype.name, "float32") for x in given}, {(x.dtype.name, x.dtype.name) for x in given}
    behaviour = "floats" if found == floats else "kept" if found == kept else "other"
    return behaviour, ", ".join(f"{one} gives {other}" for one, other in sorted(found))


def floats_and_rint() -> None:
    """jnp.floor, ceil and trunc round floats, and jnp.rint converts an integer to a float."""
    import jax.numpy as jnp

    x = jnp.array([-1.5, 1.5])
    assert [[-2.0, 1.0], [-1.0, 2.0], [-1.0, 1.0]] == [f(x).tolist() for f in (jnp.floor, jnp.ceil, jnp.trunc)]
    assert jnp.rint(jnp.asarray(1, "int32")).dtype == jnp.float32


def convert_first() -> None:
    """An int8 of 100, converted to float32 before jnp.floor, doubles to 200."""
    import jax.numpy as jnp

    got = jnp.floor(jnp.array([100], jnp.int8).astype(jnp.float32)) * jnp.array([2], jnp.int8)
    assert got.tolist() == [200.0], got


def rounded(x: Any) -> Any:
    """Convert x to floats, take jnp.floor, and multiply by 100 in the dtype of x."""
    import jax.numpy as jnp

    return jnp.floor(x.astype(float)) * jnp.asarray(100, x.dtype)


def numpy_rounded(x: Any) -> Any:
    """Round and multiply in float64."""
    import numpy as np

    return np.floor(x.astype(np.float64)) * np.asarray(100, x.dtype)


def wraps_round() -> tuple[str, str]:
    """Is jnp.floor(x) * y the float 200 for the int8 numbers x = 100 and y = 2?"""
    import jax.numpy as jnp

    got = (jnp.floor(jnp.array([100], jnp.int8)) * jnp.array([2], jnp.int8)).tolist()
    return {200: "float", -56: "wrapped"}.get(got[0], "other"), f"{got[0]!r}"


def fix() -> tuple[str, str]:
    """Does jnp.fix of an int32 return a float?"""
    import jax.numpy as jnp

    if not hasattr(jnp, "fix"):
        return "absent", "there is no jnp.fix"
    got = jnp.fix(jnp.asarray([1], "int32")).dtype.name
    return {"float32": "floats", "int32": "kept"}.get(got, "other"), got


_NOW = "jax#21441 (70b4823348), and the changelog"
_ROUNDED = members(
    "jax.numpy", "floor ceil trunc", "(x) if form(x) in ('jax.numpy.arange', 'jax.numpy.array') and unseen"
)

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(
        change="jax#21441 numpy/numpy#26766", docs="jax:changelog.html#jax-0-4-31-july-29-2024", discussion="jax#21088"
    ),
    control=floats_and_rint,
    workaround=Workaround(
        "Convert the integers first: jnp.floor(x.astype(float)); float32 rounds above 2**24.",
        convert_first,
        elsewhere=Elsewhere(
            rounded,
            numpy_rounded,
            ("int8 matrix", "uint8 vector", "bool square", "int32 scalar", "int16 empty", "float32 vector"),
        ),
    ),
    cases=(
        Case(
            dtype,
            behaviours={"floats": "clear", "kept": "documented", "other": "different"},
            rules=(Rule("floats", "jax<0.4.31"), Rule("kept", "", _NOW)),
            touches=_ROUNDED,
        ),
        Case(
            wraps_round,
            behaviours={"float": "clear", "wrapped": "documented", "other": "different"},
            rules=(Rule("float", "jax<0.4.31"), Rule("wrapped", "", _NOW)),
            touches=_ROUNDED,
        ),
        Case(
            fix,
            behaviours={"floats": "clear", "kept": "documented", "other": "different"},
            rules=(
                Rule("floats", "jax<0.4.31"),
                Rule("kept", "jax<0.10.0", "jax#21441; documented by jax#23233"),
                Rule("absent", "", "81bfc8f662 removes jnp.fix"),
            ),
            touches=("jax.numpy.fix",),
        ),
    ),
)
