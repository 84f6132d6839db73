"""The markup of source, threads and verdicts: highlights, links and colours. Pure."""

from __future__ import annotations

import re
from functools import cache
from itertools import groupby

from markupsafe import Markup, escape
from pygments import lex
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType

from suite.address import link
from suite.cell.issue import REPOSITORIES
from suite.judge.table import PROPERTIES

_MARKS = (
    *((Comment, "c"), (String, "s"), (Number, "n"), (Keyword, "k"), (Operator.Word, "k")),
    *((Name.Function, "f"), (Name.Class, "f"), (Name.Decorator, "f")),
)
_THREAD = re.compile(rf"(?:\b({'|'.join(REPOSITORIES)}))?#(\d{{1,9}})\b")


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
