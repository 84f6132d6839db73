"""Somebody else's text, made printable: what a terminal or a reader would act on, and never see, is spelled out.

The standard library alone, as for errors.
"""

from __future__ import annotations


def printable(text: str, *, lines: bool = False) -> str:
    """`text` with what cannot be shown spelled out: controls, marks that turn it round, lone surrogates.

    XML 1.0 has no way to write most of these, a terminal acts on some, and a reader sees none of them. So it is with
    line ends, unless `lines`.
    """
    if lines:
        return "\n".join(map(printable, text.split("\n")))
    return text if text.isprintable() else "".join(each if each.isprintable() else _spelled(ord(each)) for each in text)


def _spelled(number: int) -> str:
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
