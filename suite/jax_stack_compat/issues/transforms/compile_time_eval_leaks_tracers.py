"""jnp.linalg.solve and jax.nn.relu raise under ensure_compile_time_eval

`jax.ensure_compile_time_eval` evaluates primitives while JAX traces. A tracer escaped from `jnp.linalg.solve` there
(jax#25847); 6f3a8b4a75 stopped treating such tracers as constants. Functions with a `custom_jvp` or `custom_vjp` were
traced and not evaluated (jax#30787), until jax#33711. The message "Evaluation rule for 'empty' not implemented" in this
context belongs to another bug, jax#29996.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def linear_solve() -> tuple[str, str]:
    """Does jnp.linalg.solve return the solution under jax.ensure_compile_time_eval?"""
    import jax
    import jax.numpy as jnp

    with jax.ensure_compile_time_eval():
        return compare(jnp.linalg.solve(2.0 * jnp.eye(2), jnp.ones(2)), [0.5, 0.5])


def primitives() -> None:
    """Under jit and the context, a sum, a scan without outputs and a gradient are evaluated."""
    import jax
    import jax.numpy as jnp

    def traced() -> float:
        with jax.ensure_compile_time_eval():
            looped = jax.lax.scan(lambda c, _: (c + 1.0, None), 0.0, None, length=3)[0]
            return float(jnp.sum(jnp.ones(3))) + float(looped) + float(jax.grad(lambda x: x * x)(3.0))

    assert jax.jit(traced)() == 12.0


def by_numpy() -> None:
    """np.linalg.solve and np.maximum evaluate at once, without the context."""
    import jax
    import numpy as np

    def traced() -> float:
        return float(np.linalg.solve(2.0 * np.eye(2), np.ones(2))[0] + np.maximum(np.ones(()), 0.0))

    assert jax.jit(traced)() == 1.5


def relu() -> tuple[str, str]:
    """Does jax.ensure_compile_time_eval evaluate jax.nn.relu, a custom_jvp, while jit traces?"""
    import jax
    import jax.numpy as jnp

    def traced() -> float:
        with jax.ensure_compile_time_eval():
            return float(jax.nn.relu(jnp.ones(())))

    return compare(jax.jit(traced)(), 1.0)


def custom_vjp() -> tuple[str, str]:
    """Does jax.ensure_compile_time_eval evaluate a custom_vjp function while jit traces?"""
    import jax
    import jax.numpy as jnp

    double = jax.custom_vjp(lambda x: 2.0 * x)
    double.defvjp(lambda x: (2.0 * x, None), lambda _, ct: (2.0 * ct,))

    def traced() -> float:
        with jax.ensure_compile_time_eval():
            return float(double(jnp.ones(())))

    return compare(jax.jit(traced)(), 2.0)


def undecorated() -> None:
    """Under the context, the function that jax.custom_vjp decorates is evaluated."""
    import jax
    import jax.numpy as jnp

    def double(x: jax.Array) -> jax.Array:
        return 2.0 * x

    with_rule = jax.custom_vjp(double)
    with_rule.defvjp(lambda x: (2.0 * x, None), lambda _, ct: (2.0 * ct,))

    def traced() -> float:
        with jax.ensure_compile_time_eval():
            return float(double(jnp.ones(())))

    assert jax.jit(traced)() == 2.0


def mapped() -> tuple[str, str]:
    """Does jax.lax.map return its values under jax.ensure_compile_time_eval?"""
    import jax
    import jax.numpy as jnp

    with jax.ensure_compile_time_eval():
        return compare(jax.lax.map(lambda x: x + 1.0, jnp.ones(2)), [2.0, 2.0])


def vmap_instead() -> None:
    """Under the context, jax.vmap(f)(x) returns the values of jax.lax.map(f, x)."""
    import jax
    import jax.numpy as jnp

    def traced() -> list[float]:
        with jax.ensure_compile_time_eval():
            return jax.vmap(lambda x: x + 1.0)(jnp.ones(2)).tolist()

    assert jax.jit(lambda: jnp.array(traced()))().tolist() == traced() == [2.0, 2.0]


def interp() -> tuple[str, str]:
    """Does jnp.interp return its value under jax.ensure_compile_time_eval?"""
    import jax
    import jax.numpy as jnp

    with jax.ensure_compile_time_eval():
        return compare(jnp.interp(1.5, jnp.arange(3.0), jnp.array([0.0, 1.0, 4.0])), 2.5)


def numpy_interp() -> None:
    """np.interp evaluates at once, without the context."""
    import jax
    import numpy as np

    assert jax.jit(lambda: np.interp(1.5, np.arange(3.0), np.array([0.0, 1.0, 4.0])))() == 2.5


_OLD = Rule("agrees", "jax<0.4.36")
_ESCAPED = {"leaked": Signature("UnexpectedTracerError", "Encountered an unexpected tracer")}
_UNTIL_0_6_1 = (_OLD, Rule("leaked", "jax<0.6.1", "jax#25847"), Rule("agrees", "", "6f3a8b4a75"))

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="jax#25847 jax#30787", fix="jax@6f3a8b4a75 jax#33711"),
    known_by=r"compile_time_eval",
    control=primitives,
    rules=(_OLD, Rule("leaked", "jax<0.8.2"), Rule("agrees", "", "jax#33711")),
    workaround=Workaround("Compute constants with NumPy instead: np.linalg.solve(a, b), np.maximum(x, 0).", by_numpy),
    signatures={"leaked": Signature("ConcretizationTypeError", "Abstract tracer value encountered")},
    cases=(
        Case(
            linear_solve,
            rules=_UNTIL_0_6_1,
            signatures=_ESCAPED,
            touches=(
                "jax.ensure_compile_time_eval if uses('jax.numpy.linalg.solve', 'jax.numpy.linalg.inv', "
                "'jax.scipy.linalg.solve', 'jax.lax.custom_linear_solve')",
            ),
        ),
        Case(
            relu,
            touches=("jax.ensure_compile_time_eval if uses('jax.custom_jvp', 'jax.nn.relu', 'jax.nn.relu6')",),
        ),
        Case(
            custom_vjp,
            workaround=Workaround("Call the undecorated function: keep f beside g = jax.custom_vjp(f).", undecorated),
            touches=("jax.ensure_compile_time_eval if uses('jax.custom_vjp', 'equinox.filter_custom_vjp')",),
        ),
        Case(
            mapped,
            rules=(_OLD, Rule("no-rule", "jax<0.8.0", "jax#32404"), Rule("agrees", "", "858efa0147")),
            signatures={"no-rule": Signature("NotImplementedError", "Evaluation rule for 'empty")},
            workaround=Workaround("Use jax.vmap(f)(x) instead: all rows are in memory at once.", vmap_instead),
            touches=("jax.ensure_compile_time_eval if uses('jax.lax.map', 'jax.lax.scan')",),
        ),
        Case(
            interp,
            rules=_UNTIL_0_6_1,
            signatures=_ESCAPED,
            workaround=Workaround("Compute constants with NumPy instead: np.interp(x, xp, fp).", numpy_interp),
            touches=("jax.ensure_compile_time_eval if uses('jax.numpy.interp')",),
        ),
    ),
)
