"""What the metadata of the known releases says, for works.js. Pure, except for releases.json."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import Version

from jax_stack_compat.check import installs
from jax_stack_compat.check.installs import PYTHONS
from jax_stack_compat.judge.prediction import with_jaxlib
from jax_stack_compat.judge.rules import Pins
from jax_stack_compat.packages import HELD
from laboratory.report.site.places import NONE, Numbered, meeting

# An unknown Python comes first.
_ON = ("", *PYTHONS)


def metadata(releases: Mapping[str, Sequence[str]], stacks: Sequence[Pins]) -> dict[str, Any]:
    """Return the metadata of releases; a release is its place.

    `jaxlibs`: what goes with each jax in `stacks`. `jaxlibs_up_to`: how many of them are not newer than each jax.
    `metadata`: whether a cell can hold a package, its yanked releases, why each release refuses each of `pythons`, and
    what some releases require. `needed`: a package, its releases that meet a requirement, from … to below …, the text,
    and where it applies: on an unknown Python (0), or on those of `pythons` (from 1).
    """
    names, needed, on_python = list(releases), Numbered(), Numbered()

    def requires(name: str, version: str) -> list[int]:
        told = []
        for wanted in installs.required(name, version):
            other, pythons = canonicalize_name(wanted.name), [installs.applies(wanted.marker, each) for each in _ON]
            if other in releases and wanted.specifier and any(pythons):
                edges = tuple(meeting(wanted, releases[other]))
                told.append(needed[names.index(other), edges, f"{wanted.name}{wanted.specifier}", tuple(pythons)])
        return told

    def of_package(name: str, of: Sequence[str]) -> list[Any]:
        needs = {str(place): told for place, version in enumerate(of) if (told := requires(name, version))}
        refused = [on_python[tuple(_refusal(name, version, python) for python in PYTHONS)] for version in of]
        yanked = [place for place, version in enumerate(of) if not installs.admits(name, version, "")]
        return [name in HELD, yanked, refused, needs]

    return {
        "pythons": PYTHONS,
        "jaxlibs": [_jaxlib_of(jax, releases["jaxlib"], stacks) for jax in releases["jax"]],
        "jaxlibs_up_to": [_not_newer(jax, releases["jaxlib"]) for jax in releases["jax"]],
        "metadata": {name: of_package(name, of) for name, of in releases.items()},
        "needed": list(needed),
        "on_python": list(on_python),
    }


def _refusal(name: str, version: str, python: str) -> str:
    """Return why a release refuses an interpreter, without the release; empty if it does not."""
    why = installs.refusals({name: version}, python)
    return why[0].split(" ", 2)[2] if why else ""


def _jaxlib_of(jax: str, jaxlibs: Sequence[str], stacks: Sequence[Pins]) -> int:
    """Return the place of the jaxlib that an installer gives with a jax."""
    jaxlib = with_jaxlib({"jax": jax}, stacks).get("jaxlib")
    return NONE if jaxlib is None else [Version(each) for each in jaxlibs].index(Version(jaxlib))


def _not_newer(jax: str, jaxlibs: Iterable[str]) -> int:
    """Return the number of the releases of jaxlib that are not newer than a jax."""
    return sum(not installs.newer_jaxlib({"jax": jax, "jaxlib": jaxlib}) for jaxlib in jaxlibs)
