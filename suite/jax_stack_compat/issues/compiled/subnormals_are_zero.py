"""Subnormal float32 numbers, below 2**-126, count as 0 in CPU arithmetic

XLA lets the CPU flush subnormal numbers to zero, because they slow down computations. The flushing is intended
(jax#4042, jax#16200), and the Sharp Bits page describes it since jax#26668. A stored subnormal number keeps its value
(`moved`), but `arithmetic`, `comparison` and `sort` treat it as 0. jax#37762 reports flushing in bfloat16, and none in
float16.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def arithmetic() -> tuple[str, str]:
    """Does jnp.asarray(1e-40) + 0 stay 1e-40?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([1e-40, -1e-40], np.float32)
    return compare(jnp.asarray(x) + 0, x)


def moved() -> None:
    """JAX stores and negates subnormal numbers exactly, and adds 0 to a normal number exactly."""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([1e-40, -1e-40], np.float32)
    assert np.array_equal(np.asarray(jnp.asarray(x)), x)
    assert np.array_equal(np.asarray(-jnp.asarray(x)), -x)
    assert float(jnp.float32(1.5e-38) + 0) == float(np.float32(1.5e-38))


def scale_up() -> None:
    """NumPy scales subnormal numbers by 2**40; jnp.log of the result agrees with NumPy."""
    import jax.numpy as jnp
    import numpy as np

    x = jnp.asarray(np.array([1e-40, 3e-40], np.float32) * np.float32(2.0**40))
    np.testing.assert_allclose(jnp.log(x) - 40.0 * np.log(2.0), np.log([1e-40, 3e-40]), rtol=1e-4)
    assert bool((x > 0).all())


def scaled_logarithm(x: Any) -> Any:
    """Return logarithms of numbers around 1e-40, which NumPy scales first."""
    import jax.numpy as jnp
    import numpy as np

    small = np.asarray(x, np.float32) * np.float32(1e-40)
    return jnp.log(jnp.asarray(small * np.float32(2.0**40))) - 40.0 * np.log(2.0)


def numpy_logarithm(x: Any) -> Any:
    """Return NumPy's logarithms, in float64."""
    import numpy as np

    return np.log(np.asarray(x, np.float32) * np.float32(1e-40), dtype=np.float64)


def comparison() -> tuple[str, str]:
    """Are jnp.asarray(1e-40) > 0 and != 0 True?"""
    import jax.numpy as jnp
    import numpy as np

    x = jnp.asarray(np.array([1e-40], np.float32))
    return compare([(x > 0)[0], (x != 0)[0]], [True, True])


def sort() -> tuple[str, str]:
    """Does jnp.sort order subnormal numbers as NumPy does?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([3e-40, -1e-40, 1e-40, 2e-38], np.float32)
    got, wanted = np.asarray(jnp.sort(jnp.asarray(x))), np.sort(x)
    shown = [round(float(each) * 1e40) for each in got]
    return ("agrees" if got.tolist() == wanted.tolist() else "differs"), f"in units of 1e-40: {shown}"


ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(
        report="jax#4042 jax#16200 jax#26658",
        docs="jax:notebooks/Common_Gotchas_in_JAX.html",
        discussion="jax#26668 jax#37762",
    ),
    touches=("subnormal numbers",),
    control=moved,
    rules=(Rule("differs", "", "on x86-64; JAX's Sharp Bits page documents the flushing"),),
    workaround=Workaround(
        "In NumPy, scale subnormal inputs by a power of 2, and correct the results.",
        scale_up,
        elsewhere=Elsewhere(
            scaled_logarithm,
            numpy_logarithm,
            ("positive float32 matrix", "unit float32 vector", "positive float16 scalar", "float32 empty"),
            rtol=1e-4,
        ),
    ),
    cases=(Case(arithmetic), Case(comparison), Case(sort)),
)
