"""The published report: what the packed records show, judged by this tree.

A clone has what the report is made from, and the files that people and `check` read without making it: COMPAT.md and
check.json. Everything else follows, in less than a minute and without running a case.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from jax_stack_compat.base.errors import BadFile, Exit, Fault
from jax_stack_compat.base.fields import Moment, this_moment
from jax_stack_compat.base.files import REPORTS, FileModel, dump, read, replace_all
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.numbers.model import by_function
from jax_stack_compat.stack import plan
from laboratory.orders import compared
from laboratory.records import archive
from laboratory.records.packed import Packed
from laboratory.report import compare
from laboratory.report.assemble import assemble
from laboratory.report.formats.check_json import check_json
from laboratory.report.formats.compat_md import compat_md
from laboratory.report.formats.search_json import search_json
from laboratory.report.model import Report, SinceRow
from laboratory.report.site import timings
from laboratory.report.summary import exit_code
from laboratory.timings.results import COMPARED, NOISE, RESULTS

FOLDER = REPORTS / "published"
MADE = FOLDER / "since.json"


class _Made(FileModel):
    """The file since.json: when the records were packed, and the changes that they brought."""

    schema_version: Literal[1] = 1
    generated_at: Moment
    since: SinceRow | None = None


def published() -> Report:
    """Return the published report. Raises BadFile."""
    made = read(_Made, MADE)
    report = assemble(plan.tagged("full"), catalogue.entries(), evidence=Packed())
    return report.model_copy(update={"generated_at": made.generated_at, "since": made.since})


def pack() -> Report:
    """Pack this machine's records of a full run, and return the report that they publish. Raises BadFile, OSError."""
    if lost := catalogue.unread():
        raise BadFile([*lost.values(), Fault(FOLDER, "issues", "the published report needs all issues")])
    before = published()
    # What the archive lacks is new: it was not left out.
    former = before.model_copy(update={"observations": [row for row in before.observations if row.attempts]})
    archive.pack(plan.tagged("full"))
    now = published()
    made = _Made(generated_at=this_moment(), since=compare.since(former, now))
    replace_all(FOLDER, {MADE.name: dump(made.model_dump(mode="json"))})
    return now.model_copy(update=dict(made))


def tracked(report: Report) -> dict[str, str]:
    """Return the text, by name, of each tracked file that follows from the published report. Raises BadFile."""
    return {
        "COMPAT.md": compat_md(report),
        "check.json": check_json(report, compared.load_all()),
        "search.json": search_json(report, timings.machines(RESULTS, NOISE, COMPARED), by_function()),
    }


def code(report: Report) -> Exit:
    """Return the exit code of the published report: few machines have all Pythons, and the records are of several."""
    return exit_code(report, other_pythons=False)


def seconds_of_cells() -> Mapping[str, float]:
    """Return the seconds that each cell took in the published report. Raises BadFile."""
    seconds: dict[str, float] = {}
    for row in published().observations:
        if row.attempts:
            seconds[row.cell] = seconds.get(row.cell, 0.0) + row.seconds
    return seconds
