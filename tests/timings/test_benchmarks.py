"""The benchmarks, as far as they can be tested without JAX: imports, docstrings and the default set."""

import ast
import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from jax_stack_compat.base.files import ROOT
from laboratory.timings.bench import DEFAULT_BENCH
from laboratory.timings.counting import callgrind
from laboratory.timings.counts import BY_PYTHON, HOST
from tests.cell.test_wall import BENCHMARKS, STACK, imports, top
from tests.processes import needs_valgrind, python

MODULES = [path for path in BENCHMARKS if not path.name.startswith("_")]

# Stubs for the names that benchmarks import from the stack.
STUBS = """
import sys, types
class Stub(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):  # as inspect asks for, of everything
            raise AttributeError(name)
        return Stub(name)
    def __call__(self, *args, **kwargs):
        return args[0] if args else self
    def __mro_entries__(self, bases):
        return ()
for name in ("jax", "jax.numpy", "equinox", "diffrax", "numpy"):
    sys.modules[name] = Stub(name)
"""

DISCOVER = """
import importlib, inspect, json
found = []
for name in sys.argv[1:]:
    module = importlib.import_module(f"benchmarks.{name}")
    for key, value in vars(module).items():
        if inspect.isclass(value) and not key.startswith("_") and not inspect.isabstract(value):
            for method, function in inspect.getmembers(value, inspect.isfunction):
                if method.startswith(("time_", "timeraw_", "track_", "peakmem_")):
                    found.append({
                        "name": f"{name}.{key}.{method}",
                        "version": vars(value).get("version"),
                        "timeout": getattr(value, "timeout", None),
                        "unit": getattr(function, "unit", None),
                        "doc": function.__doc__,
                        "class_doc": value.__doc__,
                        "setup": hasattr(value, "setup"),
                        "own_cache": not hasattr(value, "setup_cache") or "setup_cache" in vars(value),
                    })
print(json.dumps(found))
"""


def run(code: str, *args: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own, with stubs for the stack."""
    return python("-c", STUBS + textwrap.dedent(code), *args, env=variables)


@pytest.fixture(scope="module")
def found() -> list[dict[str, object]]:
    """Every benchmark, found as asv finds them."""
    process = run(DISCOVER, *(path.stem for path in MODULES))
    assert "" == process.stderr
    benchmarks: list[dict[str, object]] = json.loads(process.stdout)
    return benchmarks


def test_every_module_has_benchmarks(found: list[dict[str, object]]) -> None:
    """asv finds something in each module, and nothing in the harness."""
    harness = run(DISCOVER, "_phases")

    assert sorted(path.stem for path in MODULES) == sorted({str(each["name"]).partition(".")[0] for each in found})
    assert [] == json.loads(harness.stdout)


def test_every_benchmark_says_what_asv_asks(found: list[dict[str, object]]) -> None:
    """Each benchmark has a version, a time limit, a docstring and a unit, but no `setup`: it would time each call."""
    for key in ("version", "timeout", "doc", "class_doc", "own_cache"):
        assert [] == [each["name"] for each in found if not each[key]], key
    assert {True} == {bool(each["unit"]) for each in found if ".track_" in str(each["name"])}
    assert [] == [each["name"] for each in found if each["setup"]]


def test_the_default_set_is_told_by_name(found: list[dict[str, object]]) -> None:
    """Benchmarks outside the default set are named Large."""
    asked_for = {str(each["name"]) for each in found if not re.search(DEFAULT_BENCH, str(each["name"]))}

    assert "basics.Scan.time_trace" in {str(each["name"]) for each in found} - asked_for
    assert {"Large"} == {re.sub(".*(?=Large$)", "", name.split(".")[1]) for name in asked_for}


def test_every_phase_of_the_host_can_be_counted(found: list[dict[str, object]]) -> None:
    """The counted phases are the host's phases, under the names that asv uses."""
    process = run("from benchmarks import _counting; _counting.main([])")

    listed = {json.loads(line)["benchmark"].partition("(")[0] for line in process.stdout.splitlines()}
    assert {str(each["name"]) for each in found if HOST.search(str(each["name"]))} == listed


def test_both_sides_agree_on_what_python_does() -> None:
    """For phases that run in Python, the driver starts callgrind for Python's thread alone."""
    process = run("from benchmarks import _counting; print(*_counting.BY_PYTHON, '|', *_counting.BY_COMPILER)")

    by_python, by_compiler = (side.split() for side in process.stdout.split("|"))
    assert all(BY_PYTHON.search(f"basics.Scan.{method}") for method in by_python)
    assert not any(BY_PYTHON.search(f"basics.Scan.{method}") for method in by_compiler)
    assert all(HOST.search(f"basics.Scan.{method}") for method in (*by_python, *by_compiler))


def test_calls_are_those_within_the_meter() -> None:
    """Inside `with`, calls of Python functions and Python's calls of C functions count, without the meter's own."""
    process = run(
        """
        from benchmarks import _meters
        calls = _meters.Calls()
        def called():
            return len("abc")
        called()
        for _ in range(2):
            with calls:
                called()
            called()
        print(calls.total)
        """
    )

    assert ("4\n", "") == (process.stdout, process.stderr)


def test_what_ends_its_process_leaves_the_others_counted() -> None:
    """A phase that ends the process has failed, a missing one has a reason, and the following ones are counted."""
    process = run(
        """
        import json, os
        from benchmarks import _counting, _phases
        class Workload:
            def time_trace(self):
                with _phases.METER:
                    len("abc")
            def time_lower(self):
                os._exit(3)
            def time_compile(self):
                raise NotImplementedError("of another release")
            time_dispatch = time_trace
        methods = ("time_trace", "time_lower", "time_compile", "time_dispatch")
        asked = {method: (Workload, method, ()) for method in methods}
        print(json.dumps(dict(_counting.measured(asked, _counting.count))))
        """
    )

    assert {
        "time_trace": {"calls": 1},
        "time_lower": {"failed": "it ended with 3"},
        "time_compile": {"lacking": "of another release"},
        "time_dispatch": {"calls": 1},
    } == json.loads(process.stdout)


def test_callgrind_counts_the_threads_that_are_asked_for(tmp_path: Path) -> None:
    """Callgrind counts Python's thread in Python's phases, and all threads in the compiler's."""
    needs_valgrind()
    code = """
        import threading
        from benchmarks import _meters
        def work():
            for _ in range(20_000):
                len("abc")
        def counted(do):
            meter = _meters.Instructions()
            with meter:
                do()
            return meter.total
        def elsewhere():
            beside = threading.Thread(target=work)
            beside.start()
            beside.join()
        _meters.start()
        own = _meters.own_instructions()
        print(counted(work) - own, counted(elsewhere) - own)
        """

    def counted(*, by_python: bool) -> list[int]:
        out = tmp_path / "callgrind"
        # Skip the imports of `site`, which take callgrind a second.
        command = [*callgrind(out, by_python=by_python), sys.executable, "-S", "-c", textwrap.dedent(code)]
        surroundings = {**os.environ, "SUITE_CALLGRIND_OUT": str(out)}
        told = subprocess.run(command, cwd=ROOT, env=surroundings, stdout=subprocess.PIPE, text=True, check=True)
        return [int(each) for each in told.stdout.split()]

    here, elsewhere = counted(by_python=True)
    assert 1_000_000 < here
    assert elsewhere < 0.1 * here
    again, everywhere = counted(by_python=False)
    assert pytest.approx(again, rel=0.01) == here
    assert here < everywhere < 1.5 * here


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_a_module_reads_the_clock_of_the_phases(path: Path) -> None:
    """Only the harness and the timers read a clock; benchmarks use only public names of the stack."""
    names = {*imports(path)}

    assert path.stem in ("_phases", "_program", "_timing") or not names & {"time", "timeit"}
    if path.stem != "_phases":
        assert not {name for name in names if top(name) in STACK and "._" in name}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_what_is_timed_is_waited_for(path: Path) -> None:
    """A module that times a call of its own waits for what the call started."""
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(function, ast.FunctionDef) and function.name.startswith("time_") and "lower" not in function.name:
            source = ast.unparse(function)
            assert "METER" not in source or "block_until_ready" in source, function.name


ASSERT_VERSIONS = """
import importlib.metadata
importlib.metadata.version = {"jax": "0.4.30", "numpy": "2.0.0"}.__getitem__
from benchmarks import _phases
_phases.assert_versions()
print("passed")
"""


def checkout(folder: Path, head: str, requirements: str) -> dict[str, str]:
    """Make an environment as asv does, and return the variables that asv sets."""
    git = folder / "project" / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text(f"{head}\n", encoding="utf-8")
    (folder / "project" / "requirements.txt").write_text(requirements, encoding="utf-8")
    return {"ASV_COMMIT": "c0ffee", "ASV_ENV_DIR": str(folder)}


def test_versions_that_are_those_of_the_lock_pass(tmp_path: Path) -> None:
    """A lock with hashes, comments and continued lines is read; outside asv, versions are not compared with one."""
    lock = (
        "# why\njax==0.4.30 \\\n    --hash=sha256:00\nnumpy==2.0.0 \\\n    --hash=sha256:11 \\\n    --hash=sha256:22\n"
    )
    for variables in (checkout(tmp_path, "c0ffee", lock), {}):
        process = run(ASSERT_VERSIONS, **variables)

        assert ("passed\n", "") == (process.stdout, process.stderr)


@pytest.mark.parametrize(
    ("head", "lock", "why"),
    [
        ("c0ffee", "jax==0.4.31\nnumpy==2.0.0\n", "this is not the stack of commit c0ffee: jax is 0.4.30, not 0.4.31"),
        ("decaf", "jax==0.4.30\n", "asv says commit c0ffee, and its checkout is of decaf"),
        ("c0ffee", "numpy==2.0.0\n", "the lock of commit c0ffee pins no jax"),
    ],
)
def test_another_stack_than_the_commit_is_refused(tmp_path: Path, head: str, lock: str, why: str) -> None:
    """A result under a wrong label is worse than none."""
    process = run(ASSERT_VERSIONS, **checkout(tmp_path, head, lock))

    assert 0 != process.returncode
    assert why in process.stderr


def test_a_phase_is_timed_and_nothing_else() -> None:
    """The meter counts only time inside `with`; a device is busy while at least one thing runs on it."""
    process = run(
        """
        import time
        from benchmarks import _phases
        time.sleep(0.05)
        assert _phases.METER() == 0.0
        with _phases.METER:
            time.sleep(0.01)
        time.sleep(0.05)
        spans = [(0, 10), (5, 10), (2, 1), (20, 5)]
        print(0.01 <= _phases.METER() < 0.05, _phases._union([{"ts": ts, "dur": dur} for ts, dur in spans]))
        """
    )

    assert ("True 20.0\n", "") == (process.stdout, process.stderr)
