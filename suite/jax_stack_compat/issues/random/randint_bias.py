"""jax.random.randint of 8 and 16 bits favours small numbers by up to half, up to jax 0.7.1

    x = jax.random.randint(key, (200_000,), 0, 100, dtype=jnp.uint8)
    (x < 56).mean()     # 0.656 up to jax 0.7.1, should be 0.56

256 is twice 100 and 56 over, and up to 0.7.1 the numbers below 56 had three of the 256 values and all others two. The
function draws twice as many bits as the dtype has to prevent just that, and multiplies the upper half by
`2**nbits % span`. It computes that as the square of `2**(nbits // 2)`, in the dtype itself, where 16 * 16 is 0: the
upper half is drawn and dropped. jax#27742 has 8 and 16 bits sampled with 32. It is in 0.7.1 behind a flag that is off,
`jax_safer_randint`, and on by default from 0.7.2; the flag went in 0.9.0. All small draws of a seed changed with it.

Seen in these runs:

- uint16 is as wrong where its span is large: of 0 to 40000, 0.78 are below 25536, should be 0.64. (int16 with a span of
  3 is good.)
- **int32, the default, is biased from 0.4.18 on.** Of 0 to 1800000000, 0.485 are below 694967296, should be
  0.386. It is documented, as a bias for large spans.
- Two draws of less than 65536 each, as the digits of a number, have no such bias on these releases.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def uint8() -> tuple[str, str]:
    """Are 56 in 100 of the uint8 from 0 to 100 below 56?"""
    import jax
    import numpy as np

    x = np.asarray(jax.random.randint(jax.random.PRNGKey(0), (200_000,), 0, 100, dtype="uint8"))
    share = float((x < 56).mean())
    behaviour = "uniform" if abs(share - 0.56) < 0.01 else "biased" if abs(share - 168 / 256) < 0.01 else "other"
    return behaviour, f"{share:.3f} are below 56, should be 0.56"


def small_spans() -> None:
    """A span that is small for its dtype, and one that is a power of 2, are uniform."""
    import jax
    import numpy as np

    for span, dtype in ((100, "int32"), (3, "int16"), (128, "uint8")):
        x = np.asarray(jax.random.randint(jax.random.PRNGKey(0), (200_000,), 0, span, dtype=dtype))
        assert abs(float((x < span // 2).mean()) - (span // 2) / span) < 0.01


def cast_after() -> None:
    """Draw in 32 bits, and cast."""
    import jax
    import numpy as np

    for span, dtype, below in ((100, "uint8", 56), (40_000, "uint16", 25_536)):
        x = np.asarray(jax.random.randint(jax.random.PRNGKey(0), (200_000,), 0, span, dtype="int32").astype(dtype))
        assert abs(float((x < below).mean()) - below / span) < 0.01


def uint16() -> tuple[str, str]:
    """Are 638 in 1000 of the uint16 from 0 to 40000 below 25536?"""
    import jax
    import numpy as np

    x = np.asarray(jax.random.randint(jax.random.PRNGKey(0), (200_000,), 0, 40_000, dtype="uint16"))
    share = float((x < 25_536).mean())
    behaviour = "uniform" if abs(share - 0.6384) < 0.01 else "biased" if abs(share - 0.7793) < 0.01 else "other"
    return behaviour, f"{share:.3f} are below 25536, should be 0.638"


def int32() -> tuple[str, str]:
    """Are 386 in 1000 of the int32 from 0 to 1800000000 below 694967296?"""
    import jax
    import numpy as np

    x = np.asarray(jax.random.randint(jax.random.PRNGKey(0), (200_000,), 0, 1_800_000_000, dtype="int32"))
    share = float((x < 694_967_296).mean())
    behaviour = "uniform" if abs(share - 0.3861) < 0.01 else "biased" if abs(share - 0.4854) < 0.01 else "other"
    return behaviour, f"{share:.3f} are below 694967296, should be 0.386"


def two_digits() -> None:
    """1800000000 is 45000 times 40000: one draw for each."""
    import jax
    import numpy as np

    high, low = jax.random.split(jax.random.PRNGKey(0))
    high, low = jax.random.randint(high, (200_000,), 0, 45_000), jax.random.randint(low, (200_000,), 0, 40_000)
    assert abs(float((np.asarray(high * 40_000 + low) < 694_967_296).mean()) - 0.3861) < 0.01


_AFTER = "jax#27742 (7a48ceee01) samples with 32 bits"
# Spans that divide the number of values of a dtype are uniform, small ones nearly so.
_OF_8_BITS = (
    "jax.random.randint(key, shape, minval, maxval, dtype) "
    "if dtype in ('jax.numpy.uint8', 'jax.numpy.int8', 'uint8', 'int8') "
    "and not (minval == 0 and maxval in (1, 2, 4, 8, 16, 32, 64, 127, 128, 255, 256))"
)
_OF_16_BITS = (
    "jax.random.randint(key, shape, minval, maxval, dtype) "
    "if dtype in ('jax.numpy.uint16', 'jax.numpy.int16', 'uint16', 'int16') and (minval < -1024 or maxval > 1024) "
    "and maxval not in (2048, 4096, 8192, 16384, 32767, 32768, 65535, 65536)"
)
_OF_LARGE_SPANS = (
    "jax.random.randint(key, shape, minval, maxval) if (minval < -(10**8) or maxval > 10**8) "
    "and maxval not in (2**27, 2**28, 2**29, 2**30, 2**31, 2**31 - 1)"
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#27702", fix="jax#31527", change="jax#27742"),
    touches=("jax.random.randint", "jax_safer_randint"),
    control=small_spans,
    behaviours={"biased": "affected", "uniform": "clear", "other": "different"},
    rules=(Rule("biased", "jax<0.7.2", "the flag is off"), Rule("uniform", "", _AFTER)),
    cases=(
        Case(
            uint8,
            workaround=Workaround("Draw int32 and cast: randint(...).astype(jnp.uint8).", cast_after),
            touches=(_OF_8_BITS,),
        ),
        Case(
            uint16,
            workaround=Workaround("Draw int32 and cast: randint(...).astype(jnp.uint16).", cast_after),
            touches=(_OF_16_BITS,),
        ),
        Case(
            int32,
            behaviours={"biased": "documented", "uniform": "clear", "other": "different"},
            rules=(Rule("biased", "", "documented as a bias for large spans"),),
            workaround=Workaround("Draw the number in two digits of less than 65536 each.", two_digits),
            touches=(_OF_LARGE_SPANS,),
        ),
    ),
)
