"""Cells on a cluster: a real scheduler and workers on this machine, and the faults of each."""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import StringIO
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from rich.console import Console

import laboratory.run.spread
from jax_stack_compat.base.errors import Exit, Failed
from jax_stack_compat.base.files import PACKAGES, ROOT
from laboratory.cli.command_line import main
from laboratory.records import keys
from laboratory.records.work import planned
from laboratory.report.assemble import assemble
from laboratory.report.summary import exit_code
from laboratory.run.spread import worker
from tests.conftest import Ran
from tests.processes import NOTHING, clone
from tests.state import CELLS, ISSUES, PATIENCE, State, eventually, found
from tests.worlds import started_with

# Runs a driver in the background of a test.
BESIDE = ThreadPoolExecutor(1)


@dataclass(frozen=True)
class Driver(State):
    """A driver's state, with calls that run cells on a cluster."""

    def run(self, scheduler: str, *issues: str, count: int = len(CELLS), **options: Any) -> Ran:
        """Run the first cells on a cluster, with the driver's state in this folder; its output has no traceback."""
        screen, cells = StringIO(), CELLS[:count]
        fresh = options.pop("fresh", False)
        options = {"console": Console(file=screen, width=300), **options}
        # Imported here because the import is slow, and other tests do not need it.
        from laboratory.run.spread import cluster

        with self.here():
            try:
                work = [planned(cell, found(*issues), fresh=fresh) for cell in cells]
                cluster.run_cells(scheduler, work, **options)
            except Failed as error:
                return Ran(Exit.INCOMPLETE, screen.getvalue(), str(error))
        return Ran(Exit.AS_EXPECTED, screen.getvalue(), "")


@dataclass
class Cluster:
    """A scheduler and its workers; each is a process with its own state."""

    folder: Path
    workers: dict[str, State] = field(default_factory=dict)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """Return the scheduler's address."""
        address: str = json.loads((self.folder / "scheduler.json").read_text(encoding="utf-8"))["address"]
        return address

    def schedule(self) -> None:
        """Start the scheduler, which needs no checkout."""
        (self.folder / "scheduler.json").unlink(missing_ok=True)
        self._start("scheduler", ["scheduler", "--port", "0"], dict(os.environ), self.folder)
        path = self.folder / "scheduler.json"
        # Dask writes it in place.
        eventually(lambda: path.exists() and path.read_text(encoding="utf-8").endswith("}"))

    def work(
        self,
        name: str,
        *words: str,
        checkout: Path = PACKAGES,
        prepared: bool = True,
        variables: Mapping[str, str] = NOTHING,
    ) -> State:
        """Start a worker in a checkout's folder of packages; return its state folder."""
        if name not in self.workers:
            state = State(self.folder / name)
            self.workers[name] = state.prepared() if prepared else state
        command = ["worker", "--nthreads", "1", "--no-nanny", "--name", name, "--local-directory", str(self.folder)]
        # Not by the variable by which the tests' processes find the packages.
        surroundings = {**self.workers[name].surroundings(), "PYTHONPATH": "", **variables}
        self._start(name, [*command, *words], surroundings, checkout)
        return self.workers[name]

    def registered(self, *names: str) -> None:
        """Wait until the scheduler has registered these workers."""
        logs = [self.folder / f"{name}.log" for name in names]
        eventually(lambda: all("Registered to" in log.read_text(encoding="utf-8") for log in logs))

    def kill(self, *names: str) -> None:
        """Kill these processes, as a power cut would."""
        for name in names:
            self.processes[name].kill()
            self.processes[name].wait()

    def _start(self, name: str, words: Sequence[str], surroundings: dict[str, str], checkout: Path) -> None:
        common = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(self.folder / "scheduler.json")]
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", "dask", *words, *common], cwd=checkout, env=surroundings, stdout=log, stderr=log
            )


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A scheduler, which ends with its workers."""
    made = Cluster(folder)
    try:
        made.schedule()
        yield made
    finally:
        made.kill(*made.processes)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler and two workers."""
    with cluster(tmp_path_factory.mktemp("cluster")) as made:
        made.work("a")
        made.work("b")
        yield made


@pytest.fixture
def lab(running: Cluster) -> Cluster:
    """The same, with workers that have run nothing yet, and with cases that do not wait."""
    for state in running.workers.values():
        state.go()
        shutil.rmtree(state.folder / "records", ignore_errors=True)
    return running


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> State:
    """Return the files that a run on one machine leaves."""
    return State(tmp_path_factory.mktemp("alone")).prepared().alone()


@pytest.fixture
def driver(tmp_path: Path) -> Driver:
    """Return a driver without records."""
    return Driver(tmp_path / "driver")


def test_the_result_is_that_of_one_machine(lab: Cluster, alone: State, driver: Driver) -> None:
    """Workers bring back the files of the same run on one machine, byte for byte but for timings."""
    ran = driver.run(lab.address, *ISSUES)

    assert (0, "") == (ran.code, ran.complained)
    assert len(CELLS) * 3 == len(alone.results())
    assert alone.results() == driver.results()
    assert sorted(cell.id for cell in CELLS) == sorted(re.findall(r"\d/3 (\S+) run: 2 cases run on tcp:", ran.said))
    assert ran.said.splitlines()[-1].startswith("3 cells on tcp:")
    assert ran.said.splitlines()[-1].endswith("3 run, 0 reused, 0 unavailable, 0 failed, 0 not run")


def test_what_is_known_here_is_not_sent(lab: Cluster, driver: Driver) -> None:
    """A second run does not use the scheduler; with one more issue, only that issue is run."""
    driver.run(lab.address, "absent")
    before = driver.results()

    again = driver.run("tcp://nobody.invalid:1", "absent")
    more = driver.run(lab.address, "absent", "waits")

    assert 0 == again.code
    assert "0 run, 3 reused" in again.said
    assert 3 == more.said.count("run: 1 cases run on")
    kept = {name: text for name, text in driver.results().items() if "cell.json" not in name}
    assert {name: text for name, text in before.items() if "cell.json" not in name}.items() <= kept.items()
    assert 6 == len(kept)


def test_what_a_worker_knows_it_does_not_run(tmp_path: Path) -> None:
    """A worker also uses its own records: a driver without records receives them, and --fresh replaces them."""
    first, second = Driver(tmp_path / "first"), Driver(tmp_path / "second")
    with cluster(tmp_path) as of_one:
        of_one.work("one").go()
        first.run(of_one.address, "absent", count=1)

        ran = second.run(of_one.address, "absent", count=1)
        fresh = second.run(of_one.address, "absent", count=1, fresh=True)

    assert f"{CELLS[0].id} reused: all cases were cached on tcp:" in ran.said
    assert f"{CELLS[0].id} run: " in fresh.said
    assert first.results() == second.results()


def test_what_a_worker_fails_to_make_afresh_is_not_run(lab: Cluster, driver: Driver) -> None:
    """If a known cell is run with --fresh and fails on its worker, the report and its exit code show an error."""
    driver.run(lab.address, "absent", count=1)
    for state in lab.workers.values():
        broken = state.folder / "records" / CELLS[0].id / "cell.json"
        broken.parent.mkdir(parents=True, exist_ok=True)
        broken.write_text("{}", encoding="utf-8")

    ran = driver.run(lab.address, "absent", count=1, fresh=True)

    assert "0 run, 0 reused, 0 unavailable, 1 failed" in ran.said
    with driver.here():
        report = assemble(CELLS[:1], found("absent"))
    assert (Exit.INCOMPLETE, ["error"]) == (exit_code(report), [each.verdict for each in report.observations])


@pytest.mark.parametrize(
    ("mine", "other"),
    [
        (f'"python": "{CELLS[0].python}"', '"python": "3.9"'),
        (f'"platform": "{keys.here()}"', '"platform": "Plan9-mips"'),
    ],
)
def test_records_of_another_machine_are_not_mixed_in(lab: Cluster, driver: Driver, mine: str, other: str) -> None:
    """A worker also runs the cases whose records the driver has from another interpreter or platform."""
    driver.run(lab.address, "absent", count=1)
    driver.rewrite(mine, other)

    ran = driver.run(lab.address, "absent", "waits", count=1)

    assert "run: " in ran.said
    texts = [text for name, text in driver.results().items() if "cell.json" not in name]
    assert [(True, False)] * 2 == [(mine in text, other in text) for text in texts]


def test_without_a_worker_cells_wait_and_say_so(tmp_path: Path) -> None:
    """If the scheduler has no worker, the driver says which cells wait, and gives up after its patience."""
    with cluster(tmp_path) as empty:
        waited = Driver(tmp_path / "driver").run(empty.address, "absent", patience=1.5)

    ids = ", ".join(cell.id for cell in CELLS)
    assert 1 == waited.said.count(f"{ids} wait for a worker, and tcp:")
    assert 3 == waited.code
    assert f"gave up after 2 seconds: {ids} wait for a worker" in waited.complained
    assert "0 run, 0 reused, 0 unavailable, 0 failed, 3 not run" in waited.said


def test_a_worker_of_another_tree_is_refused(driver: Driver, tmp_path: Path) -> None:
    """A worker whose probe or issue differs, or that is in no checkout, is named with the reason, and runs no cell."""
    stale, nowhere = tmp_path / "stale", tmp_path / "nowhere"
    clone(stale, re.compile(r"suite/.*").fullmatch)
    for name in ("suite/jax_stack_compat/cell/probe.py", "suite/laboratory/cell/corpus/absent.py"):
        with (stale / name).open("a") as stream:
            stream.write("CHANGED = True\n")
    nowhere.mkdir()
    with cluster(tmp_path) as strangers:
        strangers.work("old", checkout=stale / "suite")
        strangers.work("lost", checkout=nowhere)
        strangers.registered("old", "lost")
        refused = driver.run(strangers.address, "absent")
        nothing = driver.results()
        strangers.work("good").go()
        strangers.registered("good")
        ran = driver.run(strangers.address, "absent")

    assert 3 == refused.code
    assert re.search(r"refused tcp:\S+: its checkout is not the driver's: the probe, absent.py differs", refused.said)
    assert re.search(r"refused tcp:\S+: it cannot import this project .*: start it in the folder", refused.said)
    assert "3 not run" in refused.said
    assert refused.complained.startswith("no worker can run ")
    assert {} == nothing
    assert (0, "") == (ran.code, ran.complained)
    assert "3 run" in ran.said


def test_a_dead_worker_costs_one_cell_its_retry(lab: Cluster, alone: State, driver: Driver) -> None:
    """If a worker is killed in the middle of a cell, the run completes with the same result."""
    dies, lives = lab.workers["a"], lab.workers["b"]
    for state in (dies, lives):
        state.stop()
    running = BESIDE.submit(driver.run, lab.address, *ISSUES)
    eventually(lambda: dies.waiting() and lives.waiting())
    lab.kill("a")
    eventually(lambda: not started_with(dies.marks))
    lives.go()
    ran = running.result(PATIENCE)

    assert (0, "") == (ran.code, ran.complained)
    assert "3 run, 0 reused, 0 unavailable, 0 failed, 0 not run" in ran.said
    assert alone.results() == driver.results()
    # The surviving worker ran the dead worker's cell and all remaining cells.
    assert [1, 3] == [len(state.waiting()) for state in (dies, lives)]


# What uv needs to find no interpreter, and an index that does not answer.
_FOLDERS = ("HOME", "PYENV_ROOT", "ASDF_DATA_DIR", "MISE_DATA_DIR", "UV_PYTHON_INSTALL_DIR")
BARE = {**dict.fromkeys(_FOLDERS, "/nonexistent"), "PATH": "/usr/sbin", "UV_PYTHON_DOWNLOADS": "never"}
NO_INDEX = {"UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple", "UV_HTTP_RETRIES": "0"}


def test_a_worker_that_cannot_run_cells_costs_no_cell(alone: State, driver: Driver, tmp_path: Path) -> None:
    """Workers without an interpreter, an index or a folder of records answer first; their cells run on another."""
    with cluster(tmp_path) as mixed:
        mixed.work("bare", prepared=False, variables=BARE)
        mixed.work("no-index", prepared=False, variables=NO_INDEX)
        (mixed.work("no-folder").folder / "records").write_text("")
        good = mixed.work("good")
        good.stop()
        mixed.registered(*mixed.workers)
        running = BESIDE.submit(driver.run, mixed.address, *ISSUES)
        eventually(good.waiting)
        good.go()
        ran = running.result(PATIENCE)

    assert (0, "") == (ran.code, ran.complained)
    assert "3 run, 0 reused, 0 unavailable, 0 failed, 0 not run" in ran.said
    assert re.search(r"\S+ (unavailable|error|Not a directory): .* on tcp:\S+: another worker tries it", ran.said)
    assert alone.results() == driver.results()


def test_a_worker_whose_cells_run_elsewhere_gets_no_more() -> None:
    """After two cells that failed on a worker and ran on another, the worker is refused."""
    from laboratory.run.spread import cluster

    failed = cluster._Result("tcp://bad:1", worker.WorkerReply(), None, {}, "no disk")
    sent = cluster._Errands("tcp://s:1", mock.Mock(), Console(file=StringIO()), Counter(), 1.0)
    sent._strike([failed])
    assert set() == sent.unfit
    sent._strike([failed])
    assert {"tcp://bad:1"} == sent.unfit


def test_a_cell_that_fails_everywhere_is_told_once(driver: Driver, tmp_path: Path) -> None:
    """If a cell fails on every worker, its status has the reason, and the run ends."""
    with cluster(tmp_path) as bad:
        for name in ("one", "other"):
            bad.work(name, prepared=False, variables=NO_INDEX)
        bad.registered("one", "other")
        ran = driver.run(bad.address, *ISSUES)

    assert "0 run, 0 reused, 0 unavailable, 3 failed, 0 not run" in ran.said
    assert 3 == ran.said.count("another worker tries it")


# A driver in a process of its own, to be killed.
DRIVE = """
import sys
from rich.console import Console
from laboratory.records.work import planned
from laboratory.run.spread import cluster
from tests.processes import clone
from tests.state import CELLS, ISSUES, found
work = [planned(cell, found(*ISSUES)) for cell in CELLS]
cluster.run_cells(sys.argv[1], work, console=Console())
"""


def test_the_next_run_completes_what_a_dead_one_began(lab: Cluster, alone: State, driver: Driver) -> None:
    """If the driver or the scheduler is killed, received results are kept, and the next run completes."""
    state = lab.workers["b"]
    driver.run(lab.address, *ISSUES, count=1)
    kept = driver.results()

    state.stop()
    command = [sys.executable, "-c", DRIVE, lab.address]
    killed = subprocess.Popen(command, cwd=ROOT, env=driver.surroundings(), stdout=subprocess.DEVNULL)
    eventually(state.waiting)
    killed.kill()
    killed.wait()
    assert kept == driver.results()
    state.go()
    assert 0 == driver.run(lab.address, *ISSUES, count=2).code
    kept_too = driver.results()

    state.stop()
    cut = BESIDE.submit(driver.run, lab.address, *ISSUES)
    eventually(state.waiting)
    lab.kill("scheduler")
    said = cut.result(PATIENCE)
    assert kept_too == driver.results()
    state.go()
    lab.kill("b")
    lab.schedule()
    lab.work("b")
    again = driver.run(lab.address, *ISSUES)

    assert 3 == said.code
    assert re.fullmatch(r"the Dask scheduler at tcp:\S+ is gone\. 0 of 1 cells are kept; .*", said.complained)
    assert (0, "") == (again.code, again.complained)
    assert [3, 6] == [len(kept), len(kept_too)]
    assert kept.items() <= kept_too.items() <= driver.results().items()
    assert alone.results() == driver.results()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://127.0.0.1:9", "tcp://127.0.0.1:{other}"])
def test_no_scheduler_is_a_sentence(address: str, driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """If no scheduler answers at an address, one sentence names the address and says what to do."""
    monkeypatch.setattr("laboratory.run.spread.cluster.CONNECTING", 0.3)
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as other:
        address = address.format(other=other.server_port)
        ran = driver.run(address, "absent")

    assert 3 == ran.code
    assert ran.complained.startswith(f"no Dask scheduler answers at {address} (")
    assert "start one there with `python -m dask scheduler`" in ran.complained
    assert "\n" not in ran.complained
    assert "3 not run" in ran.said


def test_without_the_extra_there_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without distributed, --scheduler says what to install and exits with 3."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "laboratory.run.spread.cluster", raising=False)
    monkeypatch.delattr(laboratory.run.spread, "cluster", raising=False)

    assert Exit.INCOMPLETE == main(["record", CELLS[0].id, "--scheduler", "tcp://127.0.0.1:9"])
    (line,) = capsys.readouterr().err.splitlines()
    assert "--scheduler needs Dask distributed, which is not installed here: `python -m pip install" in line


def test_an_order_for_another_tree_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker names the lock that differs; a worker whose checkout has changed says so, and refuses."""
    order = worker.order(planned(CELLS[0], found("absent"), fresh=True))
    assert order is not None

    assert f"the lock of {CELLS[0].id} differs" in worker.carry_out({**order, "lock": "0" * 64}).refused
    assert "no cell 'jax-0.0.1'" in worker.carry_out({**order, "cell": "jax-0.0.1"}).refused
    monkeypatch.setattr(worker, "_AT_START", "something else")
    assert worker.carry_out(order).refused.startswith("its checkout has changed since the worker was started")


@pytest.fixture
def another(alone: State, tmp_path: Path) -> State:
    """Return a machine with the records of a run on a single machine."""
    shutil.copytree(alone.folder, tmp_path / "another", symlinks=True)
    return State(tmp_path / "another")


def test_the_report_finds_what_another_machine_made(another: State) -> None:
    """The report takes a cell's interpreter and platform from its status, not from the local environment."""
    another.rewrite(keys.here(), "Plan9-mips")
    another.rewrite(platform.python_version(), "3.12.99")

    with another.here():
        seen = assemble(CELLS, found("absent")).observations
    assert ["absent"] * 3 == [each.verdict for each in seen]


def test_a_run_killed_before_its_status_is_made_whole(another: State, alone: State) -> None:
    """If a run was killed before it wrote a status, the next run writes it."""
    for path in another.folder.glob("records/*/cell.json"):
        path.unlink()

    assert alone.results() == another.alone().results()
