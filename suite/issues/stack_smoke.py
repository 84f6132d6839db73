"""Row zero: does the stack work at all?

Two things that everybody does, with every value checked: if one of them fails, no other row of this cell needs reading.

    train-and-solve   an Equinox MLP takes a gradient step under `filter_jit`; an explicit `diffeqsolve` runs under `jit`,
                      and is differentiated with respect to its initial state and through an MLP vector field
    implicit-solve    Kvaerno5 on a stiff problem of three components
"""

from __future__ import annotations

import math
from typing import Any

from suite.issue import Case, Expectation, Issue, Seen, Upstream, main


def _wrong(what: str, got: Any, expected: Any, rtol: float) -> str:
    """Return what is wrong in words, or nothing if `got` is `expected` to within `rtol` (and so not NaN either)."""
    got, expected = float(got), float(expected)
    return "" if abs(got - expected) <= rtol * abs(expected) else f"{what} is {got:.4g}, should be {expected:.4g}"


def _directional(loss: Any, model: Any, gradient: Any) -> tuple[float, float]:
    """Return the slope of `loss` at `model` along `gradient`: from the gradient itself, and by central differences."""
    import equinox as eqx
    import jax

    arrays = [leaf for leaf in jax.tree_util.tree_leaves(gradient) if eqx.is_array(leaf)]
    norm = math.sqrt(sum(float((leaf**2).sum()) for leaf in arrays))
    step = 1e-2 / norm
    up, down = (
        eqx.apply_updates(model, jax.tree_util.tree_map(lambda leaf, s=s: s * leaf, gradient)) for s in (step, -step)
    )
    return norm, float(loss(up) - loss(down)) / 2e-2


def train_and_solve() -> Seen:
    """An MLP trains, an explicit solve runs, and it is differentiated both ways."""
    import diffrax
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    x = jnp.linspace(-1.0, 1.0, 16).reshape(8, 2)
    y = x[:, :1] * x[:, 1:]
    mlp = eqx.nn.MLP(2, 1, width_size=8, depth=1, activation=jnp.tanh, key=jax.random.PRNGKey(0))

    def loss(model: Any) -> Any:
        return jnp.mean((jax.vmap(model)(x) - y) ** 2)

    @eqx.filter_jit
    def train(model: Any) -> Any:
        value, gradient = eqx.filter_value_and_grad(loss)(model)
        return value, gradient, eqx.apply_updates(model, jax.tree_util.tree_map(lambda g: -0.1 * g, gradient))

    before, gradient, trained = train(mlp)
    slope, by_differences = _directional(loss, mlp, gradient)
    if wrong := _wrong("the slope of the loss", slope, by_differences, 1e-2):
        return Seen("wrong-training-gradient", wrong)
    after = float(loss(trained))
    if not after < float(before):
        return Seen("wrong-training-step", f"a step down the gradient takes the loss from {float(before):.4g} to {after:.4g}")

    def solve(field: Any, start: Any, args: Any = None) -> Any:
        controller = diffrax.PIDController(rtol=1e-5, atol=1e-7)
        term = diffrax.ODETerm(field)
        solution = diffrax.diffeqsolve(
            term, diffrax.Tsit5(), 0.0, 1.0, 0.1, start, args=args, stepsize_controller=controller
        )
        return solution.ys[-1, 0]

    def decay(start: Any) -> Any:
        return solve(lambda t, y, args: -y, start)

    start = jnp.array([2.0])
    if wrong := _wrong("y(1) of y' = -y, y(0) = 2,", jax.jit(decay)(start), 2 / math.e, 1e-4):
        return Seen("wrong-solution", wrong)
    if wrong := _wrong("dy(1)/dy(0) of y' = -y", jax.jit(jax.grad(decay))(start)[0], 1 / math.e, 1e-4):
        return Seen("wrong-initial-state-gradient", wrong)

    field = eqx.nn.MLP(1, 1, width_size=8, depth=1, activation=jnp.tanh, key=jax.random.PRNGKey(1))

    @eqx.filter_jit
    def end(model: Any) -> Any:
        return solve(lambda t, y, args: args(y), jnp.array([1.0]), model)

    slope, by_differences = _directional(end, field, eqx.filter_jit(eqx.filter_grad(end))(field))
    if wrong := _wrong("the slope of y(1) along its gradient in the MLP", slope, by_differences, 1e-2):
        return Seen("wrong-field-gradient", wrong)
    return Seen("works", "one training step and three gradients are right")


def control_train_and_solve() -> None:
    """The same in plain JAX: a jitted gradient step of tanh regression, and Euler's method in a scan, differentiated."""
    import jax
    import jax.numpy as jnp

    x = jnp.linspace(-1.0, 1.0, 8)

    def loss(weight: Any) -> Any:
        return jnp.mean((jnp.tanh(weight * x) - x) ** 2)

    value, gradient = jax.jit(jax.value_and_grad(loss))(2.0)
    by_differences = (loss(2.01) - loss(1.99)) / 0.02
    if wrong := _wrong("the gradient of the loss", gradient, by_differences, 1e-2):
        raise AssertionError(wrong)
    if not loss(2.0 - 0.1 * gradient) < value:
        raise AssertionError("a step down the gradient does not bring the loss down")

    def decay(start: Any) -> Any:
        return jax.lax.scan(lambda y, _: (y - y / 100, None), start, None, length=100)[0]

    value, gradient = jax.jit(jax.value_and_grad(decay))(2.0)
    if wrong := _wrong("y(1)", value, 2 * 0.99**100, 1e-4) or _wrong("dy(1)/dy(0)", gradient, 0.99**100, 1e-4):
        raise AssertionError(wrong)


# u follows the product of v and w within a thousandth of the time that they need to change.
_RATE = 1000.0


def _stiff(t: Any, y: Any, args: Any) -> Any:
    import jax.numpy as jnp

    u, v, w = y
    return jnp.stack([-_RATE * (u - v * w), -v, -2 * w])


def _stiff_closed_form() -> tuple[float, float, float]:
    return _RATE / (_RATE - 3) * math.exp(-3), math.exp(-1), math.exp(-2)


def implicit_solve() -> Seen:
    """Kvaerno5 solves a stiff problem of three components, and ends where the closed form does."""
    import diffrax
    import jax.numpy as jnp
    from jax.errors import TracerBoolConversionError

    try:
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(_stiff),
            diffrax.Kvaerno5(),
            t0=0.0,
            t1=1.0,
            dt0=1e-3,
            y0=jnp.array([0.0, 1.0, 1.0]),
            stepsize_controller=diffrax.PIDController(rtol=1e-3, atol=1e-5),
        )
    except TracerBoolConversionError as exception:
        traceback = exception.__traceback__
        while traceback is not None and traceback.tb_next is not None:
            if traceback.tb_frame.f_globals.get("__name__") == "lineax._solver.lu":
                return Seen("lu-transpose-is-traced", "TracerBoolConversionError in lineax._solver.lu")
            traceback = traceback.tb_next
        raise
    for name, got, expected in zip("uvw", solution.ys[-1], _stiff_closed_form(), strict=True):
        if wrong := _wrong(f"{name}(1)", got, expected, 1e-2):
            return Seen("wrong-solution", wrong)
    return Seen("works", "u(1), v(1) and w(1) are right to 1%")


def control_implicit_solve() -> None:
    """The same problem in plain JAX: backward Euler, with four steps of Newton's method each."""
    import jax
    import jax.numpy as jnp

    def backward_euler(y: Any, _: Any) -> Any:
        def residual(end: Any) -> Any:
            return end - y - 1e-3 * _stiff(0.0, end, None)

        end = y
        for _ in range(4):
            end = end - jnp.linalg.solve(jax.jacfwd(residual)(end), residual(end))
        return end, None

    end, _ = jax.jit(lambda y: jax.lax.scan(backward_euler, y, None, length=1000))(jnp.array([0.0, 1.0, 1.0]))
    for name, got, expected in zip("uvw", end, _stiff_closed_form(), strict=True):
        if wrong := _wrong(f"{name}(1)", got, expected, 1e-2):
            raise AssertionError(wrong)


ISSUE = Issue(
    id="stack-smoke",
    title="Row zero: the stack imports, trains, solves and differentiates",
    kind="crash",
    story="",
    upstream=(),
    workaround="",
    cases=(
        Case("train-and-solve", "?", train_and_solve, control_train_and_solve, {k: "affected" for k in ("wrong-training-gradient","wrong-training-step","wrong-solution","wrong-initial-state-gradient","wrong-field-gradient")} | {"works":"clear"}, ()),
        Case("implicit-solve", "?", implicit_solve, control_implicit_solve, {"works":"clear","wrong-solution":"affected","lu-transpose-is-traced":"affected"}, ()),
    ),
)

if __name__ == "__main__":
    main(ISSUE)
