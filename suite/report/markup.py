"""Somebody else's text in a file of ours: made printable, escaped for Markdown, and written as XML."""

from __future__ import annotations

import re
from html import escape
from urllib.parse import quote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from markupsafe import Markup

from suite.printable import printable

# A cell of a table is no place for more.
_LONGEST = 500
# More of one message than this is no reading matter; the data has it whole.
LONGEST = 2000


def clipped(text: str, longest: int = _LONGEST) -> str:
    """`text`, or as much of its beginning as goes into so many characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def one_line(text: str) -> str:
    """`text` in one printable line."""
    return printable(" ".join(text.split()))


def said(text: str) -> str:
    """`text` with its lines, printable, and no megabyte of it."""
    shown = printable(text[:LONGEST], lines=True)
    return shown if len(text) <= LONGEST else f"{shown}… ({len(text):,} characters in the data)"


def cell_text(text: str) -> Markup:
    """Somebody else's text inside a Markdown table: one line, with nothing that Markdown or HTML would act on."""
    return in_markdown(clipped(" ".join(text.split())))


def in_markdown(text: str) -> Markup:
    """Somebody else's text within a line of Markdown: nothing in it that Markdown or HTML would act on."""
    line = escape(printable(re.sub(r"\s", " ", text)), quote=False).replace("|", "&#124;").replace("`", "&#96;")
    return Markup(re.sub(r"[\\*_\[\]~]", r"\\\g<0>", line))


def address(url: str) -> Markup:
    """An address as the target of a link in Markdown: nothing in it ends that."""
    return Markup(quote(printable(url), safe=":/?#@!$&'*+,;=%~"))


def element(tag: str, /, *inside: Element | str, **attributes: str) -> Element:
    """An XML element around others, or around text that is made printable, its line ends kept; attributes too."""
    made = Element(tag, {name: printable(value) for name, value in attributes.items()})
    made.text = "".join(printable(each, lines=True) for each in inside if isinstance(each, str))
    made.extend(each for each in inside if not isinstance(each, str))
    return made


def xml(root: Element) -> str:
    """A whole XML document, indented."""
    ElementTree.indent(root, " ")
    # ElementTree would name the locale's encoding; files of ours are UTF-8.
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'
