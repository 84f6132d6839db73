"""Calls of asv, each for one cell of the release line.

A release that cannot be installed ends asv's whole run, so each cell has a call. asv reinstalls its only environment at
each release, which takes longer than most measurements, so each cell has an environment folder. Environments and
results have the names that plain asv gives. asv reads the commit's hash from a file (HASHFILE), since it would file the
results of a tag under the tag's first letters.
"""

from __future__ import annotations

import json
import math
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from asv.machine import Machine, MachineCollection
from asv.util import UserError, load_json
from rich.text import Text

from jax_stack_compat.base.console import Terminal
from jax_stack_compat.base.errors import Failed
from jax_stack_compat.base.files import ROOT, STATE, dump
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.environments import interpreter, probe_call
from jax_stack_compat.stack import plan
from jax_stack_compat.stack.plan import Cell
from laboratory.timings import asv_main, release_line
from laboratory.timings.own_stack import Existing, keep, named
from laboratory.timings.results import RESULTS, copy_newer, slug

CONF = ROOT / "asv.conf.json"
WORK = STATE / "timings"
# Results measured here, with a copy of the published ones. --keep copies them into the tree.
MEASURED, FENCES, COUNTED = WORK / "results", WORK / "fences", WORK / "counts"
# A log has more than eighty columns, since the names of benchmarks are long.
OUT = Terminal(None if sys.stdout.isatty() else 160)
# A line of asv's progress.
_STEP = re.compile(r"\[\s*(?P<percent>[0-9.]+)%\] ·+ (?P<what>\S+)")


@dataclass(frozen=True)
class Asv:
    """A way to call asv: the machine's name, each cell's commit, and the folder of results."""

    machine: str
    commits: Mapping[str, str]
    results: Path = MEASURED
    existing: Existing | None = None

    def run(self, cell: Cell, label: str, *words: str) -> None:
        """Run `asv run` for one cell. Its results say what was measured; its exit status is ignored."""
        command = ("run", "--machine", self.machine, *words)
        if self.existing is None:
            hashfile = WORK / "hashes" / cell.id
            write(hashfile, f"{self.commits[cell.id]}\n")
            self._call(label, self._conf(cell.id), cell.python, *command, f"HASHFILE:{hashfile}")
            return
        # asv would name the environment by the interpreter's path, which is private.
        place = replace(self, results=WORK / "existing" / self.results.name)
        which = (f"--python={self.existing.executable}", f"--set-commit-hash={self.commits[cell.id]}")
        place._call(label, place._conf("existing", environment_type="existing"), cell.python, *command, *which)
        # asv prints the machine before it looks for an environment and for benchmarks, and may stop there.
        if (place.results / "benchmarks.json").exists():
            keep(place.results, self.results, self.machine, self.existing.python)

    def publish(self) -> Path:
        """Make asv's website of all results; return its folder. Raises Failed."""
        if not (self.results / "benchmarks.json").exists():
            raise Failed("there are no timings to publish: `nox -s bench` makes some")
        place = WORK / "published"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.results, place)
        # asv makes no chart of a benchmark without values, but its website asks for the chart.
        known = json.loads((place / "benchmarks.json").read_text(encoding="utf-8"))
        kept = {"version", *(name for path in place.glob("*/*-*.json") for name in _with_values(path))}
        listed = {name: benchmark for name, benchmark in known.items() if name in kept}
        (place / "benchmarks.json").write_text(json.dumps(listed), encoding="utf-8")
        conf = replace(self, results=place)._conf("publish")
        site = Path(json.loads(conf.read_text(encoding="utf-8"))["html_dir"])
        shutil.rmtree(site, ignore_errors=True)
        log = self._call("publish", conf, plan.cells()[0].python, "publish")
        if not (site / "index.html").exists():
            raise Failed(f"asv published nothing; it said, at the end: {last_words(log)}")
        return site

    def _conf(self, name: str, **otherwise: str) -> Path:
        """Write asv.conf.json with absolute paths, since asv reads it from another folder; return its path."""
        given = load_json(str(CONF), js_comments=True, api_version=1)
        given |= {
            "repo": str(release_line.PATH),
            "results_dir": str(self.results),
            "env_dir": str(STATE / "asv" / name),
            **{key: str(ROOT / given[key]) for key in ("benchmark_dir", "html_dir")},
            **otherwise,
        }
        path = WORK / "conf" / f"{name}.json"
        write(path, dump({"version": 1, **given}))
        return path

    def _call(self, label: str, conf: Path, python: str, *words: str) -> Path:
        """Run asv, show its progress, and keep its output in a log."""
        log = STATE / "logs" / f"asv-{label}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with (
            log.open("w", encoding="utf-8", buffering=1) as kept,
            subprocess.Popen(
                [sys.executable, "-u", "-P", asv_main.__file__, "--config", str(conf), *words],
                cwd=ROOT,
                env=self._surroundings(python),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
            ) as process,
        ):
            assert process.stdout is not None
            try:
                _show(label, process.stdout, kept)
            except BaseException:
                process.kill()
                raise
        return log

    def _surroundings(self, python: str) -> dict[str, str]:
        machines = WORK / "machines.json"
        kind = self.existing.kind if self.existing and self.existing.platform != "cpu" else ""
        write(machines, dump({"version": 1, self.machine: hardware(self.machine, kind)}))
        hidden = ("PYTHONPATH", "VIRTUAL_ENV")
        return {
            **{name: value for name, value in probe_call.surroundings().items() if name not in hidden},
            # asv takes the first python3.12 on PATH, which may be a version manager's shim that does not run.
            "PATH": f"{_bin_with(python)}{os.pathsep}{os.environ.get('PATH', '')}",
            "SUITE_ASV_MACHINES": str(machines),
            "SUITE_STACK": named(self.existing.versions) if self.existing else "",
        }


def _with_values(path: Path) -> Iterator[str]:
    """Yield the benchmarks with a number in a result file."""
    for name, (values, *_) in json.loads(path.read_text(encoding="utf-8"))["results"].items():
        if any(value is not None and math.isfinite(value) for value in values or ()):
            yield name


def machine_name() -> str:
    """Return the machine's name in results: its processor and number of cores, without private details."""
    cpu = str(Machine.get_defaults()["cpu"])
    words = re.sub(r"\(R\)|\(TM\)|\bCPU\b|\bProcessor\b|@.*|\d+-Core", "", cpu, flags=re.IGNORECASE)
    return f"cpu-{slug(words) or platform.machine()}-x{os.cpu_count()}"


def hardware(name: str, device: str = "") -> dict[str, str]:
    """Return asv's entry for this machine; `device` is the accelerator that computes, if any."""
    known: dict[str, str] = Machine.get_defaults()
    # The host's name and the kernel's build are private, and explain no timing.
    cpu = f"{device}, {known['cpu']}" if device else known["cpu"]
    # The memory that the kernel leaves differs from boot to boot, so round it.
    ram = round(int(known["ram"] or 0) / 2**30) * 2**30
    return {**known, "machine": name, "os": platform.system(), "cpu": cpu, "ram": str(ram)}


def build_line(*, console: Terminal) -> None:
    """Build the release line, prepare this machine for asv, and print an asv command. Raises Failed."""
    built = release_line.build(release_line.commits(), release_line.PATH)
    console.print(f"{release_line.PATH}: {'built' if built else 'unchanged'}", soft_wrap=True)
    command = prepare_plain()
    console.print("This command measures two releases with asv, and changes nothing in the tree:", soft_wrap=True)
    console.print(command, soft_wrap=True)


def prepare_plain() -> str:
    """Prepare plain asv on this machine, and return a command for it. Raises Failed.

    asv reads the machines from a file in the home folder. An entry for this processor is added there, and no other is
    changed.
    """
    name, (*_, base, other) = machine_name(), (cell for cell in release_line.cells() if cell.moves == "jax")
    conf = CONF if ROOT / ".suite" == STATE else Asv(name, {}, WORK / "plain")._conf("plain")
    for folder in (RESULTS, MEASURED):
        copy_newer(folder, WORK / "plain")
    known = Path(MachineCollection.get_machine_file_path())
    if known.exists() and known.read_text(encoding="utf-8").strip() in ("", "{}"):
        known.unlink()
    try:
        there = load_json(str(known), api_version=1) if known.exists() else {}
        if len(there) == 1 and not there.keys() & {name, platform.node()}:
            # asv uses a single entry for any machine. Save a copy under this host's name, so that this stays so.
            MachineCollection.save(platform.node(), *there.values())
        MachineCollection.save(name, hardware(name))
    except UserError as error:
        raise Failed(f"asv cannot use {known} ({error}): move it away and rerun") from error
    words = [sys.executable, "-m", "asv", "continuous", "--config", str(conf), "--machine", name, base.id, other.id]
    return f'PATH={shlex.quote(str(_bin_with(base.python)))}:"$PATH" {shlex.join(words)}'


def _bin_with(python: str) -> Path:
    """Return a folder with this Python under the name that asv looks for. Raises Failed."""
    try:
        found, _ = interpreter.find(python)
    except interpreter.NoInterpreter as error:
        raise Failed(str(error)) from error
    # A manager's shim must be called by its own name, so link the interpreter that the shim runs.
    asked = subprocess.run(
        [found, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True, check=True
    )
    link = WORK / "bin" / f"python{python}"
    link.parent.mkdir(parents=True, exist_ok=True)
    real = Path(asked.stdout.strip())
    if not link.is_symlink() or link.readlink() != real:
        link.unlink(missing_ok=True)
        link.symlink_to(real)
    return link.parent


def only(patterns: Sequence[str]) -> list[str]:
    """Return asv's options for the benchmarks that one of `patterns` matches."""
    return [word for pattern in patterns for word in ("--bench", pattern)]


def _show(label: str, lines: Iterable[str], log: IO[str]) -> None:
    """Log asv's lines, and show its progress: live on a terminal, else every 30 seconds."""
    last = time.monotonic()
    with OUT.status(Text(label)) as status:
        for line in lines:
            log.write(line)
            if step := _STEP.match(line):
                status.update(reached := Text(f"{label} {step['percent']}% {step['what']}"))
                if not OUT.is_terminal and time.monotonic() - last > 30:
                    last = time.monotonic()
                    OUT.print(reached, soft_wrap=True)


def last_words(log: Path) -> str:
    """Return the last lines of asv's log."""
    lines = [line.strip(" ·") for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    return " / ".join([line for line in lines if line][-3:]) or "nothing"
