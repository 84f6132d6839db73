"""Row zero: the stack imports, trains, solves and differentiates

If one of these two fails, read no other row of its cell. Each value is checked, against a closed form or finite
differences. You would expect it to be all green, above all on the line, where each cell is what an installer gave that
day. But Equinox and Diffrax sit on JAX's internals and cap no JAX, so for days or weeks after some releases there
is no gradient of a solve, no implicit solve, no solve at all, or the process dies at its exit after right answers.
Some are easily missed. Lineax's LU needs a problem of more than one component: with one it divides instead, and jax
0.8.2 looks well. The crash of jaxlib 0.7.0 needs a function made within a function under `filter_jit`: a bare
`diffeqsolve` ends well. With optimistix 0.1.0, which their metadata allows, diffrax 0.6.2 to 0.7.1 reject each step of
Kvaerno3 and Kvaerno5 for any problem.

Speed is not measured. diffrax#680 has major performance issues with jax 0.7.1, and Equinox excludes 0.7.0 and 0.7.1 on
purpose (equinox#1104): that both cases work on 0.7.1 says nothing against it.
"""

from __future__ import annotations

import math
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def train_and_solve() -> tuple[str, str]:
    """Does an MLP train, does an explicit solve run, and is its gradient right both ways?"""
    import diffrax
    import equinox as eqx
    import jax
    import jax.numpy as jnp
    from jax.tree_util import tree_leaves, tree_map

    def wrong(got: Any, wanted: float, rtol: float) -> str:
        """Return nothing where `got` is `wanted` to within `rtol`; a NaN is never, not even where a NaN is wanted."""
        got = float(got)
        return "" if abs(got - wanted) <= rtol * abs(wanted) else f"{got:.4g}, should be {wanted:.4g}"

    def slopes(loss: Any, model: Any, gradient: Any) -> tuple[float, float]:
        """Return the slope of `loss` along `gradient`: by the gradient itself, and by central differences."""
        norm = math.sqrt(sum(float((leaf**2).sum()) for leaf in tree_leaves(gradient) if eqx.is_array(leaf)))
        steps = (tree_map(lambda leaf, s=s: s * leaf, gradient) for s in (1e-2 / norm, -1e-2 / norm))
        up, down = (eqx.apply_updates(model, step) for step in steps)
        return norm, float(loss(up) - loss(down)) / 2e-2

    x = jnp.linspace(-1.0, 1.0, 16).reshape(8, 2)
    y = x[:, :1] * x[:, 1:]
    mlp = eqx.nn.MLP(2, 1, width_size=8, depth=1, activation=jnp.tanh, key=jax.random.PRNGKey(0))

    def loss(model: Any) -> Any:
        return jnp.mean((jax.vmap(model)(x) - y) ** 2)

    @eqx.filter_jit  # type: ignore[untyped-decorator]
    def train(model: Any) -> Any:
        value, gradient = eqx.filter_value_and_grad(loss)(model)
        return value, gradient, eqx.apply_updates(model, tree_map(lambda g: -0.1 * g, gradient))

    before, gradient, trained = train(mlp)
    if said := wrong(*slopes(loss, mlp, gradient), 1e-2):
        return "wrong-training-gradient", f"the slope of the loss is {said}"
    if not (after := float(loss(trained))) < float(before):
        return "wrong-training-step", f"a step down the gradient takes the loss from {before:.4g} to {after:.4g}"

    # y' = -y beside an MLP: the one has a closed form, the other does not, and both compile as one.
    def field(t: Any, y: Any, mlp: Any) -> Any:
        return jnp.concatenate([-y[:1], mlp(y[1:])])

    @eqx.filter_jit  # type: ignore[untyped-decorator]
    def solve(start: Any, mlp: Any) -> Any:
        term = diffrax.ODETerm(field)
        return diffrax.diffeqsolve(term, diffrax.Tsit5(), t0=0.0, t1=1.0, dt0=0.1, y0=start, args=mlp).ys[-1]

    start = jnp.array([2.0, 1.0])
    mlp = eqx.nn.MLP(1, 1, width_size=8, depth=1, activation=jnp.tanh, key=jax.random.PRNGKey(1))
    if said := wrong(solve(start, mlp)[0], 2 / math.e, 1e-4):
        return "wrong-solution", f"y(1) of y' = -y, y(0) = 2, is {said}"
    of_start, of_mlp = eqx.filter_jit(eqx.filter_grad(lambda both: solve(*both).sum()))((start, mlp))
    if said := wrong(of_start[0], 1 / math.e, 1e-4):
        return "wrong-initial-state-gradient", f"dy(1)/dy(0) of y' = -y is {said}"
    if said := wrong(*slopes(lambda mlp: solve(start, mlp).sum(), mlp, of_mlp), 1e-2):
        return "wrong-field-gradient", f"the slope of y(1) along its gradient in the MLP is {said}"
    return "works", "a training step, a solve and three gradients are right"


def control_train_and_solve() -> None:
    """The same in plain JAX: a jitted gradient step of tanh regression, and Euler's method, differentiated."""
    import jax
    import jax.numpy as jnp

    x = jnp.linspace(-1.0, 1.0, 8)

    def loss(weight: Any) -> Any:
        return jnp.mean((jnp.tanh(weight * x) - x) ** 2)

    def decay(start: Any) -> Any:
        return jax.lax.scan(lambda y, _: (y - y / 100, None), start, None, length=100)[0]

    value, slope = jax.jit(jax.value_and_grad(loss))(2.0)
    assert loss(2.0 - 0.1 * slope) < value, "a step down the gradient does not bring the loss down"
    end, of_start = jax.jit(jax.value_and_grad(decay))(2.0)
    by_differences = float(loss(2.01) - loss(1.99)) / 0.02
    for got, wanted, rtol in ((slope, by_differences, 1e-2), (end, 2 * 0.99**100, 1e-4), (of_start, 0.99**100, 1e-4)):
        assert abs(float(got) - wanted) <= rtol * abs(wanted), f"{got}, should be {wanted}"


# u' = -1000 (u - v w), v' = -v, w' = -2 w from (0, 1, 1): u follows v w within a thousandth of the time they take.
_STIFF_END = (1000 / 997 * math.exp(-3), math.exp(-1), math.exp(-2))


def implicit_solve() -> tuple[str, str]:
    """Does Kvaerno5 solve a stiff problem of three components?"""
    import diffrax
    import jax.numpy as jnp

    def stiff(t: Any, y: Any, args: Any) -> Any:
        u, v, w = y
        return jnp.stack([-1000.0 * (u - v * w), -v, -2 * w])

    term, solver, y0 = diffrax.ODETerm(stiff), diffrax.Kvaerno5(), jnp.array([0.0, 1.0, 1.0])
    pid = diffrax.PIDController(rtol=1e-3, atol=1e-5)
    sol = diffrax.diffeqsolve(term, solver, t0=0.0, t1=1.0, dt0=1e-3, y0=y0, stepsize_controller=pid)
    found, evidence = compare(sol.ys[-1], _STIFF_END, rtol=1e-2)
    return "works" if found == "agrees" else "wrong-solution", f"u(1), v(1), w(1) are {evidence}"


def control_implicit_solve() -> None:
    """The same problem in plain JAX: backward Euler, with four steps of Newton's method each."""
    import jax
    import jax.numpy as jnp

    def backward_euler(y: Any, _: Any) -> Any:
        def residual(end: Any) -> Any:
            u, v, w = end
            return end - y - 1e-3 * jnp.stack([-1000.0 * (u - v * w), -v, -2 * w])

        end = y
        for _ in range(4):
            end = end - jnp.linalg.solve(jax.jacfwd(residual)(end), residual(end))
        return end, None

    end, _ = jax.jit(lambda y: jax.lax.scan(backward_euler, y, None, length=1000))(jnp.array([0.0, 1.0, 1.0]))
    found, evidence = compare(end, _STIFF_END, rtol=1e-2)
    assert found == "agrees", evidence


_SIGNATURES = {
    "astype-not-there": Signature("AttributeError", "module 'jax.numpy' has no attribute 'astype'"),
    "scipy-tril-removed": Signature("AttributeError", "module 'scipy.linalg' has no attribute 'tril'"),
    "jaxpr-constants-lost": Signature("ValueError", "safe_map() argument 2 is shorter than argument 1"),
    "closure-convert-weak-type": Signature("ValueError", "Closure-converted function called with different dynamic"),
    "custom-jvp-tangent-dtype": Signature("TypeError", "Custom JVP rule must produce primal and tangent outputs"),
    "concrete-array-removed": Signature("AttributeError", "module 'jax.core' has no attribute 'ConcreteArray'"),
    "flatten-not-weakly-referenced": Signature("TypeError", "cannot create weak reference to 'Flatten' object"),
    "get-aval-removed": Signature("AttributeError", "get_aval"),
    "jaxpr-removed": Signature("AttributeError", "jax.core…Jaxpr"),
    "params-unhashable": Signature("TypeError", "parameters to jaxpr equations must have __hash__"),
    "unhashable-dict": Signature("TypeError", "unhashable type: 'dict'", everyday=True),
    "implicit-steps-all-rejected": Signature("EquinoxRuntimeError", "The maximum number of solver steps was reached"),
    "lu-transpose-is-traced": Signature("TracerBoolConversionError", "boolean conversion of", "lineax._solver.lu"),
}
_STOPS = (*_SIGNATURES, "crashed", "import-error")
# What stops both cases: what Equinox takes from JAX when it is imported was removed bit by bit.
_BOTH = (
    Rule("import-error", "jax<0.4.24 numpy>=2.4", "numpy.trapz is gone; with 1.26.4 it imports"),
    Rule("crashed", "jax<0.4.26 numpy>=2.0", "any array is a SIGSEGV; jaxlib is built for NumPy 1, from 0.4.26 for 2"),
    Rule("import-error", "jax>=0.10.0 equinox<0.13.1", "batching.NotMapped is gone; 0.13.1 imports"),
    Rule("import-error", "jax>=0.6.1 equinox<0.12.2", "jaxlib.xla_extension is gone; 0.12.2 imports"),
    Rule("import-error", "jax>=0.6.0 equinox<0.11.11", "jax.core.Primitive is gone; 0.11.11 imports"),
    Rule("import-error", "jax>=0.4.34 equinox<0.11.5", "jax.core.pp_eqn_rules is gone; 0.11.5 imports"),
    Rule("jaxpr-constants-lost", "jax==0.4.27", "equinox#716, jax#21116, gone in jax 0.4.28"),
    Rule("astype-not-there", "jax<0.4.21 diffrax>=0.5.0"),
    Rule("get-aval-removed", "jax>=0.10.0 diffrax<0.6.1"),
    Rule("concrete-array-removed", "jax>=0.4.36 diffrax<0.6.1", "diffrax#527"),
)
_NO_DICTS = Rule("params-unhashable", "jax>=0.7.0 equinox<0.13.0", "diffrax#662, equinox#1039")
_WORKS = Rule("works")
_WORKAROUND = Workaround(
    "None in code: hold JAX, or NumPy, back until what imports it has followed; or take the next release of that."
)

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(
        report="equinox#1084 diffrax#680 equinox#716 jax#21116 equinox#854 diffrax#508 jax#30517 equinox#1081 "
        "diffrax#717 lineax#187",
        fix="equinox#856 equinox#871 diffrax#527",
        change="equinox#1104",
    ),
    cases=(
        Case(
            train_and_solve,
            control_train_and_solve,
            behaviours={
                "wrong-training-gradient": "affected",
                "wrong-training-step": "affected",
                "wrong-solution": "affected",
                "wrong-initial-state-gradient": "affected",
                "wrong-field-gradient": "affected",
                **dict.fromkeys(_STOPS, "affected"),
            },
            signatures=_SIGNATURES,
            rules=(
                *_BOTH,
                Rule("crashed", "jaxlib==0.7.0", "SIGABRT or SIGSEGV at exit; jax#30517, gone in 0.7.1"),
                Rule("unhashable-dict", "jax>=0.9.2 equinox<0.13.0", "the lowering refuses it"),
                _NO_DICTS,
                Rule("get-aval-removed", "jax>=0.10.0 equinox<0.13.3", "0.13.3 asks jax.typeof first"),
                Rule("custom-jvp-tangent-dtype", "jax>=0.4.34 equinox<0.11.8", "diffrax#508, mended by equinox#871"),
                Rule("closure-convert-weak-type", "jax>=0.4.32 equinox<0.11.7", "equinox#854, #856"),
                _WORKS,
            ),
            workaround=_WORKAROUND,
            needs=("jax", "equinox", "diffrax"),
            isolation="fork-and-exit",  # jax#30517 is seen at exit only
        ),
        Case(
            implicit_solve,
            control_implicit_solve,
            behaviours={"wrong-solution": "affected", **dict.fromkeys(_STOPS, "affected")},
            signatures=_SIGNATURES,
            rules=(
                *_BOTH,
                Rule("scipy-tril-removed", "jax<0.4.24 scipy>=1.13"),
                Rule("jaxpr-removed", "jax>=0.6.0 diffrax<0.6.2", "0.6.2 asks for it no more"),
                Rule("flatten-not-weakly-referenced", "jax>=0.7.1 equinox<0.13.1", "equinox#1081, #1082"),
                _NO_DICTS,
                Rule("lu-transpose-is-traced", "jax>=0.8.2 lineax<0.1.0", "lineax#187"),
                Rule("implicit-steps-all-rejected", "optimistix>=0.1.0 diffrax<0.7.2"),
                _WORKS,
            ),
            workaround=_WORKAROUND,
            needs=("jax", "equinox", "diffrax"),
        ),
    ),
    row_zero=True,
)
