"""The folder of orders: what runs on another machine, and all the code that it needs there.

FOLDER/run.py         the command to start there
FOLDER/orders.json    cases, calls, programs and benchmarks, the most informative first
FOLDER/code/          the probe, the issues, the collectors and the benchmarks
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from jax_stack_compat import __version__
from jax_stack_compat.base.console import OUT
from jax_stack_compat.base.errors import Exit, Misused
from jax_stack_compat.base.files import PACKAGES, ROOT, dump
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.cell.issue import Case
from jax_stack_compat.check.finding import RANKS
from jax_stack_compat.packages import HELD
from laboratory.cell.numbers.recipes import OF_DEVICES, NumericCall, calls
from laboratory.orders import archives, bundles
from laboratory.orders.archives import DeviceRun
from laboratory.orders.carried import device_entries, is_of_device
from laboratory.programs import sources
from laboratory.programs.targets import TARGETS
from laboratory.records import keys
from laboratory.timings import results

# By path in the tree: folders without their generated files, and files.
_CODE = (
    *("suite/jax_stack_compat/__init__.py", "suite/jax_stack_compat/cell", "suite/jax_stack_compat/issues"),
    *("suite/jax_stack_compat/base/__init__.py", "suite/jax_stack_compat/base/guardian.py"),
    *("suite/jax_stack_compat/environments/__init__.py", "suite/jax_stack_compat/environments/probe_call.py"),
    "suite/laboratory/__init__.py",
    *("suite/laboratory/cell/__init__.py", "suite/laboratory/cell/devices"),
    *("suite/laboratory/cell/numbers", "suite/laboratory/orders/__init__.py", "suite/laboratory/orders/runner"),
)
_BENCHMARKS = ROOT / "benchmarks"
# The benchmarks that `benchmarks._timing` can time; the large ones take minutes each.
_TIMED = re.compile(
    r"\w+\.(?!\w*Large)\w+\.(time_(trace|lower|compile|first_call|dispatch|execute)|track_device_busy)\b"
)
# Functions whose results people find different on an accelerator: these are called first.
_ASKED_ABOUT = (
    *("jax.numpy.matmul", "jax.numpy.dot", "jax.numpy.einsum", "jax.lax.dot_general", "jax.lax.conv"),
    *("jax.numpy.sin", "jax.numpy.exp", "jax.numpy.log", "jax.numpy.tanh", "jax.numpy.power", "jax.scipy.special."),
    *("jax.numpy.sum", "jax.numpy.mean", "jax.numpy.var", "jax.numpy.cumsum", "jax.numpy.fft."),
    *("jax.numpy.sort", "jax.numpy.argsort", "jax.lax.sort", "jax.lax.top_k", "jax.random."),
)
_RUN = '''"""Carry out these orders: `python3 run.py --help`."""

import sys
from pathlib import Path

if sys.version_info < (3, 10):
    sys.exit("run.py needs Python 3.10 or newer: name one, as in `PATH/TO/python3.12 run.py --python PATH`")
HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE / "code"))

from laboratory.orders.runner.run import main  # noqa: E402

sys.exit(main(HERE, sys.argv[1:]))
'''


def orders(device: str, issue: list[str], to: Path, *, with_wheels: str | None) -> Exit:
    """Write the orders for a kind of device into the folder `to`, perhaps with another release's packages.

    Raises Misused, Failed, BadFile, OSError.
    """
    if to.exists() and not _is_ours(to):
        raise Misused(f"{to} has something else in it: name a new folder, or one with orders")
    entries = catalogue.select(issue)
    known = archives.load_all()
    order = ordered(device, entries, known, whole=not issue)
    for part in ("code", "orders.json", "run.py"):
        _remove(to / part)
    for source, path in _code():
        copy = to / "code" / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)
    write(to / "orders.json", dump(order))
    write(to / "run.py", _RUN)
    size = sum(path.stat().st_size for path in to.rglob("*") if path.is_file())
    counts = f"{len(order['cases'])} cases, {len(order['calls'])} calls, {len(order['programs'])} programs"
    OUT.print(f"{to}: {counts}, {len(order['benchmarks'])} benchmarks, {size / 1e6:.1f} MB", soft_wrap=True)
    if with_wheels:
        OUT.print(
            f"installing and packing jax {with_wheels}: up to 400 MB to fetch, and minutes to pack", soft_wrap=True
        )
        made = bundles.pack(with_wheels, device, to / "releases")
        packed = sum(path.stat().st_size for path in made)
        OUT.print(f"{to / 'releases'}: {len(made)} parts, {packed / 1e6:.0f} MB", soft_wrap=True)
    OUT.print("Copy the folder to the machine with the device, and run there:", soft_wrap=True)
    release = f" --release {with_wheels}" if with_wheels else ""
    OUT.print(f"  python3 {to.name}/run.py --python PATH --minutes 9{release}", soft_wrap=True)
    OUT.print(
        "PATH is an interpreter with jax. Bring the results home: nox -s merge -- results-….json.xz", soft_wrap=True
    )
    return Exit.AS_EXPECTED


def ordered(device: str, entries: Sequence[Entry], known: Iterable[DeviceRun], *, whole: bool) -> dict[str, Any]:
    """Return the orders. Only `whole` orders have calls, programs and benchmarks. Raises BadFile.

    `known` are the results that came home: their cases are not run again on the same stack and device.
    """
    ids = {entry.issue.id for entry in entries}
    carried = [*entries, *(entry for entry in device_entries() if entry.issue.id in ids)]
    cases = [(entry, case) for entry in carried for case in entry.issue.cases]
    ranked = sorted(cases, key=lambda each: _rank(*each))
    return {
        "schema_version": 1,
        "made_at": datetime.now(UTC).replace(microsecond=0).isoformat(),
        "suite_version": __version__,
        "wants": device,
        "probe": keys.probe_sha256(),
        "packages": sorted({"jaxlib", "numpy", "scipy", *HELD}),
        "cases": [_case(*each) for each in ranked],
        "alone": [f"{entry.issue.id}/{case.id}" for entry, case in cases if case.alone],
        "known": {each.stack.digest: archives.valid(each) for each in known},
        "calls": list(_calls()) if whole else [],
        "programs": list(sources.programs()) if whole else [],
        "targets": [{"id": each.id, "kinds": list(each.kinds)} for each in TARGETS.values()],
        "benchmarks": dict(_benchmarks()) if whole else {},
    }


def _is_ours(folder: Path) -> bool:
    """Return True if a folder is empty or has orders."""
    return folder.is_dir() and ((folder / "orders.json").exists() or not any(folder.iterdir()))


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _code() -> Iterator[tuple[Path, str]]:
    """Yield the files that travel, each with its path in the folder `code`."""
    files = chain.from_iterable(_files(ROOT / name) for name in _CODE)
    for path in files:
        yield path, path.relative_to(PACKAGES).as_posix()
    bodies = [*_BENCHMARKS.glob("*.py"), _BENCHMARKS / "programs" / "h100.txtpb"]
    for path in sorted(bodies):
        yield path, path.relative_to(ROOT).as_posix()


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(each for each in path.rglob("*") if each.is_file() and each.suffix in (".py", ".txt"))


def _rank(entry: Entry, case: Case) -> tuple[bool, bool, bool, int]:
    """Return the place of a case: device cases, row zero, cases about devices, headlines, silent faults come first."""
    is_headline = case is entry.issue.cases[0]
    about_devices = is_of_device(entry) or ".devices." in entry.module
    is_first = is_of_device(entry) or entry.issue.row_zero
    return (
        not is_first,
        not about_devices,
        not is_headline,
        RANKS[entry.issue.kind],
    )


def _case(entry: Entry, case: Case) -> dict[str, Any]:
    own = {"module": entry.module, "issue": entry.issue.id, "case": case.id, "key": keys.case_sha256(entry, case)}
    if is_of_device(entry):
        return {**own, "sides": ["device"], "first": True}
    # Several devices of the host are CPUs by definition, and some flags are the CPU's own.
    of_cpu = case.host_devices > 1 or "xla_cpu" in case.environment.get("XLA_FLAGS", "")
    sides = ["cpu"] if of_cpu else ["device", "cpu"]
    return {**own, "sides": sides, "first": case is entry.issue.cases[0]}


def _calls() -> Iterator[str]:
    """Yield the calls to make: first those that only devices make."""
    yield from (call.key for call in calls(OF_DEVICES))
    yield from (call.key for call in sorted(calls(), key=_call_rank))


def _call_rank(call: NumericCall) -> tuple[int, str, str]:
    """Return the place of a call; all forms of a call stay together."""
    found = [place for place, start in enumerate(_ASKED_ABOUT) if call.function.startswith(start)]
    return (found[0] if found else len(_ASKED_ABOUT)), call.function, call.text


def _benchmarks() -> Iterator[tuple[str, str]]:
    """Yield the benchmarks to time, with their versions. Raises BadFile."""
    known: Mapping[str, Any] = results.load(results.RESULTS / "benchmarks.json")
    for name in results.names(results.RESULTS):
        if _TIMED.match(name):
            yield name, known[name.partition("(")[0]]["version"]
