"""The machine and the interpreter, as the cell sees them, and what a case would need of them that they lack.

Cell side. Features of a CPU are read from Linux's /proc/cpuinfo, and are not known elsewhere.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import operator
import platform
import sys
from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from suite.cell.issue import Case

# Of a hundred features, those that change what is computed, or how: the vector units and their number formats.
_VECTOR = ("sse", "ssse", "avx", "fma", "f16c", "amx", "bf16", "neon", "asimd", "fphp", "i8mm", "sve")
_COMPARE = {
    **{">=": operator.ge, "<=": operator.le, "==": operator.eq, "!=": operator.ne},
    **{">": operator.gt, "<": operator.lt},
}


def describe(packages: Iterable[str]) -> dict[str, Any]:
    """What a record says of where it was made, with the versions of these packages, None where there is none."""
    return {
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in packages},
        "platform": {
            "system": platform.system(),
            "machine": platform.machine(),
            "cpu": _cpuinfo().get("model name", platform.processor()),
        },
        "cpu_features": sorted(each for each in cpu_features() or () if each.startswith(_VECTOR)),
    }


def lacks(case: Case) -> str | None:
    """What the case needs and this machine or interpreter has not, in a sentence, or None."""
    if not python_is(case.python, sys.version_info[:3]):
        return f"it needs Python {case.python}, and this is {platform.python_version()}"
    return cpu_lacks(case.cpu, cpu_features())


def cpu_lacks(needed: Iterable[str], there: Collection[str] | None) -> str | None:
    """Which of the needed features are not `there`, in a sentence, or None; a `there` of None is not known."""
    if missing := [each for each in needed if each not in (there or ())]:
        told = f"it needs a CPU with {', '.join(missing)}"
        return f"{told}, and this one's features cannot be read" if there is None else told
    return None


def cpu_features() -> frozenset[str] | None:
    """All features of the CPU, by the names that Linux gives them, or None where they cannot be read."""
    told = _cpuinfo().get("flags") or _cpuinfo().get("Features")
    return frozenset(told.split()) if told else None


def python_is(specifier: str, version: tuple[int, int, int]) -> bool:
    """Whether a Python is one of `specifier`'s, as packaging reads it: ">=3.11,<3.14", "==3.12.*", "!=3.13.1".

    Raises ValueError for what is no such specifier.
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
    """What it says of the first CPU, by its own keys."""
    found: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            found.setdefault(key.strip(), value.strip())
    return found


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
