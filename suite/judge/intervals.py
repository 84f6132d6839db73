"""Where along the releases of a package a case shows which behaviour. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Protocol

from suite.judge.attribution import LINKED, Blame, told
from suite.judge.table import Verdict


@dataclass(frozen=True)
class Point:
    """One place on a release line: the version there, and what was seen; `None` where nothing was learned."""

    version: str
    seen: tuple[str, Verdict] | None


@dataclass(frozen=True)
class Interval:
    """A run of releases, `first` to `last`, that show one behaviour; `exact` where both ends are known to the release.

    `package` is what `first` and `last` are versions of. `came_with` is in words what else moved at its start, where
    that may be the cause, or is: "lineax 0.0.8 → 0.1.0".
    """

    behaviour: str
    verdict: Verdict
    package: str
    first: str
    last: str
    exact: bool
    came_with: str = ""


def intervals(
    points: Sequence[Point],
    package: str,
    releases: Sequence[str],
    blame: Callable[[str, str], Blame | None] = lambda before, after: None,
) -> tuple[Interval, ...]:
    """The runs of one behaviour along `points`, in their order; a point where nothing was learned ends none.

    `releases` are all that could be had, in the same order. `blame` says what the change between two versions is put
    down to; without it, to `package`. An interval is exact when, at each end, the release next to it outside was seen
    to differ by this package, or there is none.
    """
    adjacent = set(pairwise((None, *releases, None)))
    seen = [(point.version, point.seen) for point in points if point.seen is not None]
    runs = [list(run) for _, run in groupby(seen, key=lambda each: each[1])]
    firsts, lasts = [run[0][0] for run in runs], [run[-1][0] for run in runs]
    edges = list(zip([None, *lasts], [*firsts, None], strict=True))
    others = [_others(blame(before, after), package) if before and after else "" for before, after in edges]
    exact = [edge in adjacent and not other for edge, other in zip(edges, others, strict=True)]
    return tuple(
        Interval(*run[0][1], package, firsts[place], lasts[place], exact[place] and exact[place + 1], others[place])
        for place, run in enumerate(runs)
    )


class AnyInterval(Protocol):
    """A run of releases that show one behaviour, as it is found or in a report."""

    @property
    def verdict(self) -> Verdict:
        """What the behaviour means."""

    @property
    def package(self) -> str:
        """What the releases are of."""

    @property
    def first(self) -> str:
        """The first of them."""

    @property
    def last(self) -> str:
        """The last of them."""


# The symptoms of a case, the worst first: it is told where the first of them was seen that was seen at all.
_SYMPTOMS: tuple[frozenset[Verdict], ...] = (
    frozenset(["affected", "crashed", "hung"]),
    frozenset(["guarded"]),
)


def affected(found: Sequence[AnyInterval]) -> str:
    """Return on which releases a case goes wrong, for people: "since jax 0.5.1"; "" for nowhere.

    Releases are those of the package that changes it, where that is not jax.
    """
    package = next((each.package for each in found if each.package != "jax"), "jax")
    along = [each for each in found if each.package == package]
    symptoms = next((some for some in _SYMPTOMS if not some.isdisjoint(each.verdict for each in along)), frozenset())
    runs = [list(run) for shown, run in groupby(along, lambda each: each.verdict in symptoms) if shown]
    return ", ".join(_span(run[0], run[-1], along) for run in runs)


def _span(first: AnyInterval, last: AnyInterval, along: Sequence[AnyInterval]) -> str:
    match first is along[0], last is along[-1]:
        case True, True:
            return "all releases run"
        case True, False:
            return f"until {first.package} {last.last}"
        case False, True:
            return f"since {first.package} {first.first}"
    return f"{first.package} {' to '.join(dict.fromkeys([first.first, last.last]))}"


def _others(found: Blame | None, package: str) -> str:
    """What else than `package`, or its linked twin, may have made a change, in words."""
    own = LINKED if package in LINKED else (package,)
    if found is None or found.package in own:
        return ""
    return told(each for each in found.to if each.package not in own)
