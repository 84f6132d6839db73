"""The probe, from its order to the judge's verdict: the corpus of endings, and what must hold whatever a case does."""

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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from suite.cell.issue import Case
from suite.files import ROOT, read
from suite.judge import verdicts as judge
from suite.judge.verdicts import Judged
from suite.run import catalogue, records
from suite.run import cell_run as run
from suite.run.catalogue import Entry
from suite.run.records import Attempt, Key, Outcome, Part, Record
from tests.cell import corpus

CELL = "jax-0.0.0"
# Longer than anything here takes, and far shorter than what a case that is not ended would sleep.
PATIENCE = 10.0

Name = tuple[str, str]


@dataclass(frozen=True)
class Row:
    """What is to be made of one corpus case."""

    module: str
    case: str
    verdict: judge.Verdict
    behaviour: str | None
    reason: str | None
    workaround: judge.Workaround = "none"
    attempts: int = 1

    def __str__(self) -> str:
        """Name the case as pytest shows it."""
        return f"{self.module}/{self.case}"


ROWS = (
    Row("clear", "plain", "clear", "right", None),
    Row("clear", "with-workaround", "clear", "right", None, "not-needed"),
    Row("clear", "workaround-fails", "clear", "right", None, "fails", 3),
    Row("clear", "in-interpreter", "clear", "right", None, "not-needed"),
    Row("affected", "plain", "affected", "wrong", "run.wrong"),
    Row("affected", "regressed", "affected", "wrong", "run.wrong", attempts=3),
    Row("affected", "nothing-known", "affected", "wrong", "run.wrong", attempts=3),
    Row("affected", "workaround-holds", "affected", "wrong", "run.wrong", "holds"),
    Row("affected", "workaround-fails", "affected", "wrong", "run.wrong", "fails", 3),
    Row("affected", "workaround-crashes", "affected", "wrong", "run.wrong", "fails", 3),
    Row("guarded", "plain", "guarded", "refused", "run.refused", "holds"),
    Row("absent", "plain", "absent", "missing", "run.missing"),
    Row("different", "unknown-exception", "different", None, "run.exception", attempts=3),
    Row("different", "nothing-known", "different", None, "run.exception", attempts=3),
    Row("different", "system-exit", "different", None, "run.exception", attempts=3),
    Row("different", "not-unicode", "different", None, "run.exception", attempts=3),
    Row("different", "unspeakable", "different", None, "run.exception", attempts=3),
    Row("crashed", "segfault", "crashed", None, "run.signal", attempts=3),
    Row("crashed", "segfault-documented", "affected", "crashed", "run.signal", "holds"),
    Row("crashed", "segfault-in-interpreter", "crashed", None, "run.signal", attempts=3),
    Row("crashed", "nothing-known", "crashed", None, "run.signal", attempts=3),
    Row("crashed", "abort", "crashed", None, "run.signal", attempts=3),
    Row("crashed", "nameless-signal", "crashed", None, "run.signal", attempts=3),
    Row("crashed", "killed", "error", None, "run.killed", attempts=3),
    Row("crashed", "killed-where-crashes-are-documented", "error", None, "run.killed", attempts=3),
    Row("crashed_at_exit", "fork-and-exit", "crashed", None, "run.signal", attempts=3),
    Row("crashed_at_exit", "interpreter", "crashed", None, "run.signal", attempts=3),
    Row("crashed_at_exit", "fork", "clear", "right", None),
    Row("crashed_at_exit", "documented", "affected", "crashed", "run.signal"),
    Row("crashed_at_exit", "hangs", "hung", None, "run.timeout", attempts=3),
    Row("crashed_at_exit", "bad-status", "different", None, "run.exit", attempts=3),
    Row("hung", "plain", "hung", None, "run.timeout", attempts=3),
    Row("hung", "documented", "affected", "hung", "run.timeout", "holds"),
    Row("eats_memory", "itself", "error", None, "run.memory", attempts=3),
    Row("eats_memory", "child", "error", None, "run.memory", attempts=3),
    Row("eats_memory", "daemon", "error", None, "run.memory", attempts=3),
    Row("prints_garbage", "plain", "clear", "right", None),
    Row("prints_garbage", "then-exits", "different", None, "run.exit", attempts=3),
    Row("floods_output", "itself", "different", None, "run.output", attempts=3),
    Row("garbles_report", "half-a-line", "error", None, "run.garbled", attempts=3),
    Row("garbles_report", "half-a-line-in-interpreter", "error", None, "run.garbled", attempts=3),
    Row("garbles_report", "half-a-line-and-gone", "error", None, "run.garbled", attempts=3),
    Row("garbles_report", "nested-too-deep", "error", None, "run.garbled", attempts=3),
    Row("garbles_report", "flood", "error", None, "run.garbled", attempts=3),
    Row("leaves_silently", "status-0", "different", None, "run.no-result", attempts=3),
    Row("leaves_silently", "status-0-in-interpreter", "different", None, "run.no-result", attempts=3),
    Row("leaves_silently", "status-3", "different", None, "run.exit", attempts=3),
    Row("leaves_children", "sleeper", "clear", "right", None),
    Row("leaves_children", "stubborn", "clear", "right", None),
    Row("leaves_children", "daemon", "clear", "right", None),
    Row("leaves_children", "of-interpreter", "clear", "right", None),
    Row("leaves_children", "crashed", "crashed", None, "run.signal", attempts=3),
    Row("leaves_children", "hung", "hung", None, "run.timeout", attempts=3),
    Row("closes_descriptors", "all", "different", None, "run.exit", attempts=3),
    Row("closes_descriptors", "all-and-hangs", "hung", None, "run.timeout", attempts=3),
    Row("closes_descriptors", "streams", "clear", "right", None),
    Row("flaky", "alternates", "flaky", None, "run.flaky", attempts=3),
    Row("flaky", "recovers", "flaky", None, "run.flaky", attempts=3),
    Row("failing_control", "where-right", "error", None, "run.control", attempts=3),
    Row("failing_control", "where-affected", "error", None, "run.control", attempts=3),
    Row("failing_control", "by-crashing", "error", None, "run.control", attempts=3),
    Row("keeps_tally", "forked", "clear", "right", None, "not-needed"),
    Row("keeps_tally", "apart", "clear", "right", None, "not-needed"),
    Row("keeps_tally", "in-interpreter", "clear", "right", None, "not-needed"),
    Row("keeps_tally", "without-workaround", "clear", "right", None),
    Row("upsets_others", "workaround", "affected", "wrong", "run.wrong", "holds"),
    Row("upsets_others", "workaround-that-crashes", "affected", "wrong", "run.wrong", "holds"),
    Row("upsets_others", "control", "affected", "wrong", "run.wrong"),
    Row("upsets_others", "next-case", "clear", "right", None),
    Row("returns_nonsense", "nothing", "different", None, "run.exception", attempts=3),
    Row("returns_nonsense", "a-name", "different", None, "run.exception", attempts=3),
    Row("returns_nonsense", "unknown-behaviour", "error", None, "run.unknown-behaviour", attempts=3),
    Row("returns_nonsense", "nameless-behaviour", "different", None, "run.exception", attempts=3),
    Row("returns_nonsense", "unwritable-behaviour", "different", None, "run.exception", attempts=3),
    Row("import_error", "undocumented", "different", None, "import.exception"),
    Row("import_error", "documented", "affected", "import-error", "import.exception"),
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

    @contextlib.contextmanager
    def started(self) -> Iterator[subprocess.Popen[str]]:
        """Start the probe as the driver does; it does not outlive the block, nor does what it has started."""
        self.folder.mkdir(parents=True, exist_ok=True)
        order = self.folder / "order.json"
        order.write_text(json.dumps(self._order()))
        with (self.folder / "stderr").open("wb") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", "suite.cell.probe", str(order)],
                cwd=self.folder,
                env={
                    **run.surroundings(),
                    "PYTHONDONTWRITEBYTECODE": "",  # so that it starts the sooner the next time
                    "CORPUS_FOLDER": str(self.folder),
                    **self.surroundings,
                },
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
                for pid in filter(alive, self.noted()):
                    os.kill(pid, signal.SIGKILL)

    def run(self) -> Finished:
        """Run the probe to its end."""
        with self.started() as process:
            said, _ = process.communicate(timeout=3 * PATIENCE)
            outlived = [pid for pid in self.noted() if alive(pid)]
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

    def noted(self) -> list[int]:
        """The processes that the cases have noted."""
        pids = self.folder / "pids"
        return [int(line) for line in pids.read_text().splitlines()] if pids.exists() else []

    def errors(self) -> str:
        """What went to the probe's standard error."""
        return (self.folder / "stderr").read_text(errors="backslashreplace")

    def _order(self) -> dict[str, Any]:
        cases = []
        for name in self.names:
            entry, case = find(name)
            expectation = judge.expected(case, {})
            cases.append(
                {
                    "module": entry.module,
                    "case": case.id,
                    "expected": expectation.behaviour if expectation else None,
                    "key": key(entry).model_dump(),
                    "record": str(self.path(name)),
                }
            )
        return {"cell": self.cell, "packages": ["no-such-package", "pytest"], "cases": cases}


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


def key(entry: Entry) -> Key:
    """The key that the records here are made under."""
    return records.key(entry, "0" * 64, platform.python_version())


def alive(pid: int) -> bool:
    """Whether a process is there and not just waiting to be buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


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
    """Run a corpus module through a probe of its own, once; the modules of the rows that were asked for begin early."""
    known: dict[str, Future[Finished]] = {}

    def begin(module: str) -> Future[Finished]:
        if module not in known:
            names = [name for name in names_of(module) if name not in NEVER_ENDING]
            known[module] = pool.submit(Session(tmp_path_factory.mktemp(module), names).run)
        return known[module]

    parameters = [getattr(item, "callspec", None) for item in request.session.items]
    rows = [row for each in parameters if each is not None and isinstance(row := each.params.get("row"), Row)]
    with ThreadPoolExecutor(max_workers=4) as pool:
        for row in rows:
            begin(row.module)
        yield lambda module: begin(module).result()


def observed(observe: Observe, module: str, case: str) -> list[Attempt]:
    """Every attempt of a corpus case."""
    return observe(module).session.record((module, case)).attempts


def reproducer(observe: Observe, module: str, case: str) -> Part:
    """What came of a corpus case's reproducer the first time."""
    return observed(observe, module, case)[0].parts["reproducer"]


def judged(observe: Observe, module: str, case: str) -> Judged:
    """The verdict on a corpus case."""
    return judge.judge(find((module, case))[1], observed(observe, module, case))


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_every_ending_is_judged_as_what_it_is(observe: Observe, row: Row) -> None:
    """However a case ends, it gets the verdict, behaviour, reason and workaround that go with that ending."""
    found = judged(observe, row.module, row.case)

    assert (row.verdict, row.behaviour, row.reason, row.workaround) == (
        found.verdict,
        found.behaviour,
        found.reason,
        found.workaround,
    )


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_what_is_not_as_expected_is_tried_three_times(observe: Observe, row: Row) -> None:
    """A case is run once where all is as expected, three times where not, and every attempt is kept."""
    assert row.attempts == len(observed(observe, row.module, row.case))


@pytest.mark.parametrize("module", MODULES)
def test_the_probe_ends_well_whatever_a_case_does(observe: Observe, module: str) -> None:
    """No ending of a case is an ending of the probe: its progress has the start and the end of each, and its own."""
    finished = observe(module)
    issue = find(finished.session.names[0])[0].issue.id
    told = [(step, issue, case) for _, case in finished.session.names for step in ("start", "done")]

    assert (0, [*told, ("end", None, None)]) == (
        finished.status,
        [(event["event"], event.get("issue"), event.get("case")) for event in finished.events()],
    )


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_record_round_trips(observe: Observe, row: Row) -> None:
    """A record reads back as what was written, to the last field."""
    session, name = observe(row.module).session, (row.module, row.case)

    assert json.loads(session.path(name).read_text()) == session.record(name).model_dump(
        mode="json", exclude_unset=True
    )


def test_every_corpus_case_is_judged() -> None:
    """No case of the corpus is left out of the table above."""
    modules = [each.name for each in pkgutil.iter_modules(corpus.__path__)]

    assert sorted(name for module in modules for name in names_of(module)) == sorted(
        {(row.module, row.case) for row in ROWS} | BY_LUCK | NEVER_ENDING
    )


@pytest.mark.parametrize("module", MODULES)
def test_the_corpus_has_the_shape_of_the_issues(module: str) -> None:
    """A corpus module passes the checks that the issues' own modules have to pass."""
    assert [] == catalogue.faults(catalogue.entry(f"{corpus.__name__}.{module}"))


@pytest.mark.parametrize(
    ("module", "case", "outcome", "detail"),
    [
        ("different", "unknown-exception", "raised", "no such key\nand a second line"),
        ("different", "system-exit", "raised", "0"),
        ("crashed", "segfault", "signal", "SIGSEGV"),
        ("crashed", "abort", "signal", "SIGABRT"),
        ("crashed", "killed", "signal", "SIGKILL"),
        ("leaves_silently", "status-0", "no-result", "it ended with exit status 0 and said nothing"),
        ("leaves_silently", "status-3", "exit", "exit status 3"),
        ("returns_nonsense", "nothing", "raised", "a reproducer returns Seen, not None"),
        ("import_error", "undocumented", "import-error", "import jax: ModuleNotFoundError: No module named 'jax'"),
    ],
)
def test_an_ending_is_told_in_full(observe: Observe, module: str, case: str, outcome: Outcome, detail: str) -> None:
    """The record says what ended a case, in that thing's own words."""
    part = reproducer(observe, module, case)

    assert (outcome, detail) == (part.outcome, part.detail)


@pytest.mark.parametrize(
    ("module", "case", "told"),
    [
        ("different", "unknown-exception", "LookupError: no such key"),
        ("crashed", "segfault", "signal: SIGSEGV"),
        ("crashed_at_exit", "interpreter", "signal after its answer, right: 2 + 2 is 4"),
        ("crashed_at_exit", "hangs", "timeout after its answer, right: 2 + 2 is 4"),
        ("flaky", "alternates", "1 of 3 refused, 2 of 3 wrong"),
        ("failing_control", "where-right", "the control failed: AssertionError: 2 + 2 is not 5"),
        ("returns_nonsense", "unknown-behaviour", "'confused' is not among the behaviours of unknown-behaviour"),
    ],
)
def test_a_verdict_tells_its_grounds(observe: Observe, module: str, case: str, told: str) -> None:
    """A reader of the verdict sees in one line what it rests on."""
    assert told == judged(observe, module, case).detail


@pytest.mark.parametrize(
    ("case", "names"),
    [("segfault", "Segmentation fault"), ("segfault-in-interpreter", "Segmentation fault"), ("abort", "Aborted")],
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
    said = reproducer(observe, "crashed_at_exit", "fork-and-exit").said

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
    ],
)
def test_no_part_is_run_twice(tmp_path: Path, case: str, parts: list[str], processes: int) -> None:
    """Where all goes well each part is run once, in one process where the reproducer needs none for itself."""
    Session(tmp_path, [("keeps_tally", case)]).run()
    told = [line.split() for line in (tmp_path / "tally").read_text().splitlines()]

    assert (parts, processes) == ([part for part, _ in told], len({pid for _, pid in told}))


def test_a_missing_package_is_in_the_record(observe: Observe) -> None:
    """The record says why a package does not import, and which versions of the others there are."""
    machine = observe("import_error").session.record(("import_error", "undocumented")).machine

    assert ({"jax": "ModuleNotFoundError: No module named 'jax'"}, None, pytest.__version__) == (
        machine.import_errors,
        machine.packages["no-such-package"],
        machine.packages["pytest"],
    )


def test_an_order_of_many_cases_is_carried_out(tmp_path: Path) -> None:
    """One probe runs a whole order, what needs no import first, and each case gets what it gets alone."""
    names = [("import_error", "documented"), ("upsets_others", "control"), ("upsets_others", "next-case")]
    names += [("crashed", "segfault-documented"), ("clear", "plain")]
    finished = Session(tmp_path, names).run()

    assert [*names[1:], names[0]] == [
        (event["issue"].replace("-", "_"), event["case"]) for event in finished.events() if event["event"] == "done"
    ]
    assert ["import-error", "wrong", "right", "crashed", "right"] == [
        judge.judge(find(name)[1], finished.session.record(name).attempts).behaviour for name in names
    ]


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


LINGERS = [("clear", "plain"), ("affected", "plain"), ("leaves_children", "lingers"), ("guarded", "plain")]


def test_what_was_done_survives_the_probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe killed in the middle leaves whole records of what was done, and nothing else that is taken for one."""
    session = Session(tmp_path, LINGERS)
    with session.started() as process:
        wait_for_lingerer(process, session)
        process.kill()
        process.wait()
    monkeypatch.setattr(records, "RECORDS", tmp_path)
    found = [records.find(CELL, entry, case.id, key(entry)) for entry, case in map(find, LINGERS)]

    assert ["affected/plain.json", "clear/plain.json"] == session.written()
    assert [] == records.faults()
    assert [True, True, False, False] == [record is not None for record in found]


def test_no_child_outlives_a_killed_probe(tmp_path: Path) -> None:
    """A probe that is killed takes its child with it."""
    session = Session(tmp_path, LINGERS)
    with session.started() as process:
        wait_for_lingerer(process, session)
        _, child = session.noted()
        process.kill()

        assert eventually(lambda: not alive(child))


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
    session = Session(tmp_path / "run", [("hung", "long")], surroundings={"PYTHONPATH": f"{early}{os.pathsep}{ROOT}"})
    with session.started() as process:
        assert eventually(lambda: len(session.noted()) == 1)
        (child,) = session.noted()
        process.kill()

        assert eventually(lambda: not alive(child))


def test_a_probe_that_is_asked_to_end_takes_everything_with_it(tmp_path: Path) -> None:
    """On SIGTERM the probe ends what its case has started, grandchildren in sessions of their own included."""
    session = Session(tmp_path, LINGERS)
    with session.started() as process:
        wait_for_lingerer(process, session)
        process.terminate()
        status = process.wait(PATIENCE)
        outlived = [pid for pid in session.noted() if alive(pid)]

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
