"""What an issue adds to its cases: fields that they share, and meanings of usual behaviours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

import pytest

from suite.cell import Case, Issue, Rule, Signature, Upstream
from suite.cell.issue import Kind, Meaning, Seen


def one() -> Seen:
    """Is it one?"""
    return "agrees", "1"


def two() -> Seen:
    """Is it two?"""
    return "agrees", "2"


def well() -> None:
    """Nothing is wrong."""


def completed(case: Case, kind: Kind = "retrace") -> Case:
    """The case as an issue has it."""
    return Issue(kind, (), (case,)).cases[0]


def test_a_case_keeps_its_own_fields() -> None:
    """What is common goes to a case that leaves the field at its default, and to no other."""
    shared, own = (Rule("agrees", "", "shared"),), (Rule("differs", "", "own"),)
    cases = Case(one), Case(two, rules=own, needs=("jaxlib",))

    first, second = Issue("crash", (), cases, control=well, rules=shared, needs=("jax", "equinox")).cases

    assert (well, shared, ("jax", "equinox")) == (first.control, first.rules, first.needs)
    assert (well, own, ("jaxlib",)) == (second.control, second.rules, second.needs)


@pytest.mark.parametrize(
    ("behaviours", "rule", "signature", "wanted"),
    [
        ({}, "agrees", "", {"agrees": "clear", "differs": "affected"}),
        ({"differs": "different"}, "agrees", "", {"agrees": "clear", "differs": "different"}),
        ({"agrees": "documented"}, "agrees", "", {"agrees": "documented"}),
        ({}, "there", "gone", {"there": "clear", "gone": "affected"}),
        ({"stale": "affected"}, "stale", "warns", {"stale": "affected", "warns": "guarded"}),
        ({}, "stale", "", {}),
    ],
)
def test_usual_behaviours_have_a_usual_meaning(
    behaviours: Mapping[str, Meaning], rule: str, signature: str, wanted: Mapping[str, Meaning]
) -> None:
    """What rules and signatures name needs no mention, unless it is unusual or means something else."""
    signatures = {signature: Signature("TypeError")} if signature else {}

    assert wanted == completed(Case(one, well, behaviours, (Rule(rule, "", "seen"),), signatures=signatures)).behaviours


@pytest.mark.parametrize(
    ("kind", "refused", "differs"),
    [
        ("silent-wrong", "guarded", "affected"),
        ("silent-change", "guarded", "affected"),
        ("by-design", "documented", "documented"),
        ("crash", "affected", "different"),
        ("import-error", "affected", "different"),
        ("retrace", "affected", "affected"),
    ],
)
def test_an_exception_means_what_the_kind_of_issue_says(kind: Kind, refused: Meaning, differs: Meaning) -> None:
    """A signature recognises a refusal of what was silent, what is documented, or the symptom itself."""
    found = completed(Case(one, well, rules=(Rule("agrees"),), signatures={"refused": Signature("TypeError")}), kind)

    assert {"refused": refused, "agrees": "clear", "differs": differs} == found.behaviours


def test_a_crash_differs_as_a_symptom_where_a_rule_says_so() -> None:
    """In an issue of crashes, an answer that differs is a symptom only where a rule expects it."""
    found = completed(Case(one, well, rules=(Rule("differs", "jax<0.5"), Rule("agrees"))), "crash")

    assert "affected" == found.behaviours["differs"]


def test_a_complete_case_stays_the_same_object() -> None:
    """A case is hashed once, so an issue that is made of complete cases has these themselves."""
    issue = Issue("crash", (), (Case(one),), control=well, rules=(Rule("agrees"),))

    assert replace(issue, cases=issue.cases[:1]).cases[0] is issue.cases[0]


def test_what_an_issue_shares_is_of_a_case() -> None:
    """A case has each field that an issue can give."""
    assert {each.name for each in fields(Issue) if each.kw_only} <= {each.name for each in fields(Case)}


def test_upstream_is_named_by_role() -> None:
    """Each role names threads, commits and pages, apart by spaces, in the order in which they are given."""
    named = Upstream.of(report="jax-ml/jax#2 jax-ml/jax#1", fix="jax-ml/jax@aa2f995b1d")

    assert [("jax-ml/jax#2", "report"), ("jax-ml/jax#1", "report"), ("jax-ml/jax@aa2f995b1d", "fix")] == [
        (each.ref, each.role) for each in named
    ]


@pytest.mark.parametrize(
    ("short", "whole"),
    [
        ("jax#1", "jax-ml/jax#1"),
        ("xla@53a1797ba", "openxla/xla@53a1797ba"),
        ("pytorch/pytorch#1", "pytorch/pytorch#1"),
        ("jax:faq.html#x", "https://docs.jax.dev/en/latest/faq.html#x"),
        ("lineax:api/tags", "https://docs.kidger.site/lineax/api/tags"),
        ("https://docs.jax.dev/en/latest/faq.html", "https://docs.jax.dev/en/latest/faq.html"),
    ],
)
def test_upstream_has_short_names(short: str, whole: str) -> None:
    """A short name stands for a repository, or for the documentation of a library."""
    assert [whole] == [each.ref for each in Upstream.of(report=short)]
