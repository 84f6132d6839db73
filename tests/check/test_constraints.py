"""Constraints: an installable set of releases near a stack on which most of its issues are fixed."""

from pathlib import Path

import pytest
from packaging.requirements import Requirement

from jax_stack_compat.base.errors import Exit
from jax_stack_compat.cell.issue import Rule
from jax_stack_compat.check.answer import answer
from jax_stack_compat.check.findings import of_source, of_stack
from jax_stack_compat.check.inputs import locks
from jax_stack_compat.check.inputs.stack import Stack
from jax_stack_compat.check.knowledge import Knowledge, KnownCase
from jax_stack_compat.check.outcome import Outcome
from jax_stack_compat.check.output.constraints import Constraints, constraints
from jax_stack_compat.check.output.limits import Limits, limits
from jax_stack_compat.check.source.tree import usage
from jax_stack_compat.stack import uv_call
from laboratory.cli.command_line import main
from tests.check.conftest import Said
from tests.check.worlds import CELLS, case, issue, knowledge
from tests.processes import lacking


def rule(behaviour: str, on: str = "") -> Rule:
    """Return a rule that was run."""
    return Rule(behaviour, on, "run")


def told(world: Knowledge, python: str = "", **versions: str) -> list[str]:
    """Return the lines for a stack of these versions."""
    found = answer(world, Stack(versions, "uv.lock", python))
    return constraints(Outcome(found, world, tuple(of_stack(found, world)))).text.splitlines()


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
        ("0.5.0", "jax>=0.4.36,<0.7", "0.7.0"),  # farther than 0.4.30, but newer
        ("0.5.0", "jax>=0.5,<0.6.2", "0.6.2"),  # as near, but newer, although three releases are between
    ],
)
def test_the_nearest_of_the_best_is_taken(here: str, wrong: str, there: str) -> None:
    """The nearest set is newer, then the fewest minor releases away, then the fewest releases away."""
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


def project(folder: Path, dependencies: list[str]) -> Path:
    """Write a pyproject.toml with these dependencies."""
    path = folder / "pyproject.toml"
    lines = ["[project]", 'name = "p"', 'version = "1"', 'requires-python = ">=3.11"']
    path.write_text("\n".join([*lines, f"dependencies = {dependencies!r}"]) + "\n", encoding="utf-8")
    return path


def in_source(world: Knowledge, code: str, folder: Path, **versions: str) -> Constraints:
    """Return the constraints for a stack of these versions and a source with this code."""
    (folder / "code.py").write_text(code, encoding="utf-8")
    read = usage(folder)
    found = answer(world, Stack(versions, "uv.lock"))
    findings, source, _ = of_source(found, world, read)
    return constraints(Outcome(found, world, tuple(findings), source), read)


# Removed in jax 0.6.0.
TREE_MAP = "import jax\njax.tree_map(abs, jax.jit(abs)(1))\n"


def test_a_set_keeps_the_lines_of_the_source(tmp_path: Path) -> None:
    """A set that breaks no line comes first, although another set fixes more cases."""
    some = case("some", rule("wrong", "jax<0.5"), rule("right"), touches=("jax.jit",))
    more = case("more", rule("wrong", "jax<0.6"), rule("right"), touches=("jax.jit",))
    made = in_source(of(some, more), TREE_MAP, tmp_path, jax="0.4.30")

    assert ("jax==0.5.0", (), ()) == (pins(made.text.splitlines())[0], made.faults, made.broken)
    assert "# Cases that jax 0.6.0 would fix, but lines of the source fail there: 1 (one/more)." in made.text


def test_a_line_that_a_set_breaks_is_listed(tmp_path: Path) -> None:
    """If each set breaks a line, the nearest is given, and the line is a comment, a fault and a finding."""
    only = case("only", rule("wrong", "jax<0.6"), rule("right"), touches=("jax.jit",))
    made = in_source(of(only), TREE_MAP, tmp_path, jax="0.4.30")

    assert "jax==0.6.0" == pins(made.text.splitlines())[0]
    assert ("1 line of the source fails with this set: code.py:2 jax.tree_map",) == made.faults
    assert f"# {made.faults[0]}." in made.text
    assert ["jax.tree_map"] == [finding.name for finding in made.broken]


def test_a_line_that_fails_now_is_not_broken(tmp_path: Path) -> None:
    """A line that already fails on the stack does not count against a set."""
    only = case("only", rule("wrong", "jax<0.7"), rule("right"), touches=("jax.jit",))
    assert not in_source(of(only), TREE_MAP, tmp_path, jax="0.6.0").broken


def within(text: str) -> Limits:
    """Return limits from requirements."""
    wanted = map(Requirement, text.split())
    return Limits({each.name: each.specifier for each in wanted}, ("pyproject.toml",))


@pytest.mark.parametrize(
    ("bounds", "jax", "numpy"),
    [
        ("", "0.6.0", "1.26.4"),  # The stack's NumPy stays where it works.
        ("jax<0.6 numpy<2", "0.4.36", "1.26.4"),
        ("jax!=0.6.0", "0.7.0", "1.26.4"),
        ("numpy>=2.1", "0.6.0", "2.5.5"),
        ("scipy<1.11.1", "", ""),  # Each jax of this world requires a newer SciPy, on Python 3.12.
        ("jaxlib<0.5", "0.4.36", "1.26.4"),
    ],
)
def test_a_set_is_within_the_bounds(bounds: str, jax: str, numpy: str) -> None:
    """A set keeps the project's bounds, also those on packages that only its own packages require."""
    only = case("only", rule("wrong", "jax<0.4.36"), rule("right"))
    more = case("more", rule("wrong", "jax<0.6"), rule("right"))
    found = answer(world := of(only, more), Stack({"jax": "0.4.30", "numpy": "1.26.4"}, "uv.lock"))
    outcome = Outcome(found, world, tuple(of_stack(found, world)))
    made = pins(constraints(outcome, None, within(bounds)).text.splitlines())
    assert ([f"jax=={jax}", f"jaxlib=={jax}", f"numpy=={numpy}"] if jax else []) == made


def test_a_downgrade_comes_last_and_has_a_reason() -> None:
    """A set that downgrades a package is given only if no other helps, with the reason."""
    both = case("both", rule("right", "jax<0.5"), rule("wrong", "jax<0.7"), rule("right"))
    old = case("old", rule("right", "jax<0.5"), rule("wrong"))
    assert "jax==0.7.0" in pins(told(of(both, old), jax="0.5.0"))
    lines = told(of(old), jax="0.5.0")
    assert "# Downgraded: jax 0.5.0 to 0.4.36; no set without a downgrade fixes more cases than it breaks." in lines


def test_a_set_has_the_plugin_of_its_jax(published: Knowledge) -> None:
    """A stack with CUDA's plugin and runtime gets those that its new jax requires."""
    versions = {"jax": "0.4.30", "numpy": "1.26.4", "jax-cuda12-plugin": "0.4.30", "jax-cuda12-pjrt": "0.4.30"}
    made = dict(line.split("==") for line in pins(told(published, **versions)))
    assert {"jax", "jaxlib", "numpy", "jax-cuda12-plugin", "jax-cuda12-pjrt"} == made.keys()
    assert made["jax"] == made["jax-cuda12-plugin"] == made["jax-cuda12-pjrt"] != "0.4.30"


def test_a_plugin_without_data_is_named(published: Knowledge) -> None:
    """A plugin that no jax of the data requires is not pinned, and the answer says so."""
    found = answer(published, Stack({"jax": "0.4.30", "jax-rocm60-plugin": "0.4.30"}, "uv.lock"))
    made = constraints(Outcome(found, published, tuple(of_stack(found, published))))
    assert ("jax-rocm60-plugin is not pinned: this data does not have its releases",) == made.faults


@pytest.mark.parametrize(
    ("files", "kept"),
    [
        ({"requirements.txt": "jax==0.4.30\nnumpy<2\n"}, {"numpy": "<2"}),
        ({"requirements.txt": "jax==0.4.30\n", "pyproject.toml": "numpy<2"}, {"numpy": "<2", "jax": ">=0.4"}),
        (
            {"requirements.txt": "jax==0.4.30\nnumpy>=1.26, <2\n", "pyproject.toml": "numpy"},
            {"numpy": "<2,>=1.26", "jax": ">=0.4"},
        ),
    ],
)
def test_the_bounds_are_those_of_the_file_and_its_project(
    files: dict[str, str], kept: dict[str, str], tmp_path: Path
) -> None:
    """The bounds of the file that was read hold, and those of the pyproject.toml beside it."""
    for name, text in files.items():
        path = tmp_path / name
        if name == "pyproject.toml":
            project(tmp_path, ["jax>=0.4", text])
        else:
            path.write_text(text, encoding="utf-8")
    project_file = tmp_path / "pyproject.toml"
    found = limits(locks.read(tmp_path / "requirements.txt"), project_file if project_file.exists() else None)
    assert kept == {name: str(of) for name, of in found.bounds.items() if str(of)}


def test_a_project_with_only_bounds_gets_a_set(world: Path, said: Said) -> None:
    """The set is the newest within the bounds, or one that fixes more cases; a baseline hides known findings."""
    path = str(project(world, ["jax>=0.4.36,<0.7", "numpy<2.3"]))
    asked = ("check", "--bounds", path, "--format", "constraints")
    code, out = said(*asked)
    assert Exit.AS_EXPECTED == code
    assert ["jax==0.5.0", "jaxlib==0.5.0", "numpy<2.3"] == pins(out.splitlines())
    assert f"# The newest within the bounds of {path}: jax 0.6.0" in out

    assert Exit.AS_EXPECTED == said(*asked, "--write-baseline", "known.json")[0]
    _, out = said(*asked, "--baseline", "known.json")
    assert ["jax==0.6.0", "jaxlib==0.6.0", "numpy<2.3"] == pins(out.splitlines())


def test_a_broken_line_is_said_aloud(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """If the set breaks a line, standard error says so, and the exit code is 1."""
    project(world, ["jax>=0.6"])
    (world / "code.py").write_text(TREE_MAP, encoding="utf-8")
    code = main(["check", "--format", "constraints", "--source", "code.py"])

    assert (Exit.UNEXPECTED, True) == (code, "code.py:2 jax.tree_map" in capsys.readouterr().err)


def test_bounds_that_admit_no_stack_have_no_set(world: Path, said: Said) -> None:
    """If no stack that was run is within the bounds, the answer says so."""
    code, out = said("check", "--bounds", str(project(world, ["jax<0.4"])), "--format", "constraints")
    assert (Exit.UNDECIDED, True) == (code, "no tested stack is within its bounds" in out)


STACKS = [
    {"jax": "0.4.30", "equinox": "0.11.4", "diffrax": "0.6.0"},
    {"jax": "0.4.20"},
    {"jax": "0.7.2", "equinox": "0.13.2", "lineax": "0.0.8"},
    {"jax": "0.10.2", "equinox": "0.13.8", "diffrax": "0.7.2", "lineax": "0.1.1", "optimistix": "0.1.0"},
    {"jax": "0.6.0", "equinox": "0.11.4"},
    {"jax": "0.4.30", "numpy": "1.26.4", "jax-cuda12-plugin": "0.4.30", "jax-cuda12-pjrt": "0.4.30"},
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


# The dependencies of released packages, as their metadata lists them.
PROJECTS = {
    "numpyro-0.22.0": ["jax>=0.7.0", "jaxlib>=0.7.0", "multipledispatch", "numpy", "tqdm"],
    "flax-0.8.2": [
        *("numpy>=1.22", "jax>=0.4.19", "msgpack", "optax", "orbax-checkpoint", "tensorstore", "rich>=11.1"),
        *("typing-extensions>=4.2", "PyYAML>=5.4.1"),
    ],
    "blackjax-1.7.1": [
        *("jax>=0.9.0", "jaxlib>=0.9.0", "numpy>=1.25", "optax>=0.2.3", "scipy>=1.13", "typing-extensions>=4.4.0"),
    ],
    "jaxopt-0.8.5": ["jax>=0.2.18", "jaxlib>=0.1.69", "numpy>=1.18.4", "scipy>=1.0.0"],
    "diffrax-0.7.2": [
        *("equinox>=0.11.10", "jax>=0.4.38", "jaxtyping>=0.2.24", "lineax>=0.0.5", "optimistix>=0.1.0"),
        *("typing-extensions>=4.5.0", "wadler-lindig>=0.1.1"),
    ],
    "equinox-0.13.8": [
        "jax!=0.7.0,!=0.7.1,>=0.4.38",
        *("jaxtyping>=0.2.20", "typing-extensions>=4.5.0", "wadler-lindig>=0.1.0"),
    ],
    "ott-jax-0.6.0": ["jax>=0.4.0", "jaxopt>=0.8", "lineax>=0.0.7", "numpy>=1.20.0", "optax>=0.2.4"],
    "gpjax-1.0.0": [
        *("beartype>0.16.1", "equinox>=0.11.0", "jax<0.11,>=0.5.0", "jaxlib<0.11,>=0.5.0", "jaxtyping>0.2.10"),
        *("lineax>=0.0.6", "numpy>=2.0.0", "numpyro>=0.19.0", "optax>0.2.1", "paramax>=0.0.5", "rich>=13.0.0"),
        *("scipy>=1.14", "tqdm>4.66.2"),
    ],
    "scico-0.0.7": [
        *("typing_extensions", "numpy>=2.0", "scipy>=1.13", "imageio>=2.17", "tifffile", "matplotlib"),
        *("jaxlib<=0.8.1,>=0.5.0", "jax<=0.8.1,>=0.5.0", "flax<=0.12.0,>=0.8.0", "pyabel>=0.9.0"),
    ],
    "netket-3.23.0": [
        *("einops>=0.8.1", "equinox>=0.12.2", "flax>=0.10.6", "igraph>=0.10.0", "jax>=0.7.0", "numba>=0.59"),
        *("numpy<3.0,>=1.20", "optax<0.3,>=0.2.2", "orjson<4,>=3.10.7", "plum-dispatch>=2.4", "rich>=12.0"),
        *("scipy<2,>=1.5.3", "sparse>=0.12.0", "tqdm<5,>=4.60"),
    ],
}


@pytest.mark.usefixtures("_index")
@pytest.mark.parametrize("name", PROJECTS)
def test_a_set_installs_with_a_project_that_has_only_bounds(name: str, tmp_path: Path, said: Said) -> None:
    """uv resolves the dependencies of a released package under the set for its bounds."""
    path = project(tmp_path, PROJECTS[name])
    _, out = said("check", "--bounds", str(path), "--format", "constraints")
    (tmp_path / "constraints.txt").write_text(out, encoding="utf-8")

    assert "jax" in {Requirement(line).name for line in pins(out.splitlines())}
    assert not resolved("\n".join(PROJECTS[name]), "--constraint", str(tmp_path / "constraints.txt"))
