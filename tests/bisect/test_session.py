"""Bisection over releases, from command to answer: real locks, the real probe, and a stack of empty packages."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from rich.console import Console

from suite import commands
from suite.__main__ import main
from suite.errors import Exit
from suite.files import read
from suite.judge.record import Record
from suite.run import catalogue, cell_run, environment, records
from suite.run.catalogue import Entry
from suite.run.environment import Environment, Unprepared
from suite.stack import lock, plan, releases
from suite.stack.lock import Lock
from suite.stack.plan import Cell

ENTRY = catalogue.entry("tests.bisect.by_release")
PYTHON = "3.12.0"
# jax 0.4.18 to 0.4.30: thirteen releases.
BETWEEN = ("--between", "0.4.18", "0.4.30")


@dataclass
class Bench:
    """A state folder, and cells whose packages hold their version alone."""

    folder: Path
    broken: set[str] = field(default_factory=set)
    unprepared: set[str] = field(default_factory=set)
    ran: list[str] = field(default_factory=list)
    before_cell: Callable[[], None] = lambda: None

    def prepare(self, cell: Cell, pinned: Lock) -> Environment:
        """Make the environment of a cell: an interpreter that finds those packages."""
        self.before_cell()
        self.ran.append(cell.id)
        if cell.id in self.unprepared:
            raise Unprepared("error", "install.hash", "uv pip sync: error: Hash mismatch")
        packages = self.folder / "packages" / cell.id
        for name in (each for each in releases.PACKAGES if each in pinned.pins):
            (packages / name).mkdir(parents=True, exist_ok=True)
            text = "1 / 0\n" if name == "jax" and cell.id in self.broken else f"__version__ = {pinned.pins[name]!r}\n"
            (packages / name / "__init__.py").write_text(text, encoding="utf-8")
        executable = packages / "python"
        executable.write_text(f'#!/bin/sh\nPYTHONPATH="{packages}:$PYTHONPATH" exec "{sys.executable}" "$@"\n')
        executable.chmod(0o755)
        return Environment(executable, PYTHON)

    def ready(self, cell: Cell, pinned: Lock) -> Environment | None:
        """The environment of a cell, where there is one."""
        executable = self.folder / "packages" / cell.id / "python"
        return Environment(executable, PYTHON) if executable.exists() else None

    def forget(self) -> None:
        """Start counting anew."""
        self.ran.clear()


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A bench with the issue of this folder, and nothing on record."""
    made = Bench(tmp_path)
    monkeypatch.setattr(catalogue, "entries", lambda: (ENTRY,))
    monkeypatch.setattr(environment, "prepare", made.prepare)
    monkeypatch.setattr(environment, "ready", made.ready)
    monkeypatch.setattr(environment, "ENVIRONMENTS", tmp_path / "envs")
    monkeypatch.setattr(records, "RECORDS", tmp_path / "records")
    monkeypatch.setattr(cell_run, "LOGS", tmp_path / "logs")
    monkeypatch.setattr(lock, "ASKED_FOR", tmp_path / "locks")
    monkeypatch.setattr(commands, "OUT", Console(highlight=False, width=1000))
    monkeypatch.setenv("CORPUS_FOLDER", str(tmp_path))
    return made


def bisect(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[Exit, list[str]]:
    """Run `python -m suite bisect`; its exit code, and the lines it printed."""
    code = main(["bisect", *words])
    said = capsys.readouterr()
    return code, (said.err if code is Exit.MISUSED else said.out).splitlines()


def attempts(cell: str, case: str) -> int:
    """How many attempts the record of a case holds."""
    found = read(Record, records.path_of(cell, "by-release", case))
    return len(found.attempts)


def narrowed(case: str) -> Entry:
    """The issue with this case alone."""
    only = tuple(each for each in ENTRY.issue.cases if each.id == case)
    return replace(ENTRY, issue=replace(ENTRY.issue, cases=only))


class Silent:
    """Tells nobody."""

    def say(self, message: str) -> None:
        """Keep it."""

    def step(self, done: int, total: int, issue: str, case: str) -> None:
        """Keep it."""


def test_the_release_is_found_and_both_sides_are_confirmed(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    """The last line names both sides, the runs and the releases; each side was attempted three times."""
    code, lines = bisect(capsys, "by-release/changes", *BETWEEN)
    assert Exit.AS_EXPECTED is code
    assert (
        "first affected: jax 0.4.24 (wrong); jax 0.4.23 is not (right); exact; 6 cell runs over 13 releases"
    ) == lines[-1]
    assert "as expected of jax 0.4.23: right (seen before)" in lines
    assert "as expected of jax 0.4.24: wrong (seen since)" in lines
    assert len(bench.ran) == 6
    assert [3, 3] == [attempts(cell, "changes") for cell in ("jax-0.4.23", "jax-0.4.24")]


def test_an_issue_alone_means_its_headline(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    """ISSUE is its first case."""
    _, lines = bisect(capsys, "by-release", "--between", "0.4.23", "0.4.24")
    assert lines[0].startswith("by-release/changes over 2 releases of jax")


def test_an_interrupted_hunt_goes_on(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    """What had been run is not run again, and the rest is what was missing."""

    def interrupt() -> None:
        if len(bench.ran) == 3:
            raise KeyboardInterrupt

    bench.before_cell = interrupt
    with pytest.raises(KeyboardInterrupt):
        bisect(capsys, "by-release/changes", *BETWEEN)
    first = [*bench.ran]
    bench.before_cell = lambda: None
    bench.forget()
    _, lines = bisect(capsys, "by-release/changes", *BETWEEN)
    assert lines[-1].endswith("exact; 3 cell runs over 13 releases")
    assert 3 == len(first) == len(bench.ran)
    assert set(first).isdisjoint(bench.ran)
    bench.forget()
    _, lines = bisect(capsys, "by-release/changes", *BETWEEN)
    assert lines[-1].endswith("exact; 0 cell runs over 13 releases")
    bisect(capsys, "by-release/changes", *BETWEEN, "--fresh")
    assert 6 == len(bench.ran)


def test_a_record_of_one_attempt_is_confirmed_at_the_boundary_alone(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    """What an ordinary run left is used; only the two sides are run again, as it takes more than one attempt there."""
    for version in ("0.4.18", "0.4.22", "0.4.23", "0.4.24", "0.4.27", "0.4.30"):
        cell_run.run(plan.cell(f"jax-{version}"), [narrowed("changes")], fresh=False, progress=Silent())
    assert 1 == attempts("jax-0.4.23", "changes")
    bench.forget()
    _, lines = bisect(capsys, "by-release/changes", *BETWEEN)
    assert ["jax-0.4.23", "jax-0.4.24"] == bench.ran
    assert [1, 3, 3, 1] == [attempts(f"jax-0.4.{patch}", "changes") for patch in (22, 23, 24, 27)]
    assert lines[-1].endswith("exact; 2 cell runs over 13 releases")


def test_a_broken_build_is_not_a_bad_release(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    """Releases that do not import, or cannot be installed, leave an interval, and are named with the reason."""
    bench.broken, bench.unprepared = {"jax-0.4.24"}, {"jax-0.4.23"}
    code, lines = bisect(capsys, "by-release/changes", *BETWEEN)
    assert Exit.INCOMPLETE is code
    assert (
        "first affected: between jax 0.4.22 (not affected: right), exclusive, and jax 0.4.25 (affected: wrong); "
        "not exact, because jax 0.4.23 is untestable: error (install.hash: uv pip sync: error: Hash mismatch); "
        "jax 0.4.24 is untestable: blocked (import.exception: import-error: import jax: ZeroDivisionError: "
        "division by zero)"
    ) in lines[-1]


def test_attempts_that_disagree_decide_nothing(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    """A release where attempts differ is flaky, and so on neither side."""
    code, lines = bisect(capsys, "by-release/wavers", *BETWEEN)
    assert Exit.INCOMPLETE is code
    assert "between jax 0.4.23 (not affected: right), exclusive, and jax 0.4.25 (affected: wrong)" in lines[-1]
    assert "jax 0.4.24 is untestable: flaky (run.flaky: 1 of 3 right, 2 of 3 wrong)" in lines[-1]


def test_a_machine_that_can_run_nothing_ends_the_hunt(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the interpreter or the network is missing no release is blamed: one sentence, and exit code 3."""

    def nowhere(cell: Cell, pinned: Lock) -> Environment:
        raise Unprepared("unavailable", "plan.no-interpreter", "no CPython 3.12 on this machine")

    monkeypatch.setattr(environment, "prepare", nowhere)
    code = main(["bisect", "by-release/changes", *BETWEEN])
    assert Exit.INCOMPLETE is code
    assert "error: jax-0.4.18: no CPython 3.12 on this machine" in capsys.readouterr().err


def test_a_case_that_changes_several_times_is_followed(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the end points agree and the rules have it change between them, each boundary is found, and printed."""
    code, lines = bisect(capsys, "by-release/again", *BETWEEN)

    # Its rules have the second boundary one release too early.
    assert Exit.UNEXPECTED is code
    assert any(line.startswith("no boundary: the end points agree: jax 0.4.18 (affected: wrong)") for line in lines)
    found = [line.partition(" (")[0] for line in lines if line.startswith("first ")]
    assert ["first not affected: jax 0.4.21", "first affected: jax 0.4.26"] == found


def test_a_scan_finds_bad_good_bad(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    """Every release is run, every interval told, and where it is not as expected that is said with the evidence."""
    code, lines = bisect(capsys, "by-release/again", *BETWEEN, "--scan")
    assert Exit.UNEXPECTED is code
    assert "3 intervals; 13 cell runs over 13 releases" == lines[-1]
    assert [
        "✗ jax 0.4.18 to 0.4.20: affected (wrong)",
        "✓ jax 0.4.21 to 0.4.25: clear (right)",
        # What 0.4.31 does is not known.
        "✗ jax 0.4.26 to 0.4.30: affected (wrong), not exact",
        "not as expected of jax 0.4.25: right was seen, and wrong expected (thought to have come back with 0.4.25)",
    ] == lines[-5:-1]
    bench.forget()
    code, lines = bisect(capsys, "by-release/again", "--between", "0.4.21", "0.4.30")
    assert Exit.UNEXPECTED is code
    assert lines[-1].startswith("first affected: jax 0.4.26 (wrong); jax 0.4.25 is not (right); exact; ")
    assert {"jax-0.4.25", "jax-0.4.26"}.issuperset(bench.ran)


def test_what_the_end_points_contradict_is_said(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    """--find first-clear where the newer end is affected: one sentence and exit code 1."""
    code, lines = bisect(capsys, "by-release/changes", *BETWEEN, "--find", "first-clear")
    assert Exit.UNEXPECTED is code
    assert (
        "the end points show the opposite: jax 0.4.18 (not affected: right) and jax 0.4.30 (affected: wrong), so that "
        "there is a --find first-affected; 2 cell runs over 13 releases"
    ) == lines[-1]


def test_an_arm_is_searched_and_what_does_not_resolve_is_gone_round(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Along an arm the package moves and the rest is held; a stack without a lock is one that cannot be tested."""

    def refuse(cell: Cell) -> tuple[str, dict[str, str]]:
        raise lock.Unresolvable("no solution found")

    monkeypatch.setattr(lock, "resolve", refuse)
    held = ("--hold", "diffrax==0.6.0", "--hold", "jax==0.4.35")
    code, lines = bisect(capsys, "by-release/library", "--package", "equinox", *held)
    assert Exit.AS_EXPECTED is code
    assert (
        "over 25 releases of equinox, 0.11.0 to 0.13.8, in version order, holding jax 0.4.35, diffrax 0.6.0" in lines[0]
    )
    assert lines[-1].startswith("first not affected: equinox 0.11.7 (right); equinox 0.11.6 is (wrong); exact; ")
    assert all(cell.startswith("jax-0.4.35+equinox-0.11.") for cell in bench.ran)


def test_what_else_changed_at_a_boundary_is_said(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    """On the line an older Equinox went with an older jax: both are named, with the arm that tells them apart."""
    _, lines = bisect(capsys, "by-release/library", "--between", "0.4.33", "0.4.34")

    assert lines[-2].startswith("it came with jax and jaxlib 0.4.33 → 0.4.34, equinox 0.11.6 → 0.11.7")
    assert lines[-2].endswith(": --package jax --hold equinox==0.11.6 tells them apart")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("by-releases",), "no issue 'by-releases'; the nearest are by-release"),
        (("by-release/change",), "by-release has no case 'change'; the nearest are changes"),
        (("by-release", "--package", "torch"), "--package torch: no such package moves here; the nearest are"),
        (("by-release", "--package", "equinox"), "no release of equinox can change it"),
        (("by-release", "--hold", "equinox==0.13.0"), "by-release/changes needs jax alone"),
        (("by-release/library", "--hold", "equinox>=0.13"), "--hold equinox>=0.13: not NAME==VERSION"),
        (("by-release/library", "--hold", "equinox==0.13.9"), "releases.json has no such equinox; the nearest are"),
        (("by-release/library", "--hold", "torch==2.0"), "what can be held is jax, jaxlib, equinox"),
        (("by-release/library", "--hold", "jax==0.4.36"), "jax is what moves, so it cannot be held"),
        (("by-release/library", "--package", "equinox", "--hold", "jax==0.4.32"), "it was yanked"),
        (("by-release/library", *("--hold", "equinox==0.13.0") * 2), "equinox is held twice"),
        (("by-release", "--between", "0.4", "0.5.0"), "--between: no jax '0.4' to run; the nearest are"),
        (("by-release", "--between", "0.4.18", "0.4.32"), "--between: no jax '0.4.32' to run; the nearest are"),
        (("by-release", "--between", "0.5.0", "0.4.20"), "0.5.0 does not come before 0.4.20"),
        (("by-release", "--between", "0.5.0", "0.5.0"), "0.5.0 does not come before 0.5.0"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_what_cannot_be_meant_is_a_sentence(
    bench: Bench, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    """A mistaken name, release or hold is told with what may have been meant, before anything runs: exit code 2."""
    code, lines = bisect(capsys, *words)
    assert Exit.MISUSED is code
    assert said in "\n".join(lines)
    assert [] == bench.ran
