"""observations.csv: a row for each observation with the versions it was made on, for pandas and spreadsheets. Pure.

By RFC 4180: a header, commas, quotes where they are needed, CRLF. What is null is empty. Each row is one line, and text
that a spreadsheet would take for a formula, as it begins with = + - or @, has an apostrophe before it (as OWASP has
it); compat.json has the text as it was.
"""

from __future__ import annotations

import csv
from functools import cache
from io import StringIO

from suite.report.markup import one_line
from suite.report.model import CellRow, Observation, Report

_VERSIONS = ("jax", "jaxlib", "equinox", "diffrax")
_SEEN = ("issue", "case", "verdict", "behaviour", "reason", "expected", "agreement", "workaround")
_COSTS = ("attempts", "seconds", "peak_rss_mib")
HEADER = ("cell", "kind", "released_on", "python", *_VERSIONS, *_SEEN, *_COSTS, "detail", "ran_in")


def observations_csv(report: Report) -> str:
    """Every observation of `report` under HEADER, in its order."""
    text = StringIO()
    rows = csv.writer(text)
    rows.writerow(HEADER)
    stacks = {cell.id: _stack(cell) for cell in report.cells}
    rows.writerows([*stacks[each.cell], *_seen(each)] for each in report.observations)
    return text.getvalue()


def _stack(cell: CellRow) -> list[str]:
    versions = (cell.packages.get(of, "") for of in _VERSIONS)
    return [_plain(each) for each in (cell.id, cell.kind, str(cell.released_on), cell.python, *versions)]


def _seen(each: Observation) -> list[str]:
    return [
        *(_plain(getattr(each, name) or "") for name in _SEEN),
        *(str(getattr(each, name)) for name in _COSTS),
        _plain(each.detail),
        each.ran_in or "",
    ]


@cache
def _plain(text: str) -> str:
    shown = one_line(text)
    return f"'{shown}" if shown.startswith(("=", "+", "-", "@")) else shown
