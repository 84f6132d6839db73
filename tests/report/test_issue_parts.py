"""Tests of the views of issues, matrix and findings, without a browser."""

from collections.abc import Sequence
from typing import Any

import pytest

from jax_stack_compat.base.address import link
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.check.answer import answer
from jax_stack_compat.check.findings import of_stack
from jax_stack_compat.check.inputs.stack import Stack
from jax_stack_compat.judge.verdict_table import Verdict
from jax_stack_compat.stack import plan
from laboratory.report.findings import SORTS, findings
from laboratory.report.model import (
    ElsewhereRow,
    IntervalRow,
    Observation,
    Report,
    RuleRow,
    SignatureRow,
    TurnRow,
    WorkaroundRow,
)
from laboratory.report.site.facts import Facts
from laboratory.report.site.pages import issues as issues_page
from laboratory.report.site.pages import matrix as matrix_page
from laboratory.report.site.pages import seeds as seeds_page
from laboratory.report.site.table import stretches
from laboratory.report.site.timeline import began, cause, nearest, turned, verified
from laboratory.report.standing import standings
from tests.report.on_disk import pages
from tests.report.test_report import cell_row, observation, report, with_case, with_issue
from tests.worlds import as_known


def seen(*verdicts: Verdict, **changes: Any) -> list[Observation]:
    """Return observations of one case on jax 0.4.30, 0.4.31 and so on, with these verdicts."""
    return [
        observation(cell=f"jax-0.4.{30 + number}", verdict=verdict, behaviour=verdict, **changes)
        for number, verdict in enumerate(verdicts)
    ]


def two_cases(first: Sequence[Verdict], second: Sequence[Verdict]) -> Report:
    """Return a report of an issue with two cases, with these verdicts on successive releases."""
    return report(*seen(*first, case="first"), *seen(*second, case="second"))


def interval(verdict: str, release: str, **changes: Any) -> IntervalRow:
    """Return an interval of one release of jax, whose behaviour is named after its verdict."""
    row = {"behaviour": verdict, "verdict": verdict, "package": "jax", "first": release, "last": release}
    return IntervalRow.model_validate({**row, "exact": True, "order": "version", **changes})


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
    """A thread links to its tracker and a page to itself; other references have no link."""
    assert address == link(ref)


@pytest.mark.parametrize(
    ("verdicts", "widths"),
    [
        (["clear", "clear", "affected", "affected"], [2, 2]),
        (["clear", "error", "affected", "clear"], [1, 1, 1, 1]),
        (["clear", "error", "clear", "clear"], None),
        (["error", "unavailable"], None),
    ],
)
def test_a_case_that_never_varies_is_no_row(verdicts: list[Verdict], widths: list[int] | None) -> None:
    """Adjacent releases with one verdict are one field; undecided ones do not make a case vary."""
    (page,) = matrix_page.pages(Facts(report(*seen(*verdicts, agreement="as-expected"))))

    shown = [[mark.width for mark in marks] for row in page.view.rows for _, marks in row.cases]
    assert ([widths] if widths else []) == shown
    assert (widths is None) == bool(page.view.alike)


def test_a_release_that_cannot_be_had_is_no_column() -> None:
    """A release on which nothing could run is left out of the matrix, with the reason."""
    (page,) = matrix_page.pages(
        Facts(report(*seen("clear", "unavailable", "clear", "affected", detail="it was yanked")))
    )

    assert [[2, 1]] == [[mark.width for mark in marks] for row in page.view.rows for _, marks in row.cases]
    assert [(cell.id, why) for cell, why in page.view.unavailable] == [("jax-0.4.31", "it was yanked")]


def test_what_is_not_as_expected_is_a_row() -> None:
    """A case with one verdict everywhere is listed as varying if one release is unexpected."""
    of = seen("affected", "affected")
    (page,) = matrix_page.pages(Facts(report(of[0], of[1].model_copy(update={"agreement": "changed"}))))

    ((_, marks),) = page.view.rows[0].cases
    assert [False, True] == [mark.odd for mark in marks]


def test_an_issue_shows_the_worst_of_its_cases() -> None:
    """An issue's row has the worst verdict of its cases and links to that case; undecided ones come last."""
    first = [observation(case=case, verdict=case) for case in ("clear", "guarded", "affected", "error")]
    then = [observation(cell="jax-0.5.0", case=case, verdict="clear") for case in ("clear", "guarded", "affected")]

    (page,) = matrix_page.pages(Facts(report(*first, *then)))
    (row,) = page.view.rows
    assert [("affected", "affected"), ("clear", "clear")] == [(mark.seen.case, mark.seen.verdict) for mark in row.worst]


@pytest.mark.parametrize(
    ("first", "second", "never"),
    [
        (["affected", "affected"], ["clear", "clear"], True),
        # Each release shows a symptom in some case, and the headline is right on one.
        (["affected", "clear"], ["clear", "affected"], False),
        (["affected", "clear"], ["affected", "affected"], False),
        (["affected", "error"], ["absent", "absent"], True),
        (["affected", "affected"], ["crashed", "crashed"], True),
        # One release is right, and the other is undecided.
        (["affected", "clear"], ["affected", "clear"], False),
        (["error", "absent"], ["absent", "absent"], False),
    ],
)
def test_no_release_is_right(first: list[Verdict], second: list[Verdict], never: bool) -> None:
    """The page says if every decided release shows the headline's symptom; other cases do not count."""
    page, *_ = issues_page.pages(Facts(two_cases(first, second)))

    assert never is page.view.never_right


@pytest.mark.parametrize(
    ("verdicts", "since", "before"),
    [
        (["clear", "affected", "affected"], "jax 0.4.31", "clear"),
        (["affected", "different", "affected"], "jax 0.4.30", None),
        (["absent", "clear", "clear"], "jax 0.4.31", None),
        (["clear", "blocked", "affected"], "jax 0.4.32", "clear"),
        (["affected", "unavailable", "affected"], "jax 0.4.30", None),
        (["clear", "different", "different"], "jax 0.4.31", "clear"),
    ],
)
def test_since_passes_over_what_tells_nothing(verdicts: list[Verdict], since: str, before: str | None) -> None:
    """Absent, blocked, unavailable and different verdicts do not interrupt `since`."""
    (found,) = standings(report(*seen(*verdicts)))

    assert found.now is not None
    assert (since, before) == (found.now.release, found.now.before)


@pytest.mark.parametrize(
    ("verdicts", "again"),
    [
        (["affected", "clear", "affected"], True),
        (["clear", "affected", "absent", "clear"], True),
        (["documented", "clear", "affected"], False),
        (["affected", "affected"], False),
    ],
)
def test_a_verdict_that_comes_back_is_there_again(verdicts: list[Verdict], again: bool) -> None:
    """Again is what was there before the change, and went away in between."""
    (found,) = standings(report(*seen(*verdicts)))

    assert found.now is not None
    assert again is found.now.again


@pytest.mark.parametrize(
    ("first", "second", "others"),
    [
        (["affected", "clear"], ["affected", "clear"], ""),
        (["affected", "clear", "clear"], ["affected", "affected", "clear"], "1 clear since jax 0.4.32"),
        (["clear", "clear"], ["affected", "affected"], "1 affected"),
    ],
)
def test_a_page_names_the_states_of_the_other_cases_where_they_differ(
    first: list[Verdict], second: list[Verdict], others: str
) -> None:
    """The headline's state alone leads a page on which all cases have that state, since the same release."""
    page, *_ = issues_page.pages(Facts(two_cases(first, second)))

    assert others == page.view.others


def test_each_case_has_its_own_since() -> None:
    """`since` is by case: another case's affected release does not count."""
    (found,) = standings(two_cases(["clear", "affected", "affected"], ["affected", "clear", "affected"]))

    assert [("jax 0.4.31", ("first",)), ("jax 0.4.32", ("second",))] == [
        (of.release, names) for of, names in found.parts
    ]
    assert not found.never_right


def test_since_names_the_release_to_blame() -> None:
    """A change attributed to Diffrax is not also attributed to the jax that came with it."""
    turn = TurnRow(before="jax-0.4.30", after="jax-0.4.31", package="diffrax", grounds="rule")
    of = with_case(report(*seen("affected", "clear")), turns=[turn])
    cells = [each.model_copy(update={"packages": {**each.packages, "diffrax": "0.6.1"}}) for each in of.cells]
    (found,) = standings(of.model_copy(update={"cells": cells}))

    assert found.now is not None
    assert ("diffrax 0.6.1", "affected") == (found.now.release, found.now.before)


def test_streams_are_told_apart_by_what_was_drawn() -> None:
    """Each stream has a letter, the same when it returns; undecided releases change nothing."""
    drawn = [("absent", "absent"), ("documented", "a"), ("documented", "b"), ("error", None), ("documented", "b")]
    drawn.append(("documented", "a"))
    of = report(
        *(
            observation(cell=f"jax-0.4.{30 + number}", verdict=verdict, behaviour=behaviour)
            for number, (verdict, behaviour) in enumerate(drawn)
        )
    )
    of = with_issue(of, touches=["random stream"])

    (page,) = seeds_page.pages(Facts(of))
    ((sampler,),) = [samplers for _, samplers in page.view.rows]
    assert [0, 1, 2, 0, 2, 1] == [each.of for each in sampler.streams]
    assert ["jax-0.4.32", "jax-0.4.35"] == [cell.id for cell in sampler.changed]


def test_the_same_is_told_once() -> None:
    """Equal neighbours are one stretch whatever their times; a different detail ends it."""
    ordered = seen("clear", "clear", "affected", "clear", "clear")
    ordered[1] = ordered[1].model_copy(update={"seconds": 99.0, "peak_rss_mib": 1})
    ordered[4] = ordered[4].model_copy(update={"detail": "otherwise"})

    told = stretches((each.cell[-2:], each) for each in ordered)
    assert [["30", "31"], ["32"], ["33"], ["34"]] == [[name for name, _ in run.cells] for run in told]
    assert [each.cell for each in ordered] == [cell for run in told for _, cell in run.cells]


@pytest.mark.parametrize(
    ("workarounds", "told"),
    [
        (["holds", "holds", "fails"], "helps on jax 0.4.30–0.4.31, does not help on jax 0.4.32"),
        (["holds", "not-needed", "holds"], "helps on jax 0.4.30, helps on jax 0.4.32"),
        (["holds", None, "holds"], "helps on jax 0.4.30–0.4.32"),
        (["none", "not-needed", "none"], ""),
    ],
)
def test_where_a_workaround_was_verified(workarounds: Sequence[str | None], told: str) -> None:
    """A workaround's ranges cover where it was needed and run; an undecided release does not end one."""
    of = {
        f"jax-0.4.{30 + number}": observation(workaround=word or "none", verdict="affected" if word else "error")
        for number, word in enumerate(workarounds)
    }

    cells = [cell_row(cell) for cell in ("jax-0.4.30", "jax-0.4.31", "jax-0.4.32")]
    assert told == verified(cells, of, "jax")


@pytest.mark.parametrize(
    ("verdicts", "release"),
    [
        (["clear", "affected", "affected", "clear"], "jax 0.4.31"),
        (["affected", "clear", "absent", "affected", "clear"], "jax 0.4.33"),
        (["affected", "error", "clear"], ""),
        (["clear", "affected", "clear", "different", "clear"], "jax 0.4.31"),
        (["clear", "clear", "affected"], ""),
    ],
)
def test_when_a_symptom_that_has_ended_began(verdicts: list[Verdict], release: str) -> None:
    """Of two symptoms the last counts; one that the oldest release shows began nowhere, and one that goes on, too."""
    of = report(*seen(*verdicts))

    assert release == began(of.cells, {row.cell: row.verdict for row in of.observations}, ())


@pytest.mark.parametrize(
    ("verdicts", "shown"),
    [
        (["clear", "affected", "affected", "clear", "clear"], ["jax-0.4.32", "jax-0.4.33"]),
        (["clear", "clear", "affected"], ["jax-0.4.32", "jax-0.4.31"]),
        (["affected", "affected"], ["jax-0.4.31"]),
        (["clear", "clear", "error"], ["jax-0.4.31"]),
    ],
)
def test_a_reproducer_is_shown_where_it_is_bad_and_good(verdicts: list[Verdict], shown: list[str]) -> None:
    """The results are of the newest bad release, and of the next good one or the last one before."""
    of = report(*seen(*verdicts))

    assert shown == [row.cell for row in nearest(of.cells, {row.cell: row for row in of.observations})]


@pytest.mark.parametrize(
    ("packages", "rules", "needs", "due"),
    [
        (["jaxlib", "jaxlib", "equinox"], "", ["jax"], "jax"),
        ([], "diffrax>=0.7.1", ["jax", "diffrax"], "diffrax"),
        ([], "", ["jax", "equinox"], "equinox"),
    ],
)
def test_a_case_is_told_by_the_package_that_causes_it(
    packages: list[str], rules: str, needs: list[str], due: str
) -> None:
    """Its changes decide, then its rules, then what it needs; the releases of jaxlib are those of jax."""
    (issue,) = report(observation()).issues
    turns = [TurnRow(before="a", after="b", package=package, grounds="run") for package in packages]
    told = [RuleRow(behaviour="bad", on=rules)] if rules else []

    assert due == cause(issue.cases[0].model_copy(update={"turns": turns, "rules": told, "needs": needs}))


def test_a_workaround_is_told_with_where_it_ran_elsewhere() -> None:
    """The inputs and the stacks are named, and so is a stack on which it does not help everywhere."""
    of = report(*seen("affected", "affected"))
    (issue,) = of.issues
    ran = ElsewhereRow(
        inputs=["int32 one", "zero bool vector"], cells={"jax-0.4.30": {}, "jax-0.4.31": {"int32 one": "no"}}
    )
    instead = WorkaroundRow(text="Do not.", elsewhere=ran)
    page, *_ = issues_page.pages(
        Facts(with_issue(of, cases=[issue.cases[0].model_copy(update={"workaround": instead})]))
    )

    told = "The workaround was also run on other inputs (int32 array of one number; zero-filled bool vector), "
    where = "on the stacks of these releases: jax 0.4.30; jax 0.4.31. "
    failed = "The workaround does not help everywhere on jax 0.4.31."
    assert [f"{told}{where}{failed}"] == [each.elsewhere for each in page.view.instead]


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
    """A symptom appears, disappears, changes or stays; documented behaviour counts only if it changed."""
    assert how == turned(*seen(before, after))


def test_what_came_back_is_a_finding() -> None:
    """A symptom that came back is a finding with every range."""
    turns = [interval("affected", "0.4.30"), interval("clear", "0.5.0"), interval("affected", "0.6.0")]

    (finding,) = findings(with_case(report(observation()), intervals=turns))
    assert "came-back" == finding.sort
    assert "“affected” on jax 0.4.30 and, after releases without it, again on 0.6.0." == finding.text
    assert ["jax 0.4.30", "jax 0.5.0", "jax 0.6.0"] == [each.where for each in finding.evidence]
    # A start that came with another package does not count.
    turns[-1] = interval("affected", "0.6.0", came_with="lineax 0.1.0 → 0.0.8")
    assert [] == findings(with_case(report(observation()), intervals=turns))


@pytest.mark.parametrize("expected", [False, True])
def test_a_workaround_that_fails_is_a_finding(expected: bool) -> None:
    """Failing workarounds are findings, known or not, one for all equal stacks."""
    fails = {"workaround": "fails", "workaround_expected": expected}
    of = report(*(observation(cell=f"jax-0.4.{number}", **fails) for number in (30, 31)))

    (finding,) = findings(of)
    assert ("workaround-fails", "jax-0.4.30, jax-0.4.31") == (finding.sort, finding.evidence[0].where)


@pytest.mark.parametrize(("shows", "sorts"), [("bad", ["outlives-its-fix"]), ("another", [])])
def test_what_outlives_its_fix_is_a_finding(shows: str, sorts: list[str]) -> None:
    """A case that still shows the headline's former symptom is a finding; a case with another symptom is not."""
    well = observation(cell="jax-0.5.0", verdict="clear", behaviour="good", reason=None, workaround="not-needed")
    still = observation(cell="jax-0.5.0", case="another-case", behaviour=shows, expected=shows)

    assert sorts == [each.sort for each in findings(report(observation(), well, still))]


def test_a_stack_that_metadata_is_wrong_of_is_a_finding(known: Report) -> None:
    """A latent stack is one finding, with the requirement that would agree, and findings are sorted by kind."""
    found = findings(known)
    (finding,) = [each for each in found if each.sort == "latent" and "0.11.8" in each.title]

    assert "metadata allows jax 0.4.36–0.7.0, which does not work" in finding.text
    assert "diffrax 0.6.0 lacks jax<0.4.36" in finding.text
    assert len(found) == len({each.id for each in found}) > 2
    assert [each.sort for each in found] == sorted((each.sort for each in found), key=list(SORTS).index)


def test_what_to_do_is_told_once_with_where_it_was_verified() -> None:
    """Cases with one workaround and range are grouped; failures and cases without a workaround are named."""
    of = report(
        *seen("affected", "affected", case="one"),
        *seen("affected", "affected", case="another"),
        *seen("affected", "affected", case="fails", workaround="fails"),
        *seen("affected", case="unverified", workaround="none"),
        *seen("clear", case="well", workaround="none"),
        *seen("affected", case="without", workaround="none"),
    )
    *cases, last = of.issues[0].cases
    of = with_issue(of, cases=[*cases, last.model_copy(update={"workaround": None})])

    page, *_ = issues_page.pages(Facts(of))
    (told,) = page.view.instead
    assert "Do not." == told.text
    assert {
        "the workaround helps on jax 0.4.30–0.4.31": ["one", "another"],
        "the workaround does not help on jax 0.4.30–0.4.31; the workaround fails on jax-0.4.30, jax-0.4.31": ["fails"],
        "the workaround was not tested": ["unverified"],
    } == told.cases
    assert ["without"] == page.view.without


def test_a_page_is_recognised_by_its_own_symptoms() -> None:
    """Signatures of blocked and clear behaviours, and of those that no rule expects, are not listed as symptoms."""
    of = report(*seen("affected", case="one"))
    behaviours = {"bad": "affected", "refused": "guarded", "design": "documented"}
    behaviours |= {"cannot-solve": "different", "fine": "clear", "gone": "absent"}
    rules = [RuleRow(behaviour=each, on="") for each in behaviours]
    behaviours |= {"unseen": "affected"}
    rows = [SignatureRow(behaviour=each, type="TypeError", message=f"it is {each}") for each in behaviours]
    changes = {"behaviours": behaviours, "signatures": rows, "rules": rules}
    page, *_ = issues_page.pages(Facts(with_case(of, **changes)))

    assert [(row, ["one"]) for row in rows[:3]] == page.view.signatures
    assert "it is cannot-solve" not in pages(with_case(of, **changes))[page.path]


def test_stacks_beside_the_line_stand_by_what_was_seen(known: Report) -> None:
    """Stacks beside the line are listed once, equal ones together, the worst first, under their row."""
    facts = Facts(known)
    page = next(page for page in issues_page.pages(facts) if page.view.issue.id == "stack-smoke")
    (case, *_) = page.view.cases
    cells = [[cell for of in alike.rows.values() for _, cell in of] for alike in case.elsewhere]

    assert sorted(cell.id for cell in known.cells if cell.kind == "arm") == sorted(cell for of in cells for cell in of)
    of_case = facts.seen["stack-smoke", case.row.id]
    assert [{alike.seen.detail} for alike in case.elsewhere] == [{of_case[cell].detail for cell in of} for of in cells]
    assert "affected" == case.elsewhere[0].seen.verdict
    assert ("0.4.36", "jax-0.4.36+equinox-0.11.8+diffrax-0.6.0") in case.elsewhere[0].rows[
        "Releases of jax, with equinox 0.11.8, diffrax 0.6.0"
    ]


def test_what_concerns_the_same_is_named() -> None:
    """Related issues are those that touch the same names, the rarest in common first."""
    of = report(observation())
    (issue,) = of.issues
    touched = {"a": ["jax.jit", "jax.pmap"], "b": ["jax.jit"], "c": ["jax.jit"], "d": ["jax.pmap"], "e": ["x"]}
    issues = [issue.model_copy(update={"id": name, "touches": names}) for name, names in touched.items()]

    page, *_ = issues_page.pages(Facts(of.model_copy(update={"issues": issues, "observations": []})))
    assert [("d", ["jax.pmap"]), ("b", ["jax.jit"]), ("c", ["jax.jit"])] == [
        (other.id, shared) for other, shared in page.view.related
    ]


def test_a_page_names_the_releases_that_check_calls_good() -> None:
    """On the newest stack that shows an issue, its page names the good releases as `check` does."""
    line = [cell for cell in plan.cells() if cell.kind == "line"]
    of = as_known(line, catalogue.select(["dlpack-bool-as-uint8"]))
    (page,) = issues_page.pages(Facts(of))

    cell, told, _ = page.view.good
    known = Facts(of).knowledge
    (finding,) = of_stack(answer(known, Stack(cell.versions, cell.id)), known)
    assert finding.good_from == told
    newer = [each for each in Facts(of).newest_first if each.released_on > cell.released_on]
    assert newer
    assert not any(of_stack(answer(known, Stack(each.versions, each.id)), known) for each in newer)
