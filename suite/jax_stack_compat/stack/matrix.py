"""The file matrix.toml: the cells to cover, as a few lines of algebra over releases.json.

`[line]` names packages: each of their releases gets a cell. Each of `[[arms]]` answers a question that people ask. An
arm combines the stacks in `times` with every release that `along` admits, except the combinations in `except`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Annotated, Literal

from packaging.requirements import Requirement
from packaging.version import Version
from pydantic import Field

from jax_stack_compat.base.errors import BadFile, Fault, nearest
from jax_stack_compat.base.fields import PlainRequirement
from jax_stack_compat.base.files import FileModel
from jax_stack_compat.base.spelling import plain_requirement, requirement
from jax_stack_compat.packages import AXES, HELD, PACKAGES
from jax_stack_compat.stack.releases import Python, Snapshot, applies

PATH = Path(__file__).with_name("matrix.toml")
NEWEST = "newest"
EACH_MINOR = "newest of each minor"
# For jaxlib: the release before the one that an installer chooses for a jax.
ONE_BEHIND = "one behind"

# The cases of a cell: row zero; row zero and the packages beside the stack; each issue's first case that needs a
# library; all cases that need a library; all that need none; every case.
Runs = Literal["row-zero", "beside", "headlines", "libraries", "jax", "all"]


class Line(FileModel):
    """The `[line]` table: the packages whose releases get a cell."""

    releases: list[PlainRequirement] = Field(min_length=1)


class Arm(FileModel):
    """One of `[[arms]]`: every stack of `times` with every release of `along`, except the cells in `except`.

    `excluded` decides if a cell that the packages' own metadata excludes is run or is a conflict. `as_of` is the day
    for packages that a cell does not hold: of the cell's last release, or of the snapshot. `run` selects the cells'
    issues. With `beside`, cells also have the packages that jax imports but does not declare.
    """

    asks: str
    times: list[dict[str, str]] = Field(min_length=1)
    along: PlainRequirement
    # An empty entry would match, and so remove, every cell.
    excepting: list[Annotated[list[PlainRequirement], Field(min_length=1)]] = Field(default=[], alias="except")
    excluded: Literal["try", "leave"] = "leave"
    as_of: Literal["release", "snapshot"] = "release"
    # The line's cell of the same jax runs the cases without libraries.
    run: Runs = "libraries"
    beside: bool = True


class Matrix(FileModel):
    """The file matrix.toml."""

    schema_version: Literal[1]
    python: Python
    line: Line
    arms: list[Arm] = Field(default=[])


@dataclass(frozen=True)
class Reading:
    """The cells that matrix.toml requests; `faults` collects its errors."""

    matrix: Matrix
    offered: Snapshot
    faults: list[Fault] = field(default_factory=list)

    def line(self) -> list[tuple[str, str]]:
        """Return the package and version of each line cell, including yanked releases."""
        found: list[tuple[str, str]] = []
        for position, text in enumerate(self.matrix.line.releases):
            key = f"line.releases.{position}"
            admitted = self._admitted(text, key, yanked=True)
            if any(name not in PACKAGES for name, _ in admitted):
                self.fault(key, "only packages of the stack have a line; use an arm for the others")
            found += admitted
        for name, version in sorted(pair for pair, times in Counter(found).items() if times > 1):
            self.fault("line.releases", f"{name} {version} is requested twice")
        return found

    def default(self, on_line: Collection[tuple[str, str]], chosen: Collection[str]) -> list[str]:
        """Return the versions of jax that `nox -s compat` runs: the `chosen` ones of the line, and its newest."""
        there = [version for version in self.offered.versions("jax") if ("jax", version) in on_line]
        return [version for version in there if version in chosen or version == there[-1]]

    def arms(self) -> list[tuple[Mapping[str, str], str, Arm]]:
        """Return the held packages, the moving package and the arm of each arm cell."""
        found: list[tuple[Mapping[str, str], str, Arm]] = []
        for number, arm in enumerate(self.matrix.arms):
            key = f"arms.{number}"
            along = self._admitted(arm.along, f"{key}.along", yanked=False)
            stacks: list[dict[str, str]] = []
            for position, stack in enumerate(arm.times):
                where = f"{key}.times.{position}"
                if along and along[0][0] in stack:
                    self.fault(where, f"{along[0][0]} is both held here and moved by `along`")
                if along and HELD.keys().isdisjoint([along[0][0], *stack]):
                    self.fault(where, "no package is held here, and none moves")
                each = [self._versions(name, text, f"{where}.{name}") for name, text in stack.items()]
                stacks += [dict(zip(stack, versions, strict=True)) for versions in product(*each)]
            excepting = [
                [self._requirement(text, f"{key}.except.{position}") for text in texts]
                for position, texts in enumerate(arm.excepting)
            ]
            for stack, (moves, version) in product(stacks, along):
                holds = {**stack, moves: version}
                if holds.get("jaxlib") == ONE_BEHIND:
                    behind = self._jaxlib_behind(version)
                    if behind is None:
                        continue
                    holds["jaxlib"] = behind
                if not any(_describes(requirements, holds) for requirements in excepting):
                    found.append((holds, moves, arm))
        return found

    def _jaxlib_behind(self, jax: str) -> str | None:
        """Return the jaxlib before the one that an installer chooses for this jax, if jax's metadata allows it."""
        python, there = self.matrix.python, self.offered.versions("jaxlib")
        asked = [requirement(text) for text in self.offered.packages["jax"][jax].requires_dist]
        of_jaxlib = [requirement for requirement in asked if requirement.name == "jaxlib"]
        given = [version for version in there if _admits(of_jaxlib, version, python, extra="cpu")]
        before = [version for version in there if given and Version(version) < Version(given[-1])]
        # Up to jax 0.4.29 only an extra requires jaxlib; importing jax raises if jaxlib is too old.
        return before[-1] if before and _admits(of_jaxlib, before[-1], python, extra="") else None

    def fault(self, key: str, message: str) -> None:
        """Add one fault."""
        self.faults.append(Fault(PATH, key, message))

    def check(self) -> None:
        """Raise BadFile if there are faults."""
        if self.faults:
            raise BadFile(self.faults)

    def _admitted(self, text: str, key: str, *, yanked: bool) -> list[tuple[str, str]]:
        """Return the releases that the requirement `text` admits, in version order."""
        requirement = self._requirement(text, key)
        if requirement is None:
            return []
        there = self.offered.versions(requirement.name, yanked=yanked)
        admitted = [(requirement.name, version) for version in there if version in requirement.specifier]
        if not admitted:
            self.fault(key, f"releases.json has no {text}")
        return admitted

    def _requirement(self, text: str, key: str) -> Requirement | None:
        requirement = plain_requirement(text)
        return requirement if self._is_axis(requirement.name, key) else None

    def _is_axis(self, name: str, key: str) -> bool:
        if name not in AXES:
            self.fault(key, f"{name!r} is not one of {', '.join(AXES)}")
        return name in AXES

    def _versions(self, name: str, text: str, key: str) -> list[str]:
        """Return the releases of `name` for `text`: a version, `newest`, `newest of each minor`, or `one behind`."""
        if not self._is_axis(name, key):
            return []
        if (name, text) == ("jaxlib", ONE_BEHIND):
            return [text]
        there = self.offered.versions(name, yanked=text not in (NEWEST, EACH_MINOR))
        by_minor = {Version(version).release[:2]: version for version in there}
        named = {NEWEST: [*there[-1:]], EACH_MINOR: [*by_minor.values()]}
        found = named.get(text, [text] if text in there else [])
        if not found and text in named:
            self.fault(key, f"releases.json has no {name} that was not yanked")
        elif not found:
            none = f"releases.json has no {name} {text}; {nearest(text, there)}"
            self.fault(key, none if text[:1].isdigit() else f"{text!r} is not a version")
        return found


def _admits(wanted: Iterable[Requirement], version: str, python: str, extra: str) -> bool:
    return all(version in each.specifier for each in wanted if applies(each, python, extra))


def _describes(requirements: Iterable[Requirement | None], held: Mapping[str, str]) -> bool:
    return all(each is not None and each.name in held and held[each.name] in each.specifier for each in requirements)
