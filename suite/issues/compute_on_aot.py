"""`compute_on("device_host")` put outside `jax.jit` is lost by `.lower()`.

    @compute_on("device_host")
    @jax.jit
    def f(x):
        return x * 3.0

    f(2.0)                     # runs on the host
    f.lower(2.0).as_text()     # up to jax 0.5.3: no mark that says so; compiled, it runs on the device

You'd expect the lowered program to say what a call does. The mark is plain to see in lowered text (`_xla_compute_type
= "host"` on each operation), on any machine. Put the other way round, `jax.jit` outside, it is there on every release
that has `compute_on` (0.4.29).

This is wraps-lower-bypass again, through the standard library. Up to 0.11.0 `compute_on` was a context manager, and a
context manager used as a decorator is a `functools.wraps` wrapper: it got `jitted.lower` with the rest of the
`__dict__`, and `.lower()` never entered the context. So the two changed together, in 0.6.0, by jax#27873: now the
outside one has no `lower` at all. From 0.11.1 `compute_on` is a transform, with `out_memory_spaces` to be given, and
returns a plain function; that has no `lower` either. jax#27825 is open still: `jax.jit` last is the answer.

The program of the thread picks its answer by platform, `jax.lax.platform_dependent(x, cpu=add_one, tpu=add_two)`.
Work marked for the host should take the CPU's branch, though the program is lowered for a TPU: that is the case
`tpu-branch`, with the decorator on the right side. It holds from 0.4.31 (ba5b3c7941: lowering rules are picked by
compute type). On 0.4.29 and 0.4.30 the TPU's branch is taken *and* marked for the host. No thread says so. (The
thread's own program has the decorator outside: up to 0.5.3 it gets the TPU's branch, unmarked; see the detail of that
case.) The other way to read that case, a `compute_on` within the `tpu=` branch, keeps its mark on every release (its
control).

What this does not show on a CPU: where anything ran. TPU programs are lowered only, and the mark is a request to XLA.
The TPU's compiler grants it, and needs no TPU to say so (libtpu, asked through `jax.experimental.topologies` for a v5e
on a machine that has none, with jax 0.5.3, 0.6.0, 0.8.2, 0.10.2 and 0.12.0.1): with jit last, the thread's program has
the CPU's addition in a computation of the thread "host"; with the decorator outside, compiled on 0.5.3, it has the
TPU's addition on the device, and nothing on the host. Where there is an accelerator, the detail says what the thread's
program computes on it: 1.0 on the host, 2.0 on the device.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
from typing import Any

from suite.cell.issue import Case, Expectation, Issue, JudgedAs, Seen, Upstream, main

_MARK = '_xla_compute_type = "host"'
_ABSENT = Seen("absent", "there is no jax.experimental.compute_on")


def _exists() -> bool:
    import jax  # noqa: F401

    return importlib.util.find_spec("jax.experimental.compute_on") is not None


def _on_host(function: Any) -> Any:
    """Put `compute_on("device_host")` round a function, the way this release spells it."""
    import jax
    from jax.experimental.compute_on import compute_on

    if "out_memory_spaces" in inspect.signature(compute_on).parameters:  # from 0.11.1
        return compute_on(function, compute_type="device_host", out_memory_spaces=jax.memory.Space.Device)
    return compute_on("device_host")(function)


def _lower_for_tpu(jitted: Any, x: Any) -> str:
    """Lower for a TPU that need not be there."""
    if hasattr(jitted, "trace"):
        lower = jitted.trace(x).lower
        if "lowering_platforms" in inspect.signature(lower).parameters:  # from 0.4.30
            return str(lower(lowering_platforms=("tpu",)).as_text())
    from jax._src.interpreters.mlir import LoweringParameters

    return str(jitted.lower(x, _experimental_lowering_parameters=LoweringParameters(platforms=("tpu",))).as_text())


def _by_platform(x: Any) -> Any:
    """Compute what the thread does: add 1 on a CPU, and 2 on a TPU (and, here, on anything else)."""
    import jax

    return jax.lax.platform_dependent(x, cpu=lambda x: x + 1.0, tpu=lambda x: x + 2.0, default=lambda x: x + 2.0)


def _branch(text: str) -> str:
    """Say which branch of `_by_platform` lowered text takes, and whether it is marked for the host."""
    branches = re.findall(r"dense<([12])\.0+e\+00>", text)
    if len(branches) > 1:  # up to 0.6.0 all are there, under a case of a constant index
        head, _, body = text.partition('"stablehlo.case"(')
        name = body[: body.index(")")]
        while (operands := re.search(rf"{name} = stablehlo\.clamp %\w+, (%\w+),", head)) is not None:
            name = operands[1]
        index = re.search(rf"{name} = stablehlo\.constant.* dense<(\d+)> : tensor<i32>", head)
        if index is None:
            raise AssertionError("the index of the case is not a constant")
        text = body.split("}, {")[int(index[1])]
        branches = re.findall(r"dense<([12])\.0+e\+00>", text)
    adds = [line for line in text.splitlines() if "stablehlo.add " in line]
    if len(branches) != 1 or len(adds) != 1:
        raise AssertionError(
            f"the lowered text has {len(branches)} branches and {len(adds)} adds, where one was to be left"
        )
    return f"{'CPU' if branches == ['1'] else 'TPU'} branch, {'marked' if _MARK in adds[0] else 'unmarked'}"


def _ran(function: Any) -> str:
    """Say what the thread's program, called, gives on an accelerator, if there is one."""
    import jax
    import jax.numpy as jnp

    backend = jax.default_backend()
    if backend == "cpu":
        return "no accelerator here, so not run"
    try:
        return f"called on {backend}, the thread's program gives {function(jnp.float32(0.0)).tolist()}"
    except Exception as error:  # an accelerator need not take host computation; what was lowered stands
        return f"called on {backend}, the thread's program raises {type(error).__name__}"


def decorator_outside() -> Seen:
    """`compute_on("device_host")(jax.jit(f)).lower(x)` should be marked for the host, or refuse."""
    import jax
    import jax.numpy as jnp

    if not _exists():
        return _ABSENT
    try:
        text = _on_host(jax.jit(lambda x: x * 3.0)).lower(jnp.float32(2.0)).as_text()
    except AttributeError as error:
        if not str(error).endswith("has no attribute 'lower'"):
            raise
        return Seen("attribute-error", f"{error}; {_ran(_on_host(jax.jit(lambda x: _by_platform(x))))}")
    threads = _branch(_lower_for_tpu(_on_host(jax.jit(lambda x: _by_platform(x))), jnp.float32(0.0)))
    ran = _ran(_on_host(jax.jit(lambda x: _by_platform(x))))
    name, has = ("mark-kept", "a") if _MARK in text else ("mark-lost", "no")
    return Seen(name, f"{has} {_MARK} in the text; the thread's program lowered for TPU: {threads}; {ran}")


def decorator_outside_control() -> None:
    """A jitted function without compute_on lowers, unmarked; and compute_on outside, called, computes the same."""
    import jax
    import jax.numpy as jnp

    jitted, x = jax.jit(lambda x: x * 3.0), jnp.float32(2.0)
    text = jitted.lower(x).as_text()
    if "stablehlo.multiply" not in text or _MARK in text:
        raise AssertionError("a plain jitted function lowers to something without a multiply, or marked for the host")
    if _exists() and _on_host(jax.jit(lambda x: x * 3.0))(x).tolist() != 6.0:
        raise AssertionError("compute_on outside, called, does not give 6.0")


def jit_last() -> None:
    """`jax.jit` outermost: the mark is in the text, whether or not there is another `jit` inside."""
    import jax
    import jax.numpy as jnp

    for function in (lambda x: x * 3.0, jax.jit(lambda x: x * 3.0)):
        if _MARK not in jax.jit(_on_host(function)).lower(jnp.float32(2.0)).as_text():
            raise AssertionError("jit is outermost, and the lowered text is not marked for the host")


def decorator_inside() -> Seen:
    """`jax.jit(compute_on("device_host")(f)).lower(x)` should be marked for the host."""
    import jax
    import jax.numpy as jnp

    if not _exists():
        return _ABSENT
    text = jax.jit(_on_host(lambda x: x * 3.0)).lower(jnp.float32(2.0)).as_text()
    ran = _ran(jax.jit(_on_host(lambda x: _by_platform(x))))
    name, has = ("mark-kept", "a") if _MARK in text else ("mark-lost", "no")
    return Seen(name, f"{has} {_MARK} in the text; {ran}")


def decorator_inside_control() -> None:
    """Only what compute_on decorates is marked: a sine outside it is not."""
    import jax
    import jax.numpy as jnp

    inner = _on_host(lambda x: x * 3.0) if _exists() else (lambda x: x * 3.0)
    text = jax.jit(lambda x: inner(jnp.sin(x))).lower(jnp.float32(2.0)).as_text()
    sines = [line for line in text.splitlines() if "stablehlo.sine" in line]
    if len(sines) != 1 or _MARK in sines[0]:
        raise AssertionError(f"of {len(sines)} sines outside compute_on, one was to be there and unmarked")


def tpu_branch() -> Seen:
    """What is marked for the host should take `platform_dependent`'s CPU branch, in a program lowered for a TPU too."""
    import jax
    import jax.numpy as jnp

    if not _exists():
        return _ABSENT
    branch = _branch(_lower_for_tpu(jax.jit(_on_host(lambda x: _by_platform(x))), jnp.float32(0.0)))
    name = {"CPU branch, marked": "host-branch", "TPU branch, marked": "tpu-branch-on-host"}.get(branch, "mark-lost")
    return Seen(name, f"lowered for TPU: {branch}; {_ran(jax.jit(_on_host(lambda x: _by_platform(x))))}")


def tpu_branch_control() -> None:
    """Without compute_on it is the TPU's branch, lowered for a TPU; and a compute_on within that keeps its mark."""
    import jax
    import jax.numpy as jnp

    x = jnp.float32(0.0)
    if not hasattr(jax.lax, "platform_dependent"):  # up to 0.4.20, where this issue is absent
        if "stablehlo.add" not in _lower_for_tpu(jax.jit(lambda x: x + 2.0), x):
            raise AssertionError("an addition lowered for a TPU has no add")
        return
    wanted = {"TPU branch, unmarked": _lower_for_tpu(jax.jit(lambda x: _by_platform(x)), x)}
    if jax.default_backend() == "cpu":
        wanted["CPU branch, unmarked"] = jax.jit(lambda x: _by_platform(x)).lower(x).as_text()
    if _exists():
        two = _on_host(lambda x: x + 2.0)
        within = jax.jit(lambda x: jax.lax.platform_dependent(x, cpu=lambda x: x + 1.0, tpu=lambda x: two(x)))
        wanted["TPU branch, marked"] = _lower_for_tpu(within, x)
    for branch, text in wanted.items():
        if _branch(text) != branch:
            raise AssertionError(f"it is {_branch(text)}, and not {branch}")


_BEHAVIOURS: dict[str, JudgedAs] = {
    "mark-kept": "clear",
    "mark-lost": "affected",
    "attribute-error": "guarded",
    "absent": "absent",
}
_ABSENT_BEFORE = Expectation(
    "absent", ("jax<0.4.29",), "looked for on the line from 0.4.18; jax.experimental.compute_on came with 0.4.29"
)

ISSUE = Issue(
    id="compute-on-aot",
    title='compute_on("device_host") outside jit: .lower() loses the mark, and compiles for the device',
    kind="silent-wrong",
    story=(
        "compute_on, as a decorator outside jax.jit, was a functools.wraps wrapper, so .lower() skipped it and the "
        "host's work was lowered for the device. From jax 0.6.0 there is no .lower() on it. With jax.jit outside, the "
        "mark was never lost; but on 0.4.29 and 0.4.30 platform_dependent took a TPU's branch under it."
    ),
    upstream=(
        Upstream("jax-ml/jax#27825", "report", "open"),
        Upstream("jax-ml/jax#27873", "fix", "merged"),
    ),
    workaround='Apply jax.jit last: jax.jit(compute_on("device_host")(f)).',
    cases=(
        Case(
            id="decorator-outside",
            question='Does compute_on("device_host")(jax.jit(f)).lower(x) keep the mark for the host?',
            reproducer=decorator_outside,
            control=decorator_outside_control,
            workaround=jit_last,
            behaviours=_BEHAVIOURS,
            expectations=(
                _ABSENT_BEFORE,
                Expectation(
                    "mark-lost",
                    ("jax>=0.4.29,<0.6.0",),
                    "run on the line from 0.4.29 to 0.5.3; compute_on is a contextlib context manager, whose decorator "
                    "form is a functools.wraps wrapper, with the lower of the jitted function; compiled for a TPU v5e "
                    "by libtpu 0.0.11.4 (jax 0.5.3), nothing of it is on the host",
                ),
                Expectation(
                    "attribute-error",
                    ("jax>=0.6.0",),
                    "run on the line from 0.6.0; jax#27873 (7eb397d1e5, first in 0.6.0) moved lower to the class, and "
                    "the transform that compute_on is from 0.11.1 (3a440c764b, ad1df344b0) has none",
                ),
            ),
        ),
        Case(
            id="decorator-inside",
            question='Does jax.jit(compute_on("device_host")(f)).lower(x) keep the mark for the host?',
            reproducer=decorator_inside,
            control=decorator_inside_control,
            workaround=None,
            behaviours=_BEHAVIOURS,
            expectations=(
                _ABSENT_BEFORE,
                Expectation("mark-kept", ("jax>=0.4.29",), "run on the line from 0.4.29; jax#27825 has it so too"),
            ),
        ),
        Case(
            id="tpu-branch",
            question="Lowered for a TPU, does platform_dependent within compute_on take the CPU's branch, marked?",
            reproducer=tpu_branch,
            control=tpu_branch_control,
            workaround=None,
            behaviours={
                "host-branch": "clear",
                "tpu-branch-on-host": "affected",
                "mark-lost": "affected",
                "absent": "absent",
            },
            expectations=(
                _ABSENT_BEFORE,
                Expectation(
                    "tpu-branch-on-host",
                    ("jax>=0.4.29,<0.4.31",),
                    "run on 0.4.29 and 0.4.30; the platform's index is lowered by the module's platform alone",
                ),
                Expectation(
                    "host-branch",
                    ("jax>=0.4.31",),
                    "run on 0.4.31 and the line from 0.4.33; ba5b3c7941 (first in 0.4.31) takes the CPU's lowering "
                    "rules for what is marked for the host",
                ),
            ),
        ),
    ),
)

if __name__ == "__main__":
    main(ISSUE)
