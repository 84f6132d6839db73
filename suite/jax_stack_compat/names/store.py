"""The files of names: one for each package, and one with the details of all packages.

Details are defining modules, members and docstring hashes, which `check` does not read.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from jax_stack_compat.base.errors import BadFile, Fault
from jax_stack_compat.base.files import FileModel, content, dump, parse, read
from jax_stack_compat.names.model import FOLDER, Module, Names, Signature, Text

DETAILS = "details.json.xz"


class Details(FileModel):
    """The details of a name."""

    home: tuple[Text, ...] = ()
    doc: tuple[Text, ...] = ()
    members: Mapping[str, tuple[Signature, ...]] = {}


# Details by module and name.
Modules: TypeAlias = Mapping[str, Mapping[str, Details]]


class Detailed(FileModel):
    """The file of details, by package."""

    packages: Mapping[str, Modules]


def load(package: str, folder: Path = FOLDER) -> Names:
    """Return the names of a package, without details. Raises BadFile."""
    return read(Names, folder / f"{package}.json")


def detailed(folder: Path = FOLDER) -> dict[str, Names]:
    """Return the names of each package in the file of details, with their details. Raises BadFile."""
    path = folder / DETAILS
    try:
        text = lzma.decompress(content(path)).decode()
    except (OSError, ValueError, lzma.LZMAError) as error:
        raise BadFile([Fault(path, "file", str(error))]) from error
    packages = parse(Detailed, text, path).packages
    return {package: _with(load(package, folder), modules) for package, modules in packages.items()}


def files(every: Iterable[Names]) -> dict[str, str | bytes]:
    """Return the files of these packages: name → content. Each module is one line, so that git compares by module."""
    names = {each.package: each for each in sorted(every, key=lambda each: each.package)}
    details = Detailed(packages={package: _details_of(each) for package, each in names.items()})
    text = json.dumps(details.model_dump(mode="json", exclude_defaults=True), separators=(",", ":"))
    return {
        **{
            f"{package}.json": _lines(_with(each, {}).model_dump(mode="json", exclude_defaults=True))
            for package, each in names.items()
        },
        DETAILS: lzma.compress(text.encode(), preset=9),
    }


def schema() -> str:
    """Return the JSON Schema of a file of names."""
    return dump({"$schema": "https://json-schema.org/draft/2020-12/schema", **Names.model_json_schema()})


def _details_of(names: Names) -> Modules:
    found: dict[str, dict[str, Details]] = {}
    for path, module in names.modules.items():
        for name, each in module.names.items():
            details = Details(home=each.home, doc=each.doc, members=each.members)
            if details != Details():
                found.setdefault(path, {})[name] = details
    return found


def _with(names: Names, details: Modules) -> Names:
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
