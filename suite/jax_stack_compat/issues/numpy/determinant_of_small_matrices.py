"""jnp.linalg.det of small matrices returns a wrong sign, NaN or infinity

jax#6543 computed determinants of 2 by 2 and 3 by 3 matrices as sums of products of entries. The sums' rounding errors
could exceed the determinant, and the sums could overflow where the determinant did not (jax#39905). Elimination with
row pivoting replaced the sums, but the product of two pivots still overflows (`overflow`). For speed, jax#34971
computes `slogdet` of 2 by 2 matrices from a sum of products (`slogdet_of_two`).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare


def nearly_equal_entries() -> tuple[str, str]:
    """Does jnp.linalg.det of a 3 by 3 matrix of nearly equal numbers agree with NumPy in float64 within 1%?"""
    import jax.numpy as jnp
    import numpy as np

    a = np.full((3, 3), 41927.867, np.float32)
    np.fill_diagonal(a, 41932.215)
    return compare(jnp.linalg.det(jnp.asarray(a)), np.linalg.det(a.astype(np.float64)), rtol=1e-2)


def slogdet() -> None:
    """jnp.linalg.slogdet of diag(1e20, 1e20, 1e-20), and jnp.linalg.det of a benign matrix, are correct."""
    import jax.numpy as jnp
    import numpy as np

    sign, log = jnp.linalg.slogdet(jnp.diag(jnp.array([1e20, 1e20, 1e-20])))
    np.testing.assert_allclose([sign, log], [1.0, np.log(1e20)], rtol=1e-5)
    np.testing.assert_allclose(jnp.linalg.det(jnp.array([[2.0, 1.0], [1.0, 3.0]])), 5.0, rtol=1e-5)


def from_slogdet() -> None:
    """With sign and log from jnp.linalg.slogdet, sign * jnp.exp(log) is the determinant within 10%."""
    import jax.numpy as jnp
    import numpy as np

    one = jnp.diag(jnp.array([1e20, 1e20, 1e-20]))
    two = 3.0 * jnp.eye(3) + 100000.0
    for matrix, wanted in ((one, 1e20), (two, 2700027.0)):
        sign, log = jnp.linalg.slogdet(matrix)
        np.testing.assert_allclose(sign * jnp.exp(log), wanted, rtol=0.1)


def sign_times_exp(x: Any) -> Any:
    """Return determinants from their signs and logarithms."""
    import jax.numpy as jnp

    sign, log = jnp.linalg.slogdet(x)
    return sign * jnp.exp(log)


def numpy_det(x: Any) -> Any:
    """Return NumPy's determinants in double precision."""
    import numpy as np

    return np.linalg.det(np.asarray(x, np.result_type(x, np.float64)))


def products_of_two() -> tuple[str, str]:
    """Does jnp.linalg.det of [[2e19, 2e19], [2e19, 3e19]] return 2e38?"""
    import jax.numpy as jnp

    return compare(jnp.linalg.det(jnp.array([[2e19, 2e19], [2e19, 3e19]])), 2e38, rtol=1e-2)


def two_by_qr() -> None:
    """jnp.linalg.slogdet(method="qr") returns the logarithms of the determinants 2e38 and 1e40."""
    import jax.numpy as jnp
    import numpy as np

    for matrix, wanted in (([[2e19, 2e19], [2e19, 3e19]], 2e38), ([[1e20, 0.0], [0.0, 1e20]], 1e40)):
        sign, log = jnp.linalg.slogdet(jnp.array(matrix), method="qr")
        np.testing.assert_allclose([sign, log], [1.0, np.log(wanted)], rtol=1e-5)


def det_of_two_by_qr(x: Any) -> Any:
    """Return determinants of the first two rows and columns, with a QR decomposition."""
    import jax.numpy as jnp

    sign, log = jnp.linalg.slogdet(x[..., :2, :2], method="qr")
    return sign * jnp.exp(log)


def numpy_det_of_two(x: Any) -> Any:
    """Return NumPy's determinants of the first two rows and columns, in double precision."""
    import numpy as np

    return np.linalg.det(np.asarray(x[..., :2, :2], np.float64))


def slogdet_of_two() -> tuple[str, str]:
    """Does jnp.linalg.slogdet of diag(1e20, 1e20) return the logarithm of 1e40?"""
    import jax.numpy as jnp
    import numpy as np

    sign, log = jnp.linalg.slogdet(jnp.diag(jnp.array([1e20, 1e20])))
    return compare([sign, log], [1.0, np.log(1e40)], rtol=1e-5)


def overflow() -> tuple[str, str]:
    """Is jnp.linalg.det correct within 10% for diag(1e20, 1e20, 1e-20) and diag(1e-30, 1e-30, 1e30)?"""
    import jax.numpy as jnp

    given = [float(jnp.linalg.det(jnp.diag(jnp.array(d)))) for d in ([1e20, 1e20, 1e-20], [1e-30, 1e-30, 1e30])]
    right = 0.9e20 < given[0] < 1.1e20 and 0.9e-30 < given[1] < 1.1e-30
    return "right" if right else "wrong", f"{given}, should be 1e20 and 1e-30"


def cancellation() -> tuple[str, str]:
    """Is jnp.linalg.det correct within 10% for 3 * eye(3) + 100000 and for 2 * eye(3) + 30000?"""
    import jax.numpy as jnp

    given = [round(float(jnp.linalg.det(n * jnp.eye(3) + large))) for n, large in ((3.0, 100000.0), (2.0, 30000.0))]
    right = abs(given[0] / 2700027 - 1.0) < 0.1 and abs(given[1] / 360008 - 1.0) < 0.1
    return "right" if right else "wrong", f"{given}, are 2700027 and 360008"


_PIVOTS = "elimination with row pivoting replaced the sums of products"
_BENIGN = ("jax.numpy.eye", "jax.numpy.identity", "jax.random.normal", "jax.random.uniform")
_UNSEEN = f"unseen and without('jax_enable_x64') and form(a) not in {_BENIGN}"
_ELSEWHERE = Elsewhere(
    det_of_two_by_qr,
    numpy_det_of_two,
    ("float32 square", "float32 batch", "positive float32 batch", "zero float32 square", "int32 square"),
    rtol=1e-4,
    atol=1e-4,
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#39905", cause="jax#6543 jax#34971"),
    touches=tuple(f"{each}.linalg.det(a) if {_UNSEEN}" for each in ("jax.numpy", "jax.scipy")),
    control=slogdet,
    rules=(Rule("differs", "jax<0.11.1"), Rule("agrees", "", _PIVOTS)),
    workaround=Workaround(
        "For 3 by 3 float32, take sign*jnp.exp(log) of jnp.linalg.slogdet(a): slower, no gradient if singular.",
        from_slogdet,
        elsewhere=Elsewhere(
            sign_times_exp,
            numpy_det,
            (
                *("float32 square", "float32 batch", "positive float32 batch", "zero float32 square"),
                *("int32 square", "complex64 square"),
            ),
            rtol=1e-4,
            atol=1e-4,
        ),
    ),
    cases=(
        Case(nearly_equal_entries),
        Case(
            products_of_two,
            workaround=Workaround(
                'For invertible 2 by 2 float32, take sign*jnp.exp(log) of jnp.linalg.slogdet(a, method="qr"): slower.',
                two_by_qr,
                elsewhere=_ELSEWHERE,
            ),
        ),
        Case(
            slogdet_of_two,
            rules=(Rule("agrees", "jax<0.10.0"), Rule("differs", "", "jax#34971 (812f268014)")),
            workaround=Workaround(
                'For invertible 2 by 2 float32, call jnp.linalg.slogdet(a, method="qr"), which is slower.',
                two_by_qr,
                elsewhere=_ELSEWHERE,
            ),
            touches=(f"jax.numpy.linalg.slogdet(a, method) if {_UNSEEN} and not method == 'qr'",),
        ),
        Case(overflow, behaviours={"right": "clear"}, rules=(Rule("wrong"),)),
        Case(
            cancellation,
            behaviours={"right": "clear"},
            rules=(Rule("wrong", "jax<0.11.1"), Rule("right", "", _PIVOTS)),
        ),
    ),
)
