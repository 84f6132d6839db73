"""Markers, evaluated for this machine and the running Python, or the nearest that a project allows."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Literal

from packaging.markers import Marker

from jax_stack_compat.check.inputs import foreign

Environment = Mapping[str, str | Set[str]]
# uv and Poetry ask for several extras one by one.
_EXTRA = re.compile(r"""extra (==|!=) (['"])([\w.-]+)\2""")
# Poetry's ranges, `^3.10` and `~3.10`, which packaging does not know.
_MAX_CHARS = 2_000
_CARET, _TILDE = re.compile(r"\^\s*(\d++)([\d.]*)"), re.compile(r"~\s*(\d++\.\d++)([\d.]*+)(?!=)")


def environment(wanted: str) -> dict[str, str]:
    """Return the Python variables of markers, for a Python within the range `wanted`."""
    running = sys.version_info
    ours = ".".join(map(str, running[:3]))
    near = sorted(range(3, 30), key=lambda minor: abs(minor - running.minor))
    every = (ours, *(f"3.{minor}.{patch}" for minor in near for patch in range(30)))
    python = next((each for each in every if admits(wanted, each)), ours)
    return {"python_full_version": python, "python_version": python.rpartition(".")[0]}


def admits(wanted: str, version: str) -> bool:
    """Return True if a range of Python, also in Poetry's syntax, has this version, or is not a range."""
    if len(wanted) > _MAX_CHARS:
        return True
    wanted = _CARET.sub(lambda found: f">={found[1]}{found[2]},<{int(found[1][:9]) + 1}", wanted)
    wanted = _TILDE.sub(r">=\1\2,==\1.*", wanted)
    try:
        return any(
            foreign.specifiers(part.replace("*", "") if part.strip() == "*" else part).contains(version)
            for part in wanted.split("||")
        )
    except ValueError:
        # The reader of the file reports it.
        return True


def read_for(where: str, environment: Mapping[str, str]) -> str:
    """Return `where`, with the Python of its markers if that is not the running one."""
    version = environment["python_version"]
    return where if version == "{}.{}".format(*sys.version_info) else f"{where}, for Python {version}"


def is_locked(marker: Marker | str | None, environment: Environment, path: Path, key: str) -> bool:
    """Return True if a marker of a lock applies, which may ask for several extras and groups. Raises BadFile."""
    try:
        if isinstance(marker, str):
            marker = foreign.marker(_EXTRA.sub(_of_several, marker)) if marker else None
        return applies(marker, environment, context="lock_file")
    except ValueError as error:
        raise foreign.bad(path, key, foreign.why(error)) from error


def _of_several(found: re.Match[str]) -> str:
    return f"'{found[3]}' {'in' if found[1] == '==' else 'not in'} extras"


def applies(
    marker: Marker | None, environment: Environment, context: Literal["metadata", "lock_file"] = "metadata"
) -> bool:
    """Return True if a marker applies. Raises ValueError."""
    try:
        return marker is None or marker.evaluate(environment, context=context)
    except KeyError as error:
        raise ValueError(f"the marker {str(marker)[:100]!r} has the unknown variable {error}") from error
