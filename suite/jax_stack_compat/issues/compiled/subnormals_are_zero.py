"""Numbers below 1.2e-38 are 0 in all that is computed on the CPU, and are themselves in what is moved

    x = jnp.array([1e-40])
    x, x + 0, x == 0, jnp.log(x)     # 1e-40, 0, True, -inf on every release; NumPy: 1e-40, 1e-40, False, -92.1

XLA has the processor flush subnormal numbers to zero. jax#4042 and jax#16200 were told that it is meant; "sharp bits"
says so since jax#26668, and that it depends on the backend. jax#26658 is open.

Seen in these runs:

- A number that is equal to 0 keeps its value where it is only moved: `-x` is right.
- `jnp.sort` leaves subnormal numbers in their order, from 0.4.18 on. That is wrong to whoever reads them next.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def arithmetic() -> tuple[str, str]:
    """Is 1e-40 + 0 still 1e-40, and not 0?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([1e-40, -1e-40], np.float32)
    return compare(jnp.asarray(x) + 0, x)


def moved() -> None:
    """A number that is only moved is itself, and one that is normal is as in NumPy."""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([1e-40, -1e-40], np.float32)
    assert np.array_equal(np.asarray(jnp.asarray(x)), x)
    assert np.array_equal(np.asarray(-jnp.asarray(x)), -x)
    assert float(jnp.float32(1.5e-38) + 0) == float(np.float32(1.5e-38))


def scale_up() -> None:
    """Work in logarithms or in a unit in which the numbers are normal; NumPy scales what is subnormal already."""
    import jax.numpy as jnp
    import numpy as np

    x = jnp.asarray(np.array([1e-40, 3e-40], np.float32) * np.float32(2.0**40))
    np.testing.assert_allclose(jnp.log(x) - 40.0 * np.log(2.0), np.log([1e-40, 3e-40]), rtol=1e-4)
    assert bool((x > 0).all())


def comparison() -> tuple[str, str]:
    """Is 1e-40 more than 0, and not equal to it?"""
    import jax.numpy as jnp
    import numpy as np

    x = jnp.asarray(np.array([1e-40], np.float32))
    return compare([(x > 0)[0], (x != 0)[0]], [True, True])


def sort() -> tuple[str, str]:
    """Are subnormal numbers sorted as NumPy sorts them?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([3e-40, -1e-40, 1e-40, 2e-38], np.float32)
    got, wanted = np.asarray(jnp.sort(jnp.asarray(x))), np.sort(x)
    shown = [round(float(each) * 1e40) for each in got]
    return ("agrees" if got.tolist() == wanted.tolist() else "differs"), f"in units of 1e-40: {shown}"


ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(
        report="jax#4042 jax#16200 jax#26658", docs="jax:notebooks/Common_Gotchas_in_JAX.html", discussion="jax#26668"
    ),
    touches=("subnormal numbers",),
    control=moved,
    rules=(Rule("differs", "", "on x86-64; sharp bits has it"),),
    workaround=Workaround("Scale what is computed, or work in logarithms.", scale_up),
    cases=(Case(arithmetic), Case(comparison), Case(sort)),
)
