"""The writer of feed.xml, an Atom feed: an entry for the report, and one for each change of a case by a release.

A release that changed programs for devices has one entry for all of them. The feed follows from the report and the
compiled programs alone, so rebuilding gives the same bytes. An entry's id follows from its change, so readers recognise
it. Links are relative to the feed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from operator import itemgetter
from uuid import UUID, uuid5
from xml.etree.ElementTree import Element

from suite.judge.table import UNDECIDED
from suite.printable import printable
from suite.programs.changes import ProgramTurn, turns
from suite.programs.model import Programs
from suite.report import summary
from suite.report.markup import address, clipped, element, xml
from suite.report.model import CellRow, Observation, Report, TurnRow

# A random namespace. Another one would make every entry new to readers.
_OURS = UUID("5c1a4a8e-7f0e-4d36-9a53-6f6f2f1c9c11")
_LINES_SHOWN = 20


def feed(report: Report, compiled: Sequence[Programs] = ()) -> str:
    """Return the feed of `report` as XML: the report first, then the changes, the newest release first."""
    moment = report.generated_at
    made = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    return xml(
        element(
            "feed",
            element("title", "Known issues of JAX, Equinox and Diffrax, by release"),
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
    told = [f"{row.cell} {row.issue}/{row.case}: {row.behaviour or row.verdict}" for row in odd[:_LINES_SHOWN]]
    told += _more(len(odd) - _LINES_SHOWN)
    text = "\n".join([f"{summary.last_line(report)}.", *(["Not as expected:", *told] if odd else [])])
    return _entry(f"report {made.isoformat()}", f"Report of {made:%Y-%m-%d %H:%M} UTC", "index.html", made, text)


def _changes(report: Report) -> Iterator[tuple[date, Element]]:
    """Yield an entry for each change between neighbours on the line, with its cause."""
    cells = {cell.id: cell for cell in report.cells}
    seen = {(row.issue, row.case, row.cell): row for row in report.observations}
    for issue in report.issues:
        for case in issue.cases:
            for turn in case.turns:
                before, now = (seen[issue.id, case.id, cell] for cell in (turn.before, turn.after))
                # Row zero's own entry says what blocks a case.
                if not {before.verdict, now.verdict} & UNDECIDED:
                    cell = cells[turn.after]
                    yield cell.released_on, _change(cell, before, now, turn)


def _change(cell: CellRow, before: Observation, now: Observation, turn: TurnRow) -> Element:
    day, name = cell.released_on, clipped(f"{now.issue}/{now.case}")
    shows, showed = (f"{row.behaviour or row.reason} ({row.verdict})" for row in (now, before))
    grounds = {"run": "by the runs", "rule": "by the case's rules", "together": ""}[turn.grounds]
    because = ", ".join(filter(None, (turn.blame, grounds)))
    rests = f" Evidence: {turn.evidence}." if turn.evidence else ""
    return _entry(
        f"{cell.id} {name} {now.behaviour}",
        f"{cell.id} ({day}): {name} now {shows}",
        f"issues/{now.issue}.html#{now.case}",
        datetime(day.year, day.month, day.day, tzinfo=UTC),
        f"{name} shows {shows} in {turn.after}, and {showed} in {turn.before}. Cause: {because}.{rests}",
    )


def _programs(compiled: Sequence[Programs]) -> Iterator[tuple[date, Element]]:
    """Yield an entry for each release that changed programs compiled for absent devices."""
    of: dict[str, dict[str, list[ProgramTurn]]] = {}
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
            for line in (
                f"{title}:",
                *(turn.told for turn in turned[:_LINES_SHOWN]),
                *_more(len(turned) - _LINES_SHOWN),
            )
        )
        yield (
            day,
            _entry(
                f"device programs {cell}",
                f"{cell} ({day}): changed device programs: {counted}",
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
