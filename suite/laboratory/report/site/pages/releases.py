"""The pages releases/<cell>.html: a release's changes, known issues, working stacks and speed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from packaging.version import Version

from jax_stack_compat.judge.verdict_table import UNDECIDED, VERDICTS, Verdict
from jax_stack_compat.packages import ASKED, IMPORTS, PACKAGES
from laboratory.report.missing_bounds import missing_bounds
from laboratory.report.model import AmendmentRow, CellRow, IssueRow, Observation
from laboratory.report.site import install
from laboratory.report.site.facts import Facts
from laboratory.report.site.numbers import ChangedNumbers, changed
from laboratory.report.site.page import Page
from laboratory.report.site.pages.timings import charts, keyed
from laboratory.report.site.timeline import BeforeAfter, Turned, stands
from laboratory.report.site.timings import Chart, Shift, Spell, TimedMachine, spells
from laboratory.report.standing import label

# In the order of interest to a reader.
_TURNS: tuple[Turned, ...] = ("appears", "changes", "documented", "goes")
# Working stacks first, then broken ones, then those that were not tried.
_ORDER = ("supported", "excluded", "guarded", "latent", None)

Turns = Mapping[Turned, Mapping[str, Mapping[str, Sequence[BeforeAfter]]]]


@dataclass(frozen=True)
class AffectedIssue:
    """An issue with its cases that show a symptom, equal ones together, the worst first.

    `workarounds` has the cases in which each text helped, `fails` the cases in which the workaround failed.
    """

    issue: IssueRow
    alike: list[list[Observation]]
    workarounds: Mapping[str, list[str]]
    fails: list[str]


@dataclass(frozen=True)
class Speed:
    """One machine's timings of a release: slow workloads, ended slow-downs, and changes.

    `named` has workloads whose published figures name the release, although no slow-down is confirmed there. Each has
    its times on the release and on its neighbours.
    """

    machine: TimedMachine
    timed: bool
    slow: list[Spell]
    ends: list[Spell]
    changes: list[Shift]
    named: list[tuple[Chart, list[tuple[str, float]]]]
    keys: Mapping[str, str]


@dataclass(frozen=True)
class ReleaseView:
    """The view of a release's page.

    `unknown` counts the undecided cases by verdict and cause. `works` is the newest stack that works.
    """

    cell: CellRow
    older: CellRow | None
    newer: CellRow | None
    learned: bool
    turns: Turns
    affected: list[AffectedIssue]
    documented: list[Observation]
    counts: Mapping[str, int]
    unknown: Mapping[tuple[Verdict, str], int]
    stacks: list[CellRow]
    names: Mapping[str, list[str]]
    works: CellRow | None
    nearest: tuple[CellRow, list[Observation]] | None
    older_set: CellRow | None
    amendments: list[AmendmentRow]
    speed: list[Speed]
    charts: Mapping[tuple[str, str], str]
    numbers: ChangedNumbers | None


@dataclass(frozen=True)
class _ReleaseData:
    """The data that the pages of all releases share."""

    facts: Facts
    sets: Mapping[str, CellRow]
    amendments: Mapping[tuple[str, str], Sequence[AmendmentRow]]
    order: Sequence[str]
    spells: Mapping[str, Sequence[Spell]]
    charts: Mapping[tuple[str, str], str]


def pages(facts: Facts) -> Iterator[Page]:
    """Yield a page for each release of the line, with constraints if a set with it works."""
    amendments: dict[tuple[str, str], list[AmendmentRow]] = {}
    for said in (bound.said for bound in missing_bounds(facts.report.stacks)):
        if said.grounds != "together":
            amendments.setdefault((said.package or said.dependency, said.version), []).append(said)
    sets = {cell.id: install.working(cell, install.holding(facts, cell)) for cell in facts.line}
    order = [cell.id for cell in facts.columns]
    told = _ReleaseData(
        facts,
        {name: cell for name, cell in sets.items() if cell is not None},
        amendments,
        order,
        {machine.name: spells(machine, order) for machine in facts.timed},
        charts(facts.timed),
    )
    for package in dict.fromkeys(cell.moves for cell in facts.line):
        of_package = (row for row in facts.line if row.moves == package)
        cells = sorted(of_package, key=lambda row: Version(row.holds[row.moves]))
        for place, cell in enumerate(cells):
            view = _release(told, cell, cells, place)
            title = f"{label(cell)} ({cell.released_on})"
            works = told.sets.get(cell.id)
            data = {install.path(cell): install.constraints(cell, works)} if works else {}
            yield Page(f"releases/{cell.id}.html", "releases.html.jinja", title, view, data=data)


def _release(told: _ReleaseData, cell: CellRow, cells: Sequence[CellRow], place: int) -> ReleaseView:
    facts, seen = told.facts, told.facts.of_cell[cell.id]
    jax_line = facts.report.jax_releases.values()
    stacks = sorted(install.holding(facts, cell), key=lambda row: _ORDER.index(row.declared_observed))
    works = told.sets.get(cell.id)
    # A jaxlib belongs to its jax.
    own = ("jax", "jaxlib") if cell.moves == "jax" else (cell.moves,)
    # Use older sets only: so a new release changes no page except its neighbour's.
    older = [earlier for earlier in reversed(cells[:place]) if earlier.id in told.sets]
    return ReleaseView(
        cell=cell,
        older=cells[place - 1] if place else None,
        newer=cells[place + 1] if place + 1 < len(cells) else None,
        learned=any(row.verdict not in UNDECIDED for row in seen),
        turns=_turns(facts, cell),
        affected=_affected(facts, cell),
        documented=[row for row in seen if stands(row.verdict) == "documented"],
        counts=Counter(stands(row.verdict) for row in seen),
        unknown=_unknown(seen),
        stacks=_once(stacks),
        names=_names_of(stacks),
        works=works,
        nearest=None if works else install.nearest(facts, stacks),
        older_set=None if works else next(iter(older), None),
        amendments=[each for name in own for each in told.amendments.get((name, cell.packages.get(name, "")), ())],
        speed=[_speed(told, machine, cell) for machine in facts.timed],
        charts=told.charts,
        numbers=changed(facts.numbers, cell.holds["jax"], jax_line) if cell.moves == "jax" else None,
    )


def _once(cells: Sequence[CellRow]) -> list[CellRow]:
    """Return the stacks without duplicates under another id."""
    found: dict[tuple[str | tuple[str, str], ...], CellRow] = {}
    for cell in cells:
        # An unresolved stack has only its id.
        found.setdefault((cell.python, *sorted((cell.packages or {"": cell.id}).items())), cell)
    return list(found.values())


def _names_of(cells: Sequence[CellRow]) -> dict[str, list[str]]:
    """Return the packages that distinguish each cell: the libraries, and any others that differ between cells."""
    alike: dict[tuple[str | None, ...], list[CellRow]] = {}
    for cell in cells:
        alike.setdefault((cell.python, *(cell.packages.get(name) for name in ASKED)), []).append(cell)
    found: dict[str, list[str]] = {}
    for of in alike.values():
        differ = [name for name in PACKAGES if len({cell.packages.get(name) for cell in of}) > 1]
        found |= {cell.id: [name for name in (*ASKED, *differ) if name in cell.packages] for cell in of}
    return found


def _turns(facts: Facts, cell: CellRow) -> Turns:
    """Return the changed cases of a release, by how they changed, by blame, and by issue."""
    step = facts.steps.get(cell.id, {})
    found: dict[Turned, dict[str, dict[str, list[BeforeAfter]]]] = {}
    for how in _TURNS:
        for blame, turns in step.get(how, {}).items():
            for turn in turns:
                found.setdefault(how, {}).setdefault(blame, {}).setdefault(turn[1].issue, []).append(turn)
    return found


def _affected(facts: Facts, cell: CellRow) -> list[AffectedIssue]:
    """Return the issues that show a symptom in a cell, the worst first."""
    affected = []
    for issue in facts.report.issues:
        alike: dict[tuple[Verdict, str | None], list[Observation]] = {}
        texts: dict[str, list[str]] = {}
        fails: list[str] = []
        for case in issue.cases:
            seen = facts.seen[issue.id, case.id].get(cell.id)
            if seen is None or stands(seen.verdict) != "symptom":
                continue
            alike.setdefault((seen.verdict, seen.behaviour), []).append(seen)
            if case.workaround is not None and seen.workaround == "holds":
                texts.setdefault(case.workaround.text, []).append(case.id)
            elif seen.workaround == "fails":
                fails.append(case.id)
        if alike:
            affected.append(AffectedIssue(issue, sorted(alike.values(), key=_badness), texts, fails))
    return sorted(affected, key=lambda each: (not each.issue.row_zero, _badness(each.alike[0])))


def _badness(alike: Sequence[Observation]) -> int:
    return VERDICTS.index(alike[0].verdict)


def _unknown(seen: Sequence[Observation]) -> Mapping[tuple[Verdict, str], int]:
    """Count the undecided cases by verdict and cause, without blocked ones."""
    return Counter(
        (observation.verdict, observation.detail.partition("\n")[0] or observation.reason or "")
        for observation in seen
        if stands(observation.verdict) == "unknown"
    )


def _speed(told: _ReleaseData, machine: TimedMachine, cell: CellRow) -> Speed:
    of = told.spells[machine.name]
    # Slow-downs that this release brought come first.
    slow = sorted((spell for spell in of if cell.id in spell.there), key=lambda spell: spell.shift.other != cell.id)
    ends = [spell for spell in of if spell.until == cell.id]
    known = {spell.chart.id for spell in (*slow, *ends)}
    changes = [shift for shift in machine.shifts if cell.id in (shift.base, shift.other)]
    named = []
    if cell.id in machine.releases:
        for section in machine.sections:
            for chart in section.charts:
                if chart.id not in known and _names(chart.story, cell):
                    named.append((chart, _around(chart, machine, told.order, cell.id)))
    shown = [pair for pair in named if pair[1]]
    return Speed(machine, cell.id in machine.releases, slow, ends, changes, shown, keyed(machine, told.charts))


def _names(story: str, cell: CellRow) -> bool:
    """Return True if a publication names the release; a bare `0.7.1` is a release of jax."""
    version = re.escape(cell.holds[cell.moves])
    others = "".join(f"(?<!{name} )" for name in IMPORTS) if cell.moves == "jax" else f"(?<={cell.moves} )"
    return re.search(rf"(?<![\w.]){others}{version}(?!\.?\w)", story) is not None


def _around(chart: Chart, machine: TimedMachine, order: Sequence[str], release: str) -> list[tuple[str, float]]:
    """Return the times of a chart's first line on a release and on its timed neighbours."""
    times = dict(zip(machine.releases, chart.series[0].values, strict=True))
    timed = [version for version in order if version in times]
    at = timed.index(release) if release in timed else 0
    near = timed[max(0, at - 1) : at + 2]
    found = [(version, value) for version in near if (value := times[version]) is not None]
    return found if release in dict(found) else []
