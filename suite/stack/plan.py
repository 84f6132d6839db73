"""matrix.toml × releases.json → the cells: which stacks to run, and why some cannot be had.

The one place where cells come from: the noxfile, the locks, the reports and CI all read `plan()`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Literal

from packaging.specifiers import SpecifierSet
from packaging.tags import Tag, compatible_tags, cpython_tags, platform_tags
from packaging.utils import parse_wheel_filename
from packaging.version import Version

from suite.errors import BadFile, Fault, Misused, nearest
from suite.files import read
from suite.stack import matrix as matrices
from suite.stack import releases
from suite.stack.matrix import MOVING, PATH, Arm, Device, Matrix, Moving
from suite.stack.releases import Snapshot

TAGS = ("default", "line", "full")
# The extra of jax that brings each device's build.
EXTRAS: Mapping[Device, str] = {"cpu": "cpu", "gpu": "cuda12", "tpu": "tpu"}


@dataclass(frozen=True)
class Cell:
    """One fully pinned stack, before it is resolved.

    `holds` is what its id names, and `moves` whose release it stands for. `requires` is what an installer is asked for,
    `as_of` the moment whose releases it may choose from, and `as_of_package` the packages whose wheels came later.
    `asks` are the questions that have it, each with the package an arm moves along to answer it.
    `excluded` is the sentence in the packages' own metadata that keeps what it holds apart: such a cell is installed
    over it. `unavailable` is a reason code and a sentence. A cell without tags is nobody's plan: somebody asked for it.
    `device` is what it needs of the machine that runs it.
    """

    id: str
    kind: Literal["line", "arm"]
    moves: Moving
    holds: tuple[tuple[Moving, str], ...]
    python: str
    released_on: date
    requires: tuple[str, ...]
    as_of: datetime
    as_of_package: tuple[tuple[str, datetime], ...] = ()
    asks: tuple[tuple[str, Moving], ...] = ()
    tags: tuple[str, ...] = ()
    excluded: str | None = None
    unavailable: tuple[str, str] | None = None
    device: Device = "cpu"

    @property
    def lock_name(self) -> str:
        """The file name of this cell's lock."""
        return f"{self.id}.txt"


def plan(matrix: Matrix, offered: Snapshot) -> tuple[Cell, ...]:
    """The cells that `matrix` asks for: the line in the order of its releases' days, then the arms.

    Raises BadFile with every fault in the matrix.
    """
    faults: list[Fault] = []
    on_line = matrices.line(matrix, offered, faults)
    default = matrices.default(matrix, offered, on_line, faults)
    on_arms = matrices.arms(matrix, offered, faults)
    if faults:
        raise BadFile(faults)
    maker = _Maker(matrix, offered)
    line = {
        (maker.uploaded(name, version), MOVING.index(name), Version(version)): maker.line(
            name, version, default=version in default
        )
        for name, version in on_line
    }
    arms: dict[str, Cell] = {}
    for holds, moves, arm in on_arms:
        made = maker.arm(holds, moves, arm)
        before = arms.get(made.id, made)
        # Two arms can cross in a cell; it is tried where either asks for that.
        kept = made if before.unavailable and not made.unavailable else before
        asks = tuple(dict.fromkeys([*before.asks, *made.asks]))
        arms[made.id] = replace(kept, asks=asks)
    return (*(line[place] for place in sorted(line)), *arms.values())


def verdict(cell: Cell) -> Literal["unavailable", "conflict"]:
    """The verdict on a cell that cannot be had."""
    return "conflict" if cell.unavailable and cell.unavailable[0] == "plan.excludes" else "unavailable"


@cache
def cells() -> tuple[Cell, ...]:
    """The cells planned from the files in the tree. Raises BadFile."""
    return plan(read(Matrix, PATH), releases.load())


def tagged(tag: str) -> tuple[Cell, ...]:
    """The cells with this tag, one of TAGS."""
    return tuple(each for each in cells() if tag in each.tags)


def cell(identifier: str) -> Cell:
    """The planned cell called `identifier`. Raises Misused with the nearest names."""
    found = {each.id: each for each in cells()}
    if identifier not in found:
        raise Misused(f"no cell {identifier!r}; {nearest(identifier, found)}")
    return found[identifier]


_HELD = re.compile(rf"({'|'.join(MOVING)})-([0-9][0-9a-z.]*)")


def stack(identifier: str) -> Cell:
    """The cell called `identifier`, planned or not: `jax-0.4.36+diffrax-0.6.0` is what somebody has, maybe.

    Raises Misused where a part of it is no release.
    """
    found = {each.id: each for each in cells()}
    if identifier in found:
        return found[identifier]
    parts = identifier.split("+")
    named = {part[1]: part[2] for part in map(_HELD.fullmatch, parts) if part is not None}
    if len(named) < len(parts) or len(parts) == 1:
        raise Misused(f"no cell {identifier!r}; {nearest(identifier, found)}")
    return holding({name: named[name] for name in MOVING if name in named})


def holding(holds: Mapping[Moving, str], moves: Moving = "jax") -> Cell:
    """The cell that holds just these releases, whatever the matrix asks for. Raises Misused where one is none."""
    offered = releases.load()
    for name, version in holds.items():
        if version not in (known := offered.packages[name]):
            raise Misused(f"releases.json has no {name} {version}; {nearest(version, known)}")
    made = _Maker(read(Matrix, PATH), offered).arm(holds, moves, None)
    return next((each for each in cells() if each.id == made.id), made)


@dataclass(frozen=True)
class _Maker:
    """Makes cells from what they hold."""

    matrix: Matrix
    offered: Snapshot

    def uploaded(self, name: Moving, version: str) -> datetime:
        return self.offered.packages[name][version].uploaded

    def line(self, name: Moving, version: str, *, default: bool) -> Cell:
        tags = ("full", "line", "default") if default and name == "jax" else ("full", "line")
        return self._cell({name: version}, "line", name, tags)

    def arm(self, holds: Mapping[Moving, str], moves: Moving, arm: Arm | None) -> Cell:
        made = self._cell(holds, "arm", moves, ("full", "arm") if arm else (), arm.device if arm else "cpu")
        excluded = releases.exclusion(
            {str(name): holds[name] for name in holds}, self.offered.packages, self.matrix.python
        )
        asks = ((arm.asks, moves),) if arm else ()
        unavailable = made.unavailable
        if excluded and arm and arm.excluded == "leave":
            unavailable = unavailable or ("plan.excludes", excluded)
        return replace(made, asks=asks, excluded=excluded, unavailable=unavailable)

    def _cell(
        self,
        holds: Mapping[Moving, str],
        kind: Literal["line", "arm"],
        moves: Moving,
        tags: tuple[str, ...],
        device: Device = "cpu",
    ) -> Cell:
        moments = [self.uploaded(name, version) for name, version in holds.items()]
        as_of = _day_after(max(moments))
        unavailable = next(filter(None, (self._unavailable(*each) for each in holds.items())), None)
        late: list[tuple[str, datetime]] = []
        if "jax" in holds and not unavailable:
            jaxlib, unavailable = self._jaxlib_of(holds["jax"], device)
            late = [("jaxlib", _day_after(jaxlib))] if jaxlib and _day_after(jaxlib) > as_of else []
        # Up to 0.4.29 jax[cpu] alone asks for a jaxlib.
        jax = f"jax[{EXTRAS[device]}]"
        asked = [f"{jax}=={holds['jax']}" if "jax" in holds else jax]
        asked += [f"{name}=={holds[name]}" if name in holds else name for name in MOVING[1:]]
        return Cell(
            id="+".join([f"{name}-{holds[name]}" for name in MOVING if name in holds] + [device] * (device != "cpu")),
            kind=kind,
            moves=moves,
            holds=tuple((name, holds[name]) for name in MOVING if name in holds),
            python=self.matrix.python,
            released_on=max(moments).date(),
            requires=(*asked, *self.matrix.line.beside),
            as_of=as_of,
            as_of_package=tuple(late),
            tags=tags,
            unavailable=unavailable,
            device=device,
        )

    def _unavailable(self, name: Moving, version: str) -> tuple[str, str] | None:
        release = self.offered.packages[name][version]
        if release.yanked is not None:
            return "plan.yanked", f"{name} {version} was yanked: {release.yanked or 'no reason given'}"
        if release.requires_python and f"{self.matrix.python}.0" not in SpecifierSet(release.requires_python):
            return "plan.excludes", f"{name} {version} requires Python {release.requires_python}"
        return None

    def _jaxlib_of(self, version: str, device: Device) -> tuple[datetime | None, tuple[str, str] | None]:
        """When every wheel of the jaxlib of this jax was there, or why it cannot be installed here."""
        python, extra = self.matrix.python, EXTRAS[device]
        there = {"extra": extra, "python_version": python, "python_full_version": f"{python}.0"}
        asked = list(map(releases.requirement, self.offered.packages["jax"][version].requires_dist))
        # An installer only warns of an extra that a release does not have, and installs the build for the CPU.
        if device != "cpu" and not any(re.search(rf"extra == ['\"]{extra}['\"]", str(each.marker)) for each in asked):
            return None, ("plan.no-release", f"jax {version} has no extra {extra}")
        wanted = [
            requirement
            for requirement in asked
            if requirement.name == "jaxlib" and (not requirement.marker or requirement.marker.evaluate(there))
        ]
        candidates = [
            candidate
            for candidate, jaxlib in self.offered.packages["jaxlib"].items()
            if jaxlib.yanked is None and all(candidate in requirement.specifier for requirement in wanted)
        ]
        if not candidates:
            return None, ("plan.no-release", f"the index has no jaxlib that jax {version} accepts")
        jaxlib = max(candidates, key=Version)
        wheels = self.offered.packages["jaxlib"][jaxlib].wheels
        if all(_tags_here(python).isdisjoint(parse_wheel_filename(name)[3]) for name in wheels):
            return None, ("plan.no-wheel", f"jaxlib {jaxlib} has no wheel for CPython {python} on this platform")
        # The last of all platforms' wheels: the lock must not depend on the machine it is made on.
        return max(wheels.values()), None


@cache
def _tags_here(python: str) -> frozenset[Tag]:
    version = tuple(map(int, python.split(".")))
    platforms = list(platform_tags())
    return frozenset([*cpython_tags(version, platforms=platforms), *compatible_tags(version, platforms=platforms)])


def _day_after(moment: datetime) -> datetime:
    """The midnight that ends the day of `moment`: what was uploaded on that day is in, and nothing later."""
    return datetime.combine(moment.astimezone(UTC).date() + timedelta(days=1), time(), UTC)
