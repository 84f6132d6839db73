"""Changes what is installed, and leaves files where every process can see them."""

from __future__ import annotations

import sysconfig
from pathlib import Path

from suite.cell.issue import Seen
from tests.cell.corpus import case, issue, right


def adds_a_file() -> Seen:
    """Does what a case writes beside the packages stay there?"""
    Path(sysconfig.get_paths()["purelib"], "left_behind.py").write_text("", encoding="utf-8")
    return right()


def shares_memory() -> Seen:
    """Is there anything that a case before this one has left in shared memory?"""
    left = Path("/dev/shm/left-behind-by-a-case")
    seen = left.exists()
    left.write_bytes(b"x")
    return ("wrong" if seen else "right"), str(left)


ISSUE = issue(case(adds_a_file), case(shares_memory), case(shares_memory, "shares-again"))
