"""Tiny issues, one module for each way in which a case can end; no package of the stack is needed.

They are run through the real probe, so these modules are cell side: the standard library and `suite.cell`, nothing
else. A case that leaves something behind notes its process id in the folder that `CORPUS_FOLDER` names.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from suite.cell.issue import Case, Expectation, Isolation, Issue, JudgedAs, Seen

_BEHAVIOURS: Mapping[str, JudgedAs] = {
    "right": "clear",
    "wrong": "affected",
    "refused": "guarded",
    "missing": "absent",
}


def issue(module: str, title: str, *cases: Case) -> Issue:
    """An issue that nobody has, named after its module."""
    return Issue(
        id=module.rpartition(".")[2].replace("_", "-"),
        title=title,
        kind="crash",
        story="A fixture.",
        upstream=(),
        workaround="None.",
        cases=cases,
    )


def case(
    id: str,
    reproducer: Callable[[], Seen],
    *,
    expected: str = "right",
    documented: Mapping[str, JudgedAs] | None = None,
    control: Callable[[], None] | None = None,
    workaround: Callable[[], None] | None = None,
    needs: tuple[str, ...] = (),
    isolation: Isolation = "fork",
    seconds: float = 30.0,
    memory_mib: int = 1024,
) -> Case:
    """A case that needs no package; `documented` are behaviours beside right, wrong, refused and missing."""
    return Case(
        id=id,
        question=(reproducer.__doc__ or "").strip(),
        reproducer=reproducer,
        control=control or well,
        behaviours={**_BEHAVIOURS, **(documented or {})},
        expectations=(Expectation(expected, (), "a fixture"),) if expected else (),
        workaround=workaround,
        needs=needs,
        isolation=isolation,
        seconds=seconds,
        memory_mib=memory_mib,
    )


def right() -> Seen:
    """It does what it should."""
    return Seen("right", "2 + 2 is 4")


def well() -> None:
    """Nothing is wrong."""


def fails() -> None:
    """Does not help."""
    raise AssertionError("2 + 2 is not 5")


def folder() -> Path:
    """Where a case leaves what it wants to be found."""
    return Path(os.environ["CORPUS_FOLDER"])


def note(pid: int) -> None:
    """Leave a process id to be found."""
    with (folder() / "pids").open("a") as stream:
        stream.write(f"{pid}\n")


def tally(part: str) -> None:
    """Leave to be found that a part has been run, and in which process."""
    with (folder() / "tally").open("a") as stream:
        stream.write(f"{part} {os.getpid()}\n")


def leave(work: Callable[[], None]) -> None:
    """Have a process of its own do `work`, and note it; there is nobody who waits for it."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    note(pid)


def sleep_long() -> None:
    """Outlast any test, but not by much where it is left behind."""
    time.sleep(60)


def sleep_stubbornly() -> None:
    """The same in a session of its own, deaf to what asks it to end."""
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sleep_long()


def report_pipe() -> int:
    """The pipe on which a case's child reports: the newest of those that are not its output."""
    outputs = {Path(f"/proc/self/fd/{number}").readlink() for number in (1, 2)}
    handles = [path for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    return max(
        int(path.name)
        for path in handles
        if (target := path.readlink()) not in outputs and str(target).startswith("pipe:")
    )
