"""This machine and interpreter: what a record says of them, and whether they have what a case needs.

Cell side. CPU features are read from /proc/cpuinfo: on Linux only.
"""

from __future__ import annotations

import contextlib
import operator
import os
import platform
import sys
from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from jax_stack_compat.cell.issue import Case

# Vector units and number formats: of all CPU features, those that can change a result.
_VECTOR = ("sse", "ssse", "avx", "fma", "f16c", "amx", "bf16", "neon", "asimd", "fphp", "i8mm", "sve")
_COMPARE = {
    **{">=": operator.ge, "<=": operator.le, "==": operator.eq, "!=": operator.ne},
    **{">": operator.gt, "<": operator.lt},
}


def describe(packages: Iterable[str]) -> dict[str, Any]:
    """The `machine` of a record, but for the imports. A package that is not installed has the version None."""
    return {
        "python": platform.python_version(),
        "cores": cores(),
        "packages": {name: _version(name) for name in packages},
        "platform": {
            "system": platform.system(),
            "machine": platform.machine(),
            "cpu": _cpuinfo().get("model name", platform.processor()),
        },
        "cpu_features": sorted(each for each in cpu_features() or () if each.startswith(_VECTOR)),
    }


def cores() -> int:
    """Return the number of cores that this process may use: XLA sizes its thread pool by it."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def lacks(case: Case) -> str | None:
    """A sentence that says what the case needs and is missing here, or None."""
    if not python_is(case.python, sys.version_info[:3]):
        return f"it needs Python {case.python}, and this is {platform.python_version()}"
    return cpu_lacks(case.cpu, cpu_features())


def cpu_lacks(needed: Iterable[str], there: Collection[str] | None) -> str | None:
    """A sentence that names the features that are needed and not `there`, or None. `there` is None if unknown."""
    if missing := [each for each in needed if each not in (there or ())]:
        told = f"it needs a CPU with {', '.join(missing)}"
        return f"{told}, and this one's features cannot be read" if there is None else told
    return None


def cpu_features() -> frozenset[str] | None:
    """All CPU features, under Linux's names; None where they cannot be read."""
    told = _cpuinfo().get("flags") or _cpuinfo().get("Features")
    return frozenset(told.split()) if told else None


def python_is(specifier: str, version: tuple[int, int, int]) -> bool:
    """Whether a Python version meets a specifier, as packaging reads it: ">=3.11,<3.14", "==3.12.*", "!=3.13.1".

    Raises ValueError for a specifier that it cannot read; `~=` is one.
    """
    for clause in filter(None, map(str.strip, specifier.split(","))):
        sign = clause[:2] if clause[:2] in _COMPARE else clause[:1]
        if sign not in _COMPARE:
            raise ValueError(f"{specifier!r} is not a specifier of Pythons that the probe can read")
        wanted = tuple(map(int, clause[len(sign) :].removesuffix(".*").split(".")))
        if clause.endswith(".*"):
            met = _COMPARE[sign](version[: len(wanted)], wanted)
        else:
            met = _COMPARE[sign](version, (*wanted, 0, 0)[:3])
        if not met:
            return False
    return True


@cache
def _cpuinfo() -> dict[str, str]:
    """The fields of the first CPU."""
    found: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            found.setdefault(key.strip(), value.strip())
    return found


def _version(name: str) -> str | None:
    import importlib.metadata  # half of what it costs to import an issue, and only a record needs it

    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
