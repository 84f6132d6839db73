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
from jax_stack_compat.base.files import content, dump, parse, read
from jax_stack_compat.names.model import FOLDER, Names

DETAILS = "details.json.xz"
_FIELDS = ("home", "doc", "members")
# Those fields, by module and name.
Details: TypeAlias = Mapping[str, Mapping[str, Any]]


def load(package: str) -> Names:
    """Return the names of a package, without details. Raises BadFile."""
    return read(Names, FOLDER / f"{package}.json")


def detailed(folder: Path = FOLDER) -> dict[str, Names]:
    """Return the names of each package in the file of details, with their details. Raises BadFile."""
    path = folder / DETAILS
    try:
        packages = json.loads(lzma.decompress(content(path)))["packages"]
        return {package: _detailed(folder / f"{package}.json", modules) for package, modules in packages.items()}
    except (OSError, ValueError, KeyError, TypeError, lzma.LZMAError) as error:
        raise BadFile([Fault(path, "file", str(error))]) from error


def _detailed(path: Path, details: Details) -> Names:
    data = read(Names, path).model_dump(mode="json")
    for module, names in details.items():
        for name, fields in names.items():
            data["modules"][module]["names"][name] |= fields
    return parse(Names, json.dumps(data), path)


def files(every: Iterable[Names]) -> dict[str, str | bytes]:
    """Return the files of these packages: name → content. Each module is one line, so that git compares by module."""
    texts: dict[str, str | bytes] = {}
    details = {}
    for names in sorted(every, key=lambda each: each.package):
        data = names.model_dump(mode="json", exclude_defaults=True)
        details[names.package] = _taken(data["modules"])
        texts[f"{names.package}.json"] = _lines(data)
    text = json.dumps({"packages": details}, separators=(",", ":"))
    return {**texts, DETAILS: lzma.compress(text.encode(), preset=9)}


def _taken(modules: Mapping[str, Any]) -> Details:
    """Take the details out of modules, and return them."""
    found: dict[str, dict[str, Any]] = {}
    for module, described in modules.items():
        for name, fields in described.get("names", {}).items():
            if own := {field: fields.pop(field) for field in _FIELDS if field in fields}:
                found.setdefault(module, {})[name] = own
    return found


def schema() -> str:
    """Return the JSON Schema of a file of names."""
    return dump({"$schema": "https://json-schema.org/draft/2020-12/schema", **Names.model_json_schema()})


def _lines(data: dict[str, Any]) -> str:
    def line(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    head = [f'"{key}":{line(value)}' for key, value in data.items() if key != "modules"]
    modules = ",\n".join(f"{line(name)}:{line(each)}" for name, each in data["modules"].items())
    return "{" + ",\n".join(head) + ',\n"modules":{\n' + modules + "\n}}\n"
