"""Names: those that may have been meant by a mistaken one, and those that hardware goes by."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable


def nearest(name: str, names: Iterable[str]) -> str:
    """A phrase that offers the names closest to a mistaken one."""
    known = list(names)
    longer = [each for each in known if name and each.startswith(name)]
    close = [*longer, *difflib.get_close_matches(name, known, n=3, cutoff=0.5)] or known
    close = list(dict.fromkeys(close))[:3]
    return f"the nearest are {', '.join(close)}" if close else "there are none"


def slug(words: str) -> str:
    """What hardware calls itself, as a name for files: lower case, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
