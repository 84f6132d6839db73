"""Leaves a module in the folder that it works in."""

from __future__ import annotations

from pathlib import Path

from suite.cell.issue import Seen
from tests.cell.corpus import case, issue, right


def leaves_a_module() -> Seen:
    """Does a module that a case has left stand in for the real one?"""
    Path("sitecustomize.py").write_text("raise SystemExit('not the real one')\n", encoding="utf-8")
    Path("json.py").write_text("raise SystemExit('not the real one')\n", encoding="utf-8")
    return right()


def looks_around() -> Seen:
    """Is the folder that a part works in empty, and nowhere on the path?"""
    import sys

    left, path = list(Path.cwd().iterdir()), [each for each in sys.path if not each or Path(each) == Path.cwd()]
    return ("right" if not left and not path else "wrong"), f"{left} {path}"


ISSUE = issue(case(leaves_a_module), case(looks_around), case(looks_around, "looks-afresh", isolation="interpreter"))
