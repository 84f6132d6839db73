"""jnp.any, jnp.all, astype and jnp.array treat 1j as False in JAX arrays

A complex number is true unless it is 0 (array-api#442), but JAX converts the real part to bool. A maintainer calls
taking the real part "the wrong semantics" in jax#20644, which corrects `astype`. `jnp.any`, `jnp.all` and `jnp.array`
still convert the real part (`any_and_all`, `array`). jax#6290 hid the ComplexWarning of `jnp.any` and `jnp.all`, which
jax#6289 had reported.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare, members


def astype() -> tuple[str, str]:
    """Does x.astype(bool) of 1j, 0 and 1 agree with NumPy?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([1j, 0.0, 1.0], np.complex64)
    return compare(jnp.asarray(x).astype(bool), x.astype(bool))


def reals_and_comparisons() -> None:
    """jnp.any agrees with NumPy for 1 + 1j and 0; jnp.count_nonzero and bool agree for 1j."""
    import jax.numpy as jnp

    assert bool(jnp.any(jnp.array([0, 1 + 1j])))
    assert not bool(jnp.any(jnp.array([0j, 0j])))
    assert int(jnp.count_nonzero(jnp.array([1j, 0]))) == 1
    assert bool(jnp.array(1j))


def compare_with_zero() -> None:
    """x != 0, jnp.any(x != 0) and jnp.all(x != 0) agree with NumPy for 1j, 0.5j and 0."""
    import jax.numpy as jnp

    x = jnp.array([1j, 0.5j, 0.0])
    assert (x != 0).tolist() == [True, True, False]
    assert bool(jnp.any(x != 0))
    assert bool(jnp.all(x[:2] != 0))


def truth_values(x: Any) -> Any:
    """Return x != 0, jnp.any(x != 0) and jnp.all(x != 0) in one array."""
    import jax.numpy as jnp

    return jnp.concatenate([jnp.ravel(x != 0), jnp.stack([jnp.any(x != 0), jnp.all(x != 0)])])


def numpy_truth_values(x: Any) -> Any:
    """Return x.astype(bool), np.any(x) and np.all(x) of a NumPy array in one array."""
    import numpy as np

    return np.concatenate([np.ravel(x.astype(bool)), [np.any(x), np.all(x)]])


def any_and_all() -> tuple[str, str]:
    """Do jnp.any and jnp.all of imaginary numbers return True?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([1j, 0.5j], np.complex64)
    return compare([jnp.any(jnp.asarray(x)), jnp.all(jnp.asarray(x))], [np.any(x), np.all(x)])


def array() -> tuple[str, str]:
    """Does jnp.array(x, dtype=bool) of a JAX array of 1j, 0 and 1 agree with NumPy?"""
    import jax.numpy as jnp
    import numpy as np

    x = np.array([1j, 0.0, 1.0], np.complex64)
    return compare(jnp.array(jnp.asarray(x), dtype=bool), np.array(x, dtype=bool))


_NAMES = (
    "('jax.numpy.complex64', 'jax.numpy.complex128', 'jax.numpy.complexfloating', 'jax.lax.complex', "
    "'jax.numpy.fft.fft', 'jax.numpy.fft.rfft', 'jax.numpy.fft.ifft', 'jax.numpy.fft.fft2', 'jax.numpy.fft.fftn')"
)
_COMPLEX = f"uses{_NAMES}"
# Comparisons, and functions that return truth values or real numbers.
_TRUTHS = (
    "compare",
    *members("jax.numpy", "isfinite isinf isnan isclose isin isreal iscomplex equal not_equal less greater"),
    *members("jax.numpy", "logical_and logical_not logical_or logical_xor real imag abs angle"),
)
_BOOL = "dtype in ('builtins.bool', 'numpy.bool_', 'jax.numpy.bool_', 'jax.numpy.bool')"
# NumPy converts a list or a tuple of numbers, and a number.
_ARRAY = f"(object, dtype) if {_BOOL} and type(object) not in ('list', 'tuple', 'complex') and {_COMPLEX}"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(fix="jax#20644", change="jax#6290", discussion="jax#6289 data-apis/array-api#442"),
    control=reals_and_comparisons,
    rules=(Rule("differs"),),
    workaround=Workaround(
        "Write x != 0, and jnp.any(x != 0), for numbers that are not subnormal.",
        compare_with_zero,
        elsewhere=Elsewhere(
            truth_values,
            numpy_truth_values,
            (
                *("complex64 matrix", "zero complex64 vector", "complex64 scalar", "complex64 empty"),
                *("float32 matrix", "int32 vector", "bool batch"),
            ),
        ),
    ),
    cases=(
        Case(
            astype,
            rules=(Rule("differs", "jax<0.4.27"), Rule("agrees", "", "jax#20644 (e07325a672)")),
            touches=(
                f"jax.Array.astype(dtype) if {_BOOL} and not without{_NAMES}",
                f"jax.numpy.astype(x, dtype) if {_BOOL} and not without{_NAMES}",
            ),
        ),
        Case(
            any_and_all,
            touches=members("jax.numpy", "any all", f"(a) if form(a) not in {_TRUTHS} and {_COMPLEX}"),
        ),
        Case(
            array,
            touches=(
                *members("jax.numpy", "array asarray", _ARRAY),
                f"jax.numpy.bool_(x) if seen(given(x)) and {_COMPLEX}",
            ),
        ),
    ),
)
