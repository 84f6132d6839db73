"""feed.xml: Atom, an entry for each release that changed a case, dated by the release, and one for the report itself.

It is made of the report alone, so that rebuilding it gives the same bytes and former entries need no keeping: an
entry's id is of the change it tells, and a reader that has seen it knows it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid5

from suite.judge.table import UNDECIDED
from suite.report import summary
from suite.report.formats.markup import clipped, element, printable, xml
from suite.report.model import CellRow, Observation, Report, TurnRow

# Any other would make new entries of all that have been read; it means nothing else.
_OURS = UUID("5c1a4a8e-7f0e-4d36-9a53-6f6f2f1c9c11")
_NAME = "jax-stack-compat"
_MOST = 20


@dataclass(frozen=True)
class Entry:
    """What one entry says; `id` is made of `key`."""

    key: str
    updated: datetime
    title: str
    text: str


def feed(report: Report) -> str:
    """The feed of `report`, as XML: the report first, then what changed, the newest release first."""
    made = _utc(report.generated_at)
    root = element("feed", {"xmlns": "http://www.w3.org/2005/Atom", "xml:lang": "en"})
    root.append(element("title", text="What bites on which release of JAX, Equinox and Diffrax"))
    root.append(element("id", text=_id("feed")))
    root.append(element("updated", text=made.isoformat()))
    root.append(element("link", {"rel": "self", "type": "application/atom+xml", "href": "feed.xml"}))
    root.append(element("link", {"rel": "alternate", "type": "text/html", "href": "index.html"}))
    author = element("author")
    author.append(element("name", text=_NAME))
    root.append(author)
    changed = sorted(_changes(report), key=lambda entry: entry.updated, reverse=True)
    for entry in (_itself(report, made), *changed):
        row = element("entry")
        row.append(element("title", text=entry.title))
        row.append(element("id", text=_id(entry.key)))
        row.append(element("updated", text=entry.updated.isoformat()))
        row.append(element("content", {"type": "text"}, entry.text))
        root.append(row)
    return xml(root)


def _itself(report: Report, made: datetime) -> Entry:
    odd = summary.unexpected(report)
    told = [f"{each.cell} {each.issue}/{each.case}: {each.behaviour or each.verdict}" for each in odd[:_MOST]]
    told += [f"and {len(odd) - _MOST} more"] if len(odd) > _MOST else []
    text = "\n".join([f"{summary.last_line(report)}.", *(["Not as expected:", *told] if odd else [])])
    return Entry(f"report {made.isoformat()}", made, f"Report of {made:%Y-%m-%d %H:%M} UTC", text)


def _changes(report: Report) -> Iterator[Entry]:
    """What turned from a cell of the line to its neighbour: each change once, with what it is put down to."""
    cells = {cell.id: cell for cell in report.cells}
    seen = {(each.issue, each.case, each.cell): each for each in report.observations}
    for issue in report.issues:
        for case in issue.cases:
            for turn in case.turns:
                before, now = (seen[issue.id, case.id, each] for each in (turn.before, turn.after))
                # What blocks a case, row zero's own entry tells.
                if not {before.verdict, now.verdict} & UNDECIDED:
                    yield _change(clipped(f"{issue.id}/{case.id}"), before, now, turn, cells[turn.after])


def _change(name: str, before: Observation, now: Observation, turn: TurnRow, cell: CellRow) -> Entry:
    day = cell.released_on
    shows, showed = (f"{each.behaviour or each.reason} ({each.verdict})" for each in (now, before))
    grounds = {"run": "by the runs", "rule": "by the case's rules", "together": ""}[turn.grounds]
    because = ", ".join(filter(None, (turn.blame, grounds)))
    rests = f" Evidence: {turn.evidence}." if turn.evidence else ""
    return Entry(
        f"{cell.id} {name} {now.behaviour}",
        datetime(day.year, day.month, day.day, tzinfo=UTC),
        f"{cell.id} ({day}): {name} now {shows}",
        f"{name} shows {shows} in {turn.after}, and {showed} in {turn.before}. What did it: {because}.{rests}",
    )


def _id(key: str) -> str:
    return uuid5(_OURS, printable(key)).urn


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
