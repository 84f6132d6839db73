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
    """The release to ask next, by its place; `left` counts the releases that may be asked before the end is reached."""

    at: int
    why: Literal["end point", "halving", "confirming"]
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

    The first change is found where what is known changes more than once. `find` is what the end points show, unless it
    is given.
    """
    missing = [at for at in range(count) if at not in known]
    for at in (0, count - 1):
        if at in missing:
            return Ask(at, "end point", len(missing))
    first, last = _outermost(known, range(count)), _outermost(known, reversed(range(count)))
    for end in (first, last):
        if isinstance(end, Ask):
            return end
    if not isinstance(first, int) or not isinstance(last, int):
        return Untestable()
    if known[first].affected == known[last].affected:
        return Agreed(first, last)
    shown: Find = "first-affected" if known[last].affected else "first-clear"
    if find is not None and find != shown:
        return Contradicted(first, last, shown)
    before, after = changes(known)[0]
    between = [at for at in missing if before < at < after]
    if between:
        # What cannot be tested is gone round: the nearest to the middle of what is left.
        return Ask(min(between, key=lambda at: abs(2 * at - before - after)), "halving", len(between))
    for side in (before, after):
        if not known[side].confirmed:
            return Ask(side, "confirming", 1)
    return Boundary(before, after, shown)


def changes(known: Known) -> list[tuple[int, int]]:
    """The places of neighbours that differ, less what cannot be tested and what is not known."""
    decided = [at for at in sorted(known) if known[at].affected is not None]
    return [(before, after) for before, after in pairwise(decided) if known[before].affected != known[after].affected]


def _outermost(known: Known, inward: Iterable[int]) -> Ask | int | None:
    """The first that can be tested, or the one to ask before that is known."""
    places = list(inward)
    for number, at in enumerate(places):
        if at not in known:
            return Ask(at, "end point", len(places) - number)
        if known[at].affected is not None:
            return at
    return None
