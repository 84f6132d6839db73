"""Choose the cases of the next probe. Pure.

Each order imports the stack again, so there should be few: the largest first, a whole cell if it fits, and smaller ones
towards the end, so that all probes end together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

# Seconds of work for which starting another probe pays.
LEAST = 10.0
# Of what is left, one order has at most its slot's share divided by this.
ORDERS = 2
T = TypeVar("T")


def share(left: float, slots: int) -> float:
    """Return the seconds of work for the next order, given the seconds that are left in all."""
    return max(left / slots / ORDERS, LEAST)


def cut(costs: Mapping[T, float], seconds: float) -> list[T]:
    """Return the costliest tasks that make up so many seconds, or all of them if little more would remain."""
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
