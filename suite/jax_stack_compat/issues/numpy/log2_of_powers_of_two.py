"""jnp.log2 of powers of two is not exact, and jnp.log10 of 10 was not 1

    jnp.log2(jnp.array(8192.0))            # 12.999999, NumPy: 13
    int(jnp.log2(jnp.array(8192.0)))       # 12
    int(jnp.log10(jnp.array(10.0)))        # 0 up to jax 0.7.1, should be 1

Both are the natural logarithm, divided by that of the base or multiplied by its inverse, so they are rounded twice.
Converted to an integer, such a number is one too small: a number of bits, of levels of a tree, of digits. jax#40419
counts 46 of the 254 powers of float32 and 105 of bfloat16. jax#31102 reports log10, for which jax#31241 multiplies by
the inverse, in 0.7.2; jax#40430 does so for log2.

Seen in these runs:

- 46 powers of float32 were inexact on every release, also where log2 multiplies; float16 had 10 of 30.
- Those of bfloat16 were 105 where log2 divides, and 72 where it multiplies.
- From 0.7.2 on log10 of 10, 100 and 1000 is exact in float32 (case `log10`); 14 powers were not, 1e9 the least above 1.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def float32() -> tuple[str, str]:
    """Is log2 of the powers of two from 2 to 2**30 an integer, in float32?"""
    import jax.numpy as jnp
    import numpy as np

    k = np.arange(1.0, 31.0, dtype=np.float32)
    wrong = k[np.asarray(jnp.log2(jnp.asarray(2**k))) != k]
    return ("inexact", f"not of 2**{wrong[0]:.0f}") if wrong.size else ("exact", "all are")


def near() -> None:
    """Each is within a few units in the last place."""
    import jax.numpy as jnp
    import numpy as np

    k = np.arange(1.0, 31.0, dtype=np.float32)
    np.testing.assert_allclose(jnp.log2(jnp.asarray(2**k)), k, rtol=1e-6)
    np.testing.assert_allclose(jnp.log10(jnp.array([10.0, 100.0, 1000.0])), [1.0, 2.0, 3.0], rtol=1e-6)


def by_frexp() -> None:
    """The exponent by jnp.frexp, and log2 of what is left, in float32."""
    import jax.numpy as jnp
    import numpy as np

    k = np.arange(-126, 128)
    for dtype in ("float32", "bfloat16"):
        x = jnp.asarray(2.0**k, dtype)
        m, e = jnp.frexp(x.astype("float32"))
        assert (e - 1 + jnp.log2(2 * m)).astype(dtype).astype("float32").tolist() == k.tolist()


def bfloat16() -> tuple[str, str]:
    """Is it, in bfloat16?"""
    import jax.numpy as jnp
    import numpy as np

    k = np.arange(1.0, 31.0, dtype=np.float32)
    wrong = k[np.asarray(jnp.log2(jnp.asarray(2**k, "bfloat16")).astype("float32")) != k]
    return ("inexact", f"not of 2**{wrong[0]:.0f}") if wrong.size else ("exact", "all are")


def log10() -> tuple[str, str]:
    """Is log10 of 10, 100 and 1000 an integer, in float32?"""
    import jax.numpy as jnp
    import numpy as np

    got = np.asarray(jnp.log10(jnp.array([10.0, 100.0, 1000.0])))
    return ("exact" if got.tolist() == [1.0, 2.0, 3.0] else "inexact"), str(got.tolist())


def round_it() -> None:
    """jnp.round before the conversion, where a power is expected."""
    import jax.numpy as jnp

    x = jnp.array([10.0, 100.0, 1000.0, 1e9])
    assert jnp.round(jnp.log10(x)).astype("int32").tolist() == [1, 2, 3, 9]


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#40419 jax#31102", fix="jax#31241", change="jax#40430"),
    control=near,
    behaviours={"inexact": "affected", "exact": "clear"},
    rules=(Rule("inexact", "", "jax#40419 is open"),),
    workaround=Workaround("m, e = jnp.frexp(x.astype('float32')); e - 1 + jnp.log2(2 * m)", by_frexp),
    cases=(
        Case(float32, touches=("jax.numpy.log2 if uses('jax.numpy.floor', 'jax.numpy.ceil')",)),
        Case(bfloat16, touches=("jax.numpy.log2 if uses('jax.numpy.bfloat16') and without('jax.numpy.frexp')",)),
        Case(
            log10,
            rules=(Rule("inexact", "jax<0.7.2"), Rule("exact", "", "jax#31241 (af032974ac)")),
            workaround=Workaround("Round before you convert to an integer: jnp.round(jnp.log10(x)).", round_it),
            touches=("jax.numpy.log10 if uses('jax.numpy.floor', 'jax.numpy.ceil')",),
        ),
    ),
)
