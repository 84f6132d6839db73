"""What the page computes of a report, without a browser: rows, runs, timelines, steps, grids, findings, source."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from suite.judge.table import TABLE, Verdict
from suite.report.formats.markup import LONGEST, said
from suite.report.model import CellRow, IntervalRow, Observation, Report, TurnRow
from suite.report.site import page
from suite.report.site.embed import highlight, link, verdict_styles
from suite.report.site.page import View
from suite.report.site.table import columns, groups, marks, stretches
from suite.report.site.timeline import turned, verified
from suite.report.upstream_texts import SORTS, findings
from suite.run import catalogue, source
from suite.stack import plan
from tests.report.test_report import cell_row, observation, report
from tests.worlds import as_known, few


@pytest.fixture(scope="module")
def known() -> Report:
    """A report on some real stacks, on which every issue did what is known of it."""
    return as_known(few())


@pytest.fixture(scope="module")
def whole_line() -> Report:
    """A report on every cell of the line, on which every issue did what is known of it."""
    return as_known([cell for cell in plan.cells() if cell.kind == "line"])


def cells(*versions: str) -> list[CellRow]:
    """The line's cells of these releases of jax."""
    return [CellRow.model_validate(cell_row(f"jax-{version}")) for version in versions]


def seen(*verdicts: Verdict, **changes: Any) -> list[Observation]:
    """Observations of one case on jax 0.4.30, 0.4.31 and so on, with these verdicts."""
    return [
        observation(cell=f"jax-0.4.{30 + number}", verdict=verdict, behaviour=verdict, **changes)
        for number, verdict in enumerate(verdicts)
    ]


def interval(verdict: str, first: str, last: str) -> IntervalRow:
    """An interval over jax whose behaviour has the name of its verdict."""
    row = {"behaviour": verdict, "verdict": verdict, "first": first, "last": last}
    return IntervalRow.model_validate({**row, "package": "jax", "exact": True, "order": "version"})


def with_intervals(of: Report, *intervals: IntervalRow) -> Report:
    """A report of one issue with one case, which has these intervals."""
    (issue,) = of.issues
    (case,) = issue.cases
    changed = issue.model_copy(update={"cases": [case.model_copy(update={"intervals": list(intervals)})]})
    return of.model_copy(update={"issues": [changed]})


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
    grouped = groups(columns(cells("0.8.2", "0.9.0", "0.8.3", "0.10.0")))

    assert [("0.8", ["jax-0.8.2", "jax-0.8.3"]), ("0.9", ["jax-0.9.0"]), ("0.10", ["jax-0.10.0"])] == [
        (group.minor, [cell.id for cell in group.cells]) for group in grouped
    ]


def test_a_word_stands_where_it_has_room() -> None:
    """Of neighbours with one verdict the first says its word, and every eighth; one alone has no room."""
    row = marks([("a", "clear", "", False)] * 10 + [("b", "affected", "", False), None])

    assert [0, 8] == [place for place, mark in enumerate(row) if mark and mark.room]


def test_an_issue_shows_the_worst_of_its_cases() -> None:
    """The row of an issue has its cases' worst verdict, and how many have it."""
    of = report(*(observation(case=case, verdict=case) for case in ("clear", "affected", "guarded")))

    (mark,) = View(of).worst(of.issues[0])
    assert mark is not None
    assert ("affected", "1 of 3") == (mark.verdict, mark.told)


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
    of = with_intervals(
        report(observation()), interval("clear", "0.4.30", "0.4.31"), interval("affected", "0.5.0", "0.6.16")
    )
    view = View(of.model_copy(update={"cells": line}))

    (axis,) = view.timeline(view.report.issues[0].cases[0])
    assert [(0.0, 10.0, "0.4.30–0.4.31"), (10.0, 90.0, "0.5.0 on")] == [
        (band.x, band.width, band.where) for band in axis.bands
    ]
    assert ((0.0, "0.4", False), (10.0, "0.5", False), (15.0, "0.6", True)) == axis.ticks


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
    ordered = seen("clear", "not-run", "affected", "affected")
    of = report(*ordered)
    turns = [TurnRow(before="jax-0.4.30", after="jax-0.4.32", grounds="run", blame="jax 0.4.30 → 0.4.32")]
    case = of.issues[0].cases[0].model_copy(update={"turns": turns})
    issue = of.issues[0].model_copy(update={"cases": [case]})

    (step,) = View(of.model_copy(update={"issues": [issue]})).steps
    assert ("jax-0.4.30", "jax-0.4.32", ["appears"]) == (step.before.id, step.after.id, list(step.turns))
    assert {"jax 0.4.30 → 0.4.32": 1} == {blame: len(turns) for blame, turns in step.turns["appears"].items()}


def test_a_branch_is_compared_with_itself(whole_line: Report) -> None:
    """jax 0.8.3 came out after 0.9.0, and is compared with 0.8.2: what 0.9.0 changed is not put down to a library."""
    changed = {
        step.after.id: step.before.id
        for step in View(whole_line).steps
        for of in step.turns.values()
        for turns in of.values()
        if any(turn.case == "static-self-mutated" for turn in turns)
    }

    assert "jax-0.8.2" == changed["jax-0.9.0"]
    assert not {"diffrax-0.7.1", "jax-0.8.3"} & set(changed)


def test_a_change_is_put_down_to_the_package_that_made_it(whole_line: Report) -> None:
    """That a stiff solve works again with a later Diffrax is Lineax's doing, and the step says so."""
    told = {
        (step.after.id, how, blame)
        for step in View(whole_line).steps
        for how, of in step.turns.items()
        for blame, turns in of.items()
        if any(turn.case == "implicit-solve" for turn in turns)
    }

    assert ("lineax-0.1.0", "goes", "lineax 0.0.8 → 0.1.0") in told


# Stacks


def test_a_grid_has_a_row_for_what_is_held(known: Report) -> None:
    """Rows that ask the same share the columns of all their versions; where a row has no stack there is no mark."""
    grid = View(known).grids[0]

    assert ("I keep my libraries and upgrade jax", ("0.4.35", "0.4.36", "0.4.37", "0.4.38", "0.7.0")) == (
        grid.question,
        grid.versions,
    )
    assert ["supported", "latent", "latent", "latent", "latent"] == [mark.told for mark in grid.rows[0].marks if mark]


# Findings


def test_what_came_back_is_a_finding() -> None:
    """Affected, well and affected again is told with every range, and a text for upstream that has the source."""
    of = with_intervals(
        report(observation()),
        *(interval("affected", "0.4.30", "0.4.30"), interval("clear", "0.5.0", "0.5.0")),
        interval("affected", "0.6.0", "0.6.0"),
    )

    (finding,) = findings(of)
    assert "came-back" == finding.sort
    assert "“affected” on jax 0.4.30, and, after releases that do not show it, again on 0.6.0." == finding.text
    for what in ("Does it?", "| jax 0.5.0 | ✓ clear | clear |", "def headline():", "jax-ml/jax#1", "Do not."):
        assert what in finding.report


def test_what_came_with_another_package_has_not_come_back() -> None:
    """A symptom that began again with a release of another package is not told of this one."""
    again = interval("affected", "0.6.0", "0.6.0").model_copy(update={"came_with": "lineax 0.1.0 → 0.0.8"})
    well = interval("clear", "0.5.0", "0.5.0")

    assert [] == findings(with_intervals(report(observation()), interval("affected", "0.4.30", "0.4.30"), well, again))


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


@pytest.mark.parametrize(("shows", "expected"), [("bad", 1), ("another", 0)])
def test_what_outlives_its_fix_is_a_finding(shows: str, expected: int) -> None:
    """A case that still shows on the newest stack what the headline no longer does is one; another symptom is none."""
    well = observation(cell="jax-0.5.0", verdict="clear", behaviour="good", reason=None, workaround="not-needed")
    still = observation(cell="jax-0.5.0", case="another-case", behaviour=shows, expected=shows)
    of = report(observation(), well, still)

    assert expected == [each.sort for each in findings(of)].count("outlives-its-fix")


def test_a_stack_that_metadata_is_wrong_of_is_a_finding(known: Report) -> None:
    """A latent stack is told with the requirement that would agree with the runs."""
    (finding,) = [each for each in findings(known) if each.sort == "latent" and "0.11.8" in each.title]

    assert "metadata allows, and it does not work: jax 0.4.36–0.7.0" in finding.text
    assert "diffrax 0.6.0 lacks jax<0.4.36" in finding.report


def test_nothing_odd_is_no_finding() -> None:
    """A report on which all is as known, and well, has no findings."""
    assert [] == findings(report(observation(verdict="clear", behaviour="good", workaround="not-needed")))


def test_findings_have_addresses_of_their_own(known: Report) -> None:
    """No two findings have one id, and they are sorted by what they are."""
    found = findings(known)

    assert len(found) == len({each.id for each in found}) > 2
    assert [each.sort for each in found] == sorted((each.sort for each in found), key=list(SORTS).index)


# Source


def test_source_is_marked_and_escaped() -> None:
    """Keywords, names, strings, comments and numbers are marked, and whatever is in them is text."""
    assert (
        '<i class="k">def</i> <i class="f">f</i>():\n    <i class="k">return</i> <i class="s">&#34;&lt;b&gt;&#34;</i>, '
        '<i class="n">1</i>  <i class="c"># &amp;</i>\n'
    ) == str(highlight('def f():\n    return "<b>", 1  # &\n'))


@pytest.mark.parametrize("entry", catalogue.entries(), ids=lambda entry: entry.issue.id)
def test_the_source_of_an_issue_is_whole(entry: catalogue.Entry) -> None:
    """What the cases share, and each case's own source after it, is a module that defines all the case's functions."""
    text = entry.source.read_text(encoding="utf-8")

    for case in entry.issue.cases:
        own = source.of_case(text, case)
        module: dict[str, Any] = {}
        exec(compile(source.shared(text, entry.issue) + "\n\n" + own, entry.module, "exec"), module)
        assert case.reproducer.__name__ in module
        code = case.workaround.code if case.workaround else None
        assert code is None or code.__name__ in module


# Verdicts


def test_every_verdict_has_a_colour() -> None:
    """The style sheet of the verdicts has all of them, and the page's own defines what each refers to."""
    style = (Path(page.__file__).parent / "templates" / "page" / "page.css").read_text(encoding="utf-8")

    for each in TABLE:
        assert f".{each.name} {{ --b: var(--{each.css}); --i: var(--{each.css}-ink); }}" in verdict_styles()
        assert f"--{each.css}: " in style
        assert f"--{each.css}-ink: " in style


def test_no_verdict_is_named_in_a_script_or_a_style() -> None:
    """What belongs to a verdict stands in one table; a script and a style sheet list none of them."""
    folder = Path(page.__file__).parent / "templates" / "page"
    for name, mark in (("page.css", r"\.{}\b"), ("page.js", r"[\"'`]{}[\"'`]"), ("rules.js", r"[\"'`]{}[\"'`]")):
        text = (folder / name).read_text(encoding="utf-8")
        found = [each.name for each in TABLE if re.search(mark.format(each.name), text)]
        assert set(found) <= {"documented", "absent", "blocked"}, name


# The script's data


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


def test_the_picker_starts_with_a_year(whole_line: Report) -> None:
    """Before anybody picks, the newest stack is compared with that of a year before."""
    view = View(whole_line)

    assert view.year is not None
    then, now = (view.cells[each].released_on for each in view.year)
    assert 365 <= (now - then).days < 365 + 60
