"""The optimised HLO of programs, and diffs between two releases.

The state folder has all programs that were compiled here. In the tree, `<target>.hlo.tar.xz` has both sides of each
change and each first program, so that a clone can show the diffs. The archive also has all programs of device cases, so
that a changed judgement can be applied to them.
"""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from functools import cache
from itertools import accumulate, islice
from pathlib import Path

from jax_stack_compat.base.errors import Misused
from jax_stack_compat.cell.atomic import write
from laboratory.programs import compiling, model
from laboratory.programs.cases import BY_PROGRAM, seen
from laboratory.programs.changes import ProgramTurn, turns
from laboratory.programs.model import Diff, Program, Programs, ReleasePrograms
from laboratory.programs.targets import TARGETS, Target

# The most characters of a diff on a page.
_MOST = 12_000
# The numbers of instructions with one name. Most numbers change even if nothing else does.
_NUMBERS = re.compile(r"(?<=%)([A-Za-z][A-Za-z_-]*?)(?:[._]?\d[\d.]*|[._]clone|[._](?=[\d.]))*(?![\w.-])")


def diff(target: Target, before: str, after: str, workload: str) -> Iterator[str]:
    """Return the lines of a unified diff without the instructions' numbers. Raises Misused for a missing program."""
    old, new = (_text(target, cell, workload) for cell in (before, after))
    yield from (f"{sign} {cell} {workload} ({target.title})" for sign, cell in (("---", before), ("+++", after)))
    yield from _differ(_numberless(old), _numberless(new))


def with_diffs(found: Programs, folder: Path = model.FOLDER) -> Programs:
    """Return the programs with the diffs of all changes whose two sides are in the tree."""
    kept = packed(TARGETS[found.target], folder)
    # Most programs are the new side of one change and the old side of another.
    lines = cache(lambda name: _numberless(kept[name].decode()))
    diffs = []
    for turn in turns(found):
        names = [f"{turn.workload}/{each.cell}.txt" for each in (turn.before, turn.after)]
        if all(map(kept.get, names)):
            diffs.append(_clipped(turn, list(_differ(*map(lines, names)))))
    return found.model_copy(update={"diffs": diffs})


def _numberless(text: str) -> list[str]:
    """Return the lines of a program without the instructions' numbers."""
    return _NUMBERS.sub(r"\1", text).splitlines()


def _differ(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    """Return the lines of a unified diff without its head."""
    return islice(unified_diff(before, after, lineterm=""), 2, None)


def _clipped(turn: ProgramTurn, lines: list[str]) -> Diff:
    """Return a diff, cut to the length for a page."""
    before, after = turn.before.cell, turn.after.cell
    shown = sum(end <= _MOST for end in accumulate(len(line) + 1 for line in lines))
    return Diff(workload=turn.workload, before=before, after=after, lines=lines[:shown], left_out=len(lines) - shown)


def pack(target: Target, found: Programs, folder: Path = model.FOLDER) -> None:
    """Store the programs that a clone needs to show the changes: the same bytes for the same programs."""
    kept = packed(target, folder)
    turned = {(turn.workload, each.cell) for turn in turns(found) for each in (turn.before, turn.after)}
    followers = {after.cell for _, after in found.pairs()}
    names = sorted(
        f"{program.workload}/{release.cell}.txt"
        for release in found.releases
        for program in release.programs
        if program.workload in BY_PROGRAM or (program.workload, release.cell) in turned or release.cell not in followers
    )
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:xz") as archive:
        for name in names:
            workload, _, file = name.partition("/")
            path = _path(target, file.removesuffix(".txt"), workload)
            if text := path.read_bytes() if path.exists() else kept.get(name):
                entry = tarfile.TarInfo(name)
                entry.size = len(text)
                archive.addfile(entry, io.BytesIO(text))
    write(_archive(target, folder), out.getvalue())


def judged(found: Programs, folder: Path = model.FOLDER) -> Programs:
    """Return the programs with the behaviour of each device case, judged by its text in the tree."""
    kept = packed(TARGETS[found.target], folder)

    def again(release: ReleasePrograms, program: Program) -> Program:
        text = kept.get(f"{program.workload}/{release.cell}.txt", b"").decode()
        if program.workload not in BY_PROGRAM or not (text or program.reason):
            return program
        behaviour, shown = seen(program.workload, text, program.counts, program.reason)
        return program.model_copy(update={"seen": behaviour, "shown": shown})

    releases = [
        release.model_copy(update={"programs": [again(release, each) for each in release.programs]})
        for release in found.releases
    ]
    return found.model_copy(update={"releases": releases})


def compiled(target: Target, cell: str, workload: str) -> str:
    """Return the program that was compiled here, or ""."""
    path = _path(target, cell, workload)
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _text(target: Target, cell: str, workload: str) -> str:
    if here := compiled(target, cell, workload):
        return here
    if text := packed(target, model.FOLDER).get(f"{workload}/{cell}.txt"):
        return text.decode()
    raise Misused(
        f"no program of {workload} on {cell} for {target.device} is kept here: `nox -s device-programs -- {cell} "
        f"--target {target.id} --fresh` compiles it"
    )


def packed(target: Target, folder: Path = model.FOLDER) -> Mapping[str, bytes]:
    """Return the texts of the programs in the tree, by name."""
    if not (path := _archive(target, folder)).exists():
        return {}
    with tarfile.open(path) as archive:
        found = {entry.name: archive.extractfile(entry) for entry in archive if entry.isfile()}
        return {name: stream.read() for name, stream in found.items() if stream is not None}


def _archive(target: Target, folder: Path) -> Path:
    return folder / f"{target.id}.hlo.tar.xz"


def _path(target: Target, cell: str, workload: str) -> Path:
    return compiling.TEXTS / f"{cell}+{target.id}" / f"{workload}.hlo.txt"
