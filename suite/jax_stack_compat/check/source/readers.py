"""Readers: processes that read the files of a source tree side by side, and import nothing from it.

A reader starts isolated (`python -I`): neither the current folder, which is often the tree, nor PYTHONPATH comes before
the standard library. What the readers get and return is pickled, and passes through pipes.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from typing import TypeVar

from jax_stack_compat.base.errors import Failed
from jax_stack_compat.base.files import PACKAGES

T = TypeVar("T")
R = TypeVar("R")
# More readers wait for the disk.
_MOST = 8
# The standard library and the interpreter's own packages come first; then what else this process imports from.
# A reader ends when its pipe does, so with this process.
_READ = """
import os, pickle, sys, threading
sys.path += [path for path in sys.argv[1:] if path not in sys.path]
of, share = pickle.load(sys.stdin.buffer)
threading.Thread(target=lambda: (os.read(0, 1), os._exit(1)), daemon=True).start()
pickle.dump([of(each) for each in share], sys.stdout.buffer)
"""


def apart(of: Callable[[T], R], each: Sequence[T]) -> list[R]:
    """Return `of` of each item, in order, computed by readers. `of` is a module's function, or a partial of one.

    Raises Failed if a reader ends without an answer.
    """
    count = min(os.cpu_count() or 1, _MOST)
    shares = [each[start::count] for start in range(count)]
    with ThreadPoolExecutor(count) as pool, ExitStack() as ending:
        started = [ending.enter_context(_start()) for _ in shares]
        for reader in started:
            # Without this, Ctrl-C would wait for all files.
            ending.callback(reader.kill)
        answers: list[list[R]] = list(pool.map(_ask, started, [(of, share) for share in shares]))
    found: dict[int, R] = {}
    for start, answer in enumerate(answers):
        found.update(zip(range(start, len(each), count), answer, strict=True))
    return [found[place] for place in range(len(each))]


def _start() -> subprocess.Popen[bytes]:
    # The current folder may be the tree.
    here = os.path.realpath(os.curdir)
    ours = str(PACKAGES)
    paths = [path for path in sys.path if path and os.path.realpath(path) != here]
    command = [sys.executable, "-I", "-c", _READ, *paths, ours]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)


def _ask(reader: subprocess.Popen[bytes], work: object) -> list[R]:
    assert reader.stdin is not None
    assert reader.stdout is not None
    with suppress(EOFError, pickle.UnpicklingError, BrokenPipeError):
        pickle.dump(work, reader.stdin)
        reader.stdin.flush()
        found: list[R] = pickle.load(reader.stdout)
        return found
    raise Failed("a process that was reading the source was killed: give --source fewer files at a time")
