"""Damaged files, cut by hand, a disk or a tool: each gives a sentence and exit code 2, or is still valid."""

import copy
import json
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from jax_stack_compat.base import files
from jax_stack_compat.base.errors import BadFile, Exit
from jax_stack_compat.base.files import FileModel
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.judge.record import Part, Record
from jax_stack_compat.stack import lock, matrix, plan, releases
from jax_stack_compat.stack.matrix import Matrix
from jax_stack_compat.stack.releases import Snapshot
from laboratory.cli import command_line as command
from laboratory.records import keys, records
from laboratory.records.records import Status
from laboratory.report.folder import compat_json as stored
from laboratory.report.folder import write as writing
from laboratory.report.model import CompatFile
from tests.report.on_disk import saved
from tests.report.test_report import put_record, put_status
from tests.report.test_small import small

# No records, no environments, and no timings, which take seconds to draw.
pytestmark = pytest.mark.usefixtures("elsewhere", "untimed")
# The values to try: empty ones, other types, and unexpected texts and numbers.
GONE = object()
ODD: Sequence[Any] = (
    *(GONE, None, "", "banana", "../../\0" + "x" * 300, "9999-12-31T23:59:59Z"),
    *([], {}, {"banana": "!!!"}, -1, 10**30, float("nan")),
)
Place = tuple[str | int, ...]


def places(data: Any, at: Place = ()) -> Iterator[Place]:
    """Yield the path to each section and key, innermost first; one entry represents a list or mapping."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from places(value, (*at, key))
    elif isinstance(data, list) and data:
        yield from places(data[-1], (*at, len(data) - 1))
    if at:
        yield at


def put(data: Any, place: Place, odd: Any) -> Any:
    """Return `data` with `odd` at this place. Raises LookupError or TypeError where there is no such place now."""
    made, (key, *way) = copy.copy(data), place
    if way:
        made[key] = put(data[key], tuple(way), odd)
    elif odd is GONE:
        del made[key]
    else:
        data[key]
        made[key] = copy.deepcopy(odd)
    return made


@dataclass(frozen=True)
class Net:
    """Reads changed versions of valid `data`, and runs commands on those that can be read."""

    path: Path
    model: type[FileModel]
    data: Any
    commands: Sequence[Sequence[str]]
    capsys: pytest.CaptureFixture[str]
    ready: Callable[[], None] = lambda: None
    # If several changes are refused together, fast commands try each one alone.
    quick: bool = False

    def odd(self) -> list[str]:
        """Return the ends that are neither success nor a sentence, each with the value and the place that caused it."""
        assert self._reads(self.data)
        found = []
        for value in ODD:
            told = "gone" if value is GONE else repr(value)[:30]
            for mutant, changed in self._taken(value):
                well, odd = self._end(mutant)
                if len(changed) > 1 and (odd or (self.quick and not well)):
                    each = [(place, self._end(put(self.data, place, value))[1]) for place in changed]
                    found += [f"{told} at {'.'.join(map(str, place))}: {end}" for place, end in each if end]
                elif odd:
                    found.append(f"{told} at {changed}: {odd}")
        return found

    def _taken(self, value: Any) -> Iterator[tuple[Any, tuple[Place, ...]]]:
        """Yield readable files with `value` in as many places as possible, and these: drawing a page takes its time."""
        ahead = [place for place in places(self.data) if self._reads(put(self.data, place, value))]
        while ahead:
            made, left = self.data, list[Place]()
            done: tuple[Place, ...] = ()
            for place in ahead:
                inside = any(place == each[: len(place)] for each in done)
                tried = made
                with suppress(LookupError, TypeError):
                    tried = put(made, place, value)
                if not inside and self._reads(tried):
                    made, done = tried, (*done, place)
                else:
                    left.append(place)
            yield made, done
            ahead = left

    def _reads(self, data: Any) -> bool:
        try:
            files.parse(self.model, json.dumps(data), Path("mutant.json"))
        except BadFile:
            return False
        return True

    def _end(self, data: Any) -> tuple[bool, str]:
        """Return True if the commands succeed, and a description of an end that is neither success nor a sentence."""
        self.path.write_text(json.dumps(data), encoding="utf-8")
        for words in self.commands:
            self.ready()
            try:
                code = command.main(words)
            except Exception as error:
                return False, f"{words[0]}: {type(error).__name__}: {error}"
            told = self.capsys.readouterr().err
            if code == Exit.MISUSED:
                return False, "" if told.startswith("error: ") else f"{words[0]}: {told}"
        return True, ""


def test_a_report_cut_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """diff and merge accept a compat.json with anything missing or added, or say what is wrong."""
    good, cut = saved([small(), small()], tmp_path)
    path = cut / "compat.json"
    both, to = [str(good), str(path)], str(tmp_path / "to")
    calls = [["diff", *both], ["diff", *reversed(both)], ["merge", both[1], "--to", to]]

    assert "" == "\n".join(Net(path, CompatFile, json.loads(stored.texts(small())["compat.json"]), calls, capsys).odd())


LINE = """
schema_version = 1
python = "3.12"
[line]
releases = ["jax>=0.6.0,<0.6.2"]
[[arms]]
asks = "I keep my libraries and upgrade jax"
times = [{ equinox = "0.12.2", diffrax = "0.7.0" }]
along = "jax>=0.6.0,<0.6.2"
except = [["jax<0.6.1"]]
excluded = "leave"
as_of = "release"
run = "all"
beside = true
"""


@pytest.fixture
def stack(replanned: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """A matrix with two releases and an arm, and a snapshot with their packages; the plan is made from these."""
    wanted, offered = tomllib.loads(LINE), json.loads(releases.PATH.read_text(encoding="utf-8"))
    pins = lock.load(plan.cell("jax-0.6.1+equinox-0.12.2+diffrax-0.7.0")).pins
    offered["packages"] = {
        name: {version: of[version] for version in of if version in ("0.6.0", pins.get(name))}
        for name, of in offered["packages"].items()
    }
    monkeypatch.setattr(plan, "PATH", tmp_path / "matrix.json")
    monkeypatch.setattr(matrix, "PATH", tmp_path / "matrix.json")
    monkeypatch.setattr(releases, "PATH", tmp_path / "releases.json")
    for path, data in ((matrix.PATH, wanted), (releases.PATH, offered)):
        path.write_text(json.dumps(data), encoding="utf-8")
    plan.cells.cache_clear()
    return wanted, offered


def calls_of(to: Path) -> list[list[str]]:
    """Return commands that read the plan, the locks and the records of the stack above."""
    of = ["--issue", "wraps-lower-bypass"]
    return [["compat", "--plan", "--tag", "full", *of], ["report", "--tag", "full", *of, "--to", str(to)]]


def test_a_matrix_cut_by_hand(stack: tuple[Any, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A matrix with anything missing or added is planned, or the error says what is wrong."""
    calls, ready = calls_of(tmp_path / "to"), plan.cells.cache_clear

    assert "" == "\n".join(Net(matrix.PATH, Matrix, stack[0], calls, capsys, ready, quick=True).odd())


def test_a_snapshot_cut_by_hand(stack: tuple[Any, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A releases.json with anything missing or added serves plan and judge, or the error says what is wrong."""
    calls, ready = calls_of(tmp_path / "to"), plan.cells.cache_clear

    assert "" == "\n".join(Net(releases.PATH, Snapshot, stack[1], calls, capsys, ready).odd())


def test_a_record_cut_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A record or status with anything missing or added is judged, or the error says what to remove."""
    # Locks are unchanged, and pages depend only on the report.
    monkeypatch.setattr(lock, "load", cache(lock.load))
    monkeypatch.setattr(writing, "site", lambda *_: {})
    cell, (entry,) = plan.tagged("default")[-1], catalogue.select(["wraps-lower-bypass"])
    case, pinned = entry.issue.cases[0], lock.load(cell)
    seen = Part(outcome="returned", behaviour=case.rules[0].behaviour, detail="seen", seconds=0.5)
    put_status(cell, platform=keys.here())
    paths = put_record(cell, entry, case, seen), records.RECORDS / cell.id / "cell.json"
    record, status = (json.loads(path.read_text(encoding="utf-8")) for path in paths)
    # Fewer places, and a part that has everything.
    record["machine"]["packages"] = {"jax": pinned.pins["jax"]}
    parts = record["attempts"][0]["parts"]
    broken = {"outcome": "raised", "detail": "a b", "exception": "ValueError", "traceback": "x", "output": "y"}
    parts["workaround"] = {**broken, "said": parts["reproducer"]}
    of = ["--issue", entry.issue.id]
    calls = [["compat", "--plan", *of], ["report", cell.id, *of, "--to", str(tmp_path / "to")]]
    kinds: list[tuple[Path, type[FileModel], Any]] = [(paths[0], Record, record), (paths[1], Status, status)]
    for path, _, data in kinds:
        path.write_text(json.dumps(data), encoding="utf-8")
    assert records.in_force(cell, entry, case, pinned)

    for path, model, data in kinds:
        assert "" == "\n".join(Net(path, model, data, calls, capsys, quick=True).odd())
        path.write_text(json.dumps(data)[:-9], encoding="utf-8")
        for words in calls:
            assert Exit.MISUSED == command.main(words)
            assert "(remove the file; the next run of its cell makes it again)" in capsys.readouterr().err
        path.write_text(json.dumps(data), encoding="utf-8")


def damaged(text: str) -> Iterator[tuple[str, bytes]]:
    """A lock with one change, and the change."""
    lines = text.splitlines(keepends=True)
    pins = [number for number, line in enumerate(lines) if "==" in line and not line.startswith("#")]
    for number in (pins[0], pins[0] + 1, pins[-1]):
        line = lines[number]
        name, _, rest = line.partition("==")
        of_line = [
            *("", "\0\n", "../../x\n", "--index-url=https://x\n", "x" * 10_000, line * 2, line[:-5], line.upper()),
            *(f"{name}==banana {rest}", f"{name}==9banana \\\n", f"{name}=={'1' * 5000} \\\n", f"{name}[all]=={rest}"),
            *(f"{name} @ https://x/y.whl\n", line.replace("\\", "; python_version > '3' \\")),
            line.replace("sha256", "md5"),
        ]
        for other in of_line:
            yield f"line {number + 1}: {other[:40]!r}", "".join([*lines[:number], other, *lines[number + 1 :]]).encode()
    yield from {"empty": b"", "cut": text[:999].encode(), "no text": b"\xff\xfe" + text.encode("utf-16")}.items()


def test_a_lock_cut_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A lock with anything missing or added serves its cell, or the error names its line."""
    cell = plan.cell("jax-0.6.0")
    text = lock.load(cell).text
    monkeypatch.setattr(lock, "LOCKS", tmp_path)
    for each in plan.cells():
        (tmp_path / each.lock_name).symlink_to(lock.LOCKS / each.lock_name)
    path = lock.path_of(cell)
    path.unlink()
    odd = []
    for what, other in damaged(text):
        path.write_bytes(other)
        try:
            pinned = lock.load(cell)
        except BadFile as error:
            odd += [f"{what}: {fault}" for fault in error.faults if fault.path != path or not fault.key]
            continue
        try:
            command.main(["report", cell.id, "--issue", "stack-smoke", "--to", str(tmp_path / "to")])
        except Exception as error:
            odd.append(f"{what}: {pinned.pins}: {type(error).__name__}: {error}")

    assert "" == "\n".join(odd)
