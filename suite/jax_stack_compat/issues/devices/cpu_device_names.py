"""CPU devices and their default memory have other names

CPU devices had the name of their runtime, TFRT, which 5be30dd56d calls vestigial and confusing; the new name, `cpu:0`,
has the form of a GPU's name. A device's repr, platform and id did not change (`printed`). 279de8bd72 renamed the
default memory of CPU devices to `device`, its name on JAX's page on host offloading. Before be53ee10b1 enabled memory
kinds, `memory_kind` was None.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def name() -> tuple[str, str]:
    """Is str(jax.devices("cpu")[0]) the text TFRT_CPU_0?"""
    import jax

    got = str(jax.devices("cpu")[0])
    return {"TFRT_CPU_0": "tfrt", "cpu:0": "cpu"}.get(got, "other"), got


def printed() -> None:
    """The repr of a CPU device is CpuDevice(id=0), its platform cpu and its id 0."""
    import jax

    device = jax.devices("cpu")[0]
    assert (repr(device), device.platform, device.id) == ("CpuDevice(id=0)", "cpu", 0)


def ask_for_the_number() -> None:
    """On the example, f"{device.platform}:{device.id}" is cpu:0."""
    import jax

    device = jax.devices("cpu")[0]
    assert f"{device.platform}:{device.id}" == "cpu:0"


def devices_of_arrays() -> None:
    """Platform and id find the devices of int8 matrices, empty arrays and jitted results."""
    import jax
    import numpy as np

    cpus = {(each.platform, each.id): each for each in jax.devices("cpu")}
    for x in (np.float32(1.0), np.ones((2, 3), np.int8), np.zeros(0)):
        placed = jax.device_put(x, cpus["cpu", 0])
        for array in (placed, jax.jit(lambda x: -x)(placed)):
            (device,) = array.devices()
            assert cpus[device.platform, device.id] is device


def memory() -> tuple[str, str]:
    """What is x.sharding.memory_kind, if x is an array on a CPU?"""
    import jax

    got = getattr(jax.device_put(1.0, jax.devices("cpu")[0]).sharding, "memory_kind", None)
    return {None: "no-name", "unpinned_host": "unpinned-host", "device": "device"}.get(got, "other"), f"{got}"


def default_memory() -> None:
    """On the example, memory_kind is the kind of the device's default memory."""
    import jax

    device = jax.devices("cpu")[0]
    assert jax.device_put(1.0, device).sharding.memory_kind == device.default_memory().kind


def memories_of_arrays() -> None:
    """An int8 matrix, an empty array and their jitted results are in the default memory of their device."""
    import jax
    import numpy as np

    for x in (np.ones((2, 3), np.int8), np.zeros(0)):
        placed = jax.device_put(x, jax.devices("cpu")[0])
        for array in (placed, jax.jit(lambda x: -x)(placed)):
            assert array.sharding.memory_kind == next(iter(array.devices())).default_memory().kind


ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(
        change="jax@5be30dd56d jax@279de8bd72 jax@be53ee10b1",
        docs="jax:changelog.html#jax-0-10-0-april-16-2026 jax:notebooks/host-offloading.html",
    ),
    control=printed,
    cases=(
        Case(
            name,
            behaviours={"tfrt": "clear", "cpu": "documented", "other": "different"},
            rules=(
                Rule("tfrt", "jaxlib<0.10.0", "jaxlib defines the name of a CPU device"),
                Rule("cpu", "", "5be30dd56d renamed CPU devices, as the changelog says"),
            ),
            workaround=Workaround(
                "Identify a device by device.platform and device.id.", ask_for_the_number, elsewhere=devices_of_arrays
            ),
            touches=("jax.devices", "jax.local_devices"),
        ),
        Case(
            memory,
            behaviours={"no-name": "clear", "unpinned-host": "clear", "device": "documented", "other": "different"},
            rules=(
                Rule("no-name", "jax<0.4.33", "be53ee10b1 enables memory kinds"),
                Rule("unpinned-host", "jaxlib<0.7.1", "jaxlib defines the name of the memory"),
                Rule("device", "", "279de8bd72"),
            ),
            workaround=Workaround(
                "Compare memory_kind with device.default_memory().kind, instead of a name.",
                default_memory,
                fails=("jax<0.4.33",),
                elsewhere=memories_of_arrays,
            ),
            touches=("jax.sharding.Sharding.memory_kind if True",),
        ),
    ),
)
