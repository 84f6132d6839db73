"""First-match rules, and what any stack is expected to show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suite.cell.issue import Rule
from suite.judge.rules import Prediction, Run, blocks, expected, first_match, met, possible, predict
from tests.judge.stacks import CASE, IMPLICIT, LU, as_ruled


@pytest.mark.parametrize(
    ("on", "packages", "answer"),
    [
        ("", {}, True),
        ("jax<0.5", {"jax": "0.4.30"}, True),
        ("jax<0.5", {"jax": "0.5.0"}, False),
        ("jax>=0.4.36,<0.5", {"jax": "0.4.38"}, True),
        ("jax>=0.4.36 diffrax<0.6.1", {"jax": "0.4.36", "diffrax": "0.6.0"}, True),
        ("jax>=0.4.36 diffrax<0.6.1", {"jax": "0.4.36", "diffrax": "0.6.1"}, False),
        ("lineax<0.1", {"jax": "0.4.20"}, False),
        ("jax>=0.9", {"jax": "0.9.0.1"}, True),
        ("jax>=0.9", {"jax": "0.10.0.dev20260101"}, True),
    ],
)
def test_requirements_are_met(on: str, packages: Mapping[str, str], answer: bool) -> None:
    """A rule matches where all its requirements are met, and none is by a package that is not there."""
    assert answer == met(on, packages)


@pytest.mark.parametrize(
    ("on", "answer"), [("lineax<0.1", None), ("jax<0.5 lineax<0.1", False), ("jax>=0.5 lineax<0.1", None)]
)
def test_an_unknown_version_leaves_a_requirement_undetermined(on: str, answer: bool | None) -> None:
    """What would take a version that is not known is undetermined, unless another requirement is not met."""
    assert answer == met(on, {"jax": "0.6.0"}, all_known=False)


NAMES = ("jax", "equinox", "lineax")
VERSIONS = ("0.1", "0.2", "0.3")
STACKS = st.fixed_dictionaries({name: st.sampled_from(VERSIONS) for name in NAMES})
ON = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(["<0.2", ">=0.2", "<0.3", ">=0.3", "!=0.2"])).map("".join),
    max_size=3,
).map(" ".join)
RULES = st.lists(st.builds(Rule, st.sampled_from(["bad", "good", "odd"]), ON, st.just("seen")), max_size=5)


@given(RULES, STACKS)
def test_the_first_rule_that_matches_counts(rules: list[Rule], stack: dict[str, str]) -> None:
    """No rule before the one that counts matches, and it does; where none counts, none matches."""
    found = expected(replace(CASE, rules=tuple(rules)), stack)
    matching = [each for each in rules if met(each.on, stack)]

    assert found == (matching[0] if matching else None)


@given(RULES, st.dictionaries(st.sampled_from(NAMES), st.sampled_from(VERSIONS)))
@settings(deadline=None)
def test_every_outcome_of_unknown_versions_is_among_the_possible(rules: list[Rule], known: dict[str, str]) -> None:
    """Whatever the unknown versions turn out to be, the rule that then counts was among the possible ones."""
    found = possible(rules, known)

    for versions in product(VERSIONS, repeat=len(NAMES)):
        stack = {**dict(zip(NAMES, versions, strict=True)), **known}
        assert first_match(rules, stack) in found


@given(RULES, STACKS)
def test_where_all_is_known_one_outcome_is_possible(rules: list[Rule], stack: dict[str, str]) -> None:
    """Of a stack with no unknown version, the only possible rule is the first that matches."""
    assert (first_match(rules, stack),) == possible(rules, stack)


SOLVE = replace(CASE, rules=IMPLICIT, needs=("jax", "equinox", "diffrax"))
LINE = [as_ruled(f"jax-{version}") for version in ("0.8.1", "0.8.2", "0.8.3", "0.9.0", "0.9.0.1", "0.9.1")]


def test_the_very_stack_is_told_by_its_run() -> None:
    """Versions that a cell has been run with are answered by that run, also where they are told less exactly."""
    run = LINE[1]

    for names in (list(run.pins), ["jax", "equinox", "diffrax", "lineax", "optimistix"]):
        found = predict(SOLVE, {name: run.pins[name] for name in names}, LINE)
        assert (run.behaviour, "run", (run,)) == (found.behaviour, found.how, found.runs)


def test_a_rule_answers_with_the_nearest_runs_on_both_sides() -> None:
    """A stack that was never run is answered by a rule, with the runs under it that are nearest in jax."""
    stack = {**LINE[1].pins, "equinox": "0.13.3", "jax": "0.8.3", "jaxlib": "0.8.3"}

    found = predict(SOLVE, stack, LINE)

    assert (LU.behaviour, "by rule", (LU,)) == (found.behaviour, found.how, found.rules)
    assert ["jax-0.8.2", "jax-0.9.0"] == [each.cell for each in found.runs]


def test_a_run_that_contradicts_the_rule_beside_it_leaves_it_unknown() -> None:
    """Where the nearest run under a rule shows something else, the rule is not to be carried over."""
    stack = {**LINE[1].pins, "equinox": "0.13.3", "jax": "0.8.3", "jaxlib": "0.8.3"}
    runs = [replace(each, behaviour="odd") if each.cell == "jax-0.9.0" else each for each in LINE]

    assert (None, "unknown") == (predict(SOLVE, stack, runs).behaviour, predict(SOLVE, stack, runs).how)


def test_an_unknown_version_that_decides_leaves_it_unknown() -> None:
    """jax 0.9.0 solves with one lineax and not with another: without its version there is no answer."""
    stack = {"jax": "0.9.0", "equinox": "0.13.2", "diffrax": "0.7.0", "optimistix": "0.0.11"}

    assert "unknown" == predict(SOLVE, stack, LINE).how
    assert "works" == predict(SOLVE, {**stack, "lineax": "0.1.0"}, LINE).behaviour


def test_an_unknown_version_that_decides_nothing_does_no_harm() -> None:
    """Where every outcome of the unknown versions is the same, that is the answer."""
    stack = {"jax": "0.8.0", "equinox": "0.13.2", "diffrax": "0.7.2"}

    assert ("works", "by rule") == (predict(SOLVE, stack, []).behaviour, predict(SOLVE, stack, []).how)


UNRULED = replace(CASE, rules=(), needs=("jax", "equinox"))


def beside(equinox: str, behaviour: str, jax: str = "0.9.0") -> Run:
    """A run of this equinox on this jax."""
    return Run(f"{jax}-{equinox}", {"jax": jax, "jaxlib": jax, "equinox": equinox}, behaviour)


STACK = {"jax": "0.9.0", "jaxlib": "0.9.0", "equinox": "0.13.4"}


@pytest.mark.parametrize(
    ("runs", "behaviour", "how"),
    [
        ([beside("0.13.3", "bad"), beside("0.13.5", "bad")], "bad", "between"),
        ([beside("0.13.2", "good"), beside("0.13.3", "bad"), beside("0.13.5", "bad")], "bad", "between"),
        ([beside("0.13.3", "bad"), beside("0.13.5", "good")], None, "unknown"),
        ([beside("0.13.3", "bad")], None, "unknown"),
        ([beside("0.13.3", "bad"), beside("0.13.5", "bad", "0.9.1")], None, "unknown"),
        ([beside("0.13.4", "bad", "0.8.2"), beside("0.13.4", "bad", "0.9.1")], None, "unknown"),
        ([], None, "unknown"),
    ],
)
def test_neighbours_on_both_sides_answer_where_no_rule_does(runs: list[Run], behaviour: str | None, how: str) -> None:
    """Two neighbours in one package, all else alike, that agree give the answer; never one with another jax."""
    found = predict(UNRULED, STACK, runs)

    assert (behaviour, how) == (found.behaviour, found.how)


@given(st.lists(st.builds(Run, st.uuids().map(str), STACKS, st.sampled_from(["bad", "good"])), max_size=8), STACKS)
@settings(deadline=None)
def test_no_run_with_another_jax_is_ever_the_answer(runs: list[Run], stack: dict[str, str]) -> None:
    """Where no rule says so, what is answered rests on runs of the same jax."""
    found = predict(UNRULED, stack, runs)

    assert all(each.pins["jax"] == stack["jax"] for each in found.runs)
    assert (found.behaviour is None) == (found.how == "unknown")


def test_an_equinox_that_does_not_import_blocks_what_needs_it() -> None:
    """jax 0.12.0.1 with equinox 0.13.0 does not import: what needs Equinox is blocked, and plain jax is not."""
    zero = predict(SOLVE, {"jax": "0.12.0.1", "equinox": "0.13.0"}, [])

    assert ("import-error", "by rule") == (zero.behaviour, zero.how)
    assert [True, True, False] == [
        blocks(zero, replace(CASE, needs=needs)) for needs in (("jax", "equinox"), ("jax", "diffrax"), ("jax",))
    ]
    assert not blocks(Prediction("works", "by rule", (), IMPLICIT[-1:]), SOLVE)
