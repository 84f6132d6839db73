"""How the tests start processes, and in what."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from suite.files import ROOT


def default_signals() -> None:
    """Let signals end the process about to be started: the `preexec_fn` of all that tests send signals to.

    A script's background jobs ignore SIGINT, and what `nohup` or `trap "" INT` starts passes that on.
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Fail a test that waits longer, in place of a run that never ends."""

    def over(*_: object) -> None:
        raise AssertionError(f"it waits for more than {seconds} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def program(path: Path, *lines: str) -> Path:
    """Put a shell script at `path` that can be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]), encoding="utf-8")
    path.chmod(0o755)
    return path


def clone(folder: Path, wanted: Callable[[str], object] = lambda name: True) -> Path:
    """Copy the tree as git would clone it to `folder`, or the files whose names are `wanted`."""
    listed = ("git", "ls-files", "--cached", "--others", "--exclude-standard")
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True, text=True).stdout.splitlines()
    for name in (name for name in names if wanted(name) and (ROOT / name).is_file()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def without_pages(name: str) -> bool:
    """Whether a file of the tree is no page, and nothing else that is published in a folder: those are hundreds."""
    return not name.startswith("reports/") or name.count("/") == 2
