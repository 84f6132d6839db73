"""The search for a change along ordered releases, with few tests. Pure: no cell, no file, no process.

`step` takes the known answers and returns the next release to test, or the result. It keeps no state between calls, so
an interrupted search continues from the known answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Literal


@dataclass(frozen=True)
class CellAnswer:
    """The answer of a release: affected, not affected, or None if it is untestable.

    A `confirmed` answer has more than one attempt. An unconfirmed answer helps to find a boundary, but cannot be a side
    of the boundary.
    """

    affected: bool | None
    confirmed: bool = True


Known = Mapping[int, CellAnswer]


@dataclass(frozen=True)
class Ask:
    """The place of the release to test next; `left` counts the candidates that remain."""

    at: int
    why: Literal["end point", "inward", "halving", "confirming"]
    left: int


@dataclass(frozen=True)
class Found:
    """A result, and the places of the two releases that it concerns.

    At a `boundary` the two differ, and every release between them is untestable. If they `agreed`, they are the
    outermost testable releases. Without any testable release they are the end points.
    """

    what: Literal["boundary", "agreed", "untestable"]
    first: int
    last: int


def most_runs(count: int) -> int:
    """Return ⌈log2 count⌉ + 3, the most releases to test if each is testable and repeats its answer.

    Two tests are for the end points, and at most ⌈log2(count - 1)⌉ halve the releases between. One more test confirms a
    side of the boundary that was known before; if both sides were known, no release was left to halve.
    """
    return (count - 1).bit_length() + 3


def step(known: Known, count: int, *, start: int = 0) -> Ask | Found:
    """Return the next release to test of `count` from `start` on, or the result if `known` decides it.

    The end points come first. If an end point is untestable, the search looks for the nearest testable release, or for
    a release that differs from the other end. If there are several changes, the search finds the first one.
    """
    places = range(start, start + count)
    known = {at: known[at] for at in places if at in known}
    for at in (places[0], places[-1]):
        if at not in known:
            return Ask(at, "end point", count - len(known))
    decided = [at for at, answer in known.items() if answer.affected is not None]
    if not decided:
        return _middle(known, places, "inward") or Found("untestable", places[0], places[-1])
    first, last = decided[0], decided[-1]
    if known[first].affected == known[last].affected:
        outside = [at for at in places if not first <= at <= last]
        return _middle(known, outside, "inward") or Found("agreed", first, last)
    before, after = next(
        (one, other) for one, other in pairwise(decided) if known[one].affected != known[other].affected
    )
    if ask := _middle(known, range(before + 1, after), "halving"):
        return ask
    for side in (before, after):
        if not known[side].confirmed:
            return Ask(side, "confirming", 1)
    return Found("boundary", before, after)


def _middle(known: Known, places: Iterable[int], why: Literal["inward", "halving"]) -> Ask | None:
    """Return the middle of the widest gap among the unknown places.

    Untestable releases mostly adjoin each other, so the next release to test is far from known ones. A gap next to a
    testable release goes first.
    """
    unknown = [at for at in places if at not in known]
    if not unknown:
        return None
    # Adjacent places have the same difference between place and position.
    rows = groupby(enumerate(unknown), key=lambda each: each[1] - each[0])
    gaps = [[at for _, at in row] for _, row in rows]

    def worth(gap: list[int]) -> tuple[bool, int]:
        sides = [known[at].affected for at in (gap[0] - 1, gap[-1] + 1) if at in known]
        return any(side is not None for side in sides), len(gap)

    best = max(gaps, key=worth)
    return Ask(best[(len(best) - 1) // 2], why, len(unknown))
