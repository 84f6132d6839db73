"""The issues' ids and tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from suite.cell.issue import Case, Expectation, Issue, Seen, Upstream
from suite.errors import Misused
from suite.run import catalogue
from suite.run.catalogue import Entry

# Other programs read these: an id is never changed, and the first case is the headline.
CONTRACT: Mapping[str, tuple[str, ...]] = {
    "stack-smoke": ("train-and-solve", "implicit-solve"),
    "wraps-lower-bypass": ("jit", "pmap", "vmap", "grad", "checkpoint", "update-wrapper", "export"),
    "method-jit-caching": (
        "bound-method",
        "decorated-method",
        "static-self",
        "static-self-hashable",
        "static-self-mutated",
        "pytree-self",
        "equinox-module",
        "fresh-bound-method",
    ),
    "filter-grad-return-type": (
        "filter-jit-of-filter-grad",
        "filter-jit",
        "filter-grad",
        "filter-value-and-grad",
        "python-float-argument",
        "non-scalar-output",
    ),
    "tracer-hash-while-loop": ("diffeqsolve", "while-loop-callable", "hash-tracer", "jaxpr-params"),
    "compute-on-aot": ("decorator-outside", "decorator-inside", "tpu-branch"),
}

CASE = Case(
    id="headline",
    question="Does it?",
    reproducer=lambda: Seen("bad"),
    control=lambda: None,
    behaviours={"bad": "affected"},
    expectations=(Expectation("bad", ("jax>=0.4.20",), "seen"),),
)
ISSUE = Issue(
    id="some-issue",
    title="It does",
    kind="crash",
    story="Once upon a time.",
    upstream=(Upstream("jax-ml/jax#1", "report", "open"),),
    workaround="Do not.",
    cases=(CASE,),
)


def entry(issue: Issue) -> Entry:
    """An issue as if it had been read from a module."""
    return Entry(issue, "suite.issues.some_issue", Path("suite/issues/some_issue.py"))


def expecting(behaviour: str, *on: str) -> Issue:
    """An issue whose one case expects this."""
    return replace(ISSUE, cases=(replace(CASE, expectations=(Expectation(behaviour, on, "seen"),)),))


def test_the_ids_are_those_of_the_contract() -> None:
    """The issues and their cases have the ids that other programs read, headline first."""
    assert CONTRACT == {each.issue.id: tuple(case.id for case in each.issue.cases) for each in catalogue.entries()}


def test_row_zero_comes_first() -> None:
    """The stack's own row stands before all others, which stand by name."""
    first, *others = [each.issue.id for each in catalogue.entries()]

    assert "stack-smoke" == first
    assert sorted(others) == others


@pytest.mark.parametrize("found", catalogue.entries(), ids=lambda each: each.issue.id)
def test_an_issue_names_its_threads(found: Entry) -> None:
    """Each issue has an upstream report, by owner/name#number, or a page, by its address."""
    form = re.compile(r"[\w.-]+/[\w.-]+#[1-9]\d*|https://[^\s\"'<>]+")

    assert [] == [each.ref for each in found.issue.upstream if not form.fullmatch(each.ref)]
    assert "report" in {each.role for each in found.issue.upstream}
    refs = [each.ref for each in found.issue.upstream]
    assert sorted(set(refs)) == sorted(refs)


@pytest.mark.parametrize("found", catalogue.entries(), ids=lambda each: each.issue.id)
def test_an_issue_says_what_a_reader_asks(found: Entry) -> None:
    """No issue lacks a title, a story, a workaround, a question for each case or the evidence for an expectation."""
    issue = found.issue
    told = [issue.title, issue.story, issue.workaround, *(case.question for case in issue.cases)]
    told += [expectation.evidence for case in issue.cases for expectation in case.expectations]

    assert all(text.strip() for text in told)


@pytest.mark.parametrize("found", catalogue.entries(), ids=lambda each: each.issue.id)
def test_an_issue_can_be_told_from_its_absence(found: Entry) -> None:
    """Each case has a behaviour that is the symptom, or upstream's answer to it, and one that is not."""
    for case in found.issue.cases:
        verdicts = set(case.behaviours.values())
        assert verdicts & {"affected", "guarded"}, case.id
        assert verdicts & {"clear", "guarded", "absent"}, case.id


def test_the_functions_of_a_case_are_its_own() -> None:
    """No two cases of the catalogue share a reproducer: each shows something that no other does."""
    reproducers = [case.reproducer for each in catalogue.entries() for case in each.issue.cases]

    assert len(set(reproducers)) == len(reproducers)


def test_a_good_table_has_no_faults() -> None:
    """The table that the faulty ones below are made from is itself in order."""
    assert [] == catalogue.faults(entry(ISSUE))


@pytest.mark.parametrize(
    ("issue", "key", "message"),
    [
        (replace(ISSUE, id="other-issue"), "id", "'other-issue' does not go with the file's name"),
        (replace(ISSUE, cases=()), "cases", "there are none"),
        (replace(ISSUE, cases=(CASE, CASE)), "cases", "'headline' stands there twice"),
        (expecting("worse"), "headline.expectations.0", "'worse' is not among the behaviours"),
        (expecting("bad", "jax=>0.5"), "headline.expectations.0", "Expected"),
        (expecting("bad", "torch<2"), "headline.expectations.0", "'torch' is not of the stack"),
        (
            replace(ISSUE, cases=(replace(CASE, needs=("jax", "torch")),)),
            "headline.needs",
            "'torch' is not one of jax, jaxlib, equinox, diffrax",
        ),
    ],
)
def test_a_bad_table_is_a_fault(issue: Issue, key: str, message: str) -> None:
    """What is wrong in an issue's table is said with the file and the key."""
    (fault,) = catalogue.faults(entry(issue))

    assert (entry(issue).source, key) == (fault.path, fault.key)
    assert message in fault.message


def test_all_faults_of_a_table_are_said_at_once() -> None:
    """A table with several faults is told all of them, in its own order."""
    bad = replace(
        CASE,
        expectations=(Expectation("worse", ("torch<2",), "seen"), Expectation("bad", ("jax=>0.5", "jax<1"), "seen")),
        needs=("torch",),
    )

    faults = catalogue.faults(entry(replace(ISSUE, id="other", cases=(bad, CASE))))

    keys = ["id", "cases", "headline.expectations.0", "headline.expectations.0", "headline.expectations.1"]
    assert [*keys, "headline.needs"] == [fault.key for fault in faults]


def test_no_ids_select_every_issue() -> None:
    """Where no issue is named, all are selected."""
    assert catalogue.entries() == catalogue.select([])


def test_ids_select_in_the_catalogues_order() -> None:
    """The issues that are named are selected once each, in the order of the catalogue."""
    found = catalogue.select(["wraps-lower-bypass", "stack-smoke", "wraps-lower-bypass"])

    assert ["stack-smoke", "wraps-lower-bypass"] == [each.issue.id for each in found]


@pytest.mark.parametrize(
    ("mistaken", "meant"),
    [
        ("wraps-lower-bypas", "wraps-lower-bypass"),
        ("wraps_lower_bypass", "wraps-lower-bypass"),
        ("smoke", "stack-smoke"),
        ("filter-grad", "filter-grad-return-type"),
    ],
)
def test_a_mistaken_id_is_told_the_nearest(mistaken: str, meant: str) -> None:
    """An id that is none is an error that names it and the ids nearest to it."""
    with pytest.raises(Misused, match=f"no issue '{mistaken}'; the nearest are .*{meant}"):
        catalogue.select(["stack-smoke", mistaken])
