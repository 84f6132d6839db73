"""What a trace and a lowering take, counted: calls of functions in Python's thread, and machine instructions.

    python -m benchmarks._counting                                           what there is to count, a line of JSON each
    python -m benchmarks._counting "basics.Scan.time_trace" "basics.Scan.time_lower"                    calls of these
    valgrind --tool=callgrind … -m benchmarks._counting "basics.Scan.time_trace"         the same, and instructions

What is counted is what asv would time: the same benchmark, by the same meter, after WARM_UPS samples that fill JAX's
own caches, with the garbage collector off. Each benchmark has a process of its own, forked from one that has imported
the stack, so that what else was asked for makes no difference.

Calls are those that `sys.setprofile` tells of: of Python functions, and of C functions by Python ones. Instructions are
those of Python's thread, as those of a thread that computes meanwhile differ from run to run.
"""

import ctypes
import functools
import gc
import importlib
import inspect
import itertools
import json
import mmap
import os
import platform
import re
import signal
import sys
from pathlib import Path

from benchmarks import _phases

PHASES = ("trace", "lower", "trace_and_lower")
WARM_UPS = 2
# What takes longer is given up; callgrind takes fifty times as long as the machine does.
SECONDS = 1800
# Where callgrind writes what it counted, so that this can read it: it puts the process's id after it.
OUT = "SUITE_CALLGRIND_OUT"

# valgrind looks for these instructions, which do nothing elsewhere, and answers (valgrind.h, "client requests").
# It is a function of one argument, the address of a request, that returns the answer.
_REQUEST = {"x86_64": "4889f8 31d2 48c1c703 48c1c70d 48c1c73d 48c1c733 4887db 4889d0 c3"}
_RUNNING = 0x1001
_CALLGRIND = (ord("C") << 24) + (ord("T") << 16)
_TOGGLE, _START = _CALLGRIND + 2, _CALLGRIND + 4


@functools.cache
def _asker():
    """The function that asks valgrind; None where it is not known how."""
    code = _REQUEST.get(platform.machine())
    if code is None:
        return None
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(bytes.fromhex(code))
    asker = ctypes.CFUNCTYPE(ctypes.c_ulong, ctypes.c_void_p)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    asker.page = page
    return asker


def _ask(request, argument=0):
    asker, asked = _asker(), (ctypes.c_ulong * 6)(request, argument)
    return asker(ctypes.addressof(asked)) if asker else 0


class Calls:
    """A meter of calls."""

    def __init__(self):
        self.total = 0

    def __enter__(self):
        sys.setprofile(self._on_event)

    def __exit__(self, *_):
        sys.setprofile(None)
        # This call, and that of `setprofile`.
        self.total -= 2

    def _on_event(self, frame, event, what):
        if event in ("call", "c_call"):
            self.total += 1


class Instructions:
    """A meter of instructions: from its first use on all threads are counted, and Python's only within `with`."""

    def __init__(self):
        self._started = False

    def __enter__(self):
        if self._started:
            _ask(_TOGGLE)
        else:
            self._started = True
            _ask(_START)

    def __exit__(self, *_):
        _ask(_TOGGLE)


def counted(out):
    """The instructions that callgrind wrote down: a file for each thread, Python's the first."""
    written = Path(f"{out}-01").read_text(encoding="utf-8")
    return int(re.search(r"^totals: (\d+)", written, re.M).group(1))


def benchmarks(names):
    """The benchmarks of PHASES in these modules: asv's name with parameters → version and what to call."""
    found = {}
    for name in names:
        module = importlib.import_module(f"benchmarks.{name}")
        for key, workload in vars(module).items():
            if not inspect.isclass(workload) or key.startswith("_") or inspect.isabstract(workload):
                continue
            given = getattr(workload, "params", ())
            lists = [each if isinstance(each, (list, tuple)) else [each] for each in given]
            lists = lists if given and isinstance(given[0], (list, tuple)) else [given] if given else []
            for phase in PHASES:
                if hasattr(workload, f"time_{phase}"):
                    for params in itertools.product(*lists):
                        shown = f"({', '.join(map(repr, params))})" if params else ""
                        asked = (workload, phase, params)
                        found[f"{name}.{key}.time_{phase}{shown}"] = (workload.version, asked)
    return found


def count(workload, phase, params):
    """Count one benchmark, once: calls, and instructions where this runs under callgrind."""
    made = workload()
    timed = getattr(made, f"time_{phase}")
    for _ in range(WARM_UPS):
        timed(*params)
    gc.collect()
    gc.disable()
    _phases.METER = calls = Calls()
    timed(*params)
    if _ask(_RUNNING):
        _phases.METER = Instructions()
        timed(*params)
    return {"calls": calls.total}


def _in_a_fork(workload, phase, params):
    """Count in a process of its own: what it found, or why it did not."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            # What is not there says so, on standard output.
            sys.stdout = sys.stderr
            signal.alarm(SECONDS)
            told = count(workload, phase, params)
        except NotImplementedError as error:
            told = {"lacking": str(error)}
        except BaseException as error:
            told = {"failed": f"{type(error).__name__}: {error}"[:300]}
        os.write(writer, json.dumps(told).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as said:
        told = said.read()
    _, status = os.waitpid(child, 0)
    if status or not told:
        return {"failed": f"it ended with {os.waitstatus_to_exitcode(status)}"}
    found = json.loads(told)
    if "calls" in found and _ask(_RUNNING):
        found["instructions"] = counted(f"{os.environ[OUT]}.{child}")
    return found


def main(keys):
    """Count these; or say what there is."""
    every = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))
    found = benchmarks(dict.fromkeys(key.partition(".")[0] for key in keys) if keys else every)
    for key, (version, asked) in found.items():
        if not keys or key in keys:
            told = _in_a_fork(*asked) if keys else {}
            print(json.dumps({"benchmark": key, "version": version, **told}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
