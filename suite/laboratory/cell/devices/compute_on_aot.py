"""Work that compute_on marks for the host runs there, by a call and ahead of time

XLA writes each program that it makes into a folder, before it runs it. A program whose work is for the host has a
computation of the thread "host", or calls HostExecute.
"""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import Any

from jax_stack_compat.cell import Case, Issue, Signature

_DUMP = {"XLA_FLAGS": "--xla_dump_to=dumped --xla_dump_hlo_as_text --xla_dump_hlo_module_re=jit_tripled"}
_OF_HOST = ('execution_thread="host"', "HostExecute")


def _tripled() -> Any:
    """Return a jitted function whose multiplication is for the host, as this release spells it."""
    import jax
    from jax.experimental.compute_on import compute_on

    def triple(x: Any) -> Any:
        return x * 3.0

    if "out_memory_spaces" in inspect.signature(compute_on).parameters:
        on_host = compute_on(triple, compute_type="device_host", out_memory_spaces=jax.memory.Space.Device)
    else:
        on_host = compute_on("device_host")(triple)

    def tripled(x: Any) -> Any:
        return on_host(x + 1.0)

    return jax.jit(tripled)


def _seen(text: str) -> tuple[str, str]:
    import jax

    if jax.default_backend() == "cpu":
        return "on-the-host", "the device is the host's CPU"
    for line in text.splitlines():
        if any(mark in line for mark in _OF_HOST):
            return "on-the-host", line.strip()[:200]
    return "on-the-device", "the program has no work for the host"


def by_a_call() -> tuple[str, str]:
    """Does a call of jax.jit run what compute_on("device_host") marks on the host?"""
    import jax.numpy as jnp

    got = _tripled()(jnp.ones(4)).tolist()
    assert got == [6.0] * 4, f"it returns {got}"
    # The child works in a folder of its own, and XLA may have started in its parent's.
    folders = [Path("dumped"), Path(os.environ.get("TMPDIR", "."), "dumped")]
    texts = [path for folder in folders for path in sorted(folder.glob("*after_optimizations.txt"))]
    if not texts:
        return "not-told", "XLA wrote no program"
    return _seen(texts[-1].read_text(encoding="utf-8"))


def ahead_of_time() -> tuple[str, str]:
    """Does a program compiled ahead of time run what compute_on("device_host") marks on the host?"""
    import jax.numpy as jnp

    compiled = _tripled().lower(jnp.ones(4)).compile()
    got = compiled(jnp.ones(4)).tolist()
    assert got == [6.0] * 4, f"it returns {got}"
    return _seen(compiled.as_text())


def follows_its_arrays() -> tuple[str, str]:
    """Does a jitted call compute on the CPU if its argument was put there, and on the device otherwise?"""
    import jax
    import jax.numpy as jnp

    double = jax.jit(lambda x: 2.0 * x)
    there = double(jax.device_put(jnp.ones(4), jax.devices("cpu")[0]))
    here = double(jnp.ones(4))
    platforms = [next(iter(each.devices())).platform for each in (there, here)]
    told = f"put on the CPU: {platforms[0]}; not put anywhere: {platforms[1]}"
    return ("follows" if platforms == ["cpu", jax.devices()[0].platform] else "elsewhere"), told


def returned_to_the_cpu() -> tuple[str, str]:
    """Is a result on the CPU if out_shardings of jax.jit names the CPU?"""
    import jax
    import jax.numpy as jnp

    cpu = jax.sharding.SingleDeviceSharding(jax.devices("cpu")[0])
    result = jax.jit(lambda x: 2.0 * x, out_shardings=cpu)(jax.device_put(jnp.ones(4), cpu))
    platform = next(iter(result.devices())).platform
    return ("follows" if platform == "cpu" else "elsewhere"), f"it is on {platform}"


def without_the_mark() -> None:
    """Without the mark, nothing of the program is for the host, unless the device is the host's CPU."""
    import jax
    import jax.numpy as jnp

    compiled = jax.jit(lambda x: (x + 1.0) * 3.0).lower(jnp.ones(4)).compile()
    assert compiled(jnp.ones(4)).tolist() == [6.0] * 4
    is_cpu = jax.default_backend() == "cpu"
    assert _seen(compiled.as_text())[0] == ("on-the-host" if is_cpu else "on-the-device")


ISSUE = Issue(
    kind="silent-wrong",
    upstream=(),
    cases=(
        Case(by_a_call, environment=_DUMP),
        Case(ahead_of_time),
        Case(follows_its_arrays),
        Case(returned_to_the_cpu),
    ),
    control=without_the_mark,
    behaviours={
        **{"on-the-host": "clear", "on-the-device": "affected", "not-told": "different", "absent": "absent"},
        **{"follows": "clear", "elsewhere": "affected"},
    },
    signatures={"absent": Signature("ModuleNotFoundError", "jax.experimental.compute_on")},
)
