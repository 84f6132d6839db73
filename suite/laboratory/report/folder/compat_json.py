"""A report on disk: compat.json, and observations/ISSUE.csv beside it. Both are complete."""

from __future__ import annotations

from pathlib import Path

from jax_stack_compat.base import files
from jax_stack_compat.base.errors import BadFile, Fault
from laboratory.report.folder import observations
from laboratory.report.model import CompatFile, Observation, Report

COMPAT = "compat.json"


def texts(report: Report) -> dict[str, str]:
    """Return the text of each file that `report` is read from, by name.

    compat.json has a line for each entry of a list, such as a cell, and for each case, so that git compares it by line.
    """
    data = report.model_dump(mode="json", exclude={"observations"}, by_alias=True)
    lists = {key: "" for key, value in data.items() if isinstance(value, list)}
    of_cell = observations.columns(report.cells)
    seen: dict[str, list[Observation]] = {issue.id: [] for issue in report.issues}
    for row in report.observations:
        seen[row.issue].append(row)
    return {
        COMPAT: files.dump_lines(data, lists | {"issues": "cases"}, (",", ":")),
        **{
            observations.name_of(issue.id): observations.text(seen[issue.id], issue, of_cell) for issue in report.issues
        },
    }


def read_report(path: Path) -> Report:
    """Read the report in a folder, or of a compat.json. Raises BadFile with every fault in its files."""
    path = path / COMPAT if path.is_dir() else path
    head = files.read(CompatFile, path)
    cell_places = {cell.id: place for place, cell in enumerate(head.cells)}
    found: list[Observation] = []
    wrong: list[Fault] = []
    for issue in head.issues:
        beside = path.parent / observations.name_of(issue.id)
        try:
            found += observations.rows(files.text(beside), beside, issue, cell_places)
        except BadFile as error:
            wrong += error.faults
    if wrong:
        raise BadFile(wrong)
    case_places = {name: place for place, name in enumerate((i.id, c.id) for i in head.issues for c in i.cases)}
    found.sort(key=lambda row: (cell_places[row.cell], case_places[row.issue, row.case]))
    return Report.model_validate({**dict(head), "observations": found})
