"""Conversion between walks and spans; a span is a value from one release to another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeVar

from packaging.version import Version

from jax_stack_compat.names.model import Module, Name, Names

T = TypeVar("T")
# A walk: `{"modules": {module: {"names": {name: {…}}, "private": […], "gone": {…}} or {"fails": …}}}`.
Walk = Mapping[str, Any]
# Stands for the parameters of a function without a known signature.
_UNKNOWN = object()


def track(values: Sequence[T | None]) -> tuple[tuple[int, int, T], ...]:
    """Return spans of equal adjacent values; None gets no span."""
    found, place = [], 0
    for value, of in groupby(values):
        count = len(list(of))
        if value is not None:
            found.append((place, place + count - 1, value))
        place += count
    return tuple(found)


def at(spans: Iterable[tuple[int, int, T]], place: int) -> T | None:
    """Return the value at a place, or None."""
    return next((value for first, last, value in spans if first <= place <= last), None)


def join(package: str, walks: Mapping[str, Walk]) -> Names:
    """Return the spans of a package's walks, given by version."""
    versions = sorted(walks, key=Version)
    told = [walks[version]["modules"] for version in versions]
    names = sorted({name for modules in told for name in modules})
    modules = {name: _module([modules.get(name) for modules in told]) for name in names}
    return Names(package=package, releases=tuple(versions), modules=modules)


def split(names: Names) -> dict[str, Walk]:
    """Return the walks from which spans were made, by version."""
    return {
        version: {
            "modules": {
                name: told for name, module in names.modules.items() if (told := _told(module, place)) is not None
            }
        }
        for place, version in enumerate(names.releases)
    }


def _module(told: Sequence[Walk | None]) -> Module:
    there = track([each is not None or None for each in told])
    described = [(each or {}).get("names", {}) for each in told]
    gone = [(each or {}).get("gone", {}) for each in told]
    names = sorted({name for each in (*described, *gone) for name in each})
    return Module(
        there=tuple((first, last) for first, last, _ in there),
        fails=track([(each or {}).get("fails") for each in told]),
        names={
            name: _name([each.get(name) for each in described], [each.get(name) for each in gone]) for name in names
        },
        private=_grouped([(each or {}).get("private", ()) for each in told]),
    )


def _name(told: Sequence[Walk | None], gone: Sequence[str | None]) -> Name:
    def of(read: Callable[[Walk], Any]) -> Any:
        return track([read(each) if each is not None else None for each in told])

    members = sorted({name for each in told for name in (each or {}).get("members", {})})
    return Name(
        kind=of(lambda each: f"raises {each['says']}" if each["kind"] == "raises" else each["kind"]),
        warns=of(lambda each: tuple(each["warns"]) if "warns" in each else None),
        home=of(lambda each: each.get("home")),
        doc=of(lambda each: each.get("doc")),
        parameters=of(lambda each: _frozen(each["parameters"]) if "parameters" in each else None),
        members={name: _member([(each or {}).get("members", {}).get(name, ...) for each in told]) for name in members},
        gone=track(gone),
    )


def _member(told: Sequence[Any]) -> tuple[tuple[int, int, Any], ...]:
    """Return the spans of a member's parameters; `...` stands for a release whose class lacks the member."""
    values = [None if each is ... else _UNKNOWN if each is None else _frozen(each) for each in told]
    return tuple((first, last, None if value is _UNKNOWN else value) for first, last, value in track(values))


def _frozen(parameters: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(parameter) for parameter in parameters)


def _grouped(told: Sequence[Iterable[str]]) -> dict[str, str]:
    """Group names by the releases that have them."""
    there = [frozenset(each) for each in told]
    found: dict[str, list[str]] = {}
    for name in sorted(frozenset().union(*there)):
        spans = track([name in each or None for each in there])
        found.setdefault(" ".join(f"{first}-{last}" for first, last, _ in spans), []).append(name)
    return {spans: " ".join(names) for spans, names in sorted(found.items())}


def placed(spans: str) -> list[tuple[int, int]]:
    """Parse a text of spans, such as `0-3 7-7`."""
    return [(int(first), int(last)) for first, _, last in (each.partition("-") for each in spans.split())]


def _told(module: Module, place: int) -> dict[str, Any] | None:
    if not within(module.there, place):
        return None
    if (fails := at(module.fails, place)) is not None:
        return {"fails": fails}
    groups = [text.split() for spans, text in module.private.items() if within(placed(spans), place)]
    private = sorted(name for group in groups for name in group)
    names = {name: told for name, each in module.names.items() if (told := _described(each, place)) is not None}
    gone = {name: words for name, each in module.names.items() if (words := at(each.gone, place)) is not None}
    return {key: value for key, value in (("names", names), ("private", private), ("gone", gone)) if value}


def within(spans: Iterable[tuple[int, int]], place: int) -> bool:
    """Return True if a place is in one of the spans."""
    return any(first <= place <= last for first, last in spans)


def _described(name: Name, place: int) -> dict[str, Any] | None:
    kind = at(name.kind, place)
    if kind is None:
        return None
    if kind.startswith("raises "):
        return {"kind": "raises", "says": kind.removeprefix("raises ")}
    found: dict[str, Any] = {"kind": kind}
    if (warns := at(name.warns, place)) is not None:
        found["warns"] = list(warns)
    for field in ("home", "doc"):
        if (value := at(getattr(name, field), place)) is not None:
            found[field] = value
    if (parameters := at(name.parameters, place)) is not None:
        found["parameters"] = [list(parameter) for parameter in parameters]
    if kind == "class":
        found["members"] = {
            member: None if parameters is None else [list(parameter) for parameter in parameters]
            for member, spans in name.members.items()
            for first, last, parameters in spans
            if first <= place <= last
        }
    return found
