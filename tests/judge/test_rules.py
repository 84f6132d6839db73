"""First-match rules, predictions for any stack, and the releases on which runs confirm a rule."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from jax_stack_compat.cell.issue import Rule
from jax_stack_compat.judge.prediction import Prediction, Stopped, foresee, how, predict
from jax_stack_compat.judge.rules import Pins, Run, concerned, met
from laboratory.boundaries.intervals import ran
from tests.check.worlds import case
from tests.judge.stacks import CASE, IMPLICIT, LU, as_ruled


@pytest.mark.parametrize(
    ("on", "packages", "answer"),
    [
        ("", {}, True),
        ("jax<0.5", {"jax": "0.5.0"}, False),
        ("jax>=0.4.36,<0.5", {"jax": "0.4.38"}, True),
        ("jax>=0.4.36 diffrax<0.6.1", {"jax": "0.4.36", "diffrax": "0.6.0"}, True),
        ("jax>=0.4.36 diffrax<0.6.1", {"jax": "0.4.36", "diffrax": "0.6.1"}, False),
        ("lineax<0.1", {"jax": "0.4.20"}, False),
        ("jax>=0.9", {"jax": "0.10.0.dev20260101"}, True),
        ("absl-py jax<0.5", {"jax": "0.4.30"}, True),
        ("absl-py jax<0.5", {"jax": "0.4.30", "opt-einsum": "3.3.0"}, False),
        ("absl-py jax<0.5", {"jax": "0.4.30", "opt-einsum": "3.3.0", "absl-py": "2.1.0"}, True),
    ],
)
def test_requirements_are_met(on: str, packages: Mapping[str, str], answer: bool) -> None:
    """A rule matches if all its requirements are met; absl counts as present in incomplete stacks."""
    assert answer == met(on, packages)


def test_what_a_case_needs_it_needs_with_all_that_imports() -> None:
    """The packages that can matter are the case's needs, their imports and the packages in its rules."""
    assert {"jax", "jaxlib"} == concerned(["jax"])
    assert {"jax", "jaxlib", "lineax", "equinox", "optimistix", "diffrax"} == concerned(["diffrax"])
    assert {"jax", "jaxlib", "equinox", "numpy"} == concerned(["equinox"], [Rule("bad", "numpy>=2", "seen")])


SOLVE = replace(CASE, rules=IMPLICIT, needs=("jax", "equinox", "diffrax"))
LINE = [as_ruled(f"jax-{version}") for version in ("0.8.1", "0.8.2", "0.8.3", "0.9.0", "0.9.0.1", "0.9.1")]
ODD = [each._replace(behaviour="odd") if each.cell == "jax-0.9.0" else each for each in LINE]
RAN, BROADLY = (
    LINE[1].pins,
    {name: LINE[1].pins[name] for name in ("jax", "equinox", "diffrax", "lineax", "optimistix")},
)
NEVER_RUN = {**RAN, "equinox": "0.13.3", "jax": "0.8.3", "jaxlib": "0.8.3"}
NO_LINEAX = {"jax": "0.9.0", "equinox": "0.13.2", "diffrax": "0.7.0", "optimistix": "0.0.11"}


@pytest.mark.parametrize(
    ("stack", "runs", "behaviour", "how", "by"),
    [
        pytest.param(RAN, LINE, LU.behaviour, "run", ["jax-0.8.2"], id="this very stack was run"),
        pytest.param(BROADLY, LINE, LU.behaviour, "run", ["jax-0.8.2"], id="the same, told less exactly"),
        pytest.param(
            NEVER_RUN, LINE, LU.behaviour, "by rule", ["jax-0.8.2", "jax-0.9.0"], id="the nearest on each side"
        ),
        pytest.param(NEVER_RUN, ODD, None, "unknown", ["jax-0.8.2", "jax-0.9.0"], id="a run contradicts the rule"),
        pytest.param(NO_LINEAX, LINE, None, "unknown", [], id="an unknown version decides"),
        pytest.param({**NO_LINEAX, "lineax": "0.1.0"}, [], "works", "by rule", [], id="once it is known, it is not"),
        pytest.param(
            {**NO_LINEAX, "jax": "0.8.0"}, [], "works", "by rule", [], id="an unknown version decides nothing"
        ),
    ],
)
def test_rules_answer_for_any_versions(
    stack: dict[str, str], runs: list[Run], behaviour: str | None, how: str, by: list[str]
) -> None:
    """A run on the same stack decides; else a rule does, unless a nearest run under that rule disagrees."""
    found = predict(SOLVE, stack, runs)

    assert (behaviour, how, by) == (found.behaviour, found.how, [run.cell for run in found.runs])


UNRULED = replace(CASE, rules=(), needs=("jax", "equinox"))


def beside(equinox: str, behaviour: str, jax: str = "0.9.0") -> Run:
    """Return a run of this equinox on this jax."""
    return Run(f"{jax}-{equinox}", {"jax": jax, "jaxlib": jax, "equinox": equinox}, behaviour)


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
    """Two agreeing neighbours in one package give the answer, never with another jax."""
    found = predict(UNRULED, beside("0.13.4", "").pins, runs)

    assert (behaviour, how) == (found.behaviour, found.how)


def test_what_is_beside_a_stack_is_no_unknown() -> None:
    """If an unknown Equinox decides, absl is not reported as unknown too."""
    case = replace(CASE, rules=(Rule("bad", "absl-py equinox<0.12", "run"), Rule("good", "", "run")))

    assert "it depends on equinox" == how(predict(case, {"jax": "0.5.0"}, []), {"jax": "0.5.0"})


SOLVES = case("solves", Rule("wrong", "jax<0.5", "run"), Rule("right", "", "run"))
AWAITED = {("row-zero", "solves"): SOLVES}
WAITING = ("of-solves", "waits")
OLD, NEW = {"jax": "0.4.30"}, {"jax": "0.6.0"}


def told(pins: Pins, *runs: Run) -> Prediction | Stopped:
    """Return the prediction for a case that waits for the solve."""
    waits = case("waits", Rule("right", "", "run"), waits_for=("row-zero/solves",))
    return foresee({**AWAITED, WAITING: waits}, ("row-zero",), pins, {WAITING: runs})[WAITING]


def test_a_case_is_blocked_where_what_it_waits_for_goes_wrong() -> None:
    """By rule the case is blocked or unknown there; elsewhere its own rules count."""
    found = told(OLD)
    assert isinstance(found, Stopped)
    assert ("row-zero/solves", "wrong", ()) == (found.case, found.prediction.behaviour, found.packages)

    found = told(NEW)
    assert isinstance(found, Prediction)
    assert "right" == found.behaviour


def test_what_was_run_with_these_versions_counts() -> None:
    """A run that returned shows the case's behaviour, whatever goes wrong beside it."""
    found = told(OLD, Run("jax-0.4.30", OLD, "right"))
    assert isinstance(found, Prediction)
    assert ("right", "run") == (found.behaviour, found.how)


def test_without_what_it_waits_for_nobody_knows() -> None:
    """If the report lacks the awaited case, no rule decides."""
    waits = case("waits", Rule("right", "", "run"), waits_for=("row-zero/others",))
    assert Prediction(None, "unknown") == foresee({**AWAITED, WAITING: waits}, ("row-zero",), NEW, {})[WAITING]


BAD, GOOD = Rule("bad", "jax<0.5"), Rule("good")


def runs(**shown: str) -> list[Run]:
    """Return runs on releases of jax, all with one Equinox."""
    return [
        Run(f"jax-{version}", {"jax": version, "equinox": "0.11.0"}, rule)
        for version, rule in ((name.removeprefix("v").replace("_", "."), of) for name, of in shown.items())
    ]


SHOWN = runs(v0_4_1="bad", v0_4_2="bad", v0_4_3="bad", v0_5="good", v0_6="good")


@pytest.mark.parametrize(
    ("rules", "seen", "told"),
    [
        ([BAD, GOOD], SHOWN, ["run on 3 releases of jax, 0.4.1 to 0.4.3", "run on jax 0.5 and 0.6"]),
        # Not borne out.
        ([Rule("good", "jax<0.5"), Rule("bad")], SHOWN, ["", ""]),
        ([Rule("bad", "jax==0.4.2"), GOOD], SHOWN, ["run on jax 0.4.2", "run on jax 0.5 and 0.6"]),
        # Another rule matches the releases between two ranges.
        (
            [Rule("bad", "jax==0.5"), GOOD],
            runs(v0_4="good", v0_5="bad", v0_6="good", v0_7="good"),
            ["run on jax 0.5", "run on 3 releases of jax: 0.4, 0.6 to 0.7"],
        ),
        (
            [Rule("bad", "jax<0.5 equinox<0.12"), Rule("good", "jax<0.6 equinox>=0.11")],
            SHOWN,
            ["run on 3 stacks: jax 0.4.1 to 0.4.3, equinox 0.11.0", "run on jax 0.5, equinox 0.11.0"],
        ),
        # The last need of a case is what it is about.
        ([Rule("bad")], SHOWN, ["run on equinox 0.11.0"]),
    ],
)
def test_a_rule_says_where_it_was_run(rules: list[Rule], seen: list[Run], told: list[str]) -> None:
    """The releases are those of the rule's own packages where it matched first and was borne out."""
    assert told == ran(["jax", "equinox"], rules, seen)


def test_a_case_that_needs_nothing_is_about_jax() -> None:
    """A catch-all rule of a case without needs counts the releases of jax."""
    assert ["run on 3 releases of jax, 0.4.1 to 0.4.3"] == ran([], [Rule("bad")], SHOWN)
