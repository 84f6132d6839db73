"""The sessions of timings: their calls of asv, the use of its results, exit codes, and kept files."""

import json
import os
import platform
import re
from argparse import Namespace
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from asv.machine import MachineCollection

from jax_stack_compat.base.errors import Exit, Failed, Misused
from jax_stack_compat.base.files import read
from jax_stack_compat.stack.plan import Cell
from laboratory.timings import asv_call, bench, compare, release_line, results
from laboratory.timings.asv_call import Asv, hardware, machine_name, prepare_plain
from laboratory.timings.counting import Counter
from laboratory.timings.counts import Counted, Unit
from laboratory.timings.results import Comparison, NoiseFile
from tests.timings.conftest import Known, put_results

BASE, OTHER = "jax-0.6.0", "jax-0.9.2"
HASHES = {BASE: "a" * 40, OTHER: "b" * 40}
# The benchmarks of a fake suite: name → type, unit, parameters.
KNOWN: Known = {
    "m.time_it": ("time", "seconds", [["1", "'two'"]]),
    "m.track_size": ("track", "things", []),
    "m.track_lacking": ("track", "seconds", []),
    "m.time_failing": ("time", "seconds", []),
}
Tell = Callable[[str, str], float | None]


@dataclass(frozen=True)
class Pretended(Asv):
    """A fake asv that runs nothing, and writes the results that `tell` returns for a cell and a benchmark."""

    tell: Tell = lambda cell, key: 1.0
    broken: tuple[str, ...] = ()
    calls: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def run(self, cell: Cell, label: str, *words: str) -> None:
        """Write the files that asv leaves: rows without a duration for a cell that it could not install."""
        self.calls.append((cell.id, words))
        patterns = [words[place + 1] for place, word in enumerate(words) if word == "--bench"]
        found: dict[str, tuple[Any, ...]] = {}
        for name, (kind, _, params) in KNOWN.items():
            keys = [f"{name}({each})" for each in params[0]] if params else [name]
            chosen = [key for key in keys if any(re.search(pattern, key) for pattern in patterns)]
            values = [self.tell(cell.id, key) if key in chosen else float("nan") for key in keys]
            samples = [value and [2 * value, value] for value in values] if kind == "time" else None
            if chosen:
                found[name] = (None,) if cell.id in self.broken else (values, 1.0, samples)
        put_results(self.results / self.machine, KNOWN, HASHES[cell.id], found)


Pretend = Callable[..., Pretended]


@pytest.fixture
def pretend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pretend:
    """Make a fake asv, and redirect the sessions' files away from the tree."""
    for module in (bench, compare):
        monkeypatch.setattr(module, "WORK", tmp_path / "work")
        monkeypatch.setattr(module, "STATE", tmp_path)
    monkeypatch.setattr(compare, "ROOT", tmp_path)
    monkeypatch.setattr(compare, "FENCES", tmp_path / "noise")
    monkeypatch.setattr(compare, "COMPARED", tmp_path / "compared")
    (tmp_path / "logs").mkdir()
    for label in (f"asv-{BASE}", f"asv-{OTHER}", "asv-first-0-base"):
        (tmp_path / "logs" / f"{label}.log").write_text("·· first\n·· asv's last words\n", encoding="utf-8")

    def make(tell: Tell, broken: Sequence[str] = ()) -> Pretended:
        return Pretended("cpu-x", HASHES, tmp_path / "results", tell=tell, broken=tuple(broken))

    return make


@dataclass(frozen=True)
class PretendedCounter(Counter):
    """A fake counter, which returns the counts that `tell` gives for the benchmarks in `there`, in order."""

    there: tuple[str, ...] = ()
    tell_count: Callable[[str, str], float] = lambda cell, key: 1e6
    calls: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def listed(self, cell: Cell, patterns: Sequence[str]) -> dict[str, str]:
        """Return the countable benchmarks that match, each of version 1."""
        return {key: "1" for key in self.there if any(re.search(pattern, key) for pattern in patterns)}

    def count(
        self, cell: Cell, benchmarks: Collection[str], note: Callable[[str], None] = lambda name: None
    ) -> dict[str, Counted]:
        """As many calls as instructions."""
        self.calls.append((cell.id, tuple(benchmarks)))
        values = {key: self.tell_count(cell.id, key) for key in benchmarks}
        return {key: Counted(version="1", calls=each, instructions=each) for key, each in values.items()}


NO_COUNTS = PretendedCounter("calls")


def told(slower: float = 1.0, noise: float = 0.02) -> Tell:
    """Return noisy times, slower on the other side, and counts without noise."""
    generator = np.random.default_rng(0)

    def tell(cell: str, key: str) -> float | None:
        match key:
            case "m.track_size":
                return 7.0
            case "m.track_lacking":
                return float("nan")
            case "m.time_failing":
                return None
        return float(np.exp(generator.normal(0, noise))) * (slower if cell == OTHER and "two" in key else 1)

    return tell


TIMED = [r"time_it", "track_"]
CELLS = release_line.cell(BASE), release_line.cell(OTHER)


def test_a_slow_down_is_told_and_confirmed(
    pretend: Pretend, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Each side runs eight processes in turns, and eight more for apparent changes; a regression gives exit code 1."""
    asv = pretend(told(slower=1.5))

    code = compare.compare(asv, NO_COUNTS, *CELLS, TIMED, 8, keeping=True)

    assert Exit.UNEXPECTED == code
    assert "1 regressed, 2 stable, 1 not-measured, 0 failed, of 4" in capsys.readouterr().out
    first, again = asv.calls[:16], asv.calls[16:]
    assert [BASE, OTHER, OTHER, BASE] * 4 == [cell for cell, _ in first] == [cell for cell, _ in again]
    (exactly,) = {words for _, words in again}
    assert re.escape("m.time_it('two')") in exactly[-1]
    # One process is enough for a count, and to know that a release lacks a benchmark's subject.
    assert not any("track" in word for _, words in first[2:] for word in words)
    kept = read(Comparison, tmp_path / "compared/cpu-x" / f"{BASE}..{OTHER}.json")
    assert (HASHES[BASE], HASHES[OTHER]) == kept.commits
    assert "regressed" == kept.benchmarks["m.time_it('two')"].outcome
    assert None is kept.benchmarks["m.track_lacking"].change


def test_a_narrower_comparison_adds_to_what_was_judged(pretend: Pretend, tmp_path: Path) -> None:
    """A comparison keeps the judgements of the same two commits and drops those of others."""
    asv = pretend(told())
    path = tmp_path / "compared/cpu-x" / f"{BASE}..{OTHER}.json"

    compare.compare(asv, NO_COUNTS, *CELLS, ["time_it"], 8, keeping=True)
    compare.compare(asv, NO_COUNTS, *CELLS, ["track_size"], 8, keeping=True)

    assert {"m.time_it(1)", "m.time_it('two')", "m.track_size"} == set(read(Comparison, path).benchmarks)
    path.write_text(path.read_text(encoding="utf-8").replace("a" * 40, "c" * 40), encoding="utf-8")
    compare.compare(asv, NO_COUNTS, *CELLS, ["track_size"], 8, keeping=True)
    assert {"m.track_size"} == set(read(Comparison, path).benchmarks)


def test_a_try_leaves_nothing_behind(pretend: Pretend, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A comparison writes to the published results only with --keep, and says whether it did."""
    place = f"compared/cpu-x/{BASE}..{OTHER}.json"

    compare.compare(pretend(told()), NO_COUNTS, *CELLS, TIMED, 8)

    assert f"nothing was kept: --keep writes the verdicts into {place}" in capsys.readouterr().out
    assert not (tmp_path / "compared").exists()
    compare.compare(pretend(told()), NO_COUNTS, *CELLS, TIMED, 8, keeping=True)
    assert f"kept in {place}" in capsys.readouterr().out
    assert (tmp_path / place).exists()
    with pytest.raises(Misused, match="against itself is not kept"):
        compare.compare(pretend(told()), NO_COUNTS, CELLS[0], CELLS[0], TIMED, 8, keeping=True)


def test_a_release_that_cannot_be_installed_is_not_measured(
    pretend: Pretend, capsys: pytest.CaptureFixture[str]
) -> None:
    """If nothing was measured, nothing is stable or failed, no second process runs, and the exit code is 3."""
    asv = pretend(told(), broken=[OTHER])

    assert Exit.INCOMPLETE == compare.compare(asv, NO_COUNTS, *CELLS, TIMED, 8)

    assert "0 regressed, 0 stable, 4 not-measured, 0 failed, of 4" in capsys.readouterr().out
    assert 2 == len(asv.calls)


def test_one_broken_release_stops_no_other(pretend: Pretend, capsys: pytest.CaptureFixture[str]) -> None:
    """Each cell has its own call and counts, and the exit code is 3 while any result is missing."""
    asv = pretend(told(), broken=[BASE])

    code = bench.run(asv, CELLS, TIMED, fresh=False, smoke=False)

    said = capsys.readouterr().out
    assert Exit.INCOMPLETE == code
    assert [BASE, OTHER] == [cell for cell, _ in asv.calls]
    assert f"1/2 {BASE}: 0 measured, 0 n/a, 0 failed, 4 not measured" in said
    assert "nothing was measured; asv said, at the end: first / asv's last words" in said
    assert f"2/2 {OTHER}: 3 measured, 1 n/a, 0 failed, 0 not measured" in said
    assert "2 cells: 3 measured, 1 n/a, 0 failed, 4 not measured" in said
    assert Exit.AS_EXPECTED == bench.run(pretend(told()), CELLS, TIMED, fresh=False, smoke=False)
    assert Exit.INCOMPLETE == bench.run(pretend(told()), CELLS, ["failing"], fresh=False, smoke=False)


def test_a_smoke_run_keeps_nothing(pretend: Pretend, tmp_path: Path) -> None:
    """Only a smoke run is quick, and its results are never saved."""
    asv = pretend(told())

    bench.run(asv, CELLS, TIMED, fresh=False, smoke=True)
    assert not (tmp_path / "results").exists()
    bench.run(asv, CELLS, TIMED, fresh=True, smoke=False)

    assert [True, True, False, False] == ["--quick" in words for _, words in asv.calls]


def test_noise_is_written_down_and_becomes_the_fences(
    pretend: Pretend, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Measuring a release against itself gives each timed benchmark a fence, which later comparisons use."""
    noise = pretend(told(noise=0.15))

    assert Exit.AS_EXPECTED == compare.noise(noise, NO_COUNTS, CELLS[0], TIMED, 16)

    made = read(NoiseFile, tmp_path / "noise" / "cpu-x.json")
    assert {"m.time_it(1)", "m.time_it('two')"} == made.benchmarks.keys()
    assert (16, 16) == (made.processes, len(noise.calls))
    assert 0.1 < min(each.fence for each in made.benchmarks.values())
    assert "16 processes of jax-0.6.0" in capsys.readouterr().out
    fence = made.benchmarks["m.time_it('two')"].fence
    slower = pretend(told(slower=1 + 0.8 * fence, noise=0.001))
    assert Exit.UNDECIDED == compare.compare(slower, NO_COUNTS, *CELLS, TIMED, 8)
    assert "not more than the difference between runs of one lock" in capsys.readouterr().out


def test_too_few_processes_are_refused(pretend: Pretend) -> None:
    """Fewer than eight processes a side are refused before anything runs."""
    asv = pretend(told())

    with pytest.raises(Misused, match="at least 8"):
        compare.compare(asv, NO_COUNTS, *CELLS, TIMED, 7)
    with pytest.raises(Misused, match="at least 16"):
        compare.noise(asv, NO_COUNTS, CELLS[0], TIMED, 15)
    assert [] == asv.calls


def wandering(slower: float = 1.0) -> Callable[[str, str], float]:
    """Return counts that differ by a thousandth between processes, and are larger on the other side."""
    generator = np.random.default_rng(0)

    def tell(cell: str, key: str) -> float:
        return 1e7 * float(generator.uniform(1, 1.001)) * (slower if cell == OTHER else 1)

    return tell


COUNTED = ("m.Scan.time_trace",)


@pytest.mark.parametrize("unit", ["instructions", "calls"])
def test_a_count_judges_the_host(unit: Unit, pretend: Pretend, capsys: pytest.CaptureFixture[str]) -> None:
    """Two processes of each side show 5% more instructions or calls of a trace."""
    counter = PretendedCounter(unit, COUNTED, wandering(slower=1.05))

    assert Exit.UNEXPECTED == compare.compare(pretend(told()), counter, *CELLS, [*TIMED, "Scan"], 8)

    assert [BASE, OTHER, OTHER, BASE] == [cell for cell, _ in counter.calls]
    assert "1 regressed, 3 stable" in capsys.readouterr().out


def test_what_is_counted_is_not_timed(pretend: Pretend) -> None:
    """A phase whose instructions are counted is not timed by asv; an execution is."""
    asv, counter = pretend(told()), PretendedCounter("instructions", COUNTED, wandering())
    known: Known = {"m.Scan.time_trace": ("time", "seconds", []), "m.Scan.time_execute": ("time", "seconds", [])}
    put_results(asv.results / asv.machine, known, HASHES[BASE], {})

    assert Exit.AS_EXPECTED == compare.compare(asv, counter, *CELLS, ["time_trace"], 8)
    assert [] == asv.calls
    (pattern,) = compare._clocked(asv, counter, ["Scan"])
    assert [None, True] == [re.search(pattern, key) and True for key in known]


def test_the_noise_of_counts_is_written_down(pretend: Pretend, tmp_path: Path) -> None:
    """A count with a spread of a thousandth has a fence of at most three thousandths, and can show 2%."""
    counter = PretendedCounter("instructions", COUNTED, wandering())

    compare.noise(pretend(told()), counter, CELLS[0], [*TIMED, "Scan"], 16)

    made = read(NoiseFile, tmp_path / "noise" / "cpu-x.json").benchmarks
    assert ["m.Scan.instructions_trace"] == [key for key in made if "Scan" in key]
    fence = made["m.Scan.instructions_trace"]
    assert 0 < fence.fence <= 0.003
    assert fence.detectable is not None
    assert fence.detectable <= 0.02


def test_noise_that_is_measured_of_some_leaves_the_others(
    pretend: Pretend, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run with --bench keeps the noise of the cell's other benchmarks, and drops the noise of another cell."""
    counter = PretendedCounter("instructions", COUNTED, wandering())
    wide = [*TIMED, "Scan"]

    def run(cell: Cell, patterns: Sequence[str]) -> set[str]:
        compare.noise(pretend(told()), counter, cell, patterns, 16)
        return set(read(NoiseFile, tmp_path / "noise" / "cpu-x.json").benchmarks)

    assert run(CELLS[0], wide) == run(CELLS[0], [r"time_it\(1\)"])
    assert {"m.time_it(1)"} == run(CELLS[1], [r"time_it\(1\)"])
    said = "host's phases: 1 of 1 can show a slow-down of 20%, 1 of 1 can show a slow-down of 10%"
    assert said in capsys.readouterr().out


Measure = Callable[..., dict[str, str]]
NAME = "aaaaaaaa-virtualenv-py3.12-uv.json"


@pytest.fixture
def measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Measure:
    """Measure, with or without --keep; return the published files."""
    published, own = tmp_path / "published", tmp_path / "own"
    (published / "cpu-x").mkdir(parents=True)
    (published / "cpu-x" / NAME).write_text("before", encoding="utf-8")
    monkeypatch.setattr(bench, "_PLACES", {published: own})
    monkeypatch.setattr(bench, "ROOT", tmp_path)
    monkeypatch.setattr(release_line, "PATH", tmp_path / "line")

    def run(work: str = "run", *, keep: bool, smoke: bool = False) -> dict[str, str]:
        def measured(*_: object) -> Exit:
            assert "before" == (own / "cpu-x" / NAME).read_text(encoding="utf-8")
            (own / "cpu-x" / NAME).write_text("after", encoding="utf-8")
            os.utime(own / "cpu-x" / NAME, (2e9, 2e9))
            return Exit.AS_EXPECTED

        monkeypatch.setattr(bench, "_carry_out", measured)
        assert Exit.AS_EXPECTED == bench.carry_out(Namespace(work=work, keep=keep, smoke=smoke))
        return {path.name: path.read_text(encoding="utf-8") for path in published.glob("*/*")}

    return run


@pytest.mark.parametrize("work", ["run", "count", "noise"])
def test_results_go_into_the_tree_where_that_is_asked_for(
    work: str, measure: Measure, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each kind of measurement starts from the published results, and changes them only with --keep."""
    assert {NAME: "after"} == measure(work, keep=True)
    assert f"kept in published/cpu-x/{NAME}" in capsys.readouterr().out


def test_without_keep_the_tree_stays_as_it_is(measure: Measure, capsys: pytest.CaptureFixture[str]) -> None:
    """A run without --keep does not change published results, and names the option."""
    assert {NAME: "before"} == measure(keep=False)
    assert "--keep copies" in capsys.readouterr().out


def test_only_what_is_newer_is_copied(tmp_path: Path) -> None:
    """A newer copy stays, and a copy that differs only in its time is not a change."""
    source, copy = tmp_path / "source", tmp_path / "copy"
    for folder, text, at in ((source, "old", 1), (copy, "new", 2)):
        folder.mkdir()
        (folder / "one.json").write_text(text, encoding="utf-8")
        os.utime(folder / "one.json", (at, at))

    assert [] == results.copy_newer(source, copy)
    assert [source / "one.json"] == results.copy_newer(copy, source)
    os.utime(copy / "one.json", (3, 3))
    assert [] == results.copy_newer(copy, source)
    assert "new" == (source / "one.json").read_text(encoding="utf-8")


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of asv's file of machines, in a home without one."""
    path = tmp_path / ".asv-machine.json"
    monkeypatch.setattr(MachineCollection, "get_machine_file_path", staticmethod(lambda: str(path)))
    monkeypatch.setattr(asv_call, "WORK", tmp_path / "work")
    return path


@pytest.mark.parametrize("before", [None, "", "{}", '{"version": 1}'])
def test_asv_knows_this_machine_by_its_processor(machines: Path, before: str | None) -> None:
    """asv finds this machine by its processor's name or without a name, with or without an earlier file."""
    if before is not None:
        machines.write_text(before, encoding="utf-8")

    command = prepare_plain()

    assert f"--machine {machine_name()} " in command
    assert hardware(machine_name()) == MachineCollection.load(machine_name())
    assert machine_name() == MachineCollection.load(platform.node())["machine"]


def test_what_asv_knows_already_stays(machines: Path) -> None:
    """If asv's file has one entry under another name, asv uses it for this machine, and still does afterwards."""
    mine = {**hardware("my-laptop"), "cpu": "by hand"}
    MachineCollection.save("my-laptop", mine)

    prepare_plain()

    assert mine == MachineCollection.load("my-laptop") == MachineCollection.load(platform.node())


def test_a_file_that_asv_cannot_read_is_a_sentence(machines: Path) -> None:
    """An unreadable file is not overwritten: another version of asv may have written it."""
    machines.write_text(json.dumps({"version": 99, "x": {}}), encoding="utf-8")

    with pytest.raises(Failed, match=r"asv cannot use .*asv-machine\.json .*newer than"):
        prepare_plain()
    assert "99" in machines.read_text(encoding="utf-8")
