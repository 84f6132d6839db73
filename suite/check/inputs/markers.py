"""Markers, evaluated for this machine, under the running Python or the nearest one that a project can have."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Set

from packaging.markers import Marker
from packaging.specifiers import InvalidSpecifier, SpecifierSet

Environment = Mapping[str, str | Set[str]]


def environment(wanted: str) -> dict[str, str]:
    """The variables of markers that follow from Python, where the range `wanted` limits it."""
    running = sys.version_info
    ours = ".".join(map(str, running[:3]))
    near = sorted(range(3, 30), key=lambda minor: abs(minor - running.minor))
    try:
        allowed = SpecifierSet(wanted)
    except InvalidSpecifier:
        # Whoever reads that file says so.
        allowed = SpecifierSet()
    every = (ours, *(f"3.{minor}.{patch}" for minor in near for patch in range(30)))
    python = next((each for each in every if allowed.contains(each)), ours)
    return {"python_full_version": python, "python_version": python.rpartition(".")[0]}


def read_for(where: str, environment: Mapping[str, str]) -> str:
    """`where`, with the Python for which its markers were evaluated, if that is not this one."""
    version = environment["python_version"]
    return where if version == "{}.{}".format(*sys.version_info) else f"{where}, for Python {version}"


def applies(marker: Marker | None, environment: Environment, *, lock: bool = False) -> bool:
    """Whether what has this marker is there; a lock's may ask for extras and groups. Raises ValueError."""
    try:
        return marker is None or marker.evaluate(environment, context="lock_file" if lock else "metadata")
    except KeyError as error:
        raise ValueError(f"the marker {str(marker)[:100]!r} asks for {error}, which is not known") from error
