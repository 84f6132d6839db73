"""Differences between reports: the change of each case, grouping by cause, and the published changes."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from jax_stack_compat.base.console import Terminal
from jax_stack_compat.base.errors import Exit
from jax_stack_compat.base.files import dump
from jax_stack_compat.base.printable import encodable
from jax_stack_compat.judge.verdict_table import UNDECIDED, Verdict
from jax_stack_compat.stack import plan
from laboratory.cli import command_line as command
from laboratory.report.compare import (
    KINDS,
    MAX_CASES,
    MAX_CHANGES,
    ReportDiff,
    change,
    diff,
    exit_code,
    row,
    since,
    tracks,
)
from laboratory.report.folder.compat_json import read_report
from laboratory.report.folder.write import publish
from laboratory.report.formats.diff import as_json, last, markdown, show
from laboratory.report.markup import MAX_CHARS
from laboratory.report.model import Observation, Report
from tests.hostile import TEXTS, faults
from tests.report.on_disk import pages, save, saved, there
from tests.report.test_report import (
    ANY_OBSERVATIONS,
    EMPTY,
    cell_row,
    observation,
    on_screen,
    report,
    tokens,
    undecided,
)

pytestmark = pytest.mark.usefixtures("untimed")
GOOD = {"verdict": "clear", "behaviour": "good", "reason": None, "workaround": "not-needed"}
LINE = ("jax-0.4.30", "jax-0.4.31", "jax-0.5.0", "jax-0.6.0")


def good(**changes: Any) -> Observation:
    """An observation without the symptom."""
    return observation(**{**GOOD, **changes})


def shown(found: ReportDiff) -> str:
    """Return a difference as a terminal shows it."""
    return on_screen(show, found)


RUNS = ANY_OBSERVATIONS.map(lambda seen: report(*seen))


@given(RUNS, RUNS)
@settings(deadline=None, max_examples=25)
def test_there_and_back(one: Report, other: Report) -> None:
    """Compared in reverse, new becomes gone and fixed becomes regressed; changed and undecided stay."""
    there, back = (
        {each.key: each for each in diff(*pair, whole=True).changes} for pair in ((one, other), (other, one))
    )
    opposite = {"new": "gone", "gone": "new", "fixed": "regressed", "regressed": "fixed"}

    assert there.keys() == back.keys()
    for key, each in there.items():
        workarounds = {side.workaround for side in (each.before, each.now) if side}
        # If one part improves and another gets worse, the change is a regression, in either direction.
        both = {each.kind, back[key].kind} == {"regressed"} and workarounds == {"holds", "fails"}
        assert both or opposite.get(each.kind, each.kind) == back[key].kind


@given(RUNS, RUNS)
@settings(deadline=None, max_examples=25)
def test_every_change_is_told_once(one: Report, other: Report) -> None:
    """The groups contain every decided change, once, in the order of triage."""
    found = diff(one, other)

    told = [(cell, *case) for group in found.groups for cell in group.cells for case in group.cases]
    assert sorted(each.key for each in found.changes if each.kind != "undecided") == sorted(told)
    order = [KINDS.index(group.kind) for group in found.groups]
    assert sorted(order) == order


def odd(verdict: Verdict, **changes: Any) -> Observation:
    """Return an observation without a behaviour."""
    return observation(verdict=verdict, behaviour=None, **changes)


@pytest.mark.parametrize(
    ("before", "now", "kind"),
    [
        (good(), observation(), "regressed"),
        (good(verdict="guarded", workaround="holds"), odd("crashed"), "regressed"),
        (observation(), observation(workaround="fails"), "regressed"),
        (observation(), good(verdict="guarded", workaround="fails"), "regressed"),
        (observation(), good(), "fixed"),
        (observation(workaround="fails"), observation(), "fixed"),
        (good(), good(verdict="absent", behaviour="absent"), "changed"),
        (observation(), observation(behaviour="worse"), "changed"),
        (observation(workaround="none"), observation(workaround="fails"), "changed"),
        (odd("different"), odd("hung"), "changed"),
        (odd("different", reason="run.exception"), odd("different", reason="import.exception"), "changed"),
        (None, observation(), "new"),
        (observation(), None, "gone"),
        (observation(), observation(seconds=9.0, attempts=3, detail="other words", agreement="new"), None),
        *((undecided(each), other, "undecided") for each in UNDECIDED for other in (good(), observation(), None)),
        *((other, undecided(each), "undecided") for each in UNDECIDED for other in (good(), observation(), None)),
    ],
)
def test_what_became_of_a_case(before: Observation | None, now: Observation | None, kind: str | None) -> None:
    """Bad after good is a regression, and so is a workaround that stops helping; changed costs and details are not."""
    found = change(before, now)

    assert kind == (found.kind if found else None)


@pytest.mark.parametrize(
    ("before", "now", "code", "strict"),
    [
        ([good()], [observation()], Exit.UNEXPECTED, Exit.UNEXPECTED),
        ([good()], [good()], Exit.AS_EXPECTED, Exit.AS_EXPECTED),
        ([good()], [good(), observation(case="b")], Exit.AS_EXPECTED, Exit.AS_EXPECTED),
        ([good(), good(case="b")], [good()], Exit.AS_EXPECTED, Exit.UNEXPECTED),
        ([good()], [observation(cell="jax-0.5.0")], Exit.AS_EXPECTED, Exit.UNEXPECTED),
        ([good()], [undecided("error")], Exit.AS_EXPECTED, Exit.UNEXPECTED),
        *(([undecided(each)], [undecided(each)], Exit.AS_EXPECTED, Exit.UNEXPECTED) for each in ("error", "not-run")),
    ],
)
def test_only_what_is_worse_fails(before: list[Observation], now: list[Observation], code: Exit, strict: Exit) -> None:
    """The exit code is 1 for a regression; with --strict, also if anything is gone or undecided."""
    found = diff(report(*before), report(*now))

    assert (code, strict) == (exit_code(found), exit_code(found, strict=True))


@pytest.mark.parametrize("now", [[undecided("error"), undecided("error", case="b")], [observation(case="c")]])
def test_what_is_not_told_any_more_is_in_the_last_line(now: list[Observation]) -> None:
    """The last line counts decisions of one report that are all gone or error in the other."""
    found = diff(report(good(), good(case="b")), report(*now))

    assert shown(found).rstrip().endswith("; 2 of the 2 observations decided before are undecided now")
    assert "undecided now" not in last(diff(report(good()), report(observation())))


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ("bad bad good bad", [LINE[:2], LINE[3:]]),
        ("bad flaky bad bad", [(LINE[0], *LINE[2:])]),
        ("bad worse good good", [LINE[:1], LINE[1:2]]),
    ],
    ids=["an unchanged cell parts them", "what shows nothing parts nothing", "unequal changes are apart"],
)
def test_consecutive_cells_are_one_line(now: str, told: list[tuple[str, ...]]) -> None:
    """The same change on adjacent cells and in two cases is listed once."""
    cases = ("headline", "variant")
    makes: dict[str, Callable[..., Observation]] = {
        **{"bad": observation, "good": good, "flaky": partial(undecided, "flaky")},
        "worse": partial(observation, behaviour="worse"),
    }
    before = report(*(good(cell=cell, case=case) for cell in LINE for case in cases))
    seen = zip(LINE, now.split(), strict=True)
    after = report(*(makes[word](cell=cell, case=case) for cell, word in seen for case in cases))

    groups = diff(before, after).groups

    assert told == [group.cells for group in groups]
    assert all([("some-issue", case) for case in cases] == list(group.cases) for group in groups)


def test_a_new_cell_is_one_line() -> None:
    """All cases of a new cell form one group, counted by verdict."""
    now = report(observation(), observation(cell="jax-0.5.0", case="a"), good(cell="jax-0.5.0", case="b"))

    (group,) = diff(report(observation()), now).groups

    assert ("new", ("jax-0.5.0",), "1 affected, 1 clear") == (group.kind, group.cells, group.words)
    assert ["a", "b"] == [case for _, case in group.cases]


def test_arms_are_followed_along_what_they_move() -> None:
    """The line is sorted by day, and the cells of an arm by the version of the moved package."""
    newer, older, beside = arms = ("jax-0.10.0+equinox-1", "jax-0.9.0+equinox-1", "jax-0.9.0+equinox-2")
    cells = [*map(cell_row, arms), cell_row("jax-0.5.0"), cell_row("jax-0.6.0", released_on="2020-01-01")]
    of = report().model_copy(update={"cells": cells})

    assert [["jax-0.6.0", "jax-0.5.0"], [older, newer], [beside]] == tracks(of, report())


def test_what_was_run_otherwise_is_told_first() -> None:
    """Differences in suite, probe, platform, issue sources, locks and plans come before any change."""
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


def test_every_kind_is_told_in_its_order() -> None:
    """Terminal and Markdown list regressions first; undecided changes are only counted."""
    before = [good(case="a"), *(observation(case=case) for case in "bcd"), good(case="e")]
    now = [
        observation(case="a"),
        observation(case="b", behaviour="worse"),
        good(case="c"),
        undecided("error", case="e"),
    ]
    found = diff(report(*before), report(*now, observation(case="f")))

    assert "1 regressed, 1 changed, 1 fixed, 1 new, 1 gone; 1 undecided" in last(found)
    for text in (shown(found), markdown(found)):
        places = [text.index(f"{kind.capitalize()}\n") for kind in KINDS[:-1]]
        assert sorted(places) == places
        assert last(found) in text
        assert "some-issue/e" not in text


def test_a_regression_says_how_to_see_it() -> None:
    """Each regression has its evidence and the command that repeats it."""
    for text in (shown(found := diff(report(good()), report(observation()))), markdown(found)):
        assert "it was seen" in text
        assert 'nox -s "cell(jax-0.4.30)" report -- --issue some-issue --fresh' in text


def test_a_program_gets_all_of_it() -> None:
    """The JSON has every change with both sides, even undecided ones, and the counts."""
    before, now = report(good(), good(case="b")), report(observation(), undecided("flaky", case="b"))
    data = json.loads(as_json(diff(before, now)))

    assert {"regressed": 1, "changed": 0, "fixed": 0, "new": 0, "gone": 0, "undecided": 1} == data["counts"]
    keys = ("kind", "cell", "issue", "case")
    assert [
        ("regressed", "jax-0.4.30", "some-issue", "headline", "clear", "affected"),
        ("undecided", "jax-0.4.30", "some-issue", "b", "clear", "flaky"),
    ] == [
        (*(each[key] for key in keys), *(each[side]["verdict"] for side in ("before", "now")))
        for each in data["changes"]
    ]


HOSTILE = "<script>alert(1)</script> | `x` [a](b) \x1b[31m \u202e \x07 ![i](j)\n# heading\n" * 50


def test_somebody_elses_text_is_text() -> None:
    """Text from code under test acts neither on a terminal nor in Markdown."""
    found = diff(report(good()), report(observation(detail=HOSTILE)))

    assert shown(found).replace("\n", "").isprintable()
    made = tokens(markdown(found))
    assert {"html_inline"} >= {token.type for token in made if "html" in token.type}
    assert {"<br>"} == {token.content for token in made if token.type == "html_inline"}
    assert not {"link_open", "image", "code_inline"} & {token.type for token in made}
    assert 1 == sum(token.type == "heading_open" and token.tag == "h1" for token in made)


def test_a_difference_goes_into_an_issue() -> None:
    """With any number of changes, the Markdown is short enough, and says how much it leaves out."""
    cases = [f"case-{number}-{'x' * 40}" for number in range(800)]
    before = report(*(good(case=case) for case in cases))
    now = report(*(observation(case=case, behaviour=f"b-{case}", detail=HOSTILE) for case in cases))

    text = markdown(diff(before, now))

    assert len(text) < MAX_CHARS
    assert "more lines left out for room" in text
    assert "800 regressed" in text


def test_the_command_takes_folders_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`diff` accepts folders and files, and exits with 1 if something is worse or, with --strict, unknown."""
    old, new = saved([report(good()), report(observation())], tmp_path)

    assert Exit.UNEXPECTED == command.main(["diff", str(old), str(new / "compat.json")])
    assert "Regressed" in capsys.readouterr().out
    assert Exit.AS_EXPECTED == command.main(["diff", str(new), str(old)])
    (none,) = saved([report()], tmp_path / "none-at-all")
    assert Exit.UNEXPECTED == command.main(["diff", str(new), str(none), "--strict"])
    assert Exit.MISUSED == command.main(["diff", str(old), str(tmp_path / "none")])
    assert "none" in capsys.readouterr().err


@pytest.mark.parametrize(("shown_as", "text"), [("markdown", markdown), ("json", as_json)])
def test_what_is_for_a_program_is_printed_as_it_is(
    shown_as: str, text: Callable[[ReportDiff], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Markdown and JSON come out whole, not broken to the width of a terminal."""
    reports = report(good()), report(observation(detail="long " * 60 + "line"))
    command.main(["diff", *map(str, saved(reports, tmp_path)), "--format", shown_as])

    assert text(diff(*reports)) == capsys.readouterr().out


KEPT = [good(cell=cell, case=f"kept-{number}") for cell in LINE for number in range(MAX_CHANGES)]


def many(count: int, *more: Observation) -> tuple[Report, Report]:
    """Return a report, and a later one in which so many cases are worse, each differently, and `more` are new."""
    cases = [f"case-{number}" for number in range(count)]
    worse = (observation(case=case, behaviour=f"b-{case}") for case in cases)
    return report(*KEPT, *(good(case=case) for case in cases)), report(*KEPT, *worse, *more)


WORSE = report(*((observation if cell in LINE[1:3] else good)(cell=cell) for cell in LINE))
TWENTY_DAYS_BEFORE = {"generated_at": WORSE.generated_at - timedelta(days=20)}
WELL = report(*(good(cell=cell) for cell in LINE)).model_copy(update=TWENTY_DAYS_BEFORE)


def after(before: Report, now: Report) -> Report:
    """Return `now` as it is published over `before`."""
    return now.model_copy(update={"since": since(before, now)})


def test_a_change_over_consecutive_cells_is_one_row() -> None:
    """A row names the first and the last of its cells, its cases and what was seen; the counts are of observations."""
    found = since(WELL, WORSE)

    assert found is not None
    assert (WELL.generated_at, WELL.coverage, 0) == (found.generated_at, found.coverage, found.left_out)
    assert {"regressed": 2, "changed": 0, "fixed": 0, "new": 0, "gone": 0, "undecided": 0} == found.counts
    assert [
        {
            **{"kind": "regressed", "first": "jax-0.4.31", "last": "jax-0.5.0", "cell_count": 2, "case_count": 1},
            **{"cases": ["some-issue/headline"], "words": "✓ good → ✗ bad, workaround holds"},
        }
    ] == [each.model_dump() for each in found.changes]


def test_what_is_kept_is_bounded() -> None:
    """Long lists of changes and cases are cut to the first, with the number of the rest."""
    before, each_its_own = many(MAX_CHANGES + 5)
    all_alike = report(*KEPT, *(observation(case=each.case) for each in before.observations[len(KEPT) :]))

    of_many, of_one = (row(diff(before, now)) for now in (each_its_own, all_alike))
    assert (MAX_CHANGES, 5, MAX_CHANGES + 5) == (len(of_many.changes), of_many.left_out, of_many.counts["regressed"])
    assert [(MAX_CASES, MAX_CHANGES + 5)] == [(len(each.cases), each.case_count) for each in of_one.changes]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (WELL, report(good(cell=LINE[0]))),
        (report(good(cell=LINE[0])), WELL),
        (report(good(case="another")), report(good())),
        (EMPTY, WELL),
        (WELL, WORSE.model_copy(update={"shard": "1/3"})),
        (WELL.model_copy(update={"shard": "1/3"}), WORSE),
    ],
    ids=["one cell after all", "all after one cell", "another case", "after nothing", "a shard", "after a shard"],
)
def test_other_cells_are_no_change(before: Report, now: Report) -> None:
    """A report on something else, or on a part, lists no changes: what it did not plan is not gone."""
    assert since(before, now) is None


def test_the_same_again_keeps_what_changed() -> None:
    """A report published again still lists the first one's changes, whatever its cost and its flaky cases."""
    published = after(WELL, WORSE)
    again = [each.model_copy(update={"seconds": 99.0, "detail": "in other words"}) for each in WORSE.observations]
    flaky = [undecided("flaky", cell=LINE[0]), *again[1:]]

    for observations in (again, flaky):
        found = since(published, WORSE.model_copy(update={"observations": observations}))
        assert published.since == found
        assert found is not None


def test_what_changed_is_published(tmp_path: Path) -> None:
    """A report written over an earlier one has the changes, and written again it has the same bytes."""
    first = publish(WELL, tmp_path)
    second = publish(WORSE, tmp_path)

    assert (None, since(WELL, WORSE)) == (first.since, second.since)
    assert second == read_report(tmp_path)
    before = there(tmp_path)
    (tmp_path / "COMPAT.md").unlink()
    (tmp_path / "index.html").write_text("something else", encoding="utf-8")
    publish(WORSE, tmp_path)
    assert before == there(tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", False),
        (dump({**WELL.model_dump(mode="json", exclude={"observations"}), "mood": "good"}), False),
        (dump(WELL.model_dump(mode="json", exclude={"observations", "since"})), True),
    ],
    ids=["broken", "of another schema", "that never heard of what changed"],
)
def test_a_report_that_cannot_be_read_costs_no_run(text: str, told: bool, tmp_path: Path) -> None:
    """A report is written over an unreadable one, without changes; one without the key `since` is still read."""
    save(WELL, tmp_path)
    (tmp_path / "compat.json").write_text(text, encoding="utf-8")

    made = publish(WORSE, tmp_path)

    assert told == (made.since is not None)
    assert made == read_report(tmp_path)


def front(of: Report) -> str:
    """Return the front page of a report."""
    return pages(of)["index.html"]


def test_that_nothing_changed_is_said() -> None:
    """Without changes the page says so, with the undecided ones counted; a first report has no such section."""
    flaky = report(*(good(cell=cell) for cell in LINE[1:]), undecided("flaky", cell=LINE[0]))

    pages = [front(of) for of in (after(WELL, WELL), after(WELL, flaky), WORSE)]
    since = "Since the report of"
    assert [[since, "Nothing changed."], [since, "Nothing changed; 1 undecided."], []] == [
        re.findall(f"{since}|Nothing changed[^<]*", page) for page in pages
    ]


def test_the_worst_stands_first_and_the_rest_is_folded() -> None:
    """Eight changes are shown, regressions first; the others are folded, and those without room counted."""
    before, now = many(MAX_CHANGES, good(cell="jax-0.7.0"))

    section = front(after(before, now)).partition('id="since"')[2].partition("</section>")[0]
    shown, _, folded = section.partition("<details>")
    assert (8, MAX_CHANGES - 8) == (shown.count("<li>"), folded.count("<li>"))
    assert f"<summary>{MAX_CHANGES - 8} more</summary>" in folded
    assert "1 more are left out" in folded


def test_what_is_gone_is_told_without_a_link() -> None:
    """A case and a cell that this report no longer has are named without links."""
    before = report(*WELL.observations, good(cell="jax-0.7.0", case="long-gone"))

    page = front(after(before, WELL))
    assert '<span class="v gone">gone</span> some-issue/long-gone on jax-0.7.0: 1 clear\n' in page


@pytest.mark.parametrize(
    ("now", "why"),
    [
        ({"cells": ["jax-0.4.30"]}, {"cells that this run does not have": 2}),
        ({"rows": "chosen", "cases": ["headline"]}, {"cases that this run did not plan": 2}),
        ({"issues": []}, {"issues that this run does not have": 4}),
        ({"cells": ["jax-0.4.30"], "rows": "headlines", "cases": ["headline"]}, {
            "cells that this run does not have": 2, "cases that this run did not plan": 1}),
    ],
)  # fmt: skip
def test_what_a_run_did_not_plan_is_not_gone(now: dict[str, Any], why: dict[str, int]) -> None:
    """Observations outside a smaller run are counted as not compared, with the reason, and are no news."""
    rows = [good(cell=cell, case=case) for cell in LINE[:2] for case in ("headline", "other")]
    before = report(*rows)
    cells, cases = now.get("cells", LINE[:2]), now.get("cases", ("headline", "other"))
    seen = [row for row in rows if row.cell in cells and row.case in cases and "issues" not in now]
    part = report(*seen).model_copy(update={"rows": now.get("rows", "cases")})
    other = {"issues": [], "cells": before.cells} if "issues" in now else {}
    found = diff(before, part.model_copy(update=other))

    assert why == found.not_compared
    assert (0, 0) == (found.counts["gone"], found.newly_undecided[0])
    count = sum(why.values())
    assert f"; not compared: {count} observations, " in last(found)
    assert (Exit.AS_EXPECTED, Exit.UNEXPECTED) == (exit_code(found), exit_code(found, strict=True))


def test_a_default_run_is_compared_where_it_ran(published: Report) -> None:
    """Compared with the published report, a default run has nothing gone, and says how much it does not have."""
    cells = {cell.id for cell in plan.tagged("default")}
    headlines = {(issue.id, issue.cases[0].id) for issue in published.issues}
    rows = [row for row in published.observations if row.cell in cells and (row.issue, row.case) in headlines]
    of_cells = [cell for cell in published.cells if cell.id in cells]
    update = {"observations": rows, "cells": of_cells, "planned_cells": sorted(cells), "rows": "headlines"}
    found = diff(published, published.model_copy(update=update))

    assert {"gone": 0, "new": 0, "regressed": 0}.items() <= found.counts.items()
    assert len(published.observations) - len(rows) == len(found.apart)
    assert 0 == found.newly_undecided[0]


@pytest.mark.parametrize("text", TEXTS)
def test_a_difference_posted_to_a_thread_is_text(text: str) -> None:
    """A detail begins no command on a terminal; in Markdown it also pings nobody and refers to no thread."""
    detail = encodable(f"it said {text}")
    found = diff(report(good()), report(observation(agreement="regressed", detail=detail)))

    out = Terminal(200)
    out.file = StringIO()
    show(found, out)
    assert [] == faults(out.file.getvalue())
    assert [] == faults(as_json(found))
    posted = markdown(found)
    assert [] == faults(posted)
    assert not re.search(r"@\w|(?<!&)#\d|GH-\d|://|www\.\w", posted)
