"""Somebody else's file, read whole: as text, as TOML; too large, too odd or too deep is a sentence."""

from __future__ import annotations

import codecs
import re
import tomllib
from pathlib import Path
from typing import Any

from suite.errors import BadFile, Fault

_MIB = 2**20
# No lock that an installer wrote is as large; what reads TOML is slow.
_LARGEST, _LARGEST_TOML = 16 * _MIB, 4 * _MIB
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


def why(error: ValueError | RecursionError) -> str:
    """What a parser found wrong, in a phrase that a line has room for."""
    return "it is nested too deep" if isinstance(error, RecursionError) else str(error).partition("\n")[0][:200]


def text(path: Path) -> str:
    """The text of a file: UTF-8, or the UTF-16 that PowerShell writes. Raises BadFile."""
    try:
        with path.open("rb") as stream:
            data = stream.read(_LARGEST + 1)
    except OSError as error:
        raise bad(path, "file", error.strerror or str(error)) from error
    except ValueError as error:  # a NUL in its name
        raise bad(path, "file", str(error)) from error
    if len(data) > _LARGEST:
        raise bad(path, "file", f"it has more than {_LARGEST // _MIB} MiB: no lock is as large")
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
