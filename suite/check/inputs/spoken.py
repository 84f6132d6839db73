"""A stack in somebody's words → versions: `jax==0.10.2`, `diffrax 0.7`, `0.10`, `newest`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence

from packaging.utils import canonicalize_name
from packaging.version import Version

from suite.judge.rules import requirements

_NEWEST = ("newest", "latest")
_VERSION = r"v?(\d[\w.]*)|" + "|".join(_NEWEST)
# A name and a version beside it, or a version alone: a word of neither kind is a requirement.
_SPOKEN = re.compile(rf"(?:(?<!\S)([a-z][\w.-]*)\s+)?(?<!\S)(?:{_VERSION})(?!\S)", re.IGNORECASE)


def versions(words: str, releases: Mapping[str, Sequence[str]], moved: Iterable[str]) -> dict[str, str]:
    """The one version of each package that is named; of `moved`, where all that is said is `newest`.

    `releases` has those that are known of each, oldest first. A version beside a name is the newest release that begins
    so, where one does. One beside none is of jax. Raises ValueError.
    """
    if words.strip().lower() in _NEWEST:
        return {name: releases[name][-1] for name in moved}
    pinned = _SPOKEN.sub(lambda found: _pinned(found, releases), words)
    named = dict.fromkeys((requirement.name, str(requirement.specifier)) for requirement in requirements(pinned))
    for name, _ in named:
        if canonicalize_name(name) not in releases and (near := difflib.get_close_matches(name.lower(), releases, 1)):
            raise ValueError(f"there is no {name} in this data: is {near[0]} meant?")
    named = dict.fromkeys((canonicalize_name(name), specifier) for name, specifier in named)
    found = dict(list(named))
    if not len(named) == len(found) > 0 or any(not re.fullmatch(r"={2,3}[^,*]+", each) for each in found.values()):
        raise ValueError("a stack has one version of each")
    return {name: Version(specifier.lstrip("=")).public for name, specifier in found.items()}


def _pinned(found: re.Match[str], releases: Mapping[str, Sequence[str]]) -> str:
    name, version = canonicalize_name(found[1] or "jax"), found[2]
    known = releases.get(name, ())
    if version is None:
        if not known:
            raise ValueError(f"no release of {name} is known here: name its version")
        return f"{name}=={known[-1]}"
    exact = version if version in known else ""
    return f"{name}=={exact or next((each for each in reversed(known) if each.startswith(f'{version}.')), version)}"
