"""Foreign text in Markdown: it has no markup, and in a thread it names nobody and refers to nothing.

This module imports the standard library alone.
"""

from __future__ import annotations

import re
from html import escape

from jax_stack_compat.base.printable import printable

_MARKUP = re.compile(r"[&<>|`]|[\\*_\[\]~]|^(?:[-+#=]|:(?=:)|\d+(?=[.)](?:\s|$)))")
# A person, a thread, and an address, which leaves a link in the thread that it names.
_REFERENCE = re.compile(r"(?:@(?=\w)|#(?=\d)|GH(?=-\d)|:(?=//)|www(?=\.))", re.IGNORECASE)
# In backticks, these characters could end the code or the cell of a table, or begin a command of a workflow.
_NOT_IN_TICKS = re.compile(r"[`|\\]|##|^ | $|^$")
# A zero-width space parts a reference. A reader does not see it, and no renderer drops it, unlike a comment.
_PARTED = "\u200b"


def in_markdown(text: str, *, in_thread: bool = True) -> str:
    """Return foreign text for a line of Markdown, with everything escaped that Markdown or HTML would act on.

    With `in_thread`, it mentions nobody and refers to no thread.
    """
    line = printable(re.sub(r"\s", " ", text)).lstrip(" ")
    if in_thread:
        line = _REFERENCE.sub(rf"\g<0>{_PARTED}", line)
    return _MARKUP.sub(_escaped, line).replace(_PARTED, "&#8203;")


def in_code(text: str) -> str:
    """Return foreign text as code in a line of Markdown, where it is shown as it is."""
    line = printable(text)
    if _NOT_IN_TICKS.search(line):
        return f"<code>{in_markdown(line)}</code>"
    return f"`{line}`"


def sentence(text: str) -> str:
    """Return a sentence for a line of Markdown; what it has in backticks is code."""
    *pairs, last = text.split("`")
    if len(pairs) % 2:
        return in_markdown(text)
    parts = [in_code(part) if place % 2 else in_markdown(part) for place, part in enumerate(pairs)]
    return "".join([*parts, in_markdown(last)])


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    if character in "|`":
        return f"&#{ord(character)};"
    if character in "&<>":
        return escape(character, quote=False)
    if character == ":":
        return "&#58;"
    return f"{character}\\" if character.isdigit() else f"\\{character}"
