"""Bounded reading of foreign files as text, TOML, YAML or JSON, and their models; faults become sentences."""

from __future__ import annotations

import codecs
import json
import re
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, ValidationError

from jax_stack_compat.base import bounded
from jax_stack_compat.base.errors import BadFile, Fault, Misused
from jax_stack_compat.base.files import FileModel, Model, faults
from jax_stack_compat.base.spelling import quoted

MAX_FAULTS = 20
_MIB = 2**20
# Locks are smaller, and the parsers of TOML and YAML are slow.
_MAX_BYTES, _MAX_TOML_CHARS, _MAX_YAML_CHARS = 16 * _MIB, 4 * _MIB, 8 * _MIB
# A resolver may be at the other end of a pipe.
_PATIENCE_S = 60.0
_MAX_DEPTH = 50
# tomllib takes quadratic time in the parts of a dotted key.
_MAX_KEY_PARTS = 8
_DOTTED = re.compile(rf"(?<![\w-])(?:[\w-]+[ \t]*\.[ \t]*){{{_MAX_KEY_PARTS}}}")
# Strings and comments, also unterminated ones, so that matching takes linear time.
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"""|\Z)' r"|'''.*?(?:'''|\Z)" r'|"(?:[^"\\\n]|\\.)*"?' r"|'[^'\n]*'?" r"|#[^\n]*", re.DOTALL
)


class Foreign(FileModel):
    """A part of a foreign file, which may have more keys than we read."""

    model_config = ConfigDict(extra="ignore", alias_generator=lambda name: name.replace("_", "-"))


def model(kind: type[Model], path: Path, found: object) -> Model:
    """Validate the content of the file at `path` as a model. Raises BadFile."""
    try:
        return kind.model_validate(found)
    except ValidationError as error:
        raise BadFile(faults(kind, path, error)[:MAX_FAULTS]) from error


def bad(path: Path, key: str, message: str) -> BadFile:
    """Return the error for a file with one fault."""
    return BadFile([Fault(path, key, message)])


def why(error: Exception) -> str:
    """Return a parser's complaint, short enough for a line."""
    return "it is nested too deep" if isinstance(error, RecursionError) else str(error).partition("\n")[0][:200]


def text(path: Path) -> str:
    """Return the text of a regular file. Raises BadFile."""
    return _decoded(path, lambda: bounded.regular(path, _MAX_BYTES))


def given(path: Path) -> str:
    """Return the text of a file, of a pipe, or of `-`, standard input. Raises BadFile."""
    return _decoded(path, lambda: bounded.given(path, _MAX_BYTES, _PATIENCE_S))


def _decoded(path: Path, read: Callable[[], bytes]) -> str:
    try:
        data = read()
    except (OSError, ValueError) as error:  # a NUL in its name
        raise bad(path, "file", getattr(error, "strerror", None) or str(error)) from error
    try:
        return data.decode(encoding(data))
    except UnicodeDecodeError as error:
        raise bad(path, "file", f"it is not UTF-8 text: see byte {error.start}") from error


def encoding(data: bytes) -> str:
    """Return the encoding of a text: UTF-8, or the UTF-16 that PowerShell writes."""
    return "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"


def toml(path: Path, written: str) -> dict[str, Any]:
    """Parse the text of the TOML file at `path`. Raises BadFile."""
    if len(written) > _MAX_TOML_CHARS:
        raise bad(path, "file", f"it has more than {_MAX_TOML_CHARS // _MIB} MiB, which is too large for a TOML file")
    if _DOTTED.search(_STRING.sub("s", written)):
        raise bad(path, "syntax", f"it has a key of more than {_MAX_KEY_PARTS} parts")
    try:
        return tomllib.loads(written)
    except (ValueError, RecursionError) as error:
        raise bad(path, "syntax", why(error)) from error


def parsed_json(path: Path, written: str) -> object:
    """Parse the text of the JSON file at `path`. Raises BadFile, also for a key that an object has twice."""
    try:
        return json.loads(written, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise bad(path, "syntax", why(error)) from error


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    _refuse_twice(key for key, _ in pairs)
    return dict(pairs)


def _refuse_twice(keys: Iterable[str]) -> None:
    """Raise ValueError for a key that is there twice: parsers silently keep the last."""
    seen = set()
    for key in keys:
        if key in seen:
            raise ValueError(f"{quoted(key)} is there twice: keep one")
        seen.add(key)


def yaml(path: Path, written: str) -> object:
    """Parse the text of the YAML file at `path`. Raises BadFile, also for a key that a mapping has twice."""
    if len(written) > _MAX_YAML_CHARS:
        raise bad(path, "file", f"it has more than {_MAX_YAML_CHARS // _MIB} MiB, which is too large for a YAML file")
    try:
        import yaml  # only these files need it
    except ModuleNotFoundError as error:
        raise Misused(f"{path} is YAML, which PyYAML reads: install it, `python -m pip install pyyaml`") from error
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    try:
        # Deep nesting crashes the loader in C, and a few aliases can exhaust the memory.
        for event in yaml.parse(written, Loader=loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _MAX_DEPTH:
                raise ValueError(f"it is nested more than {_MAX_DEPTH} deep")
            if isinstance(event, yaml.AliasEvent):
                raise ValueError(f"it has an alias, *{event.anchor}: write out its value")

        class Once(loader):  # type: ignore[misc, valid-type]
            def construct_mapping(self, node: Any, deep: bool = False) -> Any:
                _refuse_twice(key.value for key, _ in node.value if isinstance(key.value, str))
                return super().construct_mapping(node, deep)

        return yaml.load(written, Loader=Once)
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise bad(path, "syntax", f"{line}{error.problem}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise bad(path, "syntax", why(error)) from error
