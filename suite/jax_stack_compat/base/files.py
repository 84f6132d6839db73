"""The project's own files: their paths, reading with every fault, and writing several at once."""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from jax_stack_compat.base import bounded
from jax_stack_compat.base.errors import BadFile, Fault, restored
from jax_stack_compat.base.printable import without_marks
from jax_stack_compat.cell.atomic import write

# The folder of the packages: `suite` in a clone, site-packages after an installation.
PACKAGES = Path(__file__).resolve().parents[2]
ROOT = PACKAGES.parent
# A folder of its own without HOME and an entry in passwd, as in a container whose user is any number.
_HOME = os.path.expanduser("~")  # noqa: PTH111  Path.expanduser raises
HOME = Path(gettempdir(), f"home-of-{os.getuid()}") if _HOME == "~" else Path(_HOME)
# Environments and records take some gigabytes: SUITE_STATE moves them. A wheel's installation has no source tree.
_CACHE = Path(os.path.expanduser(os.environ.get("XDG_CACHE_HOME", "")) or HOME / ".cache")  # noqa: PTH111
_OWN = ROOT / ".suite" if (ROOT / "pyproject.toml").exists() else _CACHE / "jax-stack-compat"
# Path.resolve raises on a loop of links; realpath does not.
STATE = Path(os.path.realpath(os.environ.get("SUITE_STATE") or _OWN))
# What an import or a case must leave alone: our state, and the clone or the installed package.
OURS = (STATE, ROOT if (ROOT / "pyproject.toml").exists() else PACKAGES / "jax_stack_compat")
LOGS = STATE / "logs"
REPORTS = ROOT / "reports"
# In bytes; every file of ours is smaller.
_MOST = 256 * 2**20

Model = TypeVar("Model", bound="FileModel")


class FileModel(BaseModel):
    """An immutable model of one of our files: unknown keys, NaN and infinity are faults.

    `mend` says what to do about an unreadable file.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        # The JSON Schema requires every field, since we write every field.
        json_schema_serialization_defaults_required=True,
    )

    mend: ClassVar[str] = ""


def parse(model: type[Model], text: str, path: Path) -> Model:
    """Parse `text`, the JSON or TOML of the file at `path`, as a `model`. Raises BadFile with every fault in it."""
    try:
        # In JSON, dates are text, so a model reads TOML and JSON alike.
        found = json.dumps(tomllib.loads(text), default=str) if path.suffix == ".toml" else text
    except (ValueError, RecursionError) as error:  # not TOML, a number too long, nested too deep
        raise BadFile([_fault(model, path, "syntax", str(error))]) from error
    try:
        return model.model_validate_json(found)
    except ValidationError as error:
        raise BadFile(faults(model, path, error)) from error


def read(model: type[Model], path: Path) -> Model:
    """Read the file at `path` as a `model`. Raises BadFile."""
    return parse(model, text(path, model), path)


def text(path: Path, model: type[FileModel] | None = None) -> str:
    """Return the text of the file at `path`, with its line ends unchanged. Raises BadFile."""
    try:
        return content(path).decode("utf-8")
    except (OSError, ValueError) as error:  # not UTF-8; a NUL in the path
        said = getattr(error, "strerror", None) or str(error)
        raise BadFile([_fault(model or FileModel, path, "file", said)]) from error


def content(path: Path) -> bytes:
    """Return the bytes of the file at `path`. Raises OSError, for a pipe without waiting."""
    return bounded.regular(path, _MOST)


def faults(model: type[FileModel], path: Path, error: ValidationError) -> list[Fault]:
    """Return the faults that `error` lists, in the file at `path`."""
    return [_fault(model, path, _key(each), each["msg"]) for each in error.errors()]


def dump(data: Any) -> str:
    """Return JSON in our layout: indented, in the given order, with a final newline."""
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def dump_ascii(data: Any) -> str:
    """Return JSON for a stream, which may lack letters and which a workflow may read. Names keep odd bytes."""
    return without_marks(json.dumps(data, indent=1)) + "\n"


def dump_lines(data: Mapping[str, Any], lists: Mapping[str, str], separators: tuple[str, str] | None = None) -> str:
    """Return JSON for comparisons by line: one line for each key, and one for each entry of the lists in `lists`.

    `lists` maps the key of a list to "", or to the key of an inner list whose entries also get lines of their own.
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
    """Write `files`, name → content, into `folder` and remove the files in `gone`: all or none. Raises OSError.

    New files, and copies of the old ones, are first written to a folder beside. Then files are swapped; if one swap
    fails, all files are restored.
    """
    changed = {name: folder / name for name in (*files, *gone)}
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder, prefix=".new-") as beside:
        new, old = Path(beside, "new"), Path(beside, "old")
        # In threads, hundreds of writes wait for the disk together.
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
    # pydantic puts a prefix before the messages of our validators.
    said = message.removeprefix("Value error, ")
    mend = model.mend or (restored(path) if _is_ours(path) else "")
    return Fault(path, key, f"{said} ({mend})" if mend else said)


def _is_ours(path: Path) -> bool:
    return any(map(path.is_relative_to, (PACKAGES / "jax_stack_compat", REPORTS / "published")))
