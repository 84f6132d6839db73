"""Text in our files: foreign text made printable and escaped for Markdown; Markdown cut to a length."""

from __future__ import annotations

from itertools import accumulate
from urllib.parse import quote

from markupsafe import Markup

from jax_stack_compat.base import markdown
from jax_stack_compat.base.printable import printable

_TABLE_CHARS = 500
# Longer messages are cut on pages; the data has them whole.
MAX_MESSAGE_CHARS = 2000
# GitHub's limit for the text of an issue or a pull request, in characters.
MAX_CHARS = 65_536


def clipped(text: str, longest: int = _TABLE_CHARS) -> str:
    """Return `text`, cut to at most `longest` characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def one_line(text: str) -> str:
    """Return `text` as one printable line."""
    return printable(" ".join(text.split()))


def said(text: str) -> str:
    """Return `text` printable and cut to MAX_MESSAGE_CHARS characters; line ends stay."""
    shown = printable(text[:MAX_MESSAGE_CHARS], lines=True)
    return shown if len(text) <= MAX_MESSAGE_CHARS else f"{shown}… ({len(text):,} characters in the data)"


def cell_text(text: str, *, in_thread: bool = False) -> Markup:
    """Return foreign text for a cell of a Markdown table: one short line, escaped."""
    return in_markdown(clipped(" ".join(text.split())), in_thread=in_thread)


def in_markdown(text: str, *, in_thread: bool = False) -> Markup:
    """Return foreign text for a line of Markdown. In a file of the repository, references do no harm."""
    return Markup(markdown.in_markdown(text, in_thread=in_thread))


def address(url: str) -> Markup:
    """Return an address as the target of a link in Markdown; nothing in it can end the link."""
    return Markup(quote(printable(url), safe=":/?#@!$&'*+,;=%~"))


def fit(text: str, most: int = MAX_CHARS) -> str:
    """Return `text` in fewer than `most` characters: its first lines, with a sentence that counts the others."""
    if len(text) < most:
        return text
    lines = text.rstrip("\n").split("\n")
    room = most - len(_left_out(len(lines)))
    kept = sum(size <= room for size in accumulate(len(line) + 1 for line in lines))
    return "\n".join(lines[:kept]) + _left_out(len(lines) - kept)


def _left_out(lines: int) -> str:
    return f"\n\n*{lines:,} more lines left out for room: compat.json has them.*\n"
