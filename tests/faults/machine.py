"""A machine with one environment, whose kernel gives a probe namespaces of its own or not."""

import subprocess
import venv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from jax_stack_compat.base import guardian
from jax_stack_compat.base.files import read
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.issue import Case
from jax_stack_compat.environments import probe_call
from jax_stack_compat.environments.probe_call import Ended, Progress
from jax_stack_compat.environments.task import Task
from jax_stack_compat.judge import verdicts
from jax_stack_compat.judge.record import Key, Record
from jax_stack_compat.judge.verdicts import Judged

# Runs a command on a kernel that refuses PID namespaces.
_BARE = 'echo 0 > /proc/sys/user/max_pid_namespaces && exec "$@"'
BARE = ("unshare", "--user", "--map-root-user", "sh", "-c", _BARE, "sh")
APART = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "true")
# A file that a case leaves in shared memory.
LEFT = Path("/dev/shm/left-behind-by-a-case")
KEY = Key(lock="0", issue="0", probe="0", python="3.12", platform="here")


@dataclass
class Machine(Progress):
    """A machine with one environment, and the messages and results of a run of fault modules."""

    folder: Path
    python: Path
    apart: bool = False
    said: list[str] = field(default_factory=list)
    remade: int = 0
    ended: Ended = field(default_factory=Ended)

    def say(self, message: str) -> None:
        """Keep the messages for a person."""
        self.said.append(message)

    def remake(self) -> Path:
        """Count and remove the files that a case wrote."""
        self.remade += 1
        for left in self.folder.glob("env/lib/python*/site-packages/left_behind.py"):
            left.unlink()
        return self.python

    def run(self, *cases: str) -> dict[str, Judged]:
        """The verdict on each of these cases, by id."""
        entry = catalogue.narrowed(catalogue.entry("laboratory.cell.staged.faults"), cases)
        self.call(entry, entry.issue.cases)
        return {case.id: self.judged(case) for case in entry.issue.cases if self.path(case).exists()}

    def call(self, entry: Entry, cases: Sequence[Case], **options: Any) -> None:
        """Run these cases in a probe."""
        self.carry_out([Task(entry, case, "right", self.path(case), KEY) for case in cases], **options)

    def carry_out(self, tasks: Sequence[Task], **options: Any) -> None:
        """Carry out these tasks in a probe."""
        options = {"remake": self.remake, "log": self.folder / "probe.log", **options}
        self.ended = probe_call.call(self.python, "jax-0.0.0", [], tasks, self, **options)

    def path(self, case: Case) -> Path:
        """Return the path of a case's record."""
        return self.folder / f"{case.id}.json"

    def judged(self, case: Case) -> Judged:
        """Return the judgement of a case's record."""
        return verdicts.judge(case, read(Record, self.path(case)).attempts)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty environment that a case may damage."""
    folder = tmp_path_factory.mktemp("machine") / "env"
    venv.create(folder, with_pip=False, symlinks=True)
    return folder


@pytest.fixture(params=["apart", "bare"])
def machine(
    request: pytest.FixtureRequest, tmp_path: Path, environment: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Machine]:
    """A machine whose kernel gives the probe namespaces of its own, or not."""
    if request.param == "apart" and subprocess.run(APART, capture_output=True, check=False).returncode:
        pytest.skip("the kernel of this machine lets this user have no namespaces")
    (tmp_path / "env").symlink_to(environment)
    if request.param == "bare":
        if subprocess.run([*BARE, "true"], capture_output=True, check=False).returncode:
            pytest.skip("this user cannot take the right to namespaces from a process")
        plain: Callable[..., list[str]] = guardian.command
        monkeypatch.setattr(guardian, "command", lambda *words, **how: [*BARE, *plain(*words, **how)])
    yield Machine(tmp_path, environment / "bin" / "python", apart=request.param == "apart")
    LEFT.unlink(missing_ok=True)


@pytest.fixture
def early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The module that each probe imports as jax; it is empty at first."""
    given = probe_call.surroundings()
    monkeypatch.setattr(probe_call, "surroundings", lambda: {**given, "PYTHONPATH": str(tmp_path / "early")})
    (tmp_path / "early" / "jax").mkdir(parents=True)
    return tmp_path / "early" / "jax" / "__init__.py"
