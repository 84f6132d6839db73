"""Describes what a module has: kind, warning, signature, home and docstring of each name. Cell side."""

from __future__ import annotations

import hashlib
import inspect
import os
import re
import sys
import warnings
from types import ModuleType
from typing import Any

_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "/",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "",
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.KEYWORD_ONLY: "=",
    inspect.Parameter.VAR_KEYWORD: "**",
}
_LONGEST = 60


def failure(error: BaseException, package: str) -> str:
    """Return why a module cannot be imported: what it needs, or what it raised."""
    lacking = getattr(error, "name", None)
    if isinstance(error, ModuleNotFoundError) and lacking and lacking.partition(".")[0] != package:
        return f"needs {lacking.partition('.')[0]}"
    return f"raises {type(error).__name__}: {_steady(str(error)).strip().partition(chr(10))[0][:120]}"


def names(module: ModuleType) -> list[str]:
    """Return the names that a module has, those that it gives only when asked among them."""
    return [name for name in _candidates(module) if _has(module, name)]


def module(of: ModuleType) -> dict[str, Any]:
    """Return a public module's names, each described, and private ones by name only.

    `gone` has what the module itself says of names that it no longer has.
    """
    found: dict[str, dict[str, Any]] = {}
    gone: dict[str, str] = {}
    private = []
    for name in _candidates(of):
        if name.startswith("_"):
            private += [name] if _has(of, name) else []
            continue
        try:
            found[name] = described(of, name)
        except AttributeError as error:
            gone[name] = _steady(str(error))
    said = {name: words for name, words in gone.items() if "has no attribute" not in words}
    return {"names": found, "private": private, "gone": said}


def described(of: ModuleType, name: str) -> dict[str, Any]:
    """Return what a name is; what does not apply to it is left out. Raises AttributeError where it is not there.

    It is asked for once: some modules warn the first time only.
    """
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            value = getattr(of, name)
        except AttributeError:
            raise
        except Exception as error:
            return {"kind": "raises", "says": failure(error, of.__name__.partition(".")[0])}
    found: dict[str, Any] = {"kind": kind(value)}
    if told:
        found["warns"] = [told[0].category.__name__, _steady(str(told[0].message))]
    if found["kind"] in ("function", "class"):
        home = _home(value)
        found |= {"home": home} if home and home != f"{of.__name__}.{name}" else {}
        found |= {"doc": _digest(value)} if getattr(value, "__doc__", None) else {}
        signature = parameters(value)
        found |= {"parameters": signature} if signature is not None else {}
    if found["kind"] == "class":
        found["members"] = members(value)
    return found


def kind(value: object) -> str:
    """Return what kind of thing a name stands for."""
    if isinstance(value, ModuleType):
        return "module"
    if inspect.isclass(value):
        return "class"
    return "function" if callable(value) else "constant"


def parameters(value: object) -> list[list[str]] | None:
    """Return name, kind and default of each parameter; None where Python knows no signature."""
    try:
        signature = inspect.signature(value)  # type: ignore[arg-type]
    except Exception:
        return None
    return [
        [_KINDS[each.kind] + each.name, *([_text(each.default)] if each.default is not inspect.Parameter.empty else [])]
        for each in signature.parameters.values()
    ]


def members(of: type) -> dict[str, list[list[str]] | None]:
    """Return the public members of a class that Python's own classes do not give it, with their parameters."""
    found: dict[str, list[list[str]] | None] = {}
    try:
        there = dir(of)
    except Exception:
        return found
    for name in there:
        owner = next((each for each in getattr(of, "__mro__", ()) if name in vars(each)), None)
        if name.startswith("_") or (owner and owner.__module__ in ("builtins", "enum", "typing")):
            continue
        value = inspect.getattr_static(of, name, None)
        plain = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
        found[name] = parameters(plain) if inspect.isfunction(plain) else None
    return found


def _has(of: ModuleType, name: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            getattr(of, name)
        except AttributeError:
            return False
        except Exception:
            return True
    return True


def _candidates(of: ModuleType) -> list[str]:
    return sorted(name for name in {*dir(of), *_asked(of)} if not name.startswith("__"))


def _asked(of: ModuleType) -> set[str]:
    """Return the names that a module's `__getattr__` may answer to: from its tables, and from its code."""
    found = {each for each in getattr(of, "__all__", ()) if isinstance(each, str)}
    answers = inspect.unwrap(vars(of).get("__getattr__", _asked))
    tables = [vars(of).get("_deprecations")]
    for cell in getattr(answers, "__closure__", None) or ():
        try:
            tables.append(cell.cell_contents)
        except ValueError:
            continue
    for table in tables:
        if isinstance(table, dict):
            found |= {each for each in table if isinstance(each, str)}
    code = getattr(answers, "__code__", None)
    texts = [each for each in getattr(code, "co_consts", ()) if isinstance(each, (str, tuple, frozenset))]
    for each in texts:
        found |= {each} if isinstance(each, str) else {text for text in each if isinstance(text, str)}
    return {each for each in found if each.isidentifier()}


def _home(value: object) -> str:
    where, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    return f"{where}.{name}" if isinstance(where, str) and isinstance(name, str) else ""


def _digest(value: object) -> str:
    text = inspect.cleandoc(str(getattr(value, "__doc__", "")))
    return hashlib.sha256(_steady(text).encode()).hexdigest()[:8]


def _text(value: object) -> str:
    """Return a default as text that is the same in each process."""
    if inspect.isclass(value) or inspect.isroutine(value):
        return _home(value) or str(type(value).__name__)
    if isinstance(value, (set, frozenset)):
        return f"{{{', '.join(sorted(_text(each) for each in value))}}}"
    if type(value) in (tuple, list) and any(isinstance(each, (set, frozenset)) for each in value):  # type: ignore[attr-defined]
        return f"({', '.join(_text(each) for each in value)})"  # type: ignore[attr-defined]
    try:
        text = repr(value)
    except Exception:
        return type(value).__name__
    return _steady(text)[:_LONGEST]


def _steady(text: str) -> str:
    """Return text without what differs between two processes, homes and machines."""
    for place in (sys.prefix, sys.base_prefix, os.path.expanduser("~")):  # noqa: PTH111
        text = text.replace(place, "…") if len(place) > 1 else text
    return re.sub(r" at 0x[0-9a-f]+", "", text)
