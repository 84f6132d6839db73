"""Intervals of releases on which a case shows one behaviour, and the runs that bear out its rules. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from jax_stack_compat.judge.metadata import in_version_order
from jax_stack_compat.judge.rules import AnyRule, Pins, Run, first_match, in_stack_order, requirements
from jax_stack_compat.judge.verdict_table import Verdict
from jax_stack_compat.packages import BESIDE
from laboratory.boundaries.attribution import LINKED, Blame, told

# If there are more ranges of releases, they are not listed one by one.
_MAX_RANGES = 3


@dataclass(frozen=True)
class Point:
    """A version on a release line and the behaviour seen there; None if the case is undecided."""

    version: str
    seen: tuple[str, Verdict] | None


@dataclass(frozen=True)
class Interval:
    """The releases `first` to `last` of `package`, which show one behaviour.

    `exact` is True if both ends are known to the release. `came_with` lists other moves at the start that are, or may
    be, the cause: "lineax 0.0.8 → 0.1.0".
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
    `package` is the cause. An interval is exact if, at each end, no release adjoins it, or the adjoining release was
    run and differs because of this package.
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


def _others(found: Blame | None, package: str) -> str:
    """Name the packages that may have caused a change, except `package` and its linked package."""
    own = LINKED if package in LINKED else (package,)
    if found is None or found.package in own:
        return ""
    return told(each for each in found.to if each.package not in own)


def ran(needs: Collection[str], rules: Sequence[AnyRule], runs: Iterable[Run]) -> list[str]:
    """Return, for each rule, the releases on which it was the first match and runs confirmed it; "" if there are none.

    The releases are of the packages that the rule names. For a catch-all rule, they are of the packages that the other
    rules name, or else of the last package that the case `needs`.
    """
    known = list(runs)
    shown: dict[int, list[Pins]] = {id(rule): [] for rule in rules}
    for run in known:
        rule = first_match(rules, run.pins)
        if rule is not None and rule.behaviour == run.behaviour:
            shown[id(rule)].append(run.pins)
    named = in_stack_order({name for rule in rules for name in _named(rule)}) or in_stack_order(needs or ["jax"])[-1:]
    return [
        _where(in_stack_order(_named(rule)) or named, shown[id(rule)], [run.pins for run in known]) for rule in rules
    ]


def _named(rule: AnyRule) -> set[str]:
    return {requirement.name for requirement in requirements(rule.on)} - BESIDE


def _where(packages: Sequence[str], shown: Sequence[Pins], known: Sequence[Pins]) -> str:
    if not shown:
        return ""
    if len(packages) > 1:
        stacks = {tuple(pins.get(name) for name in packages) for pins in shown}
        spans = ", ".join(filter(None, (_first_to_last(name, _versions(name, shown)) for name in packages)))
        return f"run on {f'{len(stacks)} stacks: ' if len(stacks) > 1 else ''}{spans}"
    (package,) = packages
    versions = _versions(package, shown)
    if len(versions) < 3:
        return f"run on {package} {' and '.join(versions)}" if versions else ""
    ranges = [list(run) for there, run in groupby(_versions(package, known), versions.__contains__) if there]
    told = [f"{run[0]} to {run[-1]}" if len(run) > 1 else run[0] for run in ranges]
    between = f" between {versions[0]} and {versions[-1]}"
    where = f"{',' if len(told) == 1 else ':'} {', '.join(told)}" if len(told) <= _MAX_RANGES else between
    return f"run on {len(versions)} releases of {package}{where}"


def _versions(package: str, stacks: Iterable[Pins]) -> list[str]:
    return in_version_order({pins[package] for pins in stacks if package in pins})


def _first_to_last(package: str, versions: Sequence[str]) -> str:
    """Return a package with its first and last version, for people; "" without versions."""
    return f"{package} {' to '.join(dict.fromkeys([versions[0], versions[-1]]))}" if versions else ""
