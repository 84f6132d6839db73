"""Requirements: specifiers that admit the working releases, amendments from rows of arms, and recorded metadata."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from jax_stack_compat.cell.issue import Rule
from jax_stack_compat.judge.metadata import (
    Declared,
    DeclaredObserved,
    declared_observed,
    lower_bound,
    reached,
    reconciled,
    simplest,
    upper_bound,
)
from jax_stack_compat.judge.rules import first_match
from jax_stack_compat.stack import plan
from laboratory.boundaries.amendments import Amendment, Tables, Trial, amendments
from tests.judge.stacks import FEW_EXAMPLES, IMPLICIT, OFFERED, PYTHON, TRAIN, pins

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
    """A jaxlib that is itself broken is excluded for all packages that need it, and does not bound a library."""
    found = amended(row("+equinox-0.12.2+diffrax-0.7.0"))

    assert {"packages that need jaxlib lack jaxlib!=0.7.0", "equinox 0.12.2 lacks jax<0.7.1"} == set(found)
    assert found["packages that need jaxlib lack jaxlib!=0.7.0"].package is None


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
    """A rule's requirements on other packages do not hide the failing pair."""
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
    """Metadata and observation give one of four words, or None if nothing was observed."""
    assert word == declared_observed(says, works)


def test_what_a_case_does_not_reach_cannot_matter_to_it() -> None:
    """A case that needs only jax reaches jaxlib and NumPy, but no library on JAX; diffrax reaches those."""
    of_jax, of_diffrax = (reached([name], pins("jax-0.9.0"), OFFERED, PYTHON) for name in ("jax", "diffrax"))

    assert {"jax", "jaxlib", "numpy"} <= of_jax - {"equinox", "diffrax", "lineax"} == of_jax
    assert {"jax", "jaxlib", "equinox", "lineax", "optimistix"} <= of_diffrax


@pytest.mark.parametrize(
    ("tried", "specifier"),
    [
        ({"0.4.30": True, "0.4.36": True}, ""),
        ({"0.4.30": False, "0.4.36": True}, ">=0.4.36"),
        ({"0.4.30": True, "0.4.35": False, "0.4.36": True}, "!=0.4.35"),
        ({"0.10.0": False, "0.9.2": True}, "<0.10.0"),
    ],
)
def test_a_specifier_is_as_short_as_the_runs_allow(tried: dict[str, bool], specifier: str) -> None:
    """The runs give a bound, an exclusion, or nothing at all."""
    assert specifier == reconciled(tried)


@given(
    st.dictionaries(st.sampled_from([f"0.{minor}.{patch}" for minor in range(8) for patch in range(3)]), st.booleans())
)
@FEW_EXAMPLES
def test_the_specifier_admits_what_works_and_nothing_else(tried: dict[str, bool]) -> None:
    """The reconciled specifier admits exactly what works of what was tried; it is None only if nothing does."""
    specifier = reconciled(tried)

    assert (specifier is None) == (not any(tried.values()))
    if specifier is not None:
        assert tried == {version: version in SpecifierSet(specifier) for version in tried}


def test_bounds_are_the_tightest() -> None:
    """The strictest of several bounds counts; without bounds the result is None."""
    several, none = SpecifierSet(">=0.4,>=0.4.38,<1,<0.9"), SpecifierSet("!=1")

    assert ("0.4.38", "0.9") == (lower_bound(several), upper_bound(several))
    assert (None, None) == (lower_bound(none), upper_bound(none))


SPECIFIERS = st.sampled_from(["", ">=0.2", ">=0.4", ">=0.10", "<0.8", "!=0.5", ">=0.4,!=0.5"]).map(SpecifierSet)


@given(st.lists(SPECIFIERS, max_size=4), st.integers(0, 12))
@FEW_EXAMPLES
def test_the_simplest_specifier_admits_what_all_of_them_do(specifiers: list[SpecifierSet], minor: int) -> None:
    """Joined specifiers admit exactly the versions that all of them admit."""
    version = f"0.{minor}"

    assert all(version in specifier for specifier in specifiers) == (version in SpecifierSet(simplest(specifiers)))
