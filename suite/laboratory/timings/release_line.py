"""Locks → release line: a git repository with one commit per release, which asv measures.

The line is built from the locks alone, with the same bytes everywhere. A commit has the lock of its cell as its only
file, the date of its release, and the cell's id as a tag. So one graph can show results from two machines, and `asv
run`, `asv continuous jax-0.9.2 jax-0.10.2`, `asv find` and `asv publish` work on releases.
"""

from __future__ import annotations

import hashlib
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path

from filelock import FileLock

from jax_stack_compat.base.files import STATE
from jax_stack_compat.packages import PACKAGES
from jax_stack_compat.stack import lock, plan
from jax_stack_compat.stack.plan import Cell
from laboratory.boundaries.neighbours import LineCell

PATH = STATE / "line"
# The only file of a commit, with the name that every installer knows.
LOCK_NAME = "requirements.txt"
_AUTHOR = "release line <release-line@localhost>"
_BRANCH = "refs/heads/main"


@dataclass(frozen=True)
class Commit:
    """The parts of a commit: a cell's id, the day of its release, and its lock."""

    id: str
    day: date
    lock: str


def cells() -> tuple[Cell, ...]:
    """Return the available cells of the line by release day, without cells of dependencies.

    asv files results by a commit's hash, and inserting a commit changes the hashes of all later commits.
    """
    return tuple(cell for cell in plan.tagged("line") if not cell.unavailable and PACKAGES[cell.moves].asked)


def line() -> list[LineCell]:
    """Return the available cells with their pins, for comparisons of neighbours. Raises BadFile."""
    return [LineCell(each.id, each.moves, lock.load(each).pins, each.released_on) for each in cells()]


def cell(identifier: str) -> Cell:
    """Return the cell of the line called `identifier`. Raises Misused with the nearest names."""
    return plan.among(cells(), identifier, "the release line has no")


def commits() -> tuple[Commit, ...]:
    """Return the commits of the line, from the plan and the locks. Raises BadFile."""
    return tuple(Commit(each.id, each.released_on, lock.load(each).text) for each in cells())


def hashes(made_of: Sequence[Commit]) -> dict[str, str]:
    """Return the hash of each cell's commit, in the order of the line. asv files results by these hashes."""
    return _history(made_of)[0]


def build(made_of: Sequence[Commit], folder: Path) -> bool:
    """Make the repository at `folder` unless it is up to date; return True if it was made.

    Git objects are written directly, so that no user's configuration, templates or hooks change them.
    """
    commits, objects = _history(made_of)
    head = list(commits.values())[-1]
    files = {
        "HEAD": f"ref: {_BRANCH}\n".encode(),
        "config": b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
        _BRANCH: f"{head}\n".encode(),
        **{f"refs/tags/{name}": f"{commit}\n".encode() for name, commit in commits.items()},
        **{f"objects/{name[:2]}/{name[2:]}": zlib.compress(content) for name, content in objects.items()},
    }
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.parent / f"{folder.name}.reserved"):
        # The last commit's hash depends on all commits before it.
        if (folder / _BRANCH).exists() and (folder / _BRANCH).read_bytes() == files[_BRANCH]:
            return False
        # Replace the repository at once, since asv may be reading the old one.
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as scratch:
            made = Path(scratch, "new")
            for name, content in files.items():
                (made / name).parent.mkdir(parents=True, exist_ok=True)
                (made / name).write_bytes(content)
            if folder.exists():
                folder.replace(Path(scratch, "old"))
            made.replace(folder)
    return True


def _history(made_of: Sequence[Commit]) -> tuple[dict[str, str], dict[str, bytes]]:
    """Return the commits' hashes by cell id, and git's objects by hash."""
    commits: dict[str, str] = {}
    objects: dict[str, bytes] = {}

    def add(kind: str, content: bytes) -> str:
        whole = f"{kind} {len(content)}\0".encode() + content
        name = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
        objects[name] = whole
        return name

    parents: list[str] = []
    for commit in made_of:
        blob = add("blob", commit.lock.encode())
        tree = add("tree", f"100644 {LOCK_NAME}\0".encode() + bytes.fromhex(blob))
        moment = int(datetime.combine(commit.day, time(), UTC).timestamp())
        signed = [f"{role} {_AUTHOR} {moment} +0000" for role in ("author", "committer")]
        text = "\n".join([f"tree {tree}", *parents, *signed, "", commit.id, ""])
        commits[commit.id] = add("commit", text.encode())
        parents = [f"parent {commits[commit.id]}"]
    return commits, objects
