"""Readers: processes that read the files of a source tree side by side, and import nothing from it.

A reader starts isolated (`python -I`): neither the current folder, which is often the tree, nor PYTHONPATH comes before
the standard library. What the readers get and return is pickled, and passes through pipes.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from jax_stack_compat.base.errors import Failed
from jax_stack_compat.base.files import PACKAGES

T = TypeVar("T")
R = TypeVar("R")
# More readers wait for the disk.
_MOST = 8
# Files that a reader gets at a time.
_PIECE = 200
# The standard library and the interpreter's own packages come first; then what else this process imports from.
# A reader ends when its pipe does, and soon after this process: a file may take long. Syntax has no cycles to collect.
_READ = """
import gc, os, pickle, sys, threading, time
sys.path += [path for path in sys.argv[2:] if path not in sys.path]
def watch(parent):
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
threading.Thread(target=watch, args=[int(sys.argv[1])], daemon=True).start()
gc.disable()
of = pickle.load(sys.stdin.buffer)
while piece := pickle.load(sys.stdin.buffer):
    pickle.dump(list(map(of, piece)), sys.stdout.buffer)
    sys.stdout.flush()
"""


def apart(of: Callable[[T], R], each: Sequence[T]) -> list[R]:
    """Return `of` of each item, in order, computed by readers. `of` is a module's function, or a partial of one.

    On a terminal, the progress is shown. Raises Failed if a reader ends without an answer.
    """
    count = min(os.cpu_count() or 1, _MOST)
    pieces = deque(range(0, len(each), _PIECE))
    found: dict[int, list[R]] = {}
    with ThreadPoolExecutor(count) as pool, ExitStack() as ending:
        bar = ending.enter_context(_progress())
        task = bar.add_task("reading", total=len(each))
        empty = ending.enter_context(TemporaryDirectory())

        def ask(reader: subprocess.Popen[bytes]) -> None:
            _tell(reader, of)
            while True:
                try:
                    start = pieces.popleft()
                except IndexError:
                    return
                piece = each[start : start + _PIECE]
                _tell(reader, piece)
                found[start] = _answer(reader)
                bar.advance(task, len(piece))

        started = [ending.enter_context(_start(empty)) for _ in range(count)]
        for reader in started:
            # Without this, Ctrl-C would wait for all files.
            ending.callback(reader.kill)
        list(pool.map(ask, started))
    return [answer for start in sorted(found) for answer in found[start]]


def _progress() -> Progress:
    console = Console(stderr=True)
    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=20), MofNCompleteColumn()
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def _start(empty: str) -> subprocess.Popen[bytes]:
    # The current folder may be the tree.
    here = os.path.realpath(os.curdir)
    ours = str(PACKAGES)
    paths = [os.path.abspath(path) for path in sys.path if path and os.path.realpath(path) != here]  # noqa: PTH100
    command = [sys.executable, "-I", "-c", _READ, str(os.getpid()), *paths, ours]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=empty, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)


def _tell(reader: subprocess.Popen[bytes], work: object) -> None:
    assert reader.stdin is not None
    # If the reader is gone, there is no answer.
    with suppress(BrokenPipeError):
        pickle.dump(work, reader.stdin)
        reader.stdin.flush()


def _answer(reader: subprocess.Popen[bytes]) -> Any:
    assert reader.stdout is not None
    with suppress(EOFError, pickle.UnpicklingError):
        return pickle.load(reader.stdout)
    raise Failed("a process that was reading the source was killed: give --source fewer files at a time")
