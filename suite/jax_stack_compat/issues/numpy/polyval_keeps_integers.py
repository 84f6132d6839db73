"""jnp.polyval of integers overflows, and of booleans raises TypeError

Unlike NumPy, jnp.polyval converted integers and booleans to floats (jax#11633); jax#37448 keeps integers, and changes
the documented example to int32. `cube` overflows in int32, JAX's default integer; NumPy's default has 64 bits. In JAX,
a Python integer takes the dtype of the coefficients, so `small_integers` overflows in int8; NumPy widens the dtype.
Booleans stayed booleans (`truth_values`), until jnp.polyval called lax.polynomial, which refuses them.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround


def cube() -> tuple[str, str]:
    """Does jnp.polyval of the int32 arrays [1, 0, 0, 0] and [2000] return the float 8e9?"""
    import jax.numpy as jnp

    got = jnp.polyval(jnp.array([1, 0, 0, 0], jnp.int32), jnp.array([2000], jnp.int32)).tolist()[0]
    return {8e9: "float", -589934592: "wrapped"}.get(got, "other"), f"{got!r}"


def floats() -> None:
    """jnp.polyval returns floats if the coefficients, or the points, are floats."""
    import jax.numpy as jnp

    assert jnp.polyval(jnp.array([1, 0, 0, 0], jnp.int32), jnp.array([2000.0])).tolist() == [8e9]
    assert jnp.polyval(jnp.array([2.0, 5.0]), 3).item() == 11.0


def convert_first() -> None:
    """On the examples, jnp.polyval returns floats if one argument is converted to float."""
    import jax.numpy as jnp

    assert jnp.polyval(jnp.array([1, 0, 0, 0], jnp.int32), jnp.array([2000], jnp.int32).astype(float)).item() == 8e9
    assert jnp.polyval(jnp.array([2, 5], jnp.int8), 100.0).item() == 205.0
    assert jnp.polyval(jnp.array([True, True]).astype(float), jnp.array([True])).item() == 2.0


def in_floats(p: Any, x: Any) -> Any:
    """Call jnp.polyval with the points as floats."""
    import jax.numpy as jnp

    return jnp.polyval(p, jnp.asarray(x, float))


def numpy_in_floats(p: Any, x: Any) -> Any:
    """Call np.polyval with the points as float64."""
    import numpy as np

    return np.polyval(p, x.astype(float))


def small_integers() -> tuple[str, str]:
    """Does jnp.polyval of int8 coefficients [2, 5] at the Python integer 100 return 205?"""
    import jax.numpy as jnp

    got = jnp.polyval(jnp.array([2, 5], jnp.int8), 100).item()
    return {205.0: "float", -51: "wrapped"}.get(got, "other"), f"{got!r}"


def truth_values() -> tuple[str, str]:
    """Does jnp.polyval([True, True], [True]) return the float 2.0?"""
    import jax.numpy as jnp

    got = jnp.polyval(jnp.array([True, True]), jnp.array([True])).tolist()[0]
    return ("float" if isinstance(got, float) and got == 2.0 else "truth" if got is True else "other"), f"{got!r}"


# These return floats.
_FLOATS = "('astype', 'float', 'jax.numpy.polyfit', 'jax.numpy.poly', 'jax.numpy.linspace', 'jax.random.normal')"

ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(change="jax#37448", docs="jax:_autosummary/jax.numpy.polyval.html", discussion="jax#11633"),
    touches=(
        f"jax.numpy.polyval(p, x) if unseen and form(p) not in {_FLOATS} and form(x) not in {_FLOATS} "
        "and not type(x) == 'float'",
    ),
    known_by=r"\b(polyval|polynomial)\b",
    control=floats,
    behaviours={"float": "clear", "wrapped": "documented", "other": "different"},
    rules=(Rule("float", "jax<0.10.1"), Rule("wrapped", "", "jax#37448 (6c690e77a1)")),
    workaround=Workaround(
        "Convert real points to floats: jnp.polyval(p, jnp.asarray(x, float)). Large integers are rounded.",
        convert_first,
        elsewhere=Elsewhere(
            in_floats,
            numpy_in_floats,
            (
                "int32 vector, int32 matrix",
                "int8 vector, int8 scalar",
                "uint8 vector, uint8 batch",
                "bool one, bool one",
            ),
            rtol=1e-5,
        ),
    ),
    cases=(
        Case(cube),
        Case(small_integers),
        Case(
            truth_values,
            touches=(
                f"jax.numpy.polyval(p, x) if unseen and form(p) not in {_FLOATS} "
                "and (seen(type(x) == 'bool') or form(x) in ('compare', 'jax.numpy.array'))",
            ),
            behaviours={"float": "clear", "truth": "documented", "refused": "affected", "other": "different"},
            signatures={"refused": Signature("TypeError", "does not accept dtype bool", everyday=True)},
            rules=(
                Rule("float", "jax<0.10.1"),
                Rule("truth", "jax<0.12.0", "jax#37448 (6c690e77a1)"),
                Rule("refused", "", "jnp.polyval calls lax.polynomial, which refuses booleans"),
            ),
        ),
    ),
)
