"""The table of libraries, libraries.toml: a distribution, its import name, and a task for it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, StringConstraints, model_validator

from jax_stack_compat.base.fields import PackageName
from jax_stack_compat.base.files import FileModel, read

PATH = Path(__file__).with_name("libraries.toml")
_MOST_LINES = 7


def _task(code: str) -> str:
    """Return a task without blank lines at its ends. Raises ValueError if it is no Python, or too long."""
    code = code.strip("\n")
    try:
        ast.parse(code)
    except SyntaxError as error:
        raise ValueError(f"line {error.lineno} of the task is no Python: {error.msg}") from error
    if len(code.splitlines()) > _MOST_LINES:
        raise ValueError(f"a task has at most {_MOST_LINES} lines")
    return code + "\n"


class Library(FileModel):
    """A library: its task, and its import name if that is not its distribution's."""

    task: Annotated[str, AfterValidator(_task)]
    module: Annotated[str, StringConstraints(pattern=r"^[a-z_][a-z0-9_.]*$")] = ""


class _Table(FileModel):
    """The file libraries.toml: a section for each library."""

    libraries: Mapping[PackageName, Library]

    @model_validator(mode="before")
    @classmethod
    def _sections(cls, sections: Any) -> Any:
        return {"libraries": sections}


@cache
def load() -> Mapping[str, Library]:
    """Return the libraries, by distribution. Raises BadFile."""
    return read(_Table, PATH).libraries


def module(name: str) -> str:
    """Return the import name of a library. Raises BadFile."""
    return load()[name].module or name
