"""What is measured stays out of the tree until it is kept, and a machine is the same one after every boot."""

from __future__ import annotations

import json
import os
import platform
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import pytest
from asv.machine import Machine, MachineCollection

from suite.errors import Exit, Failed
from suite.timings import asv_call, bench, release_line, results
from suite.timings.asv_call import hardware, machine_name, prepare_plain

Measure = Callable[..., dict[str, str]]
NAME = "aaaaaaaa-virtualenv-py3.12-uv.json"


@pytest.fixture
def measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Measure:
    """Measure, with or without --keep; return what is published then."""
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
    """Each kind of measuring goes on from what is published, and changes it with --keep alone."""
    assert {NAME: "after"} == measure(work, keep=True)
    assert f"kept in published/cpu-x/{NAME}" in capsys.readouterr().out


def test_without_keep_the_tree_stays_as_it_is(measure: Measure, capsys: pytest.CaptureFixture[str]) -> None:
    """What is published is not touched, and what to say to have it so is told; a smoke run has nothing to keep."""
    assert {NAME: "before"} == measure(keep=False)
    assert "with --keep" in capsys.readouterr().out


def test_only_what_is_newer_is_copied(tmp_path: Path) -> None:
    """A copy that was measured later stays, and one that is the same but for its time is no change."""
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


def test_memory_is_told_in_whole_gibibytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel leaves some bytes more or less from boot to boot: the machine is the same."""
    known = Machine.get_defaults()

    def told(ram: str) -> str:
        monkeypatch.setattr(Machine, "get_defaults", staticmethod(lambda: {**known, "ram": ram}))
        return hardware("cpu-x")["ram"]

    assert {str(24 * 2**30)} == {told("25276510208"), told("25270000000"), told(str(24 * 2**30))}


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in the home in which asv keeps machines; there is none yet."""
    path = tmp_path / ".asv-machine.json"
    monkeypatch.setattr(MachineCollection, "get_machine_file_path", staticmethod(lambda: str(path)))
    monkeypatch.setattr(asv_call, "WORK", tmp_path / "work")
    return path


@pytest.mark.parametrize("before", [None, "", "{}", '{"version": 1}'])
def test_asv_knows_this_machine_by_its_processor(machines: Path, before: str | None) -> None:
    """Whether there is a file or not: then asv, which takes an only entry for this machine, needs no name either."""
    if before is not None:
        machines.write_text(before, encoding="utf-8")

    command = prepare_plain()

    assert f"--machine {machine_name()} " in command
    assert hardware(machine_name()) == MachineCollection.load(machine_name())
    assert machine_name() == MachineCollection.load(platform.node())["machine"]


def test_what_asv_knows_already_stays(machines: Path) -> None:
    """An only entry under another name is what asv takes for this machine, in other projects, too: it still does."""
    mine = {**hardware("my-laptop"), "cpu": "by hand"}
    MachineCollection.save("my-laptop", mine)

    prepare_plain()

    assert mine == MachineCollection.load("my-laptop") == MachineCollection.load(platform.node())


def test_a_file_that_asv_cannot_read_is_a_sentence(machines: Path) -> None:
    """It is not written over: it may be of another version of asv, with machines in it."""
    machines.write_text(json.dumps({"version": 99, "x": {}}), encoding="utf-8")

    with pytest.raises(Failed, match=r"asv cannot use .*asv-machine\.json .*newer than"):
        prepare_plain()
    assert "99" in machines.read_text(encoding="utf-8")
