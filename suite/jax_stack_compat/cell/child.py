"""One child process of the probe: forked or started afresh, watched, limited, and ended with all that it has started.

Cell side. The child says what came of each part on a pipe of its own, a line of JSON each, so that one that is killed
loses only the part it was in; what it prints goes elsewhere, and cannot be taken for an answer.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import importlib
import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jax_stack_compat.cell import guard, parts
from jax_stack_compat.cell.issue import Case, Issue

Json = dict[str, Any]

KEPT_OUTPUT = 16 * 1024
MOST_OUTPUT = 32 * 1024 * 1024
MOST_REPORT = 1024 * 1024
# Runs a module with our root at the head of the path, and not the working folder, which is a case's to write into.
BOOT = "import runpy, sys; sys.path[0] = sys.argv.pop(1); runpy.run_module(sys.argv.pop(1), None, '__main__', True)"
_ROOT = str(Path(__file__).resolve().parents[2])
_HAS_PROC = Path("/proc/self/task").is_dir()


class Farewell(BaseException):
    """Takes a forked child out through the interpreter's own exit."""


def run(
    module: str,
    case: Case,
    names: list[str],
    *,
    fork: bool,
    farewell: bool,
    variables: Mapping[str, str],
    place: str,
    shut: Sequence[str],
) -> tuple[dict[str, Json], int]:
    """Run the parts `names` of `case` in one child; what came of each that was reached, and the peak RSS in MiB.

    `variables` are set for a fresh interpreter: a fork has those that its parent was started with. Each part has an
    empty folder in `place` to work in, which is removed afterwards, and cannot write into the folders `shut`.
    """
    report, report_end = os.pipe()
    output, output_end = os.pipe()
    probe = os.getpid()
    folder = tempfile.mkdtemp(dir=place)
    if fork:
        gc.freeze()  # or the child's first collection would look at, and so copy, every page of the stack
        pid = os.fork()
        if pid == 0:
            try:
                os.close(report)
                os.close(output)
                _settle(output_end, probe, shut)
                _run_parts(case, names, report_end, folder)
            except BaseException:  # nothing of the probe's is for this process to go on with
                traceback.print_exc()
                os._exit(1)
            if farewell:
                raise Farewell
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
    else:
        os.set_inheritable(report_end, True)
        os.set_inheritable(output_end, True)
        told = {"report": report_end, "output": output_end, "probe": probe, "folder": folder, "shut": list(shut)}
        words = [__spec__.name, module, case.id, ",".join(names), json.dumps(told)]
        command = [sys.executable, "-s", "-c", BOOT, _ROOT, *words]
        pid = os.posix_spawn(sys.executable, command, {**os.environ, **variables})
    os.close(report_end)
    os.close(output_end)
    try:
        watched = _Watch(pid, report, output, case)
        watched.until_it_ends()
    finally:
        guard.end(pid)
        os.close(report)
        os.close(output)
        shutil.rmtree(folder, ignore_errors=True)
    return _read_report(names, watched), watched.peak_rss_mib


def _in_interpreter(module: str, case_id: str, names: str, words: str) -> None:
    """What a fresh interpreter does, before it ends as any program does."""
    told: Json = json.loads(words)
    _settle(told["output"], told["probe"], told["shut"])
    os.set_inheritable(told["report"], False)
    issue: Issue = importlib.import_module(module).ISSUE
    case = next(case for case in issue.cases if case.id == case_id)
    _run_parts(case, names.split(","), told["report"], told["folder"])


def _settle(output: int, probe: int, shut: Sequence[str]) -> None:
    """Make this process one that the probe can end whole: a session of its own, its output caught, no core file."""
    os.setsid()
    guard.die_with_parent(signal.SIGKILL)
    if os.getppid() != probe:  # it was gone before the kernel was told
        os._exit(1)
    if shut:
        guard.shut(shut)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable()


def _run_parts(case: Case, names: list[str], report: int, folder: str) -> None:
    for name in names:
        os.environ["TMPDIR"] = tempfile.tempdir = f"{folder}/{name}"
        Path(folder, name).mkdir()
        os.chdir(Path(folder, name))
        line = json.dumps({**parts.run(case, name), "part": name}).encode() + b"\n"
        while line:
            line = line[os.write(report, line) :]


class _Watch:
    """Reads a child's pipes until it ends, and ends it where it goes over a limit.

    Afterwards: `report` and `output` are what it wrote, `cut` the limit it went over or None, `status` how it ended.
    """

    def __init__(self, pid: int, report: int, output: int, case: Case) -> None:
        self.report = b""
        self.output = b""
        self.cut: str | None = None
        self.status = 0
        self.peak_rss_mib = 0
        self._pid, self._case = pid, case
        self._pipes = {report: self._take_report, output: self._take_output}
        self._written = 0
        self._deadline = time.monotonic() + case.seconds

    def until_it_ends(self) -> None:
        """Return once the child has ended, by itself or by us."""
        pidfd = os.pidfd_open(self._pid) if hasattr(os, "pidfd_open") else None
        looked = time.monotonic()
        while True:
            self._drain([*self._pipes, *([] if pidfd is None else [pidfd])], 0.05 if pidfd is not None else 0.01)
            ended, status, usage = os.wait4(self._pid, os.WNOHANG)
            if ended:
                break
            now = time.monotonic()
            if self.cut is None and now > self._deadline:
                self._end("timeout")
            if _HAS_PROC and now - looked > 0.1:
                looked = now
                resident = _resident_mib(self._case.memory_mib)
                self.peak_rss_mib = max(self.peak_rss_mib, resident)
                if self.cut is None and resident > self._case.memory_mib:
                    self._end("memory")
        if pidfd is not None:
            os.close(pidfd)
        self.status = status
        self.peak_rss_mib = max(self.peak_rss_mib, usage.ru_maxrss // (1024 if sys.platform == "linux" else 1024**2))
        guard.end(self._pid)  # so that there is an end to what is drained
        while self._drain(list(self._pipes), 0):
            pass

    def _drain(self, handles: list[int], seconds: float) -> bool:
        """Read what is there; whether there was any."""
        ready, _, _ = select.select(handles, [], [], seconds)
        got = False
        for handle in ready:
            if handle in self._pipes:
                data = os.read(handle, 65536)
                if data:
                    got = True
                    self._pipes[handle](data)
                else:
                    del self._pipes[handle]
        return got

    def _take_report(self, data: bytes) -> None:
        self.report += data
        self._deadline = time.monotonic() + self._case.seconds
        if len(self.report) > MOST_REPORT:
            self._end("report")

    def _take_output(self, data: bytes) -> None:
        self._written += len(data)
        self.output = (self.output + data)[-KEPT_OUTPUT:]
        if self._written > MOST_OUTPUT:
            self._end("output")

    def _end(self, cut: str) -> None:
        if self.cut is not None:
            return
        self.cut = cut
        if cut == "timeout":
            # The child's faulthandler answers this with where it hangs.
            os.kill(self._pid, signal.SIGABRT)
            time.sleep(0.2)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)


def _read_report(names: list[str], watched: _Watch) -> dict[str, Json]:
    """What the child said of each part, and how it ended for the part that it ended in."""
    found: dict[str, Json] = {}
    garbled = False
    for line in watched.report.split(b"\n"):
        if not line:
            continue
        try:
            said = json.loads(line)
            found[said.pop("part")] = said
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            garbled = True
    end = _ending(watched, garbled)
    reached = [name for name in names if name in found]
    if end is None and len(reached) == len(names):
        return found
    end = end or {"outcome": "no-result", "detail": "it ended with exit status 0 and said nothing"}
    last = next((name for name in names if name not in found), names[-1])
    said_before = {"said": found[last]} if last in found else {}
    return {**found, last: {**end, **said_before, "output": watched.output.decode("utf-8", "backslashreplace")}}


def _ending(watched: _Watch, garbled: bool) -> Json | None:
    """The outcome of a child that did not end well, or None."""
    if watched.cut == "report" or (garbled and watched.cut is None):
        return {"outcome": "garbled", "detail": f"not the probe's words: {watched.report[-200:]!r}"}
    if watched.cut is not None:
        return {"outcome": watched.cut}
    if os.WIFSIGNALED(watched.status):
        number = os.WTERMSIG(watched.status)
        known = {each.value: each.name for each in signal.Signals}
        return {"outcome": "signal", "detail": known.get(number, f"signal {number}")}
    if os.WEXITSTATUS(watched.status):
        return {"outcome": "exit", "detail": f"exit status {os.WEXITSTATUS(watched.status)}"}
    return None


def _resident_mib(most: int) -> int:
    """What all descendants hold, in MiB. What they share counts once, where counted for each it were over `most`."""
    pids = list(guard.descendants(os.getpid()))
    resident = sum(map(_rss_mib, pids))
    return resident if resident <= most else sum(map(_pss_mib, pids))


def _rss_mib(pid: int) -> int:
    with contextlib.suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize() // 1024**2
    return 0


def _pss_mib(pid: int) -> int:
    with contextlib.suppress(OSError, IndexError, ValueError):
        told = Path(f"/proc/{pid}/smaps_rollup").read_text()
        return int(told.partition("\nPss:")[2].split()[0]) // 1024
    return _rss_mib(pid)


if __name__ == "__main__":
    _in_interpreter(*sys.argv[1:])
