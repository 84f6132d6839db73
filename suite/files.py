"""The project's own files: where they are, and how they are read, with every fault named."""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

ROOT = Path(__file__).resolve().parent.parent
STACK = ROOT / "suite" / "stack"
# Environments and records: some gigabytes, which a user may want elsewhere.
STATE = Path(os.environ.get("SUITE_STATE") or ROOT / ".suite").resolve()
REPORTS = ROOT / "reports"

Model = TypeVar("Model", bound="FileModel")


class FileModel(BaseModel):
    """A record in one of our files: unknown keys are faults, and nothing changes after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True)
class Fault:
    """One thing wrong in a file: which key, and what about it."""

    path: Path
    key: str
    message: str

    def __str__(self) -> str:
        """Name the file, the key and the fault on one line."""
        shown = self.path.relative_to(ROOT) if self.path.is_relative_to(ROOT) else self.path
        return f"{shown}: {self.key}: {self.message}"


class BadFile(Exception):
    """Files that cannot be used, with every fault in them."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("\n".join(map(str, faults)))
        self.faults = faults


class Misused(Exception):
    """A command that cannot be meant as it was given; the message says what would be."""


class Failed(Exception):
    """Something outside that a command needs did not work: the index, the resolver. The message says what."""


def parse(model: type[Model], text: str, path: Path) -> Model:
    """Read `text`, the JSON or TOML of the file at `path`, as a `model`.

    Raises BadFile with every fault in it.
    """
    try:
        # Into JSON, where a date is text: then a model takes the same from both.
        found = json.dumps(tomllib.loads(text), default=str) if path.suffix == ".toml" else text
    except (ValueError, RecursionError) as error:  # no TOML, a number too long, nested too deep
        raise BadFile([Fault(path, "syntax", str(error))]) from error
    try:
        return model.model_validate_json(found)
    except ValidationError as error:
        raise BadFile([_fault(path, each) for each in error.errors()]) from error


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


def _fault(path: Path, found: ErrorDetails) -> Fault:
    key = "syntax" if found["type"] == "json_invalid" else ".".join(map(str, found["loc"]))
    return Fault(path, key or "whole file", found["msg"])
