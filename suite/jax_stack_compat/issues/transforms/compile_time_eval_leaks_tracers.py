"""solve, interp and map raise in ensure_compile_time_eval; relu is traced

`jax.ensure_compile_time_eval` evaluates primitives while JAX traces. A tracer escaped from `jnp.linalg.solve`
(jax#25847) and `jnp.interp`, until 6f3a8b4a75 stopped treating that tracer as a constant. Until jax#33711, JAX traced
functions with a `custom_jvp` or `custom_vjp`, such as `jax.nn.relu`, instead of evaluating them (jax#30787). The
primitive for empty arrays had no evaluation rule until 858efa0147, so `jax.lax.map` could raise.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround, compare, members


def linear_solve() -> tuple[str, str]:
    """Does jnp.linalg.solve return the solution under jax.ensure_compile_time_eval?"""
    import jax
    import jax.numpy as jnp

    with jax.ensure_compile_time_eval():
        return compare(jnp.linalg.solve(2.0 * jnp.eye(2), jnp.ones(2)), [0.5, 0.5])


def primitives() -> None:
    """Under jit, jax.ensure_compile_time_eval evaluates a sum, a scan without outputs and a gradient."""
    import jax
    import jax.numpy as jnp

    def traced() -> float:
        with jax.ensure_compile_time_eval():
            looped = jax.lax.scan(lambda c, _: (c + 1.0, None), 0.0, None, length=3)[0]
            return float(jnp.sum(jnp.ones(3))) + float(looped) + float(jax.grad(lambda x: x * x)(3.0))

    assert jax.jit(traced)() == 12.0


def by_numpy() -> None:
    """While jit traces, np.linalg.solve and np.maximum give values without jax.ensure_compile_time_eval."""
    import jax
    import numpy as np

    def traced() -> float:
        return float(np.linalg.solve(2.0 * np.eye(2), np.ones(2))[0] + np.maximum(np.ones(()), 0.0))

    assert jax.jit(traced)() == 1.5


def constant_solution(a: Any, b: Any) -> Any:
    """While jit traces, solve with NumPy."""
    import jax
    import numpy as np

    return jax.jit(lambda: np.linalg.solve(a, b))()


def by_inverse(a: Any, b: Any) -> Any:
    """Return the product of the inverse matrix and b."""
    import numpy as np

    return np.linalg.inv(np.asarray(a, complex)) @ b


def relu() -> tuple[str, str]:
    """Does jax.ensure_compile_time_eval evaluate jax.nn.relu, a custom_jvp, while jit traces?"""
    import jax
    import jax.numpy as jnp

    def traced() -> float:
        with jax.ensure_compile_time_eval():
            return float(jax.nn.relu(jnp.ones(())))

    return compare(jax.jit(traced)(), 1.0)


def constant_maximum(x: Any) -> Any:
    """While jit traces, take the maximum with NumPy."""
    import jax
    import numpy as np

    return jax.jit(lambda: np.maximum(x, 0))()


def positive_part(x: Any) -> Any:
    """Return x where it is positive, else 0."""
    import numpy as np

    return np.where(x > 0, x, 0)


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
    """While jit traces, jax.ensure_compile_time_eval evaluates a function without custom_vjp."""
    import jax
    import jax.numpy as jnp

    def double(x: jax.Array) -> jax.Array:
        return 2.0 * x

    def traced() -> float:
        with jax.ensure_compile_time_eval():
            return float(double(jnp.ones(())))

    assert jax.jit(traced)() == 2.0


def undecorated_clipped_product() -> None:
    """jax.ensure_compile_time_eval evaluates an undecorated function of two arguments, for integers and a matrix."""
    import jax
    import jax.numpy as jnp

    def product(x: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.sum(x * y)

    clipped = jax.custom_vjp(product)
    clipped.defvjp(
        lambda x, y: (product(x, y), (x, y)),
        lambda rest, ct: (jnp.clip(ct * rest[1], -1, 1), jnp.clip(ct * rest[0], -1, 1)),
    )

    def loss(x: jax.Array) -> jax.Array:
        with jax.ensure_compile_time_eval():
            scale = int(product(jnp.arange(3), jnp.arange(3)))
            offset = product(jnp.full((2, 3), 0.5, jnp.float16), jnp.ones(3, jnp.float16)).item()
        return clipped(x, x) * scale + offset

    assert jax.jit(loss)(jnp.ones(2)) == 13.0
    assert jax.jit(jax.grad(loss))(jnp.ones(2)).tolist() == [2.0, 2.0]


def mapped() -> tuple[str, str]:
    """Does jax.lax.map return its values under jax.ensure_compile_time_eval?"""
    import jax
    import jax.numpy as jnp

    with jax.ensure_compile_time_eval():
        return compare(jax.lax.map(lambda x: x + 1.0, jnp.ones(2)), [2.0, 2.0])


def vmap_instead() -> None:
    """Under jax.ensure_compile_time_eval, jax.vmap(f)(x) returns the values of jax.lax.map(f, x)."""
    import jax
    import jax.numpy as jnp

    def traced() -> list[float]:
        with jax.ensure_compile_time_eval():
            return jax.vmap(lambda x: x + 1.0)(jnp.ones(2)).tolist()  # type: ignore[no-any-return]

    assert jax.jit(lambda: jnp.array(traced()))().tolist() == traced() == [2.0, 2.0]


def by_vmap(x: Any) -> Any:
    """Apply a function to each row with vmap, under jax.ensure_compile_time_eval."""
    import jax

    with jax.ensure_compile_time_eval():
        return jax.vmap(lambda row: row * 2 + 1)(x)


def row_by_row(x: Any) -> Any:
    """Apply `row * 2 + 1` to each row in a Python loop."""
    import numpy as np

    return np.array([row * 2 + 1 for row in x])


def interp() -> tuple[str, str]:
    """Does jnp.interp return its value under jax.ensure_compile_time_eval?"""
    import jax
    import jax.numpy as jnp

    with jax.ensure_compile_time_eval():
        return compare(jnp.interp(1.5, jnp.arange(3.0), jnp.array([0.0, 1.0, 4.0])), 2.5)


def numpy_interp() -> None:
    """While jit traces, np.interp returns a value, and needs no jax.ensure_compile_time_eval."""
    import jax
    import numpy as np

    assert jax.jit(lambda: np.interp(1.5, np.arange(3.0), np.array([0.0, 1.0, 4.0])))() == 2.5


def constant_interpolation(x: Any) -> Any:
    """While jit traces, interpolate squares with NumPy."""
    import jax
    import numpy as np

    return jax.jit(lambda: np.interp(x, np.arange(4.0), np.array([0.0, 1.0, 4.0, 9.0])))()


def between_squares(x: Any) -> Any:
    """Interpolate between the squares 0, 1, 4 and 9; beyond them, return 0 or 9."""
    import numpy as np

    x = np.clip(np.asarray(x, float), 0.0, 3.0)
    low = np.minimum(np.floor(x), 2.0)
    return low**2 + (2.0 * low + 1.0) * (x - low)


_INSIDE = " if within('jax.ensure_compile_time_eval')"
_OLD = Rule("agrees", "jax<0.4.36")
_ESCAPED = {"leaked": Signature("UnexpectedTracerError", "Encountered an unexpected tracer")}
_UNTIL_0_6_1 = (_OLD, Rule("leaked", "jax<0.6.1", "jax#25847"), Rule("agrees", "", "6f3a8b4a75"))

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="jax#25847 jax#30787", fix="jax@6f3a8b4a75 jax#33711 jax@858efa0147"),
    known_by=r"compile_time_eval",
    control=primitives,
    rules=(_OLD, Rule("leaked", "jax<0.8.2"), Rule("agrees", "", "jax#33711")),
    signatures={"leaked": Signature("ConcretizationTypeError", "Abstract tracer value encountered")},
    cases=(
        Case(
            linear_solve,
            rules=_UNTIL_0_6_1,
            signatures=_ESCAPED,
            workaround=Workaround(
                "For NumPy arrays and one nonsingular matrix a, call np.linalg.solve(a, b).",
                by_numpy,
                elsewhere=Elsewhere(
                    constant_solution,
                    by_inverse,
                    (
                        *("int32 square, float32 matrix", "uint8 square, float32 square"),
                        *("complex64 batch, complex64 batch", "bool square, int32 matrix"),
                    ),
                    rtol=1e-4,
                    atol=1e-4,
                ),
            ),
            touches=(
                *members("jax.numpy.linalg", "solve inv tensorsolve", _INSIDE),
                *members("jax.scipy.linalg", "solve expm", _INSIDE),
                f"jax.lax.custom_linear_solve{_INSIDE}",
            ),
        ),
        Case(
            relu,
            workaround=Workaround(
                "For relu of a NumPy array, use NumPy instead: np.maximum(x, 0).",
                by_numpy,
                elsewhere=Elsewhere(
                    constant_maximum,
                    positive_part,
                    ("float32 scalar", "float16 matrix", "int32 vector", "float32 empty", "zero float32 vector"),
                ),
            ),
            touches=(
                "jax.ensure_compile_time_eval if uses('jax.custom_jvp')",
                *members("jax.nn", "relu relu6", _INSIDE),
                *members("jax.scipy.special", "expi exp1 expn logit xlogy entr log_ndtr rel_entr kl_div zeta", _INSIDE),
                f"jax.numpy.linalg.pinv{_INSIDE}",
            ),
        ),
        Case(
            custom_vjp,
            workaround=Workaround(
                "Keep the undecorated f beside g = jax.custom_vjp(f), and call f.",
                undecorated,
                elsewhere=undecorated_clipped_product,
            ),
            touches=("jax.ensure_compile_time_eval if uses('jax.custom_vjp', 'equinox.filter_custom_vjp')",),
        ),
        Case(
            mapped,
            rules=(_OLD, Rule("no-rule", "jax<0.8.0"), Rule("agrees", "", "858efa0147")),
            signatures={"no-rule": Signature("NotImplementedError", "Evaluation rule for 'empty")},
            workaround=Workaround(
                "If memory suffices, replace lax.map by jax.vmap(f)(x), which holds all rows at once.",
                vmap_instead,
                elsewhere=Elsewhere(
                    by_vmap,
                    row_by_row,
                    ("int32 matrix", "float16 vector", "complex64 batch", "float32 empty", "uint8 vector"),
                ),
            ),
            touches=(
                f"jax.lax.scan{_INSIDE} and unseen",  # of outputs
                *members("jax", "lax.map scipy.special.bessel_jn experimental.ode.odeint", _INSIDE),
            ),
        ),
        Case(
            interp,
            rules=_UNTIL_0_6_1,
            signatures=_ESCAPED,
            workaround=Workaround(
                "For interp of NumPy arrays, use np.interp(x, xp, fp), which computes in float64.",
                numpy_interp,
                elsewhere=Elsewhere(
                    constant_interpolation,
                    between_squares,
                    ("float32 scalar", "float16 matrix", "int32 vector", "float32 empty", "float32 batch"),
                    rtol=1e-6,
                ),
            ),
            touches=(
                *members("jax.numpy", "interp searchsorted digitize histogram piecewise", _INSIDE),
                f"jax.scipy.special.betainc{_INSIDE}",
            ),
        ),
    ),
)
