"""The published table of numbers: one CSV for each module, a row for each call and span of releases."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from functools import cache
from io import StringIO
from pathlib import Path

from suite.files import REPORTS, text

# In a clone they are in the published report; a wheel has them beside this module.
_CARRIED = Path(__file__).with_name("data")
FOLDER = _CARRIED if _CARRIED.exists() else REPORTS / "published" / "numbers"


@dataclass(frozen=True)
class Row:
    """What a call does on the releases of jax from `first` to `last`.

    `status` is right, off, wrong, raises, ended or unknown; `ulp` is its error; `detail` is the value that is furthest
    off. `change` says how it differs from the row before, and `was` in what; `explained` is an issue's id, an address,
    or empty.
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
    explained: str

    @property
    def listed(self) -> bool:
        """True if the change is more than one of rounding."""
        return self.change not in ("", "rounding")


COLUMNS = tuple(field.name for field in fields(Row))


def written(rows: Iterable[Row]) -> str:
    """Return rows as CSV."""
    out = StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(asdict, rows))
    return out.getvalue()


def rows(folder: Path = FOLDER) -> Iterator[Row]:
    """Return the published rows, by module. Raises BadFile."""
    for path in sorted(folder.glob("*.csv")):
        yield from (Row(**row) for row in csv.DictReader(StringIO(text(path))))


@cache
def by_function() -> dict[str, tuple[Row, ...]]:
    """Return the published rows by function. Raises BadFile."""
    found: dict[str, list[Row]] = {}
    for row in rows():
        found.setdefault(row.function, []).append(row)
    return {function: tuple(of) for function, of in found.items()}
