"""The newest set of packages that was run with a release and works, as pins. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from packaging.version import Version

from jax_stack_compat.base.printable import printable
from jax_stack_compat.base.spelling import is_version
from jax_stack_compat.judge.verdict_table import UNDECIDED, VERDICTS
from jax_stack_compat.packages import ASKED, PACKAGES, guests
from laboratory.report.model import CellRow, Observation
from laboratory.report.site.facts import Facts
from laboratory.report.standing import label

# On every release, this extra requires jaxlib; up to 0.4.29, only the extra does.
_EXTRA = {"jax": "jax[cpu]"}


def holding(facts: Facts, release: CellRow) -> list[CellRow]:
    """Return every stack with this release and without a guest, the newest packages first."""
    package, version = release.moves, release.holds[release.moves]
    stacks = (cell for cell in facts.report.cells if not guests(cell.holds))
    return newest_first(cell for cell in stacks if cell.versions.get(package) == version)


def newest_first(cells: Iterable[CellRow]) -> list[CellRow]:
    """Return stacks by the versions of their packages, then by interpreter, then the line's own first."""

    def age(cell: CellRow) -> tuple[tuple[Version, ...], Version, bool]:
        versions = tuple(ordered(cell.packages.get(name, "")) for name in PACKAGES)
        return versions, ordered(cell.python), cell.kind == "line"

    return sorted(sorted(cells, key=lambda cell: cell.id), key=age, reverse=True)


@cache
def ordered(version: str) -> Version:
    """Return a sort key by PEP 440; an invalid version, which a report from outside may have, sorts first."""
    return Version(version if is_version(version) else "0.dev0")


def working(release: CellRow, cells: Iterable[CellRow]) -> CellRow | None:
    """Return the newest of `cells` that works and that metadata allows, preferably on the release's own Python."""
    works = [cell for cell in newest_first(cells) if cell.declared_observed == "supported"]
    return next((cell for cell in works if cell.python == release.python), next(iter(works), None))


def nearest(facts: Facts, cells: Iterable[CellRow]) -> tuple[CellRow, list[Observation]] | None:
    """Return the stack with the fewest faults in row zero, with these faults; None if no stack was tried.

    Call this only if no stack works. A stack without faults is then one that metadata excludes.
    """
    row_zero = [(issue.id, case.id) for issue in facts.report.issues if issue.row_zero for case in issue.cases]
    found = []
    for cell in newest_first(cells):
        seen = [facts.seen[key][cell.id] for key in row_zero if cell.id in facts.seen[key]]
        known = [row for row in seen if row.verdict not in UNDECIDED]
        if known:
            found.append((cell, [row for row in known if row.verdict != "clear"]))

    def badness(tried: tuple[CellRow, list[Observation]]) -> tuple[int, int]:
        _, wrong = tried
        return len(wrong), -min((VERDICTS.index(one.verdict) for one in wrong), default=0)

    return min(found, key=badness, default=None)


def pip_line(release: CellRow, works: CellRow) -> str:
    """Return the shell command that installs the packages of the stack as pinned in `works`."""
    names = [name for name in PACKAGES if name in works.packages]
    first = sorted(names, key=lambda name: name != release.moves)
    return " ".join(["pip install", *(_pinned(name, works.packages[name]) for name in first)])


def constrained(release: CellRow) -> str:
    """Return the command that installs the stack by the release's constraints file, once downloaded."""
    asked = [_EXTRA.get(name, name) for name in ASKED]
    return " ".join([f"pip install -c {release.id}.txt", *(f'"{name}"' if "[" in name else name for name in asked)])


def lock(cell: CellRow) -> str:
    """Return the path of a stack's lock in the project."""
    return f"suite/jax_stack_compat/stack/locks/{cell.id}.txt"


def path(release: CellRow) -> str:
    """Return the path of a release's constraints on the site."""
    return f"constraints/{release.id}.txt"


def constraints(release: CellRow, works: CellRow) -> str:
    """Return the constraints file of a release: the pins of the stack that `works`, with their origin."""
    about = [
        f"The newest tested set of packages with {label(release)} that works and is allowed by metadata.",
        f"Run as {works.id} on Python {works.python}.",
        f"Its lock, with hashes, is {lock(works)}, sha256 {works.lock_sha256}.",
        constrained(release),
    ]
    pins = (f"{name}=={version}" for name, version in sorted(works.packages.items()))
    return "\n".join(map(printable, [*(f"# {line}" for line in about), *pins])) + "\n"


def _pinned(name: str, version: str) -> str:
    return f'"{_EXTRA[name]}=={version}"' if name in _EXTRA else f"{name}=={version}"
