"""Files that runs leave, for cells whose environments are this interpreter with empty packages."""

import os
import platform
import re
import time
import venv
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pytest

from jax_stack_compat.base.files import dump
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.stack import lock, plan
from jax_stack_compat.stack.plan import Cell
from laboratory.run import environment
from laboratory.run.environment import Marker
from tests.real_cell import keep_in
from tests.worlds import pretend, ran

CELLS = plan.tagged("default")[:3]
ISSUES = ("absent", "waits")
PATIENCE = 120.0


@dataclass(frozen=True)
class State:
    """A state folder whose cells have environments: this interpreter with empty packages."""

    folder: Path

    @property
    def marks(self) -> Path:
        """Return the folder in which cases leave marks: they cannot write into the state."""
        folder = Path(f"{self.folder}-marks")
        folder.mkdir(exist_ok=True)
        return folder

    def prepared(self, cells: Sequence[Cell] = CELLS) -> Self:
        """Make the environments."""
        for cell in cells:
            pinned, folder = lock.load(cell), self.folder / "envs" / cell.id
            venv.create(folder, symlinks=True)
            pretend(next(folder.glob("lib/python*/site-packages")), pinned.pins)
            files, full = environment.stamp(folder), platform.python_version()
            made = Marker(lock=pinned.sha256, python=full, files=files)
            (folder / "suite.json").write_text(dump(made.model_dump()), encoding="utf-8")
        return self

    @contextmanager
    def here(self) -> Iterator[None]:
        """Make this process keep its state here."""
        with pytest.MonkeyPatch.context() as patch:
            keep_in(self.folder, patch)
            patch.setenv("CORPUS_FOLDER", str(self.marks))
            yield

    def alone(self, cells: Sequence[Cell] = CELLS) -> Self:
        """Run the cells on this machine, without a cluster."""
        self.go()
        with self.here():
            for cell in cells:
                ran(cell, found(*ISSUES))
        return self

    def surroundings(self) -> dict[str, str]:
        """Return the environment variables for a process that keeps its state here."""
        return {**os.environ, "SUITE_STATE": str(self.folder), "CORPUS_FOLDER": str(self.marks)}

    def results(self) -> dict[str, str]:
        """Return the files under `records`, without fields that differ between any two runs."""
        timings = r'("(?:seconds|peak_rss_mib|started_at|at)"): [^,\n]+'
        return {
            str(path.relative_to(self.folder)): re.sub(timings, r"\1", path.read_text(encoding="utf-8"))
            for path in sorted(self.folder.glob("records/**/*.json"))
        }

    def rewrite(self, old: str, new: str) -> None:
        """Replace a text in all records here."""
        for path in self.folder.glob("records/**/*.json"):
            path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")

    def go(self) -> None:
        """Let waiting cases continue."""
        (self.marks / "go").touch()

    def stop(self) -> None:
        """Make cases wait from now on."""
        for name in ("go", "pids"):
            (self.marks / name).unlink(missing_ok=True)

    def waiting(self) -> list[int]:
        """Return the processes of cases that wait here, or have waited."""
        return noted(self.marks)


def found(*issues: str) -> list[catalogue.Entry]:
    """These issues of the corpus, which need no jax."""
    return [catalogue.entry(f"laboratory.cell.corpus.{each}") for each in issues]


def noted(folder: Path) -> list[int]:
    """Return the ids of processes that cases noted in `folder`."""
    pids = folder / "pids"
    return [int(line) for line in pids.read_text().splitlines()] if pids.exists() else []


def eventually(holds: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait until a condition is true. The limit is shorter than the sleep of a forgotten process."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)
