"""Printable foreign text: invisible characters are spelled out, and so are commands of a workflow.

This module imports the standard library alone, since errors need it.
"""

from __future__ import annotations

import re

# GitHub's runner ignores blanks before `::error::`, and takes the older `##[error]` anywhere in a line, as other
# services take `##vso[task]`.
_COMMAND = re.compile(r"^( *):(?=:)", re.MULTILINE)
_MARK = re.compile(r"##(\w*)\[")


def printable(text: str, *, lines: bool = False) -> str:
    """Spell out control characters, bidirectional marks and lone surrogates; without `lines`, line ends too.

    XML 1.0 forbids most of these characters, terminals interpret some, and readers see none.
    """
    if lines:
        return "\n".join(map(printable, text.split("\n")))
    return text if text.isprintable() else "".join(each if each.isprintable() else _spelled(ord(each)) for each in text)


def inert(text: str, *, lines: bool = False) -> str:
    """Return printable text for a terminal or a log, in which no workflow finds a command."""
    return without_marks(_COMMAND.sub(r"\1\\u003a", printable(text, lines=lines)))


def without_marks(text: str) -> str:
    """Spell out the bracket of each `##[`, as JSON does, too."""
    return _MARK.sub(r"##\1\\u005b", text)


def encodable(text: str) -> str:
    """Spell out lone surrogates, which a file's name has in place of bytes that are not UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _spelled(number: int) -> str:
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
