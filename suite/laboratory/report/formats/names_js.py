"""The names and arguments that not all releases have, as scripts: the box answers missing ones as `explain` does."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from jax_stack_compat.check.explain import arguments, missing
from jax_stack_compat.names import query
from laboratory.report.site.search import NAMED, script


@cache
def names_data() -> dict[str, str]:
    """Return the text, by path, of a script for each package, and of one for arguments. Raises BadFile."""
    texts = {f"data/names-{package}.js": _set(package, _names(package)) for package in NAMED}
    return {**texts, "data/names-arguments.js": _set("arguments", _arguments())}


def _set(name: str, data: Any) -> str:
    head, _, rest = script("NAMES", data).partition("const NAMES = ")
    return f"{head}globalThis.NAMES ??= {{}};\nglobalThis.NAMES.{name} = {rest}"


def _names(package: str) -> dict[str, Any]:
    """Return the names of a package that some releases lack: by module, then by the spans of the others."""
    known = query.names(package)
    last = len(known.releases) - 1
    modules: dict[str, dict[str, list[str]]] = {}
    told: dict[str, str] = {}
    whole: list[str] = []
    for module, of in known.modules.items():
        _put(modules, "", list(of.there), module, last)
        own = {*of.names, *(name for text in of.private.values() for name in text.split())}
        for name in sorted(own):
            dotted = f"{module}.{name}"
            if not query.is_listed(dotted):
                continue
            places = [(known.releases.index(first), known.releases.index(end)) for first, end in query.life(dotted)]
            if _put(modules, module, places, name, last):
                if words := missing.advice(dotted):
                    told[dotted] = words
            elif dotted in known.modules:
                whole.append(dotted)
    grouped = {
        module: {spans: " ".join(names) for spans, names in groups.items()} for module, groups in modules.items()
    }
    return {"releases": known.releases, "modules": grouped, "told": told, "whole": whole}


def _put(
    modules: dict[str, dict[str, list[str]]], module: str, places: list[tuple[int, int]], name: str, last: int
) -> bool:
    """Note a name with its spans, unless all releases have it, or none; return True if it was noted."""
    if not places or places == [(0, last)]:
        return False
    spans = " ".join(f"{first}-{end}" for first, end in places)
    modules.setdefault(module, {}).setdefault(spans, []).append(name)
    return True


def _arguments() -> dict[str, dict[str, list[tuple[str, str]]]]:
    """Return the arguments that some releases refuse, by function and keyword, each with its sentence."""
    found: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for (function, keyword), sentences in _sentences():
        found.setdefault(function, {})[keyword] = sentences
    return found


def _sentences() -> Iterator[tuple[tuple[str, str], list[tuple[str, str]]]]:
    for key, known in arguments.by_name().items():
        yield key, [(each.function, arguments.sentence(each)) for each in known]
