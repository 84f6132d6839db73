"""Somebody else's file, read whole: as text, as TOML, as YAML; too large, too odd or too deep is a sentence."""

from __future__ import annotations

import codecs
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from suite import bounded
from suite.errors import BadFile, Fault, Misused

_MIB = 2**20
# No lock that an installer wrote is as large; what reads TOML and YAML is slow.
_LARGEST, _LARGEST_TOML, _LARGEST_YAML = 16 * _MIB, 4 * _MIB, 8 * _MIB
# A resolver may be at the other end of a pipe.
_PATIENCE_S = 60.0
_DEEPEST = 50
# The time that tomllib takes grows with the square of a dotted key.
_MOST_PARTS = 8
_DOTTED = re.compile(rf"(?<![\w-])(?:[\w-]+[ \t]*\.[ \t]*){{{_MOST_PARTS}}}")
# Strings and comments, also those that nothing ends: so it is looked at each letter once.
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"""|\Z)' r"|'''.*?(?:'''|\Z)" r'|"(?:[^"\\\n]|\\.)*"?' r"|'[^'\n]*'?" r"|#[^\n]*", re.DOTALL
)


def bad(path: Path, key: str, message: str) -> BadFile:
    """A file that cannot be used, for one reason."""
    return BadFile([Fault(path, key, message)])


def why(error: Exception) -> str:
    """What a parser found wrong, in a phrase that a line has room for."""
    return "it is nested too deep" if isinstance(error, RecursionError) else str(error).partition("\n")[0][:200]


def text(path: Path) -> str:
    """Return the text of a file: UTF-8, or the UTF-16 that PowerShell writes. Raises BadFile."""
    return _decoded(path, lambda: bounded.regular(path, _LARGEST))


def given(path: Path) -> str:
    """Return the text of what somebody names: a file, a pipe, or `-`, standard input. Raises BadFile."""
    return _decoded(path, lambda: bounded.given(path, _LARGEST, _PATIENCE_S))


def _decoded(path: Path, read: Callable[[], bytes]) -> str:
    try:
        data = read()
    except OSError as error:
        raise bad(path, "file", error.strerror or str(error)) from error
    except ValueError as error:  # a NUL in its name
        raise bad(path, "file", str(error)) from error
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise bad(path, "file", f"it is no UTF-8 text: see byte {error.start}") from error


def toml(path: Path, written: str) -> dict[str, Any]:
    """What is written in the TOML file at `path`. Raises BadFile."""
    if len(written) > _LARGEST_TOML:
        raise bad(path, "file", f"it has more than {_LARGEST_TOML // _MIB} MiB: no TOML of a project is as large")
    if _DOTTED.search(_STRING.sub("s", written)):
        raise bad(path, "syntax", f"it has a key of more than {_MOST_PARTS} parts")
    try:
        return tomllib.loads(written)
    except (ValueError, RecursionError) as error:
        raise bad(path, "syntax", why(error)) from error


def yaml(path: Path, written: str) -> object:
    """Return what is written in the YAML file at `path`. Raises BadFile."""
    if len(written) > _LARGEST_YAML:
        raise bad(path, "file", f"it has more than {_LARGEST_YAML // _MIB} MiB: no YAML of a project is as large")
    try:
        import yaml  # only these files need it
    except ModuleNotFoundError as error:
        raise Misused(f"{path} is YAML, which PyYAML reads: install it, `python -m pip install pyyaml`") from error
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    try:
        # The loader in C ends the process where it is nested deep, and a few aliases can stand for all memory.
        for event in yaml.parse(written, Loader=loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                raise ValueError(f"it is nested more than {_DEEPEST} deep")
            if isinstance(event, yaml.AliasEvent):
                raise ValueError(f"it has an alias, *{event.anchor}: write out what that stands for")
        return yaml.load(written, Loader=loader)
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise bad(path, "syntax", f"{line}{error.problem}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise bad(path, "syntax", why(error)) from error
