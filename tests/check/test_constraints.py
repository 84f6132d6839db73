"""Constraints: an installable set of releases near a stack on which most of its issues are fixed."""

from pathlib import Path

import pytest
from packaging.requirements import Requirement

from jax_stack_compat.cell.issue import Rule
from jax_stack_compat.check.answer import answer
from jax_stack_compat.check.findings import of_stack
from jax_stack_compat.check.inputs.stack import Stack
from jax_stack_compat.check.knowledge import Knowledge, KnownCase
from jax_stack_compat.check.outcome import Outcome
from jax_stack_compat.check.output.constraints import constraints
from jax_stack_compat.stack import uv_call
from tests.check.worlds import CELLS, case, issue, knowledge
from tests.processes import lacking


def rule(behaviour: str, on: str = "") -> Rule:
    """Return a rule that was run."""
    return Rule(behaviour, on, "run")


def told(world: Knowledge, python: str = "", **versions: str) -> list[str]:
    """Return the lines for a stack of these versions."""
    found = answer(world, Stack(versions, "uv.lock", python))
    return constraints(Outcome(found, world, tuple(of_stack(found)))).splitlines()


def pins(lines: list[str]) -> list[str]:
    """Return the lines that are not comments."""
    return [line for line in lines if not line.startswith("#")]


def of(*cases: KnownCase) -> Knowledge:
    """Return a world of one issue with these cases."""
    return knowledge(issue("one", *cases))


def test_a_set_says_what_it_mends_and_what_it_does_not() -> None:
    """The set is in pins; comments say what it fixes and what remains."""
    lines = told(knowledge(), jax="0.4.30")
    assert ["jax==0.5.0", "jaxlib==0.5.0"] == pins(lines)
    assert "# These releases were run together, as jax-0.5.0." in lines
    assert "# Cases that they fix: 1 (wrong-numbers/mended)." in lines
    assert "# Cases still affected: 1 (wrong-numbers/loud)." in lines
    assert "# Cases that no tested stack of these packages fixes: 1." in lines
    assert lines[-1].startswith("# Looked up 3 cases")


def test_absent_is_not_well() -> None:
    """An absent feature does not count as fixed, so no release is advised."""
    gone = case(
        "gone", rule("wrong", "jax<0.5"), rule("no-more"), behaviours={"wrong": "affected", "no-more": "absent"}
    )
    lines = told(of(gone), jax="0.4.30")
    assert not pins(lines)
    assert "# No tested stack of these packages fixes more cases than it breaks." in lines
    mended = case("mended", rule("wrong", "jax<0.5"), rule("right"))
    lines = told(of(gone, mended), jax="0.4.30")
    assert "# Cases that are absent, refused or unknown with them: 1 (one/gone)." in lines


@pytest.mark.parametrize(
    ("here", "wrong", "there"),
    [
        ("0.5.0", "jax==0.5.0", "0.6.0"),  # as near as 0.4.36, but newer
        ("0.4.30", "jax==0.4.30", "0.4.36"),  # of the same minor release
        ("0.4.30", "jax<0.6", "0.6.0"),
        ("0.7.0", "jax>=0.6", "0.5.0"),
        ("0.5.0", "jax>=0.4.36,<0.7", "0.4.30"),  # two minor releases newer, so farther
        ("0.5.0", "jax>=0.5,<0.6.2", "0.6.2"),  # as near, but newer, although three releases are between
    ],
)
def test_the_nearest_of_the_best_is_taken(here: str, wrong: str, there: str) -> None:
    """The nearest set is the fewest minor releases away, then newer, then the fewest releases away."""
    cells = {**CELLS, **{of: {"jax": of, "jaxlib": of} for of in ("0.6.1", "0.6.2")}}
    only = case("only", rule("wrong", wrong), rule("right"), cells=cells)
    assert f"jax=={there}" in pins(told(knowledge(issue("one", only), cells=cells), jax=here))


def test_what_cannot_be_had_together_is_told() -> None:
    """The best set fixes most; comments name the sets that fix the rest."""
    old = case("old", rule("right", "jax<0.5"), rule("wrong"))
    new = [case(f"new-{each}", rule("wrong", "jax<0.6"), rule("right")) for each in "ab"]
    lines = told(of(old, *new), jax="0.5.0")
    assert ["jax==0.6.0", "jaxlib==0.6.0"] == pins(lines)
    assert "# Cases that jax 0.4.36 would fix: 1 (one/old)." in lines


def test_what_breaks_as_much_as_it_mends_is_not_asked_for() -> None:
    """A release that fixes one case and breaks another is not advised."""
    one = case("one", rule("wrong", "jax<0.5"), rule("right"))
    other = case("other", rule("right", "jax<0.5"), rule("wrong"))
    assert not pins(told(of(one, other), jax="0.4.30"))
    third = case("third", rule("wrong", "jax<0.5"), rule("right"))
    lines = told(of(one, other, third), jax="0.4.30")
    assert "# Cases that they newly affect: 1 (one/other)." in lines


def test_a_set_is_what_its_metadata_admits() -> None:
    """A stack that was run against its packages' metadata is not advised."""

    def advised(jax: str) -> list[str]:
        cells = {**CELLS, "over": {"jax": jax, "jaxlib": jax, "equinox": "0.13.8"}}
        wrong = case("only", rule("wrong", "equinox<0.13"), rule("right"), needs=("jax", "equinox"), cells=cells)
        return pins(told(knowledge(issue("one", wrong), cells=cells), jax="0.5.0", equinox="0.12.0"))

    assert not advised("0.7.0")
    assert "equinox==0.13.8" in advised("0.7.2")


def test_a_set_is_for_the_python_that_is_there() -> None:
    """A release without wheels for the user's Python is not advised."""
    assert not pins(told(knowledge(), python="3.8.1", jax="0.4.30"))
    assert not pins(told(knowledge(), python="3.14.0", jax="0.4.30"))
    assert pins(told(knowledge(), python="3.11.7", jax="0.4.30"))


def test_without_a_jax_there_is_no_set() -> None:
    """The set needs the version of jax."""
    assert not pins(told(knowledge(), equinox="0.12.0"))


STACKS = [
    {"jax": "0.4.30", "equinox": "0.11.4", "diffrax": "0.6.0"},
    {"jax": "0.4.20"},
    {"jax": "0.7.2", "equinox": "0.13.2", "lineax": "0.0.8"},
    {"jax": "0.10.2", "equinox": "0.13.8", "diffrax": "0.7.2", "lineax": "0.1.1", "optimistix": "0.1.0"},
    {"jax": "0.6.0", "equinox": "0.11.4"},
]


@pytest.mark.parametrize("versions", STACKS, ids=str)
def test_a_set_is_short(versions: dict[str, str], published: Knowledge) -> None:
    """The set has one pin for each package and few comments."""
    lines = told(published, **versions)
    assert len(lines) <= 25
    assert {*versions, "jaxlib"} == {Requirement(line).name for line in pins(lines)}


def resolved(asked: str, *words: str) -> str:
    """Return uv's complaint about these requirements, empty if it finds a set."""
    ran = uv_call.run("pip", "compile", "--quiet", "--no-header", "--python-version", "3.12", *words, "-", asked=asked)
    return ran.stderr if ran.returncode else ""


@pytest.fixture(scope="module")
def _index() -> None:
    if said := resolved("jax"):
        lacking(f"no index answers on this machine: {said}")


@pytest.mark.usefixtures("_index")
@pytest.mark.parametrize("versions", STACKS, ids=str)
def test_an_installer_can_have_a_set(versions: dict[str, str], published: Knowledge, tmp_path: Path) -> None:
    """uv accepts the lines as constraints for the user's packages."""
    path = tmp_path / "constraints.txt"
    path.write_text("\n".join(told(published, **versions)) + "\n", encoding="utf-8")
    assert not resolved("\n".join(versions), "--constraint", str(path))
