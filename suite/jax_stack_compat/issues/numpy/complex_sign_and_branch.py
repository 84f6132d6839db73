"""Complex jnp.sign, logsumexp and jnp.geomspace follow NumPy 2

NumPy 2 defines the sign of a complex number as `x / abs(x)`; `jnp.sign` (jax#19390), logsumexp (jax#19389) and
`jnp.geomspace` (jax#20552) follow. jax#19389 follows scipy#19870. In the release of jax#19389, the imaginary part of
`logsumexp` without `return_sign` moved by a multiple of 2π.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround


def logsumexp_sign() -> tuple[str, str]:
    """Does logsumexp(x, return_sign=True) of complex numbers return a real logarithm and a sign of length 1?"""
    import jax
    import jax.numpy as jnp

    got = jax.scipy.special.logsumexp(jnp.array([1 + 1j, 2 - 3j], jnp.complex64), return_sign=True)
    value, sign = (complex(x) for x in got)
    old = abs(value - (1.787990 - 3.351346j)) < 1e-4 and abs(sign - 1) < 1e-4
    new = abs(value - 1.787990) < 1e-4 and abs(sign - (-0.978082 + 0.208219j)) < 1e-4
    return ("old" if old else "numpy-2" if new else "other"), f"{value:.4f}, sign {sign:.4f}"


def real_numbers() -> None:
    """For real numbers, logsumexp with return_sign, jnp.geomspace and jnp.sign return the usual values."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    value, sign = jax.scipy.special.logsumexp(jnp.array([0.0, 0.0]), b=jnp.array([1.0, -3.0]), return_sign=True)
    np.testing.assert_allclose([value, sign], [np.log(2.0), -1.0], rtol=1e-5)
    np.testing.assert_allclose(jnp.geomspace(1.0, 100.0, 3), [1.0, 10.0, 100.0], rtol=1e-5)
    assert jnp.sign(jnp.array([-2.0, 0.0, 3.0])).tolist() == [-1.0, 0.0, 1.0]


def from_one_logarithm() -> None:
    """With z = logsumexp(x), z.real is the logarithm, and jnp.exp(1j * z.imag) is the sign."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    z = jax.scipy.special.logsumexp(jnp.array([1 + 1j, 2 - 3j], jnp.complex64))
    np.testing.assert_allclose(z.real, 1.787990, rtol=1e-5)
    np.testing.assert_allclose(jnp.exp(1j * z.imag), -0.978082 + 0.208219j, rtol=1e-4)


def logarithm_and_sign(x: Any) -> Any:
    """Return log(abs(s)) and the sign of s = sum(exp(x)) from logsumexp(x)."""
    import jax
    import jax.numpy as jnp

    z = jax.scipy.special.logsumexp(x)
    return jnp.stack([z.real, jnp.exp(1j * z.imag)])


def of_numpy_sum(x: Any) -> Any:
    """Return log(abs(s)) and s / abs(s) of s = sum(exp(x)) with NumPy in complex128."""
    import numpy as np

    total = np.sum(np.exp(np.asarray(x, np.complex128)))
    return np.stack([np.log(np.abs(total)), total / np.abs(total)])


def logsumexp() -> tuple[str, str]:
    """Does logsumexp(x) of complex numbers return an imaginary part between -pi and pi?"""
    import jax
    import jax.numpy as jnp

    got = complex(jax.scipy.special.logsumexp(jnp.array([1 + 1j, 2 - 3j], jnp.complex64)))
    old, new = abs(got - (1.787990 - 3.351346j)) < 1e-4, abs(got - (1.787990 + 2.931839j)) < 1e-4
    return ("old" if old else "numpy-2" if new else "other"), f"{got:.4f}"


def sign() -> tuple[str, str]:
    """Does jnp.sign(3 + 4j) return 0.6 + 0.8j?"""
    import jax.numpy as jnp

    got = complex(jnp.sign(jnp.array(3 + 4j, jnp.complex64)))
    return ("old" if got == 1 else "numpy-2" if abs(got - (0.6 + 0.8j)) < 1e-5 else "other"), f"{got:.4f}"


def lax_sign() -> None:
    """jax.lax.sign of complex numbers is x / abs(x), and of 0 it is 0."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x = jnp.array([3 + 4j, -3 + 4j, 0, -2j], jnp.complex64)
    np.testing.assert_allclose(jax.lax.sign(x), [0.6 + 0.8j, -0.6 + 0.8j, 0, -1j], rtol=1e-6)


def unit(x: Any) -> Any:
    """Return jax.lax.sign(x), which is x / abs(x) for complex numbers."""
    import jax

    return jax.lax.sign(x)


def numpy_unit(x: Any) -> Any:
    """Return x / abs(x), and 0 for 0, in complex128."""
    import numpy as np

    z = np.asarray(x, np.complex128)
    return z / np.where(z == 0, 1.0, np.abs(z))


def geomspace() -> tuple[str, str]:
    """Does jnp.geomspace(-1 + 1j, 1 - 16j, 3) have the middle number of NumPy 2?"""
    import jax.numpy as jnp

    got = complex(jnp.geomspace(-1 + 1j, 1 - 16j, 3)[1])
    old, new = abs(got - (4.340021 + 1.958515j)) < 1e-3, abs(got + (4.340021 + 1.958515j)) < 1e-3
    return ("old" if old else "numpy-2" if new else "other"), f"{got:.4f}"


def powers() -> None:
    """Multiplying start by powers of stop / start gives the numbers of NumPy 2's geomspace."""
    import jax.numpy as jnp
    import numpy as np

    start, stop = jnp.asarray(-1 + 1j), jnp.asarray(1 - 16j)
    got = start * (stop / start) ** jnp.linspace(0, 1, 3)
    np.testing.assert_allclose(got, [-1 + 1j, -4.340021 - 1.958515j, 1 - 16j], rtol=1e-4)


def spiral(start: Any, stop: Any) -> Any:
    """Return five points from start to stop."""
    import jax.numpy as jnp

    return start * (stop / start) ** jnp.linspace(0, 1, 5).reshape(5, *[1] * start.ndim)


def shortest_spiral(start: Any, stop: Any) -> Any:
    """Return five points: NumPy's geomspace of the absolute values, with the smaller angle in equal steps."""
    import numpy as np

    start, stop = np.asarray(start, np.complex128), np.asarray(stop, np.complex128)
    part = np.linspace(0, 1, 5).reshape(5, *[1] * start.ndim)
    angle = np.angle(start) + part * np.angle(stop / start)
    return np.geomspace(np.abs(start), np.abs(stop), 5) * np.exp(1j * angle)


_COMPLEX = (
    "uses('jax.numpy.complex64', 'jax.numpy.complex128', 'jax.numpy.complexfloating', 'jax.lax.complex', "
    "'jax.numpy.angle', 'jax.numpy.imag', 'jax.numpy.conj')"
)
_NOT_PARTS = f"{_COMPLEX} and form(x) not in ('jax.numpy.real', 'jax.numpy.imag', 'jax.numpy.abs', '-', 'compare')"
_SUMS = ("complex64 vector", "complex64 matrix", "complex64 scalar", "float32 vector", "positive float32 matrix")


def _logsumexp(condition: str) -> tuple[str, ...]:
    """Return logsumexp of both modules, under a condition, in a project that uses complex numbers."""
    called = f"logsumexp(a, axis, b, keepdims, return_sign) if {condition} and {_COMPLEX}"
    return f"jax.scipy.special.{called}", f"jax.nn.{called}"


ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(
        change="jax#19389 jax#19390 jax#20552",
        docs="jax:changelog.html",
        discussion="scipy/scipy#19870 scipy/scipy#19854 numpy/numpy#26195 jax#6854",
    ),
    control=real_numbers,
    behaviours={"old": "clear", "numpy-2": "documented", "other": "different"},
    rules=(Rule("old", "jax<0.4.24"), Rule("numpy-2", "", "jax#19389 (7d6a134f4e)")),
    workaround=Workaround(
        "For complex x with z=logsumexp(x), take z.real and jnp.exp(1j*z.imag), unless the sum is 0.",
        from_one_logarithm,
        elsewhere=Elsewhere(logarithm_and_sign, of_numpy_sum, _SUMS, rtol=1e-4, atol=1e-5),
    ),
    cases=(
        Case(
            logsumexp_sign,
            touches=_logsumexp("return_sign == True"),
        ),
        Case(
            geomspace,
            rules=(Rule("old", "jax<0.4.26"), Rule("numpy-2", "", "jax#20552 (fd7c85b349)")),
            workaround=Workaround(
                "For complex scalars: start * (stop / start)**jnp.linspace(0, 1, num); ratio between 1e-38 and 1e38.",
                powers,
                elsewhere=Elsewhere(
                    spiral,
                    shortest_spiral,
                    (
                        "complex64 scalar, complex64 scalar",
                        "complex64 vector, complex64 vector",
                        "complex64 matrix, complex64 matrix",
                        "positive float32 vector, positive float32 vector",
                    ),
                    rtol=1e-4,
                    atol=1e-5,
                ),
            ),
            touches=(f"jax.numpy.geomspace(start, stop) if 'complex' in (type(start), type(stop)) or {_COMPLEX}",),
        ),
        Case(
            sign,
            rules=(Rule("old", "jax<0.4.24"), Rule("numpy-2", "", "jax#19390 (fb56224ae0)")),
            workaround=Workaround(
                "Use jax.lax.sign(x), which is x / abs(x) on both sides of the change.",
                lax_sign,
                elsewhere=Elsewhere(
                    unit,
                    numpy_unit,
                    ("complex64 vector", "complex64 batch", "zero complex64 vector", "float32 matrix", "uint8 vector"),
                    rtol=1e-5,
                ),
            ),
            touches=(f"jax.numpy.sign(x) if {_NOT_PARTS}",),
        ),
        Case(
            logsumexp,
            touches=_logsumexp("not return_sign == True"),
        ),
    ),
)
