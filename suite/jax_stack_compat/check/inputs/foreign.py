"""Bounded reading of foreign files as text, TOML, YAML or JSON, and their models; faults become sentences."""

from __future__ import annotations

import codecs
import json
import os
import re
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version
from pydantic import ConfigDict, ValidationError

from jax_stack_compat.base import bounded
from jax_stack_compat.base.errors import BadFile, Fault, Misused
from jax_stack_compat.base.files import FileModel, Model, faults
from jax_stack_compat.base.places import is_there
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
_MARKS = ((".git",), ("pyproject.toml", "setup.py"))
_DOTTED = re.compile(rf"(?<![\w-])(?:[\w-]+[ \t]*\.[ \t]*){{{_MAX_KEY_PARTS}}}")
# Strings and comments, also unterminated ones, so that matching takes linear time.
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"""|\Z)' r"|'''.*?(?:'''|\Z)" r'|"(?:[^"\\\n]|\\.)*"?' r"|'[^'\n]*'?" r"|#[^\n]*", re.DOTALL
)


# Python refuses to convert thousands of digits to a number, at the first comparison of a version.
_LONG_NUMBER = re.compile(r"\d{100}")
_MAX_VERSION_CHARS, _MAX_WORDS_CHARS = 100, 10_000
P = TypeVar("P")


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


def version(written: str) -> Version:
    """Parse a version in a user's text. Raises ValueError."""
    return _of_words(Version, written, _MAX_VERSION_CHARS)


def specifiers(written: str) -> SpecifierSet:
    """Parse a range of versions in a user's text. Raises ValueError."""
    return _of_words(SpecifierSet, written)


def requirement(written: str) -> Requirement:
    """Parse a requirement in a user's text. Raises ValueError."""
    return _of_words(Requirement, written)


def marker(written: str) -> Marker:
    """Parse a marker in a user's text. Raises ValueError."""
    return _of_words(Marker, written)


def _of_words(kind: Callable[[str], P], written: str, most: int = _MAX_WORDS_CHARS) -> P:
    if len(written) > most:
        raise ValueError(f"it has more than {most} characters")
    if _LONG_NUMBER.search(written):
        raise ValueError("it has a number of a hundred digits or more")
    return kind(written)


def why(error: Exception) -> str:
    """Return a parser's complaint, short enough for a line."""
    return "it is nested too deep" if isinstance(error, RecursionError) else str(error).partition("\n")[0][:200]


def project(path: Path) -> Path:
    """Return the folder of the project that a path is in, as it is written: a link is in the project that has it.

    It is the repository if there is one, else the nearest folder with a project's file, else this folder or the path's.
    """
    folders, here = Path(os.path.abspath(path)).parents, Path.cwd()  # noqa: PTH100  a link stays one
    marked = ([each for each in folders if any(is_there(each / name) for name in names)] for names in _MARKS)
    return next((each[0] for each in marked if each), here if here in folders else folders[0])


def text(path: Path) -> str:
    """Return the text of a regular file. Raises BadFile."""
    return _decoded(path, lambda: bounded.regular(path, _MAX_BYTES))


def given(path: Path) -> str:
    """Return the text of a file, of a pipe, or of `-`, standard input. Raises BadFile."""
    return _decoded(path, lambda: bounded.given(path, _MAX_BYTES, _PATIENCE_S))


def _decoded(path: Path, read: Callable[[], bytes]) -> str:
    try:
        _fence(path)
        data = read()
    except (OSError, ValueError) as error:  # a NUL in its name
        raise bad(path, "file", getattr(error, "strerror", None) or str(error)) from error
    try:
        return data.decode(encoding(data))
    except UnicodeDecodeError as error:
        raise bad(path, "file", f"it is not UTF-8 text: see byte {error.start}") from error


def _fence(path: Path) -> None:
    """Raise ValueError for a link out of the project, whose target a message may quote."""
    root, target = project(path), Path(os.path.realpath(path))
    # Only the machine's owner can make /dev/stdin and /dev/fd/63, which are links.
    if not target.is_relative_to(os.path.realpath(root)) and not path.is_relative_to("/dev"):
        raise ValueError(f"it is a link out of the project in {root}, so it was not read: name that file itself")


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
    """Parse the text of the JSON file at `path`. Raises BadFile, also for a key that is there twice."""
    try:
        return json.loads(written, object_pairs_hook=_distinct)
    except (ValueError, RecursionError) as error:
        raise bad(path, "syntax", why(error)) from error


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    _check_once([key for key, _ in pairs])
    return dict(pairs)


def _check_once(keys: list[str]) -> None:
    """Raise ValueError for a key that is there twice: a reader would silently take the last."""
    if len(set(keys)) < len(keys):
        twice = next(key for key, count in Counter(keys).items() if count > 1)
        raise ValueError(f"{quoted(twice)} is there twice: keep one")


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
        return _loaded(loader(written))
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise bad(path, "syntax", f"{line}{error.problem}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise bad(path, "syntax", why(error)) from error


def _loaded(loader: Any) -> object:
    """Return the content of a YAML text. Raises YAMLError, and ValueError for a key that is there twice."""
    try:
        top = loader.get_single_node()
        waiting = [top]
        while waiting:
            node = waiting.pop()
            kind = getattr(node, "id", "")
            if kind == "mapping":
                _check_once([key.value for key, _ in node.value if key.id == "scalar"])
                waiting += [value for _, value in node.value]
            elif kind == "sequence":
                waiting += node.value
        return loader.construct_document(top) if top is not None else None
    finally:
        loader.dispose()
