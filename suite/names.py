"""Mistaken names, and those that may have been meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, names: Iterable[str]) -> str:
    """A phrase that offers the names closest to a mistaken one."""
    known = list(names)
    longer = [each for each in known if name and each.startswith(name)]
    close = [*longer, *difflib.get_close_matches(name, known, n=3, cutoff=0.5)] or known
    close = list(dict.fromkeys(close))[:3]
    return f"the nearest are {', '.join(close)}" if close else "there are none"
