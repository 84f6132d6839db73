"""What is asked afresh and does not run: it is not run, whatever was known before, and what was known is not lost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from suite.errors import Exit
from suite.report import summary
from suite.report.assemble import assemble
from suite.report.model import Report
from suite.run import probe_call
from suite.run.spread.worker import Kept
from tests.state import CELLS, State, found
from tests.worlds import ran

(CELL, *_) = CELLS
ISSUES = ("absent", "waits")
KILLED = ["sh", "-c", "kill -KILL $$"]


@pytest.fixture
def state(tmp_path: Path) -> State:
    """A state folder in which the cell has been run once."""
    state = State(tmp_path).prepared([CELL])
    state.go()
    with state.here():
        ran(CELL, found(*ISSUES))
    return state


def run(*issues: str, fresh: bool, probe: Sequence[str] = ()) -> Report:
    """Run the cell, maybe with something else for a probe; what is reported of it then."""
    with pytest.MonkeyPatch.context() as patch:
        if probe:
            patch.setattr(probe_call, "command", lambda *_, root: list(probe))
        ran(CELL, found(*issues), fresh=fresh)
    return assemble([CELL], found(*ISSUES))


@pytest.mark.parametrize(
    ("probe", "says"),
    [(KILLED, "the probe ended (SIGKILL)"), (["/nowhere/python"], "No such file"), (["/etc/passwd"], "denied")],
)
def test_a_probe_that_ends_at_once_has_run_nothing(state: State, probe: list[str], says: str) -> None:
    """Where the probe is killed at once, or cannot start, what was asked afresh is `error`, and the exit code says so.

    What was known counts again when no more than that is asked for, and nothing of it is run.
    """
    with state.here():
        before = state.results()
        cut = run(*ISSUES, fresh=True, probe=probe)
        again = run(*ISSUES, fresh=False, probe=KILLED)

    assert {("error", "run.probe")} == {(each.verdict, each.reason) for each in cut.observations}
    assert Exit.INCOMPLETE == summary.exit_code(cut)
    assert says in cut.observations[0].detail
    assert (0, before) == (again.coverage.error, state.results())


def test_only_what_was_asked_afresh_waits_for_it(state: State) -> None:
    """Of an issue alone, the other's records hold; what stays set aside while others are run afresh is told as such."""
    with state.here():
        one = run("absent", fresh=True, probe=KILLED)
        other = run("waits", fresh=True)
        both = run(*ISSUES, fresh=True)

    shown = [tuple(each.verdict for each in seen.observations) for seen in (one, other, both)]
    assert [("error", "clear"), ("not-run", "clear"), ("absent", "clear")] == shown
    assert [] == list(state.folder.glob("records/**/*.aside"))


def test_a_run_cut_short_counts_what_it_has_made(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted after its first case, a fresh run has that one, and the others are not run."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Kept, "step", interrupt)
    with state.here():
        with pytest.raises(KeyboardInterrupt):
            ran(CELL, found(*ISSUES), fresh=True)
        seen = assemble([CELL], found(*ISSUES))

    assert [1, 1] == [seen.coverage.run, seen.coverage.not_run]
    assert Exit.INCOMPLETE == summary.exit_code(seen)
