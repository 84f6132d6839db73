"""The probe: runs issues in this interpreter, one child process per case, and writes a record of each.

    python -m suite.cell.probe ORDER.json

Cell side: the standard library and the stack, nothing else. It imports as much of the stack as a case needs and forks a
child for it, so a case costs its body and not an import; where an import has started threads or touched a device, or
where an issue asks for it, a fresh interpreter takes the fork's place.

Progress goes to standard output, one JSON object a line; whatever the stack prints goes to standard error.
POSIX only; the limit on memory and the hunt for stray grandchildren need Linux's /proc.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import json
import os
import platform
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from suite.cell import atomic, child
from suite.cell.issue import Case, Issue

Json = dict[str, Any]

STACK = ("jax", "jaxlib", "equinox", "diffrax")
EX_IOERR = 74
# What JAX loads as it first lowers, on some releases: said here, it is not loaded again in every child.
LOADED_LATE = {"jaxlib": ("jaxlib.mlir.dialects.builtin", "jaxlib.mlir.dialects.mhlo")}
PARTS = ("reproducer", "workaround", "control")
MOST_ATTEMPTS = 3
_HAS_PROC = Path("/proc/self/task").is_dir()


def main(order_path: str) -> int:
    """Carry out the order: every case of it ends in a record on disk and a line of progress."""
    child.die_with_parent()
    child.become_subreaper()
    progress = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.register_at_fork(after_in_child=progress.close)
    os.dup2(2, 1)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    order: Json = json.loads(Path(order_path).read_text(encoding="utf-8"))

    def say(**event: Any) -> None:
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps(event), file=progress, flush=True)

    here = {
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in order["packages"]},
        "platform": _platform(),
    }
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
            "machine": {**here, "import_errors": missing, "unforkable": unforkable},
            "attempts": _attempts(each["module"], case, each["expected"], missing, forkable=unforkable is None),
        }
        try:
            atomic.write(Path(each["record"]), json.dumps(record, indent=1) + "\n")
        except OSError as error:
            say(event="failed", why=f"cannot write the record of {issue.id}/{case.id}: {error.strerror}")
            return EX_IOERR
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
    first = _attempt(module, case, forkable=forkable)
    parts = first["parts"]
    well = all(part["outcome"] == "returned" for name, part in parts.items() if name != "reproducer")
    if well and expected is not None and _behaviour(parts["reproducer"]) == expected:
        return [first]
    return [first, *(_attempt(module, case, forkable=forkable) for _ in range(MOST_ATTEMPTS - 1))]


def _behaviour(part: Json) -> str | None:
    """The behaviour that was seen, as far as the probe can tell: the judge has the last word."""
    if part["outcome"] == "signal" and part["detail"] != "SIGKILL":
        return "crashed"
    return "hung" if part["outcome"] == "timeout" else part.get("behaviour")


def _attempt(module: str, case: Case, *, forkable: bool) -> Json:
    """Run all parts of `case`; one that took its child down, or was upset by an earlier one, costs only itself."""
    started = time.monotonic()
    todo = [name for name in PARTS if getattr(case, name) is not None]
    found: dict[str, Json] = {}
    peak = 0
    while todo:
        apart = case.isolation != "fork" and todo[0] == "reproducer"
        batch = todo[:1] if apart else todo.copy()
        fork = forkable and not (apart and case.isolation == "interpreter")
        said, usage = child.run(module, case, batch, fork=fork, farewell=apart)
        peak = max(peak, usage)
        for name in batch:
            upset = name in said and said[name]["outcome"] != "returned" and name not in ("reproducer", batch[0])
            if name not in said or upset:
                break
            found[name] = said[name]
            todo.remove(name)
    return {"parts": found, "seconds": round(time.monotonic() - started, 3), "peak_rss_mib": peak}


def _import(name: str) -> dict[str, str]:
    """Import a package; under its name, why it could not be."""
    try:
        importlib.import_module(name)
        for part in LOADED_LATE.get(name, ()):
            with contextlib.suppress(ImportError):
                importlib.import_module(part)
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


if __name__ == "__main__":
    try:
        status = main(sys.argv[1])
    except KeyboardInterrupt:
        status = 130
    except child.Farewell:
        sys.exit()  # a forked child, on its way out as any program goes
    # All is on disk: the interpreter's own farewell would take a third of a second, and can crash.
    sys.stderr.flush()
    os._exit(status)
