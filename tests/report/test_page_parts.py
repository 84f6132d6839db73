"""What the page computes of a report, without a browser: rows, runs, timelines, steps, grids, findings, source."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from suite.judge.table import TABLE, Verdict
from suite.report.formats.markup import LONGEST, said
from suite.report.model import CellRow, IntervalRow, Observation, Report, TurnRow
from suite.report.site import page
from suite.report.site.embed import highlight, link, verdict_styles
from suite.report.site.page import View
from suite.report.site.table import Mark, by_minor, stretches, with_room
from suite.report.site.timeline import turned, verified
from suite.report.upstream_texts import SORTS, findings
from tests.report.test_report import cell_row, observation, report


def cells(*versions: str) -> list[CellRow]:
    """The line's cells of these releases of jax."""
    return [CellRow.model_validate(cell_row(f"jax-{version}")) for version in versions]


def seen(*verdicts: Verdict, **changes: Any) -> list[Observation]:
    """Observations of one case on jax 0.4.30, 0.4.31 and so on, with these verdicts."""
    return [
        observation(cell=f"jax-0.4.{30 + number}", verdict=verdict, behaviour=verdict, **changes)
        for number, verdict in enumerate(verdicts)
    ]


def interval(verdict: str, first: str, last: str = "", **changes: Any) -> IntervalRow:
    """An interval over jax whose behaviour has the name of its verdict."""
    row = {"behaviour": verdict, "verdict": verdict, "first": first, "last": last or first}
    return IntervalRow.model_validate({**row, "package": "jax", "exact": True, "order": "version", **changes})


def changed(of: Report, **changes: Any) -> Report:
    """A report of one issue with one case, which has these intervals, or turns."""
    (issue,) = of.issues
    (case,) = issue.cases
    return of.model_copy(update={"issues": [issue.model_copy(update={"cases": [case.model_copy(update=changes)]})]})


# Text and links


def test_text_is_spelled_out_and_cut() -> None:
    """Escapes and direction marks are shown as what they are, and of a long message its length is told."""
    assert "\\u001b[31m \\u202ex\n<b>" == said("\x1b[31m \u202ex\n<b>")
    assert f"{'x' * LONGEST}… (10,000,000 characters in compat.json)" == said("x" * 10_000_000)


@pytest.mark.parametrize(
    ("ref", "address"),
    [
        ("jax-ml/jax#27829", "https://github.com/jax-ml/jax/issues/27829"),
        ("https://docs.jax.dev/x#y", "https://docs.jax.dev/x#y"),
        ("https://docs.jax.dev/x#1", "https://docs.jax.dev/x#1"),
        ("javascript:alert(1)", ""),
        ("javascript:alert#1", ""),
    ],
)
def test_a_thread_has_an_address(ref: str, address: str) -> None:
    """A thread leads to its tracker and a page to itself; what is neither leads nowhere."""
    assert address == link(ref)


# The matrix


def test_columns_stand_by_minor_release_of_jax() -> None:
    """A release that came out of turn stands with its minor release; otherwise days decide."""
    grouped = [(minor, [cell.id for cell in of]) for minor, of in by_minor(cells("0.8.2", "0.9.0", "0.8.3", "0.10.0"))]

    assert [("0.8", ["jax-0.8.2", "jax-0.8.3"]), ("0.9", ["jax-0.9.0"]), ("0.10", ["jax-0.10.0"])] == grouped


def test_a_word_stands_where_it_has_room() -> None:
    """Of neighbours with one verdict the first says its word, and every eighth; one alone has no room."""
    row = with_room([Mark("a", "clear")] * 10 + [Mark("b", "affected"), None])

    assert [0, 8] == [place for place, mark in enumerate(row) if mark and mark.room]


def test_an_issue_shows_the_worst_of_its_cases() -> None:
    """The row of an issue has its cases' worst verdict, and how many have it."""
    of = report(*(observation(case=case, verdict=case) for case in ("clear", "affected", "guarded")))

    assert [Mark("jax-0.4.30", "affected", "1 of 3")] == View(of).worst(of.issues[0])


# Runs and ranges


def test_the_same_is_told_once() -> None:
    """Neighbours of which the very same is told are one run, however long they took; another detail ends it."""
    ordered = seen("clear", "clear", "affected", "clear", "clear")
    ordered[1] = ordered[1].model_copy(update={"seconds": 99.0, "peak_rss_mib": 1})
    ordered[4] = ordered[4].model_copy(update={"detail": "otherwise"})

    told = stretches((each.cell, each) for each in ordered)
    assert [(1, 2), (3, 1), (4, 1), (5, 1)] == [(int(run.first[-2:]) - 29, run.count) for run in told]


@pytest.mark.parametrize(
    ("workarounds", "told"),
    [
        (["holds", "holds", "fails"], "holds 0.4.30–0.4.31, fails 0.4.32"),
        (["holds", "not-needed", "holds"], "holds 0.4.30, holds 0.4.32"),
        (["holds", None, "holds"], "holds 0.4.30–0.4.32"),
        (["none", "not-needed", "none"], ""),
    ],
)
def test_where_a_workaround_was_verified(workarounds: Sequence[str | None], told: str) -> None:
    """A workaround's ranges are those where it was needed and run; a release of which nothing is known ends none."""
    of = {
        f"jax-0.4.{30 + number}": observation(workaround=each or "none", verdict="affected" if each else "error")
        for number, each in enumerate(workarounds)
    }

    assert told == verified(cells("0.4.30", "0.4.31", "0.4.32"), of)


def test_a_timeline_is_as_wide_as_its_releases() -> None:
    """Bands and ticks lie where their releases do, in percent; ticks that are too near to read say so."""
    line = cells("0.4.30", "0.4.31", "0.5.0", *(f"0.6.{number}" for number in range(17)))
    drawn = [interval("clear", "0.4.30", "0.4.31"), interval("affected", "0.5.0", "0.6.16")]
    view = View(changed(report(observation()), intervals=drawn).model_copy(update={"cells": line}))

    (axis,) = view.timeline(view.report.issues[0].cases[0])
    assert [(0.0, 10.0, "0.4.30–0.4.31"), (10.0, 90.0, "0.5.0 on")] == [
        (band.x, band.width, band.where) for band in axis.bands
    ]
    assert [(0.0, "0.4", False), (10.0, "0.5", False), (15.0, "0.6", True)] == axis.ticks


# Upgrades


@pytest.mark.parametrize(
    ("before", "after", "how"),
    [
        ("clear", "affected", "appears"),
        ("absent", "guarded", "appears"),
        ("guarded", "clear", "goes"),
        ("affected", "guarded", "changes"),
        ("affected", "affected", "stays"),
        ("clear", "absent", None),
        ("clear", "flaky", None),
        ("error", "affected", None),
        ("documented", "documented", None),
        ("affected", "documented", "documented"),
        ("documented", "clear", "documented"),
        ("absent", "documented", None),
        ("blocked", "affected", None),
    ],
)
def test_how_an_upgrade_turns_a_case(before: Verdict, after: Verdict, how: str | None) -> None:
    """A symptom appears, goes, changes its face or stays; what is documented changes, or nothing is said of it."""
    assert how == turned(*seen(before, after))


def test_a_step_stands_beside_what_was_last_known() -> None:
    """A release on which nothing was learned is stepped over, and what turned is told with its blame."""
    one, _, other, _ = ordered = seen("clear", "not-run", "affected", "affected")
    turn = TurnRow(before=one.cell, after=other.cell, grounds="run", blame="jax 0.4.30 → 0.4.32")

    (step,) = View(changed(report(*ordered), turns=[turn])).steps
    assert (one.cell, other.cell) == (step.before.id, step.after.id)
    assert {"appears": {"jax 0.4.30 → 0.4.32": [(one, other)]}} == step.turns


def test_the_picker_starts_with_a_year() -> None:
    """Before anybody picks, the newest stack that was tried is compared with that of a year before."""
    days = (date(2025, 1, 1), date(2025, 6, 1), date(2025, 7, 1), date(2026, 6, 30), date(2026, 7, 1))
    line = [
        cell.model_copy(update={"released_on": day, "declared_observed": "supported" if day < days[4] else None})
        for cell, day in zip(cells("0.6.0", "0.7.0", "0.8.0", "0.9.0", "0.10.0"), days, strict=True)
    ]

    assert ("jax-0.7.0", "jax-0.9.0") == View(report().model_copy(update={"cells": line})).year


# Findings


def test_what_came_back_is_a_finding() -> None:
    """Affected, well and affected again is told with every range, and a text for upstream that has the source."""
    turns = [interval("affected", "0.4.30"), interval("clear", "0.5.0"), interval("affected", "0.6.0")]

    (finding,) = findings(changed(report(observation()), intervals=turns))
    assert "came-back" == finding.sort
    assert "“affected” on jax 0.4.30, and, after releases that do not show it, again on 0.6.0." == finding.text
    for what in ("Does it?", "| jax 0.5.0 | ✓ clear | clear |", "def headline():", "jax-ml/jax#1", "Do not."):
        assert what in finding.report
    # With a release of another package, it is not this one's.
    turns[-1] = interval("affected", "0.6.0", came_with="lineax 0.1.0 → 0.0.8")
    assert [] == findings(changed(report(observation()), intervals=turns))


@pytest.mark.parametrize(
    ("changes", "sort"),
    [
        ({"agreement": "changed"}, "not-known"),
        ({"agreement": "new", "expected": None}, "not-known"),
        ({"workaround": "fails"}, "workaround-fails"),
        ({"workaround": "fails", "workaround_expected": True}, "workaround-fails"),
    ],
)
def test_what_is_not_as_documented_is_a_finding(changes: dict[str, Any], sort: str) -> None:
    """An unknown behaviour and a workaround that fails are findings, one for all stacks that show the same."""
    of = report(*(observation(cell=f"jax-0.4.{number}", **changes) for number in (30, 31)))

    (finding,) = findings(of)
    assert (sort, "jax-0.4.30, jax-0.4.31") == (finding.sort, finding.evidence[0].where)
    assert 'nox -s "cell(jax-0.4.30)" report -- --issue some-issue --fresh' in finding.report


@pytest.mark.parametrize(("shows", "sorts"), [("bad", ["outlives-its-fix"]), ("another", [])])
def test_what_outlives_its_fix_is_a_finding(shows: str, sorts: list[str]) -> None:
    """A case that still shows on the newest stack what the headline no longer does is one; another symptom is none."""
    well = observation(cell="jax-0.5.0", verdict="clear", behaviour="good", reason=None, workaround="not-needed")
    still = observation(cell="jax-0.5.0", case="another-case", behaviour=shows, expected=shows)

    assert sorts == [each.sort for each in findings(report(observation(), well, still))]


def test_a_stack_that_metadata_is_wrong_of_is_a_finding(known: Report) -> None:
    """A latent stack is told with the requirement that would agree, once, among findings sorted by what they are."""
    found = findings(known)
    (finding,) = [each for each in found if each.sort == "latent" and "0.11.8" in each.title]

    assert "metadata allows, and it does not work: jax 0.4.36–0.7.0" in finding.text
    assert "diffrax 0.6.0 lacks jax<0.4.36" in finding.report
    assert len(found) == len({each.id for each in found}) > 2
    assert [each.sort for each in found] == sorted((each.sort for each in found), key=list(SORTS).index)


# Source, style and data


def test_source_is_marked_and_escaped() -> None:
    """Keywords, names, strings, comments and numbers are marked, and whatever is in them is text."""
    assert (
        '<i class="k">def</i> <i class="f">f</i>():\n    <i class="k">return</i> <i class="s">&#34;&lt;b&gt;&#34;</i>, '
        '<i class="n">1</i>  <i class="c"># &amp;</i>\n'
    ) == str(highlight('def f():\n    return "<b>", 1  # &\n'))


def test_every_verdict_has_a_colour_and_is_listed_once() -> None:
    """The page's style defines what the verdicts' table refers to; neither it nor a script lists them again."""
    folder = Path(page.__file__).parent / "templates" / "page"
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in ("page.css", "page.js", "rules.js")}
    for each in TABLE:
        assert f".{each.name} {{ --b: var(--{each.css}); --i: var(--{each.css}-ink); }}" in verdict_styles()
        assert f"--{each.css}: " in texts["page.css"]
        assert f"--{each.css}-ink: " in texts["page.css"]
    for name, text in texts.items():
        mark = r"\.{}\b" if name.endswith(".css") else r"[\"'`]{}[\"'`]"
        found = [each.name for each in TABLE if re.search(mark.format(each.name), text)]
        assert set(found) <= {"documented", "absent", "blocked"}, name


def test_the_data_is_json_that_ends_no_element(known: Report) -> None:
    """The script's data has no mark that HTML acts on, and each observation is where it belongs."""
    text = str(View(known).data)

    assert not set("<>&\u2028\u2029") & set(text)
    data = json.loads(text)
    place = {cell["id"]: number for number, cell in enumerate(data["cells"])}
    cases = {(issue["id"], case["id"]): case for issue in data["issues"] for case in issue["cases"]}
    for each in known.observations:
        kind = data["kinds"][cases[each.issue, each.case]["seen"][place[each.cell]]]
        assert [each.verdict, each.behaviour, each.detail] == [kind[0], kind[1], kind[-1]]
