"""The markup of stories, source, threads and verdicts. Pure."""

from __future__ import annotations

import re
from functools import cache
from itertools import groupby
from textwrap import dedent

from markupsafe import Markup, escape
from pygments import lex
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType

from jax_stack_compat.base.address import link
from jax_stack_compat.judge.verdict_table import PROPERTIES
from jax_stack_compat.packages import REPOSITORIES

_MARKS = (
    *((Comment, "c"), (String, "s"), (Number, "n"), (Keyword, "k"), (Operator.Word, "k")),
    *((Name.Function, "f"), (Name.Class, "f"), (Name.Decorator, "f")),
)
_THREAD = re.compile(rf"(?:\b({'|'.join(REPOSITORIES)}))?#(\d{{1,9}})\b")
_INDENT = "    "
_SPAN = re.compile(r"`(?P<code>[^`]+)`|(?<!\w)\*\*(?P<strong>\S[^*]*)\*\*(?!\w)|(?<!\w)\*(?P<em>\w[^*\n]*)\*(?!\w)")


def verdict_styles() -> str:
    """Return the style sheet of the verdicts' colours; style.css defines the colours of their classes."""
    return "\n".join(
        f".{verdict.name} {{ --b: var(--{verdict.css}); --i: var(--{verdict.css}-ink); }}"
        for verdict in PROPERTIES.values()
    )


# Reports made in one process share most sources.
@cache
def highlight(source: str) -> Markup:
    """Return Python source with keywords, strings, comments, numbers and definitions marked; the rest is text."""
    found = []
    for name, tokens in groupby(lex(source, PythonLexer()), lambda token: _mark_of(token[0])):
        text = escape("".join(value for _, value in tokens))
        found.append(f'<i class="{name}">{text}</i>' if name else text)
    # Safe: all text in it is escaped.
    return Markup("".join(found))


def linked(text: str) -> Markup:
    """Return text in which `jax#31284`, and a `#31282` after it, link to their threads."""
    found, at, repository = Markup(""), 0, ""
    for match in _THREAD.finditer(text):
        repository = REPOSITORIES.get(match[1] or "", repository)
        if repository:
            address = link(f"{repository}#{match[2]}")
            found += Markup('{}<a href="{}">{}</a>').format(text[at : match.start()], address, match[0])
            at = match.end()
    return found + text[at:]


@cache
def _mark_of(token: _TokenType) -> str:
    return next((name for kind, name in _MARKS if token in kind), "")


def prose(text: str) -> Markup:
    """Return a story, written as a docstring, as HTML with everything escaped.

    It has paragraphs, lists, indented code, and code and emphasis within a line.
    """
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
