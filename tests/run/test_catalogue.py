"""The issues' ids and tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from suite.cell.issue import Case, Issue, Rule, Seen, Signature, Workaround
from suite.errors import Misused
from suite.run import catalogue
from suite.run.catalogue import Entry

# Other programs read these: an id is never changed, and the first case is the headline.
CONTRACT: Mapping[str, str] = {
    "stack-smoke": "train-and-solve implicit-solve",
    "wraps-lower-bypass": "jit pmap vmap grad checkpoint update-wrapper export",
    "method-jit-caching": (
        "bound-method decorated-method static-self static-self-hashable static-self-mutated pytree-self "
        "equinox-module fresh-bound-method"
    ),
    "filter-grad-return-type": (
        "filter-jit-of-filter-grad filter-jit filter-grad filter-value-and-grad python-float-argument non-scalar-output"
    ),
    "tracer-hash-while-loop": "diffeqsolve while-loop-callable hash-tracer jaxpr-params",
    "compute-on-aot": "decorator-outside decorator-inside tpu-branch",
}
CASES = [(each.issue.id, case) for each in catalogue.entries() for case in each.issue.cases]


def headline() -> Seen:
    """Does it?"""
    return "bad", "it was seen"


def well() -> None:
    """Nothing is wrong."""


CASE = Case(headline, well, {"bad": "affected", "crashed": "affected"}, (Rule("bad", "jax>=0.4.20", "seen"),))


def entry(*cases: Case) -> Entry:
    """An issue as if it had been read from a module."""
    return Entry(Issue("crash", (), cases), "suite.issues.some_issue", Path("suite/issues/some_issue.py"))


def case(*rules: Rule, **changes: Any) -> Case:
    """The case, with something in its table otherwise."""
    return replace(CASE, **{"rules": rules or CASE.rules, **changes})


def test_the_ids_are_those_of_the_contract() -> None:
    """The issues that other programs know have the ids that they read, headline first."""
    found = {each.issue.id: [case.id for case in each.issue.cases] for each in catalogue.entries()}

    for issue, ids in CONTRACT.items():
        headline, *others = ids.split()
        assert headline == found[issue][0]
        assert set() == set(others) - set(found[issue])


def test_row_zero_comes_first() -> None:
    """What asks whether the stack works at all stands before all others, which stand by name."""
    row_zero = [each.issue.row_zero for each in catalogue.entries()]
    others = [each.issue.id for each in catalogue.entries() if not each.issue.row_zero]

    assert sorted(row_zero, reverse=True) == row_zero
    assert any(row_zero)
    assert sorted(others) == others


def test_every_issue_names_its_threads() -> None:
    """Each has an upstream report, by owner/name#number, or a commit or page by its address, and none twice."""
    form = re.compile(r"[\w.-]+/[\w.-]+(#[1-9]\d*|@[0-9a-f]{7,40})|https://[^\s\"'<>]+")
    of = {each.issue.id: each.issue.upstream for each in catalogue.entries()}

    assert [] == [each.ref for upstream in of.values() for each in upstream if not form.fullmatch(each.ref)]
    assert [] == [name for name, upstream in of.items() if "report" not in {each.role for each in upstream}]
    assert [] == [name for name, upstream in of.items() if len({each.ref for each in upstream}) < len(upstream)]


def test_every_issue_says_what_a_reader_asks() -> None:
    """No issue lacks a title, a story, a question for each case, the evidence for a rule or words for a workaround."""
    lacks = []
    for issue in (each.issue for each in catalogue.entries()):
        told = [issue.title, issue.story, *(case.question for case in issue.cases)]
        told += [rule.evidence for case in issue.cases for rule in case.rules]
        told += [case.workaround.text for case in issue.cases if case.workaround]
        lacks += [issue.id] if not all(text.strip() for text in told) else []

    assert [] == lacks


def test_every_symptom_can_be_told_from_its_absence() -> None:
    """Each case has a behaviour that is the symptom, or upstream's answer to it, and one that is neither."""
    of = {(entry, case.id): set(case.behaviours.values()) for entry, case in CASES}

    assert [] == [name for name, means in of.items() if not means & {"affected", "guarded", "documented"}]
    assert [] == [name for name, means in of.items() if len(means) < 2]
    of = {name: means for name, means in of.items() if "affected" in means}
    assert [] == [name for name, means in of.items() if not means & {"clear", "guarded", "absent", "documented"}]


def test_the_functions_of_a_case_are_its_own() -> None:
    """No two cases of the catalogue share a reproducer: each shows something that no other does."""
    reproducers = [case.reproducer for _, case in CASES]

    assert len(set(reproducers)) == len(reproducers)


def test_an_issue_with_one_case_is_short() -> None:
    """An issue module with one case is at most 80 lines."""
    lines = {
        each.issue.id: len(each.source.read_text(encoding="utf-8").splitlines())
        for each in catalogue.entries()
        if len(each.issue.cases) == 1
    }

    assert {} == {name: count for name, count in lines.items() if count > 80}


@pytest.mark.parametrize(
    ("cases", "faults"),
    [
        ([CASE], {}),
        ([], {"cases": "there are none"}),
        ([CASE, CASE], {"cases": "'headline' stands there twice"}),
        ([case(Rule("worse", "", "seen"))], {"headline.rules.0": "'worse' is not among the behaviours"}),
        ([case(Rule("bad", "jax=>0.5", "seen"))], {"headline.rules.0": "Expected"}),
        ([case(Rule("bad", "torch<2", "seen"))], {"headline.rules.0": "'torch' is not of the stack"}),
        (
            [case(Rule("bad", "", "seen"), Rule("bad", "", "seen"))],
            {"headline.rules.0": "it matches every stack, and there are more behind it"},
        ),
        ([case(signatures={"worse": Signature("E")})], {"headline.signatures": "'worse' is not among the behaviours"}),
        ([case(signatures={"crashed": Signature("E")})], {"headline.signatures": "'crashed' is for the probe to give"}),
        (
            [case(workaround=Workaround("Do.", code=well, pin="jax<1"))],
            {"headline.workaround": "it is a pin, and code or environment too"},
        ),
        (
            [case(workaround=Workaround("Do.", pin="torch<1", fails=("jax=>1",)))],
            {"headline.workaround.pin": "'torch' is not of the stack", "headline.workaround.fails.0": "Expected"},
        ),
        ([case(python="3.12")], {"headline.python": "Invalid specifier"}),
        (
            [case(Rule("worse", "", "seen"), needs=("torch",)), CASE],
            {
                "cases": "'headline' stands there twice",
                "headline.rules.0": "'worse' is not among the behaviours",
                "headline.needs": "'torch' is not one of jax, jaxlib, equinox, diffrax",
            },
        ),
    ],
)
def test_every_fault_of_a_table_is_said_at_once(cases: list[Case], faults: dict[str, str]) -> None:
    """What is wrong in an issue's table is said with the file and the key, all of it, and of a good one nothing."""
    found = catalogue.faults(entry(*cases))

    assert list(faults) == [each.key for each in found]
    assert {entry().source}.issuperset(each.path for each in found)
    assert [] == [each.message for each, said in zip(found, faults.values(), strict=True) if said not in each.message]


def test_ids_select_in_the_catalogues_order() -> None:
    """Issues are selected once each, in the catalogue's order; where none is named, all; as headlines, one case."""
    found = catalogue.select(["wraps-lower-bypass", "stack-smoke", "wraps-lower-bypass"])

    assert ["stack-smoke", "wraps-lower-bypass"] == [each.issue.id for each in found]
    assert catalogue.entries() == catalogue.select([])
    headlines = catalogue.select([], headlines=True)
    assert [each.issue.cases[:1] for each in catalogue.entries()] == [each.issue.cases for each in headlines]


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
