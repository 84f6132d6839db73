"""The difference between two reports: what became of each case, one cause told once, and what was run otherwise."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from suite import __main__ as command
from suite import commands, errors, files
from suite.errors import Exit
from suite.judge.table import UNDECIDED, VERDICTS
from suite.report.diff import KINDS, Diff, change, diff, exit_code, tracks
from suite.report.formats.diff import as_json, last, markdown, show
from suite.report.formats.length_limit import MOST
from suite.report.model import CellRow, Observation, Report
from tests.report.test_report import cell_row, observation, report, tokens, undecided

GOOD = {"verdict": "clear", "behaviour": "good", "reason": None, "workaround": "not-needed"}
LINE = ("jax-0.4.30", "jax-0.4.31", "jax-0.5.0", "jax-0.6.0")


def good(**changes: Any) -> Observation:
    """An observation without the symptom."""
    return observation(**{**GOOD, **changes})


def kinds(found: Diff) -> list[str]:
    """The kinds of the changes, in their order."""
    return [each.kind for each in found.changes]


def shown(found: Diff) -> str:
    """What a terminal shows of a difference."""
    screen = StringIO()
    show(found, Console(file=screen, width=300, highlight=False))
    return screen.getvalue()


OBSERVED: st.SearchStrategy[Observation] = st.builds(
    lambda cell, case, verdict, behaviour, workaround: (
        undecided(verdict, cell=cell, case=case)
        if verdict in UNDECIDED
        else observation(cell=cell, case=case, verdict=verdict, behaviour=behaviour, workaround=workaround)
    ),
    st.sampled_from(LINE),
    st.sampled_from(["headline", "variant"]),
    st.sampled_from(VERDICTS),
    st.sampled_from(["bad", "worse", None]),
    st.sampled_from(["holds", "fails", "not-needed", "none"]),
)
RUNS = st.lists(OBSERVED, unique_by=lambda each: (each.cell, each.case)).map(lambda seen: report(*seen))


# What became of a case


@given(RUNS)
@settings(deadline=None, max_examples=50)
def test_a_report_does_not_differ_from_itself(of: Report) -> None:
    """Between a report and itself nothing changed, nothing was run otherwise, and the exit code is 0."""
    found = diff(of, of)

    assert ((), (), ()) == (found.changes, found.groups, found.premises)
    assert Exit.AS_EXPECTED == exit_code(found)


@given(RUNS, RUNS)
@settings(deadline=None, max_examples=50)
def test_there_and_back(one: Report, other: Report) -> None:
    """Backwards, what is new is gone, what is fixed is regressed, and what is changed or spurious stays so."""
    there, back = ({each.key: each for each in diff(*pair).changes} for pair in ((one, other), (other, one)))
    opposite = {"new": "gone", "gone": "new", "fixed": "regressed", "regressed": "fixed"}

    assert there.keys() == back.keys()
    for key, each in there.items():
        workarounds = {side.workaround for side in (each.before, each.now) if side}
        # Better and worse at once is worse, whichever way round.
        both = {each.kind, back[key].kind} == {"regressed"} and workarounds == {"holds", "fails"}
        assert both or opposite.get(each.kind, each.kind) == back[key].kind


@given(RUNS, RUNS)
@settings(deadline=None, max_examples=50)
def test_every_change_is_told_once(one: Report, other: Report) -> None:
    """The groups stand for every change that is not spurious, each of them once, in the order of triage."""
    found = diff(one, other)

    told = [(cell, *case) for group in found.groups for cell in group.cells for case in group.cases]
    assert sorted(each.key for each in found.changes if each.kind != "spurious") == sorted(told)
    order = [KINDS.index(group.kind) for group in found.groups]
    assert sorted(order) == order


@pytest.mark.parametrize(
    ("before", "now", "kind"),
    [
        (good(), observation(), "regressed"),
        (good(verdict="guarded", workaround="holds"), observation(verdict="crashed", behaviour=None), "regressed"),
        (observation(), observation(workaround="fails"), "regressed"),
        (observation(), good(verdict="guarded", workaround="fails"), "regressed"),
        (observation(), good(), "fixed"),
        (observation(workaround="fails"), observation(), "fixed"),
        (good(), good(verdict="absent", behaviour="absent"), "changed"),
        (observation(), observation(behaviour="worse"), "changed"),
        (observation(workaround="none"), observation(workaround="fails"), "changed"),
        (observation(verdict="different", behaviour=None), observation(verdict="hung", behaviour=None), "changed"),
        (
            observation(verdict="different", behaviour=None, reason="run.exception"),
            observation(verdict="different", behaviour=None, reason="import.exception"),
            "changed",
        ),
        (None, observation(), "new"),
        (observation(), None, "gone"),
    ],
)
def test_what_became_of_a_case(before: Observation | None, now: Observation | None, kind: str) -> None:
    """A bad verdict after a good one is a regression, and so is a workaround that held and fails."""
    found = change(before, now)

    assert found is not None
    assert kind == found.kind


def test_what_was_not_decided_is_spurious() -> None:
    """Where nothing was learned on either side, it is neither worse nor better, nor new."""
    for nothing in map(undecided, UNDECIDED):
        for other in (good(), observation(), None):
            found = change(nothing, other), change(other, nothing)
            assert ["spurious"] * 2 == [each and each.kind for each in found]


def test_costs_and_words_are_no_change() -> None:
    """The same behaviour that took longer, and whose evidence reads otherwise, is the same."""
    assert change(observation(), observation(seconds=9.0, attempts=3, detail="other words", agreement="new")) is None


@pytest.mark.parametrize(
    ("now", "code"),
    [
        (observation(), Exit.UNEXPECTED),
        (undecided("flaky"), Exit.AS_EXPECTED),
        (undecided("error"), Exit.AS_EXPECTED),
        (good(behaviour="better"), Exit.AS_EXPECTED),
        (observation(cell="jax-0.5.0"), Exit.AS_EXPECTED),
    ],
)
def test_only_what_is_worse_fails(now: Observation, code: Exit) -> None:
    """The exit code is 1 for a regression, and 0 for what is flaky, new, changed, or was not run."""
    assert code == exit_code(diff(report(good()), report(now)))


# One cause, told once


def test_consecutive_cells_are_one_line() -> None:
    """The same change on cells in a row, in two cases, is told once; a cell that did not change parts it."""
    cases = ("headline", "variant")
    before = report(*(good(cell=cell, case=case) for cell in LINE for case in cases))
    bad = {"jax-0.4.30", "jax-0.4.31", "jax-0.6.0"}
    now = report(*((observation if cell in bad else good)(cell=cell, case=case) for cell in LINE for case in cases))

    told = [(group.cells, [case for _, case in group.cases]) for group in diff(before, now).groups]

    assert [(("jax-0.4.30", "jax-0.4.31"), list(cases)), (("jax-0.6.0",), list(cases))] == told


def test_what_shows_nothing_parts_nothing() -> None:
    """A cell in which nothing was learned, or that has no such case, lies within a run of equal changes."""
    before = report(*(good(cell=cell) for cell in LINE))
    now = report(*(undecided("flaky", cell=cell) if cell == LINE[1] else observation(cell=cell) for cell in LINE))

    (group,) = diff(before, now).groups

    assert (LINE[0], *LINE[2:]) == group.cells


def test_unequal_changes_are_told_apart() -> None:
    """What became something else on the next cell is another line, though both are worse."""
    before = report(*(good(cell=cell) for cell in LINE[:2]))
    now = report(observation(cell=LINE[0]), observation(cell=LINE[1], behaviour="worse"))

    assert 2 == len(diff(before, now).groups)


def test_a_new_cell_is_one_line() -> None:
    """All cases of a cell that was not there are told at once, and counted by verdict."""
    now = report(
        observation(), *(make(cell="jax-0.5.0", case=case) for make, case in ((observation, "a"), (good, "b")))
    )

    (group,) = diff(report(observation()), now).groups

    assert ("new", ("jax-0.5.0",), "1 affected, 1 clear") == (group.kind, group.cells, group.words)
    assert ["a", "b"] == [case for _, case in group.cases]


def test_arms_are_followed_along_what_they_move() -> None:
    """The line is in the order of its days, and the cells of an arm in that of the releases that it moves."""

    def row(identifier: str, **changes: Any) -> CellRow:
        return CellRow.model_validate({**cell_row("jax-0.4.30"), "id": identifier, **changes})

    def arm(jax: str, equinox: str) -> CellRow:
        holds = {"jax": jax, "equinox": equinox}
        return row(f"jax-{jax}+equinox-{equinox}", kind="arm", holds=holds, released_on="2026-01-01")

    cells = [
        arm("0.10.0", "1"),
        arm("0.9.0", "1"),
        arm("0.9.0", "2"),
        row("late"),
        row("early", released_on="2020-01-01"),
    ]
    of = report().model_copy(update={"cells": cells})

    expected = [["early", "late"], ["jax-0.9.0+equinox-1", "jax-0.10.0+equinox-1"], ["jax-0.9.0+equinox-2"]]
    assert expected == tracks(of, report())


# What was run otherwise


def test_what_was_run_otherwise_is_told_first() -> None:
    """Suite, probe, platform, issue sources, locks and plans that differ are told before any change."""
    of = report(good(), good(cell="jax-0.5.0"))
    cells = [of.cells[0].model_copy(update={"lock_sha256": "9" * 64}), *of.cells[1:]]
    issue = of.issues[0].model_copy(update={"source_sha256": "8" * 64})
    changed = {"suite_version": "9.9", "probe_sha256": "7" * 64, "cells": cells, "issues": [issue], "shard": "1/2"}
    platform = of.platform.model_copy(update={"cpu": "another"})
    now = of.model_copy(update={**changed, "platform": platform, "planned_cells": ["jax-0.4.30", "jax-0.6.0"]})

    told = [each.what for each in diff(of, now).premises]

    source = "source of some-issue"
    assert ["suite", "probe", "platform cpu", "shard", source, "locks", "planned cells", "planned cells"] == told
    text = shown(diff(of, report(observation()).model_copy(update={"suite_version": "9.9"})))
    assert text.index("suite: 0.1.0 → 9.9") < text.index("Regressed")


# How it is told


def test_every_kind_is_told_in_its_order() -> None:
    """Terminal and Markdown tell regressions first and count what is spurious, which has no lines of its own."""
    before = [good(case="a"), observation(case="b"), observation(case="c"), observation(case="d"), good(case="e")]
    now = [
        observation(case="a"),
        observation(case="b", behaviour="worse"),
        good(case="c"),
        undecided("error", case="e"),
    ]
    found = diff(report(*before), report(*now, observation(case="f")))

    assert "1 regressed, 1 changed, 1 fixed, 1 new, 1 gone; 1 spurious" in last(found)
    for text in (shown(found), markdown(found)):
        places = [text.index(f"{kind.capitalize()}\n") for kind in KINDS[:-1]]
        assert sorted(places) == places
        assert last(found) in text
        assert "some-issue/e" not in text


def test_a_regression_says_how_to_see_it() -> None:
    """Of what got worse there is the evidence and the command that makes it again."""
    for text in (shown(found := diff(report(good()), report(observation()))), markdown(found)):
        assert "it was seen" in text
        assert 'nox -s "cell(jax-0.4.30)" report -- --issue some-issue --fresh' in text


def test_a_program_gets_all_of_it() -> None:
    """As JSON there is every change with both its sides, spurious ones among them, and the counts."""
    data = json.loads(
        as_json(diff(report(good(), good(case="b")), report(observation(), undecided("flaky", case="b"))))
    )

    assert {"regressed": 1, "changed": 0, "fixed": 0, "new": 0, "gone": 0, "spurious": 1} == data["counts"]
    (worse, spurious) = data["changes"]
    assert ("regressed", "jax-0.4.30", "some-issue", "headline") == tuple(
        worse[name] for name in ("kind", "cell", "issue", "case")
    )
    assert ("clear", "affected", "flaky") == (
        *(worse[side]["verdict"] for side in ("before", "now")),
        spurious["now"]["verdict"],
    )


HOSTILE = "<script>alert(1)</script> | `x` [a](b) \x1b[31m \u202e \x07 ![i](j)\n# heading\n" * 50


def test_somebody_elses_text_is_text() -> None:
    """What code under test says acts neither on a terminal nor in Markdown."""
    found = diff(report(good()), report(observation(detail=HOSTILE)))

    assert shown(found).replace("\n", "").isprintable()
    made = tokens(markdown(found))
    assert {"html_inline"} >= {token.type for token in made if "html" in token.type}
    assert {"<br>"} == {token.content for token in made if token.type == "html_inline"}
    assert not {"link_open", "image", "code_inline"} & {token.type for token in made}
    assert 1 == sum(token.type == "heading_open" and token.tag == "h1" for token in made)


def test_a_difference_goes_into_an_issue() -> None:
    """However much changed, the Markdown is short enough, and says how much it leaves out."""
    cases = [f"case-{number}-{'x' * 40}" for number in range(2000)]
    before = report(*(good(case=case) for case in cases))
    now = report(*(observation(case=case, behaviour=f"b-{case}", detail=HOSTILE) for case in cases))

    text = markdown(diff(before, now))

    assert len(text) < MOST
    assert "more lines of this section left out for room" in text
    assert "2000 regressed" in text


# The command


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> StringIO:
    """What a command prints."""
    printed = StringIO()
    console = Console(file=printed, width=80, highlight=False)
    monkeypatch.setattr(commands, "OUT", console)
    monkeypatch.setattr(errors, "say", lambda sentence: print("error:", sentence, file=printed))
    return printed


def saved(folder: Path, *reports: Report) -> Sequence[Path]:
    """A folder for each report, with its compat.json."""
    found = []
    for number, of in enumerate(reports):
        path = folder / str(number)
        path.mkdir()
        (path / "compat.json").write_text(files.dump(of.model_dump(mode="json")), encoding="utf-8")
        found.append(path)
    return found


def test_the_command_takes_folders_and_files(screen: StringIO, tmp_path: Path) -> None:
    """`diff` takes a folder or a file, prints, and exits with 1 only where something is worse."""
    old, new = saved(tmp_path, report(good()), report(observation()))

    assert Exit.UNEXPECTED == command.main(["diff", str(old), str(new / "compat.json")])
    assert "Regressed" in screen.getvalue()
    assert Exit.AS_EXPECTED == command.main(["diff", str(new), str(old)])


@pytest.mark.parametrize("shown_as", ["markdown", "json"])
def test_what_is_for_a_program_is_printed_as_it_is(shown_as: str, screen: StringIO, tmp_path: Path) -> None:
    """Markdown and JSON come out whole, not broken to the width of a terminal."""
    old, new = saved(tmp_path, report(good()), report(observation(detail="long " * 60)))
    found = diff(*(files.read(Report, path / "compat.json") for path in (old, new)))

    command.main(["diff", str(old), str(new), "--format", shown_as])

    assert {"markdown": markdown, "json": as_json}[shown_as](found) == screen.getvalue()


def test_what_is_no_report_is_misuse(screen: StringIO, tmp_path: Path) -> None:
    """A file that cannot be read is exit code 2, never a regression."""
    (old,) = saved(tmp_path, report(good()))

    assert Exit.MISUSED == command.main(["diff", str(old), str(tmp_path / "none")])
    assert "compat.json" in screen.getvalue() or "none" in screen.getvalue()
