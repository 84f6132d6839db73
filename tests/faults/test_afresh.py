"""Cases that cannot run, with --fresh or without an environment, are errors or unavailable, and no record is lost."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from jax_stack_compat.base import guardian
from jax_stack_compat.base.errors import Exit
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.stack import lock
from laboratory.cli.command_line import main
from laboratory.report import summary
from laboratory.report.assemble import assemble
from laboratory.report.model import Report
from laboratory.run import environment
from laboratory.run.spread.worker import Kept
from tests.processes import program
from tests.real_cell import CELL as REAL
from tests.state import CELLS, ISSUES, State, found
from tests.worlds import ran

(CELL, *_) = CELLS
KILLED = ["sh", "-c", "kill -KILL $$"]


@pytest.fixture
def state(tmp_path: Path) -> State:
    """A state folder in which the cell has been run once."""
    return State(tmp_path).prepared([CELL]).alone([CELL])


def run(*issues: str, fresh: bool, probe: Sequence[str] = ()) -> Report:
    """Run the cell, optionally with another probe; return its report."""
    with pytest.MonkeyPatch.context() as patch:
        if probe:
            patch.setattr(guardian, "command", lambda *_, **how: list(probe))
        ran(CELL, found(*issues), fresh=fresh)
    return assemble([CELL], found(*ISSUES))


@pytest.mark.parametrize(
    ("probe", "says"),
    [(KILLED, "the probe ended (SIGKILL)"), (["/nowhere/python"], "No such file"), (["/etc/passwd"], "denied")],
)
def test_a_probe_that_ends_at_once_has_run_nothing(state: State, probe: list[str], says: str) -> None:
    """A probe that dies at once makes each case of a fresh run an `error`; the old records count again."""
    with state.here():
        before = state.results()
        cut = run(*ISSUES, fresh=True, probe=probe)
        again = run(*ISSUES, fresh=False, probe=KILLED)

    assert {("error", "run.probe")} == {(each.verdict, each.reason) for each in cut.observations}
    assert Exit.INCOMPLETE == summary.exit_code(cut)
    assert says in cut.observations[0].detail
    assert (0, before) == (again.coverage.error, state.results())


def test_only_what_was_asked_afresh_waits_for_it(state: State) -> None:
    """A fresh run of one issue keeps the records of others; records that are set aside are reported as such."""
    with state.here():
        one = run("absent", fresh=True, probe=KILLED)
        other = run("waits", fresh=True)
        both = run(*ISSUES, fresh=True)

    shown = [tuple(each.verdict for each in seen.observations) for seen in (one, other, both)]
    assert [("error", "clear"), ("not-run", "clear"), ("absent", "clear")] == shown
    assert [] == list(state.folder.glob("records/**/*.aside"))


def test_a_run_cut_short_counts_what_it_has_made(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a fresh run is interrupted after its first case, that case has a record, and the others are not run."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Kept, "step", interrupt)
    with state.here():
        with pytest.raises(KeyboardInterrupt):
            ran(CELL, found(*ISSUES), fresh=True)
        seen = assemble([CELL], found(*ISSUES))

    assert [1, 1] == [seen.coverage.run, seen.coverage.not_run]
    assert Exit.INCOMPLETE == summary.exit_code(seen)


def test_a_lock_whose_hash_does_not_match_is_refused(elsewhere: Path) -> None:
    """If a hash in its lock is wrong, a cell is not installed: the cases are errors, not verdicts about upstream."""
    text, path = lock.load(REAL).text, elsewhere / "lock.txt"
    wrong = re.sub(r"(jaxtyping==\S+ \\\n    --hash=sha256:)[0-9a-f]{64}", rf"\g<1>{'0' * 64}", text)
    assert wrong != text
    path.write_text(wrong, encoding="utf-8")

    with pytest.raises(environment.Unprepared) as caught:
        environment.prepare(REAL, lock.parse(wrong, path))
    assert ("error", "install.hash") == (caught.value.verdict, caught.value.reason)


def test_an_index_out_of_reach_is_an_error(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no index and an empty cache every case of the cell is `error`, and the report's exit code is not 0."""
    nowhere = {"UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple", "UV_CACHE_DIR": str(elsewhere / "cache")}
    for name, value in {**nowhere, "UV_HTTP_TIMEOUT": "1", "UV_HTTP_RETRIES": "0", "UV_FIND_LINKS": ""}.items():
        monkeypatch.setenv(name, value)
    assert Exit.AS_EXPECTED == main(["record", REAL.id])
    report = assemble([REAL], catalogue.entries())
    assert Exit.INCOMPLETE == summary.exit_code(report)
    assert {("error", "install.network")} == {(each.verdict, each.reason) for each in report.observations}
    assert report.coverage.planned == report.coverage.error


def test_a_uv_that_is_killed_is_named_as_that(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error names the signal that ended uv, not uv's last output."""
    killed = 'test "$1" = venv || { echo Using Python 3.12.1 environment >&2; kill -KILL $$; }'
    fake = program(elsewhere / "uv", killed)
    monkeypatch.setattr("uv.find_uv_bin", lambda: str(fake))

    with pytest.raises(environment.Unprepared) as caught:
        environment.prepare(REAL, lock.load(REAL))
    assert ("error", "install.failed") == (caught.value.verdict, caught.value.reason)
    assert caught.value.detail.startswith("uv pip sync: error: it was ended by SIGKILL")


def test_without_an_interpreter_the_cell_is_unavailable(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cell without its CPython is unavailable: one sentence says so, and no case is skipped."""
    nothing = elsewhere / "nothing"
    nothing.mkdir()
    for name in ("HOME", "PATH", "PYENV_ROOT", "ASDF_DATA_DIR", "MISE_DATA_DIR", "UV_PYTHON_INSTALL_DIR"):
        monkeypatch.setenv(name, str(nothing))
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "never")
    main(["record", REAL.id])
    said = capsys.readouterr().out
    assert f"no CPython {REAL.python} on this machine" in said
    assert f"uv python install {REAL.python}" in said
    report = assemble([REAL], catalogue.entries())
    assert Exit.INCOMPLETE == summary.exit_code(report)
    assert {("unavailable", "plan.no-interpreter")} == {(each.verdict, each.reason) for each in report.observations}


def test_an_index_without_a_pinned_release_may_be_a_login_page(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page of HTML is an index without any release for uv; the error asks if it is a login page."""
    said = "error: No solution found: there is no version of absl-py==2.0.0 and you require absl-py==2.0.0"
    fake = program(elsewhere / "uv", f'test "$1" = venv || {{ echo "{said}" >&2; exit 1; }}')
    monkeypatch.setattr("uv.find_uv_bin", lambda: str(fake))

    with pytest.raises(environment.Unprepared) as caught:
        environment.prepare(REAL, lock.load(REAL))
    assert ("error", "install.no-release") == (caught.value.verdict, caught.value.reason)
    assert caught.value.detail.endswith("is it a login page, or an incomplete mirror?")
