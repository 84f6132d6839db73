"""The probe: runs issues in this interpreter, one child process per case, and writes a record of each.

    python -m jax_stack_compat.cell.probe ORDER.json apart|bare

Cell side: the standard library and the stack, nothing else. It imports as much of the stack as a case needs and forks a
child for it, so a case costs its body and not an import; where an import has started threads or touched a device, or
where an issue asks for it, a fresh interpreter takes the fork's place.

Progress goes to standard output, one JSON object a line; whatever the stack prints goes to standard error. What ends
this process itself ends no other case: the last line names what it was in, and the driver's next order says so.
POSIX only; the limit on memory and the hunt for stray grandchildren need Linux's /proc.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import json
import os
import signal
import sys
import sysconfig
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from jax_stack_compat.cell import atomic, child, guard, machine, parts, signatures
from jax_stack_compat.cell.issue import Case, Issue

Json = dict[str, Any]

# In import order: each after the packages that it depends on.
STACK = ("numpy", "scipy", "jaxlib", "jax", "jaxtyping", "equinox", "lineax", "optimistix", "diffrax")
EX_IOERR, EX_TEMPFAIL = 74, 75
# What JAX loads as it first lowers, on some releases: said here, it is not loaded again in every child.
LOADED_LATE = {"jax": ("jaxlib.mlir.dialects.builtin", "jaxlib.mlir.dialects.mhlo")}
# Seconds.
SLOW_IMPORT = 10.0
_HAS_PROC = Path("/proc/self/task").is_dir()


def main(order_path: str, *, apart: bool) -> int:
    """Carry out the order: every case of it ends in a record on disk and a line of progress.

    `apart`: in namespaces of its own, where cases cannot write into the folders that the order has to be `shut`.
    """
    os.umask(0o022)
    faulthandler.enable()
    progress = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.register_at_fork(after_in_child=progress.close)
    os.dup2(2, 1)

    order: Json = json.loads(Path(order_path).read_text(encoding="utf-8"))

    def say(**event: Any) -> None:
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps(event), file=progress, flush=True)

    here = machine.describe(order["packages"])
    # The order's own folder, wherever an import goes.
    place = str(Path(order_path).parent)
    shut = [sys.prefix, sys.base_prefix, *order["shut"]] if apart else []
    packages = None if apart else _stamp()
    unread = _read_modules(order["cases"], say)
    imported: set[str] = set()
    # Package → how importing it ended, and what was said; first what the driver has seen end a probe.
    missing: dict[str, tuple[str, str]] = {name: (how, said) for name, (how, said) in order["unimportable"].items()}
    # Whoever depends on one of those would end this probe, too: to them it is not there.
    sys.modules.update(dict.fromkeys(missing))  # type: ignore[arg-type]
    unforkable: str | None = None
    # Each case forks from as little as it needs: importing diffrax starts a device on some releases, and ends forking.
    ahead = [(each, None if each["ended"] or each["module"] in unread else _case(each)) for each in order["cases"]]
    for each, case in sorted(ahead, key=lambda pair: _depth(pair[1])):
        lacking = machine.lacks(case) if case else None
        needed = [] if lacking or not case else [name for name in STACK if name in case.needs and name not in imported]
        for name in needed:
            imported.add(name)
            if name not in missing:
                say(event="import", package=name)
                missing |= _import(name)
            if (why := _why_not_fork()) != unforkable:
                unforkable = why
                say(event="unforkable", why=f"importing {name} {why}")
        say(event="start", issue=each["issue"], case=each["case"], seconds=case.seconds if case else 0)
        broken = [name for name in case.needs if name in missing] if case else []
        started_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        if each["ended"]:
            attempts = [_not_run("probe-ended", each["ended"])]
        elif case is None:
            attempts = [_not_run("probe-ended", unread[each["module"]])]
        elif lacking:
            attempts = [_not_run("unavailable", lacking)]
        elif broken:
            told = "; ".join(f"import {name}: {missing[name][1]}" for name in broken)
            attempts = [_not_run(missing[broken[0]][0], told)]
        else:
            try:
                how = {"most": order["most_attempts"], "forkable": unforkable is None, "place": place, "shut": shut}
                attempts = _attempts(each["module"], case, each["expected"], **how)
            except Exception as exception:  # a machine without processes, handles or room is no reason to stop here
                attempts = [_not_run("probe-ended", _told(exception))]
        record = {
            **{"schema_version": 2, "cell": order["cell"], "issue": each["issue"], "case": each["case"]},
            "key": each["key"],
            "started_at": started_at,
            "machine": {
                **here,
                "remade": order["remade"],
                "import_errors": {name: said for name, (_, said) in missing.items()},
                "unforkable": unforkable,
            },
            "attempts": attempts,
            **({"shared": each["shared"]} if each["shared"] else {}),
        }
        try:
            atomic.write(Path(each["record"]), json.dumps(record, indent=1) + "\n")
        except OSError as error:
            say(event="failed", why=f"cannot write the record of {each['issue']}/{each['case']}: {error.strerror}")
            return EX_IOERR
        say(event="done", issue=each["issue"], case=each["case"])
        if packages is not None and _stamp() != packages:
            say(event="written", issue=each["issue"], case=each["case"])
            return EX_TEMPFAIL
    say(event="end", device=_device())
    return 0


def _read_modules(cases: Sequence[Json], say: Callable[..., None]) -> dict[str, str]:
    """Import the issues. Return why one cannot be imported here, by its module: that costs its own cases alone."""
    unread: dict[str, str] = {}
    # A case that has ended a probe is not touched again.
    for module in dict.fromkeys(each["module"] for each in cases if not each["ended"]):
        say(event="read", module=module)
        try:
            _ = importlib.import_module(module).ISSUE
        except (Exception, SystemExit) as error:
            unread[module] = f"its module cannot be imported here: {_told(error)}"
    return unread


def _case(ordered: Json) -> Case:
    issue: Issue = importlib.import_module(ordered["module"]).ISSUE
    return next(case for case in issue.cases if case.id == ordered["case"])


def _depth(case: Case | None) -> int:
    """Return the place in the import order of the last package that a case needs. A case imports guests itself."""
    return max((STACK.index(name) for name in case.needs if name in STACK), default=-1) if case else -1


def _not_run(outcome: str, detail: str) -> Json:
    return {"parts": {"reproducer": {"outcome": outcome, "detail": detail}}, "seconds": 0.0}


def _attempts(module: str, case: Case, expected: str | None, *, most: int, **how: Any) -> list[Json]:
    """Run a case once if it goes as expected, and else `most` times, so that a flaky one shows."""
    first = _attempt(module, case, **how)
    found = first["parts"]
    well = all(_is_well(case, part) for name, part in found.items() if name != "reproducer")
    if well and expected is not None and _behaviour(found["reproducer"]) == expected:
        return [first]
    return [first, *(_attempt(module, case, **how) for _ in range(most - 1))]


def _is_well(case: Case, part: Json) -> bool:
    """Whether a control holds or a workaround helps, as far as the probe can tell."""
    if "behaviour" in part:
        return case.behaviours.get(part["behaviour"]) == "clear"
    return bool(part["outcome"] == "returned")


def _behaviour(part: Json) -> str | None:
    """The behaviour that was seen, as far as the probe can tell: the judge has the last word."""
    if part["outcome"] == "signal" and part["detail"] != "SIGKILL":
        return "crashed"
    return "hung" if part["outcome"] == "timeout" else part.get("behaviour")


def _attempt(module: str, case: Case, *, forkable: bool, place: str, shut: list[str]) -> Json:
    """Run all parts of `case`; one that took its child down, or was upset by an earlier one, costs only itself."""
    started = time.monotonic()
    todo = {name: parts.variables(case, name) for name in parts.of(case)}
    found: dict[str, Json] = {}
    peak = 0
    while todo:
        first, variables = next(iter(todo.items()))
        apart = case.isolation != "fork" and first == "reproducer"
        batch = [first] if apart else [name for name, needed in todo.items() if needed == variables]
        fork = forkable and not variables and not (apart and parts.needs_interpreter(case))
        how: Json = {"fork": fork, "farewell": apart, "variables": variables, "place": place, "shut": shut}
        said, usage = child.run(module, case, batch, **how)
        peak = max(peak, usage)
        for name in batch:
            upset = name in said and said[name]["outcome"] != "returned" and name not in ("reproducer", first)
            if name not in said or upset:
                break
            found[name] = said[name]
            del todo[name]
    return {"parts": found, "seconds": round(time.monotonic() - started, 3), "peak_rss_mib": peak}


def _import(name: str) -> dict[str, tuple[str, str]]:
    """Import a package. Return how that ended and why, under its name, if it failed.

    A slow import writes where it is to standard error every ten seconds. The driver ends one that hangs.
    """
    faulthandler.dump_traceback_later(SLOW_IMPORT, repeat=True)
    try:
        importlib.import_module(name)
        for part in LOADED_LATE.get(name, ()):
            with contextlib.suppress(ImportError):
                importlib.import_module(part)
    except (Exception, SystemExit) as exception:
        return {name: ("import-error", _told(exception))}
    finally:
        faulthandler.cancel_dump_traceback_later()
    return {}


def _told(exception: BaseException) -> str:
    """Return an exception in words, without the lone surrogates of a file name that is no text."""
    told = f"{type(exception).__name__}: {signatures.text(exception).strip()[:1000]}"
    return told.encode("utf-8", "backslashreplace").decode()


def _stamp() -> dict[str, tuple[int, int]]:
    """When each file of the installed packages was last changed, and its size, but for what Python compiles."""

    def files(folder: str) -> Iterator[os.DirEntry[str]]:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False) and entry.name != "__pycache__":
                    yield from files(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    yield entry

    found = {entry.path: entry.stat() for entry in files(sysconfig.get_paths()["purelib"])}
    return {path: (stat.st_mtime_ns, stat.st_size) for path, stat in found.items()}


def _why_not_fork() -> str | None:
    """Why a fork of this process would not be a sound place to run a case, or None."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    if getattr(bridge, "_backends", None):
        return "has started a device"
    # The thread that watched over an import is ended with it, and now and then takes milliseconds to be gone.
    for _ in range(50):
        tasks = len(list(Path("/proc/self/task").iterdir())) if _HAS_PROC else threading.active_count()
        if tasks == 1:
            return None
        time.sleep(0.01)
    return f"has started {tasks - 1} threads"


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
    for number in guard.ENDED_BY:
        signal.signal(number, guard.leave_at_once)
    try:
        status = main(sys.argv[1], apart=sys.argv[2] == guard.APART)
    except child.Farewell:
        sys.exit()  # a forked child, on its way out as any program goes
    except BaseException as error:
        status = 130 if isinstance(error, KeyboardInterrupt) else 1
        with contextlib.suppress(Exception):  # an import may have closed it
            traceback.print_exc()
            sys.stderr.flush()
    # All is on disk: the interpreter's own farewell would take a third of a second, and can crash.
    os._exit(status)
