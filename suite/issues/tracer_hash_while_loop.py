"""Hashing a tracer, and the places where a user meets it without ever calling `hash`.

A tracer stands for a value that is not known yet, so it should not hash. By accident it did, by identity, after JAX
0.4.8 (jax#21824). JAX 0.4.30 made that a FutureWarning, and 0.4.36 a TypeError again (jax#21863, jax#24722). What
is called affected here is that TypeError, and guarded the warning before it.

Few programs hash a tracer. Many hand `lax.while_loop` a callable *object*, and JAX looks its jaxpr up in a cache keyed
on that object. A frozen dataclass, or an `eqx.Module`, hashes its fields, and with them the tracer that one of them
holds. Plain functions, bound methods, `functools.partial` and `jax.tree_util.Partial` hash otherwise, and loop on every
release; so does the same object called from a lambda. `lax.scan` and `lax.fori_loop` do as `lax.while_loop` does.

Equinox's checkpointed loop was such a caller, and so every documented `diffeqsolve` warned on JAX 0.4.30 (diffrax#445,
diffrax#456, equinox#768). Equinox 0.11.5 puts the lambda in (equinox#769). diffrax#445 expects the cure from a Diffrax
release; the run says it was Equinox: Diffrax 0.5.1 is silent with Equinox 0.11.5, and 0.6.0 still warns with 0.11.4.

JAX 0.7.0 went on to hash the parameters of every equation it traces, so as to cache abstract evaluation (jax#29498).
One that is a dict stops `diffeqsolve` again (diffrax#662), until Equinox 0.13.0 makes it a tuple (equinox#1039).

In no thread:
- The TypeError of 0.4.36 never reached a `diffeqsolve`: Equinox before 0.11.5 cannot be imported from JAX 0.4.34 on.
  What fails on JAX 0.4.36 and later is Diffrax up to 0.6.0, on the removed `jax.core.ConcreteArray` (diffrax#527).
  That is another break, as is that of JAX 0.4.27 (jax#21116): they have names here so as not to be taken for this one.
- From JAX 0.9.2 a dict of hashable values is traced once more, and refused by the lowering, with a bare
  `unhashable type: 'dict'` that names neither primitive nor parameter. A list is still refused in tracing, by name.
- Where tracers hashed, equality was the trap: two `eqx.Module`s that hold one tracer hash alike, are then compared by
  value, and as the branches of a `lax.cond` end in a TracerBoolConversionError (up to JAX 0.4.35).
- Outside jit, with a concrete array in its field, such a callable is refused on every release: arrays never hashed.
- Parameters are hashed in tracing only: the same primitive, evaluated eagerly, takes its dict on every release.

Nothing here depends on the device: all of it happens before anything runs.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

from suite.cell.issue import Case, Expectation, Issue, JudgedAs, Seen, Upstream, main


def _last_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).strip().splitlines()[-1]}"


def _hash_of_tracer(run: Callable[[], None], answered: Seen) -> Seen:
    """Name what became of the tracer's hash in `run`: a TypeError, a FutureWarning, or else it was `answered`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            run()
        except TypeError as error:
            if re.search(r"unhashable type: '\w*Tracer'", str(error)) is None:
                raise
            return Seen("tracer-unhashable", _last_line(error))
    for warning in caught:
        if warning.category is FutureWarning and "Attempting to hash a tracer" in str(warning.message):
            return Seen("future-warning", f"FutureWarning: {warning.message}")
    return answered


def _check(found: Any, wanted: Any, what: str) -> None:
    if found != wanted:
        raise AssertionError(f"{what} gave {found!r}, not {wanted!r}")


def hash_tracer() -> Seen:
    """`hash(x)`, inside jit, of the tracer that stands for an argument."""
    import jax

    hashes: list[Any] = []

    def f(x: Any) -> Any:
        hashes.append(hash(x))
        return x

    def run() -> None:
        jax.jit(f)(1.0)
        _check([type(h) for h in hashes], [int], "hash(tracer)")

    return _hash_of_tracer(run, Seen("hashed", "hash(tracer) is an int; no warning"))


def _hash_control() -> None:
    """A concrete array refuses to hash, and what is static about a tracer hashes, on every release."""
    import jax
    import jax.numpy as jnp

    try:
        hash(jnp.ones(()))
    except TypeError as error:
        if "unhashable type" not in str(error):
            raise
    else:
        raise AssertionError("a concrete array hashed")
    found: list[Any] = []

    def f(x: Any) -> Any:
        found.append(hash((x.shape, x.dtype)) == hash(((3,), jnp.dtype("float32"))))
        return x

    jax.jit(f)(jnp.ones(3, dtype="float32"))
    _check(found, [True], "the hash of a tracer's shape and dtype")


def hash_a_closure() -> None:
    """A function that closes over a tracer hashes, and can be a key."""
    import jax

    def f(x: Any) -> Any:
        def key() -> Any:
            return x

        return {key: key() + 1}[key]

    _check(float(jax.jit(f)(1.0)), 2.0, "the dict keyed on a closure")


def _count_to_five(*, traced: bool, wrapped: bool) -> None:
    """Count to 5 in `lax.while_loop`, where cond_fun is an object that holds the limit, or a lambda around it."""
    from dataclasses import dataclass

    import jax
    import jax.numpy as jnp

    @dataclass(frozen=True)
    class Below:
        limit: Any

        def __call__(self, count: Any) -> Any:
            return count < self.limit

    def count_to(limit: Any) -> Any:
        below = Below(limit if traced else 5)
        cond_fun = (lambda count: below(count)) if wrapped else below
        return jax.lax.while_loop(cond_fun, lambda count: count + 1, jnp.zeros_like(limit))

    _check(int(jax.jit(count_to)(5)), 5, "lax.while_loop")


def while_loop_callable() -> Seen:
    """`lax.while_loop` with a cond_fun that is a frozen dataclass, one field of which is a tracer."""
    return _hash_of_tracer(
        lambda: _count_to_five(traced=True, wrapped=False), Seen("looped", "counted to 5; no warning")
    )


def _callable_control() -> None:
    """The same object, holding a Python int, is as good a cond_fun as any."""
    _count_to_five(traced=False, wrapped=False)


def wrap_in_a_lambda() -> None:
    """The same object, holding the tracer, but called from a lambda."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "unhashable type", FutureWarning)
        _count_to_five(traced=True, wrapped=True)


def jaxpr_params() -> Seen:
    """Under jit, bind a primitive one parameter of which is a dict."""
    import jax
    import jax.numpy as jnp

    scale = _scale()
    try:
        out = jax.jit(lambda x: scale.bind(x, options={"by": 2.0}))(jnp.ones(()))
    except TypeError as error:
        last = _last_line(error)
        if "parameters to jaxpr equations must have __hash__" in last:
            return Seen("refused-in-tracing", last)
        if last == "TypeError: unhashable type: 'dict'":
            return Seen("refused-in-lowering", last)
        raise
    _check(float(out), 2.0, "the primitive")
    return Seen("accepted", "ran with a dict as parameter")


def _scale() -> Any:
    """A new primitive, x * options["by"], which takes its options as a dict or as a tuple of pairs."""
    try:
        from jax.extend.core import Primitive
    except ImportError:  # not there before JAX 0.4.35
        from jax.core import Primitive
    from jax.interpreters import mlir

    def multiply(x: Any, *, options: Any) -> Any:
        return x * dict(options)["by"]

    scale = Primitive("scale")
    scale.def_impl(multiply)
    scale.def_abstract_eval(lambda x, *, options: x)
    mlir.register_lowering(scale, mlir.lower_fun(multiply, multiple_results=False))
    return scale


def _params_control() -> None:
    """The same primitive evaluated eagerly, where no equation is made, takes the dict."""
    import jax.numpy as jnp

    _check(float(_scale().bind(jnp.ones(()), options={"by": 2.0})), 2.0, "the primitive outside jit")


def pass_a_tuple() -> None:
    """The dict's items as a tuple, under jit."""
    import jax
    import jax.numpy as jnp

    scale = _scale()
    out = jax.jit(lambda x: scale.bind(x, options=tuple({"by": 2.0}.items())))(jnp.ones(()))
    _check(float(out), 2.0, "the primitive with a tuple")


def _documented_solve() -> None:
    """Solve dy/dt = -y on [0, 3] as on the first page of Diffrax's documentation, and check the end against exp(-3)."""
    import math

    import diffrax

    sol = diffrax.diffeqsolve(
        diffrax.ODETerm(lambda t, y, args: -y),
        diffrax.Dopri5(),
        t0=0,
        t1=3,
        dt0=0.1,
        y0=1.0,
        saveat=diffrax.SaveAt(ts=[0.0, 1.0, 2.0, 3.0]),
        stepsize_controller=diffrax.PIDController(rtol=1e-5, atol=1e-5),
    )
    if abs(float(sol.ys[-1]) - math.exp(-3)) > 1e-4:
        raise AssertionError(f"diffeqsolve gave {float(sol.ys[-1]):.6f} for exp(-3)")


def diffeqsolve() -> Seen:
    """Diffrax's own first example, unchanged but for a y0 that is a float."""
    try:
        return _hash_of_tracer(_documented_solve, Seen("solved", "y(3) is exp(-3) to 1e-4; no warning"))
    except TypeError as error:
        last = _last_line(error)
        if "parameters to jaxpr equations must have __hash__" in last:
            return Seen("params-refused-in-tracing", last)
        if last == "TypeError: unhashable type: 'dict'":
            return Seen("params-refused-in-lowering", last)
        raise
    except AttributeError as error:
        if "'ConcreteArray'" not in str(error):
            raise
        return Seen("no-concrete-array", _last_line(error))
    except ValueError as error:
        if "safe_map() argument 2 is shorter than argument 1" not in str(error):
            raise
        return Seen("constants-lost", _last_line(error))


def _solve_control() -> None:
    """Euler's method for the same equation, in a `lax.while_loop` of plain functions that close over tracers."""
    import math

    import jax
    import jax.numpy as jnp

    def solve(y0: Any, dt: Any, steps: Any) -> Any:
        def cond_fun(carry: Any) -> Any:
            return carry[0] < steps

        def body_fun(carry: Any) -> Any:
            return carry[0] + 1, carry[1] - dt * carry[1]

        return jax.lax.while_loop(cond_fun, body_fun, (jnp.zeros_like(steps), y0))[1]

    end = float(jax.jit(solve)(1.0, 1e-3, 3000))
    if abs(end - math.exp(-3)) > 1e-3:
        raise AssertionError(f"Euler's method gave {end:.6f} for exp(-3)")


def solve_with_lambdas() -> None:
    """The same solve, with every `lax.while_loop` in it given its functions in lambdas, as Equinox does from 0.11.5."""
    from unittest import mock

    import jax

    while_loop = jax.lax.while_loop

    def with_lambdas(cond_fun: Any, body_fun: Any, init_val: Any) -> Any:
        return while_loop(lambda carry: cond_fun(carry), lambda carry: body_fun(carry), init_val)

    with mock.patch.object(jax.lax, "while_loop", with_lambdas), warnings.catch_warnings():
        warnings.filterwarnings("error", "unhashable type", FutureWarning)
        _documented_solve()


_TRACER_REFUSED: dict[str, JudgedAs] = {"tracer-unhashable": "affected", "future-warning": "guarded"}

ISSUE = Issue(
    id="tracer-hash-while-loop",
    title="TypeError: unhashable type: 'DynamicJaxprTracer', from a callable handed to lax.while_loop",
    kind="crash",
    story=(
        "Tracers hashed by accident up to JAX 0.4.29, warned until 0.4.35, and raise TypeError from 0.4.36. A callable "
        "object with a tracer in a field is hashed when it goes into lax.while_loop, as Equinox's did under every "
        "diffeqsolve until 0.11.5. JAX 0.7.0 hashes equation parameters too; Equinox follows at 0.13.0."
    ),
    upstream=(
        Upstream("patrick-kidger/equinox#768", "report", "closed"),
        Upstream("jax-ml/jax#21824", "report", "closed"),
        Upstream("patrick-kidger/diffrax#445", "report", "open"),
        Upstream("patrick-kidger/diffrax#662", "report", "open"),
        Upstream("jax-ml/jax#21863", "fix", "merged"),
        Upstream("jax-ml/jax#24722", "fix", "merged"),
        Upstream("patrick-kidger/equinox#769", "fix", "merged"),
        Upstream("patrick-kidger/equinox#1039", "fix", "merged"),
    ),
    workaround=(
        "Wrap the callable: lax.while_loop(lambda c: cond_fun(c), lambda c: body_fun(c), init_val). Under diffeqsolve, "
        "upgrade Equinox: 0.11.5 does that, and 0.13.0 passes parameters that hash. In a primitive of your own, pass "
        "a tuple of items instead of a dict."
    ),
    cases=(
        Case(
            id="diffeqsolve",
            question="Does Diffrax's documented diffeqsolve hash a tracer, or bind a parameter that does not hash?",
            reproducer=diffeqsolve,
            control=_solve_control,
            workaround=solve_with_lambdas,
            needs=("jax", "equinox", "diffrax"),
            behaviours={
                "solved": "clear",
                **_TRACER_REFUSED,
                "params-refused-in-tracing": "affected",
                "params-refused-in-lowering": "affected",
                "no-concrete-array": "different",
                "constants-lost": "different",
            },
            expectations=(
                Expectation(
                    "solved",
                    ("jax<0.4.27",),
                    "run on jax 0.4.18 to 0.4.26: Equinox hashes a tracer, and gets an answer",
                ),
                Expectation(
                    "constants-lost",
                    ("jax>=0.4.27,<0.4.28",),
                    "run on jax 0.4.27: another break, of every differential equation; jax#21116, gone in jax 0.4.28",
                ),
                Expectation("solved", ("jax>=0.4.28,<0.4.30",), "run on jax 0.4.28 and 0.4.29"),
                Expectation(
                    "future-warning",
                    ("jax>=0.4.30,<0.4.36", "equinox<0.11.5"),
                    "run on jax 0.4.30 with equinox 0.11.4, diffrax 0.5.1 and 0.6.0; jax#21863, diffrax#445",
                ),
                Expectation(
                    "solved",
                    ("jax>=0.4.30,<0.4.36", "equinox>=0.11.5"),
                    "run on jax 0.4.30 with equinox 0.11.5, and on jax 0.4.33 and 0.4.35; equinox#769",
                ),
                Expectation(
                    "no-concrete-array",
                    ("jax>=0.4.36", "diffrax<0.6.1"),
                    "run on jax 0.4.36 and 0.4.38 with diffrax 0.6.0, solved on both with 0.6.1; diffrax#527",
                ),
                Expectation(
                    "solved",
                    ("jax>=0.4.36,<0.7.0", "equinox>=0.11.5", "diffrax>=0.6.1"),
                    "run on jax 0.4.36 to 0.6.2 with equinox 0.11.9 and later; Equinox's lambdas meet the TypeError",
                ),
                Expectation(
                    "params-refused-in-tracing",
                    ("jax>=0.7.0,<0.9.2", "equinox<0.13.0", "diffrax>=0.6.1"),
                    "run on jax 0.7.0 to 0.9.1 with equinox 0.12.2; jax#29498, diffrax#662; no lambda helps",
                    workaround="fails",
                ),
                Expectation(
                    "params-refused-in-lowering",
                    ("jax>=0.9.2", "equinox<0.13.0", "diffrax>=0.6.1"),
                    "run on jax 0.9.2 with equinox 0.12.2; JAX's new cache for abstract evaluation takes a dict",
                    workaround="fails",
                ),
                Expectation(
                    "solved",
                    ("jax>=0.7.0", "equinox>=0.13.0", "diffrax>=0.6.1"),
                    "run on jax 0.7.0 to 0.12.0.1 with the equinox of the day, 0.13.0 to 0.13.8; equinox#1039",
                ),
            ),
        ),
        Case(
            id="while-loop-callable",
            question="Can cond_fun be an object that hashes its fields, one of them a tracer?",
            reproducer=while_loop_callable,
            control=_callable_control,
            workaround=wrap_in_a_lambda,
            behaviours={"looped": "clear", **_TRACER_REFUSED},
            expectations=(
                Expectation("looped", ("jax<0.4.30",), "run on jax 0.4.20, 0.4.26 and 0.4.29: the tracer hashes"),
                Expectation(
                    "future-warning", ("jax>=0.4.30,<0.4.36",), "run on jax 0.4.30, 0.4.33 and 0.4.35; jax#21863"
                ),
                Expectation("tracer-unhashable", ("jax>=0.4.36",), "run on jax 0.4.36 to 0.12.0.1; jax#24722"),
            ),
        ),
        Case(
            id="hash-tracer",
            question="What does hash(tracer) do?",
            reproducer=hash_tracer,
            control=_hash_control,
            workaround=hash_a_closure,
            behaviours={"hashed": "clear", **_TRACER_REFUSED},
            expectations=(
                Expectation(
                    "hashed",
                    ("jax<0.4.30",),
                    "run on jax 0.4.20, 0.4.26 and 0.4.29; an accident after JAX 0.4.8, says jax#21824",
                ),
                Expectation(
                    "future-warning",
                    ("jax>=0.4.30,<0.4.36",),
                    "run on jax 0.4.30, 0.4.33 and 0.4.35; jax#21863, and the changelog of 0.4.30",
                ),
                Expectation(
                    "tracer-unhashable",
                    ("jax>=0.4.36",),
                    "run on jax 0.4.36 to 0.12.0.1; jax#24722, and the changelog of 0.4.36",
                ),
            ),
        ),
        Case(
            id="jaxpr-params",
            question="Can a traced equation have a parameter that does not hash?",
            reproducer=jaxpr_params,
            control=_params_control,
            workaround=pass_a_tuple,
            behaviours={"accepted": "clear", "refused-in-tracing": "affected", "refused-in-lowering": "affected"},
            expectations=(
                Expectation("accepted", ("jax<0.7.0",), "run on jax 0.4.20 to 0.6.2"),
                Expectation(
                    "refused-in-tracing",
                    ("jax>=0.7.0,<0.9.2",),
                    "run on jax 0.7.0 to 0.9.1; abstract evaluation is cached on the parameters, jax#29498",
                ),
                Expectation(
                    "refused-in-lowering",
                    ("jax>=0.9.2",),
                    "run on jax 0.9.2 to 0.12.0.1: the cache for abstract evaluation, from 0.9.2 in jaxlib, takes a "
                    "dict apart, and the lowering's own cache does not",
                ),
            ),
        ),
    ),
)


if __name__ == "__main__":
    main(ISSUE)
