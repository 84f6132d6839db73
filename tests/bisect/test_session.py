"""Bisection over releases, from command to answer: real locks, the real probe, and a stack of empty packages."""

import sys
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import Mock

import pytest

from jax_stack_compat.base import console
from jax_stack_compat.base.console import Terminal
from jax_stack_compat.base.errors import Exit
from jax_stack_compat.base.files import read
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.judge.record import Record
from jax_stack_compat.packages import PACKAGES
from jax_stack_compat.stack import lock, plan
from jax_stack_compat.stack.lock import Lock
from jax_stack_compat.stack.plan import Cell
from laboratory.cli.command_line import main
from laboratory.records import records
from laboratory.run import environment
from laboratory.run.environment import Environment, Unprepared
from tests.processes import program
from tests.worlds import pretend, ran

ENTRY = catalogue.entry("laboratory.cell.staged.by_release")
# jax 0.4.18 to 0.4.30: thirteen releases.
BETWEEN = ("--between", "0.4.18", "0.4.30")


@dataclass
class Bench:
    """A state folder, and cells whose packages contain only their version."""

    folder: Path
    capsys: pytest.CaptureFixture[str]
    broken: set[str] = field(default_factory=set)
    unprepared: dict[str, Unprepared] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)
    interrupted_after: int | None = None

    def bisect(self, *words: str) -> tuple[Exit, list[str]]:
        """Run `nox -s bisect`; return its exit code and the lines that it printed."""
        self.ran.clear()
        code = main(["bisect", *words])
        said = self.capsys.readouterr()
        return code, (said.out + said.err).splitlines()

    def prepare(self, cell: Cell, pinned: Lock) -> Environment:
        """Make the environment of a cell: an interpreter that finds those packages."""
        if len(self.ran) == self.interrupted_after:
            raise KeyboardInterrupt
        self.ran.append(cell.id)
        if cell.id in self.unprepared:
            raise self.unprepared[cell.id]
        packages = self.folder / "packages" / cell.id
        for name in (each for each in PACKAGES if each in pinned.pins):
            (packages / name).mkdir(parents=True, exist_ok=True)
            text = "1 / 0\n" if name == "jax" and cell.id in self.broken else f"__version__ = {pinned.pins[name]!r}\n"
            (packages / name / "__init__.py").write_text(text, encoding="utf-8")
        pretend(packages, pinned.pins)
        executable = program(packages / "python", f'PYTHONPATH="{packages}" exec "{sys.executable}" "$@"')
        return Environment(executable, "3.12.0")


@pytest.fixture
def bench(elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Bench:
    """Return a state folder with this folder's issue and without records."""
    made = Bench(elsewhere, capsys)
    monkeypatch.setattr(catalogue, "entries", lambda: (ENTRY,))
    monkeypatch.setattr(environment, "prepare", made.prepare)
    monkeypatch.setattr(environment, "ready", lambda cell, pinned: None)
    monkeypatch.setattr(console, "OUT", Terminal(1000))
    monkeypatch.setenv("CORPUS_FOLDER", str(elsewhere))
    return made


def attempts(*patches: int) -> list[int]:
    """Return the number of attempts in the records of `changes`, by the patch number of jax 0.4."""
    paths = [records.path_of(f"jax-0.4.{patch}", "by-release", "changes") for patch in patches]
    return [len(read(Record, path).attempts) for path in paths]


def test_the_release_is_found_and_both_sides_are_confirmed(bench: Bench) -> None:
    """The last line for an ISSUE's headline names both sides, runs and releases; each side has three attempts."""
    code, lines = bench.bisect("by-release", *BETWEEN)
    assert Exit.AS_EXPECTED is code
    assert lines[0].startswith("by-release/changes over 13 releases of jax, 0.4.18 to 0.4.30, in version order, ")
    assert [
        "as expected of jax 0.4.23: right (seen before)",
        "as expected of jax 0.4.24: wrong (seen since)",
        "first affected: jax 0.4.24 (wrong); jax 0.4.23 is not (right); exact; 6 cell runs over 13 releases",
    ] == lines[-3:]
    assert len(bench.ran) == 6
    assert [3, 3] == attempts(23, 24)


def test_an_interrupted_hunt_goes_on(bench: Bench) -> None:
    """After an interruption, a bisection runs only the missing cells; --fresh runs all of them."""
    bench.interrupted_after = 3
    with pytest.raises(KeyboardInterrupt):
        bench.bisect("by-release/changes", *BETWEEN)
    first = {*bench.ran}
    bench.interrupted_after = None
    _, lines = bench.bisect("by-release/changes", *BETWEEN)
    assert lines[-1].endswith("exact; 3 cell runs over 13 releases")
    assert 3 == len(first - {*bench.ran}) == len(bench.ran)
    _, lines = bench.bisect("by-release/changes", *BETWEEN)
    assert lines[-1].endswith("exact; 0 cell runs over 13 releases")
    _, lines = bench.bisect("by-release/changes", "--between", "0.4.23", "0.4.24", "--fresh")
    assert lines[-1].endswith("exact; 2 cell runs over 2 releases")


def test_a_record_of_one_attempt_is_confirmed_at_the_boundary_alone(bench: Bench) -> None:
    """A bisection uses records with one attempt, and runs only the two sides of the boundary again."""
    for version in ("0.4.18", "0.4.22", "0.4.23", "0.4.24", "0.4.27", "0.4.30"):
        entry = catalogue.narrowed(ENTRY, ["changes"])
        ran(plan.cell(f"jax-{version}"), [entry])
    assert [1] == attempts(23)
    _, lines = bench.bisect("by-release/changes", *BETWEEN)
    assert ["jax-0.4.23", "jax-0.4.24"] == bench.ran
    assert [1, 3, 3, 1] == attempts(22, 23, 24, 27)
    assert lines[-1].endswith("exact; 2 cell runs over 13 releases")


def test_what_cannot_be_tested_is_not_a_bad_release(bench: Bench) -> None:
    """Releases that cannot be installed, do not import or are flaky leave an interval, which names them and why."""
    bench.unprepared = {"jax-0.4.23": Unprepared("error", "install.hash", "uv pip sync: error: Hash mismatch")}
    bench.broken = {"jax-0.4.25"}
    code, lines = bench.bisect("by-release/wavers", "--between", "0.4.22", "0.4.26")
    assert Exit.INCOMPLETE is code
    assert (
        "first affected: between jax 0.4.22 (not affected: right), exclusive, and jax 0.4.26 (affected: wrong); "
        "not exact, because jax 0.4.23 is untestable: error (install.hash: uv pip sync: error: Hash mismatch); "
        "jax 0.4.24 is untestable: flaky (run.flaky: 1 of 3 right, 2 of 3 wrong); "
        "jax 0.4.25 is untestable: blocked (import.exception: import-error: import jax: ZeroDivisionError: "
        "division by zero); 5 cell runs over 5 releases"
    ) == lines[-1]


def test_a_machine_that_can_run_nothing_ends_the_hunt(bench: Bench) -> None:
    """A missing interpreter ends the bisection with one error and exit code 3; no release is blamed."""
    missing = Unprepared("unavailable", "plan.no-interpreter", "no CPython 3.12 on this machine")
    bench.unprepared = {"jax-0.4.18": missing}
    code, lines = bench.bisect("by-release/changes", *BETWEEN)
    assert Exit.INCOMPLETE is code
    assert "error: jax-0.4.18: no CPython 3.12 on this machine" in lines


def test_a_case_that_changes_several_times_is_followed(bench: Bench) -> None:
    """If the end points agree but the rules have changes between them, each boundary is printed."""
    code, lines = bench.bisect("by-release/again", "--between", "0.4.19", "0.4.27")

    # The rules place the second boundary one release too early.
    assert Exit.UNEXPECTED is code
    assert any(line.startswith("no boundary: the end points agree: jax 0.4.19 (affected: wrong)") for line in lines)
    found = [line.partition(" (")[0] for line in lines if line.startswith("first ")]
    assert ["first not affected: jax 0.4.21", "first affected: jax 0.4.26"] == found


def test_an_arm_is_searched_and_what_does_not_resolve_is_gone_round(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On an arm, one package moves and the others are held; a stack without a lock is untestable."""
    monkeypatch.setattr(lock, "resolve", Mock(side_effect=lock.Unresolvable("no solution found")))
    held = ("--hold", "diffrax==0.6.0", "--hold", "jax==0.4.35")
    code, lines = bench.bisect("by-release/library", "--package", "equinox", *held)
    assert Exit.AS_EXPECTED is code
    assert (
        "over 25 releases of equinox, 0.11.0 to 0.13.8, in version order, holding jax 0.4.35, diffrax 0.6.0" in lines[0]
    )
    assert lines[-1].startswith("first not affected: equinox 0.11.7 (right); equinox 0.11.6 is (wrong); exact; ")
    assert all(cell.startswith("jax-0.4.35+equinox-0.11.") for cell in bench.ran)


def test_what_else_changed_at_a_boundary_is_said(bench: Bench) -> None:
    """On the line, older jax comes with older Equinox: both are named, with the arm that distinguishes them."""
    _, lines = bench.bisect("by-release/library", "--between", "0.4.33", "0.4.34")

    assert lines[-2].startswith("it came with jax and jaxlib 0.4.33 → 0.4.34, equinox 0.11.6 → 0.11.7")
    assert lines[-2].endswith(": --package jax --hold equinox==0.11.6 tells them apart")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("by-releases", "no issue 'by-releases'; the nearest are by-release"),
        ("by-release/change", "by-release has no case 'change'; the nearest are changes"),
        ("by-release --package torch", "--package torch: no such package moves here; the nearest are"),
        ("by-release --package equinox", "no release of equinox can change it"),
        ("by-release --hold equinox==0.13.0", "by-release/changes needs jax alone"),
        ("by-release/library --hold equinox>=0.13", "--hold equinox>=0.13: not NAME==VERSION"),
        ("by-release/library --hold equinox==0.13.9", "releases.json has no such equinox; the nearest are"),
        ("by-release/library --hold jax==0.4.36", "jax moves, so it cannot be held"),
        ("by-release/library --package equinox --hold jax==0.4.32", "it was yanked"),
        ("by-release/library --hold equinox==0.13.0 --hold equinox==0.13.1", "equinox is held twice"),
        ("by-release --between 0.4 0.5.0", "--between: no jax '0.4' to run; the nearest are"),
        ("by-release --between 0.4.18 0.4.32", "--between: no jax '0.4.32' to run; the nearest are"),
        ("by-release --between 0.5.0 0.4.20", "0.5.0 does not come before 0.4.20"),
    ],
)
def test_what_cannot_be_meant_is_a_sentence(bench: Bench, words: str, said: str) -> None:
    """A wrong name, release or hold gives exit code 2 with the nearest valid one, before anything runs."""
    code, lines = bench.bisect(*words.split())
    assert Exit.MISUSED is code
    assert said in "\n".join(lines)
    assert [] == bench.ran
