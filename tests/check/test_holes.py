"""Holes in declared bounds: affected releases that they admit, whatever other bounds there are."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from jax_stack_compat.base.errors import Exit
from jax_stack_compat.cell.issue import Rule
from jax_stack_compat.check import knowledge as known
from jax_stack_compat.check.holes.judged import Hole, admitted, holes
from jax_stack_compat.check.holes.told import to_test
from jax_stack_compat.check.knowledge import Knowledge, KnownCase
from jax_stack_compat.judge.rules import Run
from tests.check.conftest import Said
from tests.check.worlds import case, issue, knowledge

VERSIONS = {
    "jax": ("0.4.30", "0.4.36", "0.5.0", "0.6.0", "0.7.0"),
    "equinox": ("0.11.0", "0.12.0", "0.13.0"),
    "diffrax": ("0.6.0", "0.7.0"),
}
CLAUSES = [
    (name, f"{sign}{version}")
    for name, versions in VERSIONS.items()
    for version in versions
    for sign in (">=", "<", "!=", "==")
]
NEEDS = (("jax",), ("jax", "equinox"), ("jax", "equinox", "diffrax"))


@st.composite
def worlds(draw: st.DrawFn) -> Knowledge:
    """Draw stacks, and cases that ran on all stacks with their packages, with any outcome."""
    some = st.fixed_dictionaries({name: st.sampled_from(versions) for name, versions in VERSIONS.items()})
    cells = {
        f"cell-{number}": {**pins, "jaxlib": pins["jax"]}
        for number, pins in enumerate(draw(st.lists(some, min_size=1, max_size=12)))
    }
    outcomes = st.sampled_from(["wrong", "wrong", "wrong", "right", "raises", "flaky"])
    cases = []
    for number, needs in enumerate(NEEDS):
        rules = [Rule("wrong", draw(st.sampled_from(["jax<0.5", "jax<0.6 equinox>=0.12", "diffrax<0.7", ""])), "run")]
        rules = [rule for rule in rules if all(name in needs for name in VERSIONS if name in rule.on)]
        runs = tuple(Run(id, pins, draw(outcomes)) for id, pins in cells.items())
        cases.append(case(f"case-{number}", *rules, Rule("right", "", "run"), needs=needs, runs=runs))
    return Knowledge("2026-11-22", cells, (issue("one", *cases),))


def joined(clauses: Iterable[tuple[str, str]]) -> dict[str, SpecifierSet]:
    """Return clauses on three packages as bounds."""
    found = dict.fromkeys(VERSIONS, SpecifierSet())
    for name, clause in clauses:
        found[name] &= SpecifierSet(clause)
    return found


def found_in(world: Knowledge, bounds: dict[str, SpecifierSet]) -> list[Hole]:
    """Return the holes in bounds."""
    return holes(world, admitted(world, bounds), bounds)


def told(found: list[Hole], of: KnownCase) -> set[tuple[str, str, str]]:
    """Return the packages and releases on which a case goes wrong."""
    return {each.releases for each in found if of.id in each.cases}


@settings(max_examples=300, deadline=None)
@given(worlds(), st.lists(st.sampled_from(CLAUSES), max_size=3), st.sampled_from(CLAUSES))
def test_more_bounds_take_away_what_they_exclude_alone(
    world: Knowledge, clauses: list[tuple[str, str]], more: tuple[str, str]
) -> None:
    """A bound never hides a case that does not need its package; for other cases, it hides only excluded releases."""
    bounds, narrower = joined(clauses), joined([*clauses, more])
    before, after = found_in(world, bounds), found_in(world, narrower)

    for of in world.issues[0].cases:
        if more[0] not in of.needs:
            assert told(before, of) == told(after, of)
        for run in of.runs:
            if run.behaviour == "wrong" and all(narrower[name].contains(run.pins[name]) for name in of.needs):
                assert is_told(after, of, run) or not is_told(before, of, run)


def is_told(found: list[Hole], of: KnownCase, run: Run) -> bool:
    """Return True if a run's release is among those on which its case goes wrong."""
    return any(of.id in each.cases and each.releases.has(run.pins[each.releases.package]) for each in found)


@settings(max_examples=100, deadline=None)
@given(worlds(), st.lists(st.sampled_from(CLAUSES), max_size=3))
def test_what_no_release_is_well_on_is_told(world: Knowledge, clauses: list[tuple[str, str]]) -> None:
    """If all runs within the bounds go wrong, the holes cover the releases of all these runs."""
    bounds = joined(clauses)
    found = found_in(world, bounds)
    for of in world.issues[0].cases:
        within = [run for run in of.runs if all(bounds[name].contains(run.pins[name]) for name in of.needs)]
        if all(run.behaviour == "wrong" for run in within):
            assert all(is_told(found, of, run) for run in within)


def test_rules_tell_where_nothing_was_run_within_all_bounds() -> None:
    """A Diffrax that was not run with an admitted jax is wrong by rule, if its rules agree for all of them."""
    within = {"jax": SpecifierSet(">=0.7"), "equinox": SpecifierSet(), "diffrax": SpecifierSet()}
    (found,) = [each for each in found_in(knowledge(), within) if each.issue.id == "solve-is-off"]
    assert found.told == "diffrax 0.6.0 to 0.7.0, the lowest admitted, by rule: solves"


@pytest.fixture
def checked(world: Path, said: Said) -> Said:
    """Run `check --bounds` for dependencies, in the small world; return its exit code and output."""

    def run(dependencies: list[str], *typed: str) -> tuple[Exit, str]:
        Path("pyproject.toml").write_text(f"[project]\ndependencies = {json.dumps(dependencies)}\n")
        return said("check", "--bounds", "pyproject.toml", *typed)

    return run


def test_bounds_have_holes(checked: Said) -> None:
    """Affected releases within declared bounds are listed, also at the ends."""
    code, out = checked(["jax>=0.4.36,<0.7"])
    assert Exit.UNEXPECTED == code
    assert "wrong-numbers (silent-wrong)  jax 0.4.36, the lowest admitted: mended" in out
    assert "slow-thing (slow)  jax 0.6.0, the highest admitted: back" in out


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ([], None),
        # An admitted good Diffrax shows a way out.
        (["diffrax"], "solve-is-off (silent-wrong)  diffrax 0.6.0 to 0.7.0, the lowest admitted: solves"),
        (["diffrax @ git+https://example.org/diffrax"], "solve-is-off"),
    ],
)
def test_bounds_are_of_the_packages_they_name(more: list[str], told: str | None, checked: Said) -> None:
    """Cases that need Diffrax concern only bounds that admit it, on releases that are wrong with all other packages."""
    _, out = checked(["jax>=0.4.36,<0.7", "equinox", *more])
    assert ("solve-is-off" in out) == bool(told)
    assert (told or "") in out


@pytest.mark.parametrize(
    ("dependencies", "why"),
    [
        (["jax>=99"], "jax>=99 admits no release in the data, which has 0.4.30 to 0.7.0"),
        (["jax>=0.6", "jax<0.5"], "jax<0.5,>=0.6 admits no release"),
        (["jax==0.13.0rc1"], "jax==0.13.0rc1 admits no release"),
        (["jax==0.5.0", "equinox==0.99"], "equinox==0.99 admits no release in the data, which has 0.12.0 to 0.12.0"),
    ],
)
def test_bounds_that_admit_nothing_are_not_green(dependencies: list[str], why: str, checked: Said) -> None:
    """A bound that does not admit any run is named, and the exit code means nothing known."""
    code, out = checked(dependencies)
    assert Exit.UNDECIDED == code
    assert why in out
    assert "None of the documented issues" not in out


def test_other_findings_stay_where_one_bound_admits_nothing(checked: Said) -> None:
    """A case that needs only jax shows, although the bound on Equinox does not admit any run."""
    assert "wrong-numbers" in checked(["jax<0.5", "equinox==0.99"])[1]


def test_a_release_that_was_never_run_is_told_as_such(monkeypatch: pytest.MonkeyPatch, checked: Said) -> None:
    """A planned release that was yanked is in the data without a run."""
    of = knowledge()
    cells = {**of.cells, "jax-0.4.32": {"jax": "0.4.32", "jaxlib": "0.4.31"}}
    monkeypatch.setattr(known, "load", lambda: Knowledge(of.day, cells, of.issues))
    code, out = checked(["jax==0.4.32"])
    assert Exit.UNDECIDED == code
    assert "jax==0.4.32 admits only 0.4.32, which was never run: `check --from jax==0.4.32` shows" in out
    _, out = checked(["jax<0.5"])
    assert "Admitted and never run: jax 0.4.32." in out
    assert Exit.INCOMPLETE == checked(["jax<0.5"], "--strict")[0]


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        (["--to", "jax==0.6.0"], "--bounds does not combine with --to"),
        (["--format", "sarif"], "--bounds has no format sarif: use --format text or json"),
    ],
)
def test_what_has_no_meaning_with_bounds_is_refused(typed: list[str], why: str, checked: Said) -> None:
    """Upgrades, and formats that point at a file, are refused with a sentence."""
    code, out = checked(["jax"], *typed)
    assert Exit.MISUSED == code
    assert why in out


def test_bounds_of_other_packages_leave_the_stacks_alone(checked: Said) -> None:
    """A bound on a package outside all stacks excludes none of them."""
    assert "Admitted and run: 2 of jax; 2 stacks are within" in checked(["jax<0.5", "torch>=2", "numpy<1"])[1]


def test_what_builds_on_the_stack_is_told_where_its_bound_admits_nothing(
    published: Knowledge, monkeypatch: pytest.MonkeyPatch, checked: Said
) -> None:
    """The stack is answered anyway; --strict fails."""
    monkeypatch.setattr(known, "load", lambda: published)
    code, out = checked(["jax>=0.12", "flax>=99"])
    assert Exit.UNEXPECTED == code
    assert "flax>=99 admits no release in the data, which has 0." in out
    assert Exit.INCOMPLETE == checked(["jax>=0.12", "flax>=99"], "--strict")[0]


def test_bounds_as_data(checked: Said) -> None:
    """JSON has the bounds, what they admit, and the findings with their releases."""
    code, out = checked(["jax>=0.4.36,<0.7", "diffrax"], "--format", "json")
    found = json.loads(out)
    assert Exit.UNEXPECTED == code
    assert {"jax": "<0.7,>=0.4.36", "diffrax": ""} == found["bounds"]
    assert {"count": 3, "first": "0.4.36", "last": "0.6.0"} == found["admitted"]["jax"]
    assert {
        **{"id": "solve-is-off", "kind": "silent-wrong", "case": "solves", "package": "diffrax"},
        **{"first": "0.6.0", "last": "0.7.0", "lowest": True, "highest": False, "by_rule": False},
    } in found["findings"]


def test_what_is_ignored_is_no_hole(world: Path, checked: Said) -> None:
    """An entry of jax-stack-compat.toml ignores its issue within bounds too; an entry without effect is stale."""
    entries = "".join(f'[[ignore]]\nid = "{id}"\nreason = "we know"\n' for id in ("wrong-numbers", "solve-is-off"))
    (world / "jax-stack-compat.toml").write_text(entries)
    code, out = checked(["jax<0.6"])
    assert Exit.AS_EXPECTED == code
    assert "Issues ignored by jax-stack-compat.toml: 1." in out
    assert "jax-stack-compat.toml has stale entries: solve-is-off" in out
    assert "wrong-numbers (" not in out


def test_bounds_answer_for_the_code(world: Path, checked: Said) -> None:
    """With a source tree, only what it uses counts, with the lines whose names an admitted release lacks."""
    (world / "src").mkdir()
    model = world / "src" / "model.py"
    model.write_text("import jax.numpy as jnp\nimport jax\n\njax.tree_map(jnp.abs, 1)\n")
    code, out = checked(["jax<0.7"], "--source", "src")
    assert Exit.UNEXPECTED == code
    assert "model.py:4  jax.tree_map: missing on jax 0.6.0, which the bounds admit" in out
    assert "Issues of functions that this code does not use: wrong-numbers." in out
    assert "source code cannot show whether yours is concerned: slow-thing." in out
    assert "To test in CI: jax 0.4.30 (the lowest admitted), jax 0.6.0. They show 1 of the 1 findings." in out

    model.write_text("import jax.numpy as jnp\n\njnp.pad(x, 1, mode='edge')\n")
    _, out = checked(["jax<0.7"], "--source", "src")
    assert "wrong-numbers (silent-wrong)" in out
    model.write_text("import jax\nif jax.__version_info__ >= (0, 7):\n    jax.numpy.pad(x, 1, mode='edge')\n")
    _, out = checked(["jax<0.7"], "--source", "src")
    assert "Issues of functions that this code does not use: wrong-numbers." in out


def test_the_lowest_release_is_among_those_to_test() -> None:
    """The lowest release is always tested; each further one shows the most remaining findings, at least one."""
    of = case("of", Rule("right", "jax<0.5.0", "run"), Rule("wrong", "", "run"))
    old = case("old", Rule("wrong", "jax==0.4.36", "run"), Rule("right", "", "run"))
    world = knowledge(issue("one", of, old))
    within = admitted(world, {"jax": SpecifierSet()})
    found = to_test(world, holes(world, within, ["jax"]), within)
    assert [("jax", "0.4.30", 0), ("jax", "0.7.0", 1), ("jax", "0.4.36", 1)] == [each[:3] for each in found]


@pytest.mark.parametrize(
    "dependencies",
    [
        ["jax"],
        ["diffrax>=0.6", "jax", "optimistix", "lineax", "jaxlib", "flax", "optax"],
        ["jax==0.4.18", "equinox==0.13.8"],
        ["jax>=99", "jaxlib>=99", "equinox>=99", "diffrax>=99", "lineax>=99", "optimistix>=99"],
    ],
)
def test_bounds_are_told_in_25_lines(
    dependencies: list[str], published: Knowledge, monkeypatch: pytest.MonkeyPatch, checked: Said
) -> None:
    """Wide bounds fit into the limit: the rest is counted, and --verbose lists it."""
    monkeypatch.setattr(known, "load", lambda: published)
    _, out = checked(dependencies)
    assert len(out.splitlines()) <= 25
    if "more: --verbose" in out:
        assert len(checked(dependencies, "--verbose")[1].splitlines()) > 25
