"""Tiny issues, one module for each way in which a case can end; no package of the stack is needed.

The real probe runs them, so these modules import only the standard library and the cell side. A case that leaves
something behind notes its process id in the folder that `CORPUS_FOLDER` names.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any, cast

from jax_stack_compat.cell import Case, Issue, Rule, Workaround
from jax_stack_compat.cell.issue import Meaning
from jax_stack_compat.cell.issue import Seen as Seen

_BEHAVIOURS: dict[str, Meaning] = {"right": "clear", "wrong": "affected", "refused": "guarded", "missing": "absent"}


def issue(*cases: Case) -> Issue:
    """Return an invented issue, in the module of its first reproducer."""
    return Issue(kind="crash", upstream=(), cases=cases)


def case(
    reproducer: Callable[[], Seen],
    name: str = "",
    *,
    expected: str = "right",
    control: Callable[[], None] | None = None,
    workaround: Callable[[], None] | Workaround | None = None,
    **asked: Any,
) -> Case:
    """Return a case that needs no package; `name` distinguishes several cases of one reproducer.

    If `crashed` or `hung` is expected, it is the documented symptom.
    """
    behaviours: dict[str, Meaning] = {expected: "affected"} if expected in ("crashed", "hung") else {}
    return Case(
        named(reproducer, name) if name else reproducer,
        control or well,
        {**_BEHAVIOURS, **behaviours},
        (Rule(expected, "", "a fixture"),) if expected else (),
        Workaround("Do something else.", workaround) if callable(workaround) else workaround,
        **{"needs": (), "seconds": 30.0, "memory_mib": 1024, **asked},
    )


def named(reproducer: Callable[[], Seen], name: str) -> Callable[[], Seen]:
    """Return the function under another name, since a case has the name of its reproducer."""
    function = cast(FunctionType, reproducer)
    copy = FunctionType(function.__code__, function.__globals__, name, closure=function.__closure__)
    copy.__doc__ = function.__doc__
    return copy


def right() -> Seen:
    """Does it do what it should?"""
    return "right", "2 + 2 is 4"


def wrong() -> Seen:
    """Does it do what it should not?"""
    return "wrong", "2 + 2 is 5"


def well() -> None:
    """Nothing is wrong."""


def fails() -> None:
    """Does not help."""
    raise AssertionError("2 + 2 is not 5")


def folder() -> Path:
    """Return the folder in which cases leave files for the tests."""
    return Path(os.environ["CORPUS_FOLDER"])


def note(word: object, file: str = "pids") -> None:
    """Note the id of a process for the test."""
    with (folder() / file).open("a") as stream:
        stream.write(f"{word}\n")


def leave(work: Callable[[], None]) -> None:
    """Run `work` in a separate process and note its id; nothing waits for it."""
    if pid := os.fork():
        note(pid)
        return
    try:
        work()
    finally:
        os._exit(0)


def sleep_long() -> None:
    """Sleep longer than any test, but not much longer, in case this process is left behind."""
    time.sleep(60)


def sleep_stubbornly() -> None:
    """Sleep likewise, in a new session, ignoring requests to end."""
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sleep_long()


def report_pipe() -> int:
    """Return the pipe on which a case's child reports: its newest pipe, apart from its output."""
    open_ = {int(path.name): str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()}
    outputs = {open_[1], open_[2]}
    return max(number for number, target in open_.items() if target.startswith("pipe:") and target not in outputs)
