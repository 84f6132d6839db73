"""What issues touch, such as `jax.numpy.pad` or `jax.jit(inline=)`, and which of it a use names. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from suite.check.source.usage import Use

_TOUCHED = re.compile(r"(?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)+)(?:\((?P<keyword>\w+)=\))?")


def is_untold(name: str) -> bool:
    """Return True if code can use it without naming it: an area, a private name, a member of a class."""
    match = _TOUCHED.fullmatch(name)
    if not match:
        return True
    parts = match["name"].split(".")
    member = any(one[0].isupper() and not two[0].isupper() for one, two in pairwise(parts))
    return member or any(part.startswith("_") for part in parts)


def touched(use: Use, names: Collection[str]) -> list[str]:
    """Return which of these names a use names, or names something in. An import by itself uses nothing."""
    return sorted({each for each in _named(use) if each in names}) if use.how == "name" else []


def _named(use: Use) -> Iterator[str]:
    for thing in use.things:
        parts = thing.name.split(".")
        yield from (".".join(parts[:end]) for end in range(2, len(parts) + 1))
        yield from (f"{thing.name}({keyword}=)" for keyword in (use.call.keywords if use.call else ()))
