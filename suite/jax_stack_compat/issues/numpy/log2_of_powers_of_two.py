"""jnp.log2 of powers of two is not exact, and jnp.log10 of 10 was not 1

`jnp.log2` and `jnp.log10` round twice, first a natural logarithm and then its multiple, so a result converted to an
integer can be one too small. Of 254 powers, jax#40419 counts 46 inexact ones in float32 and 105 in bfloat16. jax#31241
multiplies by 1/log(10): `log10` is exact for 10, 100 and 1000 in float32, `log10_bfloat16` inexact for 10. jax#40430
also multiplies in `jnp.log2`, which is still inexact (`float32`, `float64`, `bfloat16`).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround


def float32() -> tuple[str, str]:
    """Is jnp.log2(2**k) equal to k in float32, for k from 1 to 30?"""
    import jax.numpy as jnp
    import numpy as np

    k = np.arange(1.0, 31.0, dtype=np.float32)
    wrong = k[np.asarray(jnp.log2(jnp.asarray(2**k))) != k]
    return ("inexact", f"not of 2**{wrong[0]:.0f}") if wrong.size else ("exact", "all are")


def near() -> None:
    """jnp.log2 of powers of two and jnp.log10 of powers of ten have relative errors below 1e-6."""
    import jax.numpy as jnp
    import numpy as np

    k = np.arange(1.0, 31.0, dtype=np.float32)
    np.testing.assert_allclose(jnp.log2(jnp.asarray(2**k)), k, rtol=1e-6)
    np.testing.assert_allclose(jnp.log10(jnp.array([10.0, 100.0, 1000.0])), [1.0, 2.0, 3.0], rtol=1e-6)


def by_frexp() -> None:
    """The exponent from jnp.frexp is exact for each power of two in float32 and bfloat16."""
    import jax.numpy as jnp
    import numpy as np

    k = np.arange(-126, 128)
    for dtype in ("float32", "bfloat16"):
        x = jnp.asarray(2.0**k, dtype)
        m, e = jnp.frexp(x)
        assert jnp.where(m == 0.5, e - 1, jnp.log2(x)).astype("float32").tolist() == k.tolist()


def log2(x: Any) -> Any:
    """Return the exponents of powers of two, and jnp.log2 elsewhere, for x and 1 - x / 2**20."""
    import jax.numpy as jnp

    x = jnp.stack([x, 1 - x * jnp.float32(2.0**-20)])
    m, e = jnp.frexp(x)
    return jnp.where(m == 0.5, e - 1, jnp.log2(x))


def numpy_log2(x: Any) -> Any:
    """Return NumPy's log2 in float64 of the float32 numbers x and 1 - x / 2**20."""
    import numpy as np

    return np.log2(np.stack([x, 1 - x * np.float32(2.0**-20)]).astype(np.float32), dtype=np.float64)


def bfloat16() -> tuple[str, str]:
    """Is jnp.log2(2**k) equal to k in bfloat16, for k from 1 to 30?"""
    import jax.numpy as jnp
    import numpy as np

    k = np.arange(1.0, 31.0, dtype=np.float32)
    wrong = k[np.asarray(jnp.log2(jnp.asarray(2**k, "bfloat16")).astype("float32")) != k]
    return ("inexact", f"not of 2**{wrong[0]:.0f}") if wrong.size else ("exact", "all are")


def float64() -> tuple[str, str]:
    """Is int(jnp.log2(64.0)) 6 in float64?"""
    import jax.numpy as jnp

    found = int(jnp.log2(jnp.array(64.0)))
    return ("exact" if found == 6 else "inexact"), f"int(jnp.log2(64.0)): {found}"


def log10() -> tuple[str, str]:
    """Is jnp.log10 of 10, 100 and 1000 equal to 1, 2 and 3 in float32?"""
    import jax.numpy as jnp
    import numpy as np

    got = np.asarray(jnp.log10(jnp.array([10.0, 100.0, 1000.0])))
    return ("exact" if got.tolist() == [1.0, 2.0, 3.0] else "inexact"), str(got.tolist())


def round_it() -> None:
    """jnp.round(jnp.log10(x)), converted to int32, gives the exponents of 10, 100, 1000 and 1e9."""
    import jax.numpy as jnp

    x = jnp.array([10.0, 100.0, 1000.0, 1e9])
    assert jnp.round(jnp.log10(x)).astype("int32").tolist() == [1, 2, 3, 9]


def round_each_power() -> None:
    """jnp.round(jnp.log10(x)) gives the exponents of powers of ten in float32, bfloat16, float16 and int32."""
    import jax.numpy as jnp

    wide, narrow = range(-37, 39), range(-4, 5)
    for dtype, powers in (("float32", wide), ("bfloat16", wide), ("float16", narrow), ("int32", range(10))):
        x = jnp.asarray([10.0**k for k in powers], dtype)
        assert jnp.round(jnp.log10(x)).astype("int32").tolist() == list(powers)


def log10_bfloat16() -> tuple[str, str]:
    """Is int(jnp.log10(10)) 1 in bfloat16?"""
    import jax.numpy as jnp

    found = int(jnp.log10(jnp.array(10, "bfloat16")))
    return ("exact" if found == 1 else "inexact"), f"int(jnp.log10(10)): {found}"


# Code that takes the logarithm for a whole number.
_WHOLE = "seen(within('builtins.int', 'math.floor', 'math.ceil', 'jax.numpy.floor', 'jax.numpy.ceil'))"
_LOG2 = f"jax.numpy.log2 if {_WHOLE} and not seen(within('jax.numpy.round', 'builtins.round'))"
_LOG10 = _LOG2.replace("log2", "log10")
_INTEGERS = (*("builtins.int", "int32", "int64"), *(f"{of}.int{n}" for of in ("jax.numpy", "numpy") for n in (32, 64)))
_ASTYPE2 = f"jax.Array.astype(dtype) if dtype in {_INTEGERS} and within('jax.numpy.log2')"
_ASTYPE10 = _ASTYPE2.replace("log2", "log10")
_BFLOAT16 = (
    "jax.numpy.log2 if uses('jax.numpy.bfloat16') and without('jax.numpy.frexp')"
    " and not seen(within('jax.numpy.sum', 'jax.numpy.mean', 'jax.numpy.round'))"
)
_ROUND = Workaround(
    "Round the logarithm of a power of ten before converting it: jnp.round(jnp.log10(x)).",
    round_it,
    elsewhere=round_each_power,
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#40419 jax#31102", fix="jax#31241", change="jax#40430"),
    control=near,
    behaviours={"inexact": "affected", "exact": "clear"},
    rules=(Rule("inexact", "", "jax#40419 is open"),),
    workaround=Workaround(
        "For normal real x, write m,e = jnp.frexp(x); jnp.where(m==0.5, e-1, jnp.log2(x)); gradient 0 where m==0.5.",
        by_frexp,
        elsewhere=Elsewhere(
            log2,
            numpy_log2,
            (
                *("positive float32 matrix", "unit float32 vector", "positive int32 batch"),
                *("positive float32 scalar", "float32 empty"),
            ),
            rtol=1e-6,
        ),
    ),
    cases=(
        Case(float32, touches=(_LOG2, _ASTYPE2)),
        Case(bfloat16, touches=(_BFLOAT16,)),
        Case(float64, x64=True, touches=(_LOG2,)),
        Case(
            log10,
            rules=(Rule("inexact", "jax<0.7.2"), Rule("exact", "", "jax#31241 (af032974ac)")),
            workaround=_ROUND,
            touches=(_LOG10, _ASTYPE10),
        ),
        Case(
            log10_bfloat16,
            rules=(Rule("exact", "jax<0.7.2"), Rule("inexact", "", "jax#31241 (af032974ac)")),
            workaround=_ROUND,
            touches=(f"{_LOG10} and uses('jax.numpy.bfloat16')",),
        ),
    ),
)
