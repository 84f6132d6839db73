"""A wrapper put round a jitted function with `functools.wraps` is skipped by `.lower()`.

    @times_ten                        # an ordinary decorator, written with functools.wraps
    @jax.jit
    def f(x):
        return x + 1.0

    f(1.0)                            # 20.0
    f.lower(1.0).compile()(1.0)       # 2.0 up to jax 0.5.3: lowered, compiled and run without times_ten

You'd expect the program compiled ahead of time to compute what a call computes, or an error. Up to jax 0.5.3 you get
the other program, silently: `jax.jit` hung `lower`, `trace` and `eval_shape` on the function it returned, as closures
over the unwrapped one, and `functools.wraps` copies a function's `__dict__`. JAX's own transforms use a `wraps` that
does the same, so `jax.vmap(jitted).lower`, `jax.grad(jitted).lower` and `jax.checkpoint(jitted).lower` were the bare
`jitted.lower`, with the transform lost. (So it is for `custom_jvp`, `custom_vjp`, `named_call` and any context
manager used as a decorator.)

jax#27873, in 0.6.0, made them attributes of the class, where `wraps` does not find them. It does not lower the
wrapper: it takes the wrapper's AOT methods away, and the symptom is now an `AttributeError`. Upstream's advice is to
apply `jax.jit` last.

What the threads don't say:

- **`jax.pmap` has it again, since 0.8.0.** The changelog of 0.6.0 has it "similarly for `jax.pmap`", and so it was in
  0.6 and 0.7. The new pmap, built on `jit(shard_map)` and the default from 0.8.0, sets `lower` on the function it
  returns, as of old.
- **There, `jax.jit` last does not help.** `jax.jit` takes over the `__dict__` of what it wraps, the stray `lower`
  included, and that hides the `lower` of its class: `jax.jit(times_ten(jax.pmap(f))).lower` still gives you the bare
  pmap. (Its `.trace(x).lower()` is right.) What helps is `jax.pmap` last.
- An object that has a good `lower` of its own lost that too, by `functools.update_wrapper`, up to 0.5.3: an
  instance's attribute hides a method. From 0.6.0 it keeps it.
- `jax.export` of such a wrapper exported the bare function, up to 0.5.3. From 0.6.0 it says that it wants the result
  of `jit`.

With jax alone you don't get that far: export imports absl (up to 0.6.1) and flatbuffers (0.4.24 to 0.4.29), which
nothing declares. The cells have them beside the stack.

Nothing here depends on the device; one CPU shows all of it. `checkpoint` has no effect on a forward value, so there
the lowered text is compared. A transform of a function that is not jitted has never had a `lower`.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

from suite.cell.issue import Case, Expectation, Issue, JudgedAs, Seen, Upstream, main


def _times_ten(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(x: Any) -> Any:
        return function(x) * 10.0

    return wrapper


class _TimesTen:
    """The same decorator as an object; AOT methods it does not have."""

    def __init__(self, function: Any) -> None:
        self.function = function
        functools.update_wrapper(self, function)

    def __call__(self, x: Any) -> Any:
        return self.function(x) * 10.0


class _TimesTenWithLower(_TimesTen):
    """And with a `lower` of its own, which is right."""

    def lower(self, x: Any) -> Any:
        import jax

        return jax.jit(self.__call__).lower(x)


def _aot(function: Any, x: Any) -> Any:
    return function.lower(x).compile()(x).tolist()


def _seen(function: Any, x: Any, *, whole: Any, bare: Any) -> Seen:
    """Name what `function.lower` lowers, by what it computes: `whole` with the wrapper or transform, `bare` without."""
    try:
        compiled = _aot(function, x)
    except AttributeError as error:
        if not str(error).endswith("has no attribute 'lower'"):
            raise
        return Seen("attribute-error", f"{error}; a call gives {function(x).tolist()}")
    behaviour = "bypassed" if compiled == bare else "lowered" if compiled == whole else "other-value"
    has = ", ".join(name for name in ("lower", "trace", "eval_shape") if hasattr(function, name))
    called = function(x).tolist()
    return Seen(
        behaviour, f"a call gives {called}, lowered and compiled it gives {compiled}; AOT methods it has: {has}"
    )


def _require(wanted: Any, **got: Any) -> None:
    for what, value in got.items():
        if value != wanted:
            raise AssertionError(f"{what} gives {value}, not {wanted}")


def jit() -> Seen:
    """`.lower` of a `functools.wraps` wrapper round `jax.jit(f)` should lower the wrapper."""
    import jax
    import jax.numpy as jnp

    wrapper, x = _times_ten(jax.jit(lambda x: x + 1.0)), jnp.float32(1.0)
    seen = _seen(wrapper, x, whole=20.0, bare=2.0)
    if seen.behaviour == "attribute-error":
        return seen
    has = "a multiply" if "stablehlo.multiply" in wrapper.lower(x).as_text() else "no multiply"
    return Seen(seen.behaviour, f"{seen.detail}; {has} in its text")


def jit_control() -> None:
    """A jitted function lowers to itself, and a call of the wrapper runs the wrapper."""
    import jax
    import jax.numpy as jnp

    jitted, x = jax.jit(lambda x: x + 1.0), jnp.float32(1.0)
    _require(2.0, lowered=_aot(jitted, x), called=jitted(x).tolist())
    _require(20.0, wrapper=_times_ten(jitted)(x).tolist())


def jit_last() -> None:
    """`jax.jit` outermost: the wrapper's multiply is in the text, whether or not there is another `jit` inside."""
    import jax
    import jax.numpy as jnp

    x = jnp.float32(1.0)
    for function in (_times_ten(lambda x: x + 1.0), _times_ten(jax.jit(lambda x: x + 1.0))):
        outermost = jax.jit(function)
        if "stablehlo.multiply" not in outermost.lower(x).as_text():
            raise AssertionError("jit is outermost, and the lowered text does not have the wrapper's multiply")
        _require(20.0, jit_last=_aot(outermost, x))


def pmap() -> Seen:
    """`.lower` of a `functools.wraps` wrapper round `jax.pmap(f)` should lower the wrapper."""
    import jax
    import jax.numpy as jnp

    wrapper, xs = _times_ten(jax.pmap(lambda x: x + 1.0)), jnp.ones((1,), jnp.float32)
    seen = _seen(wrapper, xs, whole=[20.0], bare=[2.0])
    outer = f"{'a' if 'stablehlo.multiply' in jax.jit(wrapper).lower(xs).as_text() else 'no'} multiply"
    return Seen(seen.behaviour, f"{seen.detail}; jax.jit(wrapper).lower: {outer} in its text")


def pmap_control() -> None:
    """A pmapped function lowers to itself, and a call of the wrapper runs the wrapper."""
    import jax
    import jax.numpy as jnp

    pmapped, xs = jax.pmap(lambda x: x + 1.0), jnp.ones((1,), jnp.float32)
    _require([2.0], lowered=_aot(pmapped, xs), called=pmapped(xs).tolist())
    _require([20.0], wrapper=_times_ten(pmapped)(xs).tolist())


def pmap_last() -> None:
    """`jax.pmap` outermost. (`jax.jit` outermost would not do on 0.8.0 and later: see above.)"""
    import jax
    import jax.numpy as jnp

    outermost, xs = jax.pmap(_times_ten(lambda x: x + 1.0)), jnp.ones((1,), jnp.float32)
    if "stablehlo.multiply" not in outermost.lower(xs).as_text():
        raise AssertionError("pmap is outermost, and the lowered text does not have the wrapper's multiply")
    _require([20.0], pmap_last=_aot(outermost, xs))


def vmap() -> Seen:
    """`jax.vmap(jax.jit(f)).lower` should lower the vmapped function: two sums here, not one."""
    import jax
    import jax.numpy as jnp

    rows = jnp.arange(6.0, dtype=jnp.float32).reshape(2, 3)
    return _seen(jax.vmap(jax.jit(lambda row: row.sum())), rows, whole=[3.0, 12.0], bare=15.0)


def vmap_control() -> None:
    """A vmapped jitted function is right when called, and without the inner `jit` has never had a `lower`."""
    import jax
    import jax.numpy as jnp

    rows = jnp.arange(6.0, dtype=jnp.float32).reshape(2, 3)
    _require([3.0, 12.0], called=jax.vmap(jax.jit(lambda row: row.sum()))(rows).tolist())
    _require(False, has_lower=hasattr(jax.vmap(lambda row: row.sum()), "lower"))


def vmap_jit_last() -> None:
    """`jax.jit` outermost lowers the two sums."""
    import jax
    import jax.numpy as jnp

    rows = jnp.arange(6.0, dtype=jnp.float32).reshape(2, 3)
    _require([3.0, 12.0], jit_last=_aot(jax.jit(jax.vmap(jax.jit(lambda row: row.sum()))), rows))


def grad() -> Seen:
    """`jax.grad(jax.jit(f)).lower` should lower the gradient: 6 for x² at 3, not 9."""
    import jax
    import jax.numpy as jnp

    return _seen(jax.grad(jax.jit(lambda x: x * x)), jnp.float32(3.0), whole=6.0, bare=9.0)


def grad_control() -> None:
    """The gradient of a jitted function is right when called, and without the inner `jit` has never had a `lower`."""
    import jax
    import jax.numpy as jnp

    _require(6.0, called=jax.grad(jax.jit(lambda x: x * x))(jnp.float32(3.0)).tolist())
    _require(False, has_lower=hasattr(jax.grad(lambda x: x * x), "lower"))


def grad_jit_last() -> None:
    """`jax.jit` outermost lowers the gradient."""
    import jax
    import jax.numpy as jnp

    _require(6.0, jit_last=_aot(jax.jit(jax.grad(jax.jit(lambda x: x * x))), jnp.float32(3.0)))


def checkpoint() -> Seen:
    """`jax.checkpoint(jax.jit(f)).lower` should lower the checkpointed function, which has f as a call of its own."""
    import jax
    import jax.numpy as jnp

    jitted, x = jax.jit(lambda x: jnp.sin(jnp.sin(x))), jnp.float32(1.0)
    function = jax.checkpoint(jitted)
    try:
        text = function.lower(x).as_text()
    except AttributeError as error:
        if not str(error).endswith("has no attribute 'lower'"):
            raise
        return Seen("attribute-error", str(error))
    if text == jitted.lower(x).as_text():
        return Seen("bypassed", "its lowered text is that of the bare jitted function, to the letter")
    return Seen(
        "lowered" if " call @" in text else "other-text", "its lowered text is not that of the bare jitted function"
    )


def checkpoint_control() -> None:
    """The transform does something, and only `.lower` loses it: it is in the jaxpr of the very same function."""
    import jax
    import jax.numpy as jnp

    jitted, x = jax.jit(lambda x: jnp.sin(jnp.sin(x))), jnp.float32(1.0)
    _require(True, in_the_jaxpr="prevent_cse" in str(jax.make_jaxpr(jax.checkpoint(jitted))(x)))
    _require(False, in_the_bare_jaxpr="prevent_cse" in str(jax.make_jaxpr(jitted)(x)))


def checkpoint_jit_last() -> None:
    """`jax.jit` outermost lowers the checkpointed function: f is a call there, as it is not in the bare one."""
    import jax
    import jax.numpy as jnp

    jitted, x = jax.jit(lambda x: jnp.sin(jnp.sin(x))), jnp.float32(1.0)
    _require(True, jit_last=" call @" in jax.jit(jax.checkpoint(jitted)).lower(x).as_text())
    _require(False, bare=" call @" in jitted.lower(x).as_text())


def update_wrapper() -> Seen:
    """An object with `functools.update_wrapper(self, jax.jit(f))`, should lower to itself, or not at all."""
    import jax
    import jax.numpy as jnp

    x = jnp.float32(1.0)
    seen = _seen(_TimesTen(jax.jit(lambda x: x + 1.0)), x, whole=20.0, bare=2.0)
    jitted = jax.jit(lambda x: x + 1.0)
    partial = functools.update_wrapper(functools.partial(lambda f, x: f(x) * 10.0, jitted), jitted)
    others = {"a functools.partial": partial, "an object with its own lower": _TimesTenWithLower(jitted)}
    also = (f"{name}: {_seen(other, x, whole=20.0, bare=2.0).behaviour}" for name, other in others.items())
    return Seen(seen.behaviour, f"{seen.detail}; {', '.join(also)}")


def update_wrapper_control() -> None:
    """The object does its work when called, and one without `update_wrapper` has no `lower`."""
    import jax
    import jax.numpy as jnp

    jitted, x = jax.jit(lambda x: x + 1.0), jnp.float32(1.0)
    partial = functools.partial(lambda f, x: f(x) * 10.0, jitted)
    _require(20.0, called=_TimesTen(jitted)(x).tolist(), partial=partial(x).tolist())
    _require(False, has_lower=hasattr(partial, "lower"))


def update_wrapper_jit_last() -> None:
    """`jax.jit` outermost lowers the object's own computation."""
    import jax
    import jax.numpy as jnp

    _require(20.0, jit_last=_aot(jax.jit(_TimesTen(jax.jit(lambda x: x + 1.0))), jnp.float32(1.0)))


def _exporter() -> tuple[Callable[..., Any], str] | None:
    """Give `export` and its home: `jax.export` from 0.4.30, before `jax.experimental.export`, or a module in it."""
    import jax  # noqa: F401

    homes = [home for home in ("jax.export", "jax.experimental.export") if importlib.util.find_spec(home)]
    if not homes:
        return None
    module = importlib.import_module(homes[0])
    if not callable(getattr(module, "export", None)):
        module = importlib.import_module(f"{homes[0]}.export")
    return module.export, homes[0]


def _module_text(exported: Any) -> str:
    text = exported.mlir_module  # a method, from 0.4.24; a string before
    return str(text() if callable(text) else text)


def export() -> Seen:
    """`jax.export.export` of a `functools.wraps` wrapper round `jax.jit(f)` should export the wrapper, or refuse."""
    import jax
    import jax.numpy as jnp

    wrapper, x = _times_ten(jax.jit(lambda x: x + 1.0)), jnp.float32(1.0)
    exporter = _exporter()
    if exporter is None:
        return Seen("absent", "there is no jax.export, and no jax.experimental.export")
    try:
        text = _module_text(exporter[0](wrapper)(x))
    except ValueError as error:
        refusal = "Function to be exported must be the result of `jit`"
        if not str(error).startswith(refusal):
            raise
        return Seen("value-error", f"{refusal} ({exporter[1]})")
    has = {op: f"stablehlo.{op}" in text for op in ("add", "multiply")}
    name = {(True, False): "bypassed", (True, True): "lowered"}.get((has["add"], has["multiply"]), "other-text")
    ops = " and ".join(f"{'an' if op == 'add' else 'a'} {op}" for op in has if has[op]) or "neither add nor multiply"
    return Seen(name, f"the exported module has {ops} ({exporter[1]})")


def export_control() -> None:
    """What is jitted, and not wrapped, is exported as it is; so is this machine fit to export at all."""
    import jax
    import jax.numpy as jnp

    exporter = _exporter()
    if exporter is not None:
        text = _module_text(exporter[0](jax.jit(lambda x: x + 1.0))(jnp.float32(1.0)))
        _require(True, has_an_add="stablehlo.add" in text, has_no_multiply="stablehlo.multiply" not in text)


def export_jit_last() -> None:
    """`jax.jit` outermost exports the wrapper."""
    import jax
    import jax.numpy as jnp

    exporter = _exporter()
    if exporter is None:
        raise AssertionError("there is no export here")
    text = _module_text(exporter[0](jax.jit(_times_ten(jax.jit(lambda x: x + 1.0))))(jnp.float32(1.0)))
    _require(True, has_an_add="stablehlo.add" in text, has_a_multiply="stablehlo.multiply" in text)


_BEHAVIOURS: dict[str, JudgedAs] = {
    "lowered": "clear",
    "bypassed": "affected",
    "attribute-error": "guarded",
    "other-value": "different",
}
_TEXT_BEHAVIOURS: dict[str, JudgedAs] = {
    "lowered": "clear",
    "bypassed": "affected",
    "attribute-error": "guarded",
    "other-text": "different",
}
_EXPORT_BEHAVIOURS: dict[str, JudgedAs] = {
    "lowered": "clear",
    "bypassed": "affected",
    "value-error": "guarded",
    "other-text": "different",
    "absent": "absent",
}


def _changed_in_0_6(before: str) -> tuple[Expectation, ...]:
    return (
        Expectation("bypassed", ("jax<0.6.0",), f"run on 0.4.18 and the line up to 0.5.3; {before}"),
        Expectation(
            "attribute-error",
            ("jax>=0.6.0",),
            "run on the line from 0.6.0; jax#27873 (7eb397d1e5, first in 0.6.0) moved lower, trace and eval_shape "
            "to the class",
        ),
    )


ISSUE = Issue(
    id="wraps-lower-bypass",
    title="functools.wraps round a jitted function: .lower() skips the wrapper",
    kind="silent-wrong",
    story=(
        "f.lower(x) of a decorated jitted f lowers f without the decorator, because functools.wraps copies the lower "
        "that jit hung on it. jax 0.6.0 made it an AttributeError, for jit, for pmap and for all transforms of a "
        "jitted function; pmap went back to skipping the wrapper with its new implementation in 0.8.0."
    ),
    upstream=(
        Upstream("jax-ml/jax#27829", "report", "closed"),
        Upstream("jax-ml/jax#27873", "fix", "merged"),
    ),
    workaround="Apply jax.jit (or jax.pmap) last, outside every other decorator and transform.",
    cases=(
        Case(
            id="jit",
            question="Does .lower of a functools.wraps wrapper round jax.jit(f) lower the wrapper?",
            reproducer=jit,
            control=jit_control,
            workaround=jit_last,
            behaviours=_BEHAVIOURS,
            expectations=_changed_in_0_6("jit sets lower on the function that it returns"),
        ),
        Case(
            id="pmap",
            question="Does .lower of a functools.wraps wrapper round jax.pmap(f) lower the wrapper?",
            reproducer=pmap,
            control=pmap_control,
            workaround=pmap_last,
            behaviours=_BEHAVIOURS,
            expectations=(
                Expectation(
                    "bypassed",
                    ("jax<0.6.0",),
                    "run on 0.4.18 and the line up to 0.5.3; pmap sets lower on the function that it returns",
                ),
                Expectation(
                    "attribute-error",
                    ("jax>=0.6.0,<0.8.0",),
                    "run on the line from 0.6.0 to 0.7.2; jax#27873 (first in 0.6.0) moved lower to the class",
                ),
                Expectation(
                    "bypassed",
                    ("jax>=0.8.0",),
                    "run on 0.8.0 and the line from 0.8.2; pmap is by default the one on jit(shard_map) (aa2f995b1d, "
                    "first in 0.8.0; the only one from 0.10.0), which sets lower on the function that it returns",
                ),
            ),
        ),
        Case(
            id="vmap",
            question="Does jax.vmap(jax.jit(f)).lower lower the vmapped function?",
            reproducer=vmap,
            control=vmap_control,
            workaround=vmap_jit_last,
            behaviours=_BEHAVIOURS,
            expectations=_changed_in_0_6("jax's own wraps copies the jitted function's lower to vmap's"),
        ),
        Case(
            id="grad",
            question="Does jax.grad(jax.jit(f)).lower lower the gradient?",
            reproducer=grad,
            control=grad_control,
            workaround=grad_jit_last,
            behaviours=_BEHAVIOURS,
            expectations=_changed_in_0_6("jax's own wraps copies the jitted function's lower to grad's"),
        ),
        Case(
            id="checkpoint",
            question="Does jax.checkpoint(jax.jit(f)).lower lower the checkpointed function?",
            reproducer=checkpoint,
            control=checkpoint_control,
            workaround=checkpoint_jit_last,
            behaviours=_TEXT_BEHAVIOURS,
            expectations=_changed_in_0_6("jax's own wraps copies the jitted function's lower to checkpoint's"),
        ),
        Case(
            id="update-wrapper",
            question="Does .lower of an object with functools.update_wrapper(self, jax.jit(f)) lower the object?",
            reproducer=update_wrapper,
            control=update_wrapper_control,
            workaround=update_wrapper_jit_last,
            behaviours=_BEHAVIOURS,
            expectations=_changed_in_0_6(
                "update_wrapper copies lower to the object, over a lower of its own if it has one"
            ),
        ),
        Case(
            id="export",
            question="Does jax.export of a functools.wraps wrapper round jax.jit(f) export the wrapper?",
            reproducer=export,
            control=export_control,
            workaround=export_jit_last,
            behaviours=_EXPORT_BEHAVIOURS,
            expectations=(
                Expectation(
                    "bypassed",
                    ("jax<0.6.0",),
                    "run on 0.4.18, 0.4.24 and the line up to 0.5.3; export uses the wrapper's lower (from 0.4.29 its "
                    "trace), copied from the jitted f",
                ),
                Expectation(
                    "value-error",
                    ("jax>=0.6.0",),
                    "run on the line from 0.6.0; export wants a jax.stages.Wrapped (from 0.4.30), and jax#27873 made "
                    "the wrapper none: it has no lower",
                ),
            ),
        ),
    ),
)

if __name__ == "__main__":
    main(ISSUE)
