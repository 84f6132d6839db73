"""The lists of issues: index.html, by their state, with a search box; and tags.html, by function, keyword and area."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from jax_stack_compat.judge.verdict_table import PROPERTIES, UNDECIDED, Properties, Verdict
from laboratory.report import summary
from laboratory.report.formats.names_js import names_data
from laboratory.report.model import CellRow, IssueRow, Observation
from laboratory.report.site.facts import Facts, StripRun
from laboratory.report.site.page import Page
from laboratory.report.site.search import names_and_areas, search_data
from laboratory.report.site.timeline import Turned
from laboratory.report.standing import Standing

_NEWEST_SHOWN = 6

# The lists, in their order: id, title, meaning.
LISTS: Mapping[str, tuple[str, str]] = {
    "bites": ("Affects the newest release", "the newest release shows the documented symptom"),
    "refused": ("Refused or warned now", "the newest release raises or warns"),
    "fixed": ("Fixed", "clear on the newest release, but not on some earlier release"),
    "documented": ("Documented surprises", "the behaviour is as upstream documents it"),
    "elsewhere": ("On other stacks only", "no release of the line shows the symptom, but another stack does"),
    "well": ("Not seen", "no tested stack shows the symptom"),
    "unknown": ("Not known", "undecided on every release of the line"),
}


@dataclass(frozen=True)
class ListedIssue:
    """One issue in a list: its state, and its strip along the line."""

    of: Standing
    runs: list[StripRun]


@dataclass(frozen=True)
class NewRelease:
    """A release of the line with its changed issues, by how they changed; None if the release is undecided."""

    cell: CellRow
    turns: Mapping[Turned, list[str]] | None


@dataclass(frozen=True)
class Front:
    """The view of index.html."""

    lists: list[tuple[str, str, str, list[ListedIssue]]]
    newest: list[NewRelease]
    last_line: str
    run_on: str
    unexpected: list[Observation]
    undecided: int
    verdicts: list[Properties]


@dataclass(frozen=True)
class Tag:
    """A function with its keywords, or an area, and the issues that concern it."""

    name: str
    keywords: list[str]
    issues: list[IssueRow]


@dataclass(frozen=True)
class Tags:
    """The view of tags.html: areas, then the functions of each package."""

    areas: list[Tag]
    packages: dict[str, list[Tag]]


def pages(facts: Facts) -> Iterator[Page]:
    """Yield the front page, with the data that its box searches, and the page of functions and areas."""
    report = facts.report
    occurring = {row.verdict for row in report.observations}
    view = Front(
        _lists(facts),
        _newest(facts),
        summary.last_line(report),
        summary.run_on(report),
        summary.unexpected(report),
        len(summary.undecided_causes(report)),
        [properties for name, properties in PROPERTIES.items() if name in occurring],
    )
    # The pages of a whole report have names and numbers.
    data = {"data/search.js": search_data(facts), **(names_data() if facts.numbers.rows else {})}
    title = "Known issues of JAX, Equinox and Diffrax, by release"
    yield Page(
        "index.html", "front.html.jinja", title, view, ("data/search.js", "assets/match.js", "assets/search.js"), data
    )
    yield Page("tags.html", "tags.html.jinja", "Issues by function", _tags(facts.report.issues))


def _lists(facts: Facts) -> list[tuple[str, str, str, list[ListedIssue]]]:
    """Return the lists that are not empty, each with the newest change first."""
    found: dict[str, list[ListedIssue]] = {name: [] for name in LISTS}
    for state in facts.standings.values():
        verdicts = facts.worst(state.issue)
        found[_list_of(state, facts, verdicts)].append(ListedIssue(state, facts.runs(verdicts, state.issue.cases)))
    places = {cell.id: place for place, cell in enumerate(facts.columns)}
    for rows in found.values():
        rows.sort(key=lambda row: -places[row.of.now.since.id] if row.of.now else 0)
    return [(name, *LISTS[name], rows) for name, rows in found.items() if rows]


def _list_of(state: Standing, facts: Facts, verdicts: Mapping[str, Verdict]) -> str:
    if state.is_affected:
        return "bites"
    if state.verdict in ("documented", "guarded"):
        return "documented" if state.verdict == "documented" else "refused"
    shown = {cell for cell, verdict in verdicts.items() if verdict not in UNDECIDED | {"clear", "absent"}}
    if shown & {cell.id for cell in facts.columns}:
        return "fixed"
    if shown:
        return "elsewhere"
    return "well" if state.now else "unknown"


def _newest(facts: Facts) -> list[NewRelease]:
    """Return the newest releases of the line with their changes, the newest first.

    Empty for a report of chosen rows: its releases ran different cases and cannot be compared.
    """
    if facts.report.rows == "chosen":
        return []
    decided = {row.cell for of in facts.seen.values() for row in of.values() if row.agreement != "undecided"}
    found = []
    for cell in facts.line[: -_NEWEST_SHOWN - 1 : -1]:
        told = {
            how: list(dict.fromkeys(after.issue for of in by_blame.values() for _, after in of))
            for how, by_blame in facts.steps.get(cell.id, {}).items()
        }
        found.append(NewRelease(cell, told if cell.id in decided else None))
    return found


def _tags(reported: Iterable[IssueRow]) -> Tags:
    by_area: dict[str, list[IssueRow]] = {}
    by_name: dict[str, tuple[list[str], list[IssueRow]]] = {}
    for issue in reported:
        names, areas = names_and_areas(issue)
        for area in areas:
            by_area.setdefault(area, []).append(issue)
        for named in names:
            name, _, keyword = named.partition("(")
            keywords, issues = by_name.setdefault(name, ([], []))
            keywords += [keyword.removesuffix(")")] if keyword else []
            issues += [issue] if issue not in issues else []
    packages: dict[str, list[Tag]] = {}
    for name, (keywords, issues) in sorted(by_name.items()):
        packages.setdefault(name.partition(".")[0], []).append(Tag(name, sorted(set(keywords)), issues))
    areas_told = [Tag(name, [], issues) for name, issues in sorted(by_area.items())]
    ordered = dict(sorted(packages.items(), key=lambda each: (each[0] != "jax", each[0])))
    return Tags(areas_told, ordered)
