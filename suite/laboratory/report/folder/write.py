"""The writer of a report's files: JSON and its schema, and the pages and Markdown made from it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from jax_stack_compat.base import files
from jax_stack_compat.base.errors import BadFile, Misused, shown
from jax_stack_compat.base.files import dump, replace_all
from jax_stack_compat.libraries import known as libraries
from jax_stack_compat.names.model import FOLDER as NAMES
from jax_stack_compat.names.store import schema as names_schema
from jax_stack_compat.numbers.model import FOLDER as NUMBERS
from jax_stack_compat.numbers.model import MEASURED
from laboratory.orders import compared
from laboratory.programs import model as programs
from laboratory.programs.model import FOLDER as COMPILED
from laboratory.programs.model import Programs
from laboratory.programs.targets import TARGETS
from laboratory.programs.texts import with_diffs
from laboratory.report.compare import since
from laboratory.report.folder import compat_json as stored
from laboratory.report.formats.check_json import check_json
from laboratory.report.formats.compat_md import compat_md
from laboratory.report.formats.search_json import search_json
from laboratory.report.model import CompatFile, Report
from laboratory.report.site import numbers, timings
from laboratory.report.site.build import site
from laboratory.report.site.numbers import NOTHING
from laboratory.report.site.timings import TimedMachine
from laboratory.timings.results import COMPARED, NOISE, RESULTS

TIMINGS = "timings.json"
PROGRAMS = "programs.json"
# The names of a report's files, a line for each, so that the next report in the folder can remove them.
_WRITTEN = ".files"


@cache
def schema() -> str:
    """Return the JSON Schema of compat.json."""
    return dump(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **CompatFile.model_json_schema(mode="serialization"),
        }
    )


def write(report: Report, folder: Path, *, whole: bool = False) -> list[Path]:
    """Write every file of the report into `folder`; return their paths. Raises BadFile, Misused, OSError.

    With `whole`, the published report, also write the names and numbers of the releases.
    """
    timed, compiled = _measured()
    measured, on_devices = (numbers.load(), compared.load_all()) if whole else (NOTHING, ())
    of_libraries = libraries.load() if whole else {}
    texts = {**stored.texts(report), TIMINGS: timings.text(timed)}
    if compiled:
        texts[PROGRAMS] = programs.list_text(compiled)
    if whole:
        texts |= carried()
    texts |= {"compat.schema.json": schema(), "COMPAT.md": compat_md(report)}
    texts["check.json"] = check_json(report, on_devices)
    texts["search.json"] = search_json(report, timed, measured.rows)
    texts |= site(report, timed, compiled, measured, on_devices, of_libraries)
    return _put_all(texts, folder)


def carried() -> dict[str, str]:
    """Return the text, by name, of the files on names, numbers and libraries, which a report takes from the tree."""
    paths = [*NAMES.glob("*.json"), *NUMBERS.glob("*.csv"), NUMBERS / MEASURED]
    texts = {f"{path.parent.name}/{path.name}": files.text(path) for path in sorted(paths)}
    texts[libraries.PATH.name] = files.text(libraries.PATH)
    return {**texts, "names/names.schema.json": names_schema()}


def publish(report: Report, folder: Path) -> Report:
    """Write `report` into `folder` with the changes since the report there; return it as written.

    An unreadable former report is ignored. Raises BadFile, Misused, OSError.
    """
    former = None
    with suppress(BadFile):
        former = stored.read_report(folder / stored.COMPAT)
    dated = report.model_copy(update={"since": since(former, report) if former else None})
    write(dated, folder)
    return dated


def _measured() -> tuple[tuple[TimedMachine, ...], tuple[Programs, ...]]:
    """Return the results of the benchmarks, and the counts of programs for other devices. Raises BadFile."""
    compiled = map(with_diffs, programs.load_all(TARGETS.values(), COMPILED))
    return timings.machines(RESULTS, NOISE, COMPARED), tuple(compiled)


def _put_all(texts: Mapping[str, str], folder: Path) -> list[Path]:
    """Write all `texts` into `folder` or none, and remove files that only the former report had; return the paths.

    Other files in the folder stay, and files that no report wrote are never replaced. Raises BadFile, Misused, OSError.
    """
    found = next((folder / name for name in texts if (folder / name).exists()), None)
    if found and not (folder / stored.COMPAT).exists():
        raise Misused(f"no report wrote {shown(found)}: it has no compat.json beside it. Name another folder")
    former = files.text(folder / _WRITTEN).splitlines() if (folder / _WRITTEN).exists() else []
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    gone = sorted(there.intersection(former).difference(texts))
    replace_all(folder, {**texts, _WRITTEN: "\n".join([*texts, ""])}, gone)
    return [folder / name for name in texts]
