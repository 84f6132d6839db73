"""functools.wraps round a jitted function: .lower() skips the wrapper

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
manager used as a decorator.) A transform of a function that is not jitted has never had a `lower`.

jax#27873, in 0.6.0, made them attributes of the class, where `wraps` does not find them. It does not lower the
wrapper: it takes the wrapper's AOT methods away, and the symptom is now an `AttributeError`. Upstream's advice is to
apply `jax.jit` last.

Seen in these runs:

- **`jax.pmap` has it again, since 0.8.0.** The changelog of 0.6.0 has it "similarly for `jax.pmap`", and so it was in
  0.6 and 0.7. The new pmap, built on `jit(shard_map)` (by default from 0.8.0, alone from 0.10.0), sets `lower` on the
  function it returns, as of old.
- **There, `jax.jit` last does not help.** `jax.jit` takes over the `__dict__` of what it wraps, the stray `lower`
  included, and that hides the `lower` of its class: `jax.jit(times_ten(jax.pmap(f))).lower` still gives you the bare
  pmap. (Its `.trace(x).lower()` is right.) What helps is `jax.pmap` last.
- An object with a good `lower` of its own lost that too, by `functools.update_wrapper`, up to 0.5.3: an instance's
  attribute hides a method. From 0.6.0 it keeps it.
- `jax.export` of such a wrapper exported the bare function, up to 0.5.3. From 0.6.0 it says that it wants the result
  of `jit`. (It imports absl, up to 0.6.1, and flatbuffers, 0.4.24 to 0.4.29, which nothing declares.)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def _times_ten(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(function)
    def wrapper(x: Any) -> Any:
        return function(x) * 10.0

    return wrapper


class _TimesTen:
    """The same decorator as an object; AOT methods it does not have."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        functools.update_wrapper(self, function)

    def __call__(self, x: Any) -> Any:
        return self.function(x) * 10.0


def _aot(function: Any, x: Any) -> Any:
    return function.lower(x).compile()(x).tolist()


def _lowered(function: Any, x: Any, *, whole: Any, bare: Any) -> tuple[str, str]:
    """What `.lower` lowers, told by what that computes: `whole` with the wrapper or transform, `bare` without."""
    compiled = _aot(function, x)
    behaviour = "bypassed" if compiled == bare else "lowered" if compiled == whole else "other-value"
    return behaviour, f"a call gives {function(x).tolist()}, lowered and compiled it gives {compiled}"


def jit() -> tuple[str, str]:
    """Does .lower of a functools.wraps wrapper round jax.jit(f) lower the wrapper?"""
    import jax

    return _lowered(_times_ten(jax.jit(lambda x: x + 1.0)), 1.0, whole=20.0, bare=2.0)


def jit_control() -> None:
    """A jitted function lowers to itself, and a call of the wrapper, or of the object, runs it."""
    import jax

    jitted = jax.jit(lambda x: x + 1.0)
    got = [_aot(jitted, 1.0), jitted(1.0), _times_ten(jitted)(1.0), _TimesTen(jitted)(1.0)]
    assert got == [2.0, 2.0, 20.0, 20.0], got


def jit_last() -> None:
    """The wrapper's own computation, or the object's, whether or not there is another `jit` inside."""
    import jax

    jitted = jax.jit(lambda x: x + 1.0)
    functions = (_times_ten(lambda x: x + 1.0), _times_ten(jitted), _TimesTen(jitted))
    got = [_aot(jax.jit(function), 1.0) for function in functions]
    assert got == [20.0, 20.0, 20.0], got


def pmap() -> tuple[str, str]:
    """Does .lower of a functools.wraps wrapper round jax.pmap(f) lower the wrapper?"""
    import jax

    wrapper, xs = _times_ten(jax.pmap(lambda x: x + 1.0)), jax.numpy.array([1.0])
    behaviour, evidence = _lowered(wrapper, xs, whole=[20.0], bare=[2.0])
    outer = "a multiply" if "stablehlo.multiply" in jax.jit(wrapper).lower(xs).as_text() else "no multiply"
    return behaviour, f"{evidence}; jax.jit(wrapper).lower has {outer} in its text"


def pmap_control() -> None:
    """A pmapped function lowers to itself, and a call of the wrapper runs the wrapper."""
    import jax

    pmapped, xs = jax.pmap(lambda x: x + 1.0), jax.numpy.array([1.0])
    got = [_aot(pmapped, xs), pmapped(xs), _times_ten(pmapped)(xs)]
    assert got == [[2.0], 2.0, 20.0], got


def pmap_last() -> None:
    """With `jax.jit` outermost it would still go wrong from 0.8.0 on."""
    import jax

    got = _aot(jax.pmap(_times_ten(lambda x: x + 1.0)), jax.numpy.array([1.0]))
    assert got == [20.0], got


def vmap() -> tuple[str, str]:
    """Does jax.vmap(jax.jit(f)).lower lower the vmapped function?"""
    import jax

    rows = jax.numpy.arange(6.0).reshape(2, 3)
    return _lowered(jax.vmap(jax.jit(lambda row: row.sum())), rows, whole=[3.0, 12.0], bare=15.0)


def transform_control() -> None:
    """A transform of a jitted function is right when called, or in the jaxpr; without that `jit` it has no `lower`."""
    import jax

    rows = jax.numpy.arange(6.0).reshape(2, 3)
    got = [jax.vmap(jax.jit(lambda row: row.sum()))(rows).tolist(), jax.grad(jax.jit(lambda x: x * x))(3.0)]
    assert got == [[3.0, 12.0], 6.0], got
    jitted = jax.jit(lambda x: jax.numpy.sin(jax.numpy.sin(x)))
    got = ["prevent_cse" in str(jax.make_jaxpr(function)(1.0)) for function in (jax.checkpoint(jitted), jitted)]
    assert got == [True, False], got
    assert not any(hasattr(transform(lambda x: x.sum()), "lower") for transform in (jax.vmap, jax.grad))


def transform_jit_last() -> None:
    """The two sums, and the gradient."""
    import jax

    vmapped, rows = jax.vmap(jax.jit(lambda row: row.sum())), jax.numpy.arange(6.0).reshape(2, 3)
    got = [_aot(jax.jit(vmapped), rows), _aot(jax.jit(jax.grad(jax.jit(lambda x: x * x))), 3.0)]
    assert got == [[3.0, 12.0], 6.0], got


def grad() -> tuple[str, str]:
    """Does jax.grad(jax.jit(f)).lower lower the gradient?"""
    import jax

    return _lowered(jax.grad(jax.jit(lambda x: x * x)), 3.0, whole=6.0, bare=9.0)


def checkpoint() -> tuple[str, str]:
    """Does jax.checkpoint(jax.jit(f)).lower lower the checkpointed function?"""
    import jax

    jitted = jax.jit(lambda x: jax.numpy.sin(jax.numpy.sin(x)))
    text = jax.checkpoint(jitted).lower(1.0).as_text()
    if text == jitted.lower(1.0).as_text():
        return "bypassed", "its lowered text is that of the bare jitted function, to the letter"
    return "lowered" if " call @" in text else "other-text", "its lowered text is not that of the bare jitted function"


def checkpoint_jit_last() -> None:
    """f is a call there, as it is not in the bare one."""
    import jax

    jitted = jax.jit(lambda x: jax.numpy.sin(jax.numpy.sin(x)))
    got = [" call @" in function.lower(1.0).as_text() for function in (jax.jit(jax.checkpoint(jitted)), jitted)]
    assert got == [True, False], got


def update_wrapper() -> tuple[str, str]:
    """Does .lower of an object with functools.update_wrapper(self, jax.jit(f)) lower the object?"""
    import jax

    class WithItsOwn(_TimesTen):
        def lower(self, x: Any) -> Any:
            return jax.jit(self.__call__).lower(x)

    jitted = jax.jit(lambda x: x + 1.0)
    behaviour, evidence = _lowered(_TimesTen(jitted), 1.0, whole=20.0, bare=2.0)
    its_own, _ = _lowered(WithItsOwn(jitted), 1.0, whole=20.0, bare=2.0)
    return behaviour, f"{evidence}; an object with a lower of its own: {its_own}"


def _exported_ops(function: Callable[[Any], Any]) -> list[str] | None:
    """Which of add and multiply `function` is exported with; None where there is no export."""
    from importlib.util import find_spec

    import jax

    if find_spec("jax.export"):  # from 0.4.30
        from jax.export import export
    elif find_spec("jax.experimental.export"):
        from jax.experimental.export import export
    else:
        return None
    text = getattr(export, "export", export)(function)(jax.numpy.float32(1.0)).mlir_module
    return [op for op in ("add", "multiply") if f"stablehlo.{op}" in str(text() if callable(text) else text)]


def export() -> tuple[str, str]:
    """Does jax.export of a functools.wraps wrapper round jax.jit(f) export the wrapper?"""
    import jax

    ops = _exported_ops(_times_ten(jax.jit(lambda x: x + 1.0)))
    if ops is None:
        return "absent", "there is no jax.export, and no jax.experimental.export"
    behaviour = {("add",): "bypassed", ("add", "multiply"): "lowered"}.get(tuple(ops), "other-text")
    return behaviour, f"of add and multiply, the exported module has {ops}"


def export_control() -> None:
    """What is jitted, and not wrapped, is exported as it is; so is this machine fit to export at all."""
    import jax

    ops = _exported_ops(jax.jit(lambda x: x + 1.0))
    assert ops in (["add"], None), ops


def export_jit_last() -> None:
    """The wrapper is exported."""
    import jax

    ops = _exported_ops(jax.jit(_times_ten(jax.jit(lambda x: x + 1.0))))
    assert ops == ["add", "multiply"], ops


_BEHAVIOURS: dict[str, Any] = {"lowered": "clear", "bypassed": "affected"}


def _case(
    reproducer: Callable[[], tuple[str, str]],
    control: Callable[[], None],
    workaround: Callable[[], None],
    before: str,
    other: str = "other-value",
) -> Case:
    """A case that changed with jax#27873: `before` is why it was skipped until then."""
    after = "jax#27873 (7eb397d1e5, first in 0.6.0) moved lower, trace and eval_shape to the class"
    return Case(
        reproducer,
        control,
        {**_BEHAVIOURS, "attribute-error": "guarded", other: "different"},
        rules=(Rule("bypassed", "jax<0.6.0", before), Rule("attribute-error", "", after)),
        signatures={"attribute-error": Signature("AttributeError", "has no attribute 'lower'", everyday=True)},
        workaround=Workaround("Apply jax.jit last, outside every other decorator and transform.", workaround),
    )


_SETS_LOWER = "sets lower on the function that it returns"
_COPIES_LOWER = "jax's own wraps copies the jitted function's lower to it"
_BY_COPY = "it uses the wrapper's lower (from 0.4.29 trace), a copy of f's"
_NO_LOWER = "it wants a jax.stages.Wrapped, and jax#27873 left the wrapper no lower"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#27829", fix="jax#27873"),
    touches=(
        "jax.stages.Wrapped.lower(args) if given(args) and within('jax.vmap', 'jax.grad', 'jax.checkpoint')",
        "ahead of time",
    ),
    known_by=r"'function' object has no attribute 'lower'",
    cases=(
        _case(jit, jit_control, jit_last, f"jit {_SETS_LOWER}"),
        replace(
            _case(pmap, pmap_control, pmap_last, ""),
            rules=(
                Rule("bypassed", "jax<0.6.0", f"pmap {_SETS_LOWER}"),
                Rule("attribute-error", "jax<0.8.0", "jax#27873 was for pmap too"),
                Rule("bypassed", "", f"the pmap on jit(shard_map) (aa2f995b1d) {_SETS_LOWER}"),
            ),
            workaround=Workaround("Apply jax.pmap last, outside every other decorator.", pmap_last),
        ),
        _case(vmap, transform_control, transform_jit_last, _COPIES_LOWER),
        _case(grad, transform_control, transform_jit_last, _COPIES_LOWER),
        _case(checkpoint, transform_control, checkpoint_jit_last, _COPIES_LOWER, other="other-text"),
        _case(
            update_wrapper,
            jit_control,
            jit_last,
            "update_wrapper copies lower to the object, over a lower of its own if it has one",
        ),
        Case(
            export,
            export_control,
            {**_BEHAVIOURS, "other-text": "different", "absent": "absent"},
            rules=(
                Rule("bypassed", "absl-py jax<0.4.24", _BY_COPY),
                Rule("bypassed", "absl-py flatbuffers jax<0.4.30", _BY_COPY),
                Rule("bypassed", "absl-py jax>=0.4.30,<0.6.0", _BY_COPY),
                Rule("value-error", "absl-py jax>=0.6.0", _NO_LOWER),
                Rule("not-installed", "jax<0.6.2"),
                Rule("value-error", "", _NO_LOWER),
            ),
            signatures={"value-error": Signature("ValueError", "Function to be exported must be the result of `jit`")},
            workaround=Workaround("Apply jax.jit last, outside every other decorator.", export_jit_last),
        ),
    ),
)
