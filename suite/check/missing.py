"""An error message → the names of the stack that it says are missing, and what is known of each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from suite.check.raised import plain
from suite.names import query
from suite.names.query import Life

_MISSING = re.compile(
    r"module '(?P<of>[\w.]+)' has no attribute '(?P<name>\w+)'"
    r"|cannot import name '(?P<imported>\w+)' from '(?P<source>[\w.]+)'"
    r"|No module named '(?P<module>[\w.]+)'"
)


def told(message: str) -> Iterator[str]:
    """Return a sentence for each name that a message says is missing and that some release has. Raises BadFile."""
    for name, life in _named(message):
        package = name.partition(".")[0]
        newest = query.names(package).releases[-1]
        sentence = f"{name} is there on {package} {query.told(name, life)}."
        if words := query.words(name):
            sentence += f" Upstream: {words}"
        elif instead := query.replacements(name, newest):
            sentence += f" On {newest} there is {' and '.join(instead)}."
        yield sentence


def _named(message: str) -> Iterator[tuple[str, Life]]:
    seen = set()
    for found in _MISSING.finditer(plain(message)):
        module = found["of"] or found["source"]
        name = found["module"] or f"{module}.{found['name'] or found['imported']}"
        if name in seen or not query.is_known(name.partition(".")[0]) or not query.is_listed(name):
            continue
        seen.add(name)
        life = query.module_life(name) if found["module"] else query.life(name) or query.module_life(name)
        if life is not None:
            yield name, life
