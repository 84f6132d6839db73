"""jnp.floor, ceil and trunc of integers stay integers since jax 0.4.31, and wrap round where floats did not

    x = jnp.array([100], jnp.int8)
    jnp.floor(x) * jnp.array([2], jnp.int8)     # [200.0] up to jax 0.4.30, [-56] from 0.4.31

They used to make float32 of whatever they got, as NumPy did. jax#21441 returns integers and truth values as they are,
which is what the array API standard asks for and NumPy does from 2.1. The changelog of 0.4.31 says so.

Seen in these runs:

- What is computed from the result changes too. An int8 of 100, rounded and doubled, is 200 up to 0.4.30 and -56 from
  0.4.31 on.
- `jnp.fix` of an int32 is float32 up to 0.4.30 and int32 from 0.4.31 to 0.9.2. From 0.10.0 on there is no `jnp.fix`.
- `jnp.rint` makes float32 of an integer from 0.4.18 on.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, members


def dtype() -> tuple[str, str]:
    """Are floor, ceil and trunc of integers and truth values floats?"""
    import jax.numpy as jnp

    given = [jnp.asarray(1, dtype) for dtype in ("int8", "uint8", "int32", "bool")]
    found = {(x.dtype.name, f(x).dtype.name) for f in (jnp.floor, jnp.ceil, jnp.trunc) for x in given}
    floats, kept = {(x.dtype.name, "float32") for x in given}, {(x.dtype.name, x.dtype.name) for x in given}
    behaviour = "floats" if found == floats else "kept" if found == kept else "other"
    return behaviour, ", ".join(f"{one} gives {other}" for one, other in sorted(found))


def floats_and_rint() -> None:
    """Floats are rounded as ever, and rint makes a float of an integer."""
    import jax.numpy as jnp

    x = jnp.array([-1.5, 1.5])
    assert [[-2.0, 1.0], [-1.0, 2.0], [-1.0, 1.0]] == [f(x).tolist() for f in (jnp.floor, jnp.ceil, jnp.trunc)]
    assert jnp.rint(jnp.asarray(1, "int32")).dtype == jnp.float32


def convert_first() -> None:
    """A float from the start is a float on every release."""
    import jax.numpy as jnp

    got = jnp.floor(jnp.array([100], jnp.int8).astype(jnp.float32)) * jnp.array([2], jnp.int8)
    assert got.tolist() == [200.0], got


def wraps_round() -> tuple[str, str]:
    """Is twice the floor of an int8 of 100 the 200 that a float holds?"""
    import jax.numpy as jnp

    got = (jnp.floor(jnp.array([100], jnp.int8)) * jnp.array([2], jnp.int8)).tolist()
    return {200: "float", -56: "wrapped"}.get(got[0], "other"), f"{got[0]!r}"


def fix() -> tuple[str, str]:
    """Is jnp.fix of an int32 a float?"""
    import jax.numpy as jnp

    if not hasattr(jnp, "fix"):
        return "absent", "there is no jnp.fix"
    got = jnp.fix(jnp.asarray([1], "int32")).dtype.name
    return {"float32": "floats", "int32": "kept"}.get(got, "other"), got


_NOW = "jax#21441 (70b4823348), and the changelog"
_ROUNDED = members("jax.numpy", "floor ceil trunc")

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(report="jax#21088", change="jax#21441 numpy/numpy#26766"),
    control=floats_and_rint,
    workaround=Workaround("Convert before: jnp.floor(x.astype(float)).", convert_first),
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
            behaviours={"floats": "clear", "kept": "affected", "other": "different"},
            rules=(
                Rule("floats", "jax<0.4.31"),
                Rule("kept", "jax<0.10.0", "the changelog does not name it"),
                Rule("absent"),
            ),
            touches=("jax.numpy.fix",),
        ),
    ),
)
