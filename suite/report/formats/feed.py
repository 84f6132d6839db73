"""feed.xml: Atom, an entry for each release that changed a case, dated by the release, and one for the report itself.

It is made of the report alone, so that rebuilding it gives the same bytes and former entries need no keeping: an
entry's id is of the change it tells, and a reader that has seen it knows it again. Links are relative to the feed.
"""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID, uuid5
from xml.etree.ElementTree import Element

from suite.judge.table import UNDECIDED
from suite.printable import printable
from suite.report import summary
from suite.report.markup import address, clipped, element, xml
from suite.report.model import CellRow, Observation, Report, TurnRow

# Any other would make new entries of all that have been read; it means nothing else.
_OURS = UUID("5c1a4a8e-7f0e-4d36-9a53-6f6f2f1c9c11")
_MOST = 20


def feed(report: Report) -> str:
    """The feed of `report`, as XML: the report first, then what changed, the newest release first."""
    moment = report.generated_at
    made = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    return xml(
        element(
            "feed",
            element("title", "What bites on which release of JAX, Equinox and Diffrax"),
            element("id", _id("feed")),
            element("updated", made.isoformat()),
            element("link", rel="self", type="application/atom+xml", href="feed.xml"),
            element("link", rel="alternate", type="text/html", href="index.html"),
            element("author", element("name", "jax-stack-compat")),
            _itself(report, made),
            *_changes(report),
            **{"xmlns": "http://www.w3.org/2005/Atom", "xml:lang": "en"},
        )
    )


def _itself(report: Report, made: datetime) -> Element:
    odd = summary.unexpected(report)
    told = [f"{each.cell} {each.issue}/{each.case}: {each.behaviour or each.verdict}" for each in odd[:_MOST]]
    told += [f"and {len(odd) - _MOST} more"] if len(odd) > _MOST else []
    text = "\n".join([f"{summary.last_line(report)}.", *(["Not as expected:", *told] if odd else [])])
    return _entry(f"report {made.isoformat()}", f"Report of {made:%Y-%m-%d %H:%M} UTC", "index.html", made, text)


def _changes(report: Report) -> list[Element]:
    """What turned from a cell of the line to its neighbour: each change once, with what it is put down to."""
    cells = {cell.id: cell for cell in report.cells}
    seen = {(each.issue, each.case, each.cell): each for each in report.observations}
    found = []
    for issue in report.issues:
        for case in issue.cases:
            for turn in case.turns:
                before, now = (seen[issue.id, case.id, each] for each in (turn.before, turn.after))
                # What blocks a case, row zero's own entry tells.
                if not {before.verdict, now.verdict} & UNDECIDED:
                    found.append((cells[turn.after], before, now, turn))
    found.sort(key=lambda each: each[0].released_on, reverse=True)
    return [_change(*each) for each in found]


def _change(cell: CellRow, before: Observation, now: Observation, turn: TurnRow) -> Element:
    day, name = cell.released_on, clipped(f"{now.issue}/{now.case}")
    shows, showed = (f"{each.behaviour or each.reason} ({each.verdict})" for each in (now, before))
    grounds = {"run": "by the runs", "rule": "by the case's rules", "together": ""}[turn.grounds]
    because = ", ".join(filter(None, (turn.blame, grounds)))
    rests = f" Evidence: {turn.evidence}." if turn.evidence else ""
    return _entry(
        f"{cell.id} {name} {now.behaviour}",
        f"{cell.id} ({day}): {name} now {shows}",
        f"issues/{now.issue}.html#{now.case}",
        datetime(day.year, day.month, day.day, tzinfo=UTC),
        f"{name} shows {shows} in {turn.after}, and {showed} in {turn.before}. What did it: {because}.{rests}",
    )


def _entry(key: str, title: str, page: str, updated: datetime, text: str) -> Element:
    return element(
        "entry",
        element("title", title),
        element("id", _id(key)),
        element("link", rel="alternate", type="text/html", href=address(page)),
        element("updated", updated.isoformat()),
        element("content", text, type="text"),
    )


def _id(key: str) -> str:
    return uuid5(_OURS, printable(key)).urn
