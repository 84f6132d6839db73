"""Intervals of releases along which a case shows one behaviour. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Protocol

from suite.judge.attribution import LINKED, Blame, told
from suite.judge.table import Verdict


@dataclass(frozen=True)
class Point:
    """A version on a release line and what was seen there; `None` if the case is undecided."""

    version: str
    seen: tuple[str, Verdict] | None


@dataclass(frozen=True)
class Interval:
    """The releases `first` to `last` of `package`, which show one behaviour.

    `exact` is True if both ends are known to the release. `came_with` lists other moves at its start that are or may be
    the cause: "lineax 0.0.8 → 0.1.0".
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
    """Return the intervals of one behaviour along `points`, in order. An undecided point does not end an interval.

    `releases` are all that exist, in the same order. `blame` attributes the change between two versions; without it,
    `package` is the cause. An interval is exact if no release adjoins it, or the adjoining one was seen to differ by
    this package, at both ends.
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
    """An interval of one behaviour, as computed or as in a report."""

    @property
    def verdict(self) -> Verdict:
        """The behaviour's verdict."""

    @property
    def package(self) -> str:
        """The package whose releases these are."""

    @property
    def first(self) -> str:
        """The first release."""

    @property
    def last(self) -> str:
        """The last release."""


# Symptoms, worst first. Only the first group that was seen is reported.
_SYMPTOMS: tuple[frozenset[Verdict], ...] = (
    frozenset(["affected", "crashed", "hung"]),
    frozenset(["guarded"]),
)


def affected(found: Sequence[AnyInterval]) -> str:
    """Return the releases on which a case goes wrong, for people: "since jax 0.5.1"; "" for nowhere.

    If a package other than jax changes the case, releases are those of that package.
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
    """Return the packages besides `package` and its linked twin that may have caused a change, in words."""
    own = LINKED if package in LINKED else (package,)
    if found is None or found.package in own:
        return ""
    return told(each for each in found.to if each.package not in own)
