"""The writer of a report's files: JSON and its schema, and the pages and Markdown made from it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TypeAlias

from jax_stack_compat.base import files
from jax_stack_compat.base.errors import BadFile, Misused, shown
from jax_stack_compat.base.files import dump, replace_all
from jax_stack_compat.names.model import FOLDER as NAMES
from jax_stack_compat.names.store import schema as names_schema
from jax_stack_compat.numbers.model import FOLDER as NUMBERS
from jax_stack_compat.numbers.model import MEASURED
from laboratory.cores import over_cores
from laboratory.programs import model as programs
from laboratory.programs import texts
from laboratory.programs.model import FOLDER as COMPILED
from laboratory.programs.model import Programs
from laboratory.programs.targets import TARGETS
from laboratory.report.compare import since
from laboratory.report.folder import compat_json as stored
from laboratory.report.folder import observations
from laboratory.report.formats.check_json import check_json
from laboratory.report.formats.compat_md import compat_md
from laboratory.report.model import CompatFile, Report
from laboratory.report.site import numbers, timings
from laboratory.report.site.build import named_after, site
from laboratory.report.site.numbers import NOTHING, MeasuredNumbers
from laboratory.report.site.timings import TimedMachine
from laboratory.timings.results import COMPARED, NOISE, RESULTS

TIMINGS = "timings.json"
PROGRAMS = "programs.json"
_Measured: TypeAlias = "tuple[tuple[TimedMachine, ...], tuple[Programs, ...]]"


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
    return _write(report, folder, *_read(folder), whole=whole)


def _write(
    report: Report, folder: Path, former: Report | None, measured: _Measured, *, whole: bool = False
) -> list[Path]:
    timed, compiled = measured
    own = {**stored.texts(report), **_as_data(timed, compiled), **(carried() if whole else {})}
    return _put_all({**own, **siblings(report, timed, compiled, numbers.load() if whole else NOTHING)}, folder, former)


def carried() -> dict[str, str]:
    """Return the text, by name, of each file of names and numbers, which a whole report has as the tree has them."""
    paths = [*NAMES.glob("*.json"), *NUMBERS.glob("*.csv"), NUMBERS / MEASURED]
    texts = {f"{path.parent.name}/{path.name}": files.text(path) for path in sorted(paths)}
    return {**texts, "names/names.schema.json": names_schema()}


def publish(report: Report, folder: Path) -> Report:
    """Write `report` into `folder` with the changes since the report there; return it as written.

    An unreadable former report is ignored. Raises BadFile, Misused, OSError.
    """
    former, measured = _read(folder)
    dated = report.model_copy(update={"since": since(former, report) if former else None})
    _write(dated, folder, former, measured)
    return dated


def _read(folder: Path) -> tuple[Report | None, _Measured]:
    """Return the report in `folder` and the measurements, read in parallel. Raises BadFile."""

    def read(which: str) -> tuple[Report | None, _Measured | None]:
        return (_former(folder), None) if which == "former" else (None, _measured())

    (former, _), (_, measured) = over_cores(read, ("former", "measured"))
    assert measured is not None
    return former, measured


def _measured() -> _Measured:
    """Return the results of the benchmarks, and the counts of programs for other devices. Raises BadFile."""
    compiled = map(texts.with_diffs, programs.load_all(TARGETS.values(), COMPILED))
    return timings.machines(RESULTS, NOISE, COMPARED), tuple(compiled)


def _as_data(timed: tuple[TimedMachine, ...], compiled: tuple[Programs, ...]) -> dict[str, str]:
    return {TIMINGS: timings.text(timed), **({PROGRAMS: programs.list_text(compiled)} if compiled else {})}


def siblings(
    report: Report,
    timed: tuple[TimedMachine, ...],
    compiled: tuple[Programs, ...] = (),
    measured: MeasuredNumbers = NOTHING,
) -> dict[str, str]:
    """Return the text, by name, of each file made from the report, its timings, its programs and its numbers."""
    return {
        "compat.schema.json": schema(),
        "COMPAT.md": compat_md(report),
        "check.json": check_json(report),
        **site(report, timed, compiled, measured),
    }


def _put_all(texts: Mapping[str, str], folder: Path, former: Report | None) -> list[Path]:
    """Write all `texts` into `folder` or none, and remove files that only the `former` report had; return the paths.

    Other files in the folder stay, and files that no report wrote are never replaced. Raises Misused, OSError.
    """
    found = next((folder / name for name in texts if (folder / name).exists()), None)
    if found and not (folder / stored.COMPAT).exists():
        raise Misused(f"no report wrote {shown(found)}: it has no compat.json beside it. Name another folder")
    timed: tuple[TimedMachine, ...] = ()
    compiled: tuple[Programs, ...] = ()
    with suppress(BadFile):
        timed = timings.load(folder / TIMINGS)
    with suppress(BadFile):
        compiled = programs.listed(folder / PROGRAMS)
    known: set[str] = set()
    if former is not None:
        known |= carried().keys()
        known |= named_after(former, timed, compiled)
        if stored.COMPAT in texts:
            known |= {observations.name_of(issue.id) for issue in former.issues}
    replace_all(folder, texts, sorted(name for name in known.difference(texts) if (folder / name).exists()))
    return [folder / name for name in texts]


def _former(folder: Path) -> Report | None:
    """Return the report in `folder`, or None if it cannot be read."""
    try:
        return stored.read_report(folder / stored.COMPAT)
    except BadFile:
        return None
