"""Results of a device that no machine here has, as run.py would leave them."""

import json
import lzma
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from laboratory.orders.cases import case_keys, every
from laboratory.records import keys

KIND = "NVIDIA H100 80GB HBM3"
CELL = "jax-0.11.2+nvidia-h100"
DIGEST = "0" * 64
PACKAGES = {"jax": "0.11.2", "jaxlib": "0.11.2", "equinox": "0.13.8", "diffrax": "0.7.2", "jax-cuda13-plugin": "0.11.2"}
# A case that goes wrong on the CPU and not on the device, and one that is the same on both.
DIFFERS, SAME = ("wraps-lower-bypass", "jit"), ("wraps-lower-bypass", "vmap")
OF_DEVICE = ("compute-on-aot", "ahead-of-time")


def record(name: tuple[str, str], cell: str, behaviour: str) -> dict[str, Any]:
    """Return a record of a case that saw one behaviour, with the keys of this tree."""
    issue, case = name
    key = {
        **{"lock": DIGEST, "issue": case_keys()[name], "probe": keys.probe_sha256()},
        **{"python": "3.12", "platform": "Linux-x86_64"},
    }
    machine = {
        **{"python": "3.12.1", "cores": 16, "packages": PACKAGES, "cpu_features": [], "import_errors": {}},
        **{"platform": {"system": "Linux", "machine": "x86_64", "cpu": "a CPU"}, "unforkable": None},
    }
    part = {"outcome": "returned", "behaviour": behaviour, "detail": f"it is {behaviour}"}
    return {
        **{"schema_version": 2, "cell": cell, "issue": issue, "case": case, "key": key, "machine": machine},
        **{"started_at": "2026-11-26T10:00:00Z", "attempts": [{"parts": {"reproducer": part}, "seconds": 0.1}]},
    }


def good_and_bad(name: tuple[str, str]) -> tuple[str, str]:
    """Return a behaviour of a case that is clear, and one that is affected."""
    behaviours: Mapping[str, str] = every()[name][1].behaviours
    by_verdict = {verdict: behaviour for behaviour, verdict in behaviours.items()}
    return by_verdict["clear"], by_verdict["affected"]


def results(**changes: Any) -> dict[str, Any]:
    """Return the content of an archive."""
    of_device, of_cpu = CELL, f"{CELL}+on-cpu"
    good, bad = good_and_bad(DIFFERS)
    right = ["float32", [2], "0000803f00000040"]
    wrong = ["float32", [2], "0000803f00000041"]
    call = "eager jax.numpy.sin(float32)"
    found = {
        "schema_version": 1,
        "orders": {"made_at": "2026-11-26T09:00:00+00:00", "suite_version": "2026.11.24", "wants": "gpu"},
        "stack": {
            **{"cell": CELL, "digest": DIGEST, "python": "3.12.1", "packages": PACKAGES, "platform": "gpu"},
            **{"kind": KIND, "count": 1, "runtime": "cuda 13000", "driver": "580.65.06", "flags": {}},
        },
        "records": {
            "device": [
                record(DIFFERS, of_device, good),
                record(SAME, of_device, good_and_bad(SAME)[1]),
                record(OF_DEVICE, of_device, "on-the-host"),
            ],
            "cpu": [record(DIFFERS, of_cpu, bad), record(SAME, of_cpu, good_and_bad(SAME)[1])],
        },
        "numbers": {"device": {call: {"values": [wrong]}}, "cpu": {call: {"values": [right]}}},
        "numbers_machine": {},
        "programs": [{"workload": "scan", "counts": {"fusions": 3}, "compile_seconds": 0.5}],
        "texts": {"scan.hlo.txt": "HloModule jit_program_scan"},
        "timings": [{"benchmark": "basics.Scan.time_trace", "version": "1", "samples": [0.002, 0.001]}],
    }
    return {**found, **changes}


def archive(folder: Path, content: Mapping[str, Any]) -> Path:
    """Write an archive, and return its path."""
    path = folder / f"results-{CELL}.json.xz"
    path.write_bytes(lzma.compress(json.dumps(content).encode()))
    return path
