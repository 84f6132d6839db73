"""The project's own files: where they are, and how they are read, with every fault named."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from suite.errors import BadFile, Fault

ROOT = Path(__file__).resolve().parent.parent
STACK = ROOT / "suite" / "stack"
# Environments and records: some gigabytes, which a user may want elsewhere.
STATE = Path(os.environ.get("SUITE_STATE") or ROOT / ".suite").resolve()
REPORTS = ROOT / "reports"

Model = TypeVar("Model", bound="FileModel")


class FileModel(BaseModel):
    """A record in one of our files: unknown keys are faults, and nothing changes after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def parse(model: type[Model], text: str, path: Path) -> Model:
    """Read `text`, the JSON or TOML of the file at `path`, as a `model`.

    Raises BadFile with every fault in it.
    """
    try:
        data = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as error:  # no JSON or TOML, a number too long, nested too deep
        raise BadFile([Fault(path, "syntax", str(error))]) from error
    try:
        return model.model_validate_json(json.dumps(data, default=str))
    except ValidationError as error:
        raise BadFile([Fault(path, _key(fault["loc"]), fault["msg"]) for fault in error.errors()]) from error


def read(model: type[Model], path: Path) -> Model:
    """Read the file at `path` as a `model`. Raises BadFile."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile([Fault(path, "file", str(error))]) from error
    return parse(model, text, path)


def dump(data: Any) -> str:
    """JSON as we write it: indented, in the order given, one newline at the end."""
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _key(location: tuple[str | int, ...]) -> str:
    return ".".join(map(str, location)) or "whole file"
