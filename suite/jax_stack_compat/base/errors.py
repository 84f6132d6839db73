"""Exit codes, faults, and the only place that turns faults into sentences.

This module imports the standard library alone, since a missing package is one of the faults.
"""

from __future__ import annotations

import difflib
import errno
import os
import signal
import sys
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from io import TextIOWrapper
from pathlib import Path

from jax_stack_compat.base.printable import inert, printable

_TREE = Path(__file__).resolve().parents[3]
# Errors for a path that cannot exist: the user named a wrong path.
_NO_PATH = (errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP)
_LONGEST_PATH = 200
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Exit(IntEnum):
    """The exit codes of every command.

    nox exits with 0 for AS_EXPECTED and for a session's `fine` code, and else with 1.
    """

    AS_EXPECTED = 0
    UNEXPECTED = 1
    MISUSED = 2
    INCOMPLETE = 3
    UNDECIDED = 4


@dataclass(frozen=True)
class Fault:
    """A fault in a file: the key, and a sentence."""

    path: Path
    key: str
    message: str

    def __str__(self) -> str:
        """Name the file, the key and the fault on one line."""
        shown = self.path.relative_to(_TREE) if self.path.is_relative_to(_TREE) else self.path
        return printable(f"{shown}: {self.key}: {self.message}")


class BadFile(Exception):
    """Unusable files, with every fault in them."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("\n".join(map(str, faults)))
        self.faults = faults


class Misused(Exception):
    """A wrong command; the message names a right one."""


class Failed(Exception):
    """A failure outside the suite, such as of the index or the resolver. The message names the failed part."""


@dataclass
class Guard:
    """The exit code of the command under `guarded`."""

    code: Exit = Exit.AS_EXPECTED


@contextmanager
def guarded() -> Iterator[Guard]:
    """Turn errors of the user or the machine into a sentence and an exit code; the suite's own keep their traceback.

    Letters that the locale lacks are replaced in the output.
    """
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    guard = Guard()
    try:
        try:
            yield guard
        finally:
            # Flush here: at the interpreter's exit it is too late to report a closed pipe or a full disk.
            if sys.stdout is not None:
                sys.stdout.flush()
    except BadFile as error:
        for fault in error.faults:
            say(str(fault))
        guard.code = Exit.MISUSED
    except Misused as error:
        say(str(error))
        guard.code = Exit.MISUSED
    except Failed as error:
        # An installer's reason has several lines.
        say(str(error), lines=True)
        guard.code = Exit.INCOMPLETE
    except ModuleNotFoundError as error:
        lacking = (error.name or "").partition(".")[0]
        if lacking in ("", "jax_stack_compat", "laboratory"):
            raise
        others = "; nox sessions install their own" * _in_tree()
        say(f"this Python has no {lacking}: `{installation(lacking)}` installs it{others}")
        guard.code = Exit.MISUSED
    except BrokenPipeError:
        # The reader has closed the pipe: end by SIGPIPE without a message, as any program does.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
    except OSError as error:
        if error.filename is None and _folder_is_gone():
            say("the current folder is gone: change into one that exists")
            guard.code = Exit.MISUSED
            return
        # An OSError without a file name is a fault of the suite, except ENOSPC on a stream.
        if error.filename is None and error.errno not in _NO_ROOM:
            raise
        if error.filename is None:
            say(f"cannot write: {error.strerror}; make room and rerun")
            guard.code = Exit.INCOMPLETE
            return
        # Of two file names, the second is the target.
        say(f"cannot use {shown(error.filename2 or error.filename)}: {error.strerror or error}")
        if error.errno in _NO_PATH:
            guard.code = Exit.MISUSED
            return
        mend = "make room" if error.errno in _NO_ROOM else "fix this"
        print(f"Finished work is kept: {mend} and rerun.", file=sys.stderr)
        guard.code = Exit.INCOMPLETE


def _folder_is_gone() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def installation(lacking: str) -> str:
    """Return the pip command for the driver's packages in pyproject.toml, or for the packages of the timings.

    Without a source tree, as in a wheel, the command installs `lacking` alone.
    """
    if not _in_tree():
        return f"python -m pip install {lacking}"
    project = tomllib.loads((_TREE / "pyproject.toml").read_text(encoding="utf-8"))
    timings = project["dependency-groups"]["bench"]
    driver = [*project["project"]["dependencies"], *project["project"]["optional-dependencies"]["laboratory"]]
    wanted = timings if lacking in timings else driver
    return f"python -m pip install --constraint constraints.txt {' '.join(wanted)}"


@contextmanager
def usable(path: Path, command: str = "") -> Iterator[None]:
    """Turn errors of reading a file of ours into a sentence on how to restore it. Raises BadFile."""
    try:
        yield
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        said = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        raise BadFile([Fault(path, "file", f"cannot be used ({said}): {restored(path, command)}")]) from error


def restored(path: Path, command: str = "") -> str:
    """Return how to get a file of ours back: in a clone from git or by a command, else by a new installation."""
    if _in_tree():
        shown = path.relative_to(_TREE) if path.is_relative_to(_TREE) else path
        return f"`git checkout -- {shown}` restores it{f', and `{command}` rewrites it' * bool(command)}"
    if not Path(__file__).exists():
        return "this package does not work from an archive: unpack it"
    return "install jax-stack-compat again"


def _in_tree() -> bool:
    return (_TREE / "pyproject.toml").exists()


def say(sentence: str, *, lines: bool = False) -> None:
    """Print one error, on one line unless `lines`. This works without any package; foreign text in it is inert."""
    print(f"error: {inert(sentence, lines=lines)}", file=sys.stderr)


def shown(path: object) -> str:
    """Return a path for a sentence, on one line and clipped at its end."""
    text = printable(os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else str(path))
    return text if len(text) <= _LONGEST_PATH else f"{text[:_LONGEST_PATH]}…"


def nearest(name: str, names: Iterable[str]) -> str:
    """Return a phrase with the names closest to a mistaken one."""
    known = list(names)
    longer = [each for each in known if name and each.startswith(name)]
    close = [*longer, *difflib.get_close_matches(name, known, n=3, cutoff=0.5)] or known
    close = list(dict.fromkeys(close))[:3]
    return f"the nearest are {', '.join(close)}" if close else "there are no others"
