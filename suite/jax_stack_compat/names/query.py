"""Queries on names: the releases that have a name, its parameters, and its replacements."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from jax_stack_compat.base.files import FileModel, read
from jax_stack_compat.names import store
from jax_stack_compat.names.model import FOLDER, Module, Name, Names, Parameters
from jax_stack_compat.names.spans import at, placed, within

# A package's name with attributes, in a sentence.
_NAMED = re.compile(r"\b(?:jax|equinox|diffrax|lineax|optimistix|jaxlib)(?:\.\w+)+\b")
# Folders without `__init__.py`. pkgutil does not list their modules, so the data has only modules that were loaded.
_UNLISTED = ("jaxlib.mlir.", "jaxlib.mosaic.", "jaxlib.thunky.")
# The spans of releases that have a name: the first and the last of each.
Life = tuple[tuple[str, str], ...]
REPLACEMENTS = Path(__file__).with_name("replacements.toml")


class Replacements(FileModel):
    """Replacements for names whose warnings do not mention one."""

    replacements: Mapping[str, tuple[str, ...]]


def told(dotted: str, life: Life) -> str:
    """Return the releases in a name's `life`, for people: `0.4.18 (or older) to 0.5.3`. Raises BadFile."""
    oldest = names(dotted.partition(".")[0]).releases[0]
    parts = []
    for first, last in life:
        start = f"{first} (or older)" if first == oldest else first
        parts.append(start if first == last else f"{start} to {last}")
    return ", ".join(parts)


@cache
def names(package: str) -> Names:
    """Return the names of a package. Raises BadFile."""
    return store.load(package)


def is_listed(dotted: str) -> bool:
    """Return True if all modules in the name's folder are listed.

    If True, a name that is missing from the data is missing from the release.
    """
    return not dotted.startswith(_UNLISTED)


def is_known(package: str) -> bool:
    """Return True if the names of the package's releases are known."""
    return (FOLDER / f"{package}.json").exists()


def split(dotted: str) -> tuple[Module, str] | None:
    """Split a dotted name into the longest module that any release has and the name in that module."""
    package = names(dotted.partition(".")[0])
    module, _, name = dotted.rpartition(".")
    while module:
        if module in package.modules:
            return (package.modules[module], name) if "." not in name else None
        module, _, first = module.rpartition(".")
        name = f"{first}.{name}"
    return None


def life(dotted: str) -> Life:
    """Return the releases that have the attribute `module.name`; empty if no release has it. Raises BadFile."""
    package, found = names(dotted.partition(".")[0]), split(dotted)
    return _releases(package, _there(*found)) if found else ()


def module_life(dotted: str) -> Life:
    """Return the releases that have a module, importable or not; empty if no release has it. Raises BadFile."""
    package = names(dotted.partition(".")[0])
    module = package.modules.get(dotted)
    return _releases(package, module.there) if module else ()


def has(dotted: str, version: str) -> bool | None:
    """Return True if a release has `module.name`; None if unknown. Raises BadFile.

    It is unknown if the release was not walked, or the module does not import there.
    """
    found, place = split(dotted), place_of(dotted, version)
    if place is None or found is None or at(found[0].fails, place) is not None:
        return None
    return within(_there(*found), place)


def is_module(dotted: str, version: str) -> bool:
    """Return True if a release has this module, importable or not. Raises BadFile."""
    module, place = names(dotted.partition(".")[0]).modules.get(dotted), place_of(dotted, version)
    return module is not None and place is not None and within(module.there, place)


def fails(dotted: str, version: str) -> bool:
    """Return True if a module does not import on a release, so that its names are unknown. Raises BadFile."""
    module, place = names(dotted.partition(".")[0]).modules.get(dotted), place_of(dotted, version)
    return module is not None and place is not None and at(module.fails, place) is not None


def kind(dotted: str, version: str) -> str | None:
    """Return the kind of a public name on a release; None if unknown. Raises BadFile."""
    known, place = public(dotted), place_of(dotted, version)
    return at(known.kind, place) if known and place is not None else None


def parameters(dotted: str, version: str) -> Parameters | None:
    """Return the parameters of a function on a release; None if unknown. Raises BadFile."""
    known, place = public(dotted), place_of(dotted, version)
    return at(known.parameters, place) if known and place is not None else None


def public(dotted: str) -> Name | None:
    """Return the spans of a public name; None if no release has it. Raises BadFile."""
    found = split(dotted)
    return found[0].names.get(found[1]) if found else None


def words(dotted: str) -> str:
    """Return upstream's last message about a deprecated or removed name, or ""."""
    if (known := public(dotted)) is None:
        return ""
    said = [(last, text) for _, last, (_, text) in known.warns] + [(last, text) for _, last, text in known.gone]
    return max(said)[1] if said else ""


def replacements(dotted: str, version: str) -> tuple[str, ...]:
    """Return the replacements of a name that a release has: from our table, then from upstream's message.

    Raises BadFile.
    """
    named = _NAMED.findall(re.sub(r"\bjnp\.", "jax.numpy.", words(dotted)))
    told = dict.fromkeys((*_table().get(dotted, ()), *(each for each in named if each != dotted)))
    return tuple(each for each in told if has(each, version) or (is_module(each, version) and not fails(each, version)))


@cache
def _table() -> Mapping[str, tuple[str, ...]]:
    return read(Replacements, REPLACEMENTS).replacements


def place_of(dotted: str, version: str) -> int | None:
    """Return a release's place among the walked releases of a name's package; None if it was not walked."""
    releases = names(dotted.partition(".")[0]).releases
    return releases.index(version) if version in releases else None


def _releases(package: Names, there: Sequence[tuple[int, int]]) -> Life:
    return tuple((package.releases[first], package.releases[last]) for first, last in there)


def _there(module: Module, name: str) -> list[tuple[int, int]]:
    if name in module.names:
        # A name that changes its kind exists in both spans.
        kinds: list[tuple[int, int]] = []
        for first, last, _ in module.names[name].kind:
            start = kinds.pop()[0] if kinds and kinds[-1][1] == first - 1 else first
            kinds.append((start, last))
        return kinds
    return sorted(each for spans, text in module.private.items() if name in text.split() for each in placed(spans))
