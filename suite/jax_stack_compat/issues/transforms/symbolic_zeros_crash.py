"""Symbolic zeros in custom_jvp rules and linear solves crash derivatives

JAX passes on a derivative that is known to be zero as a symbol. Three places did not expect a symbolic zero: `vmap` of
a jitted function whose rule returns one (`returned_by_a_rule`, jax#28144), the removal of unused code in a rule that
asks for symbolic zeros (`asked_for_by_a_rule`, jax#31448), and the transpose of a linear solve (`linear_solve`,
jax#29342). 5ad89659fd looks up a tracer's type when the tracer is made, so `jax.grad` refuses a symbolic zero that a
rule returns (`returned_under_grad`).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import GRADIENTS, Case, Issue, Rule, Signature, Upstream, Workaround, compare, members


def asked_for_by_a_rule() -> tuple[str, str]:
    """Does jax.hessian of x * x through a jitted custom_jvp with symbolic_zeros=True give 2?"""
    import jax

    same = jax.custom_jvp(lambda pair: pair)
    same.defjvp(lambda primals, tangents: (same(*primals), tangents[0]), symbolic_zeros=True)
    return compare(jax.hessian(lambda x: jax.jit(same)((x * x, 3.0))[0])(1.0), 2.0)


def first_derivatives() -> None:
    """With symbolic_zeros=False, the gradient of a custom_jvp is right, and so is that of a linear solve."""
    import jax
    import jax.numpy as jnp

    same = jax.custom_jvp(lambda pair: pair)
    same.defjvp(lambda primals, tangents: (same(*primals), tangents[0]), symbolic_zeros=False)
    assert jax.grad(lambda x: jax.jit(same)((x * x, 3.0))[0])(1.0) == 2.0
    solved = jax.grad(lambda x: jnp.linalg.solve(x * jnp.eye(2), jnp.array([1.0, 0.0]))[0])(2.0)
    assert abs(solved + 0.25) < 1e-6


def zeros_as_numbers() -> None:
    """If rules get and return zeros as numbers, floor has derivative 0, and x * x has second derivative 2."""
    import jax
    import jax.numpy as jnp

    flat = jax.custom_jvp(jnp.floor)
    flat.defjvp(lambda primals, tangents: (flat(*primals), jnp.zeros_like(tangents[0])))
    x = jnp.array([0.5, 1.5])
    assert jax.jvp(jax.vmap(jax.jit(flat)), (x,), (x,))[1].tolist() == [0.0, 0.0]

    same = jax.custom_jvp(lambda pair: pair)
    same.defjvp(lambda primals, tangents: (same(*primals), tangents[0]))
    assert jax.hessian(lambda x: jax.jit(same)((x * x, 3.0))[0])(1.0) == 2.0


def steps_and_parts() -> None:
    """If a rule of two outputs returns jnp.zeros_like for one, grad, hessian, vmap and jit agree with the maths."""
    import jax
    import jax.numpy as jnp

    split = jax.custom_jvp(lambda x: (x * x, jnp.floor(x)))

    def rule(primals: Any, tangents: Any) -> Any:
        return split(*primals), (2 * primals[0] * tangents[0], jnp.zeros_like(tangents[0]))

    split.defjvp(rule)
    for dtype in ("float16", "float32"):
        for shape in ((), (0,), (3,), (2, 3)):
            x = jnp.full(shape, 1.5, dtype)
            total = jax.jit(lambda x: sum(part.sum() for part in split(x)))
            assert (jax.grad(total)(x) == 3.0).all()
            assert (jax.jvp(jax.jit(split), (x,), (x,))[1][1] == 0.0).all()
        rows = jnp.full((2, 3), 1.5, dtype)
        assert (jax.vmap(jax.grad(total))(rows) == 3.0).all()
        assert jax.hessian(total)(rows[0]).tolist() == [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]


def returned_by_a_rule() -> tuple[str, str]:
    """Does jax.jvp of a vmapped, jitted function whose rule returns zero_from_primal(…, symbolic_zeros=True) give 0?"""
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


def returned_under_grad() -> tuple[str, str]:
    """Does jax.grad of a function whose rule returns zero_from_primal(…, symbolic_zeros=True) give 0?"""
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
    return compare(jax.grad(flat)(1.5), 0.0)


def a_number_under_grad() -> None:
    """With jnp.zeros_like in the rule, the gradient is 0."""
    import jax
    import jax.numpy as jnp

    flat = jax.custom_jvp(jnp.floor)
    flat.defjvp(lambda primals, tangents: (flat(*primals), jnp.zeros_like(tangents[0])))
    assert jax.grad(flat)(1.5) == 0.0


def linear_solve() -> tuple[str, str]:
    """Does jax.jacrev of the transposed derivative of a vmapped jnp.linalg.solve give the closed form, 0.25?"""
    import jax
    import jax.numpy as jnp

    def solve(x: jax.Array) -> jax.Array:
        return jnp.linalg.solve(x * jnp.eye(2), jnp.array([1.0, 0.0]))[0]

    def transposed(x: jax.Array) -> jax.Array:
        return jax.vjp(lambda y: jax.jvp(jax.vmap(solve), (x,), (y,))[1], jnp.ones_like(x))[1](x)[0]

    return compare(jax.jacrev(transposed)(jnp.array([2.0])), [[0.25]], rtol=1e-6)


def by_lu_factors() -> None:
    """With lu_factor and lu_solve, jax.jacrev of the transposed derivative gives 0.25."""
    import jax
    import jax.numpy as jnp

    def solve(x: jax.Array) -> jax.Array:
        factors = jax.scipy.linalg.lu_factor(x * jnp.eye(2))
        return jax.scipy.linalg.lu_solve(factors, jnp.array([1.0, 0.0]))[0]

    def transposed(x: jax.Array) -> jax.Array:
        return jax.vjp(lambda y: jax.jvp(jax.vmap(solve), (x,), (y,))[1], jnp.ones_like(x))[1](x)[0]

    assert abs(jax.jacrev(transposed)(jnp.array([2.0]))[0, 0] - 0.25) < 1e-6


def full_matrices_by_lu_factors() -> None:
    """Batched LU solves and gradients agree with jnp.linalg.solve, the transposed derivative with the closed form."""
    import jax
    import jax.numpy as jnp

    matrix = jnp.array([[4.0, 1.0, 0.0], [1.0, 5.0, 2.0], [0.0, 2.0, 6.0]])
    sides = jnp.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    def by_factors(x: jax.Array) -> jax.Array:
        return jax.scipy.linalg.lu_solve(jax.scipy.linalg.lu_factor(x * matrix), sides).sum()

    def by_solve(x: jax.Array) -> jax.Array:
        return jnp.linalg.solve(x * matrix, sides).sum()

    x = jnp.array([1.5, 2.0])
    for transform in (jax.vmap, lambda f: jax.vmap(jax.grad(f)), lambda f: jax.jit(jax.vmap(f))):
        assert jnp.allclose(transform(by_factors)(x), transform(by_solve)(x), rtol=1e-4)

    def transposed(x: jax.Array) -> jax.Array:
        return jax.vjp(lambda y: jax.jvp(jax.vmap(by_factors), (x,), (y,))[1], jnp.ones_like(x))[1](x)[0].sum()

    assert jnp.allclose(jax.jacrev(transposed)(x), by_solve(1.0) / x**2, rtol=1e-4)


_SOLVES = "numpy.linalg.solve numpy.linalg.inv scipy.linalg.solve lax.custom_linear_solve"
_TRANSPOSED = "uses('jax.vmap') and uses('jax.jvp', 'jax.linearize') and uses('jax.vjp', 'jax.linear_transpose')"
_ZERO = "jax.custom_derivatives.zero_from_primal(val, symbolic_zeros) if symbolic_zeros == True and "

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(
        report="jax#31448 jax#28144 jax#29342 optimistix#129",
        cause="jax#27886 jax@5ad89659fd",
        fix="jax@82a79c5985 jax#31496 jax#29629",
    ),
    control=first_derivatives,
    workaround=Workaround(
        "For an output of the input's shape and dtype, return jnp.zeros_like(tangent) in the rule.",
        zeros_as_numbers,
        elsewhere=steps_and_parts,
    ),
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
            workaround=Workaround(
                "Define the rule without symbolic_zeros=True; it then computes with zeros.",
                zeros_as_numbers,
                elsewhere=steps_and_parts,
            ),
            touches=(
                "jax.custom_jvp if uses('jax.custom_derivatives.SymbolicZero')",
                "jax.custom_jvp.defjvp(jvp, symbolic_zeros) if symbolic_zeros == True",
            ),
        ),
        Case(
            returned_by_a_rule,
            rules=(
                Rule("absent", "jax<0.4.34"),
                Rule("agrees", "jax<0.6.0"),
                Rule("crashed-in-jax", "jax<0.6.1", "jax#27886, reported as jax#28144"),
                Rule("agrees", "", "jax#28150 (82a79c5985)"),
            ),
            touches=(_ZERO + "uses('jax.vmap', 'equinox.filter_vmap') and uses('jax.jit', 'equinox.filter_jit')",),
        ),
        Case(
            returned_under_grad,
            rules=(
                Rule("absent", "jax<0.4.34"),
                Rule("agrees", "jax<0.10.0"),
                Rule("crashed-in-jax", "", "5ad89659fd"),
            ),
            signatures={"crashed-in-jax": Signature("TypeError", "ad_util.SymbolicZero'>…is not a valid JAX type")},
            workaround=Workaround(
                "For an output of the input's shape and dtype, return jnp.zeros_like(tangent) in the rule.",
                a_number_under_grad,
                elsewhere=steps_and_parts,
            ),
            touches=(_ZERO + GRADIENTS,),
        ),
        Case(
            linear_solve,
            rules=(Rule("crashed-in-jax", "jax<0.7.0", "jax#29342"), Rule("agrees", "", "jax#29629")),
            workaround=Workaround(
                "For one matrix, and b of its float dtype, solve by jax.scipy.linalg.lu_factor and lu_solve.",
                by_lu_factors,
                elsewhere=full_matrices_by_lu_factors,
            ),
            touches=members("jax", _SOLVES, f" if {_TRANSPOSED}"),
        ),
    ),
)
