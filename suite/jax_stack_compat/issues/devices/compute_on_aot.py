"""compute_on("device_host")(jax.jit(f)).lower() loses the host mark

`compute_on` copied a jitted function's `lower` (jax#27829), so lowering skipped the host mark (`decorator_outside`);
since a144eb234b, it did so after a call too (`after_a_call`). jax#27873 ended the copying, and 3a440c764b
replaces `compute_on` by a function that requires keywords. With `jax.jit` outside, `lax.platform_dependent` within
`compute_on` takes the CPU's branch since ba5b3c7941 (`tpu_branch`). The cases read the lowered text, which does not
show where XLA runs the function; jax#27825 is open.
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
    """Decorate a function with compute_on("device_host"), as this release spells it."""
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
    """A jitted function without compute_on lowers without the host mark, and a call with compute_on returns 6."""
    import jax

    jitted, x = jax.jit(lambda x: x * 3.0), jax.numpy.float32(2.0)
    text = jitted.lower(x).as_text()
    assert ("stablehlo.multiply" in text, _MARK in text) == (True, False), f"a plain jitted function lowers to {text}"
    got = _on_host(jax.jit(lambda x: x * 3.0))(x).tolist() if _exists() else 6.0
    assert got == 6.0, f"compute_on outside, called, gives {got}"


def jit_last() -> None:
    """With jax.jit outside compute_on, the lowered text has the host mark, even with another jit inside."""
    import jax

    for function in (lambda x: x * 3.0, jax.jit(lambda x: x * 3.0)):
        text = jax.jit(_on_host(function)).lower(jax.numpy.float32(2.0)).as_text()
        assert _MARK in text, "jit is outermost, and the lowered text is not marked for the host"


def host_programs() -> None:
    """With jax.jit outside, other dtypes and shapes, batched gradients and a bound argument are marked and correct."""
    from functools import partial

    import jax
    import numpy as np

    if not _exists():
        return
    slopes = jax.vmap(jax.grad(_on_host(lambda row: (row * row).sum())))
    rows, numbers = np.arange(6, dtype=np.float16).reshape(2, 3), np.arange(4, dtype=np.int8)
    for function, x, wanted in (
        (_on_host(lambda x: x - 1), numbers, numbers - 1),
        (_on_host(lambda x: x + x), rows[:0], rows[:0]),
        (_on_host(partial(lambda x, how: x.T if how == "turned" else x, how="turned")), rows, rows.T),
        (slopes, rows, 2 * rows),
    ):
        lowered = jax.jit(function).lower(x)
        assert _MARK in lowered.as_text()
        assert np.array_equal(lowered.compile()(x), wanted)


def after_a_call() -> tuple[str, str]:
    """After a call, does compute_on("device_host")(jax.jit(f)).lower(x) keep the mark for the host?"""
    import jax

    function, x = _on_host(jax.jit(lambda x: x * 3.0)), jax.numpy.float32(2.0)
    function(x)
    text = function.lower(x).as_text()
    return ("mark-kept", f"{_MARK} in the text") if _MARK in text else ("mark-lost", f"no {_MARK} in the text")


def decorator_inside() -> tuple[str, str]:
    """Does jax.jit(compute_on("device_host")(f)).lower(x) keep the mark for the host?"""
    import jax

    text = jax.jit(_on_host(lambda x: x * 3.0)).lower(jax.numpy.float32(2.0)).as_text()
    return ("mark-kept", f"{_MARK} in the text") if _MARK in text else ("mark-lost", f"no {_MARK} in the text")


def control_decorator_inside() -> None:
    """A sine outside the function that compute_on decorates has no host mark."""
    import jax

    inner = _on_host(lambda x: x * 3.0) if _exists() else (lambda x: x * 3.0)
    text = jax.jit(lambda x: inner(jax.numpy.sin(x))).lower(jax.numpy.float32(2.0)).as_text()
    sines = [line for line in text.splitlines() if "stablehlo.sine" in line]
    assert [_MARK in sine for sine in sines] == [False], f"one sine was to be there, unmarked: {sines}"


def tpu_branch() -> tuple[str, str]:
    """Does lax.platform_dependent within compute_on, lowered for a TPU, take the CPU's branch with the host mark?"""
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
    """Without compute_on, lowering for a TPU takes the TPU's branch; a compute_on in that branch keeps its mark."""
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
    """Add 1 on a CPU, and 2 on a TPU (as in the thread) or any other platform."""
    import jax

    return jax.lax.platform_dependent(x, cpu=lambda x: x + 1.0, tpu=lambda x: x + 2.0, default=lambda x: x + 2.0)


def _lower_for_tpu(jitted: Any, x: Any) -> str:
    """Lower for a TPU, on a machine without one."""
    lower = jitted.trace(x).lower if hasattr(jitted, "trace") else jitted.lower
    if "lowering_platforms" in inspect.signature(lower).parameters:  # from 0.4.30; 0.4.29 traces without it
        return str(lower(lowering_platforms=("tpu",)).as_text())
    from jax._src.interpreters.mlir import LoweringParameters

    return str(jitted.lower(x, _experimental_lowering_parameters=LoweringParameters(platforms=("tpu",))).as_text())


def _branch(text: str) -> str:
    """Return which branch of `_by_platform` the lowered text takes, and whether it has the host mark."""
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


_SIGNATURES = {"absent": Signature("ModuleNotFoundError", "No module named 'jax.experimental.compute_on'")}
_NO_LOWER = Signature("AttributeError", "has no attribute 'lower'", everyday=True)
_ABSENT = Rule("absent", "jax<0.4.29", "jax.experimental.compute_on came with 0.4.29")
_GONE = Rule(
    "attribute-error",
    "",
    "jax#27873 (7eb397d1e5) stops copying `lower`; 3a440c764b returns plain functions",
)
_JIT_LAST = Workaround(
    "Bind static arguments by functools.partial, then apply jax.jit last, outside compute_on.",
    jit_last,
    elsewhere=host_programs,
)
_OUTSIDE = "compute_type == 'device_host' and uses('jax.jit') and not within('jax.jit')"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(
        report="jax#27825",
        cause="jax@a144eb234b",
        fix="jax#27873 jax@ba5b3c7941",
        discussion="jax#27829",
    ),
    touches=(f"jax.experimental.compute_on.compute_on(compute_type) if {_OUTSIDE}",),
    known_by=r"'function' object has no attribute 'lower'",
    signatures={**_SIGNATURES, "attribute-error": _NO_LOWER},
    behaviours={"mark-kept": "clear", "mark-lost": "affected", "absent": "absent"},
    cases=(
        Case(
            decorator_outside,
            control_decorator_outside,
            rules=(
                _ABSENT,
                Rule("mark-lost", "jax<0.6.0", "the copied lower does not enter compute_on's context"),
                _GONE,
            ),
            workaround=_JIT_LAST,
        ),
        Case(
            after_a_call,
            control_decorator_outside,
            rules=(
                _ABSENT,
                Rule(
                    "mark-kept",
                    "jax<0.4.33",
                    "lower reuses the call's cached trace, with the host's mark",
                ),
                Rule("mark-lost", "jax<0.6.0", "a144eb234b adds compute_on's context to the cache key"),
                _GONE,
            ),
            workaround=_JIT_LAST,
        ),
        Case(
            decorator_inside,
            control_decorator_inside,
            rules=(_ABSENT, Rule("mark-kept", "", "jax.jit enters compute_on's context while it traces")),
            signatures=_SIGNATURES,
        ),
        Case(
            tpu_branch,
            control_tpu_branch,
            behaviours={"host-branch": "clear", "tpu-branch-on-host": "affected", "mark-lost": "affected"},
            rules=(
                _ABSENT,
                Rule("tpu-branch-on-host", "jax<0.4.31", "the platform of the module selects the lowering rule"),
                Rule("host-branch", "", "ba5b3c7941 selects the lowering rule by compute type"),
            ),
            signatures=_SIGNATURES,
            touches=("jax.lax.platform_dependent if within('jax.experimental.compute_on.compute_on')",),
        ),
    ),
)
