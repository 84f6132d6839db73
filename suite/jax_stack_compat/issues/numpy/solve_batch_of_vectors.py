"""solve(a, b) of a batch of vectors takes b for one matrix, where the batch is as large as the system

    jnp.linalg.solve(a, b)    # a of shape (2, 2, 2), b of (2, 2): the answer has (2, 2) up to 0.4.38, then (2, 2, 2)

Up to jax 0.4.38 `b` was a batch of vectors, one to each matrix. From 0.5.0 it is one matrix, and each system is solved
for all of it, as NumPy does from 2.0. The changelog says that batched vectors are no longer supported; a FutureWarning
had said so from 0.4.25, and where the batch's size differs from the system's there is now a ValueError (dynamax#389).
Where the two are equal there is no error, but another answer in another shape, which the next broadcast swallows.

Seen in these runs:

- `jax.scipy.linalg.solve` changes in 0.5.0 too, without a warning before.
- With `assume_a="pos"` it does not change. Since 0.5.0 that argument, said to be about `a`, decides what `b` is.
  (jax#39986 is about a warning there.)
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
    """One vector, and a batch of matrices, are solved as by NumPy."""
    import jax.numpy as jnp
    import numpy as np

    a = np.array([[[2.0, 1.0], [1.0, 3.0]], [[4.0, 0.0], [1.0, 2.0]]])
    for matrix, b in ((a[0], np.array([1.0, 2.0])), (a, np.ones((2, 2, 3)))):
        assert np.allclose(jnp.linalg.solve(matrix, b), np.linalg.solve(matrix, b), rtol=1e-5)


def a_column_each() -> None:
    """With a column for each system both functions solve one each, and assume_a says nothing about b."""
    import jax.numpy as jnp
    import jax.scipy.linalg
    import numpy as np

    a, b = np.array([[[2.0, 1.0], [1.0, 3.0]], [[4.0, 1.0], [1.0, 2.0]]]), np.array([[1.0, 2.0], [3.0, 4.0]])
    wanted = [np.linalg.solve(*pair) for pair in zip(a, b, strict=True)]
    for kind in ("gen", "pos"):
        assert np.allclose(jax.scipy.linalg.solve(a, b[..., None], assume_a=kind)[..., 0], wanted, rtol=1e-5), kind
    assert np.allclose(jnp.linalg.solve(a, b[..., None])[..., 0], wanted, rtol=1e-5)


def other_batch() -> tuple[str, str]:
    """Does it of shapes (3, 2, 2) and (3, 2)?"""
    import jax.numpy as jnp
    import numpy as np

    a, b = np.eye(2) * [[[1.0]], [[2.0]], [[4.0]]], np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    return compare(jnp.linalg.solve(a, b), [np.linalg.solve(*pair) for pair in zip(a, b, strict=True)], rtol=1e-5)


def scipy_square_batch() -> tuple[str, str]:
    """Does jax.scipy.linalg.solve of shapes (2, 2, 2) and (2, 2)?"""
    import jax.scipy.linalg
    import numpy as np

    a, b = np.array([[[2.0, 1.0], [1.0, 3.0]], [[4.0, 0.0], [1.0, 2.0]]]), np.array([[1.0, 2.0], [3.0, 4.0]])
    return compare(jax.scipy.linalg.solve(a, b), [np.linalg.solve(*pair) for pair in zip(a, b, strict=True)], rtol=1e-5)


def scipy_assume_a() -> tuple[str, str]:
    """Does jax.scipy.linalg.solve give the same with assume_a="pos" and without, of those shapes?"""
    import jax.scipy.linalg
    import numpy as np

    a, b = np.array([[[2.0, 1.0], [1.0, 3.0]], [[4.0, 1.0], [1.0, 2.0]]]), np.array([[1.0, 2.0], [3.0, 4.0]])
    return compare(jax.scipy.linalg.solve(a, b), jax.scipy.linalg.solve(a, b, assume_a="pos"), rtol=1e-5)


_WARNING = {"announced": Signature("FutureWarning", "batched 1D solves with b.ndim > 1 are deprecated")}
_BEFORE = (Rule("agrees", "jax<0.4.25"), Rule("announced", "jax<0.5.0", "right, with jax#19674's FutureWarning"))
_ASSUMING = "jax.scipy.linalg.solve(a, b, lower, overwrite_a, overwrite_b, debug, check_finite, assume_a) if "
# The shapes decide, so a use is possible at most.
_ANY = "unseen and form(b) != 'newaxis'"

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(
        report="probml/dynamax#389", change="jax#25741 jax#19674", docs="jax:changelog.html#jax-0-5-0-jan-17-2025"
    ),
    control=control_unambiguous,
    rules=(
        Rule("agrees", "jax<0.5.0", "nothing is said"),
        Rule("differs", "", "unless a is assumed to be positive it calls jnp.linalg.solve"),
    ),
    workaround=Workaround("Make each vector a column: solve(a, b[..., None])[..., 0].", a_column_each),
    cases=(
        Case(
            square_batch,
            behaviours={"announced": "clear"},
            rules=(*_BEFORE, Rule("differs", "", "jax#25741")),
            signatures=_WARNING,
            touches=("jax.numpy.linalg.solve(a, b) if unseen and form(b) != 'newaxis'",),
        ),
        Case(
            other_batch,
            behaviours={"announced": "clear"},
            rules=(*_BEFORE, Rule("value-error", "", "the message names the way back")),
            signatures={**_WARNING, "value-error": Signature("ValueError", "Prior to JAX v0.5.0")},
            touches=("jax.numpy.linalg.solve",),
        ),
        Case(scipy_square_batch, touches=(f"{_ASSUMING}not assume_a == 'pos' and {_ANY}",)),
        Case(scipy_assume_a, touches=(f"{_ASSUMING}assume_a == 'pos' and {_ANY}",)),
    ),
)
