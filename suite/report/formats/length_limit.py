"""Markdown that goes into what takes it: a step summary, an issue, a pull request. Pure."""

from __future__ import annotations

import re

# What GitHub takes of an issue's or a pull request's text.
MOST = 65_536


def fit(text: str, most: int = MOST) -> str:
    """`text` in fewer than `most` characters: its last sections give way first, and say how much they leave out.

    What stands before the first heading goes last.
    """
    if len(text) < most:
        return text
    head, *sections = re.split(r"(?m)^(?=## )", text)
    for number in range(len(sections) - 1, -1, -1):
        over = len(head) + sum(map(len, sections)) - most + 1
        if over <= 0:
            break
        sections[number] = _less(sections[number], len(sections[number]) - over)
    left_out = 0
    while sections and len(head) + sum(map(len, sections)) + len(_sections(left_out)) >= most:
        sections.pop()
        left_out += 1
    whole = head + "".join(sections) + (_sections(left_out) if left_out else "")
    return whole if len(whole) < most else _less(head, most - 1 - len(_sections(left_out))) + _sections(left_out)


def _less(section: str, most: int) -> str:
    """As many of a section's lines as go into `most` characters with the sentence that counts the others.

    Its heading stays, whatever `most` is.
    """
    lines = section.rstrip("\n").split("\n")
    kept = len(lines[0]) + 1
    number = 1
    while number < len(lines) and kept + len(lines[number]) + 1 + len(_lines(len(lines) - number)) <= most:
        kept += len(lines[number]) + 1
        number += 1
    if number == len(lines):
        return section
    first = lines[0] if len(lines[0]) < 1000 else lines[0][:999] + "…"
    return "\n".join([first, *lines[1:number]]) + _lines(sum(map(bool, lines[number:])))


def _lines(count: int) -> str:
    return f"\n\n*{count:,} more line{'s' * (count != 1)} of this section left out for room: compat.json has them.*\n\n"


def _sections(count: int) -> str:
    return f"\n*{count:,} more section{'s' * (count != 1)} left out for room: compat.json has them.*\n" if count else ""
