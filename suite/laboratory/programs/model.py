"""The file benchmarks/programs/<target>.json: counts of the programs by release, or why a release has none.

Each program is a line in its release, so newly compiled programs change only their lines.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Literal

from pydantic import Field

from jax_stack_compat.base.files import ROOT, FileModel, dump_lines, read
from jax_stack_compat.cell.atomic import write
from laboratory.boundaries.neighbours import LineCell, in_order, neighbours
from laboratory.programs.targets import Target

FOLDER = ROOT / "benchmarks" / "programs"


class Workload(FileModel):
    """A workload: a sentence, and the packages besides jax that affect its program."""

    title: str
    needs: tuple[str, ...] = ()


class Program(FileModel):
    """One workload on one release: its counts, or the `reason` why it has none. `absent` explains missing ones.

    `source` is a hash of the compiled source. For a device case, `seen` is the behaviour, and `shown` the part of the
    program that shows it.
    """

    workload: str
    source: str = ""
    counts: dict[str, int] = Field(default_factory=dict)
    absent: dict[str, str] = Field(default_factory=dict)
    compile_seconds: float | None = None
    reason: str = ""
    seen: str = ""
    shown: str = ""


class ReleasePrograms(FileModel):
    """One release of jax; `key` is a hash of everything that its programs depend on, except their sources.

    The key includes `recipe`, a hash of how programs are compiled and counted. `reason` says why the release has no
    programs.
    """

    cell: str
    released_on: date
    packages: dict[str, str]
    wheels: dict[str, str]
    recipe: str
    key: str
    reason: str = ""
    programs: list[Program] = Field(default_factory=list)

    @property
    def jax(self) -> str:
        """The version of jax."""
        return self.packages["jax"]

    def program(self, workload: str) -> Program | None:
        """Return the program of a workload, if it was compiled or tried."""
        return next((each for each in self.programs if each.workload == workload), None)


class Diff(FileModel):
    """A unified diff of a workload's programs on two releases, as lines; `left_out` counts the lines cut off.

    The diff is empty if the programs differ only in names and numbers.
    """

    workload: str
    before: str
    after: str
    lines: list[str] = Field(default_factory=list)
    left_out: int = 0


class Programs(FileModel):
    """All compiled programs of one target; only the report's copy has `diffs`, since it lacks the programs."""

    schema_version: Literal[2] = 2
    target: str
    title: str
    workloads: dict[str, Workload] = Field(default_factory=dict)
    releases: list[ReleasePrograms] = Field(default_factory=list)
    diffs: list[Diff] = Field(default_factory=list)

    def release(self, cell: str) -> ReleasePrograms | None:
        """Return a release, if it was compiled."""
        return next((each for each in self.releases if each.cell == cell), None)

    def diff(self, workload: str, before: str, after: str) -> Diff | None:
        """Return the diff of two programs, if both were kept."""
        wanted = (workload, before, after)
        return next((each for each in self.diffs if (each.workload, each.before, each.after) == wanted), None)

    def pairs(self) -> list[tuple[ReleasePrograms, ReleasePrograms]]:
        """Return pairs of a release and its known predecessor on its branch."""
        known = {each.cell: each for each in self.releases}
        return [(known[before.id], known[after.id]) for before, after in neighbours(map(_line_cell, self.releases))]

    def plus(self, release: ReleasePrograms, workloads: dict[str, Workload]) -> Programs:
        """Return the target with this release added or replaced; its other programs with the same key stay."""
        former = self.release(release.cell)
        if former and former.key == release.key:
            of = {each.workload: each for each in (*former.programs, *release.programs)}
            order = [*(workloads or self.workloads), *of]
            every = sorted(of.values(), key=lambda program: order.index(program.workload))
            release = release.model_copy(update={"programs": every})
        known = {each.cell: each for each in (*self.releases, release)}
        ordered = [known[each.id] for each in in_order(map(_line_cell, known.values()))]
        return self.model_copy(update={"releases": ordered, "workloads": workloads or self.workloads})


def _line_cell(release: ReleasePrograms) -> LineCell:
    return LineCell(release.cell, "jax", release.packages, release.released_on)


def load(target: Target, folder: Path = FOLDER) -> Programs:
    """Return the kept programs of a target; empty without a file. Raises BadFile."""
    path = folder / f"{target.id}.json"
    return read(Programs, path) if path.exists() else Programs(target=target.id, title=target.title)


def load_all(targets: Iterable[Target], folder: Path = FOLDER) -> tuple[Programs, ...]:
    """Return the stored programs of these targets. Raises BadFile."""
    return tuple(found for target in targets if (found := load(target, folder)).releases)


def list_text(found: Iterable[Programs]) -> str:
    """Return the text of programs.json with all targets, from which the page is made."""
    return "[\n" + ",\n".join(text(each).strip() for each in found) + "\n]\n"


def save(found: Programs, folder: Path = FOLDER) -> None:
    """Write the file."""
    write(folder / f"{found.target}.json", text(found))


def text(found: Programs) -> str:
    """Return the file's text, with a line for each program and for each release's head."""
    data = {"schema_version": found.schema_version, **found.model_dump(mode="json", exclude_defaults=True)}
    return dump_lines(data, {"releases": "programs", "diffs": ""})
