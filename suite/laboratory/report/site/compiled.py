"""The rules and runs of a report for the page's script; a version is its place in a list of known releases. Pure.

So the script compares no version numbers: the newer of two releases has the higher place, and a requirement is the set
of known releases that meet it. A release that is not in the lists is unknown to the script.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from packaging.version import Version

from jax_stack_compat.check.works import AT_IMPORT, PLATFORM, not_imported
from jax_stack_compat.judge.rules import concerned, requirements
from jax_stack_compat.judge.verdict_table import PROPERTIES, UNDECIDED, Verdict
from jax_stack_compat.packages import ASKED, GUESTS, IMPORTS, STACK
from laboratory.report.markup import said
from laboratory.report.model import CaseRow, CellRow, IssueRow, Observation, Report
from laboratory.report.site.facts import Facts
from laboratory.report.site.metadata import metadata
from laboratory.report.site.places import NONE, Numbered, known, meeting
from laboratory.report.site.timeline import is_mended, stands

# The verdicts that mark what does not install, what does not work, and what does.
_MARKS: Mapping[str, Verdict] = {"refused": "conflict", "broken": "affected", "well": "clear"}


def compiled(facts: Facts) -> dict[str, Any]:
    """Return the data of `assets/stack.js` and `assets/rules.js`; frequent values are stored once, with a number.

    `known`: the releases of each package, oldest first. `asked`: the packages that identify a stack. `cells`: id, date,
    the package that it moves on the line, and its releases in the order of `known`. `refused`: a cell, the packages
    that its id names, whether these are all in `known`, and why it is unavailable. `wanted`: a package and its releases
    that meet a requirement, from … to below …. `rules`: behaviour, requirements, evidence. `workarounds`: text, and the
    requirements of the stacks on which it fails. `verdicts`: glyph, meaning for an upgrade, whether a workaround
    applies, whether upstream reports it loudly. `kinds`: behaviour of a run, whether it was blocked, and the
    workaround's result. `issues`: id, title, whether it is row zero, and its cases: id, needs, everything that those
    import, the verdicts of its behaviours, rules, workaround, the places of the cases that it waits for, run lengths
    over the cells: a kind, then a number of cells, and the modules whose import fails, by behaviour.
    """
    report, releases, tried = facts.report, known(facts.report), facts.report.cells
    names = list(releases)
    places = {name: {Version(version): place for place, version in enumerate(of)} for name, of in releases.items()}
    wanted, rules, workarounds, kinds = (Numbered() for _ in range(4))

    def asked(on: str) -> tuple[int, ...]:
        return tuple(wanted[names.index(each.name), *meeting(each, releases[each.name])] for each in requirements(on))

    def case_of(issue: IssueRow, case: CaseRow) -> list[Any]:
        every = facts.seen[issue.id, case.id]
        seen = {cell.id: every[cell.id] for cell in tried if cell.id in every}
        runs = [NONE if (kind := _kind(seen.get(cell.id))) is None else kinds[kind] for cell in tried]
        shown = {rule.behaviour for rule in case.rules} | {row.behaviour for row in seen.values()}
        instead = case.workaround
        return [
            case.id,
            [names.index(name) for name in case.needs],
            [names.index(name) for name in sorted(concerned(case.needs))],
            {name: means for name, means in case.behaviours.items() if name in shown},
            [rules[rule.behaviour, asked(rule.on), rule.evidence] for rule in case.rules],
            workarounds[instead.text, tuple(map(asked, instead.fails))] if instead else NONE,
            [every_case.index(name) if name in every_case else NONE for name in case.waits_for],
            [number for kind, of in groupby(runs) for number in (kind, len(list(of)))],
            {name: module for name in case.behaviours if (module := not_imported(case.touches, name))},
        ]

    every_case = [f"{issue.id}/{case.id}" for issue in report.issues for case in issue.cases]
    cells = [[cell.id, cell.released_on.isoformat(), _moved(cell), _places(cell, places)] for cell in tried]
    refusals = _refusals(report)
    issues = [
        [issue.id, issue.title, issue.row_zero, [case_of(issue, case) for case in issue.cases]]
        for issue in report.issues
    ]
    return {
        "known": releases,
        "asked": ASKED,
        "cells": cells,
        "refused": [
            [place, [name for name in cell.holds if name in names], set(cell.holds) <= set(names), refusals[cell.id]]
            for place, cell in enumerate(tried)
            if cell.id in refusals
        ],
        "stack": list(STACK),
        "guests": list(GUESTS),
        "imports": IMPORTS,
        "platform": PLATFORM,
        "at_import": AT_IMPORT,
        "marks": _MARKS,
        **metadata(releases, [cell.versions for cell in tried]),
        "verdicts": {
            verdict.name: [verdict.glyph, stands(verdict.name), is_mended(verdict.name), verdict.name == "guarded"]
            for verdict in PROPERTIES.values()
        },
        "wanted": list(wanted),
        "rules": list(rules),
        "workarounds": list(workarounds),
        "kinds": list(kinds),
        "issues": issues,
    }


def _kind(observation: Observation | None) -> tuple[str, bool, str] | None:
    """Return an observation for the script; None if it is undecided and not blocked."""
    if observation is None or (observation.verdict in UNDECIDED and observation.verdict != "blocked"):
        return None
    return observation.behaviour or observation.verdict, observation.verdict == "blocked", observation.workaround


def _places(cell: CellRow, places: Mapping[str, Mapping[Version, int]]) -> list[int]:
    return [of[Version(cell.packages[name])] if name in cell.packages else NONE for name, of in places.items()]


def _moved(cell: CellRow) -> str:
    """Return the package that a cell of the line moves; empty for another cell."""
    return cell.moves if cell.kind == "line" else ""


def _refusals(report: Report) -> dict[str, str]:
    """Return why stacks are unavailable or excluded by metadata, by cell."""
    gone = {row.cell: row.detail for row in reversed(report.observations) if (row.reason or "").startswith("plan.")}
    why = {cell.id: gone.get(cell.id) if cell.declared_observed is None else cell.excluded_by for cell in report.cells}
    return {cell: said(text) for cell, text in why.items() if text}
