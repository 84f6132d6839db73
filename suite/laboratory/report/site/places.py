"""Releases as places in lists: a script compares no version numbers. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from packaging.requirements import Requirement
from packaging.version import Version

from jax_stack_compat.judge.metadata import in_version_order
from jax_stack_compat.packages import PACKAGES
from laboratory.report.model import Report
from laboratory.report.summary import packages

# In place of a release: the cell does not have the package. In place of a run: the case is undecided in the cell.
NONE = -1


def known(report: Report) -> dict[str, list[str]]:
    """Return the releases in cells, oldest first, of each package of the stack and any other that a case names."""
    named = packages(report)
    found: dict[str, dict[Version, str]] = {name: {} for name in (*PACKAGES, *sorted(named.difference(PACKAGES)))}
    for cell in report.cells:
        for name, version in cell.versions.items():
            if name in found:
                found[name].setdefault(Version(version), version)
    return {name: in_version_order(of.values()) for name, of in found.items()}


def meeting(wanted: Requirement, releases: Iterable[str]) -> list[int]:
    """Return the places of the `releases` that meet a requirement, as edges: from … to below …, and so on."""
    meets = [wanted.specifier.contains(release, prereleases=True) for release in releases]
    edges = zip([False, *meets], [*meets, False], strict=True)
    return [place for place, (before, after) in enumerate(edges) if before != after]


class Numbered(dict[Any, int]):
    """Values by number; a new value gets the next number."""

    def __missing__(self, thing: Any) -> int:
        self[thing] = len(self)
        return self[thing]
