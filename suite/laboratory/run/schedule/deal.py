"""The choice of cases for the next probe. Pure.

Each order imports the stack again, so there should be few orders. The largest orders come first; an order may be a
whole cell. Smaller orders follow towards the end, so that all probes end together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

# With fewer seconds of work, another probe does not pay.
LEAST = 10.0
# One order has at most a slot's share of the work left, divided by this number.
ORDERS = 2
T = TypeVar("T")


def share(left: float, slots: int) -> float:
    """Return the seconds of work for the next order, given the seconds left in all."""
    return max(left / slots / ORDERS, LEAST)


def cut(costs: Mapping[T, float], seconds: float) -> list[T]:
    """Return the costliest tasks that fit into so many seconds, or all tasks if little more would remain."""
    if sum(costs.values()) <= seconds + LEAST:
        return list(costs)
    found: list[T] = []
    total = 0.0
    for task in sorted(costs, key=lambda each: -costs[each]):
        if found and total + costs[task] > seconds:
            continue
        found.append(task)
        total += costs[task]
    return found
