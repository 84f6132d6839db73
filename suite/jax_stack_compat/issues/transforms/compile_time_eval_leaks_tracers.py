"""Under ensure_compile_time_eval a linear solve leaks a tracer, and custom derivatives stay traced, from jax 0.4.36

    with jax.ensure_compile_time_eval():
        jnp.linalg.solve(jnp.eye(2), jnp.ones(2))     # UnexpectedTracerError from jax 0.4.36 to 0.6.0
        float(jax.nn.relu(jnp.ones(())))              # under jit: ConcretizationTypeError from 0.4.36 to 0.8.1

What does not depend on a traced argument can be computed while tracing: that is what `ensure_compile_time_eval` is for.
Since the "stackless" rewrite in 0.4.36 it did so for primitives one by one, and not for those that hold functions.
jax#25847 has the solve, which fails without a jit of its own, too; mended in 0.6.1. jax#33711, in 0.8.2, adds what is
wrapped in `custom_jvp` or `custom_vjp`, as `jax.nn.relu` is. Loops, `cond` and `grad` are well on every release.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def linear_solve() -> tuple[str, str]:
    """Is a linear system solved?"""
    import jax
    import jax.numpy as jnp

    with jax.ensure_compile_time_eval():
        return compare(jnp.linalg.solve(2.0 * jnp.eye(2), jnp.ones(2)), [0.5, 0.5])


def primitives() -> None:
    """Sums, loops and gradients are."""
    import jax
    import jax.numpy as jnp

    def traced() -> float:
        with jax.ensure_compile_time_eval():
            looped = jax.lax.scan(lambda c, _: (c + 1.0, None), 0.0, None, length=3)[0]
            return float(jnp.sum(jnp.ones(3))) + float(looped) + float(jax.grad(lambda x: x * x)(3.0))

    assert jax.jit(traced)() == 12.0


def by_numpy() -> None:
    """NumPy computes at once, without a context."""
    import jax
    import numpy as np

    def traced() -> float:
        return float(np.linalg.solve(2.0 * np.eye(2), np.ones(2))[0] + np.maximum(np.ones(()), 0.0))

    assert jax.jit(traced)() == 1.5


def relu() -> tuple[str, str]:
    """Is jax.nn.relu, a custom_jvp, evaluated while jit traces?"""
    import jax
    import jax.numpy as jnp

    def traced() -> float:
        with jax.ensure_compile_time_eval():
            return float(jax.nn.relu(jnp.ones(())))

    return compare(jax.jit(traced)(), 1.0)


def custom_vjp() -> tuple[str, str]:
    """Is a function with a custom_vjp?"""
    import jax
    import jax.numpy as jnp

    double = jax.custom_vjp(lambda x: 2.0 * x)
    double.defvjp(lambda x: (2.0 * x, None), lambda _, ct: (2.0 * ct,))

    def traced() -> float:
        with jax.ensure_compile_time_eval():
            return float(double(jnp.ones(())))

    return compare(jax.jit(traced)(), 2.0)


_OLD = Rule("agrees", "jax<0.4.36")

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="jax#25847 jax#30787", fix="jax@6f3a8b4a75 jax#33711"),
    known_by=r"compile_time_eval",
    control=primitives,
    rules=(_OLD, Rule("leaked", "jax<0.8.2"), Rule("agrees", "", "jax#33711")),
    workaround=Workaround("Compute it with NumPy, or before the jitted function is called.", by_numpy),
    signatures={"leaked": Signature("ConcretizationTypeError", "Abstract tracer value encountered")},
    cases=(
        Case(
            linear_solve,
            rules=(_OLD, Rule("leaked", "jax<0.6.1", "jax#25847"), Rule("agrees", "", "6f3a8b4a75")),
            signatures={"leaked": Signature("UnexpectedTracerError", "Encountered an unexpected tracer")},
            touches=(
                "jax.ensure_compile_time_eval if uses('jax.numpy.linalg.solve', 'jax.numpy.linalg.inv', "
                "'jax.scipy.linalg.solve', 'jax.lax.custom_linear_solve')",
            ),
        ),
        Case(
            relu,
            touches=(
                "jax.ensure_compile_time_eval if uses('jax.custom_jvp', 'jax.nn.relu', 'jax.nn.softmax', "
                "'jax.numpy.logaddexp')",
            ),
        ),
        Case(
            custom_vjp, touches=("jax.ensure_compile_time_eval if uses('jax.custom_vjp', 'equinox.filter_custom_vjp')",)
        ),
    ),
)
