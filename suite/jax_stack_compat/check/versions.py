"""The versions that are looked up for a stack: those named, and those that an installer gives with them."""

from __future__ import annotations

from dataclasses import dataclass

from packaging.version import Version

from jax_stack_compat.check.inputs.stack import Stack
from jax_stack_compat.check.installs import refusals
from jax_stack_compat.check.knowledge import Knowledge
from jax_stack_compat.judge.metadata import parsed
from jax_stack_compat.judge.prediction import with_jaxlib
from jax_stack_compat.judge.rules import Pins
from jax_stack_compat.libraries import known
from jax_stack_compat.packages import GUESTS, IMPORTS, STACK

_PAIR = ("jax", "jaxlib")
# What an installer adds to a jax, and what decides if it works.
_BROUGHT = ("numpy",)


@dataclass(frozen=True)
class LookedUp:
    """The versions to look up, those of them that are `assumed`, and those `newer` than any that was run.

    `named` has all versions of the stack and all that were given, also those that are left out. `strange` has a
    sentence for each package that is left out, because its version is outside the data.
    """

    pins: Pins
    named: Pins
    assumed: Pins
    newer: tuple[str, ...]
    strange: tuple[str, ...]


def looked_up(stack: Stack, knowledge: Knowledge) -> LookedUp:
    """Return the versions of a stack that the published data cover."""
    given = {name: _spelled(name, of, knowledge) for name, of in stack.versions.items() if name in knowledge.releases}
    guessed = _assumed(knowledge, given, stack)
    strange = _strange(knowledge, given)
    asked = with_jaxlib({**guessed, **given}, knowledge.cells.values())
    named = {name: of for name, of in asked.items() if name not in guessed or name in STACK}
    # Nothing is known about a jax beside a jaxlib that it refuses.
    left_out = {*strange, *(["jax"] if refusals({name: asked[name] for name in _PAIR if name in asked}, "") else [])}
    left_out |= {"jaxlib"} if "jax" in left_out else set()
    versions = {name: of for name, of in asked.items() if name not in left_out}
    # A release that ran with its library's releases is in the data, though no case ran with it.
    unknown = (told for name, told in strange.items() if not known.has(name, given[name]))
    return LookedUp(versions, named, guessed, tuple(_newer(knowledge, versions)), tuple(unknown))


def _spelled(name: str, version: str, knowledge: Knowledge) -> str:
    """Return a version as its release spells it: an installer takes 0.7 for 0.7.0."""
    return next((each for each in knowledge.releases[name] if parsed(each) == parsed(version)), version)


def _strange(knowledge: Knowledge, versions: Pins) -> dict[str, str]:
    """Return the packages whose version is outside the data, with a sentence each: rules do not extend so far.

    Rules do extend to a newer patch of the last minor series, and to releases between two known ones of a series.
    """
    found = {}
    for name in (each for each in (*STACK, *GUESTS) if each != "jaxlib" and each in versions):
        known, here = knowledge.releases[name], Version(versions[name])
        series = [each for each in known if parsed(each).release[:2] == here.release[:2]]
        if here < Version(known[0]):
            found[name] = f"{name} {here} is older than this data, which begins with {known[0]}."
        elif series and (here <= Version(series[-1]) or series[-1] == known[-1]):
            continue
        elif here > Version(known[-1]):
            found[name] = f"{name} {here} is newer than this data, which ends with {known[-1]}, {knowledge.day}."
        else:
            found[name] = f"{name} {here} is not a release in this data."
    return found


def _newer(knowledge: Knowledge, versions: Pins) -> list[str]:
    """Return the packages of `versions` that are newer than any that was run."""
    last = {name: of[-1] for name, of in knowledge.releases.items() if name in versions and name != "jaxlib"}
    names = [name for name in STACK if name in last and Version(versions[name]) > Version(last[name])]
    return [f"{name} {versions[name]} (the newest here is {last[name]})" for name in names]


def _assumed(knowledge: Knowledge, given: Pins, stack: Stack) -> Pins:
    """Return versions for unnamed packages that the given ones import, as of the newest given release's day.

    That release's cell is the stack of that day; where it does not go with the given releases, the next older release
    that does is taken. An unnamed jax is the newest that the given releases admit: an installer takes it today.
    """
    jax: Pins = {} if "jax" in given or "jax" in stack.unsaid else _newest_jax(knowledge, given, stack.python)
    there = {**jax, **given}
    lacking = {each for name in there for each in IMPORTS.get(name, ())}.union(_BROUGHT)
    lacking -= {*there, *stack.unsaid}
    days = [id for id in knowledge.cells if any(id == f"{name}-{version}" for name, version in there.items())]
    if not lacking or not days or "jax" not in there:
        return jax
    pins, chosen = knowledge.cells[days[-1]], dict(there)
    for name in (each for each in (*STACK, *_BROUGHT) if each in lacking and each in pins):
        # What the given releases refuse among themselves, no other package mends.
        refused = {*refusals(chosen, stack.python)}
        older = (each for each in reversed(knowledge.releases[name]) if parsed(each) <= parsed(pins[name]))
        fitting = (each for each in older if refused.issuperset(refusals({**chosen, name: each}, stack.python)))
        if release := next(fitting, None):
            chosen[name] = release
    return {name: version for name, version in chosen.items() if name not in given}


def _newest_jax(knowledge: Knowledge, given: Pins, python: str) -> Pins:
    """Return the newest jax that the releases given of the stack and of guests admit; empty without such releases."""
    if given.keys().isdisjoint([*STACK, *GUESTS]):
        return {}
    releases = (release for release in reversed(knowledge.releases["jax"]) if "jaxlib" in knowledge.jaxlibs[release])
    return next(({"jax": each} for each in releases if not refusals({**given, "jax": each}, python)), {})
