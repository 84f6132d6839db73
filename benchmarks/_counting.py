"""Counts of the host's work in a phase: calls of functions in Python's thread, and machine instructions.

    python -m benchmarks._counting                                       list the benchmarks, a line of JSON each
    python -m benchmarks._counting "basics.Scan.time_trace" "basics.Scan.time_lower"               count their calls
    valgrind --tool=callgrind … -m benchmarks._counting "basics.Scan.time_trace"       count calls and instructions

The counted call is the one that asv times: the same benchmark with the same meter, after samples that fill JAX's
caches, and without the garbage collector. All phases of a workload share one process, forked from a process that has
imported the stack. So callgrind translates the compiler's code only once, which takes longer than the counting. The
other benchmarks that are requested do not change a count.

`sys.setprofile` reports the calls: of Python functions, and of C functions by Python. The compiler's work has no such
calls: its instructions are counted in all threads (`--separate-threads=no`). In the other phases, instructions are
counted in Python's thread only (`--separate-threads=yes`), since the counts of other threads differ between runs.
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

# Phases that run in Python's thread, and phases in which the compiler takes part.
BY_PYTHON = ("trace", "lower", "trace_and_lower", "dispatch")
BY_COMPILER = ("compile", "first_call", "new_object")
WARM_UPS = {**dict.fromkeys(BY_PYTHON, 2), **dict.fromkeys(BY_COMPILER, 1)}
# The least of so many samples counts. One sample may include the growth of a table, which adds up to 7%.
SAMPLES = 2
# Seconds after which a count is given up. Callgrind is ten times slower than the machine, and a hundred times slower
# the first time in a process.
SECONDS = 1800
_PR_SET_PDEATHSIG = 1


def benchmarks(names):
    """Return the countable benchmarks of these modules: asv's name with parameters → version, and the call to count."""
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
    """Count one benchmark: its calls, and its instructions under callgrind."""
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
    """Count these benchmarks, write a line for each, and end the process."""
    if sys.platform == "linux":
        # Counting takes minutes: stop if the parent, which waits for the result, is gone.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
    # Benchmarks print why they are not applicable; keep that out of the results.
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
    """Yield the counts of these benchmarks, from a child process.

    A benchmark that ends the child has failed, and a new child continues with the rest.
    """
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
    """Count these benchmarks; without keys, list all benchmarks."""
    every = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))
    found = benchmarks(dict.fromkeys(key.partition(".")[0] for key in keys) if keys else every)
    if not keys:
        for key, (version, _) in found.items():
            print(json.dumps({"benchmark": key, "version": version}))
    # Callgrind starts counting here (`--instr-atstart=no`): imports would take a third of the time.
    _meters.start()
    wanted = [(key, asked) for key, (_, asked) in found.items() if key in keys]
    for _, of_workload in itertools.groupby(wanted, key=lambda each: each[1][0]):
        for key, told in counted(of_workload):
            print(json.dumps({"benchmark": key, "version": found[key][0], **told}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
