"""The project's own files: their places, reading with every fault, and writing several at once."""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from suite import bounded
from suite.cell.atomic import write
from suite.errors import BadFile, Fault

ROOT = Path(__file__).resolve().parent.parent
STACK = ROOT / "suite" / "stack"
# Environments and records: some gigabytes, which a user may want elsewhere; what was installed has no tree around it.
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "jax-stack-compat"
_OWN = ROOT / ".suite" if (ROOT / "pyproject.toml").exists() else _CACHE
# Not by Path.resolve, which a loop of links ends.
STATE = Path(os.path.realpath(os.environ.get("SUITE_STATE") or _OWN))
REPORTS = ROOT / "reports"
# No file of ours is as large.
_MOST = 256 * 2**20

Model = TypeVar("Model", bound="FileModel")


class FileModel(BaseModel):
    """A record in one of our files: unknown keys are faults, and it is immutable. JSON has no NaN and no infinity.

    `mend` tells how to repair a file that cannot be read.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        # The schema of what we write says that no field is left out.
        json_schema_serialization_defaults_required=True,
    )

    mend: ClassVar[str] = ""


def parse(model: type[Model], text: str, path: Path) -> Model:
    """Parse `text`, the JSON or TOML of the file at `path`, as a `model`. Raises BadFile with every fault in it."""
    try:
        # Into JSON, where a date is text: then a model takes the same from both.
        found = json.dumps(tomllib.loads(text), default=str) if path.suffix == ".toml" else text
    except (ValueError, RecursionError) as error:  # no TOML, a number too long, nested too deep
        raise BadFile([_fault(model, path, "syntax", str(error))]) from error
    try:
        return model.model_validate_json(found)
    except ValidationError as error:
        raise BadFile(faults(model, path, error)) from error


def read(model: type[Model], path: Path) -> Model:
    """Read the file at `path` as a `model`. Raises BadFile."""
    return parse(model, text(path, model), path)


def text(path: Path, model: type[FileModel] | None = None) -> str:
    """Return the text of the file at `path`, with its line ends. Raises BadFile."""
    try:
        return content(path).decode("utf-8")
    except (OSError, ValueError) as error:  # no UTF-8; a NUL in its name
        raise BadFile([_fault(model or FileModel, path, "file", str(error))]) from error


def content(path: Path) -> bytes:
    """Return the bytes of the file at `path`; a pipe is not waited for. Raises OSError."""
    return bounded.regular(path, _MOST)


def faults(model: type[FileModel], path: Path, error: ValidationError) -> list[Fault]:
    """Return the message of `error` about the file at `path`."""
    return [_fault(model, path, _key(each), each["msg"]) for each in error.errors()]


def dump(data: Any) -> str:
    """Return JSON as we write it: indented, in the given order, with a final newline."""
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def dump_lines(data: Mapping[str, Any], lists: Mapping[str, str], separators: tuple[str, str] | None = None) -> str:
    """Return JSON that git compares by line: a line for each key, and for each entry of `lists`.

    An entry's own list has lines, too, if `lists` names it: key → the entries' key.
    """

    def line(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, separators=separators)

    def entry(value: dict[str, Any], inner: str) -> str:
        if not inner or not value.get(inner):
            return line(value)
        head = line({key: each for key, each in value.items() if key != inner})
        return f'{head[:-1]}, "{inner}": {block(map(line, value[inner]))}}}'

    def block(lines: Iterable[str]) -> str:
        return "[\n" + ",\n".join(lines) + "\n]"

    written = {
        key: block(entry(each, lists[key]) for each in value) if value and key in lists else line(value)
        for key, value in data.items()
    }
    return "{\n" + ",\n".join(f'"{key}": {value}' for key, value in written.items()) + "\n}\n"


def replace_all(folder: Path, files: Mapping[str, str | bytes], gone: Iterable[str] = ()) -> None:
    """Write `files` into `folder`, name → content, and remove those `gone`: all of them or none. Raises OSError.

    Everything that needs space is written next to the files first. Then they are swapped; if one cannot be, all are
    restored.
    """
    changed = {name: folder / name for name in (*files, *gone)}
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder, prefix=".new-") as beside:
        new, old = Path(beside, "new"), Path(beside, "old")
        # The disk is waited for once for some of them, and not for each of hundreds.
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda name: write(new / name, files[name]), files))
        for name, path in changed.items():
            (old / name).parent.mkdir(parents=True, exist_ok=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists():
                shutil.copy2(path, old / name)
        swapped = []
        try:
            for name, path in changed.items():
                if name in files:
                    (new / name).replace(path)
                else:
                    path.unlink(missing_ok=True)
                swapped.append(name)
        except BaseException:
            for name in swapped:
                if (old / name).exists():
                    (old / name).replace(changed[name])
                else:
                    changed[name].unlink(missing_ok=True)
            raise


def _key(found: ErrorDetails) -> str:
    return "syntax" if found["type"] == "json_invalid" else ".".join(map(str, found["loc"])) or "whole file"


def _fault(model: type[FileModel], path: Path, key: str, message: str) -> Fault:
    # Messages of our own validators are sentences already.
    said = message.removeprefix("Value error, ")
    return Fault(path, key, f"{said} ({model.mend})" if model.mend else said)
