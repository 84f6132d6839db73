"""The probe, from its order to its records: the corpus of endings, and what must hold whatever a case does."""

from __future__ import annotations

import contextlib
import json
import os
import pkgutil
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from suite.cell.issue import Case
from suite.files import read
from suite.judge.record import Attempt, Outcome, Part, Record
from suite.run import catalogue, probe_call, records
from suite.run.catalogue import Entry
from suite.stack import plan
from suite.stack.lock import Lock
from tests.cell import corpus

CELL = "jax-0.0.0"
PLANNED = replace(plan.cells()[0], id=CELL, python=".".join(platform.python_version_tuple()[:2]))
PINNED = Lock(Path("jax-0.0.0.txt"), "", "0" * 64, {})
# Runs a command where the kernel lets nobody have a PID namespace.
_BARE = 'echo 0 > /proc/sys/user/max_pid_namespaces && exec "$@"'
BARE = ("unshare", "--user", "--map-root-user", "sh", "-c", _BARE, "sh")
# Longer than anything here takes, and far shorter than what a case that is not ended would sleep.
PATIENCE = 10.0

Name = tuple[str, str]


@dataclass(frozen=True)
class Row:
    """What the probe is to write of one corpus case: of its first attempt, and how many there are."""

    module: str
    case: str
    outcome: Outcome
    behaviour: str | None = None
    workaround: Outcome | None = None
    attempts: int = 1


ROWS = (
    Row("clear", "plain", "returned", "right"),
    Row("clear", "workaround-fails", "returned", "right", workaround="raised", attempts=3),
    Row("clear", "in-interpreter", "returned", "right", workaround="returned"),
    Row("affected", "plain", "returned", "wrong"),
    Row("affected", "regressed", "returned", "wrong", attempts=3),
    Row("affected", "nothing-known", "returned", "wrong", attempts=3),
    Row("affected", "workaround-holds", "returned", "wrong", workaround="returned"),
    Row("affected", "workaround-fails", "returned", "wrong", workaround="raised", attempts=3),
    Row("affected", "workaround-crashes", "returned", "wrong", workaround="signal", attempts=3),
    Row("absent", "plain", "returned", "missing", workaround="returned"),
    Row("recognised", "raises", "raised", "refused"),
    Row("recognised", "by-module", "raised", "refused"),
    Row("recognised", "of-another-module", "raised", attempts=3),
    Row("recognised", "in-table-order", "raised", "wrong"),
    Row("recognised", "in-interpreter", "raised", "refused"),
    Row("recognised", "warns", "returned", "refused"),
    Row("recognised", "unasked", "returned", "right"),
    Row("recognised", "by-module-warned", "returned", "wrong"),
    Row("recognised", "warns-and-raises", "raised", "wrong"),
    Row("recognised", "is-quiet", "returned", "right"),
    Row("different", "unknown", "raised", attempts=3),
    Row("different", "leaves", "raised", attempts=3),
    Row("different", "not-unicode", "raised", attempts=3),
    Row("different", "unspeakable", "raised", attempts=3),
    Row("crashed", "segfault", "signal", workaround="returned", attempts=3),
    Row("crashed", "documented", "signal", workaround="returned"),
    Row("crashed", "in-interpreter", "signal", workaround="returned", attempts=3),
    Row("crashed", "abort", "signal", attempts=3),
    Row("crashed", "nameless-signal", "signal", attempts=3),
    Row("crashed", "killed", "signal", attempts=3),
    Row("crashed_at_exit", "crashes", "signal", workaround="returned"),
    Row("crashed_at_exit", "in-interpreter", "signal", workaround="returned", attempts=3),
    Row("crashed_at_exit", "in-fork", "returned", "right"),
    Row("crashed_at_exit", "hangs", "timeout", attempts=3),
    Row("crashed_at_exit", "bad-status", "exit", attempts=3),
    Row("hung", "plain", "timeout", workaround="returned"),
    Row("hung", "undocumented", "timeout", attempts=3),
    Row("eats_memory", "itself", "memory", attempts=3),
    Row("eats_memory", "child", "memory", attempts=3),
    Row("eats_memory", "daemon", "memory", attempts=3),
    Row("prints_garbage", "plain", "returned", "right"),
    Row("prints_garbage", "then-exits", "exit", attempts=3),
    Row("floods_output", "itself", "output", attempts=3),
    Row("garbles_report", "half-a-line", "garbled", attempts=3),
    Row("garbles_report", "half-a-line-and-gone", "garbled", attempts=3),
    Row("garbles_report", "nested-too-deep", "garbled", attempts=3),
    Row("garbles_report", "flood", "garbled", attempts=3),
    Row("leaves_silently", "status-0", "no-result", workaround="returned", attempts=3),
    Row("leaves_silently", "in-interpreter", "no-result", attempts=3),
    Row("leaves_silently", "status-3", "exit", attempts=3),
    Row("leaves_children", "sleeper", "returned", "right"),
    Row("leaves_children", "stubborn", "returned", "right"),
    Row("leaves_children", "daemon", "returned", "right"),
    Row("leaves_children", "of-interpreter", "returned", "right"),
    Row("leaves_children", "crashed", "signal", attempts=3),
    Row("leaves_children", "hung", "timeout", attempts=3),
    Row("closes_descriptors", "everything", "exit", attempts=3),
    Row("closes_descriptors", "everything-and-hangs", "timeout", attempts=3),
    Row("closes_descriptors", "streams", "returned", "right"),
    Row("flaky", "alternates", "returned", "wrong", attempts=3),
    Row("failing_control", "by-raising", "returned", "right", attempts=3),
    Row("failing_control", "by-crashing", "returned", "right", attempts=3),
    Row("keeps_tally", "forked", "returned", "right", workaround="returned"),
    Row("keeps_tally", "apart", "returned", "right", workaround="returned"),
    Row("keeps_tally", "in-interpreter", "returned", "right", workaround="returned"),
    Row("keeps_tally", "without-workaround", "returned", "right"),
    Row("keeps_tally", "by-pin", "returned", "right"),
    Row("keeps_tally", "under-flags", "returned", "right", workaround="returned"),
    Row("keeps_tally", "helped", "returned", "wrong", workaround="returned"),
    Row("upsets_others", "control", "returned", "wrong"),
    Row("upsets_others", "workaround", "returned", "wrong", workaround="returned"),
    Row("upsets_others", "workaround-that-crashes", "returned", "wrong", workaround="returned"),
    Row("upsets_others", "next-case", "returned", "right"),
    Row("returns_nonsense", "nothing", "raised", attempts=3),
    Row("returns_nonsense", "a-name", "raised", attempts=3),
    Row("returns_nonsense", "no-text", "raised", attempts=3),
    Row("returns_nonsense", "unknown-behaviour", "returned", "confused", attempts=3),
    Row("blocked", "x64", "import-error"),
    Row("blocked", "not-x64", "import-error"),
    Row("blocked", "host-devices", "import-error"),
    Row("blocked", "warned", "import-error"),
    Row("blocked", "leaked-tracer", "import-error"),
    Row("unavailable", "cpu", "unavailable"),
    Row("unavailable", "python", "unavailable"),
)
# How often it comes to what it is there for is a matter of luck.
BY_LUCK = {("floods_output", "strays")}
# Only there to be killed with their probe.
NEVER_ENDING = {("hung", "long"), ("leaves_children", "lingers"), ("waits", "for-word")}
MODULES = sorted({row.module for row in ROWS})


@dataclass(frozen=True)
class Session:
    """One probe and its order: where it writes, and which cases it is to run."""

    folder: Path
    names: Sequence[Name]
    cell: str = CELL
    surroundings: dict[str, str] = field(default_factory=dict)
    python: str = sys.executable
    unimportable: dict[str, tuple[str, str]] = field(default_factory=dict)
    within: Sequence[str] = BARE if os.environ.get("XBARE") else ()

    @contextlib.contextmanager
    def started(self) -> Iterator[subprocess.Popen[str]]:
        """Start the probe as the driver does; it does not outlive the block, nor does what it has started."""
        self.folder.mkdir(parents=True, exist_ok=True)
        order = self.folder / "order.json"
        order.write_text(json.dumps(self._order()))
        with (self.folder / "stderr").open("wb") as errors:
            process = subprocess.Popen(
                [*self.within, *probe_call.command(Path(self.python), "suite.cell.probe", str(order))],
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

    def run(self) -> Finished:
        """Run the probe to its end."""
        with self.started() as process:
            said, _ = process.communicate(timeout=3 * PATIENCE)
            outlived = self.left()
        return Finished(self, process.returncode, said.splitlines(), outlived)

    def path(self, name: Name) -> Path:
        """Where the record of a case goes."""
        entry, case = find(name)
        return self.folder / self.cell / entry.issue.id / f"{case.id}.json"

    def record(self, name: Name) -> Record:
        """The record of a case that must have one, read as the driver reads it."""
        assert self.path(name).exists(), self.errors()
        return read(Record, self.path(name))

    def written(self) -> list[str]:
        """Everything in the cell's folder that a reader could take for a record."""
        return sorted(
            str(path.relative_to(self.folder / self.cell)) for path in self.folder.glob(f"{self.cell}/*/*.json")
        )

    def left(self) -> list[int]:
        """The processes that this probe has started and that are there: they have its folder in their environment."""
        mark = f"CORPUS_FOLDER={self.folder}".encode()
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                found += [int(path.parent.name)] if mark in path.read_bytes().split(b"\0") else []
        return found

    def noted(self) -> list[int]:
        """The processes that the cases have noted, by their own numbers."""
        pids = self.folder / "pids"
        return [int(line) for line in pids.read_text().splitlines()] if pids.exists() else []

    def errors(self) -> str:
        """What went to the probe's standard error."""
        return (self.folder / "stderr").read_text(errors="backslashreplace")

    def _order(self) -> dict[str, Any]:
        cases = []
        for name in self.names:
            entry, case = find(name)
            cases.append(
                {
                    "module": entry.module,
                    "case": case.id,
                    "expected": case.rules[0].behaviour if case.rules else None,
                    "key": records.key(entry, case, PINNED.sha256, PLANNED.python).model_dump(),
                    "record": str(self.path(name)),
                    "ended": "",
                }
            )
        return {
            **{"cell": self.cell, "packages": ["no-such-package", "pytest"], "cases": cases},
            **{"shut": [], "unimportable": self.unimportable, "import_seconds": 1.0, "remade": False},
        }


@dataclass(frozen=True)
class Finished:
    """A probe that has ended: its exit status, its progress, and the processes that its cases left alive."""

    session: Session
    status: int
    progress: Sequence[str]
    outlived: Sequence[int]

    def events(self) -> list[dict[str, Any]]:
        """The progress, read."""
        return [json.loads(line) for line in self.progress]


Observe = Callable[[str], Finished]


def find(name: Name) -> tuple[Entry, Case]:
    """A corpus case, and the module it is in."""
    module, case_id = name
    entry = catalogue.entry(f"{corpus.__name__}.{module}")
    return entry, next(case for case in entry.issue.cases if case.id == case_id)


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether something comes true before patience runs out."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def names_of(module: str) -> list[Name]:
    """All cases of a corpus module."""
    return [(module, case.id) for case in catalogue.entry(f"{corpus.__name__}.{module}").issue.cases]


@pytest.fixture(scope="module")
def observe(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Observe]:
    """Run a corpus module through a probe of its own, once; where more than one test runs, all begin early."""
    known: dict[str, Future[Finished]] = {}

    def begin(module: str) -> Future[Finished]:
        if module not in known:
            names = [name for name in names_of(module) if name not in NEVER_ENDING]
            known[module] = pool.submit(Session(tmp_path_factory.mktemp(module), names).run)
        return known[module]

    with ThreadPoolExecutor(max_workers=4) as pool:
        if len(request.session.items) > 1:
            for module in MODULES:
                begin(module)
        yield lambda module: begin(module).result()


def observed(observe: Observe, module: str, case: str) -> list[Attempt]:
    """Every attempt of a corpus case."""
    return observe(module).session.record((module, case)).attempts


def reproducer(observe: Observe, module: str, case: str) -> Part:
    """What came of a corpus case's reproducer the first time."""
    return observed(observe, module, case)[0].parts["reproducer"]


def test_every_ending_is_recorded_as_what_it_is(observe: Observe) -> None:
    """However a case ends, its record has the outcome, the behaviour and what became of the workaround.

    It is run once where all is as expected, three times where not, and every attempt is kept.
    """
    found = []
    for row in ROWS:
        attempts = observed(observe, row.module, row.case)
        parts = attempts[0].parts
        workaround = parts["workaround"].outcome if "workaround" in parts else None
        first = parts["reproducer"]
        found.append(Row(row.module, row.case, first.outcome, first.behaviour, workaround, len(attempts)))

    assert list(ROWS) == found


def test_the_probe_ends_well_whatever_a_case_does(observe: Observe) -> None:
    """No ending of a case is an ending of the probe: its progress has the start and the end of each, and its own."""
    for finished in map(observe, MODULES):
        issue = find(finished.session.names[0])[0].issue.id
        told = [(step, issue, case) for _, case in finished.session.names for step in ("start", "done")]
        events = [event for event in finished.events() if event["event"] != "import"]
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


def test_every_corpus_case_has_a_row() -> None:
    """No case of the corpus is left out of the table above."""
    modules = [each.name for each in pkgutil.iter_modules(corpus.__path__)]

    assert sorted(name for module in modules for name in names_of(module)) == sorted(
        {(row.module, row.case) for row in ROWS} | BY_LUCK | NEVER_ENDING
    )


@pytest.mark.parametrize(
    ("module", "case", "outcome", "detail"),
    [
        ("different", "unknown", "raised", "no such key\nand a second line"),
        ("different", "leaves", "raised", "0"),
        ("different", "unspeakable", "raised", "its text cannot be had: RuntimeError"),
        (
            "recognised",
            "raises",
            "raised",
            "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        ),
        ("recognised", "warns", "returned", "DeprecationWarning: not so for long: this year"),
        ("crashed", "segfault", "signal", "SIGSEGV"),
        ("crashed", "abort", "signal", "SIGABRT"),
        ("crashed", "killed", "signal", "SIGKILL"),
        ("leaves_silently", "status-0", "no-result", "it ended with exit status 0 and said nothing"),
        ("leaves_silently", "status-3", "exit", "exit status 3"),
        (
            *("returns_nonsense", "nothing", "raised"),
            "a reproducer returns its behaviour and the evidence, two strings, not None",
        ),
        ("blocked", "x64", "import-error", "import jax: ModuleNotFoundError: No module named 'jax'"),
        ("unavailable", "cpu", "unavailable", "it needs a CPU with abacus"),
        (*("unavailable", "python", "unavailable"), f"it needs Python <3.0, and this is {platform.python_version()}"),
    ],
)
def test_an_ending_is_told_in_full(observe: Observe, module: str, case: str, outcome: Outcome, detail: str) -> None:
    """The record says what ended a case, in that thing's own words."""
    part = reproducer(observe, module, case)

    assert (outcome, detail) == (part.outcome, part.detail)


@pytest.mark.parametrize(
    ("case", "names"),
    [("segfault", "Segmentation fault"), ("in-interpreter", "Segmentation fault"), ("abort", "Aborted")],
)
def test_a_crash_leaves_its_traceback(observe: Observe, case: str, names: str) -> None:
    """What crashes leaves in its output where in Python it did."""
    output = reproducer(observe, "crashed", case).output or ""

    assert (True, True) == (names in output, "corpus/crashed.py" in output)


def test_a_hang_leaves_its_traceback(observe: Observe) -> None:
    """What hangs leaves in its output where in Python it does."""
    assert "in sleep_long" in (reproducer(observe, "hung", "plain").output or "")


def test_noise_is_kept_where_it_may_help(observe: Observe) -> None:
    """What a failed case printed is in its record, bytes that are no text included."""
    output = reproducer(observe, "prints_garbage", "then-exits").output or ""

    assert (True, True) == (r"\xfe\xff" in output, '{"part": "reproducer"\n' in output)


def test_a_flood_is_kept_in_part(observe: Observe) -> None:
    """Of output without end the last 16 KiB are kept."""
    assert "x" * 16 * 1024 == reproducer(observe, "floods_output", "itself").output


def test_an_answer_before_a_crash_is_kept(observe: Observe) -> None:
    """What a reproducer had said before its process crashed at exit stays in the record."""
    said = reproducer(observe, "crashed_at_exit", "crashes").said

    assert said is not None
    assert ("returned", "right", "2 + 2 is 4") == (said.outcome, said.behaviour, said.detail)


@pytest.mark.parametrize("case", ["itself", "child", "daemon"])
def test_memory_is_limited_at_once(observe: Observe, case: str) -> None:
    """What goes over its memory is ended long before its time is over, and the record says how far it got."""
    attempt = observed(observe, "eats_memory", case)[0]
    limit = find(("eats_memory", case))[1].memory_mib

    assert (True, True) == (attempt.seconds < PATIENCE, attempt.peak_rss_mib > limit)


def test_nothing_outlives_its_case(observe: Observe) -> None:
    """No process that a case has started is left when the probe has ended, and none of them delays it."""
    finished = observe("leaves_children")
    attempts = [each for name in finished.session.names for each in finished.session.record(name).attempts]

    assert [] == finished.outlived
    assert len(finished.session.noted()) >= len(attempts)
    assert [] == [attempt.seconds for attempt in attempts if attempt.seconds > PATIENCE]


def test_what_is_left_behind_cannot_end_the_probe(observe: Observe) -> None:
    """Processes that print too much after their case has ended are ended, and the probe goes on."""
    finished = observe("floods_output")

    assert (0, 3, []) == (finished.status, len(observed(observe, "floods_output", "strays")), finished.outlived)


def test_every_attempt_of_a_flaky_case_is_kept_in_order(observe: Observe) -> None:
    """The attempts of a case stand in its record as they were made."""
    attempts = observed(observe, "flaky", "alternates")

    assert ["wrong", "refused", "wrong"] == [attempt.parts["reproducer"].behaviour for attempt in attempts]


def test_parts_that_were_reached_are_all_there(observe: Observe) -> None:
    """A reproducer that takes its process down costs neither the workaround nor the control."""
    (first, *_) = observed(observe, "crashed", "segfault")

    assert {"reproducer": "signal", "workaround": "returned", "control": "returned"} == {
        name: part.outcome for name, part in first.parts.items()
    }


@pytest.mark.parametrize(
    ("case", "parts", "processes"),
    [
        ("forked", ["reproducer", "workaround", "control"], 1),
        ("apart", ["reproducer", "workaround", "control"], 2),
        ("in-interpreter", ["reproducer", "workaround", "control"], 2),
        ("without-workaround", ["reproducer", "control"], 1),
        ("by-pin", ["reproducer", "control"], 1),
        ("under-flags", ["reproducer", "control", "again"], 2),
        ("helped", ["reproducer", "control", "again"], 2),
    ],
)
def test_no_part_is_run_twice(tmp_path: Path, case: str, parts: list[str], processes: int) -> None:
    """Where all goes well each part is run once, in one process where the reproducer needs none for itself."""
    Session(tmp_path, [("keeps_tally", case)]).run()
    told = [line.split() for line in (tmp_path / "tally").read_text().splitlines()]

    assert (parts, processes) == ([part for part, _ in told], len({pid for _, pid in told}))


def test_a_missing_package_is_in_the_record(observe: Observe) -> None:
    """The record says why a package does not import, and which versions of the others there are."""
    machine = observe("blocked").session.record(("blocked", "x64")).machine

    assert ({"jax": "ModuleNotFoundError: No module named 'jax'"}, None, pytest.__version__) == (
        machine.import_errors,
        machine.packages["no-such-package"],
        machine.packages["pytest"],
    )


def test_an_order_of_many_cases_is_carried_out(tmp_path: Path) -> None:
    """One probe runs a whole order, what needs no import first, and each case gets what it gets alone."""
    names = [("blocked", "x64"), ("upsets_others", "control"), ("upsets_others", "next-case")]
    names += [("crashed", "documented"), ("clear", "plain")]
    finished = Session(tmp_path, names).run()

    assert [*names[1:], names[0]] == [
        (event["issue"].replace("-", "_"), event["case"]) for event in finished.events() if event["event"] == "done"
    ]
    assert ["import-error", "returned", "returned", "signal", "returned"] == [
        finished.session.record(name).attempts[0].parts["reproducer"].outcome for name in names
    ]


def test_flags_add_up(observe: Observe) -> None:
    """XLA_FLAGS of a case, of the number of its devices and of its workaround stand beside each other."""
    (attempt,) = observed(observe, "keeps_tally", "under-flags")
    devices = "--xla_force_host_platform_device_count=2"

    assert (f"--xla_of_the_case {devices}", f"--xla_of_the_case {devices} --xla_of_the_workaround") == (
        attempt.parts["reproducer"].detail,
        attempt.parts["workaround"].detail,
    )


def test_an_environment_is_seen_to_help(observe: Observe) -> None:
    """Of a workaround that is an environment the record has the behaviour that the reproducer shows under it."""
    (attempt,) = observed(observe, "keeps_tally", "helped")

    assert ("wrong", "right") == (attempt.parts["reproducer"].behaviour, attempt.parts["workaround"].behaviour)


def test_a_recognised_exception_keeps_its_traceback(observe: Observe) -> None:
    """What has a signature is recorded as fully as what has none."""
    part = reproducer(observe, "recognised", "raises")

    assert ("json.decoder.JSONDecodeError", True) == (part.exception, "in raises" in (part.traceback or ""))


def test_an_order_of_nothing_ends_well(tmp_path: Path) -> None:
    """A probe with nothing to run says that it has ended, and writes nothing."""
    finished = Session(tmp_path, []).run()

    assert (0, [{"event": "end", "device": "none"}], []) == (
        finished.status,
        finished.events(),
        finished.session.written(),
    )


def test_records_are_written_where_nobody_listens(tmp_path: Path) -> None:
    """A driver that has closed its end of the progress costs no record."""
    names = names_of("clear")
    session = Session(tmp_path, names)
    with session.started() as process:
        assert process.stdout is not None
        process.stdout.close()
        process.wait(PATIENCE)

    assert sorted(f"clear/{case}.json" for _, case in names) == session.written()


def wait_for_lingerer(process: subprocess.Popen[str], session: Session) -> None:
    """Return once `lingers` hangs, with a grandchild in a session of its own."""
    assert eventually(lambda: len(session.noted()) == 2 or process.poll() is not None)
    assert process.poll() is None, session.errors()


LINGERS = [("clear", "plain"), ("affected", "plain"), ("leaves_children", "lingers"), ("absent", "plain")]


def test_what_was_done_survives_the_probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe killed in the middle leaves whole records of what was done, and nothing else that is taken for one."""
    session = Session(tmp_path, LINGERS)
    with session.started() as process:
        wait_for_lingerer(process, session)
        process.kill()
        process.wait()
    monkeypatch.setattr(records, "RECORDS", tmp_path)
    found = [records.in_force(PLANNED, entry, case, PINNED) for entry, case in map(find, LINGERS)]

    assert ["affected/plain.json", "clear/plain.json"] == session.written()
    assert [] == records.faults()
    assert [True, True, False, False] == [record is not None for record in found]


def test_no_child_outlives_a_killed_probe(tmp_path: Path) -> None:
    """A probe that is killed takes its child with it."""
    session = Session(tmp_path, LINGERS)
    with session.started() as process:
        wait_for_lingerer(process, session)
        process.kill()

        assert eventually(lambda: not session.left())


def test_a_killed_probe_is_heard_to_end(tmp_path: Path) -> None:
    """Whoever follows the progress of a probe that is killed is not kept waiting by what its case has left behind."""
    session = Session(tmp_path, LINGERS)
    with session.started() as process:
        wait_for_lingerer(process, session)
        process.kill()
        try:
            said, _ = process.communicate(timeout=PATIENCE / 4)
        except subprocess.TimeoutExpired:
            said = "and it is still open"

    assert {"event": "start", "issue": "leaves-children", "case": "lingers"} == json.loads(said.splitlines()[-1])


def test_a_child_that_has_only_begun_does_not_outlive_a_killed_probe(tmp_path: Path) -> None:
    """An interpreter whose probe is killed while it starts does not go on alone."""
    early = tmp_path / "early"
    early.mkdir()
    (early / "sitecustomize.py").write_text(
        "import os, sys, time\n"
        "if 'suite.cell.child' in sys.orig_argv:\n"
        "    with open(os.environ['CORPUS_FOLDER'] + '/pids', 'a') as stream:\n"
        "        stream.write(f'{os.getpid()}\\n')\n"
        "    time.sleep(0.5)\n"
    )
    session = Session(tmp_path / "run", [("hung", "long")], surroundings={"PYTHONPATH": str(early)})
    with session.started() as process:
        assert eventually(lambda: len(session.noted()) == 1)
        process.kill()

        assert eventually(lambda: not session.left())


def test_a_probe_that_is_asked_to_end_takes_everything_with_it(tmp_path: Path) -> None:
    """On SIGTERM the probe ends what its case has started, grandchildren in sessions of their own included."""
    session = Session(tmp_path, LINGERS)
    with session.started() as process:
        wait_for_lingerer(process, session)
        process.terminate()
        status = process.wait(PATIENCE)
        outlived = session.left()

    assert (143, []) == (status, outlived)


def test_two_probes_do_not_mix(tmp_path: Path) -> None:
    """Two probes that run at once write their own records, into their own folders."""
    names = [*names_of("clear"), ("flaky", "alternates"), ("leaves_children", "stubborn")]
    first = Session(tmp_path / "first", names, cell="jax-0.0.1")
    second = Session(tmp_path / "second", names, cell="jax-0.0.2")
    with first.started() as one, second.started() as other:
        statuses = (one.wait(PATIENCE), other.wait(PATIENCE))

    assert (0, 0) == statuses
    for session in (first, second):
        found = [session.record(name) for name in names]
        flaky = session.record(("flaky", "alternates"))
        assert [session.cell] * len(names) == [record.cell for record in found]
        assert ["wrong", "refused", "wrong"] == [each.parts["reproducer"].behaviour for each in flaky.attempts]
        assert len(names) == len(session.written())
