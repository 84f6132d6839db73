"""The two files of a package's names.

The second file has defining modules, members and docstring hashes, which `check` does not read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from suite.files import FileModel, dump, read
from suite.names.model import FOLDER, Module, Name, Names, Signature, Text


class Details(FileModel):
    """The details of a name, in the second file."""

    home: tuple[Text, ...] = ()
    doc: tuple[Text, ...] = ()
    members: Mapping[str, tuple[Signature, ...]] = {}


class Detailed(FileModel):
    """The second file: details by module and name."""

    package: str
    modules: Mapping[str, Mapping[str, Details]]


def load(package: str, folder: Path = FOLDER) -> Names:
    """Return the names of a package, without details. Raises BadFile."""
    return read(Names, folder / f"{package}.json")


def detailed(names: Names, folder: Path = FOLDER) -> Names:
    """Return names with their details. Raises BadFile."""
    return _with(names, read(Detailed, folder / f"{names.package}.details.json").modules)


def texts(names: Names) -> dict[str, str]:
    """Return the files of a package: name → text. Each module is one line, so that git compares by module."""
    details = {
        module: {name: told for name, each in found.names.items() if (told := _details(each)) != Details()}
        for module, found in names.modules.items()
    }
    second = Detailed(package=names.package, modules={module: found for module, found in details.items() if found})
    return {
        f"{names.package}.json": _lines(_with(names, {}).model_dump(mode="json", exclude_defaults=True)),
        f"{names.package}.details.json": _lines(second.model_dump(mode="json", exclude_defaults=True)),
    }


def schema() -> str:
    """Return the JSON Schema of a file of names."""
    return dump({"$schema": "https://json-schema.org/draft/2020-12/schema", **Names.model_json_schema()})


def _details(name: Name) -> Details:
    return Details(home=name.home, doc=name.doc, members=name.members)


def _with(names: Names, details: Mapping[str, Mapping[str, Details]]) -> Names:
    def of(module: str, found: Module) -> Module:
        told = details.get(module, {})
        named = {name: each.model_copy(update=dict(told.get(name, Details()))) for name, each in found.names.items()}
        return found.model_copy(update={"names": named})

    return names.model_copy(update={"modules": {module: of(module, found) for module, found in names.modules.items()}})


def _lines(data: dict[str, Any]) -> str:
    def line(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    head = [f'"{key}":{line(value)}' for key, value in data.items() if key != "modules"]
    modules = ",\n".join(f"{line(name)}:{line(each)}" for name, each in data["modules"].items())
    return "{" + ",\n".join(head) + ',\n"modules":{\n' + modules + "\n}}\n"
