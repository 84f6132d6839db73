""".lower() skips a functools.wraps wrapper round a jitted function

`jax.jit` set `lower` on the function that it returned, and `functools.wraps` copies such attributes to the wrapper
(jax#27829). JAX's transforms copied `lower`, too (`vmap`, `grad`, `checkpoint`). jax#27873 moves `lower` to the class
of jitted functions, so wrappers do not get it; its author advises to apply `jax.jit` last. The `jax.pmap` on
`shard_map` (aa2f995b1d) sets `lower` on its result again, and `jax.jit` of a wrapper copies that `lower` (`pmap`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround


def _times_ten(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(function)
    def wrapper(x: Any) -> Any:
        return function(x) * 10.0

    return wrapper


class _TimesTen:
    """The decorator `_times_ten` as an object, without a `lower` of its own."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        functools.update_wrapper(self, function)

    def __call__(self, x: Any) -> Any:
        return self.function(x) * 10.0


def _aot(function: Any, x: Any) -> Any:
    return function.lower(x).compile()(x).tolist()


def _lowered(function: Any, x: Any, *, whole: Any, bare: Any) -> tuple[str, str]:
    """Lower, compile and call a function; `whole` is its result with the wrapper or transform, `bare` without."""
    compiled = _aot(function, x)
    behaviour = "bypassed" if compiled == bare else "lowered" if compiled == whole else "other-value"
    return behaviour, f"a call gives {function(x).tolist()}, lowered and compiled it gives {compiled}"


def jit() -> tuple[str, str]:
    """Does .lower of a functools.wraps wrapper round jax.jit(f) lower the wrapper?"""
    import jax

    return _lowered(_times_ten(jax.jit(lambda x: x + 1.0)), 1.0, whole=20.0, bare=2.0)


def jit_control() -> None:
    """Lowered and called, jax.jit(f) gives 2; called, the wrapper and the wrapper object give 20."""
    import jax

    jitted = jax.jit(lambda x: x + 1.0)
    got = [_aot(jitted, 1.0), jitted(1.0), _times_ten(jitted)(1.0), _TimesTen(jitted)(1.0)]
    assert got == [2.0, 2.0, 20.0, 20.0], got


def jit_last() -> None:
    """With jax.jit outside, .lower lowers the wrapper and the wrapper object, even with another jit inside."""
    import jax

    jitted = jax.jit(lambda x: x + 1.0)
    functions = (_times_ten(lambda x: x + 1.0), _times_ten(jitted), _TimesTen(jitted))
    got = [_aot(jax.jit(function), 1.0) for function in functions]
    assert got == [20.0, 20.0, 20.0], got


def _swapped(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Decorate a function to take its two arguments in the other order."""

    @functools.wraps(function)
    def wrapper(x: Any, y: Any) -> Any:
        return function(y, x)

    return wrapper


def swapped_difference(x: Any, y: Any) -> Any:
    """Lower and compile a swapped difference, with jax.jit outside the decorator."""
    import jax

    return jax.jit(_swapped(jax.jit(lambda x, y: x - y))).lower(x, y).compile()(x, y)


def numpy_difference(x: Any, y: Any) -> Any:
    """Subtract in the other order."""
    return y - x


def pmap() -> tuple[str, str]:
    """Does .lower of a functools.wraps wrapper round jax.pmap(f) lower the wrapper?"""
    import jax

    wrapper, xs = _times_ten(jax.pmap(lambda x: x + 1.0)), jax.numpy.array([1.0])
    behaviour, evidence = _lowered(wrapper, xs, whole=[20.0], bare=[2.0])
    outer = "a multiply" if "stablehlo.multiply" in jax.jit(wrapper).lower(xs).as_text() else "no multiply"
    return behaviour, f"{evidence}; jax.jit(wrapper).lower has {outer} in its text"


def pmap_control() -> None:
    """Lowered and called, jax.pmap(f) gives 2; called, the wrapper gives 20."""
    import jax

    pmapped, xs = jax.pmap(lambda x: x + 1.0), jax.numpy.array([1.0])
    got = [_aot(pmapped, xs), pmapped(xs), _times_ten(pmapped)(xs)]
    assert got == [[2.0], 2.0, 20.0], got


def pmap_last() -> None:
    """With jax.pmap outside, .lower lowers the wrapper."""
    import jax

    got = _aot(jax.pmap(_times_ten(lambda x: x + 1.0)), jax.numpy.array([1.0]))
    assert got == [20.0], got


def pmapped_difference(x: Any, y: Any) -> Any:
    """Lower and compile a swapped difference on one device, with jax.pmap outside the decorator."""
    import jax

    x, y = x[None], y[None]
    return jax.pmap(_swapped(jax.jit(lambda x, y: x - y))).lower(x, y).compile()(x, y)[0]


def vmap() -> tuple[str, str]:
    """Does the lower method of jax.vmap(jax.jit(f)) include the vmap?"""
    import jax

    rows = jax.numpy.arange(6.0).reshape(2, 3)
    return _lowered(jax.vmap(jax.jit(lambda row: row.sum())), rows, whole=[3.0, 12.0], bare=15.0)


def transform_control() -> None:
    """vmap, grad and checkpoint of a jitted function take effect; without jit, vmap and grad have no `lower`."""
    import jax

    rows = jax.numpy.arange(6.0).reshape(2, 3)
    got = [jax.vmap(jax.jit(lambda row: row.sum()))(rows).tolist(), jax.grad(jax.jit(lambda x: x * x))(3.0)]
    assert got == [[3.0, 12.0], 6.0], got
    jitted = jax.jit(lambda x: jax.numpy.sin(jax.numpy.sin(x)))
    got = ["prevent_cse" in str(jax.make_jaxpr(function)(1.0)) for function in (jax.checkpoint(jitted), jitted)]
    assert got == [True, False], got
    assert not any(hasattr(transform(lambda x: x.sum()), "lower") for transform in (jax.vmap, jax.grad))


def transform_jit_last() -> None:
    """With jax.jit outside, .lower lowers the vmapped function and the gradient."""
    import jax

    vmapped, rows = jax.vmap(jax.jit(lambda row: row.sum())), jax.numpy.arange(6.0).reshape(2, 3)
    got = [_aot(jax.jit(vmapped), rows), _aot(jax.jit(jax.grad(jax.jit(lambda x: x * x))), 3.0)]
    assert got == [[3.0, 12.0], 6.0], got


def slopes_of_cubes(x: Any) -> Any:
    """Lower and compile vmap, grad and checkpoint of a jitted function, with jax.jit outside them."""
    import jax

    slopes = jax.vmap(jax.grad(jax.checkpoint(jax.jit(lambda x: x * x * x))))
    return jax.jit(slopes).lower(x.ravel()).compile()(x.ravel())


def numpy_slopes(x: Any) -> Any:
    """Return three times the squares."""
    return 3 * x.ravel() ** 2


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
    """With jax.jit outside jax.checkpoint, the lowered text has a call; without jax.checkpoint, it has none."""
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
    """Return which of add and multiply an exported function has; None if this release has no export."""
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
    """A jitted function without a wrapper is exported as it is."""
    import jax

    ops = _exported_ops(jax.jit(lambda x: x + 1.0))
    assert ops in (["add"], None), ops


def export_jit_last() -> None:
    """With jax.jit outside, jax.export exports the wrapper."""
    import jax

    ops = _exported_ops(jax.jit(_times_ten(jax.jit(lambda x: x + 1.0))))
    assert ops == ["add", "multiply"], ops


def export_of_objects() -> None:
    """With jax.jit outside, jax.export exports a whole wrapper object, round a jitted function and round a wrapper."""
    import jax

    for inner in (jax.jit(lambda x: x + 1.0), _times_ten(lambda x: x + 1.0)):
        ops = _exported_ops(jax.jit(_TimesTen(inner)))
        assert ops in (["add", "multiply"], None), ops


_MEANINGS: Any = {"lowered": "clear", "bypassed": "affected"}
_GONE = Rule("attribute-error", "", "jax#27873 (7eb397d1e5) moved lower, trace and eval_shape to the class")
_COPIED = (Rule("bypassed", "jax<0.6.0", "jax's own wraps copies lower from the jitted function"), _GONE)
_COPY_EXPORTED = "jax.export uses a method that the wrapper copied from jax.jit(f)"
_NOT_EXPORTED = "jax.export requires a jax.stages.Wrapped, and since jax#27873 the wrapper is not one"
_JIT_LAST = "Apply jax.jit last, with its static and donated arguments; jax.jit then traces the wrapper."
_OF_TRANSFORMS = Elsewhere(
    slopes_of_cubes,
    numpy_slopes,
    ("float32 vector", "float16 one", "float16 empty", "float32 matrix", "zero float32 batch"),
    rtol=1e-3,
)
_TRANSFORMED = Workaround(_JIT_LAST, transform_jit_last, elsewhere=_OF_TRANSFORMS)
_PAIRS = (
    *("float32 vector, float32 vector", "int32 matrix, int32 scalar", "float16 empty, float16 one"),
    *("complex64 batch, complex64 square", "uint8 one, zero uint8 one"),
)
# A decorated function is not seen, but `g = decorate(jax.jit(f))` is.
_OF_A_WRAPPER = "jax.stages.Wrapped.lower(args) if given(args) and not without('{}') and not without('{}') and not {}"
_EXPORTED = "{}.export(fun) if form(fun) != 'jax.jit' and uses('functools.wraps')"
_BARE = "within('jax.jit', 'jax.pmap', 'functools.partial')"


def _within(*transforms: str) -> tuple[str, ...]:
    return (f"jax.stages.Wrapped.lower(args) if given(args) and within({', '.join(map(repr, transforms))})",)


_JIT = (_OF_A_WRAPPER.format("functools.wraps", "jax.jit", _BARE), "ahead of time")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        report="jax#27829",
        cause="jax@aa2f995b1d",
        fix="jax#27873",
        docs="jax:changelog.html#jax-0-6-0-april-16-2025",
    ),
    known_by=r"'function' object has no attribute 'lower'",
    behaviours={**_MEANINGS, "attribute-error": "guarded"},
    rules=(Rule("bypassed", "jax<0.6.0", "jit gave the function that it returned an attribute lower"), _GONE),
    signatures={"attribute-error": Signature("AttributeError", "has no attribute 'lower'", everyday=True)},
    workaround=Workaround(_JIT_LAST, jit_last, elsewhere=Elsewhere(swapped_difference, numpy_difference, _PAIRS)),
    cases=(
        Case(jit, jit_control, touches=_JIT),
        Case(
            pmap,
            pmap_control,
            rules=(
                Rule("bypassed", "jax<0.6.0", "pmap gave the function that it returned an attribute lower"),
                Rule("attribute-error", "jax<0.8.0", "jax#27873 (7eb397d1e5) changed pmap, too"),
                Rule("bypassed", "", "aa2f995b1d: the pmap on jit(shard_map) sets lower again"),
            ),
            workaround=Workaround(
                "If the wrapper works on each device's part, apply jax.pmap last.",
                pmap_last,
                elsewhere=Elsewhere(pmapped_difference, numpy_difference, _PAIRS),
            ),
            touches=(_OF_A_WRAPPER.format("functools.wraps", "jax.pmap", _BARE),),
        ),
        Case(vmap, transform_control, rules=_COPIED, workaround=_TRANSFORMED, touches=_within("jax.vmap")),
        Case(
            grad,
            transform_control,
            rules=_COPIED,
            workaround=_TRANSFORMED,
            touches=_within("jax.grad", "jax.value_and_grad", "jax.jacfwd", "jax.jacrev", "jax.hessian"),
        ),
        Case(
            checkpoint,
            transform_control,
            behaviours={**_MEANINGS, "attribute-error": "guarded", "other-text": "different"},
            rules=_COPIED,
            workaround=Workaround(_JIT_LAST, checkpoint_jit_last, elsewhere=_OF_TRANSFORMS),
            touches=_within("jax.checkpoint", "jax.remat"),
        ),
        Case(
            update_wrapper,
            jit_control,
            rules=(
                Rule("bypassed", "jax<0.6.0", "update_wrapper copies lower, which replaces the object's own"),
                _GONE,
            ),
            touches=(_OF_A_WRAPPER.format("functools.update_wrapper", "jax.jit", _BARE),),
        ),
        Case(
            export,
            export_control,
            behaviours={**_MEANINGS, "other-text": "different", "absent": "absent"},
            rules=(
                Rule("bypassed", "absl-py jax<0.4.24", _COPY_EXPORTED),
                Rule("bypassed", "absl-py flatbuffers jax<0.4.30", _COPY_EXPORTED),
                Rule("bypassed", "absl-py jax>=0.4.30,<0.6.0", _COPY_EXPORTED),
                Rule("value-error", "absl-py jax>=0.6.0", _NOT_EXPORTED),
                Rule("not-installed", "jax<0.6.2"),
                Rule("value-error", "", _NOT_EXPORTED),
            ),
            signatures={"value-error": Signature("ValueError", "Function to be exported must be the result of `jit`")},
            workaround=Workaround(_JIT_LAST, export_jit_last, elsewhere=export_of_objects),
            touches=(_EXPORTED.format("jax.export"), _EXPORTED.format("jax.experimental.export")),
        ),
    ),
)
