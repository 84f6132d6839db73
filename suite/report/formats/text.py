"""Somebody else's text, made fit to be shown."""

from __future__ import annotations

# More of one message than this is no reading matter; compat.json has it whole.
LONGEST = 2000


def said(text: str) -> str:
    """Somebody else's text as it can be shown: what is not printable is spelled out, and nobody reads a megabyte."""
    shown = "".join(each if each.isprintable() or each == "\n" else f"\\u{ord(each):04x}" for each in text[:LONGEST])
    return shown if len(text) <= LONGEST else f"{shown}… ({len(text):,} characters in compat.json)"
