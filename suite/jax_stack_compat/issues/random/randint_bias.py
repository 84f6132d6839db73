"""jax.random.randint favours low numbers if the span is wide for the dtype

`randint` draws twice the dtype's bits, but a product in `2**nbits % span` overflows to 0, which drops half of the bits.
jax#27742 samples 8-bit and 16-bit integers with 32 bits, behind a flag because downstream code broke; jax@a7b01146f2
turns the flag on. For `int32`, the docstring documents the bias, and names rounded uniform floats as an alternative. As
the docstring warns, rounded floats miss most integers of a wide span (`other_spans`).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def uint8() -> tuple[str, str]:
    """Are 56 % of jax.random.randint(key, shape, 0, 100, dtype="uint8") below 56?"""
    import jax
    import numpy as np

    x = np.asarray(jax.random.randint(jax.random.PRNGKey(0), (200_000,), 0, 100, dtype="uint8"))
    share = float((x < 56).mean())
    behaviour = "uniform" if abs(share - 0.56) < 0.01 else "biased" if abs(share - 168 / 256) < 0.01 else "other"
    return behaviour, f"{share:.3f} are below 56, should be 0.56"


def small_spans() -> None:
    """Draws of int32 below 100, of int16 below 3, and of uint8 below 128 (a power of 2) are uniform."""
    import jax
    import numpy as np

    for span, dtype in ((100, "int32"), (3, "int16"), (128, "uint8")):
        x = np.asarray(jax.random.randint(jax.random.PRNGKey(0), (200_000,), 0, span, dtype=dtype))
        assert abs(float((x < span // 2).mean()) - (span // 2) / span) < 0.01


def cast_after() -> None:
    """int32 draws below 100 and 40000, cast to uint8 and uint16, are uniform."""
    import jax
    import numpy as np

    for span, dtype, below in ((100, "uint8", 56), (40_000, "uint16", 25_536)):
        x = np.asarray(jax.random.randint(jax.random.PRNGKey(0), (200_000,), 0, span, dtype="int32").astype(dtype))
        assert abs(float((x < below).mean()) - below / span) < 0.01


def uint16() -> tuple[str, str]:
    """Are 63.8 % of jax.random.randint(key, shape, 0, 40000, dtype="uint16") below 25536?"""
    import jax
    import numpy as np

    x = np.asarray(jax.random.randint(jax.random.PRNGKey(0), (200_000,), 0, 40_000, dtype="uint16"))
    share = float((x < 25_536).mean())
    behaviour = "uniform" if abs(share - 0.6384) < 0.01 else "biased" if abs(share - 0.7793) < 0.01 else "other"
    return behaviour, f"{share:.3f} are below 25536, should be 0.638"


def int32() -> tuple[str, str]:
    """Are 38.6 % of jax.random.randint(key, shape, 0, 1800000000, dtype="int32") below 694967296?"""
    import jax
    import numpy as np

    x = np.asarray(jax.random.randint(jax.random.PRNGKey(0), (200_000,), 0, 1_800_000_000, dtype="int32"))
    share = float((x < 694_967_296).mean())
    behaviour = "uniform" if abs(share - 0.3861) < 0.01 else "biased" if abs(share - 0.4854) < 0.01 else "other"
    return behaviour, f"{share:.3f} are below 694967296, should be 0.386"


def two_digits() -> None:
    """Two draws, below 45000 and below 40000, combine to a uniform number below 1800000000."""
    import jax
    import numpy as np

    high, low = jax.random.split(jax.random.PRNGKey(0))
    high, low = jax.random.randint(high, (200_000,), 0, 45_000), jax.random.randint(low, (200_000,), 0, 40_000)
    assert abs(float((np.asarray(high * 40_000 + low) < 694_967_296).mean()) - 0.3861) < 0.01


def other_spans() -> None:
    """Casts and combined draws are uniform over other spans; in a wide span, over 99 % of rounded floats are even."""
    import jax
    import numpy as np

    one, other = jax.random.split(jax.random.PRNGKey(5))
    for dtype, low, span in (("int8", -100, 100), ("uint8", 0, 255), ("int16", -5_000, 25_000)):
        x = jax.random.randint(one, (400, 500), low, low + span).astype(dtype).astype(int) - low
        assert 0 <= x.min() <= x.max() < span
        assert abs(float((x < 2**16 % span).mean()) - 2**16 % span / span) < 0.005
    for low, first, second in ((0, 46_341, 46_340), (-(2**30), 30_000, 50_000)):
        digits = jax.random.randint(one, (400, 500), 0, first), jax.random.randint(other, (400, 500), 0, second)
        x, span = np.asarray(digits[0] * second + digits[1] + low, np.int64) - low, first * second
        assert 0 <= x.min() <= x.max() < span
        assert abs(float((x < 2**32 % span).mean()) - 2**32 % span / span) < 0.005
        assert abs(float((x % 2).mean()) - 0.5) < 0.005
    floats = jax.random.uniform(one, (200_000,), minval=-0.5, maxval=1_800_000_000 - 0.5)
    assert (np.asarray(floats.round().astype("int32")) % 2).mean() < 0.01


def _of(bits: int, condition: str) -> tuple[str]:
    """Return the touch of randint with a dtype of `bits` bits, in six spellings, under a condition."""
    dtypes = tuple(f"{of}{sign}int{bits}" for of in ("jax.numpy.", "numpy.", "") for sign in ("u", ""))
    return (f"jax.random.randint(key, shape, minval, maxval, dtype) if dtype in {dtypes} and {condition}",)


# Spans that divide the number of values of a dtype are uniform, narrow ones nearly so.
_OF_8_BITS = "not (minval == 0 and (maxval <= 16 or maxval in (32, 64, 127, 128, 255, 256)))"
_OF_16_BITS = (
    "(minval < -1024 or maxval > 1024) and maxval not in (2**11, 2**12, 2**13, 2**14, 2**15, 2**15 - 1, 2**16)"
)
_WIDE = (
    "(minval < -100_000_000 or maxval > 100_000_000) and maxval not in (2**27, 2**28, 2**29, 2**30, 2**31, 2**31 - 1)"
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        report="jax#27702", fix="jax@a7b01146f2", change="jax#27742", docs="jax:_autosummary/jax.random.randint.html"
    ),
    touches=("jax_safer_randint",),
    control=small_spans,
    behaviours={"biased": "affected", "uniform": "clear", "other": "different"},
    rules=(
        Rule("biased", "jax<0.7.2", "jax_safer_randint is off by default"),
        Rule("uniform", "", "a7b01146f2 turns on a flag of jax#27742, with which randint draws 32 bits for a number"),
    ),
    workaround=Workaround(
        "Draw without dtype=, and cast: jax.random.randint(key, shape, minval, maxval).astype(dtype).",
        cast_after,
        elsewhere=other_spans,
    ),
    cases=(
        Case(uint8, touches=_of(8, _OF_8_BITS)),
        Case(uint16, touches=_of(16, _OF_16_BITS)),
        Case(
            int32,
            behaviours={"biased": "documented", "uniform": "clear", "other": "different"},
            rules=(
                Rule("biased", "", "a comment in the source documents the bias, and since jax#27742 the docstring"),
            ),
            workaround=Workaround(
                "For span a*b, each up to 65536, draw i<a, j<b from split keys: i*b+j.",
                two_digits,
                elsewhere=other_spans,
            ),
            touches=(f"jax.random.randint(key, shape, minval, maxval) if {_WIDE}",),
        ),
    ),
)
