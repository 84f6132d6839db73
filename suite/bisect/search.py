"""Where an answer changes along ordered releases, in few questions. Pure functions: no cell, no file, no process.

`step` is all of it: from what is known of the releases it says which one to ask next, or what follows. It keeps nothing
between two calls, so a hunt that was interrupted, or that starts with older answers, goes on from what is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

Find = Literal["first-affected", "first-clear"]
FINDS: tuple[Find, ...] = get_args(Find)


@dataclass(frozen=True)
class Answer:
    """Whether a release is affected; None where it cannot be tested.

    `confirmed`: more than one attempt says so. One that is not serves to find a boundary, and not to stand at it.
    """

    affected: bool | None
    confirmed: bool = True


Known = Mapping[int, Answer]


@dataclass(frozen=True)
class Ask:
    """The release to ask next, by its place; `left` counts those that it is one of, and that may all have to be."""

    at: int
    why: Literal["end point", "inward", "halving", "confirming"]
    left: int


@dataclass(frozen=True)
class Boundary:
    """Of two releases that differ, the places; every release in between is known to be untestable."""

    before: int
    after: int
    find: Find

    @property
    def exact(self) -> bool:
        """Whether the two stand next to each other."""
        return self.after == self.before + 1


@dataclass(frozen=True)
class Agreed:
    """The outermost releases that can be tested do not differ, so that halving has nothing to go by."""

    first: int
    last: int


@dataclass(frozen=True)
class Contradicted:
    """The outermost releases that can be tested differ the other way round than was asked for."""

    first: int
    last: int
    find: Find


@dataclass(frozen=True)
class Untestable:
    """No release at all can be tested."""


def most_runs(count: int) -> int:
    """⌈log2 count⌉ + 3: how many releases are asked at most, where each can be tested and keeps to its answer.

    Two for the end points, at most ⌈log2(count - 1)⌉ to halve what lies between. The last is for a side of the boundary
    that was known before and not confirmed: where both are, nothing was left to halve.
    """
    return (count - 1).bit_length() + 3


def step(known: Known, count: int, find: Find | None = None) -> Ask | Boundary | Agreed | Contradicted | Untestable:
    """What to ask next of `count` releases in order, or what follows from `known`.

    The end points are asked first; where one cannot be tested, it is found out how far in that goes, or what differs
    from the other end. The first change is found where what is known changes more than once. `find` is what the end
    points show, unless it is given.
    """
    for at in (0, count - 1):
        if at not in known:
            return Ask(at, "end point", count - len(known))
    decided = [at for at in sorted(known) if known[at].affected is not None]
    if not decided:
        return _middle(known, range(count), "inward") or Untestable()
    first, last = decided[0], decided[-1]
    if known[first].affected == known[last].affected:
        outside = [*range(first), *range(last + 1, count)]
        return _middle(known, outside, "inward") or Agreed(first, last)
    shown: Find = "first-affected" if known[last].affected else "first-clear"
    if find is not None and find != shown:
        return Contradicted(first, last, shown)
    before, after = changes(known)[0]
    if ask := _middle(known, range(before + 1, after), "halving"):
        return ask
    for side in (before, after):
        if not known[side].confirmed:
            return Ask(side, "confirming", 1)
    return Boundary(before, after, shown)


def changes(known: Known) -> list[tuple[int, int]]:
    """The places of neighbours that differ, less what cannot be tested and what is not known."""
    decided = [at for at in sorted(known) if known[at].affected is not None]
    return [(before, after) for before, after in pairwise(decided) if known[before].affected != known[after].affected]


def _middle(known: Known, places: Iterable[int], why: Literal["inward", "halving"]) -> Ask | None:
    """Of the places that are not known, the middle of the widest gap.

    What cannot be tested mostly stands in a row: so not its neighbour comes next, but what is far from it, and first a
    gap that has a release which could be tested at an end of it.
    """
    gaps: list[list[int]] = []
    for at in places:
        if at in known:
            continue
        if gaps and gaps[-1][-1] == at - 1:
            gaps[-1].append(at)
        else:
            gaps.append([at])
    if not gaps:
        return None

    def worth(gap: list[int]) -> tuple[bool, int]:
        sides = [known[at].affected for at in (gap[0] - 1, gap[-1] + 1) if at in known]
        return any(side is not None for side in sides), len(gap)

    best = max(gaps, key=worth)
    return Ask(best[(len(best) - 1) // 2], why, sum(map(len, gaps)))
