"""Somebody else's text, and lists of names → a line of ours. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suite.judge.record import Part


def explain(part: Part) -> str:
    """What came of a part, in one line."""
    if part.outcome == "raised":
        # JAX's last line is boilerplate about its own traceback; the first says what happened.
        return f"{part.exception}: {part.detail.strip().splitlines()[0] if part.detail.strip() else ''}".rstrip(": ")
    if part.said is not None:
        # Which signal it is can differ from run to run.
        return f"{part.outcome} after its answer, {part.said.behaviour or part.said.outcome}: {part.said.detail}"
    return f"{part.outcome}: {part.detail}" if part.detail else part.outcome


# Of fifty thousand texts, a tenth differ.
@lru_cache(10_000)
def tidy(detail: str) -> str:
    """One line of somebody else's text, without what differs between two runs of the same thing: addresses, paths."""
    line = " ".join(detail.split())
    line = "".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in line)
    line = re.sub(r"0x[0-9a-fA-F]{6,}", "0x…", line)
    line = re.sub(r"(?<![\w.])/(?:[\w.+-]+/)+", "…/", line)
    return line if len(line) <= 400 else line[:399] + "…"


def not_imported(part: Part) -> str | None:
    """The package that did not import, where that is how a reproducer ended."""
    named = re.match(r"import (\w+): ", part.detail) if part.outcome.startswith("import-") else None
    return named[1] if named else None


def named(names: Sequence[str]) -> str:
    """A few of these names, and how many more there are."""
    rest = len(names) - 3
    return ", ".join(names[:3]) + (f" and {rest} more" if rest > 0 else "")
