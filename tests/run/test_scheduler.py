"""Several probes at a time: cases side by side, cases alone, and interruptions."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from jax_stack_compat.base import guardian
from jax_stack_compat.base.files import ROOT, read
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell import machine
from jax_stack_compat.judge import verdicts
from jax_stack_compat.judge.record import Outcome, Part, Record
from jax_stack_compat.stack import lock
from jax_stack_compat.stack.lock import Lock
from jax_stack_compat.stack.plan import Cell
from laboratory.records import alike, records
from laboratory.records.work import Work, ask, planned
from laboratory.run import alone, cell_run, environment
from laboratory.run.environment import Environment
from laboratory.run.schedule import deal, scheduler
from laboratory.run.spread.worker import Kept
from tests.faults.machine import BARE
from tests.processes import default_signals
from tests.state import CELLS, PATIENCE, State, eventually
from tests.worlds import started_with

ONE, OTHER, *_ = CELLS
MODULE = "laboratory.cell.staged.side_by_side"


def of(*cases: str, module: str = MODULE) -> Entry:
    """An issue of these tests, with these cases alone."""
    return catalogue.narrowed(catalogue.entry(module), cases)


def record(entry: Entry, case: str) -> Record:
    """The record of a case."""
    return read(Record, records.path_of(ONE.id, entry.issue.id, case))


def verdict(entry: Entry, case: str) -> str:
    """Return the verdict on a case's record."""
    wanted = next(each for each in entry.issue.cases if each.id == case)
    return verdicts.judge(wanted, record(entry, case).attempts).verdict


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> State:
    """A state folder with environments."""
    return State(tmp_path_factory.mktemp("state")).prepared([ONE, OTHER])


@pytest.fixture
def state(made: State, monkeypatch: pytest.MonkeyPatch) -> Iterator[State]:
    """A state folder without records, on a machine with two cores, where even a small order gets a probe."""
    for name in ("one", "other", "again", "moments", "pids", "go"):
        (made.marks / name).unlink(missing_ok=True)
    for path in made.folder.glob("records/**/*.json"):
        path.unlink()
    monkeypatch.setattr(machine, "cores", lambda: 2)
    monkeypatch.setattr(deal, "LEAST", 0.0)
    with made.here():
        yield made


def run(*work: Work) -> None:
    """Run these cells."""
    scheduler.run(work, lambda _: Kept())


def moments(state: State) -> list[str]:
    """Return the starts and ends that cases noted, in order."""
    return [line.split()[0] for line in (state.marks / "moments").read_text().splitlines()]


def test_two_probes_run_for_one_cell(state: State) -> None:
    """Two cases of one cell run at the same time, each in a probe with a log of its own."""
    entry = of("one", "other")
    run(planned(ONE, [entry]))

    assert ["clear", "clear"] == [verdict(entry, case) for case in ("one", "other")]
    assert {f"{ONE.id}.log", f"{ONE.id}.2.log"} <= {path.name for path in (state.folder / "logs").iterdir()}


def test_two_cells_run_at_a_time(state: State) -> None:
    """A case of one cell and a case of another run at the same time."""
    run(planned(ONE, [of("one")]), planned(OTHER, [of("other")]))

    assert "clear" == verdict(of("one"), "one")


def test_what_is_not_as_expected_counts_only_alone(state: State) -> None:
    """A case that went wrong beside others runs again alone; that run counts, and the first attempt is kept."""
    entry = of("only-at-first", "takes-a-moment")
    run(planned(ONE, [entry]))

    seen = record(entry, "only-at-first")
    assert ["right"] == [each.parts["reproducer"].behaviour for each in seen.attempts]
    assert ["wrong"] == [each.parts["reproducer"].behaviour for each in seen.shared]
    assert "clear" == verdict(entry, "only-at-first")


def test_a_signal_beside_others_is_met_again_alone(state: State) -> None:
    """A crash counts only if it happens alone, even if it is expected."""
    entry = of("crashes", "takes-a-moment")
    run(planned(ONE, [entry]))

    seen = record(entry, "crashes")
    assert (1, 1, "affected") == (len(seen.attempts), len(seen.shared), verdict(entry, "crashes"))


def test_what_cannot_run_beside_others_runs_alone(state: State) -> None:
    """The cases of an issue that must run alone run one after the other, though there are two slots."""
    entry = of("takes-a-moment", "takes-another")
    entry = replace(entry, issue=replace(entry.issue, alone="it takes the time"))
    run(planned(ONE, [entry]), planned(OTHER, [entry]))

    assert ["begins", "ends"] * 4 == moments(state)
    assert [] == record(entry, "takes-a-moment").shared


def test_siblings_end_before_an_environment_is_replaced(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a case writes to the packages, the cell's other probe ends, and its case reruns in a new environment."""
    plain, counts = guardian.command, []
    writes, waits = of("adds-a-file-then"), of("waits-or-goes-on")
    packages = next((state.folder / "envs" / ONE.id).glob("lib/python*/site-packages"))

    def prepared(*words: object) -> Environment:
        if (left := packages / "left_behind.py").exists():
            counts.append(len(started_with(state.marks)))
            left.unlink()
            (state.marks / "go").touch()
        return Environment(state.folder / "envs" / ONE.id / "bin" / "python", "3.12.1")

    # The kernel refuses namespaces for this probe, although a test before succeeded.
    monkeypatch.setattr(guardian, "command", lambda *words, **how: [*BARE, *plain(*words, **how)])
    monkeypatch.setattr(cell_run, "_can_be_apart", lambda: True)
    monkeypatch.setattr(environment, "prepare", prepared)
    run(planned(ONE, [waits, writes]))

    assert ["clear", "clear"] == [verdict(writes, "adds-a-file-then"), verdict(waits, "waits-or-goes-on")]
    # The other probe's case had ended by then.
    assert [0] == counts
    assert 2 == len(state.waiting())


def test_where_the_kernel_gives_no_namespaces_probes_run_one_by_one(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise two probes of a cell could write into the same packages, and the culprit would be unknown."""
    monkeypatch.setattr(cell_run, "_can_be_apart", lambda: False)
    entry = of("takes-a-moment", "takes-another")
    run(planned(ONE, [entry]))

    assert ["begins", "ends"] * 2 == moments(state)


# Runs two cells, to be interrupted.
DRIVE = """
import sys
from pathlib import Path
from jax_stack_compat.cell import machine
from laboratory.run.schedule import deal, scheduler
from laboratory.records.work import planned
from laboratory.run.spread.worker import Kept
from tests.run.test_scheduler import ONE, OTHER, of
from tests.state import State
machine.cores = lambda: 2
deal.LEAST = 0.0
with State(Path(sys.argv[1])).here():
    scheduler.run([planned(ONE, [of("lingers")]), planned(OTHER, [of("lingers-too")])], lambda _: Kept())
"""


def test_an_interrupted_run_ends_the_probes_of_each_cell(state: State) -> None:
    """Ctrl-C ends both probes and all processes of their cases."""
    surroundings = {name: value for name, value in os.environ.items() if name != "CORPUS_FOLDER"}
    command = [sys.executable, "-c", DRIVE, str(state.folder)]
    with subprocess.Popen(
        command, cwd=ROOT, env=surroundings, stderr=subprocess.DEVNULL, preexec_fn=default_signals
    ) as driver:
        eventually(lambda: len(state.waiting()) == 2)
        assert started_with(state.marks)
        driver.send_signal(signal.SIGINT)
        driver.wait(PATIENCE)
    eventually(lambda: not started_with(state.marks), 30)


def test_a_run_waits_for_a_cell_that_another_has(state: State) -> None:
    """If another run has a cell, the other cells run first; then this run says that it waits."""
    hold = environment.reserve(ONE.id)
    hold.acquire()
    kept = Kept()

    class Frees(Kept):
        """Frees the cell once it is waited for."""

        def say(self, message: str) -> None:
            super().say(message)
            kept.say(message)
            if "another run is in this cell" in message:
                assert (records.RECORDS / OTHER.id / "cell.json").exists()
                hold.release()

    scheduler.run([planned(ONE, [of("only-at-first")]), planned(OTHER, [of("takes-a-moment")])], lambda _: Frees())

    assert any("another run is in this cell" in each for each in kept.said)
    assert "clear" == verdict(of("only-at-first"), "only-at-first")


def ended(outcome: Outcome, behaviour: str | None = None) -> Part:
    """Return a part with this outcome."""
    return Part(outcome=outcome, behaviour=behaviour, detail="SIGSEGV" if outcome == "signal" else "")


# Each part counts, even if the case is as expected.
MAY_BE_CAUSED: list[dict[str, Part]] = [{"reproducer": ended("returned", "wrong")}, {"workaround": ended("signal")}]
MAY_BE_CAUSED += [
    {"reproducer": ended(each)} for each in ("raised", "signal", "timeout", "memory", "probe-ended", "import-timeout")
]
COUNTS: list[dict[str, Part]] = [{}, {"reproducer": ended("returned", "right")}]
COUNTS += [{"reproducer": ended(each)} for each in ("import-error", "unavailable")]


def test_what_a_busy_machine_may_have_caused_is_run_again(state: State) -> None:
    """A record made beside other probes counts if it is as expected and did not end by a signal or a limit."""
    entry = of("takes-a-moment")
    run(planned(ONE, [entry]))
    seen = record(entry, "takes-a-moment")
    (attempt,) = seen.attempts

    for again, of_parts in ((True, MAY_BE_CAUSED), (False, COUNTS)):
        for parts in of_parts:
            otherwise = attempt.model_copy(update={"parts": {**attempt.parts, **parts}})
            made = seen.model_copy(update={"attempts": [otherwise]})
            assert again == alone.must_run_again(entry.issue.cases[0], made, {}), parts


@pytest.fixture
def all_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cells with the same packages, as far as their cases import them."""
    monkeypatch.setattr(alike, "met", lambda *_: "the same")
    others = {one.id: [(other, lock.load(other))] for one, other in ((ONE, OTHER), (OTHER, ONE))}
    monkeypatch.setattr(alike, "alike", lambda cell, *_: others[cell.id])


@pytest.mark.usefixtures("all_alike")
def test_what_another_cell_is_about_to_show_is_not_run_twice(state: State) -> None:
    """If two cells have the same packages, one runs the case, and its record counts for both."""
    entry = of("takes-a-moment", "takes-another")
    run(planned(ONE, [entry]), planned(OTHER, [entry]))

    # Each cell runs one case itself, which shows the device.
    assert 3 == moments(state).count("begins")
    assert not ask(planned(ONE, [entry])).left
    assert not ask(planned(OTHER, [entry])).left


@pytest.mark.usefixtures("all_alike")
def test_what_the_other_cell_did_not_show_is_run(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    """If one of two such cells cannot be prepared, the other runs the shared case."""
    prepare = environment.prepare

    def refuses(cell: Cell, pinned: Lock) -> Environment:
        if cell is ONE:
            raise environment.Unprepared("error", "install.failed", "no")
        return prepare(cell, pinned)

    monkeypatch.setattr(environment, "prepare", refuses)
    entry = of("takes-a-moment", "takes-another")
    run(planned(ONE, [entry]), planned(OTHER, [entry]))

    assert not ask(planned(OTHER, [entry])).left


def test_a_cell_is_waited_for_without_the_machine() -> None:
    """A run reserves its cell before the machine: in the other order two runs would wait for each other."""
    order: list[str] = []

    @contextmanager
    def everything() -> Iterator[None]:
        order.append("machine")
        yield

    run = SimpleNamespace(
        reserved=False,
        progress=Kept(),
        reserve_again=lambda: order.append("cell"),
        call_alone=lambda: order.append("run"),
        finish=lambda: None,
        release=lambda: None,
    )
    machine = SimpleNamespace(all=everything)
    scheduler._run_alone([cast(Any, run)], cast(Any, machine))

    assert ["cell", "machine", "run"] == order
