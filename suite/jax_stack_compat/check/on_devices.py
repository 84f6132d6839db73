"""What ran on devices: whether a case goes wrong there as well, for stacks with a device's plugin. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from jax_stack_compat.judge.prediction import Name
from jax_stack_compat.judge.wording import named

# A package that brings jax a device, and jax's name for such a device.
_PLUGINS = ((re.compile(r"jax-(cuda|rocm)"), "gpu"), (re.compile(r"libtpu$"), "tpu"))


@dataclass(frozen=True)
class KnownDevice:
    """What ran on a device: `seen` has each case's behaviour there, `numbers` each function's difference from the CPU.

    A difference has the number of calls that differ, and one of them with both results.
    """

    jax: str
    platform: str
    kind: str
    seen: Mapping[Name, str]
    numbers: Mapping[str, tuple[int, str]]

    @property
    def title(self) -> str:
        """The device and the release of jax, in words."""
        return f"{self.kind} with jax {self.jax}"


def plugins(versions: Collection[str]) -> list[str]:
    """Return the packages of a stack that bring jax a device."""
    return sorted(name for name in versions if any(plugin.match(name) for plugin, _ in _PLUGINS))


def of_stack(devices: Sequence[KnownDevice], versions: Collection[str]) -> list[KnownDevice]:
    """Return the devices of the kinds that a stack has a plugin for."""
    platforms = {platform for name in versions for plugin, platform in _PLUGINS if plugin.match(name)}
    return [device for device in devices if device.platform in platforms]


def also_there(devices: Sequence[KnownDevice], name: Name, behaviour: str) -> str:
    """Return whether a case shows a behaviour on devices, in words; empty without devices."""
    if not devices:
        return ""
    ran = [device for device in devices if name in device.seen]
    if not ran:
        return "no device ran it"
    same = [device.title for device in ran if device.seen[name] == behaviour]
    other = [f"{device.title}: {device.seen[name]}" for device in ran if device.seen[name] != behaviour]
    told = [f"also on {named(same)} (run)" if same else "", f"not on {named(other)} (run)" if other else ""]
    return "; ".join(filter(None, told))


def sentence(devices: Sequence[KnownDevice], brought: Sequence[str], names: Collection[Name]) -> str:
    """Return a sentence on the data for a stack with these plugins; `names` are the cases that affect it."""
    ask = "`check --python .venv --confirm` runs the cases on your device"
    head = f"This stack has {' and '.join(brought)}"
    if not devices:
        return f"{head}, but the data is from CPUs: {ask}."
    ran = {name for device in devices for name in device.seen} & set(names)
    where = named([device.title for device in devices])
    return f"{head}: {len(ran)} of {len(set(names))} cases below ran on {where}, and all ran on CPUs. Others: {ask}."


def numbers(devices: Sequence[KnownDevice], called: Collection[str]) -> Iterator[str]:
    """Yield a line for each called function whose results on a device are not the CPU's."""
    for device in devices:
        for function in sorted(device.numbers.keys() & set(called)):
            count, example = device.numbers[function]
            more = f", and {count - 1} more call{'s' * (count != 2)}" if count > 1 else ""
            yield f"{device.title}: {example}{more}"
