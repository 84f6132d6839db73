"""Cells on a cluster: a real scheduler and real worker processes on this machine, and what may happen to each."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from suite.cell.atomic import write
from suite.errors import Exit, Failed
from suite.files import ROOT, dump
from suite.judge.record import Attempt, Machine, Part, Record
from suite.report.assemble import assemble
from suite.run import catalogue, cluster, environment, records, worker
from suite.run.environment import Marker
from suite.stack import lock, plan
from suite.stack.plan import Cell
from suite.stack.releases import Device

CELLS = plan.tagged("default")[:3]
ISSUES = ("absent", "waits")
PATIENCE = 60.0

# A person's command, for issues that need no jax.
DRIVE = """
import sys
from rich.console import Console
from suite.run import catalogue
from suite.run import cluster
from suite.stack import plan
from suite.run import cell_run as run
from suite.__main__ import guarded
from suite.run.worker import Kept
scheduler, cells, issues = sys.argv[1], sys.argv[2].split(","), sys.argv[3].split(",")
cells = [plan.cell(each) for each in cells]
entries = [catalogue.entry(f"tests.cell.corpus.{each}") for each in issues]
with guarded() as guard:
    if scheduler == "here":
        for cell in cells:
            run.run(cell, entries, fresh=False, progress=Kept())
    else:
        cluster.run_cells(scheduler, cells, entries, fresh=False, console=Console())
sys.exit(guard.code)
"""


@dataclass(frozen=True)
class Ran:
    """What a command ended with."""

    code: int
    said: str
    complained: str


@dataclass(frozen=True)
class State:
    """A `.suite` of somebody's, in which the cells have environments: this interpreter, with no package at all."""

    folder: Path

    def prepared(self) -> State:
        """Make the environments."""
        for cell in CELLS:
            environment = self.folder / "envs" / cell.id
            (environment / "bin").mkdir(parents=True)
            (environment / "bin" / "python").symlink_to(sys.executable)
            made = Marker(lock=lock.load(cell).sha256, python=platform.python_version())
            (environment / "suite.json").write_text(dump(made.model_dump()), encoding="utf-8")
        return self

    def surroundings(self) -> dict[str, str]:
        """The environment variables of a process that keeps its state here."""
        return {**os.environ, "SUITE_STATE": str(self.folder), "CORPUS_FOLDER": str(self.folder), "NO_COLOR": "1"}

    def start(self, scheduler: str) -> subprocess.Popen[str]:
        """Start a driver with its state here."""
        cells = ",".join(cell.id for cell in CELLS)
        return subprocess.Popen(
            [sys.executable, "-W", "error", "-c", DRIVE, scheduler, cells, ",".join(ISSUES)],
            cwd=ROOT,
            env=self.surroundings(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(
        self, scheduler: str, *issues: str, cells: Sequence[Cell] = CELLS, device: Device = "cpu", **options: Any
    ) -> Ran:
        """Run a driver in this process; it says no more than a sentence to complain."""
        screen = StringIO()
        entries = [catalogue.entry(f"tests.cell.corpus.{each}") for each in issues]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(records, "RECORDS", self.folder / "records")
            patch.setattr(environment, "ENVIRONMENTS", self.folder / "envs")
            try:
                cluster.run_cells(
                    scheduler,
                    [replace(cell, device=device) for cell in cells],
                    entries,
                    console=Console(file=screen, width=300),
                    **{"fresh": False, **options},
                )
            except Failed as error:
                return Ran(Exit.INCOMPLETE, screen.getvalue(), str(error))
        return Ran(Exit.AS_EXPECTED, screen.getvalue(), "")

    def results(self) -> dict[str, str]:
        """The files under `records`, without what differs between any two runs."""
        timings = r'("(?:seconds|peak_rss_mib|started_at|at)"): [^,\n]+'
        return {
            str(path.relative_to(self.folder)): re.sub(timings, r"\1", path.read_text(encoding="utf-8"))
            for path in sorted(self.folder.glob("records/**/*.json"))
        }

    def go(self) -> None:
        """Let the cases go that wait for word."""
        (self.folder / "go").touch()

    def waiting(self) -> list[int]:
        """The processes of cases that wait for word here, or have waited."""
        noted = self.folder / "pids"
        return [int(line) for line in noted.read_text().splitlines()] if noted.exists() else []


def ended(driver: subprocess.Popen[str]) -> Ran:
    """What a driver ends with."""
    with driver:
        said, complained = driver.communicate(timeout=PATIENCE)
    return Ran(driver.returncode, said, complained)


def eventually(holds: Callable[[], object]) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@dataclass
class Cluster:
    """A scheduler and its workers, each a process and with a state of its own."""

    folder: Path
    workers: dict[str, State] = field(default_factory=dict)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """Where the scheduler is."""
        address: str = json.loads((self.folder / "scheduler.json").read_text(encoding="utf-8"))["address"]
        return address

    def schedule(self, port: int = 0) -> None:
        """Start the scheduler, which needs no checkout."""
        self._start("scheduler", ["scheduler", "--port", str(port)], dict(os.environ), self.folder)
        eventually((self.folder / "scheduler.json").exists)

    def work(self, name: str, *words: str, checkout: Path = ROOT) -> State:
        """Start a worker in a checkout; its state."""
        state = self.workers.setdefault(name, State(self.folder / name))
        if not state.folder.exists():
            state.prepared()
        command = ["worker", "--nthreads", "1", "--no-nanny", "--name", name, "--local-directory", str(self.folder)]
        self._start(name, [*command, *words], state.surroundings(), checkout)
        return state

    def registered(self, name: str) -> bool:
        """Whether a worker has been taken on by the scheduler."""
        return "Registered to" in (self.folder / f"{name}.log").read_text(encoding="utf-8")

    def kill(self, name: str) -> None:
        """End one of them as a power cut would."""
        self.processes[name].kill()
        self.processes[name].wait()

    def _start(self, name: str, words: Sequence[str], surroundings: dict[str, str], checkout: Path) -> None:
        common = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(self.folder / "scheduler.json")]
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", "dask", *words, *common], cwd=checkout, env=surroundings, stdout=log, stderr=log
            )


@contextlib.contextmanager
def cluster_in(folder: Path) -> Iterator[Cluster]:
    """A cluster that does not outlive the block."""
    lab = Cluster(folder)
    folder.mkdir(exist_ok=True)
    try:
        lab.schedule()
        yield lab
    finally:
        for process in lab.processes.values():
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler and two workers, of which the second has what some would call a gpu."""
    with cluster_in(tmp_path_factory.mktemp("cluster")) as made:
        made.work("a")
        made.work("b", "--resources", "gpu=1")
        yield made


@pytest.fixture
def lab(running: Cluster) -> Cluster:
    """The same, with workers that have run nothing yet, and whose cases wait for nothing."""
    for state in running.workers.values():
        state.go()
        shutil.rmtree(state.folder / "records", ignore_errors=True)
    return running


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What one machine by itself leaves on disk."""
    state = State(tmp_path_factory.mktemp("alone")).prepared()
    state.go()
    ran = ended(state.start("here"))
    assert (0, "") == (ran.code, ran.complained)
    return state.results()


def test_the_result_is_that_of_one_machine(lab: Cluster, alone: dict[str, str], tmp_path: Path) -> None:
    """What workers bring back is, byte for byte but for timings, what the same run on one machine leaves on disk."""
    driver = State(tmp_path)

    ran = driver.run(lab.address, *ISSUES)

    assert (0, "") == (ran.code, ran.complained)
    assert len(CELLS) * 3 == len(alone)
    assert alone == driver.results()
    assert sorted(cell.id for cell in CELLS) == sorted(re.findall(r"\d/3 (\S+) run: 2 cases run on tcp:", ran.said))
    assert ran.said.splitlines()[-1].startswith("3 cells on tcp:")
    assert ran.said.splitlines()[-1].endswith("3 run, 0 reused, 0 unavailable, 0 failed, 0 not run")


def test_what_is_known_here_is_not_sent(lab: Cluster, tmp_path: Path) -> None:
    """A second run asks no scheduler, and one with an issue more has that issue run alone."""
    driver = State(tmp_path)
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


def test_what_a_worker_knows_it_does_not_run(lab: Cluster, tmp_path: Path) -> None:
    """A worker goes by its own records too: a driver that has none gets them, and --fresh makes them anew."""
    (cell, *_) = CELLS
    first, second = State(tmp_path / "first"), State(tmp_path / "second")
    # On the one worker there is for it, so that it is the same.
    first.run(lab.address, "absent", cells=[cell], device="gpu")

    ran = second.run(lab.address, "absent", cells=[cell], device="gpu")
    fresh = second.run(lab.address, "absent", cells=[cell], device="gpu", fresh=True)

    assert f"{cell.id} reused: all of it was known on tcp:" in ran.said
    assert f"{cell.id} run: " in fresh.said
    assert first.results() == second.results()


def test_records_of_another_interpreter_are_not_mixed_in(lab: Cluster, tmp_path: Path) -> None:
    """Where the driver's records were made on another interpreter than the worker's, the worker runs those too."""
    (cell, *_) = CELLS
    driver = State(tmp_path)
    driver.run(lab.address, "absent", cells=[cell])
    mine, other = (f'"python": "{minor}"' for minor in (cell.python, "3.9"))
    for path in tmp_path.glob("records/**/*.json"):
        path.write_text(path.read_text(encoding="utf-8").replace(mine, other), encoding="utf-8")

    ran = driver.run(lab.address, "absent", "waits", cells=[cell])

    assert "run: 2 cases run on" in ran.said
    found = [text for name, text in driver.results().items() if "cell.json" not in name]
    assert [(True, False)] * 2 == [(mine in text, other in text) for text in found]


def test_a_cell_goes_where_its_device_is(lab: Cluster, tmp_path: Path) -> None:
    """A cell that needs a gpu runs on the worker that offers one, and one that nobody can take is not waited for."""
    ran = State(tmp_path / "gpu").run(lab.address, "absent", device="gpu")
    waited = State(tmp_path / "tpu").run(lab.address, "absent", device="tpu", patience=1.5)

    assert 3 == ran.said.count("cases run on")
    assert 1 == len(set(re.findall(r"cases run on (\S+)", ran.said)))
    ids = ", ".join(cell.id for cell in CELLS)
    assert f'{ids} wait for a worker that offers tpu (--resources "tpu=1"), and tcp:' in waited.said
    assert 3 == waited.code
    assert f"given up after 2 seconds: {ids} wait for a worker that offers tpu" in waited.complained
    assert "0 run, 0 reused, 0 unavailable, 0 failed, 3 not run" in waited.said


def test_a_dead_worker_costs_one_cell_its_retry(alone: dict[str, str], tmp_path: Path) -> None:
    """With a worker killed in the middle of a cell the run is complete, and its result what it would have been."""
    driver = State(tmp_path / "driver")
    with cluster_in(tmp_path) as lab:
        states = [lab.work("a"), lab.work("b")]
        running = driver.start(lab.address)
        eventually(lambda: all(state.waiting() for state in states))
        lab.kill("a")
        eventually(lambda: not any(alive(pid) for pid in states[0].waiting()))
        states[1].go()
        ran = ended(running)

    assert (0, "") == (ran.code, ran.complained)
    assert "3 run, 0 reused, 0 unavailable, 0 failed, 0 not run" in ran.said
    assert alone == driver.results()
    # The survivor ran what the dead one was in, and all that was left.
    assert [1, 3] == [len(state.waiting()) for state in states]


@pytest.mark.parametrize("what", ["driver", "scheduler"])
def test_the_next_run_completes_what_a_dead_one_began(what: str, alone: dict[str, str], tmp_path: Path) -> None:
    """With the driver or the scheduler killed in the middle, what had come back is kept and the next run completes."""
    driver = State(tmp_path / "driver")
    with cluster_in(tmp_path) as lab:
        state = lab.work("a")
        state.go()
        assert 0 == driver.run(lab.address, *ISSUES, cells=CELLS[:1]).code
        (state.folder / "go").unlink()
        running = driver.start(lab.address)
        eventually(lambda: len(state.waiting()) == 2)
        if what == "driver":
            running.kill()
        else:
            lab.kill("scheduler")
        cut = ended(running)
        kept = driver.results()
        state.go()
        if what == "scheduler":
            lab.kill("a")
            (tmp_path / "scheduler.json").unlink()
            lab.schedule()
            lab.work("a")
        again = driver.run(lab.address, *ISSUES)

    if what == "scheduler":
        assert 3 == cut.code
        lines = cut.complained.splitlines()
        assert 1 == len(lines)
        assert re.match(
            r"error: the Dask scheduler at tcp:\S+ is gone: what came back, 0 of 2 cells, is kept;", lines[0]
        )
    assert (0, "") == (again.code, again.complained)
    assert 3 == len(kept)
    assert kept == {name: text for name, text in driver.results().items() if name in kept}
    assert alone == driver.results()


def alive(pid: int) -> bool:
    """Whether a process is there, and not just waiting to be buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_worker_of_another_tree_is_refused(tmp_path: Path) -> None:
    """A worker whose probe or issue differs, or that is in no checkout, is named with the reason, and runs no cell."""
    listed = subprocess.run(["git", "ls-files", "suite", "tests"], cwd=ROOT, capture_output=True, text=True, check=True)
    stale = tmp_path / "stale"
    for name in listed.stdout.splitlines():
        (stale / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, stale / name)
    for name in ("suite/cell/probe.py", "tests/cell/corpus/absent.py"):
        with (stale / name).open("a") as stream:
            stream.write("# changed\n")
    (tmp_path / "nowhere").mkdir()
    with cluster_in(tmp_path / "lab") as lab:
        lab.work("old", checkout=stale)
        lab.work("lost", checkout=tmp_path / "nowhere")
        eventually(lambda: lab.registered("old") and lab.registered("lost"))
        refused = State(tmp_path / "refused").run(lab.address, "absent")
        lab.work("good")
        eventually(lambda: lab.registered("good"))
        ran = State(tmp_path / "ran").run(lab.address, "absent")

    assert 3 == refused.code
    assert re.search(r"refused tcp:\S+: its checkout is not the driver's: the probe, absent.py differs", refused.said)
    assert re.search(r"refused tcp:\S+: it cannot import this project .*: start it in a checkout", refused.said)
    assert "3 not run" in refused.said
    assert refused.complained.startswith("no worker is fit to run ")
    assert {} == State(tmp_path / "refused").results()
    assert (0, "") == (ran.code, ran.complained)
    assert "3 run" in ran.said


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://127.0.0.1:9", "tcp://127.0.0.1:{other}"])
def test_no_scheduler_is_a_sentence(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing listens, something else does, or the address is none, one sentence names it and says what to do."""
    monkeypatch.setattr(cluster, "CONNECTING", 1.0)
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as other:
        address = address.format(other=other.server_port)
        ran = State(tmp_path).run(address, "absent")

    assert 3 == ran.code
    assert ran.complained.startswith(f"no Dask scheduler answers at {address} (")
    assert ran.complained.endswith(
        "start one there with `python -m dask scheduler`, or mend the address after --scheduler"
    )
    assert "\n" not in ran.complained
    assert "3 not run" in ran.said


def test_without_the_extra_there_is_a_sentence() -> None:
    """Where distributed is not installed, --scheduler is answered with what to install, and exit code 3."""
    script = (
        "import sys; sys.modules['distributed'] = None; from suite.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    words = ["run", CELLS[0].id, "--scheduler", "tcp://127.0.0.1:9"]

    ran = subprocess.run([sys.executable, "-c", script, *words], cwd=ROOT, capture_output=True, text=True, check=False)

    assert 3 == ran.returncode
    assert 1 == len(ran.stderr.splitlines())
    assert "--scheduler needs Dask distributed, which is not installed here: `python -m pip install" in ran.stderr


def test_one_machine_needs_nothing_of_it() -> None:
    """No module but one imports distributed, and none imports that one until --scheduler asks for it."""
    command = "import sys, suite.commands, suite.run.worker; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True, check=True)
    importers = [
        path.name
        for path in sorted((ROOT / "suite").rglob("*.py"))
        if re.search(r"^\s*(from|import) (distributed|dask)\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]

    assert ["cluster.py"] == importers
    assert {"suite.commands", "suite.run.worker"} <= set(ran.stdout.split())
    assert {"suite.run.cluster", "distributed", "dask"}.isdisjoint(ran.stdout.split())


def test_a_worker_that_outlived_its_checkout_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker whose files have changed since it was started would run what it does not say, and refuses."""
    order = worker.order(CELLS[0], lock.load(CELLS[0]), [catalogue.entry("tests.cell.corpus.absent")], fresh=True)
    assert order is not None
    monkeypatch.setattr(worker, "_AT_START", "something else")

    assert worker.carry_out(order)["refused"].startswith("its checkout has changed since it was started")


def test_a_lock_or_a_cell_that_differs_is_named() -> None:
    """What a worker has another lock of, or nothing, is said."""
    order = worker.order(CELLS[0], lock.load(CELLS[0]), [catalogue.entry("tests.cell.corpus.absent")], fresh=True)
    assert order is not None

    assert f"the lock of {CELLS[0].id} differs" in worker.carry_out({**order, "lock": "0" * 64})["refused"]
    assert "no cell 'jax-0.0.1'" in worker.carry_out({**order, "cell": "jax-0.0.1"})["refused"]


def test_the_report_finds_what_another_machine_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The status tells the report which interpreter and platform ran a cell, whatever environment there is here."""
    entry = catalogue.entry("tests.cell.corpus.absent")
    state = State(tmp_path).prepared()
    monkeypatch.setattr(records, "RECORDS", tmp_path / "records")
    monkeypatch.setattr(environment, "ENVIRONMENTS", tmp_path / "envs")
    key = records.key(entry, entry.issue.cases[0], lock.load(CELLS[0]).sha256, CELLS[0].python, "Plan9-mips")
    part = Part(outcome="returned", behaviour="missing")
    record = Record(
        schema_version=2,
        cell=CELLS[0].id,
        issue=entry.issue.id,
        case=entry.issue.cases[0].id,
        key=key,
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        machine=Machine(
            python="3.12.99",
            packages={},
            platform={"system": "Plan9", "machine": "mips", "cpu": "some"},
            import_errors={},
            unforkable=None,
        ),
        attempts=[Attempt(parts={"reproducer": part}, seconds=1.0)],
    )
    write(records.path_of(CELLS[0].id, record.issue, record.case), dump(record.model_dump(mode="json")))
    ran = {"verdict": "ran", "reason": "ran", "python": "3.12.99", "platform": "Plan9-mips"}
    records.write_status(records.Status.model_validate({"cell": CELLS[0].id, "at": record.started_at, **ran}))

    assert ["absent"] == [each.verdict for each in assemble(CELLS[:1], [entry]).observations]
    assert state.folder == tmp_path


def test_a_run_killed_before_its_status_is_made_whole(alone: dict[str, str], tmp_path: Path) -> None:
    """Where all records were written and the status was not, the next run leaves the very status it would have had."""
    state = State(tmp_path).prepared()
    state.go()
    ended(state.start("here"))
    for path in tmp_path.glob("records/*/cell.json"):
        path.unlink()

    ended(state.start("here"))

    assert alone == state.results()
