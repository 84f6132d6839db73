"""The observations of an issue as a CSV file: one row for each, for pandas, DuckDB and spreadsheets.

A column is a field of `Observation` in the model, or repeats compat.json. The format is RFC 4180 with line feeds: a
header, commas, quotes if needed. A null is empty. Each row is one printable line. Text that begins with = + - or @ has
an apostrophe before it, as OWASP advises: a spreadsheet would take it for a formula. Text that begins with an
apostrophe gets another one.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from jax_stack_compat.base.errors import BadFile, Fault
from jax_stack_compat.base.spelling import quoted
from jax_stack_compat.packages import GUESTS, PACKAGES
from jax_stack_compat.stack.releases import tag_of
from laboratory.report.folder import schema_3
from laboratory.report.markup import one_line
from laboratory.report.model import CellRow, IssueRow, Observation

_SEEN: Final = tuple(Observation.model_fields)
# Text that may begin with an apostrophe in a file.
_FREE_TEXT: Final = ("behaviour", "reason", "expected", "detail")
_NULLABLE: Final = tuple(name for name, field in Observation.model_fields.items() if field.default is None)
# No cell holds ml-dtypes, but it ties jax to numpy.
_PACKAGES: Final = (*PACKAGES, "ml-dtypes", *GUESTS)
_TYPES: Final[Mapping[Any, str]] = {int: "integer", float: "number", bool: "boolean"}
# The type and meaning of each column. The columns from `kind` on repeat compat.json.
COLUMNS: Final[Mapping[str, tuple[str, str]]] = {
    **{
        name: (_TYPES.get(field.annotation, "text"), field.description or "")
        for name, field in Observation.model_fields.items()
    },
    "kind": ("text", "the kind of the issue"),
    "python": ("text", "the cell's interpreter, as wheels name it: `cp312`"),
    **{name: ("text", f"the cell's release of {name}; empty if it has none") for name in _PACKAGES},
}
_FIXED: Final = [name for name in COLUMNS if name not in _PACKAGES]
_LIST: Final = TypeAdapter(list[Observation])
# By default the csv module refuses fields above 128 KiB.
csv.field_size_limit(sys.maxsize)


def name_of(issue: str) -> str:
    """Return the name of the file with an issue's observations."""
    return f"observations/{issue}.csv"


def columns(cells: Iterable[CellRow]) -> dict[str, list[str]]:
    """Return the columns of each cell's rows, by its id: its interpreter, and its release of each package."""
    return {cell.id: [tag_of(cell.python), *(cell.packages.get(name, "") for name in _PACKAGES)] for cell in cells}


def text(observations: Iterable[Observation], issue: IssueRow, of_cell: Mapping[str, list[str]]) -> str:
    """Return these observations of an issue, in their order, under a header; `of_cell` are the columns of cells."""
    written = StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerow(COLUMNS)
    for seen in observations:
        values = [*(_told(getattr(seen, name)) for name in _SEEN), issue.kind, *of_cell[seen.cell]]
        table.writerow(map(_plain, values))
    return written.getvalue()


def rows(written: str, path: Path, issue: IssueRow, cells: Collection[str]) -> list[Observation]:
    """Return the observations of an issue in the text of the file at `path`. Raises BadFile with every fault in it.

    They must be of these `cells`. Columns that repeat compat.json are not read.
    """
    wrong: list[Fault] = []
    found: list[dict[str, str | None]] = []
    lines: list[int] = []
    known = {"cell": cells, "issue": {issue.id}, "case": {case.id for case in issue.cases}}
    table = csv.DictReader(StringIO(written, newline=""), strict=True)
    try:
        if list(table.fieldnames or ())[: len(_FIXED)] != _FIXED:
            raise BadFile([Fault(path, "line 1", f"the header does not begin with {','.join(_FIXED)}")])
        for row in table:
            if None in row or None in row.values():
                wrong.append(Fault(path, f"line {table.line_num}", "does not have as many values as the header"))
                continue
            if odd := [name for name in known if row[name] not in known[name]]:
                told = f"compat.json has no {odd[0]} {quoted(row[odd[0]])} here"
                wrong.append(Fault(path, f"line {table.line_num}", told))
                continue
            seen: dict[str, str | None] = {name: row[name] for name in _SEEN}
            for name in _FREE_TEXT:
                seen[name] = row[name].removeprefix("'")
            # A file of observations does not say its schema.
            seen["agreement"] = schema_3.WORDS.get(row["agreement"], row["agreement"])
            for name in _NULLABLE:
                seen[name] = seen[name] or None
            found.append(seen)
            lines.append(table.line_num)
    except csv.Error as error:
        wrong.append(Fault(path, f"line {table.reader.line_num}", str(error)))
    try:
        made = _LIST.validate_python(found)
    except ValidationError as error:
        for fault in error.errors():
            number, *key = fault["loc"]
            wrong.append(Fault(path, f"line {lines[int(number)]}, {'.'.join(map(str, key))}", fault["msg"]))
    if wrong:
        raise BadFile(wrong)
    return made


def _told(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


@cache
def _plain(text: str) -> str:
    shown = one_line(text)
    return f"'{shown}" if shown.startswith(("=", "+", "-", "@", "'")) else shown
