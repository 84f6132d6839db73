"""Calls of numerical functions on a device and on the CPU beside it, compared. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from laboratory.cell.numbers.recipes import OF_DEVICES, NumericCall, calls
from laboratory.collect.numbers import compare, explained
from laboratory.collect.numbers.compare import Assessment
from laboratory.orders.archives import NumberRow

Outcomes = Mapping[str, Mapping[str, Any]]


def differences(device: Outcomes, cpu: Outcomes) -> Iterator[NumberRow]:
    """Yield the calls whose result on the device is another than on the CPU; rounding and other bits are kinds, too."""
    for call in _every():
        here, there = _whole(call, device), _whole(call, cpu)
        if here is None or there is None:
            continue
        changed = compare.change(call, there, here)
        if changed is None:
            continue
        of_device, of_cpu = _judged(call, here), _judged(call, there)
        yield NumberRow(
            function=call.function,
            form=call.form,
            call=call.text,
            kind=changed.kind,
            detail=changed.detail.replace(", was ", ", on the CPU "),
            device=of_device.status,
            cpu=of_cpu.status,
            wrong=of_device.detail,
        )


def compared(device: Outcomes, cpu: Outcomes) -> int:
    """Return the number of calls that have an outcome on both sides."""
    return sum(_whole(call, device) is not None and _whole(call, cpu) is not None for call in _every())


def _every() -> tuple[NumericCall, ...]:
    return (*calls(OF_DEVICES), *calls())


def _whole(call: NumericCall, outcomes: Outcomes) -> Mapping[str, Any] | None:
    """Return an outcome; one that says that it is the plain call's is that."""
    outcome = outcomes.get(call.key)
    if outcome is not None and "same" in outcome:
        return outcomes.get(f"eager {call.text}")
    return outcome


def _judged(call: NumericCall, outcome: Mapping[str, Any]) -> Assessment:
    return explained.documented(call.text, compare.judged(call, outcome))
