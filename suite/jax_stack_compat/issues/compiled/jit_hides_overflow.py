"""jit hides overflow by simplifying programs like jnp.log(jnp.exp(x))

XLA simplified expressions, for example `sqrt(abs(square(x)))` to `abs(x)` (jax#37919), so that intermediate results did
not overflow. JAX's FAQ documents the simplification in `log_of_exp`, and calls the compiled result more accurate. XLA
now needs fast math for these simplifications: xla#45560 changed `root_of_square` and `log_of_exp`, and xla#48186
changed `exp_times_exp`. Without fast math, `root_of_square`, `log_of_exp` and `exp_times_exp` now overflow as in eager
mode.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround


def root_of_square() -> tuple[str, str]:
    """Does jitted jnp.sqrt(jnp.abs(jnp.square(x))) overflow as it does in eager mode?"""
    import jax
    import jax.numpy as jnp

    got = float(jax.jit(lambda x: jnp.sqrt(jnp.abs(jnp.square(x))))(jnp.float32(3e38)))
    return {float("inf"): "as-eager"}.get(got, "simplified"), f"{got:.1e}"


def each_alone() -> None:
    """Under jit, jnp.square, jnp.exp and x * 10.0 overflow alone, and the root of the square of 3 is 3."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    assert np.isinf(jax.jit(jnp.square)(jnp.float32(3e38)))
    assert np.isinf(jax.jit(jnp.exp)(jnp.float32(100.0)))
    assert np.isinf(jax.jit(lambda x: x * 10.0)(jnp.float32(3e38)))
    np.testing.assert_allclose(jax.jit(lambda x: jnp.sqrt(jnp.abs(jnp.square(x))))(jnp.float32(3.0)), 3.0, rtol=1e-6)


def asked_of_the_input() -> None:
    """jnp.where on the input x returns infinity where jnp.square(x) would overflow."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    bound = np.sqrt(np.finfo(np.float32).max)
    got = jax.jit(lambda x: jnp.where(jnp.abs(x) > bound, jnp.inf, jnp.abs(x)))(jnp.array([3e38, 3.0]))
    np.testing.assert_array_equal(got, [np.inf, 3.0])


def infinite_or_absolute(x: Any) -> Any:
    """Return infinity where the square overflows, and else the absolute value, for x and larger numbers."""
    import jax
    import jax.numpy as jnp

    bound, large = jnp.finfo(x.dtype).max ** 0.5, jnp.finfo(x.dtype).max ** 0.6
    return jax.jit(lambda x: jnp.where(jnp.abs(x) > bound, jnp.inf, jnp.abs(x)))(jnp.stack([x, x * large]))


def numpy_root_of_square(x: Any) -> Any:
    """Return NumPy's root of the square of x, and of numbers whose squares overflow."""
    import numpy as np

    with np.errstate(over="ignore"):
        return np.sqrt(np.square(np.stack([x, x * np.finfo(x.dtype).max ** 0.6]).astype(x.dtype)))


def log_of_exp() -> tuple[str, str]:
    """Does jitted jnp.log(jnp.exp(x)) overflow as it does in eager mode?"""
    import jax
    import jax.numpy as jnp

    got = float(jax.jit(lambda x: jnp.log(jnp.exp(x)))(jnp.float32(100.0)))
    return {float("inf"): "as-eager"}.get(got, "simplified"), f"{got:.1f}"


def without_simplification() -> None:
    """With algsimp disabled, three programs overflow as in eager mode, and are unchanged for ordinary values."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    programs: tuple[tuple[Callable[[Any], Any], float], ...] = (
        (lambda x: jnp.log(jnp.exp(x)), np.inf),
        (lambda x: jnp.exp(x) * jnp.exp(-x), np.nan),
        (lambda x: jnp.exp(x) * 8.0 / 8.0, np.inf),
    )
    for dtype, large in (("float32", 200.0), ("float16", 20.0)):
        x, ordinary = jnp.full((2, 3), large, dtype), jnp.full((2, 3), 1.5, dtype)
        for f, wanted in programs:
            np.testing.assert_array_equal(jax.jit(f)(x), np.full((2, 3), wanted))
            np.testing.assert_allclose(jax.jit(f)(ordinary), f(ordinary), rtol=1e-2)
            np.testing.assert_allclose(jax.jit(jax.vmap(f))(ordinary), f(ordinary), rtol=1e-2)


def exp_times_exp() -> tuple[str, str]:
    """Is jitted jnp.exp(x) * jnp.exp(-x) NaN for x of 200, as in eager mode?"""
    import jax
    import jax.numpy as jnp

    got = float(jax.jit(lambda x: jnp.exp(x) * jnp.exp(-x))(jnp.float32(200.0)))
    return "simplified" if got == 1.0 else "as-eager", f"{got:.1f}"


def times_and_divided() -> tuple[str, str]:
    """Does jax.jit of x * 10 / 10 overflow as it does in eager mode?"""
    import jax
    import jax.numpy as jnp

    got = float(jax.jit(lambda x: (x * 10.0) / 10.0)(jnp.float32(3e38)))
    return {float("inf"): "as-eager"}.get(got, "simplified"), f"{got:.1e}"


def _rules(first: str, evidence: str = "") -> tuple[Rule, ...]:
    return Rule("simplified", f"jaxlib<{first}"), Rule("as-eager", "", evidence)


_WITHOUT_SIMPLIFICATION = Workaround(
    "Set XLA_FLAGS=--xla_disable_hlo_passes=algsimp before JAX starts, which slows other programs.",
    environment={"XLA_FLAGS": "--xla_disable_hlo_passes=algsimp"},
    elsewhere=without_simplification,
)
_INPUTS = ("float32 matrix", "float32 scalar", "float16 vector", "zero float32 vector", "float32 empty")

ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(
        report="jax#37919 jax#38099 xla#42732",
        docs="jax:faq.html#jit-changes-the-exact-numerics-of-outputs",
        change="xla#45560 xla#48186",
        discussion="jax#38096",
    ),
    touches=("overflow under jit",),
    control=each_alone,
    behaviours={"simplified": "documented", "as-eager": "clear"},
    cases=(
        Case(
            root_of_square,
            rules=_rules("0.11.1", "as xla#45560 describes"),
            workaround=Workaround(
                "Compare the input: jnp.where(jnp.abs(x) > jnp.finfo(x.dtype).max ** 0.5, jnp.inf, jnp.abs(x)).",
                asked_of_the_input,
                elsewhere=Elsewhere(infinite_or_absolute, numpy_root_of_square, _INPUTS, rtol=2e-3),
            ),
            touches=("jax.numpy.square if within('jax.numpy.abs') and within('jax.numpy.sqrt')",),
        ),
        Case(
            log_of_exp,
            rules=_rules("0.11.1", "as xla#45560 describes"),
            workaround=_WITHOUT_SIMPLIFICATION,
            touches=("jax.numpy.log(x) if form(x) == 'jax.numpy.exp'",),
        ),
        Case(exp_times_exp, rules=_rules("0.11.2", "as xla#48186 describes"), workaround=_WITHOUT_SIMPLIFICATION),
        Case(times_and_divided, rules=_rules("0.12"), workaround=_WITHOUT_SIMPLIFICATION),
    ),
)
