"""A CPU device's name is cpu:0 since jaxlib 0.10.0, before TFRT_CPU_0

    str(jax.devices()[0])      # "TFRT_CPU_0" up to jax 0.9.2, "cpu:0" from 0.10.0

What takes a device's name apart, `name.split("_")[-1]`, looks for "CPU" in it or keeps it in a log, a golden file or a
checkpoint's description, finds nothing. 5be30dd56d changed it, and the changelog says so.

Seen in these runs:

- `repr` is "CpuDevice(id=0)" from 0.4.18 on, and `platform` and `id` are the same too.
- The name of the memory changed at other times. The sharding names none up to 0.4.31, "unpinned_host" from 0.4.33 to
  0.7.0, and "device" from 0.7.1 on.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def name() -> tuple[str, str]:
    """Is the name of the first CPU device TFRT_CPU_0?"""
    import jax

    got = str(jax.devices("cpu")[0])
    return {"TFRT_CPU_0": "tfrt", "cpu:0": "cpu"}.get(got, "other"), got


def printed() -> None:
    """Its repr, its platform and its number are the same everywhere."""
    import jax

    device = jax.devices("cpu")[0]
    assert (repr(device), device.platform, device.id) == ("CpuDevice(id=0)", "cpu", 0)


def ask_for_the_number() -> None:
    """The platform and the number, asked for: f"{device.platform}:{device.id}" is the new name everywhere."""
    import jax

    device = jax.devices("cpu")[0]
    assert f"{device.platform}:{device.id}" == "cpu:0"


def memory() -> tuple[str, str]:
    """What is the memory of a CPU array called in its sharding?"""
    import jax

    got = getattr(jax.device_put(1.0, jax.devices("cpu")[0]).sharding, "memory_kind", None)
    return {None: "no-name", "unpinned_host": "unpinned-host", "device": "device"}.get(got, "other"), f"{got}"


ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(change="jax@5be30dd56d", docs="jax:changelog.html"),
    touches=("jax.devices", "jax.local_devices"),
    control=printed,
    workaround=Workaround("Ask device.platform and device.id.", ask_for_the_number),
    cases=(
        Case(
            name,
            behaviours={"tfrt": "clear", "cpu": "documented", "other": "different"},
            rules=(
                Rule("tfrt", "jaxlib<0.10.0", "jaxlib has the name"),
                Rule("cpu", "", "5be30dd56d, and the changelog"),
            ),
        ),
        Case(
            memory,
            behaviours={"no-name": "clear", "unpinned-host": "clear", "device": "affected", "other": "different"},
            rules=(
                Rule("no-name", "jax<0.4.33"),
                Rule("unpinned-host", "jaxlib<0.7.1", "jaxlib has it"),
                Rule("device"),
            ),
            touches=("jax.sharding.Sharding.memory_kind if True",),
        ),
    ),
)
