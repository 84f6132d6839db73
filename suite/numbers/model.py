"""The published table of numbers: one CSV for each module, a row for each call and span of releases."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Literal

from suite.fields import VersionText
from suite.files import REPORTS, FileModel, dump, read, text

# In a clone they are in the published report; a wheel has them beside this module.
_CARRIED = Path(__file__).with_name("data")
FOLDER = _CARRIED if _CARRIED.exists() else REPORTS / "published" / "numbers"
MEASURED = "measured.json"
_FUNCTION = re.compile(r"\bf\(")


class Measured(FileModel):
    """What was measured: releases of jax in version order, features of the CPU, and counts of functions and calls."""

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
    """What a call does on the releases of jax from `first` to `last`.

    `status` is right, off, differs, edge, documented, raises, ended or unknown; `ulp` is its error; `detail` is the
    value that is off by most. `change` says how it differs from the row before, and `was` in what. `package` is the one
    whose release changed it, jax, jaxlib or both, if they were tried apart. `explained` has the ids of issues
    that explain the change or, without one, the difference. Rows of a call with one `digest` return the same.
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
        """True if the change is more than one of rounding."""
        return self.change not in ("", "rounding", "bits")


COLUMNS = tuple(field.name for field in fields(CallRow))


def written(rows: Iterable[CallRow]) -> str:
    """Return rows as CSV; in a call, `f` is the function."""
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
def measured(folder: Path = FOLDER) -> Measured:
    """Return what was measured; nothing where no numbers are published. Raises BadFile."""
    path = folder / MEASURED
    return read(Measured, path) if path.exists() else Measured(releases=(), cpu=(), functions=0, calls=0)
