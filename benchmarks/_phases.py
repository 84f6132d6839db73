"""The phases of a workload, as base classes for asv's benchmarks, and the counts.

The classes are abstract, so that asv does not take them for benchmarks. None has a `setup`, since asv would then time
single calls, which take only microseconds. A benchmark prepares a phase itself, with the clock stopped.
"""

from __future__ import annotations

import abc
import functools
import gzip
import importlib
import importlib.metadata
import itertools
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path

# JAX reads these variables at import. A result from a disk cache would look like a fast compiler.
for _name in ("JAX_COMPILATION_CACHE_DIR", "JAX_ENABLE_COMPILATION_CACHE"):
    os.environ.pop(_name, None)

import jax  # noqa: E402

_CACHE_HITS = []


def _on_event(event, **_):
    if event == "/jax/compilation_cache/cache_hits":
        _CACHE_HITS.append(event)


jax.monitoring.register_event_listener(_on_event)


class Meter:
    """A clock that runs only inside `with`; asv reads it as the `timer` of a benchmark."""

    def __init__(self):
        self.total = 0.0
        self._started = 0.0

    def __enter__(self):
        self._started = time.perf_counter()

    def __exit__(self, *_):
        self.total += time.perf_counter() - self._started

    def __call__(self):
        return self.total


METER = Meter()


def not_applicable(reason):
    """Skip the benchmark as n/a, with the reason in its log.

    asv accepts NotImplementedError only in a `setup`; elsewhere it needs asv's own subclass.
    """
    mark = sys.modules.get("asv_runner.benchmarks.mark")
    print(f"n/a: {reason}")
    raise getattr(mark, "SkipNotImplemented", NotImplementedError)(reason)


@functools.cache
def assert_versions():
    """Raise unless the installed versions are the pins of asv's commit; outside asv there are no pins.

    asv checks the commit out into `project`, in its environment's folder. For an existing interpreter, the caller of
    asv names the versions in SUITE_STACK.
    """
    _assert_installed(re.findall(r"(\S+)==(\S+)", os.environ.get("SUITE_STACK", "")), "that was to be measured")
    commit, environment = os.environ.get("ASV_COMMIT"), os.environ.get("ASV_ENV_DIR")
    if not commit or not environment:
        return
    project = Path(environment, "project")
    head = (project / ".git" / "HEAD").read_text(encoding="utf-8").strip()
    if head != commit:
        raise RuntimeError(f"asv says commit {commit}, and its checkout is of {head}: no lock to hold the versions to")
    pins = re.findall(r"^([\w.-]+)==([^\s\\;]+)", (project / "requirements.txt").read_text(encoding="utf-8"), re.M)
    if "jax" not in dict(pins):
        raise RuntimeError(f"the lock of commit {commit} pins no jax")
    _assert_installed(pins, f"of commit {commit}")


def _assert_installed(pins, whose):
    wrong = []
    for name, pinned in pins:
        if (installed := version(name)) != pinned:
            wrong.append(f"{name} is {installed}, not {pinned}")
    if wrong:
        raise RuntimeError(f"this is not the stack {whose}: {', '.join(wrong)}")


# The backends that existed before this process was forked, if it was.
_BACKENDS_BEFORE_FORK = []


def _note_fork():
    from jax._src import xla_bridge

    _BACKENDS_BEFORE_FORK.extend(getattr(xla_bridge, "_backends", ()))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def assert_sound():
    """Raise unless the process is fit to measure: the lock's versions, no cache, no device from before a fork."""
    assert_versions()
    if _BACKENDS_BEFORE_FORK:
        raise RuntimeError(
            "this process was forked from one that had a device, which does not survive: use --launch-method spawn"
        )
    if getattr(jax.config, "jax_compilation_cache_dir", None) is not None:
        jax.config.update("jax_compilation_cache_dir", None)


def preimport_diffrax():
    """Import Diffrax, unless the import would start a device; then each benchmark imports it in its own process.

    asv forks these processes from one that has imported all benchmarks, and a device does not survive a fork.
    Optimistix 0.0.11 starts a device at import. The version is checked, since an attempt to import would start the
    device.
    """
    if version("optimistix") != "0.0.11":
        importlib.import_module("diffrax")


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "missing"


def trace(jitted, *args):
    """Trace a jitted function, so that `lower()` of the result does not trace again.

    `jit(f).trace` exists since JAX 0.4.29. Before, `make_jaxpr` of the jitted function traces f into jit's own cache,
    and puts one equation around it. Then `jit(f).lower(x)` finds the trace of f in the cache.
    """
    if hasattr(jitted, "trace"):
        return jitted.trace(*args)
    jax.make_jaxpr(jitted)(*args)
    return _Traced(jitted, args)


class _Traced:
    def __init__(self, jitted, args):
        self._jitted, self._args = jitted, args

    def lower(self):
        """Lower the traced function."""
        return self._jitted.lower(*self._args)


def lower(jitted, *args):
    """Trace and lower a jitted function."""
    return trace(jitted, *args).lower()


def compiled(lowered):
    """Compile with the compiler, not from a cache."""
    result = lowered.compile()
    if _CACHE_HITS:
        raise RuntimeError("the executable came from JAX's persistent cache, which is to be off")
    return result


class Workload(abc.ABC):
    """The base class of all phases: a workload, made anew for each sample."""

    timeout = 180.0
    rounds = 1
    number = 1
    repeat = (3, 10, 0.3)
    # Above zero, so that asv makes one call, the first in the process, before the samples.
    warmup_time = 1e-6
    timer = METER

    @abc.abstractmethod
    def make(self, *params):
        """Return a new, untraced function and its arguments, as NumPy arrays: making JAX arrays would compile."""

    def jit(self, function):
        """Jit the function."""
        return jax.jit(function)

    def fresh(self, *params):
        """Return a new jitted function, never traced, and its arguments."""
        assert_sound()
        function, args = self.make(*params)
        return self.jit(function), jax.block_until_ready(jax.device_put(args))

    @functools.cached_property
    def _ready(self):
        return {}

    def ready(self, *params):
        """Return a jitted function that was called before, and its arguments."""
        if params not in self._ready:
            jitted, args = self.fresh(*params)
            jax.block_until_ready(jitted(*args))
            self._ready[params] = jitted, args
        return self._ready[params]


class Tracing(Workload):
    """Python to jaxpr."""

    def time_trace(self, *params):
        """Time `jit(f).trace(x)`; `trace` has the substitute for JAX before 0.4.29."""
        jitted, args = self.fresh(*params)
        with METER:
            trace(jitted, *args)


class Lowering(Workload):
    """Jaxpr to StableHLO."""

    def time_lower(self, *params):
        """Time `jit(f).trace(x).lower()`, without the trace."""
        jitted, args = self.fresh(*params)
        traced = trace(jitted, *args)
        with METER:
            traced.lower()


class Compiling(Workload):
    """StableHLO to an executable."""

    def time_compile(self, *params):
        """Time `lowered.compile()`."""
        jitted, args = self.fresh(*params)
        lowered = lower(jitted, *args)
        with METER:
            compiled(lowered)


class FirstCall(Workload):
    """All phases of a first call."""

    def time_first_call(self, *params):
        """Time the first call of an untraced function, until it completes."""
        jitted, args = self.fresh(*params)
        with METER:
            jax.block_until_ready(jitted(*args))

    def peakmem_first_call(self, *params):
        """Measure the peak memory of a process that calls the function once."""
        jitted, args = self.fresh(*params)
        jax.block_until_ready(jitted(*args))


class Dispatching(Workload):
    """A call, until it returns to the host."""

    def time_dispatch(self, *params):
        """Time a call until it returns; wait for its result with the clock stopped."""
        jitted, args = self.ready(*params)
        with METER:
            out = jitted(*args)
        jax.block_until_ready(out)

    time_dispatch.number = 20
    time_dispatch.repeat = (5, 20, 0.1)


class Executing(Workload):
    """A call, until its result is ready."""

    def time_execute(self, *params):
        """Time a call until its result is ready."""
        jitted, args = self.ready(*params)
        with METER:
            jax.block_until_ready(jitted(*args))

    time_execute.number = 5
    time_execute.repeat = (5, 20, 0.2)


class Slow(Workload):
    """A workload whose host phases take seconds: each is timed once or twice in a process, including the first time."""

    repeat = (1, 2, 0.5)
    warmup_time = 0.0


class Host(Tracing, Lowering, Compiling):
    """The phases that the host goes through once."""


class Steady(Dispatching, Executing):
    """The phases of each call."""


class DeviceBusy(Workload):
    """The device's own time, by the profiler."""

    calls = 5

    def track_device_busy(self, *params):
        """Return the seconds in which the device was at work during one call, the least of five calls."""
        jitted, args = self.ready(*params)
        return min(_busy(jitted, args) for _ in range(self.calls))

    track_device_busy.unit = "seconds"


def _busy(jitted, args):
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            jax.block_until_ready(jitted(*args))
        # All releases write this format; ProfileData reads the other one, since JAX 0.6.2.
        (path,) = Path(folder).rglob("*.trace.json.gz")
        events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    processes = {e["pid"]: e["args"]["name"] for e in events if e.get("name") == "process_name"}
    threads = {(e["pid"], e.get("tid")): e["args"]["name"] for e in events if e.get("name") == "thread_name"}
    spans = [e for e in events if e.get("ph") == "X"]
    on_device = [e for e in spans if processes.get(e["pid"], "").startswith("/device:")]
    in_pool = [e for e in spans if threads.get((e["pid"], e["tid"]), "").startswith("tf_XLA")]
    # A CPU that computes before the call returns computes in Python's thread.
    in_call = [e for e in spans if e["name"].endswith("ExecuteHelper")]
    union = max(_union(on_device), 0.0) or max(_union(in_pool), _union(in_call))
    if not union:
        not_applicable("the profile has nothing of the device in it")
    return union * 1e-6


def _union(events):
    total, end = 0.0, 0.0
    for start, stop in sorted((e["ts"], e["ts"] + e.get("dur", 0.0)) for e in events):
        total += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return total


class Counts(abc.ABC):
    """The counts of a module's workloads, which are named in `params` and made by `make`.

    Each subclass needs a `setup_cache` of its own, since asv identifies a cache by that function's place in the file.
    """

    timeout = 180.0
    rounds = 1
    param_names = ("workload",)

    @abc.abstractmethod
    def make(self, workload):
        """Return a new, untraced function and its arguments."""

    def counted(self):
        """Return all counts of all workloads; for a workload that cannot be counted, the reason."""
        assert_sound()
        names = itertools.chain.from_iterable(p if isinstance(p, (list, tuple)) else [p] for p in self.params)
        return {name: self._count(name) for name in names}

    def _count(self, workload):
        try:
            function, args = self.make(workload)
            return count(function, jax.device_put(args))
        except NotImplementedError as error:
            return f"n/a: {error}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def _get(self, counts, workload, name):
        found = counts[workload]
        if isinstance(found, str):
            if found.startswith("n/a: "):
                not_applicable(found[5:])
            raise RuntimeError(found)
        if found[name] is None:
            not_applicable(f"this release does not say, or not on this device: {name}")
        return found[name]

    def track_equations(self, counts, workload):
        """Count the equations of the jaxpr and of its inner jaxprs."""
        return self._get(counts, workload, "equations")

    track_equations.unit = "equations"

    def track_lowered_operations(self, counts, workload):
        """Count the operations in the lowered text, each function's once."""
        return self._get(counts, workload, "lowered operations")

    track_lowered_operations.unit = "operations"

    def track_compiled_instructions(self, counts, workload):
        """Count the HLO instructions in the compiled text, including those in fusions."""
        return self._get(counts, workload, "compiled instructions")

    track_compiled_instructions.unit = "instructions"

    def track_flops(self, counts, workload):
        """Return the floating-point operations by the compiler's cost analysis, in which a loop's body counts once."""
        return self._get(counts, workload, "flops")

    track_flops.unit = "flops"

    def track_bytes_accessed(self, counts, workload):
        """Return the bytes read and written by the compiler's cost analysis, in which a loop's body counts once."""
        return self._get(counts, workload, "bytes accessed")

    track_bytes_accessed.unit = "bytes"

    def track_temporary_bytes(self, counts, workload):
        """Return the bytes that the executable needs besides its arguments and results."""
        return self._get(counts, workload, "temporary bytes")

    track_temporary_bytes.unit = "bytes"


def count(function, args):
    """Return all counts of a function, without running it."""
    executable = compiled(lowered := lower(jax.jit(function), *args))
    costs = executable.cost_analysis()
    if isinstance(costs, (list, tuple)):  # a list of dicts up to JAX 0.4.38
        costs = costs[0] if costs else {}
    costs = costs or {}
    memory = executable.memory_analysis()
    # Up to JAX 0.4.28, all sizes are zero on a CPU.
    told = getattr(memory, "argument_size_in_bytes", 0) or getattr(memory, "output_size_in_bytes", 0)
    return {
        "equations": equations(jax.make_jaxpr(function)(*args).jaxpr),
        "lowered operations": len(
            re.findall(r"^\s*(?:%\S+ = )?\"?(?:stablehlo|chlo|func\.call|call)\b", _text(lowered), re.M)
        ),
        "compiled instructions": len(re.findall(r"^\s+(?:ROOT )?%?[\w.-]+ = ", executable.as_text(), re.M)),
        "flops": costs.get("flops"),
        "bytes accessed": costs.get("bytes accessed"),
        "temporary bytes": getattr(memory, "temp_size_in_bytes", None) if told else None,
    }


def _text(lowered):
    # A result's number, %0:3, is part of its name.
    return re.sub(r":\d+ = ", " = ", lowered.as_text())


def equations(jaxpr):
    """Count the equations of a jaxpr and of all jaxprs within it, as often as they occur."""
    return sum(1 + sum(map(equations, _inner(list(eqn.params.values())))) for eqn in jaxpr.eqns)


def _inner(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _inner(value)
        else:
            value = getattr(value, "jaxpr", value)
            if hasattr(value, "eqns"):
                yield value
