"""An issue's story as HTML: paragraphs, lists, indented code, and code and emphasis within a line. Pure."""

from __future__ import annotations

import re
from itertools import groupby
from textwrap import dedent

from markupsafe import Markup

_INDENT = "    "
_SPAN = re.compile(r"`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|(?<!\w)\*(?P<em>\w[^*\n]*)\*(?!\w)")


def prose(text: str) -> Markup:
    """Return `text`, written as a docstring, as HTML with everything escaped."""
    # A docstring's first line has lost its indent.
    lines = (_INDENT + text if re.match(rf".+\n{_INDENT}", text) else text).split("\n")
    found, sort = [], ""
    for line in lines:
        sort = _sort(line, sort)
        found.append((sort, line))
    return Markup("\n").join(
        _block(sort, "\n".join(line for _, line in of)) for sort, of in groupby(found, lambda each: each[0]) if sort
    )


def _sort(line: str, before: str) -> str:
    """Return the tag of the element that a line is in, given the tag of the line before; empty for an empty line."""
    if line.startswith("- ") or (before == "ul" and line.startswith("  ")):
        return "ul"
    if line.startswith(_INDENT):
        return "pre"
    return "p" if line.strip() else ""


def _block(sort: str, text: str) -> Markup:
    if sort == "pre":
        return Markup('<pre tabindex="0" role="group" aria-label="As code"><code>{}</code></pre>').format(dedent(text))
    if sort == "ul":
        items = re.split(r"(?m)^- ", text)[1:]
        return Markup("<ul>{}</ul>").format(
            Markup("").join(Markup("<li>{}</li>").format(_line(item)) for item in items)
        )
    return Markup("<p>{}</p>").format(_line(text))


def _line(text: str) -> Markup:
    found, end = Markup(""), 0
    for match in _SPAN.finditer(text):
        tag = str(match.lastgroup)
        found += text[end : match.start()]
        found += Markup("<{0}>{1}</{0}>").format(Markup(tag), match[tag] if tag == "code" else _line(match[tag]))
        end = match.end()
    return found + text[end:]
