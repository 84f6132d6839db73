"""Times of benchmarks without asv, for a machine that has jax and nothing else.

    python -m benchmarks._timing "basics.Scan.time_trace" "basics.Scan.track_device_busy"

Prints a line of JSON for each benchmark, with its samples in seconds. A sample is one that asv would take: the same
method with the same meter, after a first call, and as many as the method asks for. All benchmarks of a workload share
one process, forked from a process that has imported the stack and has no device.
"""

import gc
import itertools
import json
import sys
import time

from benchmarks import _counting, _listed, _phases

PHASES = ("trace", "lower", "compile", "first_call", "dispatch", "execute")
METHODS = (*(f"time_{phase}" for phase in PHASES), "track_device_busy")


def take(workload, method, params):
    """Return the samples of one benchmark."""
    made = workload()
    call = getattr(made, method)
    if method.startswith("track_"):
        return {"samples": [call(*params)]}
    asked = {name: getattr(call, name, getattr(made, name)) for name in ("number", "repeat")}
    least, most, seconds = asked["repeat"]
    if made.warmup_time:
        call(*params)
    gc.collect()
    gc.disable()
    started, samples = time.monotonic(), []
    while len(samples) < least or (len(samples) < most and time.monotonic() - started < seconds):
        before = _phases.METER()
        for _ in range(asked["number"]):
            call(*params)
        samples.append((_phases.METER() - before) / asked["number"])
    return {"samples": samples}


def main(keys):
    """Time these benchmarks, in the order of their modules."""
    found = _listed.benchmarks(dict.fromkeys(key.partition(".")[0] for key in keys), METHODS)
    wanted = [(key, asked) for key, (_, asked) in found.items() if key in keys]
    for _, of_workload in itertools.groupby(wanted, key=lambda each: each[1][0]):
        for key, told in _counting.measured(of_workload, take):
            print(json.dumps({"benchmark": key, "version": found[key][0], **told}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
