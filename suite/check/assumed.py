"""Versions that nobody named and an installer gives, and jaxlibs that a jax refuses."""

from __future__ import annotations

import json
from collections.abc import Collection

from packaging.requirements import Requirement

from suite.check.knowledge import Knowledge
from suite.files import ROOT
from suite.judge.rules import IMPORTS, STACK, Pins

_RELEASES = ROOT / "suite" / "stack" / "releases.json"


def assumed(knowledge: Knowledge, given: Pins, unsaid: Collection[str]) -> Pins:
    """Return the unnamed packages that the given ones import, as of the day of the newest given release.

    That release's cell is the stack of that day.
    """
    lacking = {each for name in given for each in IMPORTS.get(name, ())} - given.keys() - {*unsaid, "jax"}
    days = [id for id in knowledge.cells if any(id == f"{name}-{version}" for name, version in given.items())]
    if not lacking or not days or "jax" not in given:
        return {}
    pins = knowledge.cells[days[-1]]
    return {name: pins[name] for name in STACK if name in lacking and name in pins}


def refused_jaxlib(given: Pins) -> str:
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
