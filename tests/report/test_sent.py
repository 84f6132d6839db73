"""Tests of results of `check --confirm` that were sent in: shown as a cell of their own, never evidence."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from suite import files
from suite.__main__ import main
from suite.errors import BadFile, Exit
from suite.judge.record import Part
from suite.report.assemble import assemble
from suite.report.compare import diff
from suite.report.findings import findings
from suite.report.formats.check_json import check_json
from suite.report.join import sent
from suite.report.model import Report
from suite.report.site.build import site
from suite.report.site.compiled import compiled
from suite.report.site.facts import Facts
from suite.report.stored import read_report
from suite.report.write import publish
from tests.processes import within
from tests.real_cell import keep_in
from tests.report.test_report import CELLS, ENTRIES, put_record, put_what_is_expected

pytestmark = pytest.mark.usefixtures("pageless")

BYPASS = ENTRIES[1]
CASE = BYPASS.issue.cases[0]
GPU = "gpu (NVIDIA H100 80GB HBM3)"
Make = Callable[..., Path]


@dataclass(frozen=True)
class Made:
    """A report, and the folder with its records and its files."""

    report: Report
    folder: Path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Make a report on three cells that are as expected."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        keep_in(folder, patch)
        put_what_is_expected(CELLS)
        report = assemble(CELLS, ENTRIES)
        publish(report, folder / "whole")
    return Made(report, folder)


@pytest.fixture
def whole(made: Made, elsewhere: Path) -> Report:
    """Return that report, also on disk."""
    shutil.copytree(made.folder, elsewhere, dirs_exist_ok=True)
    return made.report


@pytest.fixture
def seen(elsewhere: Path, tmp_path: Path) -> Make:
    """Return a maker of files to send: one case of one interpreter, with changes to the record's parts."""

    def make(behaviour: str = "bypassed", device: str = GPU, **changes: Any) -> Path:
        source = put_record(CELLS[1], BYPASS, CASE, Part(outcome="returned", behaviour=behaviour))
        record = json.loads(source.read_text(encoding="utf-8"))
        record["cell"] = "own-stack"
        for name, change in changes.items():
            record[name] = {**record[name], **change} if isinstance(change, dict) else change
        path = tmp_path / "seen.json"
        path.write_text(files.dump({"schema_version": 1, "device": device, "records": [record]}), encoding="utf-8")
        return path

    return make


def merged(folder: Path, path: Path) -> tuple[Exit, Path]:
    """Merge the report in `folder` and a file, by the command line."""
    return main(["merge", str(folder / "whole"), str(path), "--to", str(folder / "to")]), folder / "to"


def test_a_sent_file_becomes_a_cell_of_its_own(whole: Report, seen: Make, elsewhere: Path) -> None:
    """`merge` adds a cell with the file's versions and device, judged as any other; the rest stays."""
    code, path = merged(elsewhere, seen())
    made = read_report(path)
    cell = made.cells[-1]

    assert Exit.AS_EXPECTED == code
    assert cell.id.startswith(f"jax-{cell.packages['jax']}+gpu+sent-")
    assert cell.sent_on is not None
    assert GPU == cell.sent_on.device
    assert [("bypassed", "affected", "as-expected")] == [
        (row.behaviour, row.verdict, row.agreement) for row in made.observations if row.cell == cell.id
    ]
    assert whole.observations == [each for each in made.observations if each.cell != cell.id]
    assert whole.coverage.run + 1 == made.coverage.run


def test_what_is_sent_twice_is_there_once(whole: Report, seen: Make, elsewhere: Path) -> None:
    """The same file merged again replaces its cell."""
    path = seen()
    once = sent.add(whole, [path])
    publish(once, elsewhere / "whole")
    code, again = merged(elsewhere, path)

    assert once == sent.add(once, [path])
    assert (Exit.AS_EXPECTED, once.observations) == (code, read_report(again).observations)


def test_what_was_sent_is_no_evidence(whole: Report, seen: Make) -> None:
    """No interval, turn or answer about a stack rests on a sent file."""
    made = sent.add(whole, [seen("lowered")])

    assert whole.issues == made.issues
    assert check_json(whole) == check_json(made)
    assert compiled(Facts(whole)) == compiled(Facts(made))
    assert {"changed", "fixed", "regressed"} & {each.agreement for each in made.observations}


def test_the_page_says_on_what_it_was_seen(whole: Report, seen: Make) -> None:
    """The list of stacks shows the cell in a section of its own, with device and processor."""
    html = site(sent.add(whole, [seen()]), ())["cells.html"]

    assert "on gpu (NVIDIA H100 80GB HBM3), some cpu" in html


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"key": {"probe": "0" * 64}},
            "ran with another probe than this tree's. Run `check --confirm` again with this tree",
        ),
        ({"key": {"issue": "0" * 64}}, "ran with another reproducer than this tree's"),
        ({"case": "no-such-case"}, "is not a case of this tree"),
        ({"machine": {"packages": {"numpy": "2.0.0"}}}, "its packages do not include jax"),
        ({"machine": {"packages": {"jax": "../../x"}}}, "machine.packages.jax: '../../x' is not a version"),
        ({"machine": {"packages": {"jax": "1!2"}}}, "is not the id of a cell"),
        ({"machine": {"packages": {"jax": "0.6.0", "<b>": "1"}}}, "machine.packages.<b>"),
        ({"machine": {"packages": {"jax": "0.6.0", **{f"a{n}": "1" for n in range(99)}}}}, "at most 50 items"),
        ({"machine": {"python": "<b>x"}}, "machine.python: String should match"),
        ({"machine": {"python": "3"}}, "machine.python: String should match"),
        ({"attempts": [{"parts": {"reproducer": {"outcome": "raised"}}, "seconds": -1e308}]}, "attempts.0.seconds"),
        ({"machine": {"platform": {"system": "Linux", "machine": "x", "cpu": "<i>"}}}, "machine.platform.cpu"),
        ({"machine": {"platform": {"system": "/etc/x", "machine": "x", "cpu": ""}}}, "machine.platform.system"),
        ({"key": {"issue": "x"}}, "key.issue"),
        ({"started_at": "9999-12-31T00:00:00Z"}, "started_at"),
        ({"schema_version": 1}, "schema_version"),
        ({"device": "x" * 2**20}, "device: String should have at most 100 characters"),
        ({"device": "<script>"}, "device"),
        ({"attempts": []}, "attempts"),
    ],
)
def test_what_cannot_be_merged_is_told(
    whole: Report, seen: Make, elsewhere: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, Any], says: str
) -> None:
    """Records of other code, and invalid ones, are reported with the file, and nothing is written."""
    code, path = merged(elsewhere, seen(**changes))

    assert (Exit.MISUSED, False) == (code, path.exists())
    assert "seen.json" in (told := " ".join(capsys.readouterr().err.split()))
    assert says in told


def test_a_record_is_sent_once(whole: Report, seen: Make, elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file with a duplicate record is refused."""
    path = seen()
    data = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(files.dump({**data, "records": data["records"] * 2}), encoding="utf-8")

    assert Exit.MISUSED == merged(elsewhere, path)[0]
    assert f"it has {BYPASS.issue.id}/{CASE.id} more than once" in capsys.readouterr().err


def test_there_is_a_report_to_merge_into(seen: Make, elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A sent file alone does not make a report."""
    assert Exit.MISUSED == main(["merge", str(seen()), "--to", str(elsewhere)])
    assert "name its folder, too" in capsys.readouterr().err


def test_an_interpreter_is_merged_once(whole: Report, seen: Make, tmp_path: Path) -> None:
    """Two files of one interpreter are refused, so that neither is dropped silently."""
    other = tmp_path / "other.json"
    other.write_bytes(seen().read_bytes())

    with pytest.raises(BadFile, match=r"seen\.json: records: are of the same interpreter as those of .*other\.json"):
        sent.add(whole, [other, seen("lowered")])


@pytest.mark.parametrize("behaviour", ["bypassed", "lowered", "nonsense"])
def test_what_was_sent_decides_nothing(
    whole: Report, seen: Make, elsewhere: Path, capsys: pytest.CaptureFixture[str], behaviour: str
) -> None:
    """No exit code, deviation, finding or change rests on a sent file; sent files are counted separately."""
    made = sent.add(whole, [seen(behaviour)])
    code, _ = merged(elsewhere, seen(behaviour))
    out = capsys.readouterr().out

    assert Exit.AS_EXPECTED == code
    assert "Not as expected" not in out
    assert "1 sent in" in out
    assert findings(whole) == findings(made)
    assert () == diff(whole, made).changes
    assert () == diff(sent.add(whole, [seen("lowered")]), made).changes


def test_what_a_stranger_wrote_is_not_shown(whole: Report, seen: Make) -> None:
    """Details with markup or paths of another machine are left out."""
    path = seen()
    data = json.loads(path.read_text(encoding="utf-8"))
    for detail, shown in (("a call gives 20.0", "a call gives 20.0"), ("<b>x", ""), ("in ~/x", ""), ("C:\\x", "")):
        data["records"][0]["attempts"][0]["parts"]["reproducer"]["detail"] = detail
        path.write_text(files.dump(data), encoding="utf-8")
        assert shown == sent.add(whole, [path]).observations[-1].detail


def test_a_pipe_is_not_waited_for(whole: Report, elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A special file without an end is named, as a file and within a report."""
    os.mkfifo(elsewhere / "pipe")

    with within(20):
        assert Exit.MISUSED == merged(elsewhere, elsewhere / "pipe")[0]
    assert "pipe: file: it is a pipe or a device: save its output in a file" in capsys.readouterr().err
