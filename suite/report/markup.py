"""Text in our files: foreign text made printable and escaped for Markdown; Markdown cut to a length."""

from __future__ import annotations

import re
from html import escape
from itertools import accumulate
from urllib.parse import quote

from markupsafe import Markup

from suite.printable import printable

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


def cell_text(text: str) -> Markup:
    """Return foreign text for a cell of a Markdown table: one short line, escaped."""
    return in_markdown(clipped(" ".join(text.split())))


def in_markdown(text: str) -> Markup:
    """Return foreign text for a line of Markdown, with everything escaped that Markdown or HTML would act on."""
    line = escape(printable(re.sub(r"\s", " ", text)), quote=False).replace("|", "&#124;").replace("`", "&#96;")
    return Markup(re.sub(r"[\\*_\[\]~]", r"\\\g<0>", line))


def address(url: str) -> Markup:
    """Return an address as the target of a link in Markdown; nothing in it can end the link."""
    return Markup(quote(printable(url), safe=":/?#@!$&'*+,;=%~"))


def fit(text: str, most: int = MAX_CHARS) -> str:
    """Return `text` in fewer than `most` characters, cutting the last sections first and saying how much is left out.

    The text before the first heading is cut last.
    """
    if len(text) < most:
        return text
    head, *sections = re.split(r"(?m)^(?=## )", text)
    for number in range(len(sections) - 1, -1, -1):
        over = len(head) + sum(map(len, sections)) - most + 1
        if over <= 0:
            break
        sections[number] = _less(sections[number], len(sections[number]) - over)
    left_out, note = 0, ""
    while sections and len(head) + sum(map(len, sections)) + len(note) >= most:
        sections.pop()
        left_out += 1
        note = f"\n{_note(left_out, 'section')}\n"
    whole = head + "".join(sections) + note
    return whole if len(whole) < most else _less(head, most - 1 - len(note)) + note


def _less(section: str, most: int) -> str:
    """Return the lines of a section that fit into `most` characters, with a sentence that counts the others.

    The heading always stays.
    """
    lines = section.rstrip("\n").split("\n")
    room = most - len(_lines(len(lines)))
    number = max(1, sum(size <= room for size in accumulate(len(line) + 1 for line in lines)))
    if number == len(lines):
        return section
    return "\n".join([clipped(lines[0], 1000), *lines[1:number]]) + _lines(sum(map(bool, lines[number:])))


def _lines(count: int) -> str:
    return f"\n\n{_note(count, 'line', ' of this section')}\n\n"


def _note(count: int, what: str, of: str = "") -> str:
    return f"*{count:,} more {what}{'s' * (count != 1)}{of} left out for room: compat.json has them.*"
