"""One-line renderings of foreign text and of lists of names. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jax_stack_compat.judge.record import Part


def explain(part: Part) -> str:
    """Return the result of a part, in one line."""
    if part.outcome == "raised":
        # JAX's last line is about its own traceback; the first line says what happened.
        return f"{part.exception}: {part.detail.strip().splitlines()[0] if part.detail.strip() else ''}".rstrip(": ")
    if part.said is not None:
        # The signal is left out, since it can differ between runs.
        return f"{part.outcome} after its answer, {part.said.behaviour or part.said.outcome}: {part.said.detail}"
    return f"{part.outcome}: {part.detail}" if part.detail else part.outcome


# Only a tenth of fifty thousand texts are distinct.
@lru_cache(10_000)
def tidy(detail: str) -> str:
    """Return foreign text in one line, without addresses and paths that differ between runs."""
    line = " ".join(detail.split())
    line = "".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in line)
    line = re.sub(r"0x[0-9a-fA-F]{6,}", "0x…", line)
    line = re.sub(r"(?<![\w.])/(?:[\w.+-]+/)+", "…/", line)
    return line if len(line) <= 400 else line[:399] + "…"


def not_imported(part: Part) -> str | None:
    """Return the package that failed to import, if that ended the reproducer, or None."""
    named = re.match(r"import (\w+): ", part.detail) if part.outcome.startswith("import-") else None
    return named[1] if named else None


def named(names: Sequence[str], most: int = 3) -> str:
    """Return the first names, and the number of the others."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
