"""Source, threads and verdicts, marked up: highlighted, linked and coloured. Pure."""

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
    """The colours of each verdict as a style sheet: the page defines those of the classes in the verdicts' table."""
    return "\n".join(
        f".{each.name} {{ --b: var(--{each.css}); --i: var(--{each.css}-ink); }}" for each in PROPERTIES.values()
    )


# Of each report that is made in a process the sources are mostly the same.
@cache
def highlight(source: str) -> Markup:
    """Python source with its keywords, strings, comments, numbers and definitions marked; whatever else is text."""
    found = []
    for name, tokens in groupby(lex(source, PythonLexer()), lambda token: _mark_of(token[0])):
        text = escape("".join(value for _, value in tokens))
        found.append(f'<i class="{name}">{text}</i>' if name else text)
    # All text in it is escaped, and the marks are ours.
    return Markup("".join(found))


def linked(text: str) -> Markup:
    """Text in which `jax#31284` leads to its thread, and so does the `#31282` that follows it."""
    found, at, repository = Markup(""), 0, ""
    for each in _THREAD.finditer(text):
        repository = REPOSITORIES.get(each[1] or "", repository)
        if repository:
            address = link(f"{repository}#{each[2]}")
            found += Markup('{}<a href="{}">{}</a>').format(text[at : each.start()], address, each[0])
            at = each.end()
    return found + text[at:]


@cache
def _mark_of(token: _TokenType) -> str:
    return next((name for kind, name in _MARKS if token in kind), "")
