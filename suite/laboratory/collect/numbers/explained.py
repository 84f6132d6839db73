"""Explanations of changed numbers: issues that touch the function and change there, and new parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

from jax_stack_compat.base.files import FileModel, read, text
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.judge import rules
from jax_stack_compat.names import query
from jax_stack_compat.stack import lock, plan
from laboratory.cell.numbers.recipes import NumericCall
from laboratory.collect.numbers.compare import Assessment
from laboratory.sources import source

_KEYWORDS = re.compile(r"\b(\w+)=")
_PATH = Path(__file__).with_name("explained.toml")


class Explained(FileModel):
    """The file explained.toml: the functions behind a function, and documented differences of calls, by pattern."""

    through: Mapping[str, tuple[str, ...]]
    documented: Mapping[str, str]


def by(function: str, before: str, release: str) -> str:
    """Return the ids of issues that explain a change after the release `before` and up to `release`.

    Such an issue touches the function, or a function behind it, and has a case that changes there. Raises BadFile.
    """
    found = dict.fromkeys(_changing(function, before, release))
    for pattern, others in _file().through.items() if not found else ():
        if fnmatch(function, pattern):
            found |= dict.fromkeys(issue for other in others for issue in _changing(other, before, release))
    return " ".join(found)


def _changing(function: str, before: str, release: str) -> list[str]:
    def new(version: str) -> bool:
        return Version(before) < Version(version) <= Version(release)

    # Some issues touch a whole module: `jax.scipy.stats.bernoulli`.
    touched = {issue: bounds for name in _names(function) for issue, bounds in _boundaries().get(name, {}).items()}
    return [issue for issue, bounds in touched.items() if any(map(new, bounds))]


def affecting(function: str, release: str) -> list[str]:
    """Return the ids of silent issues that touch the function and, by rule, show on a release. Raises BadFile."""
    return [issue for name in _names(function) for issue in _showing(release).get(name, ())]


def _names(function: str) -> tuple[str, str]:
    """Return a function's module and its name, as issues spell them."""
    spelled = function.replace("jax.numpy.ndarray", "jax.Array")
    return spelled.rpartition(".")[0], spelled


def by_parameters(call: NumericCall, before: str, release: str) -> str:
    """Return `parameters` if only one of two releases has a parameter that the call uses as a keyword, else ""."""
    keywords = set(_KEYWORDS.findall(call.text))
    old, new = (
        {each[0].lstrip("*=") for each in query.parameters(call.function, version) or ()}
        for version in (before, release)
    )
    return "parameters" if old and new and keywords & (old ^ new) else ""


def documented(call: str, found: Assessment) -> Assessment:
    """Return the assessment of a call; a documented difference gets that status, and its text. Raises BadFile."""
    if found.status == "differs":
        for pattern, says in _file().documented.items():
            if fnmatch(call, pattern):
                return replace(found, status="documented", detail=f"{found.detail}: {says}")
    return found


@cache
def _file() -> Explained:
    return read(Explained, _PATH)


@cache
def _showing(release: str) -> dict[str, list[str]]:
    """Return, by function, the silent issues with a case that is affected or documented on a release of jax."""
    found: dict[str, list[str]] = {}
    pins = lock.load(plan.cell(f"jax-{release}")).pins
    for entry in catalogue.entries():
        known = [(case, rules.expected(case, pins)) for case in entry.issue.cases]
        shown = {case.behaviours[rule.behaviour] for case, rule in known if rule and rule.behaviour in case.behaviours}
        if entry.issue.kind.startswith("silent") and shown & {"affected", "documented"}:
            for touch in source.touches(text(entry.source), entry.issue):
                name = touch.partition(" if ")[0].partition("(")[0]
                if entry.issue.id not in found.setdefault(name, []):
                    found[name].append(entry.issue.id)
    return found


@cache
def _boundaries() -> dict[str, dict[str, frozenset[str]]]:
    """Return, by function and issue, the releases of jax in the issue's rules, at which a case may change."""
    found: dict[str, dict[str, frozenset[str]]] = {}
    for entry in catalogue.entries():
        touched = {
            each.partition(" if ")[0].partition("(")[0] for each in source.touches(text(entry.source), entry.issue)
        }
        bounds = frozenset(bound for case in entry.issue.cases for rule in case.rules for bound in _bounds(rule.on))
        for name in touched:
            found.setdefault(name, {})[entry.issue.id] = bounds
    return found


def _bounds(on: str) -> Iterator[str]:
    for words in on.split():
        requirement = Requirement(words)
        if requirement.name in ("jax", "jaxlib"):
            yield from (each.version for each in requirement.specifier if "*" not in each.version)
