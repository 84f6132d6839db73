"""compute_on("device_host") outside jit: .lower() loses the mark, and compiles for the device

    @compute_on("device_host")
    @jax.jit
    def f(x):
        return x * 3.0
    f(2.0)                     # runs on the host
    f.lower(2.0).as_text()     # up to jax 0.5.3: no mark that says so; compiled, it runs on the device

You'd expect the lowered program to say what a call does. The mark is plain to see in lowered text (`_xla_compute_type
= "host"` on each operation), on any machine. With `jax.jit` outside, it is there wherever `compute_on` is.

This is wraps-lower-bypass again, through the standard library. Up to 0.11.0 `compute_on` was a context manager, and a
context manager used as a decorator is a `functools.wraps` wrapper: it got `jitted.lower` with the rest of the
`__dict__`, and `.lower()` never entered the context. From 0.6.0 the outside one has no `lower` at all. From 0.11.1
`compute_on` is a transform, with `out_memory_spaces` to be given, and the function it returns has none either.

The program of the thread picks its answer by platform, `jax.lax.platform_dependent(x, cpu=add_one, tpu=add_two)`. Work
marked for the host should take the CPU's branch, though the program is lowered for a TPU: that is `tpu-branch`, with
the decorator on the right side. On 0.4.29 and 0.4.30 the TPU's branch is taken *and* marked for the host. A
`compute_on` within the `tpu=` branch, the other way to read it, keeps its mark from 0.4.29 on.

On a CPU this does not show where anything ran: the mark is a request to XLA. The TPU's compiler grants it, and needs no
TPU to say so (libtpu, asked through `jax.experimental.topologies` for a v5e with jax 0.5.3, 0.6.0, 0.8.2, 0.10.2 and
0.12.0.1): with jit last, the thread's program has the CPU's addition in a computation of the thread "host"; with the
decorator outside, on 0.5.3, it has the TPU's on the device alone.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import re
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround

_MARK = '_xla_compute_type = "host"'


def _exists() -> bool:
    return importlib.util.find_spec("jax.experimental.compute_on") is not None


def _on_host(function: Any) -> Any:
    """Put `compute_on("device_host")` round a function, the way this release spells it."""
    import jax
    from jax.experimental.compute_on import compute_on

    if "out_memory_spaces" in inspect.signature(compute_on).parameters:  # from 0.11.1
        return compute_on(function, compute_type="device_host", out_memory_spaces=jax.memory.Space.Device)
    return compute_on("device_host")(function)


def decorator_outside() -> tuple[str, str]:
    """Does compute_on("device_host")(jax.jit(f)).lower(x) keep the mark for the host?"""
    import jax

    text = _on_host(jax.jit(lambda x: x * 3.0)).lower(jax.numpy.float32(2.0)).as_text()
    return ("mark-kept", f"{_MARK} in the text") if _MARK in text else ("mark-lost", f"no {_MARK} in the text")


def control_decorator_outside() -> None:
    """A jitted function without compute_on lowers, unmarked; and compute_on outside, called, computes the same."""
    import jax

    jitted, x = jax.jit(lambda x: x * 3.0), jax.numpy.float32(2.0)
    text = jitted.lower(x).as_text()
    assert ("stablehlo.multiply" in text, _MARK in text) == (True, False), f"a plain jitted function lowers to {text}"
    got = _on_host(jax.jit(lambda x: x * 3.0))(x).tolist() if _exists() else 6.0
    assert got == 6.0, f"compute_on outside, called, gives {got}"


def jit_last() -> None:
    """`jax.jit` outermost: the mark is in the text, whether or not there is another `jit` inside."""
    import jax

    for function in (lambda x: x * 3.0, jax.jit(lambda x: x * 3.0)):
        text = jax.jit(_on_host(function)).lower(jax.numpy.float32(2.0)).as_text()
        assert _MARK in text, "jit is outermost, and the lowered text is not marked for the host"


def decorator_inside() -> tuple[str, str]:
    """Does jax.jit(compute_on("device_host")(f)).lower(x) keep the mark for the host?"""
    import jax

    text = jax.jit(_on_host(lambda x: x * 3.0)).lower(jax.numpy.float32(2.0)).as_text()
    return ("mark-kept", f"{_MARK} in the text") if _MARK in text else ("mark-lost", f"no {_MARK} in the text")


def control_decorator_inside() -> None:
    """Only what compute_on decorates is marked: a sine outside it is not."""
    import jax

    inner = _on_host(lambda x: x * 3.0) if _exists() else (lambda x: x * 3.0)
    text = jax.jit(lambda x: inner(jax.numpy.sin(x))).lower(jax.numpy.float32(2.0)).as_text()
    sines = [line for line in text.splitlines() if "stablehlo.sine" in line]
    assert [_MARK in sine for sine in sines] == [False], f"one sine was to be there, unmarked: {sines}"


def tpu_branch() -> tuple[str, str]:
    """Lowered for a TPU, does platform_dependent within compute_on take the CPU's branch, marked?"""
    import jax

    x = jax.numpy.float32(0.0)
    branch = _branch(_lower_for_tpu(jax.jit(_on_host(lambda x: _by_platform(x))), x))
    name = {"CPU branch, marked": "host-branch", "TPU branch, marked": "tpu-branch-on-host"}.get(branch, "mark-lost")
    evidence = f"lowered for TPU: {branch}"
    outside = _on_host(jax.jit(lambda x: _by_platform(x)))
    if hasattr(outside, "lower"):  # up to 0.5.3
        evidence += f", and {_branch(_lower_for_tpu(outside, x))} with the decorator outside"
    if (backend := jax.default_backend()) != "cpu":
        with contextlib.suppress(Exception):  # it need not take host computation: what was lowered stands
            evidence += f"; called on {backend}, it gives {jax.jit(_on_host(lambda x: _by_platform(x)))(x)}"
    return name, evidence


def control_tpu_branch() -> None:
    """Without compute_on it is the TPU's branch, lowered for a TPU; and a compute_on within that keeps its mark."""
    import jax

    x = jax.numpy.float32(0.0)
    if not hasattr(jax.lax, "platform_dependent"):  # up to 0.4.20, where this issue is absent
        assert "stablehlo.add" in _lower_for_tpu(jax.jit(lambda x: x + 2.0), x), "an addition for a TPU has no add"
        return
    texts = {"TPU branch, unmarked": _lower_for_tpu(jax.jit(lambda x: _by_platform(x)), x)}
    if jax.default_backend() == "cpu":
        texts["CPU branch, unmarked"] = jax.jit(lambda x: _by_platform(x)).lower(x).as_text()
    if _exists():
        two = _on_host(lambda x: x + 2.0)
        within = jax.jit(lambda x: jax.lax.platform_dependent(x, cpu=lambda x: x + 1.0, tpu=lambda x: two(x)))
        texts["TPU branch, marked"] = _lower_for_tpu(within, x)
    for wanted, text in texts.items():
        assert (branch := _branch(text)) == wanted, f"it is {branch}, and not {wanted}"


def _by_platform(x: Any) -> Any:
    """What the thread computes: add 1 on a CPU, and 2 on a TPU (and, here, on anything else)."""
    import jax

    return jax.lax.platform_dependent(x, cpu=lambda x: x + 1.0, tpu=lambda x: x + 2.0, default=lambda x: x + 2.0)


def _lower_for_tpu(jitted: Any, x: Any) -> str:
    """Lower for a TPU that need not be there."""
    lower = jitted.trace(x).lower if hasattr(jitted, "trace") else jitted.lower
    if "lowering_platforms" in inspect.signature(lower).parameters:  # from 0.4.30; 0.4.29 traces without it
        return str(lower(lowering_platforms=("tpu",)).as_text())
    from jax._src.interpreters.mlir import LoweringParameters

    return str(jitted.lower(x, _experimental_lowering_parameters=LoweringParameters(platforms=("tpu",))).as_text())


def _branch(text: str) -> str:
    """Say which branch of `_by_platform` lowered text takes, and whether it is marked for the host."""
    branches = re.findall(r"dense<([12])\.0+e\+00>", text)
    if len(branches) > 1:  # up to 0.6.0 all are there, under a case of a constant index
        head, _, body = text.partition('"stablehlo.case"(')
        name = body[: body.index(")")]
        while (operands := re.search(rf"{name} = stablehlo\.clamp %\w+, (%\w+),", head)) is not None:
            name = operands[1]
        index = re.search(rf"{name} = stablehlo\.constant.* dense<(\d+)> : tensor<i32>", head)
        assert index is not None, "the index of the case is not a constant"
        text = body.split("}, {")[int(index[1])]
        branches = re.findall(r"dense<([12])\.0+e\+00>", text)
    adds = [line for line in text.splitlines() if "stablehlo.add " in line]
    assert len(branches) == len(adds) == 1, f"{len(branches)} branches and {len(adds)} adds are left, not one"
    return f"{'CPU' if branches == ['1'] else 'TPU'} branch, {'marked' if _MARK in adds[0] else 'unmarked'}"


_NO_COMPUTE_ON = {"absent": Signature("ModuleNotFoundError", "No module named 'jax.experimental.compute_on'")}
_ABSENT = Rule("absent", "jax<0.4.29", "jax.experimental.compute_on came with 0.4.29")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#27825", fix="jax#27873"),
    touches=("jax.experimental.compute_on.compute_on", "ahead of time", "host offloading"),
    known_by=r"'function' object has no attribute 'lower'",
    signatures=_NO_COMPUTE_ON,
    behaviours={"mark-kept": "clear", "mark-lost": "affected"},
    cases=(
        Case(
            decorator_outside,
            control_decorator_outside,
            signatures={
                **_NO_COMPUTE_ON,
                "attribute-error": Signature("AttributeError", "has no attribute 'lower'", everyday=True),
            },
            rules=(
                _ABSENT,
                Rule("mark-lost", "jax<0.6.0", "libtpu 0.0.11.4 (jax 0.5.3) too has nothing of it on the host"),
                Rule("attribute-error", "", "jax#27873 (7eb397d1e5), and from 0.11.1 3a440c764b, ad1df344b0"),
            ),
            workaround=Workaround('Apply jax.jit last: jax.jit(compute_on("device_host")(f)).', code=jit_last),
        ),
        Case(
            decorator_inside,
            control_decorator_inside,
            rules=(_ABSENT, Rule("mark-kept", "", "jax#27825 has it so too")),
        ),
        Case(
            tpu_branch,
            control_tpu_branch,
            behaviours={"host-branch": "clear", "tpu-branch-on-host": "affected", "mark-lost": "affected"},
            rules=(
                _ABSENT,
                Rule("tpu-branch-on-host", "jax<0.4.31", "the index is lowered by the module's platform alone"),
                Rule("host-branch", "", "ba5b3c7941, first in 0.4.31, picks lowering rules by compute type"),
            ),
        ),
    ),
)
