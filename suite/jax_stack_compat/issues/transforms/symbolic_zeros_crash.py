"""Symbolic zeros crash derivatives: of custom_jvp rules in jax 0.6.0, 0.7.0 and 0.7.1, and of linear solves up to 0.6.2

    f.defjvp(rule, symbolic_zeros=True)
    jax.hessian(lambda x: jax.jit(f)((x * x, 3.0))[0])(1.0)    # ValueError: foreach() …, in jax 0.7.0 and 0.7.1

A derivative that is known to be zero is passed along as a symbol, so that nothing is computed for it. Each of three
places forgot that it may be there. In jax 0.6.0 `vmap` of a jitted `custom_jvp` took a zero that a rule had returned
for a number (jax#28144, met by Optimistix). In 0.7.0 and 0.7.1 what removes unused code miscounted the arguments of a
rule that asks for zeros (jax#31448). And the transpose of `custom_linear_solve`, on which `jnp.linalg.solve` rests, did
not know a zero cotangent on any release before 0.7.0 (jax#29342). Lineax and Optimistix use all of them.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare, members


def returned_by_a_rule() -> tuple[str, str]:
    """Is the derivative 0 of a vmapped, jitted function whose rule returns a symbolic zero?"""
    import jax
    import jax.custom_derivatives
    import jax.numpy as jnp

    if not hasattr(jax.custom_derivatives, "zero_from_primal"):
        return "absent", "there is no jax.custom_derivatives.zero_from_primal"

    def rule(primals: Any, tangents: Any) -> Any:
        out = flat(*primals)
        return out, jax.custom_derivatives.zero_from_primal(out, symbolic_zeros=True)

    flat = jax.custom_jvp(jnp.floor)
    flat.defjvp(rule)
    x = jnp.array([0.5, 1.5])
    return compare(jax.jvp(jax.vmap(jax.jit(flat)), (x,), (x,))[1], [0.0, 0.0])


def asked_for_by_a_rule() -> tuple[str, str]:
    """Is the second derivative of x ** 2 through a jitted function whose rule asks for symbolic zeros 2?"""
    import jax

    same = jax.custom_jvp(lambda pair: pair)
    same.defjvp(lambda primals, tangents: (same(*primals), tangents[0]), symbolic_zeros=True)
    return compare(jax.hessian(lambda x: jax.jit(same)((x * x, 3.0))[0])(1.0), 2.0)


def first_derivatives() -> None:
    """One derivative at a time, of a rule that gets zeros as numbers, and of a solve."""
    import jax
    import jax.numpy as jnp

    same = jax.custom_jvp(lambda pair: pair)
    same.defjvp(lambda primals, tangents: (same(*primals), tangents[0]), symbolic_zeros=False)
    assert jax.grad(lambda x: jax.jit(same)((x * x, 3.0))[0])(1.0) == 2.0
    solved = jax.grad(lambda x: jnp.linalg.solve(x * jnp.eye(2), jnp.array([1.0, 0.0]))[0])(2.0)
    assert abs(solved + 0.25) < 1e-6


def zeros_as_numbers() -> None:
    """The rules without symbolic zeros."""
    import jax
    import jax.numpy as jnp

    flat = jax.custom_jvp(jnp.floor)
    flat.defjvp(lambda primals, tangents: (flat(*primals), jnp.zeros_like(tangents[0])))
    x = jnp.array([0.5, 1.5])
    assert jax.jvp(jax.vmap(jax.jit(flat)), (x,), (x,))[1].tolist() == [0.0, 0.0]

    same = jax.custom_jvp(lambda pair: pair)
    same.defjvp(lambda primals, tangents: (same(*primals), tangents[0]))
    assert jax.hessian(lambda x: jax.jit(same)((x * x, 3.0))[0])(1.0) == 2.0


def linear_solve() -> tuple[str, str]:
    """Is the derivative of the transposed derivative of a vmapped linear solve, -1 / x, that of -1 / x?"""
    import jax
    import jax.numpy as jnp

    def solve(x: jax.Array) -> jax.Array:
        return jnp.linalg.solve(x * jnp.eye(2), jnp.array([1.0, 0.0]))[0]

    def transposed(x: jax.Array) -> jax.Array:
        return jax.vjp(lambda y: jax.jvp(jax.vmap(solve), (x,), (y,))[1], jnp.ones_like(x))[1](x)[0]

    return compare(jax.jacrev(transposed)(jnp.array([2.0])), [[0.25]], rtol=1e-6)


def by_lu_factors() -> None:
    """The same solve by its LU factors."""
    import jax
    import jax.numpy as jnp

    def solve(x: jax.Array) -> jax.Array:
        factors = jax.scipy.linalg.lu_factor(x * jnp.eye(2))
        return jax.scipy.linalg.lu_solve(factors, jnp.array([1.0, 0.0]))[0]

    def transposed(x: jax.Array) -> jax.Array:
        return jax.vjp(lambda y: jax.jvp(jax.vmap(solve), (x,), (y,))[1], jnp.ones_like(x))[1](x)[0]

    assert abs(jax.jacrev(transposed)(jnp.array([2.0]))[0, 0] - 0.25) < 1e-6


_TRANSPOSED = "uses('jax.vjp', 'jax.jacrev', 'jax.hessian', 'jax.linear_transpose')"

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(
        report="jax#28144 jax#31448 jax#29342 optimistix#129", fix="jax@82a79c5985 jax#31496 jax#29629"
    ),
    control=first_derivatives,
    workaround=Workaround("Write the rule without symbolic zeros: with jnp.zeros_like.", zeros_as_numbers),
    signatures={"crashed-in-jax": Signature("TypeError", "ad_util.Zero'>…is not a valid JAX type")},
    cases=(
        Case(
            asked_for_by_a_rule,
            rules=(
                Rule("agrees", "jax<0.7.0"),
                Rule("crashed-in-jax", "jax<0.7.2", "jax#31448"),
                Rule("agrees", "", "jax#31496"),
            ),
            signatures={"crashed-in-jax": Signature("ValueError", "foreach() argument 2 is longer", everyday=True)},
            touches=(
                "jax.custom_jvp "
                "if uses('jax.custom_derivatives.SymbolicZero', 'jax.custom_derivatives.zero_from_primal')",
                "jax.custom_jvp.defjvp(jvp, symbolic_zeros) if symbolic_zeros",
            ),
        ),
        Case(
            returned_by_a_rule,
            rules=(
                Rule("absent", "jax<0.4.34"),
                Rule("crashed-in-jax", "jax==0.6.0", "jax#28144"),
                Rule("agrees", "", "82a79c5985"),
            ),
            touches=(
                "jax.custom_derivatives.zero_from_primal(val, symbolic_zeros) "
                "if symbolic_zeros == True and uses('jax.vmap', 'equinox.filter_vmap')",
            ),
        ),
        Case(
            linear_solve,
            rules=(Rule("crashed-in-jax", "jax<0.7.0", "jax#29342"), Rule("agrees", "", "jax#29629")),
            workaround=Workaround(
                "Solve by jax.scipy.linalg.lu_factor and lu_solve; or differentiate by jacfwd.", by_lu_factors
            ),
            touches=members("jax", "numpy.linalg.solve lax.custom_linear_solve", f" if {_TRANSPOSED}"),
        ),
    ),
)
