"""Names of the stack that an error message reports missing, and the releases that have them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jax_stack_compat.check.explain.raised import plain
from jax_stack_compat.names import query
from jax_stack_compat.names.query import Life

_MISSING = re.compile(
    r"module '(?P<of>[\w.]+)' has no attribute '(?P<name>\w+)'"
    r"|cannot import name '(?P<imported>\w+)' from '(?P<source>[\w.]+)'"
    r"|No module named '(?P<module>[\w.]+)'"
)


def told(message: str) -> Iterator[str]:
    """Yield a sentence for each missing name in a message that some release has. Raises BadFile."""
    for name, life in _named(message):
        package = name.partition(".")[0]
        newest = query.names(package).releases[-1]
        sentence = f"{name} exists on {package} {query.told(name, life)}."
        if words := query.words(name):
            sentence += f" Upstream: {words}"
        elif instead := query.replacements(name, newest):
            sentence += f" On {newest}, use {' or '.join(instead)}."
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
        if life:
            yield name, life
