"""Counts of the host's work in a phase: calls of functions in Python's thread, and machine instructions.

    python -m benchmarks._counting                                           what there is to count, a line of JSON each
    python -m benchmarks._counting "basics.Scan.time_trace" "basics.Scan.time_lower"                    calls of these
    valgrind --tool=callgrind … -m benchmarks._counting "basics.Scan.time_trace"         the same, and instructions

What is counted is what asv would time: the same benchmark, by the same meter, after samples that fill JAX's own caches,
with the garbage collector off. The phases of a workload share a process, forked from one that has imported the stack:
callgrind translates the compiler once for all of them, which takes longer than what is counted, and what else was asked
for makes no difference.

Calls are those that `sys.setprofile` tells of: of Python functions, and of C functions by Python ones. The compiler's
work has none, and its instructions are those of all its threads (`--separate-threads=no`). Of the other phases they are
those of Python's thread (`--separate-threads=yes`): those of a thread that computes meanwhile differ from run to run.
"""

import ctypes
import gc
import importlib
import inspect
import itertools
import json
import os
import signal
import sys
from pathlib import Path

from benchmarks import _meters, _phases

# Phases that the host does, in Python's thread; and those that the compiler has a part in.
BY_PYTHON = ("trace", "lower", "trace_and_lower", "dispatch")
BY_COMPILER = ("compile", "first_call", "new_object")
WARM_UPS = {**dict.fromkeys(BY_PYTHON, 2), **dict.fromkeys(BY_COMPILER, 1)}
# Of so many samples the least counts: a table that grows within one, as it would have sooner or later, is up to 7%.
SAMPLES = 2
# What takes longer is given up; callgrind takes ten times as long as the machine does, and the first time in a process
# a hundred times.
SECONDS = 1800
_PR_SET_PDEATHSIG = 1


def benchmarks(names):
    """The benchmarks of these modules that can be counted: asv's name with parameters → version and what to call."""
    found = {}
    for name in names:
        module = importlib.import_module(f"benchmarks.{name}")
        for key, workload in vars(module).items():
            if not inspect.isclass(workload) or key.startswith("_") or inspect.isabstract(workload):
                continue
            given = getattr(workload, "params", ())
            lists = [each if isinstance(each, (list, tuple)) else [each] for each in given]
            lists = lists if given and isinstance(given[0], (list, tuple)) else [given] if given else []
            for phase in WARM_UPS:
                if hasattr(workload, f"time_{phase}"):
                    for params in itertools.product(*lists):
                        shown = f"({', '.join(map(repr, params))})" if params else ""
                        asked = (workload, phase, params)
                        found[f"{name}.{key}.time_{phase}{shown}"] = (workload.version, asked)
    return found


def count(workload, phase, params):
    """Count one benchmark: calls, and instructions where this runs under callgrind."""
    made = workload()
    timed = getattr(made, f"time_{phase}")

    def sample(meter):
        _phases.METER = meter
        timed(*params)
        return meter.total

    for _ in range(WARM_UPS[phase]):
        timed(*params)
    told = {}
    gc.collect()
    gc.disable()
    if phase in BY_PYTHON:
        told["calls"] = sample(_meters.Calls())
    if _meters.under_callgrind():
        own = _meters.own_instructions()
        told["instructions"] = min(sample(_meters.Instructions()) for _ in range(SAMPLES)) - own
    return told


def _be_counted(asked, writer, parent):
    """Count these, and write down a line for each; the process ends with it."""
    if sys.platform == "linux":
        # What counts takes minutes, and without its parent nobody waits for it.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
    # What a release lacks says so, on standard output.
    sys.stdout = sys.stderr
    for key, each in asked.items():
        signal.alarm(SECONDS)
        try:
            told = count(*each)
        except NotImplementedError as error:
            told = {"lacking": str(error)}
        except Exception as error:
            told = {"failed": f"{type(error).__name__}: {error}"[:300]}
        finally:
            gc.enable()
        os.write(writer, f"{json.dumps([key, told])}\n".encode())
    os._exit(0)


def counted(asked):
    """Count these in a process of their own, name → told; what ends it has failed, and those after it get another."""
    left = dict(asked)
    while left:
        reader, writer = os.pipe()
        parent = os.getpid()
        child = os.fork()
        if child == 0:
            _be_counted(left, writer, parent)
        os.close(writer)
        with os.fdopen(reader, encoding="utf-8") as lines:
            for line in lines:
                key, told = json.loads(line)
                del left[key]
                yield key, told
        _, status = os.waitpid(child, 0)
        if left:
            del left[key := next(iter(left))]
            yield key, {"failed": f"it ended with {os.waitstatus_to_exitcode(status)}"}


def main(keys):
    """Count these; or say what there is."""
    every = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))
    found = benchmarks(dict.fromkeys(key.partition(".")[0] for key in keys) if keys else every)
    if not keys:
        for key, (version, _) in found.items():
            print(json.dumps({"benchmark": key, "version": version}))
    # Until here callgrind counts nothing (`--instr-atstart=no`), and imports take a third of the time.
    _meters.start()
    wanted = [(key, asked) for key, (_, asked) in found.items() if key in keys]
    for _, of_workload in itertools.groupby(wanted, key=lambda each: each[1][0]):
        for key, told in counted(of_workload):
            print(json.dumps({"benchmark": key, "version": found[key][0], **told}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
