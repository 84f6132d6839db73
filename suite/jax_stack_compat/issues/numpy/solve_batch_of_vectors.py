"""jnp.linalg.solve(a, b) reads a batch of vectors in b as one matrix

Since jax#25741, `jnp.linalg.solve` follows NumPy 2, and no longer supports a batch of vectors (changelog). If the last
two axes of `b` fit as a matrix, JAX solves each system for all its columns (`square_batch`); otherwise JAX raises a
ValueError (`other_batch`, dynamax#389). jax#25741 also changed `jax.scipy.linalg.solve`, except with `assume_a="pos"`;
the documentation of `jax.scipy.linalg.solve` still allows a `b` of shape `(..., N)`.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def square_batch() -> tuple[str, str]:
    """Does jnp.linalg.solve of shapes (2, 2, 2) and (2, 2) solve one system for each vector?"""
    import jax.numpy as jnp
    import numpy as np

    a, b = np.array([[[2.0, 1.0], [1.0, 3.0]], [[4.0, 0.0], [1.0, 2.0]]]), np.array([[1.0, 2.0], [3.0, 4.0]])
    return compare(jnp.linalg.solve(a, b), [np.linalg.solve(*pair) for pair in zip(a, b, strict=True)], rtol=1e-5)


def control_unambiguous() -> None:
    """With one vector, and with a batch of matrices, jnp.linalg.solve agrees with NumPy."""
    import jax.numpy as jnp
    import numpy as np

    a = np.array([[[2.0, 1.0], [1.0, 3.0]], [[4.0, 0.0], [1.0, 2.0]]])
    for matrix, b in ((a[0], np.array([1.0, 2.0])), (a, np.ones((2, 2, 3)))):
        assert np.allclose(jnp.linalg.solve(matrix, b), np.linalg.solve(matrix, b), rtol=1e-5)


def a_column_each() -> None:
    """With `b[..., None]`, jnp.linalg.solve and jax.scipy.linalg.solve solve one system per vector."""
    import jax.numpy as jnp
    import jax.scipy.linalg
    import numpy as np

    a, b = np.array([[[2.0, 1.0], [1.0, 3.0]], [[4.0, 1.0], [1.0, 2.0]]]), np.array([[1.0, 2.0], [3.0, 4.0]])
    wanted = [np.linalg.solve(*pair) for pair in zip(a, b, strict=True)]
    for kind in ("gen", "pos"):
        assert np.allclose(jax.scipy.linalg.solve(a, b[..., None], assume_a=kind)[..., 0], wanted, rtol=1e-5), kind
    assert np.allclose(jnp.linalg.solve(a, b[..., None])[..., 0], wanted, rtol=1e-5)


def other_batches() -> None:
    """With `b[..., None]`, both modules' solve agrees with NumPy for four batch shapes, in float32 and complex64."""
    import jax.numpy as jnp
    import jax.scipy.linalg
    import numpy as np

    for batch in ((3,), (2, 3), (0,), ()):
        for dtype in (np.float32, np.complex64):
            a = np.cos(np.arange(9 * np.prod(batch, dtype=int))).reshape(*batch, 3, 3) + 4 * np.eye(3)
            b = a[..., 0].astype(dtype) * (1 if dtype == np.float32 else 1j)
            wanted = np.linalg.solve(a, b[..., None])[..., 0]
            for solve in (jnp.linalg.solve, jax.scipy.linalg.solve):
                np.testing.assert_allclose(solve(a.astype(dtype), b[..., None])[..., 0], wanted, rtol=1e-4, atol=1e-5)


def other_batch() -> tuple[str, str]:
    """Does jnp.linalg.solve of shapes (3, 2, 2) and (3, 2) solve one system for each vector?"""
    import jax.numpy as jnp
    import numpy as np

    a, b = np.eye(2) * [[[1.0]], [[2.0]], [[4.0]]], np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    return compare(jnp.linalg.solve(a, b), [np.linalg.solve(*pair) for pair in zip(a, b, strict=True)], rtol=1e-5)


def scipy_square_batch() -> tuple[str, str]:
    """Does jax.scipy.linalg.solve of shapes (2, 2, 2) and (2, 2) solve one system for each vector?"""
    import jax.scipy.linalg
    import numpy as np

    a, b = np.array([[[2.0, 1.0], [1.0, 3.0]], [[4.0, 0.0], [1.0, 2.0]]]), np.array([[1.0, 2.0], [3.0, 4.0]])
    return compare(jax.scipy.linalg.solve(a, b), [np.linalg.solve(*pair) for pair in zip(a, b, strict=True)], rtol=1e-5)


def scipy_assume_a() -> tuple[str, str]:
    """Does jax.scipy.linalg.solve of shapes (2, 2, 2) and (2, 2) return the same with assume_a="pos" as without?"""
    import jax.scipy.linalg
    import numpy as np

    a, b = np.array([[[2.0, 1.0], [1.0, 3.0]], [[4.0, 1.0], [1.0, 2.0]]]), np.array([[1.0, 2.0], [3.0, 4.0]])
    return compare(jax.scipy.linalg.solve(a, b), jax.scipy.linalg.solve(a, b, assume_a="pos"), rtol=1e-5)


_WARNING = {"announced": Signature("FutureWarning", "batched 1D solves with b.ndim > 1 are deprecated")}
_BEFORE = (Rule("agrees", "jax<0.4.25"), Rule("announced", "jax<0.5.0", "with jax#19674's FutureWarning"))
_ASSUMING = "jax.scipy.linalg.solve(a, b, lower, overwrite_a, overwrite_b, debug, check_finite, assume_a) if "
# The shapes decide, so a use is possible at most.
_ANY = "unseen and form(b) != 'newaxis' and not within('jax.vmap')"
_SOLVE = f"jax.numpy.linalg.solve(a, b) if {_ANY}"

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(
        change="jax#25741 jax#19674",
        docs="jax:changelog.html#jax-0-5-0-jan-17-2025 jax:_autosummary/jax.scipy.linalg.solve.html",
        discussion="probml/dynamax#389",
    ),
    control=control_unambiguous,
    workaround=Workaround(
        "For one vector per matrix, make it a column: solve(a, b[..., None])[..., 0].",
        a_column_each,
        elsewhere=other_batches,
    ),
    cases=(
        Case(
            square_batch,
            behaviours={"announced": "clear", "differs": "documented"},
            rules=(*_BEFORE, Rule("differs", "", "jax#25741, and the changelog")),
            signatures=_WARNING,
            touches=(_SOLVE,),
        ),
        Case(
            other_batch,
            behaviours={"announced": "clear"},
            rules=(*_BEFORE, Rule("value-error", "", "the error message says how to get the old result")),
            signatures={**_WARNING, "value-error": Signature("ValueError", "Prior to JAX v0.5.0")},
            touches=(_SOLVE,),
        ),
        Case(
            scipy_square_batch,
            behaviours={"announced": "clear"},
            rules=(
                *_BEFORE,
                Rule("differs", "", 'jax.scipy.linalg.solve calls jnp.linalg.solve unless assume_a="pos"'),
            ),
            signatures=_WARNING,
            touches=(f"{_ASSUMING}not assume_a == 'pos' and {_ANY}",),
        ),
        Case(
            scipy_assume_a,
            rules=(
                Rule("agrees", "jax<0.5.0"),
                Rule("differs", "", 'with assume_a="pos", jax.scipy.linalg.solve does not call jnp.linalg.solve'),
            ),
            # `assume_a == 'pos'` would be a sign, and name each solve of one vector.
            touches=(f"{_ASSUMING}given(assume_a) and not assume_a != 'pos' and {_ANY}",),
        ),
    ),
)
