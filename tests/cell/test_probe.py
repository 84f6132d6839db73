"""The probe, from its order to its records: every way in which a case can end, and invariants."""

import contextlib
import json
import os
import pkgutil
import platform
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from jax_stack_compat.base import guardian
from jax_stack_compat.base.files import read
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.issue import Case
from jax_stack_compat.environments import probe_call
from jax_stack_compat.judge.record import Attempt, Outcome, Part, Record
from jax_stack_compat.stack import plan
from jax_stack_compat.stack.lock import Lock
from laboratory.cell import corpus
from laboratory.records import keys, records
from tests.processes import printed
from tests.state import eventually, noted
from tests.worlds import started_with

CELL = "jax-0.0.0"
PLANNED = replace(plan.cells()[0], id=CELL, python=".".join(platform.python_version_tuple()[:2]))
PINNED = Lock(Path("jax-0.0.0.txt"), "", "0" * 64, {})
# Longer than any test here takes, and far shorter than a forgotten case would sleep.
PATIENCE = 10.0

Name = tuple[str, str]


@dataclass(frozen=True)
class Ending:
    """The expected record of a corpus case: its first attempt, and the number of attempts."""

    outcome: Outcome
    behaviour: str | None = None
    workaround: Outcome | None = None
    control: Outcome | None = "returned"
    attempts: int = 1


ENDINGS = {
    Ending("returned", "right"): """
        clear/plain recognised/unasked recognised/is-quiet crashed_at_exit/in-fork prints_garbage/plain
        leaves_children/sleeper leaves_children/stubborn leaves_children/daemon leaves_children/of-interpreter
        closes_descriptors/streams keeps_tally/without-workaround keeps_tally/by-pin upsets_others/next-case""",
    Ending("returned", "right", workaround="returned"): """
        clear/in-interpreter keeps_tally/forked keeps_tally/apart keeps_tally/in-interpreter keeps_tally/under-flags""",
    Ending("returned", "right", workaround="raised", attempts=3): "clear/workaround-fails",
    Ending("returned", "right", control="raised", attempts=3): "upsets_others/by-raising",
    Ending("returned", "right", control="signal", attempts=3): "upsets_others/by-crashing",
    Ending("returned", "wrong"): "affected/plain recognised/by-module-warned upsets_others/control",
    Ending("returned", "wrong", attempts=3): "affected/regressed affected/nothing-known different/alternates",
    Ending("returned", "wrong", workaround="returned"): """
        affected/workaround-holds keeps_tally/helped upsets_others/workaround upsets_others/workaround-that-crashes""",
    Ending("returned", "wrong", workaround="raised", attempts=3): "affected/workaround-fails",
    Ending("returned", "wrong", workaround="signal", attempts=3): "affected/workaround-crashes",
    Ending("returned", "missing", workaround="returned"): "absent/plain",
    Ending("returned", "refused"): "recognised/warns",
    Ending("returned", "confused", attempts=3): "different/unknown-behaviour",
    Ending("raised", "refused"): "recognised/raises recognised/by-module recognised/in-interpreter",
    Ending("raised", "wrong"): "recognised/in-table-order recognised/warns-and-raises",
    Ending("raised", attempts=3): """
        recognised/of-another-module different/unknown different/leaves different/not-unicode different/unspeakable
        different/nothing different/a-name different/no-text""",
    Ending("signal", workaround="returned"): "crashed/documented crashed_at_exit/crashes",
    Ending("signal", workaround="returned", attempts=3): """
        crashed/segfault crashed/in-interpreter crashed_at_exit/in-interpreter""",
    Ending("signal", attempts=3): "crashed/abort crashed/nameless-signal crashed/killed leaves_children/crashed",
    Ending("timeout", workaround="returned"): "hung/plain",
    Ending("timeout"): "crashed_at_exit/hangs leaves_children/hung closes_descriptors/everything-and-hangs",
    Ending("timeout", attempts=3): "hung/undocumented",
    Ending("memory", attempts=3): "eats_memory/itself eats_memory/child eats_memory/daemon",
    Ending("output", attempts=3): "floods_output/itself",
    Ending("exit", attempts=3): """
        crashed_at_exit/bad-status prints_garbage/then-exits leaves_silently/status-3 closes_descriptors/everything""",
    Ending("garbled", attempts=3): """
        garbles_report/half-a-line garbles_report/half-a-line-and-gone garbles_report/nested-too-deep
        garbles_report/flood""",
    Ending("no-result", workaround="returned", attempts=3): "leaves_silently/status-0",
    Ending("no-result", attempts=3): "leaves_silently/in-interpreter",
    Ending(
        "import-error", control=None
    ): "blocked/x64 blocked/not-x64 blocked/host-devices blocked/warned blocked/leaked-tracer",
    Ending("unavailable", control=None): "unavailable/cpu unavailable/python",
}
# Its number of attempts depends on chance.
BY_LUCK = {("floods_output", "strays")}
# These exist only to be killed with their probe.
NEVER_ENDING = {("hung", "long"), ("leaves_children", "lingers")}
MODULES = [each.name for each in pkgutil.iter_modules(corpus.__path__) if each.name != "waits"]


@dataclass(frozen=True)
class Session:
    """A probe and its order: the folder that it writes to, and the cases that it runs."""

    folder: Path
    names: Sequence[Name]
    surroundings: dict[str, str] = field(default_factory=dict)
    python: str = sys.executable

    @contextlib.contextmanager
    def started(self) -> Iterator[subprocess.Popen[str]]:
        """Start the probe as the driver does; end it and its children with the block."""
        self.folder.mkdir(parents=True, exist_ok=True)
        order = self.folder / "order.json"
        order.write_text(json.dumps(self.order()))
        with (self.folder / "stderr").open("wb") as errors:
            process = subprocess.Popen(
                guardian.command(
                    Path(self.python),
                    probe_call.command(Path(self.python), "jax_stack_compat.cell.probe", str(order)),
                ),
                cwd=self.folder,
                env={"CORPUS_FOLDER": str(self.folder), **self.surroundings},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        with process:
            try:
                yield process
            finally:
                process.kill()
                for pid in self.left():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)

    def run(self) -> "Finished":
        """Run the probe to its end."""
        with self.started() as process:
            said, _ = process.communicate(timeout=12 * PATIENCE)
            return Finished(self, process.returncode, [json.loads(line) for line in said.splitlines()], self.left())

    def path(self, name: Name) -> Path:
        """Return the path of a case's record."""
        entry, case = find(name)
        return self.folder / CELL / entry.issue.id / f"{case.id}.json"

    def record(self, name: Name) -> Record:
        """Return a case's record, which must exist, read as the driver reads it."""
        assert self.path(name).exists(), self.errors()
        return read(Record, self.path(name))

    def written(self) -> list[str]:
        """Return all files in the cell's folder that could be read as records."""
        folder = self.folder / CELL
        return sorted(str(path.relative_to(folder)) for path in folder.glob("*/*.json"))

    def left(self) -> list[int]:
        """Return the living processes that this probe started, which have its folder in their environment."""
        return started_with(self.folder)

    def errors(self) -> str:
        """Return the probe's standard error."""
        return (self.folder / "stderr").read_text(errors="backslashreplace")

    def order(self) -> dict[str, Any]:
        """Return the order that the driver would send to the probe."""
        cases: list[dict[str, Any]] = [
            {
                "module": entry.module,
                "issue": entry.issue.id,
                "case": case.id,
                "expected": case.rules[0].behaviour if case.rules else None,
                "key": keys.key(entry, case, PINNED.sha256, PLANNED.python).model_dump(),
                "record": str(self.path(name)),
                "ended": "",
                "shared": [],
            }
            for name in self.names
            for entry, case in [find(name)]
        ]
        return {
            **{"cell": CELL, "packages": ["no-such-package", "pytest"], "cases": cases},
            **{"shut": [], "unimportable": {}, "remade": False, "most_attempts": 3},
        }


@dataclass(frozen=True)
class Finished:
    """An ended probe: its exit status, its progress, and the processes that its cases left alive."""

    session: Session
    status: int
    events: Sequence[dict[str, Any]]
    outlived: Sequence[int]


def find(name: Name) -> tuple[Entry, Case]:
    """A corpus case, and the module it is in."""
    entry = catalogue.entry(f"{corpus.__name__}.{name[0]}")
    return entry, next(case for case in entry.issue.cases if case.id == name[1])


def names_of(module: str) -> list[Name]:
    """All cases of a corpus module."""
    return [(module, case.id) for case in catalogue.entry(f"{corpus.__name__}.{module}").issue.cases]


Observe = Callable[[str], Finished]


@pytest.fixture(scope="module")
def observe(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Observe]:
    """Run each corpus module once in its own probe; if several tests run, start all probes early."""
    known: dict[str, Future[Finished]] = {}

    def begin(module: str) -> Future[Finished]:
        if module not in known:
            names = [name for name in names_of(module) if name not in NEVER_ENDING]
            session = Session(tmp_path_factory.mktemp(module), names)
            # Parse and hash the issues here: if threads parse at the same time, CPython 3.11 can fail (SystemError).
            session.order()
            known[module] = pool.submit(session.run)
        return known[module]

    with ThreadPoolExecutor(max_workers=4) as pool:
        if len(request.session.items) > 1:
            for module in MODULES:
                begin(module)
        yield lambda module: begin(module).result()


def observed(observe: Observe, name: str) -> list[Attempt]:
    """Return every attempt of a corpus case, given as `module/case`."""
    module, case = name.split("/")
    return observe(module).session.record((module, case)).attempts


def reproducer(observe: Observe, name: str) -> Part:
    """Return a corpus case's reproducer, as its first attempt recorded it."""
    return observed(observe, name)[0].parts["reproducer"]


def test_every_ending_is_recorded_as_what_it_is(observe: Observe) -> None:
    """A record has each part's outcome and behaviour; a case runs once if all is as expected, else three times."""
    found = {}
    for module, case in chain.from_iterable(map(names_of, MODULES)):
        if (module, case) in BY_LUCK | NEVER_ENDING:
            continue
        attempts = observed(observe, f"{module}/{case}")
        came = {part: each.outcome for part, each in attempts[0].parts.items()}
        behaviour = attempts[0].parts["reproducer"].behaviour
        found[f"{module}/{case}"] = Ending(
            came["reproducer"], behaviour, came.get("workaround"), came.get("control"), len(attempts)
        )

    assert {name: ending for ending, names in ENDINGS.items() for name in names.split()} == found


def test_the_probe_ends_well_whatever_a_case_does(observe: Observe) -> None:
    """However a case ends, the probe continues: its progress has the start and end of each case, and its own end."""
    for finished in map(observe, MODULES):
        issue = find(finished.session.names[0])[0].issue.id
        told = [(step, issue, case) for _, case in finished.session.names for step in ("start", "done")]
        # On a busy machine, the thread that watched an import may still be ending when the probe asks whether it can
        # fork.
        events = [event for event in finished.events if event["event"] not in ("read", "import", "unforkable")]
        assert (0, [*told, ("end", None, None)]) == (
            finished.status,
            [(event["event"], event.get("issue"), event.get("case")) for event in events],
        )


def test_a_record_round_trips(observe: Observe) -> None:
    """A record reads back as what was written, to the last field."""
    for session in (observe(module).session for module in MODULES):
        for name in session.names:
            written = json.loads(session.path(name).read_text())
            assert written == session.record(name).model_dump(mode="json", exclude_unset=True)


IN_JSON = "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"
NOT_TWO = "a reproducer returns its behaviour and the evidence, two strings, not None"


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("different/unknown", "no such key\nand a second line"),
        ("different/unspeakable", "its text cannot be had: RuntimeError"),
        ("recognised/raises", IN_JSON),
        ("recognised/warns", "DeprecationWarning: not so for long: this year"),
        ("crashed/segfault", "SIGSEGV"),
        ("leaves_silently/status-0", "it ended with exit status 0 and said nothing"),
        ("leaves_silently/status-3", "exit status 3"),
        ("different/nothing", NOT_TWO),
        ("blocked/x64", "import jax: ModuleNotFoundError: No module named 'jax'"),
        ("unavailable/cpu", "it needs a CPU with abacus"),
        ("unavailable/python", f"it needs Python <3.0, and this is {platform.python_version()}"),
    ],
)
def test_an_ending_is_told_in_full(observe: Observe, name: str, detail: str) -> None:
    """The record has the message of whatever ended a case."""
    assert detail == reproducer(observe, name).detail


@pytest.mark.parametrize(
    ("name", "words"),
    [
        *((f"crashed/{case}", ["Segmentation fault", "corpus/crashed.py"]) for case in ("segfault", "in-interpreter")),
        ("hung/plain", ["in sleep_long"]),
        ("prints_garbage/then-exits", [r"\xfe\xff", '{"part": "reproducer"\n']),
        ("floods_output/itself", ["x" * 16 * 1024]),
    ],
)
def test_output_is_kept_where_it_may_help(observe: Observe, name: str, words: list[str]) -> None:
    """A record has the last 16 KiB of its case's output, even invalid text, and the place where Python ended."""
    output = reproducer(observe, name).output or ""

    assert words == [each for each in words if each in output]
    assert len(output) <= 16 * 1024


def test_an_answer_before_a_crash_is_kept(observe: Observe) -> None:
    """A record keeps the answer that a reproducer gave before its process crashed at exit."""
    said = reproducer(observe, "crashed_at_exit/crashes").said

    assert said is not None
    assert ("returned", "right", "2 + 2 is 4") == (said.outcome, said.behaviour, said.detail)


@pytest.mark.parametrize("case", ["itself", "child", "daemon"])
def test_memory_is_limited_at_once(observe: Observe, case: str) -> None:
    """A case that exceeds its memory limit is killed long before its time limit, and the record has its peak memory."""
    attempt = observed(observe, f"eats_memory/{case}")[0]
    limit = find(("eats_memory", case))[1].memory_mib

    assert (True, True) == (attempt.seconds < PATIENCE, attempt.peak_rss_mib > limit)


def test_nothing_outlives_its_case(observe: Observe) -> None:
    """No process that a case started outlives, delays or ends the probe."""
    finished, flooded = observe("leaves_children"), observe("floods_output")
    attempts = [each for name in finished.session.names for each in finished.session.record(name).attempts]

    assert [] == [*finished.outlived, *flooded.outlived]
    assert len(noted(finished.session.folder)) >= len(attempts)
    assert [] == [attempt.seconds for attempt in attempts if attempt.seconds > PATIENCE]
    assert 3 == len(observed(observe, "floods_output/strays"))


# By case, in the order of their module: the parts, and in how many processes.
TALLIED = {
    "forked": (["reproducer", "workaround", "control"], 1),
    "apart": (["reproducer", "workaround", "control"], 2),
    "in-interpreter": (["reproducer", "workaround", "control"], 2),
    "without-workaround": (["reproducer", "control"], 1),
    "by-pin": (["reproducer", "control"], 1),
    "under-flags": (["reproducer", "control", "again"], 2),
    "helped": (["reproducer", "control", "again"], 2),
}


def test_no_part_is_run_twice(observe: Observe) -> None:
    """Each part runs once, in one process unless the reproducer needs its own."""
    session = observe("keeps_tally").session
    told = [line.split() for line in (session.folder / "tally").read_text().splitlines()]
    found = {}
    for _, case in session.names:
        run, told = told[: len(TALLIED[case][0])], told[len(TALLIED[case][0]) :]
        found[case] = [part for part, _ in run], len({pid for _, pid in run})

    assert (TALLIED, []) == (found, told)


def test_a_missing_package_is_in_the_record(observe: Observe) -> None:
    """The record says why a package does not import, and has the versions of the other packages."""
    machine = observe("blocked").session.record(("blocked", "x64")).machine

    assert {"jax": "ModuleNotFoundError: No module named 'jax'"} == machine.import_errors
    assert {"no-such-package": None, "pytest": pytest.__version__} == machine.packages


def test_an_order_of_many_cases_is_carried_out(tmp_path: Path) -> None:
    """One probe runs a whole order, starting with cases that need no import, and each case behaves as if alone."""
    names = [("blocked", "x64"), ("upsets_others", "control"), ("upsets_others", "next-case")]
    names += [("crashed", "documented"), ("clear", "plain")]
    finished = Session(tmp_path, names).run()

    assert [*names[1:], names[0]] == [
        (event["issue"].replace("-", "_"), event["case"]) for event in finished.events if event["event"] == "done"
    ]
    assert ["import-error", "returned", "returned", "signal", "returned"] == [
        finished.session.record(name).attempts[0].parts["reproducer"].outcome for name in names
    ]


def test_flags_add_up(observe: Observe) -> None:
    """XLA_FLAGS of a case, of its number of devices and of its workaround are combined."""
    (attempt,) = observed(observe, "keeps_tally/under-flags")
    flags = "--xla_of_the_case --xla_force_host_platform_device_count=2"

    assert flags == attempt.parts["reproducer"].detail
    assert f"{flags} --xla_of_the_workaround" == attempt.parts["workaround"].detail


def test_an_environment_is_seen_to_help(observe: Observe) -> None:
    """If a workaround is an environment, the record has the reproducer's behaviour in that environment."""
    (attempt,) = observed(observe, "keeps_tally/helped")

    assert ("wrong", "right") == (attempt.parts["reproducer"].behaviour, attempt.parts["workaround"].behaviour)


def test_a_recognised_exception_keeps_its_traceback(observe: Observe) -> None:
    """An exception with a signature is recorded with its type and traceback."""
    part = reproducer(observe, "recognised/raises")

    assert ("json.decoder.JSONDecodeError", True) == (part.exception, "in raises" in (part.traceback or ""))


def test_watching_an_import_does_not_end_forking() -> None:
    """The thread that watches an import has ended before the probe asks whether it can fork."""
    code = """if True:
        from jax_stack_compat.cell import probe
        refused = [why for _ in range(200) if probe._import("json") or (why := probe._why_not_fork())]
        raise SystemExit("; ".join(refused) or 0)
    """
    printed("-c", code)


def test_an_order_of_nothing_ends_well(tmp_path: Path) -> None:
    """A probe with nothing to run says that it has ended, and writes nothing."""
    session = Session(tmp_path, [])

    assert Finished(session, 0, [{"event": "end", "device": "none"}], []) == session.run()
    assert [] == session.written()


def test_records_are_written_where_nobody_listens(tmp_path: Path) -> None:
    """If the driver closes the progress pipe, no record is lost."""
    names = names_of("clear")
    session = Session(tmp_path, names)
    with session.started() as process:
        assert process.stdout is not None
        process.stdout.close()
        process.wait(PATIENCE)

    assert sorted(f"clear/{case}.json" for _, case in names) == session.written()


LINGERS = [("clear", "plain"), ("affected", "plain"), ("leaves_children", "lingers"), ("absent", "plain")]


@pytest.fixture
def lingering(tmp_path: Path) -> Iterator[tuple[Session, subprocess.Popen[str]]]:
    """A running probe with a case that hangs, and with a grandchild in a session of its own."""
    session = Session(tmp_path, LINGERS)
    with session.started() as process:
        eventually(lambda: len(noted(session.folder)) == 2 or process.poll() is not None, PATIENCE)
        assert process.poll() is None, session.errors()
        yield session, process


def test_what_was_done_survives_the_probe(
    lingering: tuple[Session, subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the probe is killed, its child ends too, the driver notices, and finished cases have whole records."""
    session, process = lingering
    process.kill()
    # Processes that its case left behind do not keep the progress pipe open.
    said, _ = process.communicate(timeout=PATIENCE / 4)
    monkeypatch.setattr(records, "RECORDS", session.folder)
    found = [records.in_force(PLANNED, entry, case, PINNED) for entry, case in map(find, LINGERS)]

    assert {"event": "start", "issue": "leaves-children", "case": "lingers", "seconds": 50} == json.loads(
        said.splitlines()[-1]
    )
    assert ["affected/plain.json", "clear/plain.json"] == session.written()
    assert [] == records.faults()
    assert [True, True, False, False] == [record is not None for record in found]
    eventually(lambda: not session.left(), PATIENCE)


def test_a_probe_that_is_asked_to_end_takes_everything_with_it(
    lingering: tuple[Session, subprocess.Popen[str]],
) -> None:
    """On SIGTERM the probe kills all processes of its case, including grandchildren in their own sessions."""
    session, process = lingering
    process.terminate()

    assert 143 == process.wait(PATIENCE)
    # The kernel takes a moment to end killed processes.
    eventually(lambda: not session.left(), PATIENCE)


def test_a_child_that_has_only_begun_does_not_outlive_a_killed_probe(tmp_path: Path) -> None:
    """If a probe is killed while an interpreter starts, the interpreter ends too."""
    early = tmp_path / "early"
    early.mkdir()
    (early / "sitecustomize.py").write_text(
        "import os, sys, time\n"
        "if 'jax_stack_compat.cell.child' in sys.orig_argv:\n"
        "    with open(os.environ['CORPUS_FOLDER'] + '/pids', 'a') as stream:\n"
        "        stream.write(f'{os.getpid()}\\n')\n"
        "    time.sleep(0.5)\n"
    )
    session = Session(tmp_path / "run", [("hung", "long")], surroundings={"PYTHONPATH": str(early)})
    with session.started() as process:
        eventually(lambda: len(noted(session.folder)) == 1, PATIENCE)
        process.kill()

        eventually(lambda: not session.left(), PATIENCE)
