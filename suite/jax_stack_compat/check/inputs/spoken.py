"""A stack in a person's words: a lock, or versions such as `jax==0.10.2`, `diffrax 0.7`, `0.10`, `newest`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from packaging.utils import canonicalize_name

from jax_stack_compat.base import bounded
from jax_stack_compat.base.errors import Misused, shown
from jax_stack_compat.base.places import is_folder, is_there
from jax_stack_compat.check.inputs import foreign, locks
from jax_stack_compat.check.inputs.stack import Stack
from jax_stack_compat.check.knowledge import Knowledge
from jax_stack_compat.judge.rules import requirements
from jax_stack_compat.libraries import known as libraries
from jax_stack_compat.packages import STACK

_NEWEST = ("newest", "latest")
_PYTHON = "python"
_VERSION = r"v?(\d[\w.]*)|" + "|".join(_NEWEST)
# A name with a version, or a version alone; other words are requirements.
_SPOKEN = re.compile(rf"(?:(?<!\S)([a-z][\w.-]*)\s+)?(?<!\S)(?:{_VERSION})(?!\S)", re.IGNORECASE)


def stack(words: str, known: Knowledge, over: Stack | None = None) -> Stack:
    """Return the stack that words name; its versions replace those of the stack `over`. Raises BadFile, Misused."""
    path = Path(words)
    if path == bounded.STDIN or (is_there(path) and not is_folder(path)):
        return locks.read(path)
    moved = [name for name in STACK if name != "jaxlib" and (over is None or name in over.versions)]
    try:
        pins = versions(words, known.releases, moved)
    except ValueError as error:
        raise Misused(f"{shown(words)}: {error}; name versions as jax==0.10.2, or an existing lock") from error
    python = pins.pop(_PYTHON, over.python if over else "")
    kept = {name: version for name, version in (over.versions if over else {}).items() if name not in pins}
    # An installer moves jaxlib with its jax.
    if "jax" in pins and "jaxlib" not in pins:
        kept.pop("jaxlib", None)
    return Stack({**kept, **pins}, f"{over.where} with {words}" if over else words, python)


def versions(words: str, releases: Mapping[str, Sequence[str]], moved: Iterable[str]) -> dict[str, str]:
    """Return the version of each named package; for `newest` alone, of those in `moved`.

    `releases` are the known ones by package, oldest first. A version after a name means the newest release that starts
    with it, if any. A version without a name is jax's. Raises ValueError.
    """
    if words.strip().lower() in _NEWEST:
        return {name: releases[name][-1] for name in moved}
    pinned = _SPOKEN.sub(lambda found: _pinned(found, releases), words)
    named = dict.fromkeys((requirement.name, str(requirement.specifier)) for requirement in requirements(pinned))
    for name, _ in named:
        is_library = canonicalize_name(name) in {*releases, *libraries.load()}
        if not is_library and (near := difflib.get_close_matches(name.lower(), releases, 1)):
            raise ValueError(f"{name} is not in this data; did you mean {near[0]}?")
    named = dict.fromkeys((canonicalize_name(name), specifier) for name, specifier in named)
    found = dict(list(named))
    if not len(named) == len(found) > 0 or any(not re.fullmatch(r"={2,3}[^,*]+", each) for each in found.values()):
        raise ValueError("a stack has one version of each package")
    return {name: foreign.version(specifier.lstrip("=")).public for name, specifier in found.items()}


def _pinned(found: re.Match[str], releases: Mapping[str, Sequence[str]]) -> str:
    name, version = canonicalize_name(found[1] or "jax"), found[2]
    known = releases.get(name, ())
    if version is None:
        if not known:
            raise ValueError(f"{name} has no release in this data: name its version")
        return f"{name}=={known[-1]}"
    exact = version if version in known else ""
    return f"{name}=={exact or next((each for each in reversed(known) if each.startswith(f'{version}.')), version)}"
