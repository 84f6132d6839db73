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
import itertools
import json
import os
import signal
import sys

from benchmarks import _listed, _meters, _phases

# Phases that run in Python's thread, and phases in which the compiler takes part.
BY_PYTHON = ("time_trace", "time_lower", "time_trace_and_lower", "time_dispatch")
BY_COMPILER = ("time_compile", "time_first_call", "time_new_object")
WARM_UPS = {**dict.fromkeys(BY_PYTHON, 2), **dict.fromkeys(BY_COMPILER, 1)}
# The least of so many samples counts. One sample may include the growth of a table, which adds up to 7%.
SAMPLES = 2
# Seconds after which a count is given up. Callgrind is ten times slower than the machine, and a hundred times slower
# the first time in a process.
SECONDS = 1800
_PR_SET_PDEATHSIG = 1


def count(workload, method, params):
    """Count one benchmark: its calls, and its instructions under callgrind."""
    timed = getattr(workload(), method)

    def sample(meter):
        _phases.METER = meter
        timed(*params)
        return meter.total

    for _ in range(WARM_UPS[method]):
        timed(*params)
    told = {}
    gc.collect()
    gc.disable()
    if method in BY_PYTHON:
        told["calls"] = sample(_meters.Calls())
    if _meters.under_callgrind():
        own = _meters.own_instructions()
        told["instructions"] = min(sample(_meters.Instructions()) for _ in range(SAMPLES)) - own
    return told


def _be_measured(asked, measure, writer, parent):
    """Measure these benchmarks, write a line for each, and end the process."""
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
            told = measure(*each)
        except NotImplementedError as error:
            told = {"lacking": str(error)}
        except Exception as error:
            told = {"failed": f"{type(error).__name__}: {error}"[:300]}
        finally:
            gc.enable()
        os.write(writer, f"{json.dumps([key, told])}\n".encode())
    os._exit(0)


def measured(asked, measure):
    """Yield what `measure` returns for each of these benchmarks, from a child process.

    A benchmark that ends the child has failed, and a new child continues with the rest.
    """
    left = dict(asked)
    while left:
        reader, writer = os.pipe()
        parent = os.getpid()
        child = os.fork()
        if child == 0:
            _be_measured(left, measure, writer, parent)
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
    named = dict.fromkeys(key.partition(".")[0] for key in keys)
    found = _listed.benchmarks(named or _listed.modules(), WARM_UPS)
    if not keys:
        for key, (version, _) in found.items():
            print(json.dumps({"benchmark": key, "version": version}))
    # Callgrind starts counting here (`--instr-atstart=no`): imports would take a third of the time.
    _meters.start()
    wanted = [(key, asked) for key, (_, asked) in found.items() if key in keys]
    for _, of_workload in itertools.groupby(wanted, key=lambda each: each[1][0]):
        for key, told in measured(of_workload, count):
            print(json.dumps({"benchmark": key, "version": found[key][0], **told}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
