"""Amendments of requirements: the rows of the arms on real pins; and metadata compared with what was seen."""

from __future__ import annotations

import pytest
from packaging.version import Version

from suite.cell.issue import Rule
from suite.judge.amendments import Amendment, Tables, Trial, amendments
from suite.judge.metadata import Declared, DeclaredObserved, declared_observed, reached
from suite.judge.rules import first_match
from suite.stack import plan
from tests.judge.stacks import IMPLICIT, OFFERED, PYTHON, TRAIN, pins

TABLES: Tables = {"implicit": IMPLICIT, "train": TRAIN}
ROW = "+equinox-0.13.2+diffrax-0.7.0"


def row(held: str, tables: Tables = TABLES) -> list[Trial]:
    """Return a row of all releases of jax beside held packages, as the rules predict it."""
    cells = [cell for cell in plan.cells() if cell.id.endswith(held) and cell.unavailable is None]
    found = []
    for cell in sorted(cells, key=lambda cell: Version(dict(cell.holds)["jax"])):
        rules = {name: first_match(table, pins(cell.id)) for name, table in tables.items()}
        shown = {name: rule.behaviour for name, rule in rules.items() if rule is not None}
        found.append(Trial(cell.id, pins(cell.id), shown, frozenset(name for name in shown if shown[name] != "works")))
    return found


def amended(trials: list[Trial], tables: Tables = TABLES) -> dict[str, Amendment]:
    """Return the amendments, in words."""
    return {str(amendment): amendment for amendment in amendments(trials, "jax", tables, OFFERED, PYTHON)}


def test_each_failure_is_put_to_the_package_that_lacks_a_bound() -> None:
    """equinox 0.13.2 with diffrax 0.7.0 has three causes, not one bound on jax."""
    of_diffrax, of_lineax = "diffrax 0.7.0 lacks optimistix<0.1.0", "lineax 0.0.8 lacks jax<0.8.2"
    found = amended(row(ROW))

    assert {of_lineax, of_diffrax, "equinox 0.13.2 lacks jax<0.10.0"} == set(found)
    assert ("run with both optimistix",) == found[of_diffrax].evidence
    assert (f"jax-0.8.2{ROW}", f"jax-0.9.0{ROW}") == found[of_lineax].cells


def test_a_crash_of_one_jaxlib_is_nobody_elses() -> None:
    """A jaxlib that is broken alone is excluded for all that need it, and does not bound a library."""
    found = amended(row("+equinox-0.12.2+diffrax-0.7.0"))

    assert {"what needs jaxlib lacks jaxlib!=0.7.0", "equinox 0.12.2 lacks jax<0.7.1"} == set(found)
    assert found["what needs jaxlib lacks jaxlib!=0.7.0"].package is None


def test_what_no_rule_knows_is_a_bound_with_all_that_moved() -> None:
    """A failure without a pair of packages becomes a bound on the moved package, with what came along."""
    (unknown,) = (each for each in amended(row(ROW), {"train": TRAIN}).values() if each.grounds == "together")

    assert (None, "jax<0.9.1,!=0.8.2,!=0.9.0") == (unknown.package, unknown.requirement)
    assert "jax and jaxlib 0.8.1 → 0.8.2, jaxtyping 0.3.3 → 0.3.4" == unknown.came_with


def test_nothing_is_said_of_metadata_that_excludes_what_row_zero_does_well() -> None:
    """A small solve does not show that a requirement is too tight."""
    assert {} == amended([each for each in row("+equinox-0.13.8+diffrax-0.7.2") if not each.fails])


def test_a_guest_lacks_what_its_metadata_does_not_name() -> None:
    """Haiku does not declare jax; the rule that names both attributes the missing bound to Haiku."""
    table = {"import": (Rule("no-drop-var", "dm-haiku<0.0.17 jax>=0.11.0", "run"), Rule("works", "", "run"))}

    (found,) = amended(row("+dm-haiku-0.0.16", table), table).values()

    assert ("dm-haiku", "0.0.16", "jax<0.11.0") == (found.package, found.version, found.requirement)
    assert found.declared is None


GUARDED = "jax>=0.8.2 equinox>=0.13.1 diffrax>=0.6.2,<0.7.2 lineax>=0.1.0 optimistix>=0.1.0"


@pytest.mark.parametrize("on", [GUARDED, "diffrax<0.7.2 optimistix>=0.1.0"])
def test_a_rule_with_guards_names_the_same_pair(on: str) -> None:
    """Requirements of a rule that only limit where it was seen do not hide the failing pair."""
    tables: Tables = {"implicit": (Rule("rejected", on, "run"), Rule("works", "", "run"))}

    assert ["diffrax 0.7.0 lacks optimistix<0.1.0"] == list(amended(row(ROW, tables), tables))


@pytest.mark.parametrize(
    ("says", "works", "word"),
    [
        ("allows", True, "supported"),
        ("allows", False, "latent"),
        ("excludes", False, "guarded"),
        ("excludes", True, "excluded"),
        ("allows", None, None),
        ("excludes", None, None),
    ],
)
def test_declared_against_observed(says: Declared, works: bool | None, word: DeclaredObserved | None) -> None:
    """Metadata and observation give one of four words, or none if nothing was seen."""
    assert word == declared_observed(says, works)


def test_what_a_case_does_not_reach_cannot_matter_to_it() -> None:
    """A case that needs only jax reaches jaxlib and NumPy, but no library on JAX; diffrax reaches those."""
    of_jax, of_diffrax = (reached([name], pins("jax-0.9.0"), OFFERED, PYTHON) for name in ("jax", "diffrax"))

    assert {"jax", "jaxlib", "numpy"} <= of_jax - {"equinox", "diffrax", "lineax"} == of_jax
    assert {"jax", "jaxlib", "equinox", "lineax", "optimistix"} <= of_diffrax
