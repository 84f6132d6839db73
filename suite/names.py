"""Mistaken names, and those that may have been meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, names: Iterable[str]) -> str:
    """A phrase that offers the names closest to a mistaken one."""
    known = list(names)
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5) or known[:3]
    return f"the nearest are {', '.join(close)}" if close else "there are none"
