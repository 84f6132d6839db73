"""Whether a stack installs, imports and runs: the first line of an answer, on the published data."""

import json
from pathlib import Path

import pytest

from jax_stack_compat.base.errors import Exit
from jax_stack_compat.check import unpinned
from jax_stack_compat.check.answer import answer
from jax_stack_compat.check.inputs import locks, spoken
from jax_stack_compat.check.inputs.stack import Stack
from jax_stack_compat.check.knowledge import Knowledge
from jax_stack_compat.check.works import Works
from tests.check.conftest import Said
from tests.processes import within


def works(known: Knowledge, words: str) -> Works:
    """Return the judgement of a stack in words."""
    return answer(known, spoken.stack(words, known)).works


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            "jax==0.11.0 python==3.11",
            "jax 0.11.0 requires Python >=3.12, and 3.11 is here. Good: jax 0.10.2 (run) or",
        ),
        ("jax==0.9.2 python==3.9", "jax 0.9.2 requires Python >=3.11, and 3.9 is here."),
        (
            "jax==0.6.0 python==3.14",
            "jaxlib 0.6.0 has no wheel for CPython 3.14, but for cp310 to cp313. Good: jax 0.7.1",
        ),
        ("jax==0.6.0 jaxlib==0.7.0", "jax 0.6.0 requires jaxlib<=0.6.0,>=0.6.0, and 0.7.0 is here. Good: jaxlib 0.6.0"),
        ("jax==0.10.0 numpy==1.26.4", "jax 0.10.0 requires numpy>=2.0, and 1.26.4 is here."),
        ("jax==0.7.0 equinox==0.13.2", "equinox 0.13.2 requires jax!=0.7.0,!=0.7.1,>=0.4.38, and 0.7.0 is here."),
    ],
)
def test_an_installer_refuses_a_stack(published: Knowledge, words: str, told: str) -> None:
    """Metadata decides by Python, wheels and requirements, and the nearest set that installs is named."""
    found = works(published, words)
    assert found.sentence.startswith(f"This stack does not install: {told}")
    assert found.fails


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            "jax==0.10.0 numpyro==0.20.1",
            "numpyro 0.20.1 does not import beside jax 0.10.0 (run): it needs jax.extend.core.primitives.xla_pmap_p, "
            "which jax 0.9.2 had last. Good: numpyro 0.21.0 (run) or jax",
        ),
        (
            "jax==0.7.0 tensorflow-probability==0.25.0",
            "tensorflow-probability 0.25.0 does not import beside jax 0.7.0 (run): it needs "
            "jax.interpreters.xla.pytype_aval_mappings, which jax 0.6.2 had last. Good: jax 0.6.2 (run).",
        ),
        (
            "jax==0.4.25 numpy==2.0.0",
            "jax 0.4.25 crashes beside numpy 2.0.0 (by rule). Good: jax 0.4.26 (by rule) or numpy 1.26.4 (run).",
        ),
        (
            "jax==0.6.0 equinox==0.11.10",
            "equinox 0.11.10 does not import beside jax 0.6.0 (by rule). Good: equinox 0.11.11",
        ),
        (
            "jax==0.9.2 equinox==0.13.6 lineax==0.1.0 diffrax==0.7.0 optimistix==0.1.0",
            "implicit solve fails (implicit-steps-all-rejected, run).",
        ),
        (
            "jax==0.10.0 jax-cuda12-plugin==0.9.2",
            "jaxlib 0.10.0 does not use jax-cuda12-plugin 0.9.2, of another release.",
        ),
    ],
)
def test_a_stack_does_not_work(published: Knowledge, words: str, told: str) -> None:
    """Row zero, also without Diffrax, and the guests' cases tell what does not import or run."""
    found = works(published, words)
    assert found.sentence.startswith(f"This stack does not work: {told}")
    assert found.fails


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("jax==0.7.0", "Imports and computes (run; CPU, x86-64)."),
        (
            "jax==0.10.2 numpyro==0.21.0",
            "Imports and computes (run; CPU, x86-64); numpyro 0.21.0 imports and draws (by rule).",
        ),
        ("numpyro==0.21.0", "Imports and computes (run; CPU, x86-64); numpyro 0.21.0 imports and draws (run)."),
        ("jax==0.12.0.1 diffrax==0.7.2", "Imports and solves (run; CPU, x86-64)."),
        ("jax==0.7.0 chex==0.1.90", "Imports and computes (run; CPU, x86-64). Not known: chex 0.1.90."),
        ("jax==0.4.25", "Imports and computes (run; CPU, x86-64). Pin numpy: an installer gives "),
    ],
)
def test_a_stack_works(published: Knowledge, words: str, told: str) -> None:
    """What imports and runs is named, with how it is known; so are packages outside the data."""
    found = works(published, words)
    assert found.sentence.startswith(told)
    assert not found.fails


def test_a_good_release_is_good(published: Knowledge) -> None:
    """Each stack with a release that is called good works, by runs or rules."""
    for words in ("jax==0.10.0 numpyro==0.20.1", "jax==0.6.0 equinox==0.11.10", "jax==0.4.25 numpy==2.0.0"):
        for told in works(published, words).instead:
            release = "==".join(told.split(" ")[:2])
            moved = spoken.stack(release, published, spoken.stack(words, published))
            assert not answer(published, moved).works.fails, release


def test_an_unnamed_jax_is_the_newest_that_the_others_admit(published: Knowledge) -> None:
    """For Equinox alone, an installer takes the newest jax, and the answer says so."""
    found = answer(published, spoken.stack("equinox==0.11.10", published))
    assert published.releases["jax"][-1] == found.assumed["jax"]
    assert found.works.fails


@pytest.mark.parametrize("text", ["jax>=0.2.26", "jax", "jax>=0.4.30,<0.6\nequinox"])
def test_unpinned_is_answered_for_both_ends(published: Knowledge, tmp_path: Path, text: str) -> None:
    """Bounds stand for what an installer gives today and for the lowest releases in the data that they admit."""
    path = tmp_path / "requirements.txt"
    path.write_text(text)
    stack = locks.read(path)
    today, lowest = unpinned.today(stack, published), unpinned.lowest(stack, published)

    assert unpinned.is_unpinned(stack)
    for end, place in ((today, -1), (lowest, 0)):
        admitted = [each for each in published.releases["jax"] if stack.bounds["jax"].contains(each)]
        assert admitted[place] == end.versions["jax"]
        assert not end.unsaid


def test_source_on_an_unpinned_stack_fails_at_either_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    """A name that an end of the bounds lacks is a line to change, and the exit code is 1."""
    monkeypatch.chdir(tmp_path)
    Path("requirements.txt").write_text("jax>=0.4.18")
    Path("a.py").write_text("import jax\n\njax.tree_map(f, x)\njax.new_ref(x)\n")
    code, out = said("check", "--source", ".")
    assert (1, True) == (code, "1 place to change." in out)
    assert "The lowest releases in this data that the bounds admit, jax 0.4.18" in out


BUILT = [{"name": "jaxlib", "version": "0.6.2", "channel": "conda-forge", "build_string": "cuda129"}]


@pytest.mark.parametrize(
    ("name", "text", "build"),
    [
        ("environment.yml", 'dependencies: [python=3.12, jax=0.6.2, "jaxlib=0.6.2=cuda129*"]', "cuda129*"),
        ("list.json", json.dumps(BUILT), "cuda129"),
        (
            "pixi.lock",
            "version: 6\nenvironments: {default: {packages: {linux-64: [{conda: x/jaxlib-0.6.2-cuda129.conda}]}}}",
            "cuda129",
        ),
        (
            "conda-lock.yml",
            "version: 1\npackage: [{name: jaxlib, version: 0.6.2, manager: conda, platform: linux-64, "
            "url: https://conda.example.org/linux-64/jaxlib-0.6.2-cuda129py312_200.conda}]",
            "cuda129py312_200",
        ),
    ],
)
def test_a_conda_build_is_told(published: Knowledge, tmp_path: Path, name: str, text: str, build: str) -> None:
    """A CUDA build of conda was not run, and the answer says so."""
    path = tmp_path / name
    path.write_text(text)
    told = f"conda's CUDA build ({build}) of jaxlib was not run here: the data is from pip's CPU wheels."
    assert told in answer(published, locks.read(path)).unsure


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("environment.yml", 'dependencies: ["jax' + " " * 100_000 + 'x"]'),
        ("requirements.txt", "jax>=" + "1" * 5_000),
    ],
)
def test_an_odd_range_is_read_in_time(tmp_path: Path, name: str, text: str, said: Said) -> None:
    """A dependency with many spaces, or a bound that no version has, ends neither in a traceback nor in a wait."""
    path = tmp_path / name
    path.write_text(text)
    with within(20):
        code, _ = said("check", "--lock", str(path))
    assert code in (Exit.AS_EXPECTED, Exit.UNDECIDED, Exit.MISUSED)


def test_python_is_never_dropped(published: Knowledge) -> None:
    """A Python among versions is the stack's, also for an upgrade."""
    stack = spoken.stack("jax==0.10.2 python==3.11", published)
    assert ("3.11", "3.11") == (stack.python, spoken.stack("jax==0.11.0", published, stack).python)
    assert Stack({"jax": "0.10.2"}, "words").python == ""


def test_row_zero_is_no_issue_of_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    """A stack whose implicit solve fails is told in the first line, and no line of the source is concerned."""
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text("import jax.numpy as jnp\n\ndef f(x):\n    return jnp.stack([x, x])\n")
    stack = "jax==0.8.2 equinox==0.13.2 lineax==0.0.8 diffrax==0.7.0 optimistix==0.0.11"
    code, out = said("check", "--from", stack, "--source", ".", "--verbose")

    assert (1, True) == (code, out.startswith("This stack does not work: implicit solve fails"))
    assert "stack-smoke" not in out


@pytest.mark.parametrize(
    ("dependencies", "told"),
    [
        (["jax>=0.6", "equinox>=0.13"], "Not to admit, because a process dies there: "),
        (["jax>=0.6", "equinox>=0.13"], "jax 0.7.0 (static-function-in-a-weak-cache)"),
        (["jax>=0.4.30", "equinox==0.11.10"], "equinox 0.11.10 does not import beside jax"),
        (["jax>=0.4.30", "equinox==0.11.10"], "Add jax<0.6.0."),
        (["jax>=0.4.30", "equinox==0.11.10"], "To test in CI: jax 0.4.30 with equinox 0.11.10 (the lowest admitted), "),
    ],
)
def test_bounds_are_judged_by_row_zero(
    tmp_path: Path, dependencies: list[str], told: str, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    """Releases that work in no admitted set are named with a bound, and CI tests only sets that work."""
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").write_text(f"[project]\nname = 'x'\nversion = '0'\ndependencies = {dependencies}\n")
    code, out = said("check", "--bounds", "pyproject.toml")
    assert told in out
    assert out.startswith("What an installer gives today: ")
    assert len(out.splitlines()) <= 25
    assert code == 1


def test_a_text_may_be_longer_than_a_path(published: Knowledge) -> None:
    """A stack of many versions is read, though no file can have such a name."""
    words = " ".join(f"{name}=={releases[-1]}" for name, releases in published.releases.items())
    assert len(words) > 255
    assert published.releases["jax"][-1] == spoken.stack(words, published).versions["jax"]


def test_a_guest_outside_the_data_is_not_known(published: Knowledge) -> None:
    """No rule extends to a guest's release that is older than the data."""
    assert works(published, "jax==0.4.26 flax==0.7.5").sentence.endswith(" Not known: flax 0.7.5.")


@pytest.mark.parametrize(
    ("stack", "pins"),
    [
        ("jax==0.10.0 numpyro==0.20.1", "jax==0.9.2"),
        ("jax==0.6.0 equinox==0.11.10", "equinox==0.12.1"),
        ("jax==0.9.2 equinox==0.13.6 lineax==0.1.0 diffrax==0.7.0 optimistix==0.1.0", "diffrax==0.7.2"),
    ],
)
def test_constraints_of_a_stack_that_does_not_work_are_of_one_that_does(stack: str, pins: str, said: Said) -> None:
    """The set is the nearest that imports and runs, with the guests of the stack, and the first comment says why."""
    code, out = said("check", "--from", stack, "--format", "constraints")
    assert (1, True) == (code, out.startswith("# This stack does not work: "))
    assert pins in out.splitlines()
