"""The report → files: JSON and its schema, and what is made of that alone: pages, Markdown, a feed."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TypeAlias

from suite.cores import over_cores
from suite.errors import BadFile, Misused, shown
from suite.files import dump, replace_all
from suite.programs import model as programs
from suite.programs import texts
from suite.programs.model import FOLDER as COMPILED
from suite.programs.model import Programs
from suite.programs.targets import TARGETS
from suite.report import stored
from suite.report.compare.changes import since
from suite.report.formats.check_json import check_json
from suite.report.formats.compat_md import compat_md
from suite.report.formats.feed import feed
from suite.report.model import CompatFile, Report
from suite.report.site import timings
from suite.report.site.build import named_after, site
from suite.report.site.timings import Machine
from suite.timings.results import COMPARED, NOISE, RESULTS

TIMINGS = "timings.json"
PROGRAMS = "programs.json"
_Measured: TypeAlias = "tuple[tuple[Machine, ...], tuple[Programs, ...]]"


@cache
def schema() -> str:
    """The JSON Schema of compat.json."""
    return dump(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **CompatFile.model_json_schema(mode="serialization"),
        }
    )


def write(report: Report, folder: Path) -> list[Path]:
    """Write every file of the report into `folder`; what was written. Raises BadFile, Misused, OSError."""
    return _write(report, folder, *_read(folder))


def _write(report: Report, folder: Path, former: Report | None, measured: _Measured) -> list[Path]:
    timed, compiled = measured
    own = {**stored.texts(report), **_as_data(timed, compiled)}
    return _put_all({**own, **siblings(report, timed, compiled)}, folder, former)


def publish(report: Report, folder: Path) -> Report:
    """Write `report` into `folder` with what changed since the one that lies there; as it was written.

    A report that cannot be read costs nobody a run: then nothing is said of it. Raises BadFile, Misused, OSError.
    """
    former, measured = _read(folder)
    dated = report.model_copy(update={"since": since(former, report) if former else None})
    _write(dated, folder, former, measured)
    return dated


def rebuild(folder: Path, *, timed_anew: bool = False) -> list[Path]:
    """Write anew what is made of the data in `folder`: report, timings and programs. Raises BadFile, Misused, OSError.

    `timed_anew`: and the timings and programs, of what the benchmarks have measured and counted.
    """
    report = stored.read_report(folder / stored.COMPAT)
    timed, compiled = (
        _measured() if timed_anew else (timings.load(folder / TIMINGS), programs.listed(folder / PROGRAMS))
    )
    own = _as_data(timed, compiled) if timed_anew else {}
    return _put_all({**own, **siblings(report, timed, compiled)}, folder, report)


def _read(folder: Path) -> tuple[Report | None, _Measured]:
    """Return the report that lies in `folder` and what was measured, read side by side. Raises BadFile."""

    def read(which: str) -> tuple[Report | None, _Measured | None]:
        return (_former(folder), None) if which == "former" else (None, _measured())

    (former, _), (_, measured) = over_cores(read, ("former", "measured"))
    assert measured is not None
    return former, measured


def _measured() -> _Measured:
    """What the benchmarks have measured, and what was counted of programs for other devices. Raises BadFile."""
    compiled = map(texts.with_diffs, programs.load_all(TARGETS.values(), COMPILED))
    return timings.machines(RESULTS, NOISE, COMPARED), tuple(compiled)


def _as_data(timed: tuple[Machine, ...], compiled: tuple[Programs, ...]) -> dict[str, str]:
    return {TIMINGS: timings.text(timed), **({PROGRAMS: programs.list_text(compiled)} if compiled else {})}


def siblings(report: Report, timed: tuple[Machine, ...], compiled: tuple[Programs, ...] = ()) -> dict[str, str]:
    """Name → text of each file that is made of the report, its timings and its programs."""
    return {
        "compat.schema.json": schema(),
        "COMPAT.md": compat_md(report),
        "check.json": check_json(report),
        **site(report, timed, compiled),
        "feed.xml": feed(report, compiled),
    }


def _put_all(files: Mapping[str, str], folder: Path, former: Report | None) -> list[Path]:
    """Write `files` into `folder`, all or none, and remove what only the `former` report had; what was written.

    Nothing else in the folder is touched, and nothing is written over what is no report's. Raises Misused, OSError.
    """
    if not (folder / stored.COMPAT).exists():
        for name in files:
            if (folder / name).exists():
                raise Misused(f"no report wrote {shown(folder / name)}, without a compat.json beside it: name another")
    timed: tuple[Machine, ...] = ()
    compiled: tuple[Programs, ...] = ()
    with suppress(BadFile):
        timed = timings.load(folder / TIMINGS)
    with suppress(BadFile):
        compiled = programs.listed(folder / PROGRAMS)
    known: set[str] = set()
    if former is not None:
        known |= named_after(former, timed, compiled)
        if stored.COMPAT in files:
            known |= {stored.name_of(issue.id) for issue in former.issues}
    replace_all(folder, files, sorted(each for each in known.difference(files) if (folder / each).exists()))
    return [folder / name for name in files]


def _former(folder: Path) -> Report | None:
    """The report that lies in `folder`; None where none does that can be read."""
    try:
        return stored.read_report(folder / stored.COMPAT)
    except BadFile:
        return None
