"""feed.xml: Atom, an entry for each release that changed a case, dated by the release, and one for the report itself.

A release that changed programs for devices has one entry for all of them. The feed is made of the report and of what
was compiled alone, so that rebuilding it gives the same bytes and former entries need no keeping: an entry's id is of
the change it tells, and a reader that has seen it knows it again. Links are relative to the feed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from operator import itemgetter
from uuid import UUID, uuid5
from xml.etree.ElementTree import Element

from suite.judge.table import UNDECIDED
from suite.printable import printable
from suite.programs.changes import Turn, turns
from suite.programs.model import Programs
from suite.report import summary
from suite.report.markup import address, clipped, element, xml
from suite.report.model import CellRow, Observation, Report, TurnRow

# Any other would make new entries of all that have been read; it means nothing else.
_OURS = UUID("5c1a4a8e-7f0e-4d36-9a53-6f6f2f1c9c11")
_MOST = 20


def feed(report: Report, compiled: Sequence[Programs] = ()) -> str:
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
            *(entry for _, entry in sorted([*_changes(report), *_programs(compiled)], key=itemgetter(0), reverse=True)),
            **{"xmlns": "http://www.w3.org/2005/Atom", "xml:lang": "en"},
        )
    )


def _itself(report: Report, made: datetime) -> Element:
    odd = summary.unexpected(report)
    told = [f"{each.cell} {each.issue}/{each.case}: {each.behaviour or each.verdict}" for each in odd[:_MOST]]
    told += _more(len(odd) - _MOST)
    text = "\n".join([f"{summary.last_line(report)}.", *(["Not as expected:", *told] if odd else [])])
    return _entry(f"report {made.isoformat()}", f"Report of {made:%Y-%m-%d %H:%M} UTC", "index.html", made, text)


def _changes(report: Report) -> list[tuple[date, Element]]:
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
    return [(each[0].released_on, _change(*each)) for each in found]


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


def _programs(compiled: Sequence[Programs]) -> Iterator[tuple[date, Element]]:
    """What a release changed in programs that were compiled for devices that are not there: an entry for all of it."""
    of: dict[str, dict[str, list[Turn]]] = {}
    for found in compiled:
        for turn in turns(found):
            of.setdefault(turn.after.cell, {}).setdefault(found.title, []).append(turn)
    for cell, by_target in of.items():
        release = next(turned[0].after for turned in by_target.values())
        day = release.released_on
        counted = "; ".join(f"{len(turned)} for {title}" for title, turned in by_target.items())
        text = "\n".join(
            line
            for title, turned in by_target.items()
            for line in (f"{title}:", *(turn.told for turn in turned[:_MOST]), *_more(len(turned) - _MOST))
        )
        yield (
            day,
            _entry(
                f"device programs {cell}",
                f"{cell} ({day}): other device programs than before: {counted}",
                "programs.html",
                datetime(day.year, day.month, day.day, tzinfo=UTC),
                text,
            ),
        )


def _more(left: int) -> list[str]:
    return [f"and {left} more"] if left > 0 else []


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
