"""Fixtures and hooks for all tests."""

import gc
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest
from filelock import FileLock
from nox import registry
from nox._cli import main as nox_main

from jax_stack_compat.base.errors import Exit
from jax_stack_compat.base.files import PACKAGES, ROOT
from jax_stack_compat.environments import interpreter
from jax_stack_compat.stack import plan, uv_call
from laboratory.cli.command_line import main
from laboratory.records import alike
from laboratory.report.folder import write as writing
from laboratory.report.folder.compat_json import read_report
from laboratory.report.model import Report
from tests.real_cell import CELL, ISSUE, RECORD, keep_in


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes tests/report/small instead of failing where it differs."""
    parser.addoption("--rewrite", action="store_true", help="write tests/report/small as the tree's code makes it")


# All that tests import stays, so there is nothing to collect until they run.
gc.disable()


def pytest_configure(config: pytest.Config) -> None:
    """Have processes find the packages, and the cells' interpreter first: a version manager's shims take a second."""
    if hasattr(config, "workerinput"):
        # A worker has its parent's variables. What it made itself would be gone when it ends, before other workers.
        return
    os.environ["PYTHONPATH"] = str(PACKAGES)
    with suppress(interpreter.NoInterpreter):
        python, _ = interpreter.find(CELL.python)
        folder = tempfile.TemporaryDirectory()
        config.add_cleanup(folder.cleanup)
        Path(folder.name, f"python{CELL.python}").symlink_to(python)
        os.environ["PATH"] = f"{folder.name}{os.pathsep}{os.environ['PATH']}"


def pytest_collection(session: pytest.Session) -> None:
    """Have workers begin to import all tests at different places: what one has compiled, the others read."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if worker and session.config.args == session.config.getini("testpaths"):
        modules = sorted(Path(__file__).parent.rglob("test_*.py"))
        first = int(worker.removeprefix("gw")) * len(modules) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        for path in (*modules[first:], *modules[:first]):
            # Collection tells.
            with suppress(Exception):
                import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def pytest_collection_finish() -> None:
    """Look for cycles more seldom: reports are large, and the usual rate makes a run a sixth longer."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(200_000, 20, 100)
    gc.enable()


@pytest.fixture(scope="session")
def report_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published report with its pages, as `nox -s report` makes it; the first worker that asks builds it."""
    base = tmp_path_factory.getbasetemp()
    # The workers of pytest-xdist have their folders side by side.
    made = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "published-report"
    with FileLock(made.with_suffix(".lock")):
        if not made.exists():
            # In a process of its own, which sees nothing that a test has patched.
            state = {**os.environ, "SUITE_STATE": str(base / "no-state")}
            command = [sys.executable, "-m", "laboratory", "report", "--published", "--to", str(made)]
            ran = subprocess.run(command, cwd=ROOT, env=state, stdout=subprocess.DEVNULL, check=False)
            # A new issue is published before it has run everywhere.
            assert ran.returncode in (Exit.AS_EXPECTED, Exit.INCOMPLETE)
    return made


@pytest.fixture(scope="session")
def published(report_folder: Path) -> Report:
    """The published report, which takes a second to read."""
    return read_report(report_folder)


@pytest.fixture(scope="module")
def untimed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Hide the tree's timings, whose charts take seconds for each written report."""
    with pytest.MonkeyPatch.context() as patched:
        for folder in ("RESULTS", "COMPILED"):
            patched.setattr(writing, folder, tmp_path_factory.mktemp("nothing"))
        yield


@pytest.fixture(scope="module")
def pageless(untimed: None) -> Iterator[None]:
    """No pages beside a report that is written, nor timings: they are hundreds, and not every test looks at them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(writing, "site", lambda *_: {})
        yield


@pytest.fixture
def replanned() -> Iterator[None]:
    """A test that makes another plan meets nothing that was kept of the real one, and leaves nothing of its own."""
    kept = plan.cells, alike._cells, alike._locked
    for each in kept:
        each.cache_clear()
    yield
    for each in kept:
        each.cache_clear()


@pytest.fixture(scope="module")
def real_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A state folder in which the cell has been run once, on one issue: a copy of what the first who asked has made."""
    base, folder = tmp_path_factory.getbasetemp(), tmp_path_factory.mktemp("state")
    # The workers of pytest-xdist have their folders side by side.
    made = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "real-state"
    with pytest.MonkeyPatch.context() as patch, FileLock(made.with_suffix(".lock")):
        if not made.exists():
            keep_in(made, patch)
            assert Exit.AS_EXPECTED == main(RECORD)
        shutil.copytree(made / "envs", folder / "envs", symlinks=True, copy_function=os.link)
        shutil.copytree(made / "records", folder / "records")
    with pytest.MonkeyPatch.context() as patch:
        keep_in(folder, patch)
        yield folder


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder in which nothing has been run."""
    keep_in(tmp_path, monkeypatch)
    return tmp_path


@pytest.fixture
def own_store(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder with nothing in it, and no packages in store either."""
    monkeypatch.setattr(uv_call, "STORE", elsewhere / "store")
    return elsewhere


Recorded = Callable[[], dict[str, bytes]]


@pytest.fixture
def recorded(real_state: Path) -> Recorded:
    """The issue's records, by the names of their files."""
    folder = real_state / "records" / CELL.id / ISSUE

    def read() -> dict[str, bytes]:
        found = {}
        for path in sorted(folder.glob("*.json")):
            # A run may set it aside meanwhile.
            with suppress(FileNotFoundError):
                found[path.name] = path.read_bytes()
        return found

    return read


@dataclass(frozen=True)
class Ran:
    """The exit code and the output of a command."""

    code: int
    said: str
    complained: str


Nox = Callable[..., Ran]


@pytest.fixture
def nox(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], elsewhere: Path) -> Nox:
    """Run nox in the tree, in this process, where nothing has been recorded."""
    monkeypatch.chdir(ROOT)
    # What the published report says of costs takes a second to look up.
    monkeypatch.setattr("laboratory.report.published.seconds_of_cells", dict)
    for name in ("NOX_SCRIPT_MODE", "SUITE_HEADLINES"):
        monkeypatch.setenv(name, "none")

    def run(*words: str) -> Ran:
        registry.reset()
        monkeypatch.setattr(sys, "argv", ["nox", *words])
        with pytest.raises(SystemExit) as ended:
            nox_main()
        told = capfd.readouterr()
        return Ran(int(ended.value.code or 0), told.out, told.err)

    return run
