"""Names of the stack that an error message reports missing, and the releases that have them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from jax_stack_compat.check.explain.raised import plain
from jax_stack_compat.names import query
from jax_stack_compat.names.query import Life
from jax_stack_compat.packages import WALKED

# Longer names do not exist, and to look up one with thousands of parts takes seconds.
_DOTTED = rf"(?<![\w.])(?:{'|'.join(WALKED)})(?:\.\w{{1,200}}){{1,20}}"
MISSING = re.compile(
    r"module '(?P<of>[\w.]{1,200})' has no attribute '(?P<name>\w+)'"
    r"|cannot import name '(?P<imported>\w+)' from '(?P<source>[\w.]{1,200})'"
    r"|No module named '(?P<module>[\w.]{1,200})'"
    # JAX's own words: "… was removed in JAX v0.6.0: use …", "… was deprecated in … and removed in …".
    rf"|(?P<said>{_DOTTED}) (?:was|is|has been) (?:removed|deprecated)\b"
)
# The guests that a name stopped: "NumPyro before 0.21".
Guests = Mapping[str, Collection[str]]


def told(message: str, guests: Guests | None = None) -> Iterator[str]:
    """Yield a sentence for each missing name in a message that some release has, and others lack. Raises BadFile."""
    yield from (sentence for _, sentence in named(message, guests or {}))


def named(message: str, guests: Guests) -> Iterator[tuple[str, str]]:
    """Yield each missing name in a message that some release has, with a sentence. Raises BadFile."""
    for name, life in _named(message):
        package = name.partition(".")[0]
        sentence = f"{name} exists on {package} {query.told(name, life)}."
        yield name, " ".join(filter(None, [sentence, advice(name), beside(name, guests)]))


def advice(name: str) -> str:
    """Return upstream's words about a name, or its replacements on the newest release; or "". Raises BadFile."""
    newest = query.names(name.partition(".")[0]).releases[-1]
    if words := query.words(name):
        return f"Upstream: {words}"
    instead = query.replacements(name, newest)
    return f"On {newest}, use {' or '.join(instead)}." if instead else ""


def beside(name: str, guests: Guests) -> str:
    """Return a sentence on the libraries that use a name, by the issues of guests; or ""."""
    return f"Used by {' and '.join(guests[name])}." if name in guests else ""


def names(message: str) -> Iterator[tuple[str, bool]]:
    """Yield the names that a message reports missing, and if each is a module."""
    for found in MISSING.finditer(plain(message)):
        if found["module"] or found["said"]:
            yield found["module"] or found["said"], bool(found["module"])
        else:
            yield f"{found['of'] or found['source']}.{found['name'] or found['imported']}", False


def _named(message: str) -> Iterator[tuple[str, Life]]:
    for name, is_module in dict.fromkeys(names(message)):
        if not query.is_known(name.partition(".")[0]) or not query.is_listed(name):
            continue
        life = query.module_life(name) if is_module else query.life(name) or query.module_life(name)
        releases = query.names(name.partition(".")[0]).releases
        # What all releases have was not missing for its release.
        if life and life != ((releases[0], releases[-1]),):
            yield name, life
