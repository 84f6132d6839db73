"""Whether an installer takes a stack: Python, wheels and requirements, by the metadata in releases.json.

The file is read without pydantic, to start fast.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from jax_stack_compat.base.errors import usable
from jax_stack_compat.base.files import PACKAGES
from jax_stack_compat.judge.rules import Pins, in_stack_order

_RELEASES = PACKAGES / "jax_stack_compat" / "stack" / "releases.json"
# Only jaxlib has no source archive, so an installer needs its wheel.
_NEEDS_A_WHEEL = "jaxlib"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
_PLUGIN = re.compile(r"jax-(cuda|rocm)\d*-(plugin|pjrt)")


@cache
def _offered() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    with usable(_RELEASES, "nox -s snapshot"):
        return dict(json.loads(_RELEASES.read_text(encoding="utf-8"))["packages"])


def minor(python: str) -> str:
    """Return the minor release of an interpreter's version: "3.12" for "3.12.4"; empty for what is no version."""
    found = re.match(r"\d{1,3}\.\d{1,3}(?!\d)", python, re.ASCII)
    return found[0] if found else ""


def refusals(versions: Pins, python: str) -> list[str]:
    """Return why an installer refuses these versions on `python`, a phrase each; without `python`, on any."""
    told: dict[str, str] = {}
    # What jax and its jaxlib refuse alike is told of jax.
    for name in in_stack_order(versions):
        release = _offered().get(name, {}).get(versions[name])
        if release is None:
            continue
        of_python = _of_python(name, versions[name], release, minor(python)) if minor(python) else ()
        for why in (*of_python, *_of_requirements(name, versions[name], versions, minor(python))):
            what = why.split(" ", 2)[2]
            told.setdefault(what if name in ("jax", "jaxlib") else why, why)
    return list(told.values())


def admits(name: str, version: str, python: str) -> bool:
    """Return True if a release is not yanked, allows `python`, and has a wheel for it."""
    release = _offered().get(name, {}).get(version)
    if release is None or release["yanked"] is not None:
        return False
    return not minor(python) or not [*_of_python(name, version, release, minor(python))]


def newer_jaxlib(versions: Pins) -> bool:
    """Return True if jaxlib is newer than jax, which raises a RuntimeError then: `jax/_src/lib/__init__.py`."""
    pair = [Version(versions[name]).release for name in ("jax", "jaxlib") if name in versions]
    return len(pair) == 2 and pair[1] > pair[0]


def unused_plugins(versions: Pins) -> list[str]:
    """Return the plugins for a GPU of another release than jaxlib, which does not use them: `plugin_support.py`."""
    jaxlib = versions.get("jaxlib")
    there = {name: version for name, version in versions.items() if jaxlib and _PLUGIN.fullmatch(name)}
    other = (name for name, version in there.items() if Version(version).release != Version(jaxlib or "").release)
    return [f"{name} {there[name]}" for name in other]


def _of_python(name: str, version: str, release: Mapping[str, Any], python: str) -> Iterator[str]:
    if f"{python}.0" not in SpecifierSet(release["requires_python"]):
        yield f"{name} {version} requires Python {release['requires_python']}, and {python} is here"
    elif name == _NEEDS_A_WHEEL and not {"py3", f"cp{python.replace('.', '')}"} & release["wheels"].keys():
        tags = sorted(release["wheels"], key=lambda tag: int(tag.removeprefix("cp3")))
        yield f"{name} {version} has no wheel for CPython {python}, but for {tags[0]} to {tags[-1]}"


def _of_requirements(name: str, version: str, there: Pins, python: str) -> Iterator[str]:
    for other, wanted in _applying(name, version, python):
        if other in there and not _contains(str(wanted.specifier), there[other]):
            yield f"{name} {version} requires {wanted.name}{wanted.specifier}, and {there[other]} is here"


# A search for a set asks for the same releases thousands of times.
@cache
def _applying(name: str, version: str, python: str) -> Sequence[tuple[str, Requirement]]:
    """Return what a release requires on `python` without extras, by package."""
    every = [wanted for wanted in required(name, version) if applies(wanted.marker, python)]
    return [(canonicalize_name(wanted.name), wanted) for wanted in every]


def required(name: str, version: str) -> Sequence[Requirement]:
    """Return what a release requires, with any marker; of an unknown release, nothing."""
    release = _offered().get(name, {}).get(version)
    return [_requirement(text) for text in release["requires_dist"]] if release else []


@cache
def _contains(specifier: str, version: str) -> bool:
    return SpecifierSet(specifier).contains(version, prereleases=True)


@cache
def _requirement(text: str) -> Requirement:
    return Requirement(text)


def applies(marker: Marker | None, python: str) -> bool:
    """Return True if a requirement applies without extras; one that depends on an unknown Python does not."""
    if marker is None:
        return True
    if not python and "python" in str(marker):
        return False
    return marker.evaluate({"extra": "", "python_version": python, "python_full_version": f"{python}.0"})
