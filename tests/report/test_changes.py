"""Tests of the changes since the last report: when they are listed, what is kept, and where they are shown."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from suite.__main__ import main
from suite.errors import Exit
from suite.files import dump
from suite.report.compare.changes import MAX_CASES, MAX_CHANGES, row, since
from suite.report.compare.diff import diff
from suite.report.model import Observation, Report
from suite.report.stored import read_report
from suite.report.write import publish
from tests.report.on_disk import pages, save, there
from tests.report.test_diff import LINE, good
from tests.report.test_report import EMPTY, observation, report, undecided

pytestmark = pytest.mark.usefixtures("untimed")


def earlier(*observations: Observation) -> Report:
    """Return a report of these observations, made twenty days before the others."""
    made = report(*observations)
    return made.model_copy(update={"generated_at": made.generated_at - timedelta(days=20)})


KEPT = [good(cell=cell, case=f"kept-{number}") for cell in LINE for number in range(MAX_CHANGES)]


def many(count: int, *more: Observation) -> tuple[Report, Report]:
    """Return a report, and a later one in which so many cases are worse, each differently, and `more` are new."""
    cases = [f"case-{number}" for number in range(count)]
    worse = (observation(case=case, behaviour=f"b-{case}") for case in cases)
    return report(*KEPT, *(good(case=case) for case in cases)), report(*KEPT, *worse, *more)


WELL = earlier(*(good(cell=cell) for cell in LINE))
WORSE = report(*((observation if cell in LINE[1:3] else good)(cell=cell) for cell in LINE))


def after(before: Report, now: Report) -> Report:
    """Return `now` as it is published over `before`."""
    return now.model_copy(update={"since": since(before, now)})


def test_a_change_over_consecutive_cells_is_one_row() -> None:
    """A row names the first and the last of its cells, its cases and what was seen; the counts are of observations."""
    found = since(WELL, WORSE)

    assert found is not None
    assert (WELL.generated_at, WELL.coverage, 0) == (found.generated_at, found.coverage, found.left_out)
    assert {"regressed": 2, "changed": 0, "fixed": 0, "new": 0, "gone": 0, "spurious": 0} == found.counts
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
    """A report written over an earlier one has the changes, and a rebuild gives the same bytes."""
    first = publish(WELL, tmp_path)
    second = publish(WORSE, tmp_path)

    assert (None, since(WELL, WORSE)) == (first.since, second.since)
    assert second == read_report(tmp_path)
    before = there(tmp_path)
    (tmp_path / "feed.xml").unlink()
    (tmp_path / "index.html").write_text("something else", encoding="utf-8")
    for again in (lambda: main(["rebuild", str(tmp_path)]), lambda: publish(WORSE, tmp_path)):
        again()
        assert before == there(tmp_path)
    assert Exit.MISUSED == main(["rebuild", str(tmp_path / "none")])
    assert not (tmp_path / "none").exists()


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
    """Without changes the page says so, with the spurious ones counted; a first report has no such section."""
    flaky = report(*(good(cell=cell) for cell in LINE[1:]), undecided("flaky", cell=LINE[0]))

    pages = [front(of) for of in (after(WELL, WELL), after(WELL, flaky), WORSE)]
    since = "Since the report of"
    assert [[since, "Nothing changed."], [since, "Nothing changed; 1 spurious."], []] == [
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
