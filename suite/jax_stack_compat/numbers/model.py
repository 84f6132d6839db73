"""The published tables of numbers: a CSV file for each module, a row for each call and span of releases."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Literal

from jax_stack_compat.base.fields import VersionText
from jax_stack_compat.base.files import REPORTS, FileModel, dump, read, text

# A clone has the tables in the published report; a wheel has them beside this module.
_CARRIED = Path(__file__).with_name("data")
FOLDER = _CARRIED if _CARRIED.exists() else REPORTS / "published" / "numbers"
MEASURED = "measured.json"
_FUNCTION = re.compile(r"\bf\(")


class Measured(FileModel):
    """The extent of the measurement: releases of jax in version order, CPU features, functions and calls."""

    schema_version: Literal[1] = 1
    releases: tuple[VersionText, ...]
    cpu: tuple[str, ...]
    functions: int
    calls: int

    @property
    def text(self) -> str:
        """The file's text."""
        return dump(self.model_dump(mode="json"))


@dataclass(frozen=True)
class CallRow:
    """The outcome of a call on the releases of jax from `first` to `last`.

    `status` is right, off, differs, edge, documented, raises, ended or unknown. `ulp` is the error; `detail` is the
    value with the largest error. `change` is the kind of change since the row before, and `was` its detail. `package`
    is the package whose release changed the call: jax, jaxlib or both, if they were tried apart. `explained` has the
    ids of issues that explain the change or, without a change, the difference. Rows of a call with one `digest` return
    the same.
    """

    function: str
    form: str
    call: str
    first: str
    last: str
    status: str
    ulp: str
    detail: str
    change: str
    was: str
    package: str
    explained: str
    digest: str

    @property
    def listed(self) -> bool:
        """True if the change is larger than rounding."""
        return self.change not in ("", "rounding", "bits")


COLUMNS = tuple(field.name for field in fields(CallRow))


def written(rows: Iterable[CallRow]) -> str:
    """Return rows as CSV, with `f` for the function in a call."""
    out = StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows({**asdict(row), "call": row.call.replace(f"{row.function}(", "f(", 1)} for row in rows)
    return out.getvalue()


@cache
def by_function(folder: Path = FOLDER) -> dict[str, tuple[CallRow, ...]]:
    """Return the published rows by function. Raises BadFile."""
    found: dict[str, list[CallRow]] = {}
    for path in sorted(folder.glob("*.csv")):
        for row in csv.DictReader(StringIO(text(path))):
            function = row["function"]
            call = _FUNCTION.sub(f"{function}(", row.pop("call"), count=1)
            found.setdefault(function, []).append(CallRow(**row, call=call))
    return {function: tuple(rows) for function, rows in found.items()}


@cache
def measured() -> Measured:
    """Return the extent of the measurement. Raises BadFile."""
    return read(Measured, FOLDER / MEASURED)
