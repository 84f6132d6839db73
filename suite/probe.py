"""The probe: runs issues in this interpreter, one child process per case, and writes a record of each.

    python -m suite.probe ORDER.json

Cell side: the standard library and the stack, nothing else. It imports the stack once and forks a child for every case,
so a case costs its body and not an import; where the import has started threads or touched a device, or where an issue
asks for it, a fresh interpreter takes the fork's place. The child says what it sees on a pipe of its own, line by line,
so that a child that is killed loses only the part it was in. The probe reads, limits (time, memory, output), and ends
with the child everything the child has started.

Progress goes to standard output, one JSON object a line; whatever the stack prints goes to standard error.
POSIX only; the limit on memory and the hunt for stray grandchildren need Linux's /proc.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import importlib
import importlib.metadata
import json
import os
import platform
import resource
import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from suite import atomic
from suite.issue import Case, Issue, Seen

Json = dict[str, Any]

STACK = ("jax", "jaxlib", "equinox", "diffrax")
PARTS = ("reproducer", "workaround", "control")
KEPT_OUTPUT = 16 * 1024
MOST_OUTPUT = 32 * 1024 * 1024
MOST_REPORT = 1024 * 1024
MOST_ATTEMPTS = 3
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_HAS_PROC = Path("/proc/self/task").is_dir()


def main(order_path: str) -> int:
    """Carry out the order: every case of it ends in a record on disk and a line of progress."""
    _die_with_parent()
    _become_subreaper()
    progress = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    order: Json = json.loads(Path(order_path).read_text(encoding="utf-8"))

    def say(**event: Any) -> None:
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps(event), file=progress, flush=True)

    missing: dict[str, str] = {}
    unforkable: str | None = None
    depth = 0
    # Each case forks from as little as it needs: importing diffrax starts a device on some releases, and ends forking.
    for each in sorted(order["cases"], key=lambda each: _depth(_case(each)[1])):
        issue, case = _case(each)
        while depth < _depth(case):
            missing |= _import(STACK[depth])
            depth += 1
            if (why := _why_not_fork()) != unforkable:
                unforkable = why
                say(event="unforkable", why=f"importing {STACK[depth - 1]} {why}")
        say(event="start", issue=issue.id, case=case.id)
        record = {
            **{"schema_version": 1, "cell": order["cell"], "issue": issue.id, "case": case.id, "key": each["key"]},
            "started_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "machine": {
                "python": platform.python_version(),
                "packages": {name: _version(name) for name in order["packages"]},
                "platform": _platform(),
                "import_errors": missing,
                "unforkable": unforkable,
            },
            "attempts": _attempts(each["module"], case, each["expected"], missing, forkable=unforkable is None),
        }
        atomic.write(Path(each["record"]), json.dumps(record, indent=1) + "\n")
        say(event="done", issue=issue.id, case=case.id)
    say(event="end", device=_device())
    return 0


def _case(ordered: Json) -> tuple[Issue, Case]:
    issue: Issue = importlib.import_module(ordered["module"]).ISSUE
    return issue, next(case for case in issue.cases if case.id == ordered["case"])


def _depth(case: Case) -> int:
    """How much of the stack a case needs imported."""
    return max((STACK.index(name) for name in case.needs), default=-1) + 1


def _attempts(module: str, case: Case, expected: str | None, missing: dict[str, str], *, forkable: bool) -> list[Json]:
    """Once where it goes as expected; else until there are three, so that what is flaky shows."""
    broken = {name: missing[name] for name in case.needs if name in missing}
    if broken:
        detail = "; ".join(f"import {name}: {error}" for name, error in broken.items())
        return [{"parts": {"reproducer": {"outcome": "import-error", "detail": detail}}, "seconds": 0.0}]
    attempts: list[Json] = []
    while len(attempts) < MOST_ATTEMPTS:
        attempts.append(_attempt(module, case, forkable=forkable))
        parts = attempts[-1]["parts"]
        others = [part for name, part in parts.items() if name != "reproducer"]
        if parts["reproducer"].get("behaviour") == expected and all(part["outcome"] == "returned" for part in others):
            break
    return attempts


def _attempt(module: str, case: Case, *, forkable: bool) -> Json:
    """Run all parts of `case`; one that took its child down, or was upset by an earlier one, costs only itself."""
    started = time.monotonic()
    todo = [name for name in PARTS if getattr(case, name) is not None]
    found: dict[str, Json] = {}
    peak = 0
    while todo:
        apart = case.isolation != "fork" and todo[0] == "reproducer"
        batch = todo[:1] if apart else todo
        fork = forkable and not (apart and case.isolation == "interpreter")
        said, usage = _child(module, case, batch, fork=fork, farewell=apart)
        peak = max(peak, usage)
        for name in batch:
            upset = name in said and said[name]["outcome"] != "returned" and name not in ("reproducer", batch[0])
            if name not in said or upset:
                break
            found[name] = said[name]
            todo.remove(name)
    return {"parts": found, "seconds": round(time.monotonic() - started, 3), "peak_rss_mib": peak}


class _Farewell(BaseException):
    """Takes a forked child out through the interpreter's own exit."""


def _child(module: str, case: Case, names: list[str], *, fork: bool, farewell: bool) -> tuple[dict[str, Json], int]:
    """Run the parts `names` of `case` in one child; what came of each that was reached, and the peak RSS in MiB."""
    report, report_end = os.pipe()
    output, output_end = os.pipe()
    if fork:
        pid = os.fork()
        if pid == 0:
            os.close(report)
            os.close(output)
            _settle(output_end)
            _run_parts(case, names, report_end)
            if farewell:
                raise _Farewell
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
    else:
        os.set_inheritable(report_end, True)
        os.set_inheritable(output_end, True)
        words = ["-m", "suite.probe", "--child", module, case.id, ",".join(names), str(report_end), str(output_end)]
        pid = os.posix_spawn(sys.executable, [sys.executable, *words], os.environ)
    os.close(report_end)
    os.close(output_end)
    try:
        watched = _Watch(pid, report, output, case)
        watched.until_it_ends()
    finally:
        _kill_everything(pid)
        os.close(report)
        os.close(output)
    return _read_report(names, watched), watched.peak_rss_mib


def _in_interpreter(module: str, case_id: str, names: str, report: str, output: str) -> None:
    """What a fresh interpreter does, before it ends as any program does."""
    _settle(int(output))
    os.set_inheritable(int(report), False)
    issue: Issue = importlib.import_module(module).ISSUE
    case = next(case for case in issue.cases if case.id == case_id)
    _run_parts(case, names.split(","), int(report))


def _settle(output: int) -> None:
    """Make this process one that the probe can end whole: a session of its own, its output caught, no core file."""
    os.setsid()
    _die_with_parent()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable()


def _run_parts(case: Case, names: list[str], report: int) -> None:
    for name in names:
        part: Callable[[], Seen | None] = getattr(case, name)
        started = time.monotonic()
        try:
            seen = part()
            said: Json = {"outcome": "returned"}
            if name == "reproducer":
                if not isinstance(seen, Seen):
                    raise TypeError(f"a reproducer returns Seen, not {seen!r}")
                said |= {"behaviour": seen.behaviour, "detail": seen.detail[:4096]}
        except BaseException as exception:
            trace = "".join(traceback.format_exception(exception))
            kind = f"{type(exception).__module__}.{type(exception).__qualname__}".removeprefix("builtins.")
            said = {"outcome": "raised", "exception": kind, "detail": str(exception)[:4096], "traceback": trace[-8192:]}
        said |= {"part": name, "seconds": round(time.monotonic() - started, 3)}
        line = json.dumps(said).encode() + b"\n"
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
                resident = sum(map(_rss_mib, [self._pid, *_descendants(self._pid)]))
                self.peak_rss_mib = max(self.peak_rss_mib, resident)
                if self.cut is None and resident > self._case.memory_mib:
                    self._end("memory")
        if pidfd is not None:
            os.close(pidfd)
        self.status = status
        self.peak_rss_mib = max(self.peak_rss_mib, usage.ru_maxrss // (1024 if sys.platform == "linux" else 1024**2))
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
        except (ValueError, KeyError, AttributeError, TypeError):
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
        return {"outcome": "signal", "detail": signal.Signals(os.WTERMSIG(watched.status)).name}
    if os.WEXITSTATUS(watched.status):
        return {"outcome": "exit", "detail": f"exit status {os.WEXITSTATUS(watched.status)}"}
    return None


def _kill_everything(pid: int) -> None:
    """End the child's session, and what left it: the probe is a subreaper, so strays have become its own children."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    while strays := _children(os.getpid()):
        for stray in strays:
            with contextlib.suppress(ProcessLookupError):
                os.kill(stray, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(stray, 0)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def _descendants(pid: int) -> Iterator[int]:
    for child in _children(pid):
        yield child
        yield from _descendants(child)


def _rss_mib(pid: int) -> int:
    with contextlib.suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize() // 1024**2
    return 0


def _import(name: str) -> dict[str, str]:
    """Import a package; under its name, why it could not be."""
    try:
        importlib.import_module(name)
    except Exception as exception:
        return {name: f"{type(exception).__name__}: {str(exception).strip()[:1000]}"}
    return {}


def _why_not_fork() -> str | None:
    """Why a fork of this process would not be a sound place to run a case, or None."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    if getattr(bridge, "_backends", None):
        return "has started a device"
    tasks = len(list(Path("/proc/self/task").iterdir())) if _HAS_PROC else threading.active_count()
    if tasks > 1:
        return f"has started {tasks - 1} threads"
    return None


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _platform() -> Json:
    cpu = platform.processor()
    with contextlib.suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return {"system": platform.system(), "machine": platform.machine(), "cpu": cpu}


def _device() -> str:
    jax = sys.modules.get("jax")
    if jax is None:
        return "none"
    try:
        device = jax.devices()[0]
        return f"{device.platform} ({device.device_kind})" if device.device_kind != device.platform else device.platform
    except Exception as exception:
        return f"none: {type(exception).__name__}"


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _become_subreaper() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        _in_interpreter(*sys.argv[2:])
    else:
        try:
            sys.exit(main(sys.argv[1]))
        except KeyboardInterrupt:
            sys.exit(130)
        except _Farewell:
            pass
