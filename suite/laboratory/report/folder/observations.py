"""The observations of an issue as a CSV file: one row for each, for pandas, DuckDB and spreadsheets.

A column is a field of `Observation` in the model, or repeats compat.json. The format is RFC 4180 with line feeds: a
header, commas, quotes if needed. A null is empty. Each row is one printable line. Text that begins with = + - or @ has
an apostrophe before it, as OWASP advises: a spreadsheet would take it for a formula. Text that begins with an
apostrophe gets another one.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterable, Mapping
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
_AGREEMENT: Final = _SEEN.index("agreement")
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
# A row's columns on a cell: its interpreter and its release of each package; None for an unknown cell.
Stacks = Callable[[str, tuple[str, ...]], list[str] | None]


def name_of(issue: str) -> str:
    """Return the name of the file with an issue's observations."""
    return f"observations/{issue}.csv"


def stacks(cells: Iterable[CellRow]) -> Stacks:
    """Return a function that gives a cell's columns in a row."""
    by_id = {cell.id: cell for cell in cells}

    # Every file repeats them.
    @cache
    def stack(cell: str, packages: tuple[str, ...]) -> list[str] | None:
        found = by_id.get(cell)
        return [tag_of(found.python), *(found.packages.get(name, "") for name in packages)] if found else None

    return stack


def text(observations: Iterable[Observation], issue: IssueRow, stack: Stacks) -> str:
    """Return these observations of an issue, in their order, under a header."""
    written = StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerow(COLUMNS)
    for seen in observations:
        values = [*(_told(getattr(seen, name)) for name in _SEEN), issue.kind, *(stack(seen.cell, _PACKAGES) or ())]
        table.writerow(map(_plain, values))
    return written.getvalue()


def rows(written: str, path: Path, issue: IssueRow, stack: Stacks) -> list[Observation]:
    """Return the observations of an issue in the text of the file at `path`. Raises BadFile with every fault in it."""
    wrong: list[Fault] = []
    found: list[dict[str, str | None]] = []
    # Cell and case → their line.
    lines: dict[tuple[str, str], int] = {}
    cases = {case.id for case in issue.cases}
    table = csv.reader(StringIO(written, newline=""), strict=True)
    try:
        header = next(table, [])
        packages = tuple(header[len(_FIXED) :])
        if header[: len(_FIXED)] != _FIXED:
            raise BadFile([Fault(path, "line 1", f"the header does not begin with {','.join(_FIXED)}")])
        for row in table:
            # There are tens of thousands of rows; look for the fault only if there is one.
            here = stack(row[0], packages) if row else None
            is_known = here is not None and row[len(_SEEN) :] == [issue.kind, *here] and row[2] in cases
            if (
                not is_known
                or row[1] != issue.id
                or lines.setdefault((row[0], row[2]), table.line_num) != table.line_num
            ):
                wrong.append(Fault(path, f"line {table.line_num}", _odd(row, header, issue, here, lines)))
                continue
            seen: dict[str, str | None] = dict(zip(_SEEN, row, strict=False))
            for name in _FREE_TEXT:
                if (value := seen[name]) and value[0] == "'":
                    seen[name] = value[1:]
            # A file of observations does not say its schema.
            seen["agreement"] = schema_3.WORDS.get(row[_AGREEMENT], row[_AGREEMENT])
            for name in _NULLABLE:
                seen[name] = seen[name] or None
            found.append(seen)
    except csv.Error as error:
        wrong.append(Fault(path, f"line {table.line_num}", str(error)))
    try:
        made = _LIST.validate_python(found)
    except ValidationError as error:
        line_of = list(lines.values())
        for fault in error.errors():
            number, *key = fault["loc"]
            wrong.append(Fault(path, f"line {line_of[int(number)]}, {'.'.join(map(str, key))}", fault["msg"]))
    if wrong:
        raise BadFile(wrong)
    return made


def _odd(
    row: list[str], header: list[str], issue: IssueRow, stack: list[str] | None, lines: Mapping[tuple[str, str], int]
) -> str:
    """Describe how a row contradicts the header, compat.json or an earlier row."""
    if len(row) != len(header):
        return f"has {len(row)} values, but the header has {len(header)}"
    cell, of, case = row[:3]
    if of != issue.id:
        return f"issue is {quoted(of)}, but the file is for {issue.id}"
    if case not in {known.id for known in issue.cases}:
        return f"case {quoted(case)} is not in compat.json"
    if stack is None:
        return f"cell {quoted(cell)} is not in compat.json"
    for name, mine, theirs in zip(header[len(_SEEN) :], row[len(_SEEN) :], [issue.kind, *stack], strict=True):
        if mine != theirs:
            return f"{name} is {quoted(mine)}, but {quoted(theirs)} in compat.json"
    return f"has the cell and case of line {lines[cell, case]}"


def _told(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


@cache
def _plain(text: str) -> str:
    shown = one_line(text)
    return f"'{shown}" if shown.startswith(("=", "+", "-", "@", "'")) else shown
