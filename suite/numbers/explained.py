"""The explanations of changed numbers: issues that touch the function and change there, and new parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

from suite.catalogue import catalogue, source
from suite.cell.numbers.recipes import NumericCall
from suite.files import FileModel, read, text
from suite.names import query
from suite.numbers.compare import Assessment

_KEYWORDS = re.compile(r"\b(\w+)=")
_PATH = Path(__file__).with_name("explained.toml")


class Explained(FileModel):
    """The file: by function pattern, the functions behind it; by call pattern, the documented difference."""

    through: Mapping[str, tuple[str, ...]]
    documented: Mapping[str, str]


def by(function: str, before: str, release: str) -> str:
    """Return the ids of issues that explain a change after the release `before` and up to `release`.

    They touch the function, or one behind it, and have a case that changes there. Raises BadFile.
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
    names = (function.rpartition(".")[0], function, function.replace("jax.numpy.ndarray", "jax.Array"))
    touched = {issue: bounds for name in names for issue, bounds in _boundaries().get(name, {}).items()}
    return [issue for issue, bounds in touched.items() if any(map(new, bounds))]


def by_parameters(call: NumericCall, before: str, release: str) -> str:
    """Return `parameters` if only one of two releases has a parameter that the call uses as a keyword."""
    keywords = set(_KEYWORDS.findall(call.text))
    old, new = (
        {each[0].lstrip("*=") for each in query.parameters(call.function, version) or ()}
        for version in (before, release)
    )
    return "parameters" if old and new and keywords & (old ^ new) else ""


def documented(call: str, found: Assessment) -> Assessment:
    """Return the assessment of a call; a documented difference gets that status and the words. Raises BadFile."""
    if found.status == "differs":
        for pattern, says in _file().documented.items():
            if fnmatch(call, pattern):
                return replace(found, status="documented", detail=f"{found.detail}: {says}")
    return found


@cache
def _file() -> Explained:
    return read(Explained, _PATH)


@cache
def _boundaries() -> dict[str, dict[str, frozenset[str]]]:
    """Return by function and issue the releases of jax at which a case of the issue changes."""
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
