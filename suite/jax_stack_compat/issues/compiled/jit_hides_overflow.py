"""Under jit sqrt(abs(square(x))) and log(exp(x)) do not overflow where they do eagerly, up to jax 0.11.0

    x = jnp.array(3.4e38)
    jnp.sqrt(jnp.abs(jnp.square(x)))                               # inf
    jax.jit(lambda x: jnp.sqrt(jnp.abs(jnp.square(x))))(x)         # 3.4e+38 up to jax 0.11.0, inf from 0.11.1

XLA simplifies as algebra has it: a root of a square is an absolute value, the logarithm of an exponential its argument.
Each step alone overflows under jit as well. JAX's FAQ says that jit changes the exact numbers, and threads about it
(jax#37919, jax#38099, jax#38096) were closed. So this is no fault; but what leans on an overflow, such as a test that a
value is finite, answers otherwise under jit, and on another release.

Seen in these runs:

- From 0.11.1 on the root and the logarithm overflow under jit as they do eagerly.
- From 0.11.2 on `exp(x) * exp(-x)` is NaN where it is NaN eagerly.
- From 0.12.0 on `x * 10 / 10` overflows.

A program that has run without infinities thanks to the simplification gets them with the upgrade.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def root_of_square() -> tuple[str, str]:
    """Does a jitted sqrt(abs(square(x))) overflow as it does eagerly?"""
    import jax
    import jax.numpy as jnp

    got = float(jax.jit(lambda x: jnp.sqrt(jnp.abs(jnp.square(x))))(jnp.float32(3e38)))
    return {float("inf"): "as-eager"}.get(got, "simplified"), f"{got:.1e}"


def each_alone() -> None:
    """Each step alone overflows, and where nothing does jit agrees with eager execution."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    assert np.isinf(jax.jit(jnp.square)(jnp.float32(3e38)))
    assert np.isinf(jax.jit(jnp.exp)(jnp.float32(100.0)))
    assert np.isinf(jax.jit(lambda x: x * 10.0)(jnp.float32(3e38)))
    np.testing.assert_allclose(jax.jit(lambda x: jnp.sqrt(jnp.abs(jnp.square(x))))(jnp.float32(3.0)), 3.0, rtol=1e-6)


def asked_of_the_input() -> None:
    """Infinity where the square would be, asked of the input."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    bound = np.sqrt(np.finfo(np.float32).max)
    got = jax.jit(lambda x: jnp.where(jnp.abs(x) > bound, jnp.inf, jnp.abs(x)))(jnp.array([3e38, 3.0]))
    np.testing.assert_array_equal(got, [np.inf, 3.0])


def log_of_exp() -> tuple[str, str]:
    """Does a jitted log(exp(x))?"""
    import jax
    import jax.numpy as jnp

    got = float(jax.jit(lambda x: jnp.log(jnp.exp(x)))(jnp.float32(100.0)))
    return {float("inf"): "as-eager"}.get(got, "simplified"), f"{got:.1f}"


def exp_times_exp() -> tuple[str, str]:
    """Is a jitted exp(x) * exp(-x) NaN where it is infinity times 0 eagerly?"""
    import jax
    import jax.numpy as jnp

    got = float(jax.jit(lambda x: jnp.exp(x) * jnp.exp(-x))(jnp.float32(200.0)))
    return "simplified" if got == 1.0 else "as-eager", f"{got:.1f}"


def times_and_divided() -> tuple[str, str]:
    """Does a jitted x * 10 / 10 overflow as it does eagerly?"""
    import jax
    import jax.numpy as jnp

    got = float(jax.jit(lambda x: (x * 10.0) / 10.0)(jnp.float32(3e38)))
    return {float("inf"): "as-eager"}.get(got, "simplified"), f"{got:.1e}"


def _rules(first: str) -> tuple[Rule, ...]:
    return Rule("simplified", f"jaxlib<{first}"), Rule("as-eager")


ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(
        report="jax#37919 jax#38096 jax#38099", docs="jax:faq.html#jit-changes-the-exact-numerics-of-outputs"
    ),
    touches=("overflow under jit",),
    control=each_alone,
    behaviours={"simplified": "documented", "as-eager": "clear"},
    rules=_rules("0.11.1"),
    cases=(
        Case(
            root_of_square,
            workaround=Workaround(
                "Do not lean on overflow; ask the input: jnp.where(abs(x) > bound, …).", asked_of_the_input
            ),
        ),
        Case(log_of_exp),
        Case(exp_times_exp, rules=_rules("0.11.2")),
        Case(times_and_divided, rules=_rules("0.12")),
    ),
)
