"""TypeError: unhashable type: 'DynamicJaxprTracer', from a callable handed to lax.while_loop

A tracer stands for a value that is not known yet, so it should not hash. By accident it did, by identity, after JAX
0.4.8 (jax#21824). JAX 0.4.30 made that a FutureWarning, and 0.4.36 a TypeError again, as the changelog of 0.4.30
announced (jax#24722): the refusal is upstream's fix, and counts as documented.

Few programs hash a tracer. Many hand `lax.while_loop` a callable *object*, and JAX looks its jaxpr up in a cache keyed
on that object. A frozen dataclass, or an `eqx.Module`, hashes its fields, and with them the tracer that one of them
holds. Plain functions, bound methods, `functools.partial` and `jax.tree_util.Partial` hash otherwise, and loop on every
release; so does the same object called from a lambda. `lax.scan` and `lax.fori_loop` do as `lax.while_loop` does.

Equinox's checkpointed loop was such a caller, and so every documented `diffeqsolve` warned on JAX 0.4.30. diffrax#445
expects the cure from a Diffrax release; the run says it was Equinox: Diffrax 0.5.1 is silent with Equinox 0.11.5, which
puts the lambda in (equinox#769), and 0.6.0 still warns with 0.11.4. JAX 0.7.0 went on to require that the parameters
of an equation hash, so as to cache abstract evaluation (jax#29498). That is documented, too: a JAX developer announced
it in equinox#1039. A dict among them stops `diffeqsolve` again, and no lambda helps, until Equinox 0.13.0 makes it a
tuple (equinox#1039).
Seen in these runs:
- The TypeError of 0.4.36 never reached a `diffeqsolve`: Equinox before 0.11.5 cannot be imported from JAX 0.4.34 on.
  Two other breaks, of JAX 0.4.27 and 0.4.36, have names here so as not to be taken for this one.
- From JAX 0.9.2 a dict of hashable values is traced once more (the cache for abstract evaluation, now in jaxlib, takes
  it apart), and refused by the lowering, with a bare `unhashable type: 'dict'` that names neither primitive nor
  parameter. A list is still refused in tracing, by name.
- Where tracers hashed, equality was the trap: two `eqx.Module`s that hold one tracer hash alike, are then compared by
  value, and as the branches of a `lax.cond` end in a TracerBoolConversionError (up to JAX 0.4.35).
- Outside jit, with a concrete array in its field, such a callable is refused on every release: arrays never hashed.
"""

from __future__ import annotations

import contextlib
import math
import warnings
from dataclasses import dataclass
from typing import Any
from unittest import mock

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def diffeqsolve() -> tuple[str, str]:
    """Does Diffrax's documented diffeqsolve hash a tracer, or bind a parameter that does not hash?"""
    import diffrax

    # The first example of its documentation, unchanged but for a y0 that is a float.
    term, solver = diffrax.ODETerm(lambda t, y, args: -y), diffrax.Dopri5()
    saveat, pid = diffrax.SaveAt(ts=[0.0, 1.0, 2.0, 3.0]), diffrax.PIDController(rtol=1e-5, atol=1e-5)
    sol = diffrax.diffeqsolve(term, solver, t0=0, t1=3, dt0=0.1, y0=1.0, saveat=saveat, stepsize_controller=pid)
    end = float(sol.ys[-1])
    assert abs(end - math.exp(-3)) <= 1e-4, f"diffeqsolve gave {end:.6f} for exp(-3)"
    return "solved", "y(3) is exp(-3) to 1e-4; no warning"


def control_diffeqsolve() -> None:
    """Euler's method for the same equation, in a `lax.while_loop` of plain functions that close over tracers."""
    import jax

    def solve(y0: Any, dt: Any, steps: Any) -> Any:
        start = (jax.numpy.zeros_like(steps), y0)
        return jax.lax.while_loop(lambda c: c[0] < steps, lambda c: (c[0] + 1, c[1] - dt * c[1]), start)[1]

    end = float(jax.jit(solve)(1.0, 1e-3, 3000))
    assert abs(end - math.exp(-3)) <= 1e-3, f"Euler's method gave {end:.6f} for exp(-3)"


def solve_with_lambdas() -> None:
    """The same solve, with every `lax.while_loop` in it given its functions in lambdas, as Equinox does from 0.11.5."""
    import jax

    while_loop = jax.lax.while_loop

    def with_lambdas(cond_fun: Any, body_fun: Any, init_val: Any) -> Any:
        return while_loop(lambda carry: cond_fun(carry), lambda carry: body_fun(carry), init_val)

    with mock.patch.object(jax.lax, "while_loop", with_lambdas), warnings.catch_warnings():
        warnings.filterwarnings("error", "unhashable type", FutureWarning)
        diffeqsolve()


@dataclass(frozen=True)
class _Below:
    """A condition for `lax.while_loop` that is an object, and hashes its field."""

    limit: Any

    def __call__(self, count: Any) -> Any:
        return count < self.limit


def while_loop_callable() -> tuple[str, str]:
    """Can cond_fun be an object that hashes its fields, one of them a tracer?"""
    import jax

    count_to = jax.jit(lambda n: jax.lax.while_loop(_Below(n), lambda count: count + 1, jax.numpy.zeros_like(n)))
    assert (count := int(count_to(5))) == 5, f"lax.while_loop counted to {count}"
    return "looped", "counted to 5; no warning"


def control_while_loop_callable() -> None:
    """The same object, holding a Python int, is as good a cond_fun as any."""
    import jax

    count_to = jax.jit(lambda n: jax.lax.while_loop(_Below(5), lambda count: count + 1, jax.numpy.zeros_like(n)))
    assert (count := int(count_to(5))) == 5, f"lax.while_loop counted to {count}"


def wrap_in_a_lambda() -> None:
    """The same object, holding the tracer, but called from a lambda."""
    import jax

    count_to = jax.jit(lambda n: jax.lax.while_loop(lambda c: _Below(n)(c), lambda c: c + 1, jax.numpy.zeros_like(n)))
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "unhashable type", FutureWarning)
        assert (count := int(count_to(5))) == 5, f"lax.while_loop counted to {count}"


def hash_tracer() -> tuple[str, str]:
    """What does hash(tracer) do?"""
    import jax

    (key,) = jax.jit(lambda x: {hash(x): x})(1.0)
    assert type(key) is int, key
    return "hashed", "hash(tracer) is an int; no warning"


def control_hash_tracer() -> None:
    """A concrete array refuses to hash, and what is static about a tracer hashes, on every release."""
    import jax
    import jax.numpy as jnp

    with contextlib.suppress(TypeError):
        raise AssertionError(f"a concrete array hashed, to {hash(jnp.ones(()))}")
    (key,) = jax.jit(lambda x: {hash((x.shape, x.dtype)): x})(jnp.ones(3, dtype="float32"))
    assert key == hash(((3,), jnp.dtype("float32"))), key


def hash_a_closure() -> None:
    """A function that closes over a tracer hashes, and can be a key."""
    import jax

    out = jax.jit(lambda x: (lambda key: {key: key() + 1}[key])(lambda: x))(1.0)
    assert float(out) == 2.0, "the dict keyed on a closure lost its value"


def jaxpr_params() -> tuple[str, str]:
    """Can a traced equation have a parameter that does not hash?"""
    import jax

    scale = _scale()
    out = float(jax.jit(lambda x: scale.bind(x, options={"by": 2.0}))(jax.numpy.ones(())))
    assert out == 2.0, f"the primitive gave {out}"
    return "accepted", "ran with a dict as parameter"


def control_jaxpr_params() -> None:
    """The same primitive evaluated eagerly, where no equation is made, takes the dict on every release."""
    import jax

    out = float(_scale().bind(jax.numpy.ones(()), options={"by": 2.0}))
    assert out == 2.0, f"the primitive gave {out} outside jit"


def pass_a_tuple() -> None:
    """The dict's items as a tuple, under jit."""
    import jax

    scale = _scale()
    out = float(jax.jit(lambda x: scale.bind(x, options=tuple({"by": 2.0}.items())))(jax.numpy.ones(())))
    assert out == 2.0, f"the primitive gave {out} with a tuple"


def _scale() -> Any:
    """A new primitive, x * options["by"], which takes its options as a dict or as a tuple of pairs."""
    try:
        from jax.extend.core import Primitive
    except ImportError:  # not there before JAX 0.4.35
        from jax.core import Primitive
    from jax.interpreters import mlir

    scale = Primitive("scale")
    scale.def_impl(lambda x, *, options: x * dict(options)["by"])
    scale.def_abstract_eval(lambda x, *, options: x)
    mlir.register_lowering(scale, mlir.lower_fun(scale.impl, multiple_results=False))
    return scale


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

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(
        report="equinox#768 jax#21824 diffrax#445 diffrax#662",
        fix="equinox#769 equinox#1039",
        change="jax#21863 jax#24722",
        docs="jax:changelog.html",
    ),
    touches=(
        *("jax.lax.while_loop", "equinox.internal.while_loop", "diffrax.diffeqsolve", "jax.core.Tracer.__hash__"),
        *("control flow", "tracing"),
    ),
    known_by=r"\bjax/_src/interpreters/mlir\.py",
    signatures=_TRACER_SIGNATURES,
    cases=(
        Case(
            diffeqsolve,
            control_diffeqsolve,
            behaviours={
                "solved": "clear",
                "future-warning": "guarded",
                "no-concrete-array": "different",
                "constants-lost": "different",
            },
            signatures={
                **_TRACER_SIGNATURES,
                "params-refused-in-tracing": _NO_HASH,
                "params-refused-in-lowering": _DICT,
                "no-concrete-array": Signature("AttributeError", "'ConcreteArray'"),
                "constants-lost": Signature("ValueError", "safe_map() argument 2 is shorter than argument 1"),
            },
            rules=(
                Rule("constants-lost", "jax==0.4.27", "every differential equation breaks; jax#21116"),
                Rule("no-concrete-array", "jax>=0.4.36 diffrax<0.6.1", "diffrax#527"),
                Rule("params-refused-in-lowering", "jax>=0.9.2 equinox<0.13.0"),
                Rule("params-refused-in-tracing", "jax>=0.7.0 equinox<0.13.0", "jax#29498, diffrax#662"),
                Rule("future-warning", "jax>=0.4.30,<0.4.36 equinox<0.11.5", "jax#21863, diffrax#445"),
                Rule("solved", "", "up to 0.4.29 a tracer is hashed, and answers"),
            ),
            workaround=Workaround(
                "Upgrade Equinox: 0.11.5 gives lax.while_loop lambdas, and 0.13.0 passes parameters that hash.",
                code=solve_with_lambdas,
                fails=("jax>=0.7.0 equinox<0.13.0",),
            ),
            needs=("jax", "equinox", "diffrax"),
        ),
        Case(
            while_loop_callable,
            control_while_loop_callable,
            behaviours={"looped": "clear", "tracer-unhashable": "documented", "future-warning": "guarded"},
            rules=(*_REFUSED, Rule("looped", "", "the tracer hashes")),
            workaround=Workaround("Wrap it: lax.while_loop(lambda c: f(c), body_fun, init_val)", code=wrap_in_a_lambda),
        ),
        Case(
            hash_tracer,
            control_hash_tracer,
            behaviours={"hashed": "clear", "tracer-unhashable": "documented", "future-warning": "guarded"},
            rules=(*_REFUSED, Rule("hashed", "", "an accident after JAX 0.4.8, says jax#21824")),
            workaround=Workaround("As a key, take a function that closes over the tracer.", code=hash_a_closure),
        ),
        Case(
            jaxpr_params,
            control_jaxpr_params,
            behaviours={"accepted": "clear", "refused-in-tracing": "documented", "refused-in-lowering": "documented"},
            signatures={"refused-in-tracing": _NO_HASH, "refused-in-lowering": _DICT},
            rules=(
                Rule("refused-in-lowering", "jax>=0.9.2", "the lowering's own cache takes no dict"),
                Rule("refused-in-tracing", "jax>=0.7.0", "jax#29498"),
                Rule("accepted"),
            ),
            workaround=Workaround("Pass a tuple of items instead of a dict.", code=pass_a_tuple),
        ),
    ),
)
