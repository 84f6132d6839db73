"""Leaves processes that go on writing into its folder, and ends the process that runs it."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

from suite.cell.issue import Seen
from tests.cell.corpus import case, issue, leave, right


def writes_on() -> Seen:
    """Is a folder cleared that somebody goes on writing into?"""

    def write() -> None:
        os.setsid()
        for number in range(1_000_000):
            with contextlib.suppress(OSError):
                Path(f"file-{number}").write_bytes(b"x" * 4096)

    leave(write)
    with contextlib.suppress(OSError):
        os.kill(os.getppid(), signal.SIGKILL)
    return right()


ISSUE = issue(case(writes_on), case(right, "sorted-after"))
