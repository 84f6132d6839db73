"""The releases on which runs bear out a case's rules. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby

from suite.judge.rules import AnyRule, Pins, Run, first_match, in_stack_order, requirements
from suite.judge.specifiers import in_version_order
from suite.stack.beside import BESIDE

# More ranges of releases than this are not listed one by one.
_MAX_RANGES = 3


def ran(needs: Collection[str], rules: Sequence[AnyRule], runs: Iterable[Run]) -> list[str]:
    """Return where runs bore out each rule as the first match; "" for nowhere.

    Releases are those of the packages that the rule names. For a catch-all rule, they are those of the packages that
    the other rules name, or of the last package that the case `needs`.
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
        spans = ", ".join(filter(None, (_span(name, _versions(name, shown)) for name in packages)))
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


def _span(package: str, versions: Sequence[str]) -> str:
    """Return a package with its first and last version, for people; "" without versions."""
    return f"{package} {' to '.join(dict.fromkeys([versions[0], versions[-1]]))}" if versions else ""
