"""matrix.toml × releases.json → the cells: which stacks to run, and why some cannot be had.

The one place where cells come from: the noxfile, the locks, the reports and CI all read `plan()`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Literal, get_args

from packaging.version import Version

from suite.errors import BadFile, Fault, Misused, nearest
from suite.files import read
from suite.stack import matrix as matrices
from suite.stack import releases
from suite.stack.matrix import PATH, Arm, Matrix, Runs
from suite.stack.releases import AXES, EXTRAS, PACKAGES, Device, Snapshot

TAGS = ("default", "line", "full")
# The end of a cell's id, where what it does not hold is as of the snapshot's day.
TODAY = "today"


@dataclass(frozen=True)
class Cell:
    """One fully pinned stack, before it is resolved.

    `holds` is what its id names, packages and maybe an interpreter other than the line's, and `moves` which of it the
    cell stands for. `requires` is what an installer is asked for, `as_of` the moment whose releases it may choose from,
    and `as_of_package` the packages whose wheels came later. `today`: that moment is the snapshot's.
    `asks` are the questions that have it, each with the package an arm moves along to answer it.
    `excluded` is the sentence in the packages' own metadata that keeps what it holds apart: such a cell is installed
    over it. `unavailable` is a reason code and a sentence. A cell without tags is nobody's plan: somebody asked for it.
    `runs` is what is run in it, and `device` what it needs of the machine that runs it.
    """

    id: str
    kind: Literal["line", "arm"]
    moves: str
    holds: tuple[tuple[str, str], ...]
    python: str
    released_on: date
    requires: tuple[str, ...]
    as_of: datetime
    as_of_package: tuple[tuple[str, datetime], ...] = ()
    asks: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    excluded: str | None = None
    unavailable: tuple[str, str] | None = None
    device: Device = "cpu"
    runs: Runs = "all"
    today: bool = False

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
        (maker.uploaded(name, version), AXES.index(name), Version(version)): maker.line(
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
        arms[made.id] = replace(kept, asks=asks, runs=max(before.runs, made.runs, key=get_args(Runs).index))
    return (*(line[place] for place in sorted(line)), *arms.values())


def verdict(cell: Cell) -> Literal["unavailable", "conflict"]:
    """The verdict on a cell that cannot be had."""
    return "conflict" if cell.unavailable and cell.unavailable[0] == "plan.excludes" else "unavailable"


@cache
def cells() -> tuple[Cell, ...]:
    """The cells planned from the files in the tree. Raises BadFile."""
    return plan(*_tree())


def tagged(tag: str) -> tuple[Cell, ...]:
    """The cells with this tag, one of TAGS."""
    return tuple(each for each in cells() if tag in each.tags)


def cell(identifier: str) -> Cell:
    """The planned cell called `identifier`. Raises Misused with the nearest names."""
    found = {each.id: each for each in cells()}
    if identifier not in found:
        raise Misused(f"no cell {identifier!r}; {nearest(identifier, found)}")
    return found[identifier]


_HELD = re.compile(rf"({'|'.join(AXES)})-([0-9][0-9a-z.]*)")


def stack(identifier: str) -> Cell:
    """The cell called `identifier`, planned or not: `jax-0.4.36+diffrax-0.6.0` is what somebody has, maybe.

    Raises Misused where a part of it is no release.
    """
    found = {each.id: each for each in cells()}
    if identifier in found:
        return found[identifier]
    parts = identifier.split("+")
    today = parts[-1] == TODAY
    named = {part[1]: part[2] for part in map(_HELD.fullmatch, parts) if part is not None}
    if len(named) + today < len(parts) or len(parts) == 1 or PACKAGES.keys().isdisjoint(named):
        raise Misused(f"no cell {identifier!r}; {nearest(identifier, found)}")
    return holding({name: named[name] for name in AXES if name in named}, today=today)


def holding(holds: Mapping[str, str], moves: str = "jax", *, today: bool = False) -> Cell:
    """The cell that holds just these releases, and maybe a Python, whatever the matrix asks for.

    Raises Misused where one of them is none.
    """
    matrix, offered = _tree()
    for name, version in holds.items():
        if version not in (known := offered.versions(name, yanked=True)):
            raise Misused(f"releases.json has no {name} {version}; {nearest(version, known)}")
    made = _Maker(matrix, offered).arm(holds, moves, None, today=today)
    return next((each for each in cells() if each.id == made.id), made)


def _tree() -> tuple[Matrix, Snapshot]:
    return read(Matrix, PATH), releases.load()


@dataclass(frozen=True)
class _Maker:
    """Makes cells from what they hold."""

    matrix: Matrix
    offered: Snapshot
    _jaxlibs: dict[tuple[str, str, Device], tuple[datetime | None, tuple[str, str] | None]] = field(
        default_factory=dict
    )

    def uploaded(self, name: str, version: str) -> datetime:
        return self.offered.packages[name][version].uploaded

    def line(self, name: str, version: str, *, default: bool) -> Cell:
        tags = ("full", "line", "default") if default and name == "jax" else ("full", "line")
        return self._cell({name: version}, "line", name, tags)

    def arm(self, holds: Mapping[str, str], moves: str, arm: Arm | None, *, today: bool = False) -> Cell:
        today = today or (arm is not None and arm.as_of == "snapshot")
        made = self._cell(
            holds, "arm", moves, ("full", "arm") if arm else (), arm.device if arm else "cpu", today=today
        )
        excluded = releases.exclusion(dict(made.holds), self.offered.packages, made.python)
        unavailable = made.unavailable
        if excluded and arm and arm.excluded == "leave":
            unavailable = unavailable or ("plan.excludes", excluded)
        # What jax does by itself, its own release's cell does not show of another interpreter or another NumPy.
        by_itself: Runs = "libraries" if {"jaxlib", "numpy", "scipy", "python"}.isdisjoint(dict(made.holds)) else "all"
        return replace(
            made,
            asks=((arm.asks, moves),) if arm else (),
            excluded=excluded,
            unavailable=unavailable,
            runs=arm.run if arm else by_itself,
        )

    def _cell(
        self,
        holds: Mapping[str, str],
        kind: Literal["line", "arm"],
        moves: str,
        tags: tuple[str, ...],
        device: Device = "cpu",
        *,
        today: bool = False,
    ) -> Cell:
        python = holds.get("python", self.matrix.python)
        packages = {name: holds[name] for name in PACKAGES if name in holds}
        named = {**packages, **({"python": python} if python != self.matrix.python else {})}
        came_out = max(self.uploaded(*each) for each in packages.items())
        as_of = self.offered.taken_at if today else _day_after(came_out)
        unavailable = next(filter(None, (self._unavailable(*each, python) for each in packages.items())), None)
        late: list[tuple[str, datetime]] = []
        if "jax" in packages and "jaxlib" not in packages and not unavailable:
            jaxlib, unavailable = self._jaxlib_of(packages["jax"], python, device)
            late = [("jaxlib", _day_after(jaxlib))] if jaxlib and _day_after(jaxlib) > as_of else []
        return Cell(
            id="+".join(
                [*(f"{name}-{version}" for name, version in named.items())]
                + [device] * (device != "cpu")
                + [TODAY] * today
            ),
            kind=kind,
            moves=moves,
            holds=tuple(named.items()),
            python=python,
            released_on=came_out.date(),
            requires=(*_asked(packages, device), *self.matrix.line.beside),
            as_of=as_of,
            as_of_package=tuple(late),
            tags=tags,
            unavailable=unavailable,
            device=device,
            today=today,
        )

    def _unavailable(self, name: str, version: str, python: str) -> tuple[str, str] | None:
        release = self.offered.packages[name][version]
        if release.yanked is not None:
            return "plan.yanked", f"{name} {version} was yanked: {release.yanked or 'no reason given'}"
        if not release.allows(python):
            return "plan.excludes", f"{name} {version} requires Python {release.requires_python}"
        if not release.installs_here(python):
            return "plan.no-wheel", f"{name} {version} has no wheel for CPython {python} on this platform"
        return None

    def _jaxlib_of(self, version: str, python: str, device: Device) -> tuple[datetime | None, tuple[str, str] | None]:
        """When every wheel of the jaxlib of this jax was there, or why it cannot be installed here."""
        asked = version, python, device
        if asked not in self._jaxlibs:
            self._jaxlibs[asked] = self._find_jaxlib(*asked)
        return self._jaxlibs[asked]

    def _find_jaxlib(self, version: str, python: str, device: Device) -> tuple[datetime | None, tuple[str, str] | None]:
        extra = EXTRAS[device]
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
        for jaxlib in reversed(self.offered.versions("jaxlib")):
            if all(jaxlib in requirement.specifier for requirement in wanted):
                unavailable = self._unavailable("jaxlib", jaxlib, python)
                newest = self.offered.packages["jaxlib"][jaxlib].newest_wheel(python)
                return (None, unavailable) if unavailable else (newest, None)
        return None, ("plan.no-release", f"the index has no jaxlib that jax {version} accepts")


def _asked(packages: Mapping[str, str], device: Device) -> list[str]:
    """What an installer is asked for, in the order of PACKAGES, so that it gives these releases."""
    # Up to 0.4.29 jax[cpu] alone asks for a jaxlib; a jaxlib that is held is asked for by itself.
    extra = {} if "jaxlib" in packages else {"jax": f"[{EXTRAS[device]}]"}
    return [
        f"{name}{extra.get(name, '')}" + (f"=={packages[name]}" if name in packages else "")
        for name, package in PACKAGES.items()
        if package.asked or name in packages
    ]


def _day_after(moment: datetime) -> datetime:
    """The midnight that ends the day of `moment`: what was uploaded on that day is in, and nothing later."""
    return datetime.combine(moment.astimezone(UTC).date() + timedelta(days=1), time(), UTC)
