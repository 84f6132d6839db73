"""Attribution of changes to packages, on the stacks of the line and on any."""

from __future__ import annotations

import pytest
from hypothesis import given

from suite.cell.issue import Rule
from suite.judge.attribution import LINKED, Blame, Move, blame, moves, told
from suite.judge.metadata import reached
from suite.judge.rules import Run
from tests.judge.stacks import FEW_EXAMPLES, IMPLICIT, LU, OFFERED, PYTHON, RULES, RUNS, SHOWN, STACKS, as_ruled


def between(before: str, after: str, rules: tuple[Rule, ...] = IMPLICIT) -> Blame | None:
    """Attribute the change between two cells of the line, with rules that know both."""
    one, other = as_ruled(before), as_ruled(after)
    among = {name for each in (one, other) for name in reached(["diffrax"], each.pins, OFFERED, PYTHON)}
    return blame(one, other, rules, among=among)


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
    """The fix in Lineax 0.1.0 is attributed to Lineax by rule, whatever else moved."""
    found = between(before, after)

    assert found is not None
    assert (words, "rule", True) == (str(found), found.grounds, LU.evidence in found.evidence)


def test_without_a_rule_a_change_came_with_all_that_moved() -> None:
    """Without a rule or run to tell them apart, all moved packages are named, jax first."""
    found = between("equinox-0.13.4", "diffrax-0.7.1", ())
    along = "jaxtyping 0.3.6 → 0.3.7, numpy 2.4.1 → 2.4.2"

    assert found is not None
    assert (None, f"came with diffrax 0.7.0 → 0.7.1, lineax 0.0.8 → 0.1.0, {along}") == (found.package, str(found))


BEFORE = {"jax": "0.9.0", "jaxlib": "0.9.0", "equinox": "0.13.4", "lineax": "0.0.8"}
AFTER = {"jax": "0.9.1", "jaxlib": "0.9.1", "equinox": "0.13.5", "lineax": "0.1.0"}
LINEAX_FORTH = Run("forth", {**BEFORE, "lineax": "0.1.0"}, "good")
LINEAX_BACK = Run("back", {**AFTER, "lineax": "0.0.8"}, "bad")
EQUINOX_FORTH = Run("other", {**BEFORE, "equinox": "0.13.5"}, "good")


@pytest.mark.parametrize(
    ("runs", "package", "grounds", "evidence"),
    [
        ([LINEAX_FORTH], "lineax", "run", "forth"),
        ([LINEAX_BACK], "lineax", "run", "back"),
        ([LINEAX_FORTH, EQUINOX_FORTH], None, "together", ""),
    ],
)
def test_a_run_tells_causes_apart(runs: list[Run], package: str | None, grounds: str, evidence: str) -> None:
    """A cell that differs from one side by one package and shows the other side is evidence, if it is the only one."""
    found = blame(Run("before", BEFORE, "bad"), Run("after", AFTER, "good"), (), runs)

    assert found is not None
    assert (package, grounds, evidence) == (found.package, found.grounds, found.evidence)


@pytest.mark.parametrize(
    ("on", "after", "words", "grounds"),
    [
        ("jax<0.9.1", AFTER, "jax 0.9.0 → 0.9.1", "rule"),
        ("jaxlib<0.9.1", AFTER, "jaxlib 0.9.0 → 0.9.1", "rule"),
        ("jax<0.9.1 jaxlib<0.9.1", AFTER, "jax and jaxlib 0.9.0 → 0.9.1", "rule"),
        ("jax<0.1", {**BEFORE, "jax": "0.9.1", "jaxlib": "0.9.1"}, "jax and jaxlib 0.9.0 → 0.9.1", "run"),
    ],
)
def test_a_jaxlib_goes_with_its_jax_unless_a_rule_tells_them_apart(
    on: str, after: dict[str, str], words: str, grounds: str
) -> None:
    """jax and its jaxlib are named together, unless a rule tells them apart."""
    rules = (Rule("bad", on, "seen"), Rule("good", "", "seen"))
    found = blame(Run("before", BEFORE, "bad"), Run("after", after, "good"), rules)

    assert found is not None
    assert (words, grounds) == (str(found), found.grounds)


def test_versions_are_compared_as_versions() -> None:
    """0.4 and 0.4.0 are one version; a new package has no version before."""
    assert (Move("lineax", None, "0.0.3"),) == moves({"jax": "0.4"}, {"jax": "0.4.0", "lineax": "0.0.3"})
    assert "lineax none → 0.0.3" == told([Move("lineax", None, "0.0.3")])


@given(STACKS, SHOWN, STACKS, SHOWN, RULES, RUNS)
@FEW_EXAMPLES
def test_blame_falls_on_what_moved_alone(
    before: dict[str, str], was: str, after: dict[str, str], now: str, rules: list[Rule], runs: list[Run]
) -> None:
    """Named packages moved; a single one is that alone, or jax with jaxlib, in both directions."""
    one, other = Run("before", before, was), Run("after", after, now)
    forth, back = blame(one, other, rules, runs), blame(other, one, rules, runs)

    assert (forth is None) == (back is None) == (was == now)
    if forth is not None and back is not None:
        named = {each.package for each in forth.to}
        assert set(forth.to) <= set(forth.moved) == set(moves(before, after))
        assert forth.grounds == "together" or len(named) == 1 or named == set(LINKED)
        assert (forth.grounds, named) == (back.grounds, {each.package for each in back.to})
