"""lineax.linear_solve of a product or a multiple of tagged operators takes the wrong solver, and is wrong

    a = lineax.MatrixLinearOperator(..., lineax.positive_semidefinite_tag)    # and b likewise
    lineax.linear_solve(a @ b, vector)    # up to Lineax 0.1.0 [2, -0.6], should be [0.4, 0.04]

You'd expect the default solver to choose by what the operator is. It chooses by its tags, and up to Lineax 0.1.0 these
are passed on to what is made of operators by rules that do not hold: a product of positive semidefinite matrices is
taken for one, and gets a Cholesky decomposition, though it need not even be symmetric; a product of tridiagonal ones is
solved as tridiagonal; a multiple, a negative and a fraction of one with a unit diagonal as if it still had it. There is
no error. lineax#192, in 0.1.1, has rules that hold.

Seen in these runs:

- The wrong answers. lineax#192 speaks of the rules alone.
- `-a` of any square `a` counts as positive and as negative semidefinite from 0.0.5, with its new NegLinearOperator
  (lineax#72), to 0.1.0. That is refused, with an error that speaks of the solver, where 0.0.4 solves it.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare, members


def product_of_semidefinite() -> tuple[str, str]:
    """Is the solve of a product of two positive semidefinite operators right?"""
    import jax.numpy as jnp
    import lineax
    import numpy as np

    a, b = np.array([[2.0, 1.0], [1.0, 3.0]]), np.diag([1.0, 5.0])
    one, other = (lineax.MatrixLinearOperator(jnp.asarray(m), lineax.positive_semidefinite_tag) for m in (a, b))
    return compare(lineax.linear_solve(one @ other, jnp.ones(2)).value, np.linalg.solve(a @ b, np.ones(2)), rtol=1e-4)


def control_tags() -> None:
    """The operators, and their products with a vector, are right, whatever the tags."""
    import jax.numpy as jnp
    import lineax
    import numpy as np

    a, b = np.array([[2.0, 1.0], [1.0, 3.0]]), np.diag([1.0, 5.0])
    one, other = (lineax.MatrixLinearOperator(jnp.asarray(m), lineax.positive_semidefinite_tag) for m in (a, b))
    np.testing.assert_allclose((one @ other).mv(jnp.ones(2)), a @ b @ np.ones(2), rtol=1e-4)
    np.testing.assert_allclose((2.0 * one).mv(jnp.ones(2)), 2.0 * a @ np.ones(2), rtol=1e-4)


def without_tags() -> None:
    """The matrix of what was made, in an operator without tags, is solved right."""
    import jax.numpy as jnp
    import lineax
    import numpy as np

    a, b, c = np.array([[2.0, 1.0], [1.0, 3.0]]), np.diag([1.0, 5.0]), np.array([[1.0, 2.0], [0.0, 1.0]])
    for matrix in (a @ b, a @ a, 2.0 * c, -np.array([[1.0, 2.0], [3.0, 4.0]])):
        got = lineax.linear_solve(lineax.MatrixLinearOperator(jnp.asarray(matrix)), jnp.ones(2)).value
        np.testing.assert_allclose(got, np.linalg.solve(matrix, np.ones(2)), rtol=1e-3)


def product_of_tridiagonal() -> tuple[str, str]:
    """Is that of the square of a tridiagonal operator?"""
    import jax.numpy as jnp
    import lineax
    import numpy as np

    a, vector = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]]), np.array([1.0, 2.0, 4.0])
    operator = lineax.MatrixLinearOperator(jnp.asarray(a), lineax.tridiagonal_tag)
    got = lineax.linear_solve(operator @ operator, jnp.asarray(vector)).value
    return compare(got, np.linalg.solve(a @ a, vector), rtol=1e-3)


def multiple_of_unit_diagonal() -> tuple[str, str]:
    """Is that of twice an upper triangular operator with a unit diagonal?"""
    import jax.numpy as jnp
    import lineax
    import numpy as np

    a, tags = np.array([[1.0, 2.0], [0.0, 1.0]]), (lineax.upper_triangular_tag, lineax.unit_diagonal_tag)
    operator = lineax.MatrixLinearOperator(jnp.asarray(a), tags)
    got = lineax.linear_solve(2.0 * operator, jnp.ones(2)).value
    return compare(got, np.linalg.solve(2.0 * a, np.ones(2)), rtol=1e-4)


def negative() -> tuple[str, str]:
    """Is that of the negative of an operator without tags?"""
    import jax.numpy as jnp
    import lineax
    import numpy as np

    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    try:
        got = lineax.linear_solve(-lineax.MatrixLinearOperator(jnp.asarray(a)), jnp.ones(2)).value
        return compare(got, np.linalg.solve(-a, np.ones(2)), rtol=1e-4)
    except Exception as error:  # of a class that each release has another name for
        if "returned non-finite (NaN or inf) output" not in str(error):
            raise
        return "refused", "A linear solver returned non-finite (NaN or inf) output"


_NEW = Rule("agrees", "", "lineax#192 (a61917e)")

_SEMIDEFINITE = "uses('lineax.positive_semidefinite_tag', 'lineax.negative_semidefinite_tag')"
_TRIDIAGONAL = "uses('lineax.tridiagonal_tag', 'lineax.TridiagonalLinearOperator')"
_UNIT = "uses('lineax.unit_diagonal_tag')"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(cause="lineax#72", fix="lineax#192", docs="lineax:api/tags"),
    control=control_tags,
    behaviours={"refused": "affected"},
    rules=(Rule("differs", "lineax<0.1.1"), _NEW),
    workaround=Workaround(
        "Put the matrix into an operator without tags: MatrixLinearOperator(a.as_matrix()).",
        without_tags,
        fails=("jax<0.4.24 scipy>=1.13",),
    ),
    needs=("jax", "equinox", "lineax"),
    waits_for=("stack-smoke/implicit-solve",),
    cases=(
        Case(
            product_of_semidefinite, touches=members("lineax", "linear_solve AutoLinearSolver", f" if {_SEMIDEFINITE}")
        ),
        Case(product_of_tridiagonal, touches=members("lineax", "linear_solve AutoLinearSolver", f" if {_TRIDIAGONAL}")),
        Case(multiple_of_unit_diagonal, touches=members("lineax", "linear_solve AutoLinearSolver", f" if {_UNIT}")),
        Case(
            negative,
            rules=(Rule("agrees", "lineax<0.0.5"), Rule("refused", "lineax<0.1.1", "lineax#72"), _NEW),
            touches=("lineax.linear_solve(operator) if form(operator) == '-'",),
        ),
    ),
)
