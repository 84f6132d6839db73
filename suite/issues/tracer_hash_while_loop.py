"""Hashing a tracer, and the four places where a user meets it.

A tracer stands for a value that is not known yet, so it should not hash. By accident it did, by identity, from JAX 0.4.9
(jax#21824). JAX 0.4.30 made that a FutureWarning, and 0.4.36 a TypeError (jax#21863, jax#24722). Few programs call
`hash(tracer)`; many hand `lax.while_loop` a callable *object*, and JAX looks its jaxpr up in a cache keyed on that object.
A frozen dataclass or an `eqx.Module` hashes its fields: if one is a tracer, that is the hash of a tracer.
`functools.partial`, `jax.tree_util.Partial`, plain functions and bound methods hash otherwise, and are well.

Equinox's checkpointed loop did it to `cond_fun`, so every documented `diffeqsolve` warned on JAX 0.4.30 (diffrax#445, #456,
equinox#768). Equinox 0.11.5 wraps both functions in a lambda at the call (equinox#769), which is also what to write yourself.
diffrax#445 names a Diffrax pull request and release for the fix; the run says Equinox: Diffrax 0.5.1 is silent with Equinox
0.11.5, Diffrax 0.6.0 still warns with 0.11.4.

JAX 0.7.0 went on to hash the parameters of every equation it traces (jax#29498). A dict there stops `diffeqsolve` again
(diffrax#662) until Equinox 0.13.0, which passes tuples (equinox#1039). An equation evaluated without tracing is not checked.

In no thread:
- From JAX 0.9.2 a dict of hashable values traces once more, and lowering refuses it, with a bare `unhashable type: 'dict'`
  that names neither primitive nor parameter. A list is still refused in tracing, by name.
- Where a tracer hashed, equality was the trap: two `eqx.Module`s that hold the same tracer hash alike and then compare by value, and
  `lax.cond(p, f, g, x)` with them as branches ends in TracerBoolConversionError (JAX 0.4.20 and 0.4.30).
- With a concrete array in its field, outside jit, the same callable is refused on *every* release: arrays never hashed.
- On JAX 0.4.36 with Equinox up to 0.11.9 no `diffeqsolve` gets this far: Equinox asks for `jax.core.ConcreteArray`, which
  0.4.36 removed. That is another break, named here only so as not to be taken for this one.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

from suite.issue import Case, Expectation, Issue, Seen, Upstream, main


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

    @jax.jit
    def f(x: Any) -> Any:
        hashes.append(hash(x))
        return x

    def run() -> None:
        f(1.0)
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

    @jax.jit
    def f(x: Any) -> Any:
        found.append(hash((x.shape, x.dtype)) == hash(((3,), jnp.dtype("float32"))))
        return x

    f(jnp.ones(3, dtype="float32"))
    _check(found, [True], "the hash of a tracer's shape and dtype")


def hash_a_closure() -> None:
    """A function that closes over a tracer hashes, and can be a key."""
    import jax

    @jax.jit
    def f(x: Any) -> Any:
        def key() -> Any:
            return x

        return {key: x + 1}[key]

    _check(float(f(1.0)), 2.0, "the dict keyed on a closure")


def _count_to(limit_as: Callable[[Any], Any], *, traced: bool, wrapped: bool) -> int:
    """Count up to 5 in `lax.while_loop`, whose cond_fun is an object that holds the limit."""
    from dataclasses import dataclass

    import jax
    import jax.numpy as jnp

    @dataclass(frozen=True)
    class Below:
        limit: Any

        def __call__(self, count: Any) -> Any:
            return count < self.limit

    @jax.jit
    def count_to(limit: Any) -> Any:
        below = Below(limit if traced else limit_as(5))
        cond_fun = (lambda count: below(count)) if wrapped else below
        return jax.lax.while_loop(cond_fun, lambda count: count + 1, jnp.zeros_like(limit))

    return int(count_to(5))


def while_loop_callable() -> Seen:
    """`lax.while_loop` with a cond_fun that is a frozen dataclass, one field of which is a tracer."""
    return _hash_of_tracer(
        lambda: _check(_count_to(int, traced=True, wrapped=False), 5, "the loop"),
        Seen("looped", "counted to 5; no warning"),
    )


def _callable_control() -> None:
    """The same object, holding a Python int, is as good a cond_fun as any."""
    _check(_count_to(int, traced=False, wrapped=False), 5, "the loop with a Python int in its cond_fun")


def wrap_in_a_lambda() -> None:
    """The same object, called from a lambda."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        _check(_count_to(int, traced=True, wrapped=True), 5, "the loop with its cond_fun in a lambda")


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


def _solve_control() -> None:
    """Euler's method for the same equation, in a `lax.while_loop` of plain functions that close over tracers."""
    import math

    import jax
    import jax.numpy as jnp

    @jax.jit
    def solve(y0: Any, dt: Any, steps: Any) -> Any:
        def cond_fun(carry: Any) -> Any:
            return carry[0] < steps

        def body_fun(carry: Any) -> Any:
            return carry[0] + 1, carry[1] - dt * carry[1]

        return jax.lax.while_loop(cond_fun, body_fun, (jnp.zeros_like(steps), y0))[1]

    end = float(solve(1.0, 1e-3, 3000))
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


_TRACER = {"tracer-unhashable": "affected", "future-warning": "guarded"}

ISSUE = None
