"""The file sizes.json: the bytes of each pin's wheel on Linux x86-64, for the estimate before a download."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from jax_stack_compat.base.files import FileModel, dump, read
from jax_stack_compat.cell.atomic import write

PATH = Path(__file__).with_name("sizes.json")


class Sizes(FileModel):
    """The file: `name==version` → bytes."""

    schema_version: int
    bytes: dict[str, int]


def load() -> Mapping[str, int]:
    """Return the bytes of each wheel on Linux x86-64, by name==version. Raises BadFile."""
    return read(Sizes, PATH).bytes if PATH.exists() else {}


def save(found: Mapping[str, int]) -> None:
    """Write these sizes and no others; a pin without a size from the index (0) keeps its former size."""
    known = load()
    bytes = {pin: size for pin in sorted(found) if (size := found[pin] or known.get(pin))}
    write(PATH, dump(Sizes(schema_version=1, bytes=bytes).model_dump()))
