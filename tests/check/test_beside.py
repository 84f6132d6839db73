"""Cases where absl is missing, and answers for stacks that do not list it."""

import pytest
from packaging.specifiers import SpecifierSet

from jax_stack_compat.cell.issue import Rule, Signature
from jax_stack_compat.check import answer
from jax_stack_compat.check.explain.matching import Match
from jax_stack_compat.check.explain.told import Found, since
from jax_stack_compat.check.holes.judged import admitted, holes
from laboratory.report.model import RuleRow
from laboratory.report.summary import packages
from tests.check.worlds import case, indexed, issue, knowledge, stack
from tests.report.test_report import observation, report

LISTED = {"jaxlib": "0.5.0", "opt-einsum": "3.4.0"}
CELLS = {
    "jax-0.5.0": {"jax": "0.5.0", **LISTED, "absl-py": "2.1.0"},
    "jax-0.5.0+alone": {"jax": "0.5.0", **LISTED},
    "jax-0.5.1": {"jax": "0.5.1", **LISTED, "absl-py": "2.1.0"},
    "jax-0.6.0": {"jax": "0.6.0", **LISTED, "absl-py": "2.1.0"},
}
RULES = (
    Rule("wrong", "absl-py jax<0.6.0", "run"),
    Rule("missing", "jax<0.6.0", "run"),
    Rule("right", "", "run"),
)
EXPORT = case("export", *RULES, behaviours={"wrong": "affected", "missing": "absent", "right": "clear"}, cells=CELLS)
WORLD = knowledge(issue("exported", EXPORT), cells=CELLS)


@pytest.mark.parametrize(
    ("versions", "told"),
    [
        ({"jax": "0.5.0"}, [("run", "good from jax 0.6.0")]),
        ({"jax": "0.5.0", **LISTED, "absl-py": "2.3.1"}, [("run", "good from jax 0.6.0")]),
        ({"jax": "0.5.0", **LISTED}, []),
    ],
)
def test_a_lock_tells_that_absl_is_missing_and_a_word_does_not(
    versions: dict[str, str], told: list[tuple[str, str]]
) -> None:
    """A complete stack without absl is not affected; one that names only jax is, as if it had absl."""
    found = answer.answer(WORLD, stack(**versions))

    assert told == [(effect.known.how, effect.good) for effect in found.effects]


@pytest.mark.parametrize("bound", [">=0.5", ">=0.5,<0.6"])
def test_a_cell_without_absl_is_no_way_out_of_a_bound(bound: str) -> None:
    """A hole in bounds on jax shows if a case goes wrong with absl, whatever happens without."""
    bounds = {"jax": SpecifierSet(bound)}
    (found,) = holes(WORLD, admitted(WORLD, bounds), bounds)

    assert ("jax", "0.5.0", "0.5.1") == tuple(found.releases)


def test_absl_decides_nothing_that_people_are_told_of_releases() -> None:
    """If rules name jax and absl, the affected releases are jax's."""
    match = Match(indexed("exported"), ("export",), "wrong", Signature("ImportError", "absl"), 1.0)
    found = Found(match, "", (EXPORT,))

    assert since(found, {}) == "affects jax 0.5.0 (or older) until 0.5.1, fixed in 0.6.0"


def test_data_keep_what_tells_a_whole_stack() -> None:
    """The published data keep absl in complete stacks if a rule names it."""
    of = report(observation())
    (row,) = of.issues
    rules = [RuleRow(behaviour="bad", on="absl-py")]
    ruled = row.model_copy(update={"cases": [each.model_copy(update={"rules": rules}) for each in row.cases]})

    assert "opt-einsum" not in packages(of)
    assert {"absl-py", "opt-einsum"} <= packages(of.model_copy(update={"issues": [ruled]}))
