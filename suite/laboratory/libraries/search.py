"""The search along the releases of a package for those beside which a library does the same. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise

# What a library did beside each release of a package; None where it was not run.
Outcomes = Sequence[Hashable | None]


def next_place(seen: Outcomes, admitted: Sequence[int], own: int) -> int | None:
    """Return the place of the next release to run; None if no run would tell more.

    Of the places in `admitted`, the newest comes first, then the one nearest to `own`, the library's own day, then the
    oldest. Then the gaps between different neighbours are halved. Between two that did the same, nothing is run.
    """
    if not admitted:
        return None
    nearest = min(admitted, key=lambda place: abs(place - own))
    for place in (admitted[-1], nearest, admitted[0]):
        if seen[place] is None:
            return place
    known = [place for place in admitted if seen[place] is not None]
    for below, above in pairwise(known):
        between = [place for place in admitted if below < place < above]
        if between and seen[below] != seen[above]:
            return between[len(between) // 2]
    return None
