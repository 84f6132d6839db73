"""The benchmarks of modules by asv's names, for the collectors that make a benchmark's calls without asv."""

import importlib
import inspect
import itertools
from pathlib import Path


def modules():
    """Return the names of the modules with benchmarks."""
    return sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))


def benchmarks(names, methods):
    """Return the benchmarks of these modules that are one of these methods.

    The result maps asv's name with parameters to the version, and to the call: a workload, its method, parameters.
    """
    found = {}
    for name in names:
        module = importlib.import_module(f"benchmarks.{name}")
        for key, workload in vars(module).items():
            if not inspect.isclass(workload) or key.startswith("_") or inspect.isabstract(workload):
                continue
            given = getattr(workload, "params", ())
            lists = [each if isinstance(each, (list, tuple)) else [each] for each in given]
            lists = lists if given and isinstance(given[0], (list, tuple)) else [given] if given else []
            for method in methods:
                if hasattr(workload, method):
                    for params in itertools.product(*lists):
                        shown = f"({', '.join(map(repr, params))})" if params else ""
                        found[f"{name}.{key}.{method}{shown}"] = (workload.version, (workload, method, params))
    return found
