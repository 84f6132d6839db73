"""Which package a change is put down to, on the stacks of the line and on any."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suite.cell.issue import Rule
from suite.judge.attribution import LINKED, Blame, Move, blame, moves, told
from suite.judge.rules import Run
from tests.judge.stacks import IMPLICIT, LU, among, as_ruled


def between(before: str, after: str, rules: tuple[Rule, ...] = IMPLICIT) -> Blame:
    """What the change between two cells of the line is put down to, by rules that know what each shows."""
    one, other = as_ruled(before), as_ruled(after)
    found = blame(one, other, rules, among=among(one, other))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("jax-0.8.1", "jax-0.8.2", "jax 0.8.1 → 0.8.2"),
        ("jax-0.8.2", "jax-0.8.3", "lineax 0.0.8 → 0.1.0"),
        ("jax-0.8.3", "jax-0.9.0", "lineax 0.1.0 → 0.0.8"),
        ("equinox-0.13.4", "equinox-0.13.5", "lineax 0.0.8 → 0.1.0"),
        ("equinox-0.13.4", "diffrax-0.7.1", "lineax 0.0.8 → 0.1.0"),
        ("jax-0.9.0", "jax-0.9.0.1", "lineax 0.0.8 → 0.1.0"),
    ],
)
def test_a_failure_of_lineax_is_not_put_down_to_what_moved_along(before: str, after: str, words: str) -> None:
    """What Lineax 0.1.0 mended is Lineax's, whichever others moved along; the rule is the ground."""
    found = between(before, after)

    assert (words, "rule") == (str(found), found.grounds)
    assert LU.evidence in found.evidence


def test_without_a_rule_a_change_came_with_all_that_moved() -> None:
    """Where neither a rule nor a run tells them apart, none is to blame, and all that moved are named, jax first."""
    found = between("equinox-0.13.4", "diffrax-0.7.1", ())

    assert found.package is None
    assert "came with diffrax 0.7.0 → 0.7.1, lineax 0.0.8 → 0.1.0, jaxtyping 0.3.6 → 0.3.7, numpy 2.4.1 → 2.4.2" == str(
        found
    )


def test_a_neighbour_that_shows_the_same_changes_nothing() -> None:
    """Between two cells that show the same, nobody is to blame."""
    assert blame(as_ruled("jax-0.9.0"), as_ruled("equinox-0.13.3"), IMPLICIT) is None


BEFORE = {"jax": "0.9.0", "jaxlib": "0.9.0", "equinox": "0.13.4", "lineax": "0.0.8"}
AFTER = {"jax": "0.9.1", "jaxlib": "0.9.1", "equinox": "0.13.5", "lineax": "0.1.0"}


@pytest.mark.parametrize(
    ("pins", "behaviour"), [({**BEFORE, "lineax": "0.1.0"}, "good"), ({**AFTER, "lineax": "0.0.8"}, "bad")]
)
def test_a_run_tells_causes_apart(pins: dict[str, str], behaviour: str) -> None:
    """A cell that differs from one side by one package alone, and shows what the other does, is evidence."""
    found = blame(Run("before", BEFORE, "bad"), Run("after", AFTER, "good"), (), [Run("apart", pins, behaviour)])

    assert found is not None
    assert ("lineax", "run", "apart") == (found.package, found.grounds, found.evidence)


def test_runs_that_speak_for_two_packages_settle_nothing() -> None:
    """Where one run speaks for one package and another for another, the change came with all."""
    runs = [Run("one", {**BEFORE, "lineax": "0.1.0"}, "good"), Run("other", {**BEFORE, "equinox": "0.13.5"}, "good")]

    found = blame(Run("before", BEFORE, "bad"), Run("after", AFTER, "good"), (), runs)

    assert found is not None
    assert "together" == found.grounds


@pytest.mark.parametrize(
    ("on", "words"),
    [
        ("jax<0.9.1", "jax 0.9.0 → 0.9.1"),
        ("jaxlib<0.9.1", "jaxlib 0.9.0 → 0.9.1"),
        ("jax<0.9.1 jaxlib<0.9.1", "jax and jaxlib 0.9.0 → 0.9.1"),
    ],
)
def test_a_jaxlib_goes_with_its_jax_unless_a_rule_tells_them_apart(on: str, words: str) -> None:
    """jax and its jaxlib are named both where nothing tells them apart, and one where a rule does."""
    found = blame(
        Run("before", BEFORE, "bad"), Run("after", AFTER, "good"), (Rule("bad", on, "seen"), Rule("good", "", "seen"))
    )

    assert words == str(found)


def test_jax_with_its_jaxlib_alone_is_to_blame() -> None:
    """Where jax moved with its jaxlib and nothing else, the two are it, by the run itself."""
    after = {**BEFORE, "jax": "0.9.1", "jaxlib": "0.9.1"}

    found = blame(Run("before", BEFORE, "bad"), Run("after", after, "good"), ())

    assert found is not None
    assert ("jax and jaxlib 0.9.0 → 0.9.1", "run", "jax") == (str(found), found.grounds, found.package)


def test_versions_are_compared_as_versions() -> None:
    """0.4 and 0.4.0 are one version, and a package that came in has none before."""
    assert (Move("lineax", None, "0.0.3"),) == moves({"jax": "0.4"}, {"jax": "0.4.0", "lineax": "0.0.3"})
    assert "lineax none → 0.0.3" == told([Move("lineax", None, "0.0.3")])


NAMES = ("jax", "jaxlib", "equinox", "diffrax", "lineax")
STACKS = st.fixed_dictionaries({name: st.sampled_from(["0.1", "0.2", "0.3"]) for name in NAMES})
SHOWN = st.sampled_from(["bad", "good", "odd"])
RUNS = st.lists(st.builds(Run, st.uuids().map(str), STACKS, SHOWN), max_size=6)
ON = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(["<0.2", ">=0.2", "<0.3", ">=0.3"])).map("".join), max_size=2
).map(" ".join)
RULES = st.lists(st.builds(Rule, SHOWN, ON, st.just("seen")), max_size=4)


@given(STACKS, SHOWN, STACKS, SHOWN, RULES, RUNS)
@settings(deadline=None)
def test_blame_falls_on_what_moved_alone(
    before: dict[str, str], was: str, after: dict[str, str], now: str, rules: list[Rule], runs: list[Run]
) -> None:
    """What is named moved; where one package is, it is that one, or jax with its jaxlib."""
    found = blame(Run("before", before, was), Run("after", after, now), rules, runs)

    assert (found is None) == (was == now)
    if found is not None:
        assert set(found.to) <= set(found.moved) == set(moves(before, after))
        named = {each.package for each in found.to}
        assert found.grounds == "together" or len(named) == 1 or named == set(LINKED)


@given(STACKS, SHOWN, STACKS, SHOWN, RULES, RUNS)
@settings(deadline=None)
def test_blame_is_the_same_both_ways(
    before: dict[str, str], was: str, after: dict[str, str], now: str, rules: list[Rule], runs: list[Run]
) -> None:
    """Which of two neighbours comes first does not matter to what their difference is put down to."""
    one, other = Run("before", before, was), Run("after", after, now)
    forth, back = blame(one, other, rules, runs), blame(other, one, rules, runs)

    assert (forth and (forth.grounds, {each.package for each in forth.to})) == (
        back and (back.grounds, {each.package for each in back.to})
    )
