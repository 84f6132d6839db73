"""Printable foreign text, in which invisible characters are spelled out.

This module imports the standard library alone, since errors need it.
"""

from __future__ import annotations


def printable(text: str, *, lines: bool = False) -> str:
    """Spell out control characters, bidirectional marks and lone surrogates; without `lines`, line ends too.

    XML 1.0 forbids most of these characters, terminals interpret some, and readers see none.
    """
    if lines:
        return "\n".join(map(printable, text.split("\n")))
    return text if text.isprintable() else "".join(each if each.isprintable() else _spelled(ord(each)) for each in text)


def _spelled(number: int) -> str:
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
