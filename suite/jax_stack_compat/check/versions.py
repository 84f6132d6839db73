"""The versions that are looked up for a stack: those named, and those that an installer gives with them."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass

from packaging.requirements import Requirement
from packaging.version import Version

from jax_stack_compat.base.files import PACKAGES
from jax_stack_compat.check.inputs.stack import Stack
from jax_stack_compat.check.knowledge import Knowledge
from jax_stack_compat.judge.metadata import parsed
from jax_stack_compat.judge.prediction import with_jaxlib
from jax_stack_compat.judge.rules import Pins
from jax_stack_compat.packages import IMPORTS, STACK

_RELEASES = PACKAGES / "jax_stack_compat" / "stack" / "releases.json"


@dataclass(frozen=True)
class LookedUp:
    """The versions to look up, those of them that are `assumed`, and those `newer` than any that was run.

    `strange` has a sentence for each package that is left out, because its version is outside the data.
    """

    pins: Pins
    assumed: Pins
    newer: tuple[str, ...]
    strange: tuple[str, ...]


def looked_up(stack: Stack, knowledge: Knowledge) -> LookedUp:
    """Return the versions of a stack that the published data cover."""
    given = {name: _spelled(name, of, knowledge) for name, of in stack.versions.items() if name in knowledge.releases}
    guessed = _assumed(knowledge, given, stack.unsaid)
    strange = _strange(knowledge, given)
    if refused := _refused_jaxlib(given) if "jax" not in strange else "":
        strange["jax"] = refused
    if "jax" in strange:
        given.pop("jaxlib", None)
    given = {name: of for name, of in {**guessed, **given}.items() if name not in strange}
    versions = with_jaxlib(given, knowledge.cells.values())
    return LookedUp(versions, guessed, tuple(_newer(knowledge, versions)), tuple(strange.values()))


def _spelled(name: str, version: str, knowledge: Knowledge) -> str:
    """Return a version as its release spells it: an installer takes 0.7 for 0.7.0."""
    return next((each for each in knowledge.releases[name] if parsed(each) == parsed(version)), version)


def _strange(knowledge: Knowledge, versions: Pins) -> dict[str, str]:
    """Return the packages whose version is outside the data, with a sentence each: rules do not extend so far.

    Rules do extend to a newer patch of the last minor series, and to releases between two known ones of a series.
    """
    found = {}
    for name in (each for each in STACK if each != "jaxlib" and each in versions):
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


def _assumed(knowledge: Knowledge, given: Pins, unsaid: Collection[str]) -> Pins:
    """Return versions for unnamed packages that the given ones import, as of the newest given release's day.

    That release's cell is the stack of that day.
    """
    lacking = {each for name in given for each in IMPORTS.get(name, ())} - given.keys() - {*unsaid, "jax"}
    days = [id for id in knowledge.cells if any(id == f"{name}-{version}" for name, version in given.items())]
    if not lacking or not days or "jax" not in given:
        return {}
    pins = knowledge.cells[days[-1]]
    return {name: pins[name] for name in STACK if name in lacking and name in pins}


def _refused_jaxlib(given: Pins) -> str:
    """Return a sentence if the metadata of a jax refuses the jaxlib beside it."""
    jax, jaxlib = given.get("jax"), given.get("jaxlib")
    if jax is None or jaxlib is None or jax == jaxlib:
        return ""
    # Read only if the two differ; most stacks need no metadata.
    release = json.loads(_RELEASES.read_text(encoding="utf-8"))["packages"]["jax"].get(jax, {})
    for needed in map(Requirement, release.get("requires_dist", ())):
        if needed.name == "jaxlib" and not needed.marker and not needed.specifier.contains(jaxlib, prereleases=True):
            return f"jax {jax} refuses jaxlib {jaxlib}: it requires jaxlib {needed.specifier}."
    return ""
