"""jnp.any, all and conversions to bool take an imaginary number for 0

    jnp.any(jnp.array([1j]))                   # False, NumPy: True
    jnp.array([1j]).astype(bool)               # [False] up to jax 0.4.26, [True] from 0.4.27

A complex number is true where it is not 0, in NumPy, in Python, and in the array API standard (array-api#442 says it of
`any` and `all`). XLA's conversion to truth values takes the real part. jax#20644 mended `x.astype(bool)` in 0.4.27 and
says why: the primitive has the wrong semantics; the changelog has it as settled.

There is a ComplexWarning, which is hidden by whoever works with complex numbers.

Seen in these runs:

- `jnp.any` and `jnp.all` of imaginary numbers are False, from 0.4.18 on.
- `jnp.array(x, dtype=bool)` takes 1j for False, on the same releases.
- `jnp.count_nonzero` counts 1j, and `bool(x[0])` is True: JAX disagrees with itself.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare, members


def any_and_all() -> tuple[str, str]:
    """Are jnp.any and jnp.all of imaginary numbers True?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([1j, 0.5j], np.complex64)
    return compare([jnp.any(jnp.asarray(x)), jnp.all(jnp.asarray(x))], [np.any(x), np.all(x)])


def reals_and_comparisons() -> None:
    """Where the real part is not 0 it is right, and so is what compares with 0."""
    import jax.numpy as jnp

    assert bool(jnp.any(jnp.array([0, 1 + 1j])))
    assert not bool(jnp.any(jnp.array([0j, 0j])))
    assert int(jnp.count_nonzero(jnp.array([1j, 0]))) == 1
    assert bool(jnp.array(1j))


def compare_with_zero() -> None:
    """x != 0 says which are not 0, on every release."""
    import jax.numpy as jnp

    x = jnp.array([1j, 0.5j, 0.0])
    assert (x != 0).tolist() == [True, True, False]
    assert bool(jnp.any(x != 0))
    assert bool(jnp.all(x[:2] != 0))


def array() -> tuple[str, str]:
    """Is jnp.array(x, dtype=bool) of 1j, 0 and 1 that of NumPy?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([1j, 0.0, 1.0], np.complex64)
    return compare(jnp.array(jnp.asarray(x), dtype=bool), np.array(x, dtype=bool))


def astype() -> tuple[str, str]:
    """Is x.astype(bool) of 1j, 0 and 1 that of NumPy?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([1j, 0.0, 1.0], np.complex64)
    return compare(jnp.asarray(x).astype(bool), x.astype(bool))


_COMPLEX = (
    "uses('jax.numpy.complex64', 'jax.numpy.complex128', 'jax.numpy.complexfloating', 'jax.lax.complex', "
    "'jax.numpy.fft.fft')"
)
# Comparisons and these functions give truth values.
_TRUTHS = ("compare", *members("jax.numpy", "isfinite isinf isnan isclose logical_and logical_not logical_or"))
_NO_TRUTH = f"form(a) not in {_TRUTHS}"
_SURELY = f"not {_COMPLEX.replace('uses', 'without')}"
_BOOL = "dtype in ('builtins.bool', 'numpy.bool_', 'jax.numpy.bool_')"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#6289", fix="jax#20644", discussion="data-apis/array-api#442"),
    control=reals_and_comparisons,
    rules=(Rule("differs"),),
    workaround=Workaround("Compare first: jnp.any(x != 0).", compare_with_zero),
    cases=(
        Case(
            any_and_all,
            touches=members("jax.numpy", "any all", f"(a) if {_NO_TRUTH} and {_COMPLEX}"),
        ),
        Case(
            array,
            touches=(f"jax.numpy.array(object, dtype) if {_BOOL} and {_COMPLEX}", f"jax.numpy.bool_ if {_COMPLEX}"),
        ),
        Case(
            astype,
            rules=(Rule("differs", "jax<0.4.27"), Rule("agrees", "", "jax#20644, and the changelog")),
            touches=(f"jax.Array.astype(dtype) if {_BOOL} and {_SURELY}",),
        ),
    ),
)
