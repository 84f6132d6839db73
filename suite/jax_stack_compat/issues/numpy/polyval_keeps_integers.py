"""jnp.polyval of integers stays an integer since jax 0.10.1, and wraps round where a float did not

    jnp.polyval(jnp.array([1, 0, 0, 0]), 2000)              # 8e9 up to jax 0.10.0, -589934592 from 0.10.1
    jnp.polyval(jnp.array([2, 5], jnp.int8), 100)           # 205.0, then -51

It used to make float32 of whatever it got. jax#11633 asked for NumPy's dtypes in 2022, and jax#37448 keeps integers
from 0.10.1. NumPy's integers are of 64 bits, and 2000 cubed is none of 32: the coefficients of a polynomial are small,
its values are not. The changelog does not name it.

Seen in these runs:

- Small integer types keep their few bits even where the point is a Python integer. int8 coefficients at 100 give -51
  from 0.10.1 on, should be 205.
- Truth values went three ways. `polyval([True, True], [True])` is the float 2.0 up to 0.10.0, `True` from 0.10.1 to
  0.11.2, and a TypeError from 0.12.0 on.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def cube() -> tuple[str, str]:
    """Is x ** 3 at 2000 by integer coefficients the 8e9 that a float holds?"""
    import jax.numpy as jnp

    got = jnp.polyval(jnp.array([1, 0, 0, 0], jnp.int32), jnp.array([2000], jnp.int32)).tolist()[0]
    return {8e9: "float", -589934592: "wrapped"}.get(got, "other"), f"{got!r}"


def floats() -> None:
    """With a float among them it is a float on every release."""
    import jax.numpy as jnp

    assert jnp.polyval(jnp.array([1, 0, 0, 0], jnp.int32), jnp.array([2000.0])).tolist() == [8e9]
    assert jnp.polyval(jnp.array([2.0, 5.0]), 3).item() == 11.0


def convert_first() -> None:
    """A float point makes it a float."""
    import jax.numpy as jnp

    assert jnp.polyval(jnp.array([1, 0, 0, 0], jnp.int32), jnp.array([2000], jnp.int32).astype(float)).item() == 8e9
    assert jnp.polyval(jnp.array([2, 5], jnp.int8), 100.0).item() == 205.0
    assert jnp.polyval(jnp.array([True, True]).astype(float), jnp.array([True])).item() == 2.0


def small_integers() -> tuple[str, str]:
    """Is 2 x + 5 at 100 by int8 coefficients 205?"""
    import jax.numpy as jnp

    got = jnp.polyval(jnp.array([2, 5], jnp.int8), 100).item()
    return {205.0: "float", -51: "wrapped"}.get(got, "other"), f"{got!r}"


def truth_values() -> tuple[str, str]:
    """Is True x + True at True the float 2?"""
    import jax.numpy as jnp

    got = jnp.polyval(jnp.array([True, True]), jnp.array([True])).tolist()[0]
    return ("float" if isinstance(got, float) and got == 2.0 else "truth" if got is True else "other"), f"{got!r}"


ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(report="jax#11633", change="jax#37448"),
    touches=(
        "jax.numpy.polyval(p, x) if unseen and not type(x) == 'float' and form(p) != 'astype' and form(x) != 'astype'",
    ),
    known_by=r"\b(polyval|polynomial)\b",
    control=floats,
    behaviours={"float": "clear", "wrapped": "affected", "other": "different"},
    rules=(Rule("float", "jax<0.10.1"), Rule("wrapped", "", "jax#37448 (6c690e77a1)")),
    workaround=Workaround("Give a float: jnp.polyval(p, x.astype(float)).", convert_first),
    cases=(
        Case(cube),
        Case(small_integers),
        Case(
            truth_values,
            behaviours={"float": "clear", "truth": "affected", "other": "different"},
            signatures={"refused": Signature("TypeError", "does not accept dtype bool", everyday=True)},
            rules=(Rule("float", "jax<0.10.1"), Rule("truth", "jax<0.12.0", "jax#37448"), Rule("refused")),
        ),
    ),
)
