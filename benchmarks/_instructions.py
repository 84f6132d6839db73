"""How many machine instructions tracing and lowering take, by callgrind.

    python -m benchmarks._instructions basics.Scan

A count repeats to a tenth of a percent where a time varies by half, and takes a minute a workload. Everything up to the
one sample runs uncounted: the imports, and the first traces, which fill JAX's own caches. It prints a line of JSON with
the workload, and `instructions`. Parameters follow the name: `wraps_lower.Wrapped wrapped-10`, `basics.Matmul 64`.
"""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

WARM_UPS = 3


class NotHere(Exception):
    """What counts is not on this machine; the message says what to install."""


def counted(*arguments):
    """Run this module again, under valgrind, and return how many instructions it counted.

    Raises NotHere, and RuntimeError with what was said where nothing was counted.
    """
    if missing := [program for program in ("valgrind", "vgdb") if shutil.which(program) is None]:
        raise NotHere(f"counting instructions needs {' and '.join(missing)}, of the package valgrind: install that")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "callgrind.out")
        valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"]
        # Python keeps small objects in arenas of its own, and their addresses go into hashes.
        fixed = ["setarch", "-R"] if shutil.which("setarch") else []
        run = subprocess.run(
            [*fixed, *valgrind, "--quiet", sys.executable, "-m", "benchmarks._instructions", *arguments, "--counted"],
            cwd=Path(__file__).parent.parent,
            env={**os.environ, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu"},
            capture_output=True,
            text=True,
            check=False,
        )
        said = out.read_text(encoding="utf-8") if out.exists() else ""
    totals = [int(each) for each in re.findall(r"^(?:totals|summary): (\d+)", said, re.M)]
    if run.returncode != 0 or not any(totals):
        raise RuntimeError(f"nothing was counted: it ended with {run.returncode}\n{run.stdout}{run.stderr}")
    return totals[-1]


def main(arguments):
    """Count, and print it; or be what is counted."""
    if "--counted" in arguments:
        _run(arguments[0], arguments[1:-1])
        return None
    try:
        print(json.dumps({"workload": " ".join(arguments), "instructions": counted(*arguments)}))
    except (NotHere, RuntimeError) as error:
        return str(error)
    return None


def _run(name, parameters):
    from benchmarks import _phases

    module, _, workload = name.partition(".")
    workload = getattr(importlib.import_module(f"benchmarks.{module}"), workload)()
    parameters = [int(each) if each.isdecimal() else each for each in parameters]
    for _ in range(WARM_UPS):
        jitted, args = workload.fresh(*parameters)
        _phases.lower(jitted, *args)
    jitted, args = workload.fresh(*parameters)
    _switch("on")
    _phases.lower(jitted, *args)
    _switch("off")


def _switch(state):
    subprocess.run(["vgdb", f"--pid={os.getpid()}", "instrumentation", state], check=True, capture_output=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
