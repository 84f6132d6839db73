"""What explains a change of numbers: an issue of the catalogue, or a line of upstream's changelog."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

from suite.catalogue import catalogue, source
from suite.files import FileModel, read, text

_PATH = Path(__file__).with_name("explained.toml")


class Explanation(FileModel):
    """A line of upstream's changelog: the functions, as patterns, that it explains on a release."""

    release: str
    functions: tuple[str, ...]
    says: str
    source: str


class Explanations(FileModel):
    """The file of explanations."""

    explanations: tuple[Explanation, ...]


def by(function: str, before: str, release: str) -> str:
    """Return what explains a change after the release `before` and up to `release`; empty if nothing is known to.

    It is the ids of issues that touch the function and change there, or an address. Raises BadFile.
    """

    def new(version: str) -> bool:
        return Version(before) < Version(version) <= Version(release)

    if issues := [id for id, bounds in _boundaries().get(function, {}).items() if any(map(new, bounds))]:
        return " ".join(issues)
    lines = read(Explanations, _PATH).explanations
    found = [line for line in lines if new(line.release) and any(fnmatch(function, each) for each in line.functions)]
    return found[0].source if found else ""


@cache
def _boundaries() -> dict[str, dict[str, frozenset[str]]]:
    """Return the releases of jax at which the cases change that touch a function, by function and issue."""
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
