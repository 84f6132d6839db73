"""unhashable type: 'DynamicJaxprTracer', from a callable in lax.while_loop

`lax.while_loop` hashes its functions; an object that hashes its fields then hashes a tracer stored in a field
(`while_loop_callable`). Tracers were hashable by accident (jax#21824), so jax#21863 made hashing them a warning, and
jax#24722 an error (`hash_tracer`). Equinox's loop passed an object that hashes tracers, and since equinox#769 passes a
lambda (`diffeqsolve`). The cache of jax#29498 needs hashable equation parameters (`jaxpr_params`).
"""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest import mock

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround


def diffeqsolve() -> tuple[str, str]:
    """Does the first diffrax.diffeqsolve example of Diffrax's documentation hash a tracer?"""
    import diffrax

    # As documented, but y0 is a float.
    term, solver = diffrax.ODETerm(lambda t, y, args: -y), diffrax.Dopri5()
    saveat, pid = diffrax.SaveAt(ts=[0.0, 1.0, 2.0, 3.0]), diffrax.PIDController(rtol=1e-5, atol=1e-5)
    sol = diffrax.diffeqsolve(term, solver, t0=0, t1=3, dt0=0.1, y0=1.0, saveat=saveat, stepsize_controller=pid)
    end = float(sol.ys[-1])
    assert abs(end - math.exp(-3)) <= 1e-4, f"diffeqsolve gave {end:.6f} for exp(-3)"
    return "solved", "y(3) is exp(-3) to 1e-4; no warning"


def control_diffeqsolve() -> None:
    """Euler's method solves y' = -y in a `lax.while_loop` of plain functions that close over tracers."""
    import jax

    def solve(y0: Any, dt: Any, steps: Any) -> Any:
        start = (jax.numpy.zeros_like(steps), y0)
        return jax.lax.while_loop(lambda c: c[0] < steps, lambda c: (c[0] + 1, c[1] - dt * c[1]), start)[1]

    end = float(jax.jit(solve)(1.0, 1e-3, 3000))
    assert abs(end - math.exp(-3)) <= 1e-3, f"Euler's method gave {end:.6f} for exp(-3)"


def solve_with_lambdas() -> None:
    """diffeqsolve succeeds if lambdas wrap the functions of `lax.while_loop`, as in Equinox since equinox#769."""
    import jax

    while_loop = jax.lax.while_loop

    def with_lambdas(cond_fun: Any, body_fun: Any, init_val: Any) -> Any:
        return while_loop(lambda carry: cond_fun(carry), lambda carry: body_fun(carry), init_val)

    with mock.patch.object(jax.lax, "while_loop", with_lambdas), warnings.catch_warnings():
        warnings.filterwarnings("error", "unhashable type", FutureWarning)
        diffeqsolve()


def predators_with_lambdas() -> None:
    """The predator-prey solve of diffrax#445 keeps its invariant if lax.while_loop gets lambdas."""
    import diffrax
    import jax

    def field(t: Any, y: Any, args: Any) -> Any:
        prey, predators = y
        return 0.1 * prey - 0.02 * prey * predators, 0.02 * prey * predators - 0.4 * predators

    def invariant(prey: Any, predators: Any) -> float:
        return float(0.02 * prey - 0.4 * math.log(prey) + 0.02 * predators - 0.1 * math.log(predators))

    while_loop = jax.lax.while_loop

    def with_lambdas(cond_fun: Any, body_fun: Any, init_val: Any) -> Any:
        return while_loop(lambda carry: cond_fun(carry), lambda carry: body_fun(carry), init_val)

    with mock.patch.object(jax.lax, "while_loop", with_lambdas), warnings.catch_warnings():
        warnings.filterwarnings("error", "unhashable type", FutureWarning)
        sol = diffrax.diffeqsolve(diffrax.ODETerm(field), diffrax.Tsit5(), 0.0, 14.0, 0.1, (10.0, 10.0))
    end = invariant(*(float(values[-1]) for values in sol.ys))
    assert abs(end - invariant(10.0, 10.0)) <= 1e-4, end


@dataclass(frozen=True)
class _Below:
    """A condition for `lax.while_loop`: an object that hashes its field."""

    limit: Any

    def __call__(self, count: Any) -> Any:
        return count < self.limit


def while_loop_callable() -> tuple[str, str]:
    """Can lax.while_loop take a cond_fun object that hashes its fields, if one field is a tracer?"""
    import jax

    count_to = jax.jit(lambda n: jax.lax.while_loop(_Below(n), lambda count: count + 1, jax.numpy.zeros_like(n)))
    assert (count := int(count_to(5))) == 5, f"lax.while_loop counted to {count}"
    return "looped", "counted to 5; no warning"


def control_while_loop_callable() -> None:
    """lax.while_loop takes a cond_fun object that hashes its field, a Python int."""
    import jax

    count_to = jax.jit(lambda n: jax.lax.while_loop(_Below(5), lambda count: count + 1, jax.numpy.zeros_like(n)))
    assert (count := int(count_to(5))) == 5, f"lax.while_loop counted to {count}"


def wrap_in_a_lambda() -> None:
    """lax.while_loop takes a lambda that calls an object with a tracer field."""
    import jax

    count_to = jax.jit(lambda n: jax.lax.while_loop(lambda c: _Below(n)(c), lambda c: c + 1, jax.numpy.zeros_like(n)))
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "unhashable type", FutureWarning)
        assert (count := int(count_to(5))) == 5, f"lax.while_loop counted to {count}"


@dataclass(frozen=True)
class _Add:
    """A body for `lax.while_loop`: an object that hashes its field."""

    step: Any

    def __call__(self, carry: Any) -> Any:
        count, total = carry
        return count + 1, total + self.step


def added_three_times(x: Any, step: Any) -> Any:
    """Add `step` three times, in a loop of lambdas that call objects with tracers."""
    import jax

    def loop(x: Any, step: Any, limit: Any) -> Any:
        return jax.lax.while_loop(lambda c: _Below(limit)(c[0]), lambda c: _Add(step)(c), (0, x))[1]

    return jax.jit(loop)(x, step, 3)


def numpy_sum(x: Any, step: Any) -> Any:
    """Add `step` three times with NumPy."""
    return x + step + step + step


def hash_tracer() -> tuple[str, str]:
    """Does hash(tracer) return an int?"""
    import jax

    (key,) = jax.jit(lambda x: {hash(x): x})(1.0)
    assert type(key) is int, key
    return "hashed", "hash(tracer) is an int; no warning"


def control_hash_tracer() -> None:
    """A concrete array is not hashable, but the shape and dtype of a tracer are."""
    import jax
    import jax.numpy as jnp

    with contextlib.suppress(TypeError):
        raise AssertionError(f"a concrete array hashed, to {hash(jnp.ones(()))}")
    (key,) = jax.jit(lambda x: {hash((x.shape, x.dtype)): x})(jnp.ones(3, dtype="float32"))
    assert key == hash(((3,), jnp.dtype("float32"))), key


def hash_a_closure() -> None:
    """A function that closes over a tracer is hashable, and can be a key."""
    import jax

    out = jax.jit(lambda x: (lambda key: {key: key() + 1}[key])(lambda: x))(1.0)
    assert float(out) == 2.0, "the dict keyed on a closure lost its value"


def keyed_by_closures(x: Any) -> Any:
    """Look up two values by functions that close over tracers."""
    import jax

    def looked_up(x: Any) -> Any:
        keys: list[Callable[[], Any]] = [lambda: x, lambda: x + x]
        values = {key: key() for key in keys}
        return values[keys[0]] + values[keys[1]]

    return jax.jit(looked_up)(x)


def tripled(x: Any) -> Any:
    """Multiply by 3."""
    return x + x + x


def jaxpr_params() -> tuple[str, str]:
    """Can Primitive.bind take a dict as a parameter under jit?"""
    import jax

    scale = _scale()
    out = float(jax.jit(lambda x: scale.bind(x, options={"by": 2.0}))(jax.numpy.ones(())))
    assert out == 2.0, f"the primitive gave {out}"
    return "accepted", "ran with a dict as parameter"


def control_jaxpr_params() -> None:
    """Without jit, JAX makes no equation, and the primitive takes a dict."""
    import jax

    out = float(_scale().bind(jax.numpy.ones(()), options={"by": 2.0}))
    assert out == 2.0, f"the primitive gave {out} outside jit"


def pass_a_tuple() -> None:
    """Under jit, the primitive takes the items of the dict as a tuple."""
    import jax

    scale = _scale()
    out = float(jax.jit(lambda x: scale.bind(x, options=tuple({"by": 2.0}.items())))(jax.numpy.ones(())))
    assert out == 2.0, f"the primitive gave {out} with a tuple"


def _scale() -> Any:
    """Make a primitive, x * options["by"], which takes its options as a dict or as a tuple of pairs."""
    try:
        from jax.extend.core import Primitive
    except ImportError:  # before JAX 0.4.35
        from jax.core import Primitive
    from jax.interpreters import mlir

    scale = Primitive("scale")
    scale.def_impl(lambda x, *, options: x * dict(options)["by"])
    scale.def_abstract_eval(lambda x, *, options: x)
    mlir.register_lowering(scale, mlir.lower_fun(scale.impl, multiple_results=False))
    return scale


def scaled_by_items(x: Any) -> Any:
    """Triple an array under jit, with a primitive that gets its options as a tuple of pairs."""
    import jax

    scale = _scale()
    return jax.jit(lambda x: scale.bind(x, options=tuple({"by": 3, "of": "all"}.items())))(x)


_TRACER_SIGNATURES = {
    "tracer-unhashable": Signature("TypeError", "unhashable type: '…Tracer'"),
    "future-warning": Signature("FutureWarning", "Attempting to hash a tracer"),
}
_REFUSED = (
    Rule("tracer-unhashable", "jax>=0.4.36", "jax#24722, and the changelog of 0.4.36"),
    Rule("future-warning", "jax>=0.4.30", "jax#21863, and the changelog"),
)
_NO_HASH = Signature("TypeError", "parameters to jaxpr equations must have __hash__")
_DICT = Signature("TypeError", "unhashable type: 'dict'", everyday=True)
_PARAMS = {"params-refused-in-tracing": _NO_HASH, "params-refused-in-lowering": _DICT}
_LOST = {
    "no-concrete-array": Signature("AttributeError", "'ConcreteArray'"),
    "constants-lost": Signature("ValueError", "safe_map() argument 2 is shorter than argument 1"),
}
_SHAPES = ("int32 matrix", "float16 one", "complex64 scalar", "uint8 vector", "float32 empty")
_ARRAYS = ("float32 vector, float32 scalar", "int32 matrix, int32 one", "float16 empty, float16 one")
# A call may also return a function, which hashes by identity.
_IS_OBJECT = "form({}) not in ('', 'lambda', 'functools.partial', 'jax.tree_util.Partial') and unseen"

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(
        report="diffrax#445 jax#21824 equinox#768",
        fix="equinox#769",
        change="jax#21863 jax#24722 jax@9cf81e4d12",
        docs="jax:changelog.html",
    ),
    known_by=r"\bjax/_src/interpreters/mlir\.py",
    signatures=_TRACER_SIGNATURES,
    cases=(
        Case(
            diffeqsolve,
            control_diffeqsolve,
            behaviours={
                "solved": "clear",
                "future-warning": "affected",
                **dict.fromkeys((*_LOST, *_PARAMS), "different"),
            },
            signatures={**_TRACER_SIGNATURES, **_PARAMS, **_LOST},
            rules=(
                Rule("constants-lost", "jax==0.4.27", "jax#21116"),
                Rule("no-concrete-array", "jax>=0.4.36 diffrax<0.6.1", "diffrax#527"),
                Rule("params-refused-in-lowering", "jax>=0.9.2 equinox<0.13.0"),
                Rule("params-refused-in-tracing", "jax>=0.7.0 equinox<0.13.0", "jax#29498, diffrax#662"),
                Rule("future-warning", "jax>=0.4.30,<0.4.36 equinox<0.11.5", "jax#21863, diffrax#445"),
                Rule("solved"),
            ),
            workaround=Workaround(
                "Upgrade Equinox to 0.11.5, which passes lambdas to lax.while_loop.",
                code=solve_with_lambdas,
                elsewhere=predators_with_lambdas,
            ),
            needs=("jax", "equinox", "diffrax"),
            touches=(
                "diffrax.diffeqsolve(terms, solver, t0, t1, dt0, y0, args, adjoint, max_steps)"
                " if not given(adjoint) and not given(max_steps)",
                *("diffrax.diffeqsolve", "equinox.internal.while_loop"),
            ),
        ),
        Case(
            while_loop_callable,
            control_while_loop_callable,
            behaviours={"looped": "clear", "tracer-unhashable": "documented", "future-warning": "documented"},
            rules=(*_REFUSED, Rule("looped", "", "the tracer hashes by identity")),
            workaround=Workaround(
                "Call the object from a lambda, which each call of lax.while_loop traces again.",
                code=wrap_in_a_lambda,
                elsewhere=Elsewhere(added_three_times, numpy_sum, _ARRAYS),
            ),
            touches=(
                f"jax.lax.while_loop(cond_fun, body_fun) if {_IS_OBJECT.format('cond_fun')}",
                f"jax.lax.while_loop(cond_fun, body_fun) if {_IS_OBJECT.format('body_fun')}",
            ),
        ),
        Case(
            hash_tracer,
            control_hash_tracer,
            behaviours={"hashed": "clear", "tracer-unhashable": "documented", "future-warning": "documented"},
            rules=(*_REFUSED, Rule("hashed", "", "an accident: jax#21824")),
            workaround=Workaround(
                "As the key, use a function that closes over the tracer, and keep the function.",
                code=hash_a_closure,
                elsewhere=Elsewhere(keyed_by_closures, tripled, _SHAPES),
            ),
            touches=("jax.core.Tracer.__hash__", "tracing"),
        ),
        Case(
            jaxpr_params,
            control_jaxpr_params,
            behaviours={"accepted": "clear", "refused-in-tracing": "documented", "refused-in-lowering": "documented"},
            signatures={"refused-in-tracing": _NO_HASH, "refused-in-lowering": _DICT},
            rules=(
                Rule("refused-in-lowering", "jax>=0.9.2", "the cache of the lowering hashes the dict"),
                Rule("refused-in-tracing", "jax>=0.7.0", "jax#29498"),
                Rule("accepted"),
            ),
            workaround=Workaround(
                "Pass a tuple of items with hashable values instead of a dict.",
                code=pass_a_tuple,
                elsewhere=Elsewhere(scaled_by_items, tripled, _SHAPES),
            ),
            touches=("jax.extend.core.Primitive.bind", "jax.core.Primitive.bind"),
        ),
    ),
)
