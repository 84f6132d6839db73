"""Row zero: does the stack work at all? If one of these two fails, read no other row of its cell.

    train-and-solve   an Equinox MLP takes a gradient step under `filter_jit`; an explicit `diffeqsolve` runs under
                      `jit`, and is differentiated with respect to its initial state and through an MLP vector field
    implicit-solve    Kvaerno5 on a stiff problem of three components

Each value is checked, against a closed form or finite differences. You would expect row zero to be all green, above all
on the line, where each cell is what an installer gave you on that day. It is not: Equinox and Diffrax sit on JAX's
internals, cap no JAX, and need days or weeks to follow. On the line,

    jax 0.4.27                                  no solve at all: jaxprs lose their constants (equinox#716, jax#21116)
    jax 0.4.32, 0.4.33  with equinox < 0.11.7   no gradient of a solve: weak types, closure_convert (equinox#854)
    jax >= 0.4.34       with equinox < 0.11.8   no gradient of a solve: a tangent that is not float0 (diffrax#508)
    jax >= 0.4.36       with diffrax < 0.6.1    no solve at all: jax.core.ConcreteArray is gone (diffrax#527)
    jaxlib 0.7.0                                right answers, then SIGABRT or SIGSEGV at exit (jax#30517)
    jax >= 0.7.1        with equinox < 0.13.1   no implicit solve: Flatten can't be weakly referenced (equinox#1081)
    jax >= 0.8.2        with lineax < 0.1.0     no implicit solve: LU asks a traced bool whether it is true (lineax#187)

That last one needs more than one component: with one, Lineax divides instead of factorising, and jax 0.8.2 looks well.
The crash at exit needs a function made within a function under `filter_jit`: a bare `diffeqsolve` on jaxlib 0.7.0 ends
well. Stale combinations show more: Equinox before 0.11.5, 0.11.11, 0.12.2 and 0.13.1 cannot be imported from jax
0.4.34, 0.6.0, 0.7.0 and 0.10.0 on; jax >= 0.10.0 with equinox < 0.13.3 has no gradient of a solve (get_aval is gone);
the implicit solvers of diffrax 0.6.1 ask for jax.core.Jaxpr, which jax 0.6.0 removed; and diffrax 0.6.2 to 0.7.1 with
optimistix 0.1.0, which their metadata allows, reject each step of Kvaerno3 and Kvaerno5 for any problem; no thread was
found that says so. Time is not looked at: jax 0.7.1 is known as slow (diffrax#680).
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Mapping
from typing import Any

from suite.cell.issue import Case, Expectation, Issue, JudgedAs, Seen, Upstream, main

# How known breakages are recognised: the behaviour's name, the exception's type, and a part of its message.
_SIGNATURES = (
    ("jaxpr-constants-lost", "ValueError", "safe_map() argument 2 is shorter than argument 1"),
    ("closure-convert-weak-type", "ValueError", "Closure-converted function called with different dynamic arguments"),
    ("custom-jvp-tangent-dtype", "TypeError", "Custom JVP rule must produce primal and tangent outputs"),
    ("concrete-array-removed", "AttributeError", "module 'jax.core' has no attribute 'ConcreteArray'"),
    ("flatten-not-weakly-referenced", "TypeError", "cannot create weak reference to 'Flatten' object"),
    ("get-aval-removed", "AttributeError", "get_aval"),
    ("jaxpr-removed", "AttributeError", "has no attribute 'Jaxpr'"),
    ("jaxpr-removed", "AttributeError", "jax.core.Jaxpr was removed"),
    ("params-unhashable", "TypeError", "parameters to jaxpr equations must have __hash__"),
    ("unhashable-dict", "TypeError", "unhashable type: 'dict'"),
    ("implicit-steps-all-rejected", "EquinoxRuntimeError", "The maximum number of solver steps was reached"),
    ("lu-transpose-is-traced", "TracerBoolConversionError", "Attempted boolean conversion of traced array"),
)


def _recognise(exception: Exception) -> Seen:
    """Name the known breakage that `exception` is the signature of, or raise it again."""
    modules = {frame.f_globals.get("__name__") for frame, _ in traceback.walk_tb(exception.__traceback__)}
    for behaviour, type_name, message in _SIGNATURES:
        if type(exception).__name__ != type_name or message not in str(exception):
            continue
        if behaviour == "lu-transpose-is-traced" and "lineax._solver.lu" not in modules:
            continue
        return Seen(behaviour, f"{type_name}: {message}")
    raise exception


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


def _train() -> Seen | None:
    """Take a gradient step with an MLP; return what is wrong, if anything."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    x = jnp.linspace(-1.0, 1.0, 16).reshape(8, 2)
    y = x[:, :1] * x[:, 1:]
    mlp = eqx.nn.MLP(2, 1, width_size=8, depth=1, activation=jnp.tanh, key=jax.random.PRNGKey(0))

    def loss(model: Any) -> Any:
        return jnp.mean((jax.vmap(model)(x) - y) ** 2)

    @eqx.filter_jit  # type: ignore[untyped-decorator]
    def train(model: Any) -> Any:
        value, gradient = eqx.filter_value_and_grad(loss)(model)
        return value, gradient, eqx.apply_updates(model, jax.tree_util.tree_map(lambda g: -0.1 * g, gradient))

    before, gradient, trained = train(mlp)
    slope, by_differences = _directional(loss, mlp, gradient)
    if wrong := _wrong("the slope of the loss", slope, by_differences, 1e-2):
        return Seen("wrong-training-gradient", wrong)
    after = float(loss(trained))
    if not after < float(before):
        return Seen("wrong-training-step", f"a step down the gradient takes the loss from {before:.4g} to {after:.4g}")
    return None


def _solve_and_differentiate() -> Seen | None:
    """Solve, and differentiate in the initial state and through an MLP; return what is wrong, if anything."""
    import diffrax
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    # y' = -y beside an MLP: the one has a closed form, the other does not, and both compile as one.
    def field(t: Any, y: Any, mlp: Any) -> Any:
        return jnp.concatenate([-y[:1], mlp(y[1:])])

    @eqx.filter_jit  # type: ignore[untyped-decorator]
    def solve(start: Any, mlp: Any) -> Any:
        term = diffrax.ODETerm(field)
        return diffrax.diffeqsolve(term, diffrax.Tsit5(), t0=0.0, t1=1.0, dt0=0.1, y0=start, args=mlp).ys[-1]

    start = jnp.array([2.0, 1.0])
    mlp = eqx.nn.MLP(1, 1, width_size=8, depth=1, activation=jnp.tanh, key=jax.random.PRNGKey(1))
    if wrong := _wrong("y(1) of y' = -y, y(0) = 2,", solve(start, mlp)[0], 2 / math.e, 1e-4):
        return Seen("wrong-solution", wrong)
    of_start, of_mlp = eqx.filter_jit(eqx.filter_grad(lambda both: solve(*both).sum()))((start, mlp))
    if wrong := _wrong("dy(1)/dy(0) of y' = -y", of_start[0], 1 / math.e, 1e-4):
        return Seen("wrong-initial-state-gradient", wrong)
    slope, by_differences = _directional(lambda mlp: solve(start, mlp).sum(), mlp, of_mlp)
    if wrong := _wrong("the slope of y(1) along its gradient in the MLP", slope, by_differences, 1e-2):
        return Seen("wrong-field-gradient", wrong)
    return None


def train_and_solve() -> Seen:
    """An MLP trains, an explicit solve runs, and it is differentiated both ways."""
    try:
        wrong = _train() or _solve_and_differentiate()
    except Exception as exception:
        return _recognise(exception)
    return wrong or Seen("works", "a training step, a solve and three gradients are right")


def control_train_and_solve() -> None:
    """The same in plain JAX: a jitted gradient step of tanh regression, and Euler's method, differentiated."""
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
    except Exception as exception:
        return _recognise(exception)
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


_WRONG: Mapping[str, JudgedAs] = {
    "wrong-training-gradient": "affected",
    "wrong-training-step": "affected",
    "wrong-solution": "affected",
    "wrong-initial-state-gradient": "affected",
    "wrong-field-gradient": "affected",
}
_BROKEN: Mapping[str, JudgedAs] = {behaviour: "affected" for behaviour, _, _ in _SIGNATURES}

_LOST_CONSTANTS = Expectation(
    "jaxpr-constants-lost",
    ("jax>=0.4.27,<0.4.28",),
    "run on jax 0.4.27 with equinox 0.11.4; equinox#716 and jax#21116, gone in jax 0.4.28",
)
# Which Equinox can be imported from which JAX: what it takes from jax.core and jaxlib was removed bit by bit.
_NO_IMPORT = (
    Expectation(
        "import-error",
        ("jax>=0.4.34,<0.6.0", "equinox<0.11.5"),
        "run on jax 0.4.34 to 0.5.3 with equinox 0.11.4: jax.core.pp_eqn_rules is gone; 0.11.5 imports on 0.4.34",
    ),
    Expectation(
        "import-error",
        ("jax>=0.6.0,<0.7.0", "equinox<0.11.11"),
        "run on jax 0.6.0 to 0.6.2 with equinox 0.11.4 and 0.11.8: jax.core.Primitive is gone; 0.11.11 imports",
    ),
    Expectation(
        "import-error",
        ("jax>=0.7.0,<0.10.0", "equinox<0.12.2"),
        "run on jax 0.7.0 to 0.9.2 with equinox 0.11.4 and 0.11.8; 0.12.1 wants jaxlib.xla_extension, 0.12.2 imports",
    ),
    Expectation(
        "import-error",
        ("jax>=0.10.0", "equinox<0.13.1"),
        "run on jax 0.10.0 to 0.12.0.1 with equinox 0.12.2 and 0.13.0: batching.NotMapped is gone; 0.13.1 imports",
    ),
)
_GONE_CONCRETE_ARRAY = tuple(
    Expectation(
        "concrete-array-removed",
        (jax, equinox, "diffrax<0.6.1"),
        "run on jax 0.4.36 to 0.5.3 with diffrax 0.6.0, and on 0.9.2; diffrax#527 of diffrax 0.6.1 needs it no more",
    )
    for jax, equinox in (
        ("jax>=0.4.36,<0.6.0", "equinox>=0.11.5"),
        ("jax>=0.6.0,<0.7.0", "equinox>=0.11.11"),
        ("jax>=0.7.0,<0.10.0", "equinox>=0.12.2"),
        ("jax>=0.10.0", "equinox>=0.13.1"),
    )
)

ISSUE = Issue(
    id="stack-smoke",
    title="Row zero: the stack imports, trains, solves and differentiates",
    kind="crash",
    story=(
        "Equinox and Diffrax sit on JAX's internals and cap no JAX, so for days or weeks after some JAX releases what "
        "an installer gives does not work: there is no gradient of a solve, no implicit solve, no solve at all, or the "
        "process dies at its exit after right answers."
    ),
    upstream=(
        Upstream("patrick-kidger/equinox#1084", "report", "open"),
        Upstream("patrick-kidger/diffrax#680", "report", "open"),
        Upstream("patrick-kidger/equinox#716", "report", "closed"),
        Upstream("jax-ml/jax#21116", "report", "closed"),
        Upstream("patrick-kidger/equinox#854", "report", "closed"),
        Upstream("patrick-kidger/equinox#856", "fix", "merged"),
        Upstream("patrick-kidger/diffrax#508", "report", "closed"),
        Upstream("patrick-kidger/equinox#871", "fix", "merged"),
        Upstream("patrick-kidger/diffrax#527", "fix", "merged"),
        Upstream("jax-ml/jax#30517", "report", "closed"),
        Upstream("patrick-kidger/equinox#1081", "report", "closed"),
        Upstream("patrick-kidger/diffrax#717", "report", "open"),
        Upstream("patrick-kidger/lineax#187", "report", "closed"),
    ),
    workaround="None in code: hold JAX back until the libraries have followed, or take their next release.",
    cases=(
        Case(
            id="train-and-solve",
            question="Does an MLP train, does an explicit solve run, and is its gradient right both ways?",
            reproducer=train_and_solve,
            control=control_train_and_solve,
            behaviours={"works": "clear", **_WRONG, **_BROKEN, "crashed": "affected", "import-error": "affected"},
            expectations=(
                Expectation("works", ("jax<0.4.27",), "run on jax 0.4.18 to 0.4.26"),
                _LOST_CONSTANTS,
                Expectation("works", ("jax>=0.4.28,<0.4.32",), "run on jax 0.4.28 to 0.4.31"),
                Expectation(
                    "closure-convert-weak-type",
                    ("jax>=0.4.32,<0.4.34", "equinox<0.11.7"),
                    "run on jax 0.4.33 with equinox 0.11.6; equinox#854, and #856 of equinox 0.11.7",
                ),
                Expectation("works", ("jax>=0.4.32,<0.4.34", "equinox>=0.11.7"), "equinox#856 of equinox 0.11.7"),
                Expectation(
                    "custom-jvp-tangent-dtype",
                    ("jax>=0.4.34,<0.4.36", "equinox>=0.11.5,<0.11.8"),
                    "run on jax 0.4.34 with equinox 0.11.7; diffrax#508, and equinox#871 of equinox 0.11.8",
                ),
                Expectation(
                    "works", ("jax>=0.4.34,<0.4.36", "equinox>=0.11.8"), "run on jax 0.4.35 with equinox 0.11.8"
                ),
                *_NO_IMPORT,
                *_GONE_CONCRETE_ARRAY,
                Expectation(
                    "works", ("jax>=0.4.36,<0.6.0", "equinox>=0.11.5", "diffrax>=0.6.1"), "run on jax 0.4.37 to 0.5.3"
                ),
                Expectation(
                    "works", ("jax>=0.6.0,<0.7.0", "equinox>=0.11.11", "diffrax>=0.6.1"), "run on jax 0.6.0 to 0.6.2"
                ),
                Expectation(
                    "crashed",
                    ("jax>=0.7.0,<0.7.1", "jaxlib<0.7.1", "equinox>=0.12.2", "diffrax>=0.6.1"),
                    "run: right answers, then SIGABRT at exit; jax#30517, mended in jaxlib 0.7.1",
                ),
                Expectation(
                    "params-unhashable",
                    ("jax>=0.7.1,<0.9.2", "jaxlib>=0.7.1", "equinox>=0.12.2,<0.13.0", "diffrax>=0.6.1"),
                    "run on jax 0.7.1 to 0.9.1 with equinox 0.12.2; diffrax#662, equinox#1039 of equinox 0.13.0",
                ),
                Expectation(
                    "unhashable-dict",
                    ("jax>=0.9.2,<0.10.0", "equinox>=0.12.2,<0.13.0", "diffrax>=0.6.1"),
                    "run on jax 0.9.2 with equinox 0.12.2: the same dict, refused by the lowering",
                ),
                Expectation(
                    "works",
                    ("jax>=0.7.1,<0.10.0", "jaxlib>=0.7.1", "equinox>=0.13.0", "diffrax>=0.6.1"),
                    "run on jax 0.7.1 to 0.9.2",
                ),
                Expectation(
                    "get-aval-removed",
                    ("jax>=0.10.0", "equinox>=0.13.1,<0.13.3", "diffrax>=0.6.1"),
                    "run on jax 0.10.0 and 0.12.0.1 with equinox 0.13.2; equinox 0.13.3 asks for jax.typeof first",
                ),
                Expectation(
                    "works",
                    ("jax>=0.10.0", "equinox>=0.13.3", "diffrax>=0.6.1"),
                    "run on jax 0.10.0 to 0.12.0.1",
                ),
            ),
            needs=("jax", "equinox", "diffrax"),
            isolation="fork-and-exit",  # jax#30517 is seen at exit only
        ),
        Case(
            id="implicit-solve",
            question="Does Kvaerno5 solve a stiff problem of three components?",
            reproducer=implicit_solve,
            control=control_implicit_solve,
            behaviours={
                "works": "clear",
                "wrong-solution": "affected",
                **_BROKEN,
                "crashed": "affected",
                "import-error": "affected",
            },
            expectations=(
                Expectation("works", ("jax<0.4.27",), "run on jax 0.4.18 to 0.4.26"),
                _LOST_CONSTANTS,
                Expectation("works", ("jax>=0.4.28,<0.4.34",), "run on jax 0.4.28 to 0.4.33"),
                Expectation("works", ("jax>=0.4.34,<0.4.36", "equinox>=0.11.5"), "run on jax 0.4.34 and 0.4.35"),
                *_NO_IMPORT,
                *_GONE_CONCRETE_ARRAY,
                Expectation(
                    "works", ("jax>=0.4.36,<0.6.0", "equinox>=0.11.5", "diffrax>=0.6.1"), "run on jax 0.4.37 to 0.5.3"
                ),
                Expectation(
                    "works", ("jax>=0.6.0,<0.7.0", "equinox>=0.11.11", "diffrax>=0.6.2"), "run on jax 0.6.0 to 0.6.2"
                ),
                *(
                    Expectation(
                        "jaxpr-removed",
                        (jax, equinox, "diffrax>=0.6.1,<0.6.2"),
                        "run on jax 0.6.0 and 0.9.2 with diffrax 0.6.1: it asks for jax.core.Jaxpr, and 0.6.2 does not",
                    )
                    for jax, equinox in (
                        ("jax>=0.6.0,<0.7.0", "equinox>=0.11.11"),
                        ("jax>=0.7.0", "equinox>=0.13.1"),
                    )
                ),
                Expectation(
                    "params-unhashable",
                    ("jax>=0.7.0,<0.7.1", "equinox>=0.12.2,<0.13.0", "diffrax>=0.6.2"),
                    "run on jax 0.7.0 with equinox 0.12.2; diffrax#662, equinox#1039 of equinox 0.13.0",
                ),
                Expectation(
                    "works",
                    ("jax>=0.7.0,<0.7.1", "equinox>=0.13.0", "diffrax>=0.6.2"),
                    "run on jax 0.7.0 with equinox 0.13.0",
                ),
                Expectation(
                    "flatten-not-weakly-referenced",
                    ("jax>=0.7.1,<0.10.0", "equinox>=0.12.2,<0.13.1", "diffrax>=0.6.2"),
                    "run on jax 0.7.1 to 0.9.2 with equinox 0.12.2 and 0.13.0; equinox#1081, #1082 of equinox 0.13.1",
                ),
                Expectation(
                    "works",
                    ("jax>=0.7.1,<0.8.2", "equinox>=0.13.1", "diffrax>=0.6.2"),
                    "run on jax 0.8.1 with equinox 0.13.2",
                ),
                Expectation(
                    "lu-transpose-is-traced",
                    ("jax>=0.8.2", "equinox>=0.13.1", "diffrax>=0.6.2", "lineax<0.1.0"),
                    "run on jax 0.8.2 and 0.9.0 with lineax 0.0.8; lineax#187, where jax 0.8.1 is well",
                ),
                Expectation(
                    "implicit-steps-all-rejected",
                    ("jax>=0.8.2", "equinox>=0.13.1", "diffrax>=0.6.2,<0.7.2", "lineax>=0.1.0", "optimistix>=0.1.0"),
                    "run on jax 0.9.1 to 0.12.0.1 with diffrax 0.6.2 to 0.7.1 and optimistix 0.1.0, which they allow; "
                    "with optimistix 0.0.11 in its place Kvaerno5 works",
                ),
                Expectation(
                    "works",
                    ("jax>=0.8.2", "equinox>=0.13.1", "diffrax>=0.6.2,<0.7.2", "lineax>=0.1.0", "optimistix<0.1.0"),
                    "run on jax 0.8.3 with diffrax 0.7.0 and 0.9.0.1 with 0.7.1, and optimistix 0.0.11",
                ),
                Expectation(
                    "works",
                    ("jax>=0.8.2", "equinox>=0.13.1", "diffrax>=0.7.2", "lineax>=0.1.0"),
                    "run on jax 0.9.1 to 0.12.0.1: LU in lineax 0.1.0 keeps the flag static",
                ),
            ),
            needs=("jax", "equinox", "diffrax"),
        ),
    ),
)

if __name__ == "__main__":
    main(ISSUE)
