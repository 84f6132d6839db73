"""The runs that declared bounds admit, and the bounds that do not admit any. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from packaging.specifiers import SpecifierSet

from suite.check.knowledge import Knowledge
from suite.judge.metadata import in_version_order, parsed
from suite.judge.rules import STACK, in_stack_order

Bounds = Mapping[str, SpecifierSet]


class Releases(NamedTuple):
    """Adjacent releases of a package."""

    package: str
    first: str
    last: str

    def __str__(self) -> str:
        """Return the releases in words: `jax 0.4.30 to 0.4.35`."""
        return f"{self.package} {self.first}" + f" to {self.last}" * (self.first != self.last)

    def has(self, version: str) -> bool:
        """Return True if a release of the package is one of these."""
        return parsed(self.first) <= parsed(version) <= parsed(self.last)


@dataclass(frozen=True)
class Admitted:
    """The part of the data that bounds admit.

    `releases` are those that were run, by package, oldest first; `idle` are in the data but were not run. `empty` says
    why a bound does not admit any run, and `without` the same for packages outside the stack. `stacks` counts the
    stacks within all bounds.
    """

    bounds: Bounds
    releases: Mapping[str, Sequence[str]]
    idle: Mapping[str, Sequence[str]]
    empty: tuple[str, ...]
    without: tuple[str, ...]
    stacks: int

    def admits(self, name: str, version: str) -> bool:
        """Return True if the bounds admit a release that was run."""
        return version in self.releases.get(name, ())


def admitted(knowledge: Knowledge, bounds: Bounds) -> Admitted:
    """Return the runs that bounds admit, and the bounds that do not admit any."""
    ran = {run.cell for case in knowledge.cases.values() for run in case.runs}
    was_run: dict[str, set[str]] = defaultdict(set)
    for id in ran:
        for name, version in knowledge.cells[id].items():
            was_run[name].add(version)
    needed = {name for case in knowledge.cases.values() for name in case.needs}
    releases, idle = dict[str, list[str]](), dict[str, list[str]]()
    empty, without = list[str](), list[str]()
    # A package without a bound may have any release.
    for name in in_stack_order({"jax", *bounds} & was_run.keys()):
        of = bounds.get(name, SpecifierSet())
        within = [release for release in knowledge.releases[name] if of.contains(release, prereleases=True)]
        releases[name] = [release for release in within if release in was_run[name]]
        if never := [release for release in within if release not in was_run[name]]:
            idle[name] = never
        if releases[name] or (name not in STACK and name not in needed):
            continue
        known = in_version_order(was_run[name])
        why = f"{name}{of} admits no release in the data, which has {known[0]} to {known[-1]}"
        if never:
            how = f"`check --from {name}=={never[0]}` shows what is known by rule"
            why = f"{name}{of} admits only {', '.join(never)}, which was never run: {how}"
        (empty if name in STACK else without).append(why)
    bound = [name for name in releases if name in STACK and name in bounds]
    stacks = sum(all(knowledge.cells[id].get(name) in releases[name] for name in bound) for id in ran)
    return Admitted(bounds, releases, idle, tuple(empty), tuple(without), stacks)
