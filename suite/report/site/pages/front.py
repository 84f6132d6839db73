"""index.html: what the newest releases turned, a box to ask, and the issues in lists by what holds now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from suite.judge.table import PROPERTIES, Properties
from suite.report import summary
from suite.report.model import CaseRow, CellRow, IssueRow, Observation, SinceRow
from suite.report.site.facts import Facts, Now, Run
from suite.report.site.page import Page
from suite.report.site.search import search_data
from suite.report.site.timeline import Turned

# So many releases are news.
_NEWEST = 6

# The lists, in their order: id, title, and what it means to stand in it.
LISTS: Mapping[str, tuple[str, str]] = {
    "bites": ("Bites now", "on the newest release the documented symptom is there"),
    "refused": ("Refused or warned now", "upstream says loudly what it did silently, or always did"),
    "fixed": ("Fixed, bites older releases", "well on the newest release, and not on some before it"),
    "documented": ("Documented surprises", "it does what upstream documents; nobody is at fault"),
    "elsewhere": ("On other stacks only", "no release of the line shows it; a stack that people have does"),
    "unknown": ("Not known", "no release of the line tells"),
}


@dataclass(frozen=True)
class Row:
    """One issue in a list: what it shows now, in which `cases`, along the line, and what to do about it."""

    issue: IssueRow
    now: Now | None
    cases: list[str]
    runs: list[Run]
    todo: str

    @property
    def packages(self) -> list[str]:
        """What its cases need."""
        return list(dict.fromkeys(name for case in self.issue.cases for name in case.needs))


@dataclass(frozen=True)
class Release:
    """A release of the line: what turned on it, by how it did; None where nothing was learned of it."""

    cell: CellRow
    turns: Mapping[Turned, list[str]] | None


@dataclass(frozen=True)
class Front:
    """What index.html shows."""

    lists: list[tuple[str, str, str, list[Row]]]
    newest: list[Release]
    last_line: str
    since: SinceRow | None
    unexpected: list[Observation]
    undecided: int
    verdicts: list[Properties]


def pages(facts: Facts) -> Iterator[Page]:
    """The front page, and what its box searches."""
    report = facts.report
    view = Front(
        _lists(facts),
        _newest(facts),
        summary.last_line(report),
        report.since,
        summary.unexpected(report),
        len(summary.undecided(report)),
        [each for name, each in PROPERTIES.items() if name in {each.verdict for each in report.observations}],
    )
    data = {"data/search.js": search_data(facts)}
    title = "What bites on which release of JAX, Equinox and Diffrax"
    yield Page("index.html", "front.html.jinja", title, view, ("data/search.js", "assets/search.js"), data)


def _lists(facts: Facts) -> list[tuple[str, str, str, list[Row]]]:
    """The lists that have an issue, in each the newest change first."""
    places = {cell.id: place for place, cell in enumerate(facts.columns)}
    found: dict[str, list[Row]] = {name: [] for name in LISTS}
    for issue in facts.report.issues:
        verdicts = facts.worst(issue)
        now = facts.now(verdicts)
        cases = [case for case in issue.cases if now and _shows(facts, issue, case, now)]
        row = Row(issue, now, [case.id for case in cases], facts.runs(verdicts), _todo(facts, issue, cases, now))
        found[_list_of(row)].append(row)
    for rows in found.values():
        rows.sort(key=lambda row: (-places[row.now.since.id] if row.now else 0, row.issue.id))
    return [(name, *LISTS[name], rows) for name, rows in found.items() if rows]


def _list_of(row: Row) -> str:
    if row.now is None:
        return "unknown"
    if row.now.verdict == "documented":
        return "documented"
    if row.now.verdict == "guarded":
        return "refused"
    if not PROPERTIES[row.now.verdict].good:
        return "bites"
    return "elsewhere" if row.now.before is None else "fixed"


def _shows(facts: Facts, issue: IssueRow, case: CaseRow, now: Now) -> bool:
    """Whether a case is one of those that show what its issue shows now."""
    seen = facts.seen[issue.id, case.id].get(now.cell.id)
    return seen is not None and seen.verdict == now.verdict


def _todo(facts: Facts, issue: IssueRow, cases: list[CaseRow], now: Now | None) -> str:
    """What to do instead: what holds in a case that bites now, on the newest release; where none does, anywhere."""
    for case in cases:
        if now and case.workaround and facts.seen[issue.id, case.id][now.cell.id].workaround == "holds":
            return case.workaround.text
    well = now is None or now.verdict in ("clear", "absent")
    return next(iter(facts.workarounds(issue)), "") if well else ""


def _newest(facts: Facts) -> list[Release]:
    """The newest releases of the line and what turned on them, the newest first."""
    learned = {each.cell for of in facts.seen.values() for each in of.values() if each.agreement != "spurious"}
    found = []
    for cell in facts.line[: -_NEWEST - 1 : -1]:
        step = facts.steps.get(cell.id)
        turns = step.turns if step else {}
        told = {
            how: list(dict.fromkeys(after.issue for of in by_blame.values() for _, after in of))
            for how, by_blame in turns.items()
        }
        found.append(Release(cell, told if cell.id in learned else None))
    return found
