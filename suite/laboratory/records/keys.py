"""The key of an observation: hashes of the lock, the case and the probe, and the interpreter and platform.

A key changes only if the observation may change. Code counts as a syntax tree: formatting, comments, docstrings,
imports of our own modules and the order of definitions do not count. The vocabulary (`cell.issue`) does not count,
either. Of a case's table, only the fields that its process receives are in the case's hash.
"""

from __future__ import annotations

import ast
import hashlib
import json
import platform
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path

from jax_stack_compat.base.files import PACKAGES
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.issue import Case, Signature
from jax_stack_compat.cell.signatures import about_warnings
from jax_stack_compat.judge.record import Key
from laboratory.sources import source
from laboratory.sources.syntax import canonical

# The modules of suite/jax_stack_compat/cell that run a case.
PROBE = ("atomic", "child", "guard", "machine", "parts", "probe", "signatures")
# The fields of a case that decide how its process runs. The key lists all of them, even with default values.
_OF_A_PROCESS = ("needs", "x64", "environment", "host_devices", "cpu", "python", "isolation", "seconds", "memory_mib")


def here() -> str:
    """Return this machine's platform, as a key names it."""
    return f"{platform.system()}-{platform.machine()}"


def key(entry: Entry, case: Case, lock_sha256: str, python: str, where: str = "") -> Key:
    """Return the key of a case under a lock and a Python, on the platform `where` or this one."""
    return Key(
        lock=lock_sha256, issue=case_sha256(entry, case), probe=probe_sha256(), python=python, platform=where or here()
    )


def case_sha256(entry: Entry, case: Case) -> str:
    """Return the sha256 of a case's code and of the table fields that its process depends on."""
    # Cached by id, since a case is not hashable. The case is kept, so that no other object gets its id.
    place = id(case), _text(entry.source)
    if place not in _KNOWN:
        _KNOWN[place] = case, _case_sha256(place[1], case)
    return _KNOWN[place][1]


_KNOWN: dict[tuple[int, str], tuple[Case, str]] = {}


def _case_sha256(text: str, case: Case) -> str:
    asked: dict[str, object] = {name: getattr(case, name) for name in _OF_A_PROCESS}
    asked["environment"] = dict(case.environment)
    if case.workaround is not None and case.workaround.environment:
        asked["workaround"] = dict(case.workaround.environment)
    # Exceptions are on record, and are recognised later. A warning is recorded only if a signature asks for it.
    if about_warnings(case.signatures):
        # In order, since the first matching signature counts.
        asked["signatures"] = [[name, _fields(some)] for name, some in case.signatures.items()]
    return _sha256(_code(text, _functions(case)), json.dumps(asked, sort_keys=True))


def code_sha256(entry: Entry, functions: Collection[str], asked: str) -> str:
    """Return the sha256 of some functions of an issue's module, of what they use, and of what is asked of them."""
    return _sha256(_code(_text(entry.source), frozenset(functions)), asked)


@cache
def probe_sha256() -> str:
    """Return the sha256 of the modules that run a case."""
    return probe_of(_text)


def probe_of(text: Callable[[Path], str]) -> str:
    """Return the sha256 of the modules that run a case, whose text `text` returns."""
    paths = (PACKAGES / "jax_stack_compat" / "cell" / f"{name}.py" for name in PROBE)
    return _sha256(*(canonical(ast.parse(text(path))) for path in paths))


@cache
def _code(text: str, functions: frozenset[str]) -> str:
    return "\n".join(canonical(each) for each in source.reached(text, functions))


def _functions(case: Case) -> frozenset[str]:
    around = case.workaround.code if case.workaround else None
    return frozenset(each.__name__ for each in (case.reproducer, case.control, around) if each is not None)


def _fields(signatures: Signature | tuple[Signature, ...]) -> list[list[str]]:
    some = signatures if isinstance(signatures, tuple) else (signatures,)
    return [[each.type, each.message, each.module] for each in some]


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _sha256(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()
