"""Locks → release line: a git repository with one commit per release, for asv to measure along.

It is built from the locks alone, the same bytes everywhere: a commit holds one file, the lock of its cell, is dated on
the day of its release, and is tagged with the cell's id. So results that two machines have measured meet in one graph,
and `asv run`, `asv continuous jax-0.9.2 jax-0.10.2`, `asv find` and `asv publish` speak of releases.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path

from filelock import FileLock

from suite.errors import Failed, Misused, nearest
from suite.files import STATE
from suite.stack import lock, plan
from suite.stack.plan import Cell
from suite.stack.releases import PACKAGES

PATH = STATE / "line"
BRANCH = "main"
# The only file of a commit, under the name that every installer knows.
LOCK_NAME = "requirements.txt"
_AUTHOR = "release line <release-line@localhost>"
# Says what the repository was built from: a file that git does not know, in the repository's own folder.
_SOURCE = "suite-source.sha256"


@dataclass(frozen=True)
class Commit:
    """What a commit is made of: the id of a cell, the day of its release, and its lock."""

    id: str
    day: date
    lock: str


def cells() -> tuple[Cell, ...]:
    """The cells of the line that can be had, in the order of their releases' days, less those of what is pulled in.

    Results are filed by a commit's hash, and one more commit between two changes the hashes of all that follow.
    """
    return tuple(cell for cell in plan.tagged("line") if not cell.unavailable and PACKAGES[cell.moves].asked)


def cell(identifier: str) -> Cell:
    """The cell of the line called `identifier`. Raises Misused with the nearest names."""
    found = {each.id: each for each in cells()}
    if identifier not in found:
        raise Misused(f"the release line has no {identifier!r}; {nearest(identifier, found)}")
    return found[identifier]


def commits() -> tuple[Commit, ...]:
    """The commits of the line that the plan and the locks make. Raises BadFile."""
    return tuple(Commit(each.id, each.released_on, lock.load(each).text) for each in cells())


def build(made_of: Sequence[Commit], folder: Path) -> bool:
    """Make the repository at `folder`, unless it is there already; whether it had to. Raises Failed."""
    stream = _stream(made_of)
    source = hashlib.sha256(stream).hexdigest()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.parent / f"{folder.name}.reserved"):
        try:
            if (folder / _SOURCE).read_text(encoding="utf-8") == source:
                return False
        except FileNotFoundError:
            pass
        # Whole or not at all: asv may be reading what is there.
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as scratch:
            made = Path(scratch, "new")
            # No template: a user's own hooks would run in asv's checkouts.
            _git(scratch, "init", "--quiet", "--bare", "--template=", "new")
            _git(made, "fast-import", "--quiet", input=stream)
            _git(made, "symbolic-ref", "HEAD", f"refs/heads/{BRANCH}")
            (made / _SOURCE).write_text(source, encoding="utf-8")
            if folder.exists():
                folder.replace(Path(scratch, "old"))
            made.replace(folder)
    return True


def hashes(made_of: Sequence[Commit]) -> dict[str, str]:
    """Cell id → what git calls its commit, in the order of the line. Results are filed by it: git need not be asked."""
    found: dict[str, str] = {}
    for commit in made_of:
        blob = _object("blob", commit.lock.encode())
        tree = _object("tree", f"100644 {LOCK_NAME}\0".encode() + bytes.fromhex(blob))
        parents = [f"parent {[*found.values()][-1]}"] if found else []
        signed = [f"{role} {_AUTHOR} {_moment(commit)} +0000" for role in ("author", "committer")]
        text = "\n".join([f"tree {tree}", *parents, *signed, "", commit.id, ""])
        found[commit.id] = _object("commit", text.encode())
    return found


def _object(kind: str, content: bytes) -> str:
    return hashlib.sha1(f"{kind} {len(content)}\0".encode() + content, usedforsecurity=False).hexdigest()


def _moment(commit: Commit) -> int:
    return int(datetime.combine(commit.day, time(), UTC).timestamp())


def _stream(made_of: Sequence[Commit]) -> bytes:
    """The whole history, as `git fast-import` reads it: unlike `git commit`, it asks no configuration."""
    parts: list[bytes] = []
    for number, commit in enumerate(made_of, 1):
        moment, text = _moment(commit), commit.lock.encode()
        parts += [
            f"commit refs/heads/{BRANCH}\nmark :{number}\n".encode(),
            f"author {_AUTHOR} {moment} +0000\ncommitter {_AUTHOR} {moment} +0000\n".encode(),
            f"data {len(commit.id) + 1}\n{commit.id}\n".encode(),
            f"M 100644 inline {LOCK_NAME}\ndata {len(text)}\n".encode(),
            text + b"\n",
            f"reset refs/tags/{commit.id}\nfrom :{number}\n\n".encode(),
        ]
    return b"".join([*parts, b"done\n"])


def _git(folder: Path | str, *words: str, input: bytes = b"") -> bytes:
    program = shutil.which("git")
    if program is None:
        raise Failed("git is not on PATH: the release line is a git repository")
    # Neither a hook's GIT_DIR nor anybody's configuration has a say in it.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    nowhere = dict.fromkeys(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"), os.devnull)
    run = subprocess.run(
        [program, *words],
        cwd=folder,
        input=input,
        capture_output=True,
        env={**kept, **nowhere, "GIT_CONFIG_NOSYSTEM": "1", "GIT_DEFAULT_HASH": "sha1"},
        check=False,
    )
    if run.returncode:
        raise Failed(f"git {words[0]}: {run.stderr.decode(errors='replace').strip()}")
    return run.stdout
