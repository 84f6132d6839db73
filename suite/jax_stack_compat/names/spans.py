"""Conversion between walks and spans; a span is a value from one release to another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeVar

from packaging.version import Version

from jax_stack_compat.names.model import Module, Name, Names

T = TypeVar("T")
# A walk: `{"modules": {module: {"names": {name: {…}}, "private": […], "gone": {…}} or {"fails": …}}}`.
Walk = Mapping[str, Any]
# What a walk and the spans of a name have under the same key.
_FIELDS = ("warns", "home", "doc", "parameters")


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
    modules = names.model_dump(mode="json")["modules"]
    walks: dict[str, Walk] = {}
    for place, version in enumerate(names.releases):
        told = {name: _told(module, place) for name, module in modules.items() if within(module["there"], place)}
        walks[version] = {"modules": told}
    return walks


def _module(told: Sequence[Walk | None]) -> Module:
    there = track([each is not None or None for each in told])
    described = [(each or {}).get("names", {}) for each in told]
    gone = [(each or {}).get("gone", {}) for each in told]
    names = sorted({name for each in (*described, *gone) for name in each})
    return Module(
        there=tuple((first, last) for first, last, _ in there),
        fails=track([(each or {}).get("fails") for each in told]),
        names={
            name: _name([each.get(name, {}) for each in described], [each.get(name) for each in gone]) for name in names
        },
        private=_grouped([(each or {}).get("private", ()) for each in told]),
    )


def _name(told: Sequence[Walk], gone: Sequence[str | None]) -> Name:
    kinds = [f"raises {each['says']}" if each.get("kind") == "raises" else each.get("kind") for each in told]
    own: dict[str, Any] = {field: track([each.get(field) for each in told]) for field in _FIELDS}
    classes = [each.get("members", {}) for each in told]
    members = {name: _member(name, classes) for name in sorted(frozenset().union(*classes))}
    return Name(kind=track(kinds), **own, members=members, gone=track(gone))


def _member(name: str, classes: Sequence[Mapping[str, Any]]) -> tuple[tuple[int, int, Any], ...]:
    """Return the spans of a member's parameters, which are None without a known signature."""
    # In a tuple, None has a span; a class without the member has not.
    values = [(members[name],) if name in members else None for members in classes]
    return tuple((first, last, parameters) for first, last, (parameters,) in track(values))


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


def _told(module: Mapping[str, Any], place: int) -> Walk:
    if (fails := at(module["fails"], place)) is not None:
        return {"fails": fails}
    groups = [text.split() for spans, text in module["private"].items() if within(placed(spans), place)]
    private = sorted(name for group in groups for name in group)
    names = {name: told for name, each in module["names"].items() if (told := _described(each, place)) is not None}
    gone = {name: words for name, each in module["names"].items() if (words := at(each["gone"], place)) is not None}
    return {key: value for key, value in (("names", names), ("private", private), ("gone", gone)) if value}


def within(spans: Iterable[tuple[int, int]], place: int) -> bool:
    """Return True if a place is in one of the spans."""
    return any(first <= place <= last for first, last in spans)


def _described(name: Mapping[str, Any], place: int) -> Walk | None:
    kind = at(name["kind"], place)
    if kind is None:
        return None
    if kind.startswith("raises "):
        return {"kind": "raises", "says": kind.removeprefix("raises ")}
    found = {"kind": kind}
    found |= {field: value for field in _FIELDS if (value := at(name[field], place)) is not None}
    if kind == "class":
        found["members"] = {
            member: parameters
            for member, spans in name["members"].items()
            for first, last, parameters in spans
            if first <= place <= last
        }
    return found
