"""Somebody else's text in a file of ours: made printable, escaped for Markdown, and written as XML."""

from __future__ import annotations

from xml.etree import ElementTree

# A cell of a table is no place for more.
_LONGEST = 500


def printable(text: str) -> str:
    """`text` with what cannot be shown spelled out: controls, line ends, marks that turn it round, lone surrogates.

    XML 1.0 has no way to write most of these, a terminal acts on some, and a reader sees none of them.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else _spelled(ord(each)) for each in text)


def _spelled(number: int) -> str:
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"


def clipped(text: str, longest: int = _LONGEST) -> str:
    """`text`, or as much of its beginning as goes into so many characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def cell_text(text: str) -> str:
    """Somebody else's text inside a Markdown table: one line, with nothing that Markdown or HTML would act on."""
    line = clipped(" ".join(text.split()))
    for mark, instead in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("|", "&#124;"), ("`", "&#96;")):
        line = line.replace(mark, instead)
    for mark in "\\*_[]~":
        line = line.replace(mark, f"\\{mark}")
    return line


def element(tag: str, attributes: dict[str, str] | None = None, text: str | None = None) -> ElementTree.Element:
    """An XML element whose attributes and text are printable; line ends of its text are kept."""
    made = ElementTree.Element(tag, {name: printable(value) for name, value in (attributes or {}).items()})
    if text is not None:
        made.text = "\n".join(map(printable, text.split("\n")))
    return made


def xml(root: ElementTree.Element) -> str:
    """A whole XML document, indented."""
    ElementTree.indent(root, " ")
    # ElementTree would name the locale's encoding; files of ours are UTF-8.
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'
