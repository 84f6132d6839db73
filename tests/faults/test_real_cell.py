"""A real cell: an interrupted run keeps finished cases and leaves no process; callgrind does not change a count."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jax_stack_compat.base.files import ROOT
from laboratory.cli.command_line import main
from laboratory.timings.counting import Counter
from tests.conftest import Recorded
from tests.processes import needs_valgrind
from tests.real_cell import CELL, COUNT, ISSUE, RECORD, started
from tests.state import eventually
from tests.worlds import started_with


def test_an_interrupted_run_loses_nothing_that_had_finished(
    real_state: Path, recorded: Recorded, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run ended in the middle keeps its finished cases, leaves no process, and the next start says what is left."""

    def finished() -> dict[str, bytes]:
        # A case that had just begun may have a record of that, and is run again.
        return {name: text for name, text in recorded().items() if b'"probe-ended"' not in text}

    shutil.rmtree(real_state / "records" / CELL.id / ISSUE)
    kept: dict[str, bytes] = {}

    def has_one_more() -> bool:
        return len(finished()) > len(kept)

    for how, code in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)):
        running = started(real_state)
        eventually(has_one_more)
        running.send_signal(how)
        _, complained = running.communicate(timeout=30)
        assert code == running.returncode
        assert ("finished work is kept" in complained) == (how is signal.SIGINT)
        eventually(lambda: not started_with(real_state))
        assert kept.items() <= finished().items()
        kept = finished()
        assert len(kept) < COUNT

    main(RECORD)
    said = f"{len(kept)} of {COUNT} cases cached, {COUNT - len(kept)} to run"
    assert said in capsys.readouterr().out
    assert kept.items() <= finished().items()
    assert COUNT == len(finished())


def test_a_fresh_run_that_is_cut_short_loses_nothing(real_state: Path, recorded: Recorded) -> None:
    """A killed --fresh run loses no record: the next run restores what was not replaced."""
    before = recorded()
    with started(real_state, "--fresh") as running:
        eventually(lambda: recorded() and not before.items() >= recorded().items())
        running.kill()
    assert recorded().keys() < before.keys()
    main(RECORD)
    assert before.keys() == recorded().keys()
    assert not before.items().isdisjoint(recorded().items())


# Counts a trace, and begins to count another in a process of its own.
COUNT_TWO = """
from laboratory.run import environment
from laboratory.timings.counting import Counter
from tests.real_cell import CELL
with environment.held(CELL) as made:
    keys = ["basics.Scan.time_trace", "basics.WhileLoop.time_trace"]
    with Counter("instructions")._counting(CELL, made.executable, keys) as told:
        for key, counted in told:
            print(key, counted.calls, counted.instructions, flush=True)
"""


def test_instructions_are_counted_and_no_process_is_left(real_state: Path) -> None:
    """Callgrind counts millions of instructions in a trace, does not change the calls, and ends with its parent."""
    needs_valgrind()
    trace = "basics.Scan.time_trace"
    surroundings = {**os.environ, "SUITE_STATE": str(real_state), "CORPUS_FOLDER": str(real_state)}
    with subprocess.Popen(
        [sys.executable, "-c", COUNT_TWO], cwd=ROOT, env=surroundings, stdout=subprocess.PIPE, text=True
    ) as asking:
        assert asking.stdout is not None
        key, *counts = asking.stdout.readline().split()
        # The driver, callgrind, and the child that counts the second benchmark.
        eventually(lambda: len(started_with(real_state)) == 3)
        asking.kill()

    calls, instructions = map(float, counts)
    assert (trace, Counter("calls").count(CELL, [trace])[trace].calls) == (key, calls)
    assert 1_000 < calls < 100_000
    assert 1_000_000 < instructions < 1_000_000_000
    eventually(lambda: not started_with(real_state))
