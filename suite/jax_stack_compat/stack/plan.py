"""The plan: the cells of matrix.toml and releases.json, and why some cells are unavailable.

All cells come from here: the noxfile, the locks, the reports and CI read `plan()`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache, cached_property
from typing import Literal, get_args

from packaging.version import Version

from jax_stack_compat.base.errors import BadFile, Fault, Misused, nearest
from jax_stack_compat.base.files import read
from jax_stack_compat.base.spelling import requirement
from jax_stack_compat.packages import AXES, BESIDE, HELD, PACKAGES, guests
from jax_stack_compat.stack import chosen as choice
from jax_stack_compat.stack import releases
from jax_stack_compat.stack.matrix import PATH, Arm, Matrix, Reading, Runs
from jax_stack_compat.stack.releases import OF_CPU, Snapshot

TAGS = ("default", "line", "full")
# The last part of a cell's id if its unheld packages are as of the snapshot's day.
TODAY = "today"
# The last part of a cell's id, if it lacks the packages beside the stack.
ALONE = "alone"


@dataclass(frozen=True)
class Cell:
    """One fully pinned stack, before it is resolved.

    `holds` are the packages in its id, and perhaps an interpreter other than the line's. `moves` is the package whose
    release the cell represents. `requires` are the requirements for an installer. The installer may choose releases
    uploaded until `as_of`; for packages with late wheels, until `as_of_package`. With `today`, `as_of` is the
    snapshot's moment. `asks` are the arms' questions that the cell answers, each with the package that the arm moves.

    `excluded` is the requirement in the packages' own metadata that excludes the stack; the stack may be run anyway.
    `unavailable` is a reason code and a sentence. A cell without tags is in no plan: a user asked for it. `runs`
    selects its issues.
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
    runs: Runs = "all"
    today: bool = False

    @cached_property
    def guests(self) -> frozenset[str]:
        """The held packages outside the stack."""
        return guests(dict(self.holds))

    @property
    def extra(self) -> str:
        """The extra of jax whose requirements count; empty if the cell holds a jaxlib, which is requested by name."""
        return "" if "jaxlib" in dict(self.holds) else OF_CPU

    @property
    def lock_name(self) -> str:
        """The file name of this cell's lock."""
        return f"{self.id}.txt"


def plan(matrix: Matrix, offered: Snapshot, chosen: Collection[str] = ()) -> tuple[Cell, ...]:
    """Return the cells that `matrix` asks for: the line by release day, then the arms.

    `chosen` are the releases of jax in the default cells, besides the newest. Raises BadFile with every fault in the
    matrix, and for a package without a snapshot.
    """
    # The model does not check this: an old snapshot without a new package must load, since the next one is made from
    # it.
    if lacking := [name for name in HELD if name not in offered.packages]:
        message = "is missing: `nox -s snapshot` asks the index"
        raise BadFile([Fault(releases.PATH, f"packages.{name}", message) for name in lacking])
    reading = Reading(matrix, offered)
    on_line = reading.line()
    default = reading.default(on_line, chosen)
    on_arms = reading.arms()
    reading.check()
    maker = _Maker(matrix, offered)
    on_line.sort(key=lambda pair: (maker.uploaded(*pair), AXES.index(pair[0]), Version(pair[1])))
    tags = {("jax", version): ("full", "line", "default") for version in default}
    line = [
        maker.cell({name: version}, name, kind="line", tags=tags.get((name, version), ("full", "line")))
        for name, version in on_line
    ]
    arms: dict[str, Cell] = {}
    for holds, moves, arm in on_arms:
        made = maker.arm(holds, moves, arm)
        before = arms.get(made.id, made)
        # Two arms can share a cell. It is run if one of them runs it.
        kept = made if before.unavailable and not made.unavailable else before
        asks = tuple(dict.fromkeys([*before.asks, *made.asks]))
        arms[made.id] = replace(kept, asks=asks, runs=max(before.runs, made.runs, key=get_args(Runs).index))
    for cell in line:
        if cell.id in arms:
            reading.fault("arms", f"{cell.id} is on the line: hold another package, too, or set as_of to snapshot")
    reading.check()
    return (*line, *arms.values())


def verdict(cell: Cell) -> Literal["unavailable", "conflict"]:
    """Return the verdict on an unavailable cell."""
    return "conflict" if cell.unavailable and cell.unavailable[0] == "plan.excludes" else "unavailable"


@cache
def cells() -> tuple[Cell, ...]:
    """Return the cells planned from the files in the tree. Raises BadFile."""
    return plan(read(Matrix, PATH), releases.load(), choice.load().rows)


def tagged(tag: str) -> tuple[Cell, ...]:
    """Return the cells with this tag, one of TAGS."""
    return tuple(each for each in cells() if tag in each.tags)


def cell(identifier: str) -> Cell:
    """Return the planned cell called `identifier`. Raises Misused with the nearest names."""
    return among(cells(), identifier, "no cell")


def among(some: Iterable[Cell], identifier: str, lacking: str) -> Cell:
    """Return the cell in `some` that is called `identifier`. Raises Misused with `lacking` and the nearest names."""
    found = {cell.id: cell for cell in some}
    if identifier not in found:
        raise Misused(f"{lacking} {identifier!r}; {nearest(identifier, found)}")
    return found[identifier]


_HELD = re.compile(rf"({'|'.join(AXES)})-([0-9][0-9a-z.]*)")


def stack(identifier: str) -> Cell:
    """Return the cell called `identifier`, planned or not: `jax-0.4.36+diffrax-0.6.0` may be a user's own stack.

    Raises Misused if a part of the name is not a release.
    """
    found = {cell.id: cell for cell in cells()}
    if identifier in found:
        return found[identifier]
    parts = identifier.split("+")
    alone = parts[-1] == ALONE
    today = parts[: len(parts) - alone][-1:] == [TODAY]
    named = {part[1]: part[2] for part in map(_HELD.fullmatch, parts) if part is not None}
    if len(named) + today + alone < len(parts) or len(parts) == 1 or HELD.keys().isdisjoint(named):
        raise Misused(f"no cell {identifier!r}; {nearest(identifier, found)}")
    return holding({name: named[name] for name in AXES if name in named}, today=today, beside=not alone)


def holding(holds: Mapping[str, str], moves: str = "jax", *, today: bool = False, beside: bool = True) -> Cell:
    """Return the cell that holds exactly these releases, one of them perhaps a Python, even if the matrix lacks it.

    Raises Misused if one of them is not a release.
    """
    matrix, offered = read(Matrix, PATH), releases.load()
    for name, version in holds.items():
        if version not in (known := offered.versions(name, yanked=True)):
            raise Misused(f"releases.json has no {name} {version}; {nearest(version, known)}")
    as_of: Literal["release", "snapshot"] = "snapshot" if today else "release"
    arm = Arm(asks="", times=[{}], along=moves, excluded="try", as_of=as_of, beside=beside)
    made = _Maker(matrix, offered).arm(holds, moves, arm)
    # If the interpreter, jaxlib, NumPy or SciPy differs, results of the line's cell do not hold for cases of jax alone.
    below = {name for name, package in PACKAGES.items() if not package.layer} - {"jax"} | {"python"}
    shown = beside and below.isdisjoint(dict(made.holds))
    runs: Runs = "libraries" if shown else "all"
    made = replace(made, asks=(), tags=(), runs=runs)
    return next((cell for cell in cells() if cell.id == made.id), made)


class _Maker:
    """A maker of cells, given the packages that they hold."""

    def __init__(self, matrix: Matrix, offered: Snapshot) -> None:
        self._matrix = matrix
        self._offered = offered
        # Cached: hundreds of cells have the same few releases of jax.
        self._jaxlib_of = cache(self._find_jaxlib)

    def uploaded(self, name: str, version: str) -> datetime:
        return self._offered.packages[name][version].uploaded

    def arm(self, holds: Mapping[str, str], moves: str, arm: Arm) -> Cell:
        """Return a cell of an arm, with a conflict if metadata excludes the stack."""
        today = arm.as_of == "snapshot"
        tags = ("full", "arm")
        made = self.cell(holds, moves, kind="arm", tags=tags, today=today, beside=arm.beside)
        excluded = releases.exclusion(dict(made.holds), self._offered.packages, made.python, made.extra)
        left = ("plan.excludes", excluded) if excluded and arm.excluded == "leave" else None
        unavailable = made.unavailable or left
        return replace(made, asks=((arm.asks, moves),), excluded=excluded, unavailable=unavailable, runs=arm.run)

    def cell(
        self,
        holds: Mapping[str, str],
        moves: str,
        *,
        kind: Literal["line", "arm"],
        tags: tuple[str, ...],
        today: bool = False,
        beside: bool = True,
    ) -> Cell:
        """Return a cell of the line, or of an arm without its check of metadata."""
        python = holds.get("python", self._matrix.python)
        packages = {name: holds[name] for name in HELD if name in holds}
        named = {**packages, **({"python": python} if python != self._matrix.python else {})}
        came_out = max(self.uploaded(*pair) for pair in packages.items())
        as_of = self._offered.taken_at if today else _day_after(came_out)
        unavailable = next(filter(None, (self._unavailable(*pair, python) for pair in packages.items())), None)
        late: tuple[tuple[str, datetime], ...] = ()
        if "jax" in packages and "jaxlib" not in packages and not unavailable:
            jaxlib, unavailable = self._jaxlib_of(packages["jax"], python)
            if jaxlib and _day_after(jaxlib) > as_of:
                late = (("jaxlib", _day_after(jaxlib)),)
        ids = [f"{name}-{version}" for name, version in named.items()]
        return Cell(
            id="+".join([*ids, *[TODAY] * today, *[ALONE] * (not beside)]),
            kind=kind,
            moves=moves,
            holds=tuple(named.items()),
            python=python,
            released_on=came_out.date(),
            requires=(*_asked(packages), *(sorted(BESIDE) if beside else ())),
            as_of=as_of,
            as_of_package=late,
            tags=tags,
            unavailable=unavailable,
            today=today,
        )

    def _unavailable(self, name: str, version: str, python: str) -> tuple[str, str] | None:
        release = self._offered.packages[name][version]
        if release.yanked is not None:
            return "plan.yanked", f"{name} {version} was yanked: {release.yanked or 'no reason given'}"
        if not release.allows(python):
            return "plan.excludes", f"{name} {version} requires Python {release.requires_python}"
        if release.newest_wheel(python) is None:
            return "plan.no-wheel", f"{name} {version} has no wheel for CPython {python}"
        if not release.installs_here(python):
            return "plan.no-wheel-here", f"{name} {version} has no wheel for CPython {python} on this platform"
        return None

    def _find_jaxlib(self, version: str, python: str) -> tuple[datetime | None, tuple[str, str] | None]:
        """Return when the last wheel of this jax's jaxlib was uploaded, or why jaxlib cannot be installed here."""
        asked = map(requirement, self._offered.packages["jax"][version].requires_dist)
        wanted = [need.specifier for need in asked if need.name == "jaxlib" and releases.applies(need, python, OF_CPU)]
        for jaxlib in reversed(self._offered.versions("jaxlib")):
            if all(jaxlib in specifier for specifier in wanted):
                unavailable = self._unavailable("jaxlib", jaxlib, python)
                newest = self._offered.packages["jaxlib"][jaxlib].newest_wheel(python)
                return (None, unavailable) if unavailable else (newest, None)
        return None, ("plan.no-release", f"the index has no jaxlib that jax {version} accepts")


def _asked(packages: Mapping[str, str]) -> list[str]:
    """Return the requirements with which an installer chooses these releases, in the order of HELD."""
    # Up to jax 0.4.29 only jax[cpu] requires jaxlib. A held jaxlib is requested by name.
    extra = {} if "jaxlib" in packages else {"jax": f"[{OF_CPU}]"}
    return [
        f"{name}{extra.get(name, '')}" + (f"=={packages[name]}" if name in packages else "")
        for name, package in HELD.items()
        if package.asked or name in packages
    ]


def _day_after(moment: datetime) -> datetime:
    """Return the midnight that ends the day of `moment`, so that all uploads of the day count."""
    return datetime.combine(moment.astimezone(UTC).date() + timedelta(days=1), time(), UTC)
