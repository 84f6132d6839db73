"""Archives of results: what is refused, what is filed, and what is said of it."""

import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jax_stack_compat.base.errors import BadFile, Exit, Misused
from jax_stack_compat.check import knowledge
from jax_stack_compat.check.answer import answer
from jax_stack_compat.check.inputs.stack import Stack
from jax_stack_compat.packages import ASKED
from jax_stack_compat.stack import lock
from laboratory.cli.command_line import main
from laboratory.orders import compared, devices, home
from laboratory.report.formats.check_json import check_json
from laboratory.report.model import Report
from laboratory.report.site import numbers
from laboratory.report.site.build import render
from laboratory.report.site.facts import Facts
from laboratory.report.site.pages import devices as device_pages
from laboratory.report.site.pages import issues as issue_pages
from laboratory.report.site.pages import numbers as number_pages
from laboratory.timings import release_line
from laboratory.timings import results as timings
from tests.orders.worlds import CELL, DIFFERS, KIND, OF_DEVICE, PACKAGES, SAME, archive, good_and_bad, record, results


@pytest.fixture
def filed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which results are filed, apart from the tree's."""
    monkeypatch.setattr(devices, "FOLDER", tmp_path / "devices")
    (tmp_path / "results").mkdir()
    known = (timings.RESULTS / "benchmarks.json").read_bytes()
    (tmp_path / "results" / "benchmarks.json").write_bytes(known)
    monkeypatch.setattr(timings, "RESULTS", tmp_path / "results")
    return tmp_path


def cut(path: Path) -> None:
    """Cut an archive off in the middle."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def inflate(path: Path) -> None:
    """Make an archive that unpacks to more than any run leaves."""
    path.write_bytes(lzma.compress(b" " * (513 * 2**20), preset=0))


def lengthen(path: Path) -> None:
    """Make an archive that is larger than any run leaves."""
    path.write_bytes(b"\0" * 17_000_000)


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (cut, "is cut short"),
        (inflate, "unpacks to more than 512 MiB"),
        (lengthen, "and a run leaves at most 15"),
        (lambda path: path.write_bytes(b"PK\3\4" * 10), "Input format not supported"),
        (lambda path: path.write_bytes(lzma.compress(b"[1]")), "Input should be an object"),
    ],
)
def test_an_archive_that_is_none_is_refused(filed: Path, harm: Callable[[Path], object], said: str) -> None:
    """A cut, inflated or foreign file is named with the reason, and nothing is filed."""
    path = archive(filed, results())
    harm(path)

    with pytest.raises(BadFile) as caught:
        home.bring_home([path])
    assert said in str(caught.value.faults[0])
    assert not devices.FOLDER.exists()


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"records": {"device": [record(SAME, "jax-0.6.0+tpu-v5e", "right")], "cpu": []}}, "records.device.0"),
        ({"stack": {**results()["stack"], "digest": "1" * 64}}, "records.device.0"),
        ({"stack": {**results()["stack"], "cell": "../../jax"}}, "stack.cell"),
        ({"stack": {**results()["stack"], "packages": {"../x": "1"}}}, "stack.packages.../x.[key]"),
        ({"surplus": 1}, "surplus"),
        ({"records": {"gpu": [], "cpu": []}}, "records.gpu.[key]"),
    ],
)
def test_an_archive_is_checked_field_by_field(filed: Path, change: dict[str, Any], key: str) -> None:
    """Each wrong field is named by its key."""
    path = archive(filed, results(**change))

    with pytest.raises(BadFile) as caught:
        devices.read(path)
    assert key in [fault.key for fault in caught.value.faults]


def test_records_of_other_code_are_left_out(filed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A record whose case or probe has changed since does not count, and the message says how many."""
    content = results()
    content["records"]["device"][0]["key"]["issue"] = "0" * 64
    content["records"]["cpu"][0]["key"]["probe"] = "0" * 64

    home.bring_home([archive(filed, content)])

    (cell,) = compared.load_all()
    assert DIFFERS not in cell.by_case
    assert "2 records are of other code than this tree's, and left out" in capsys.readouterr().out


def test_a_later_run_adds_to_an_earlier_one(filed: Path) -> None:
    """Results of two runs on one stack are joined, and the later result of a case counts."""
    good, bad = good_and_bad(DIFFERS)
    content = results()
    home.bring_home([archive(filed, content)])
    of_device = [record(DIFFERS, CELL, bad)]
    home.bring_home([archive(filed, results(records={"device": of_device, "cpu": []}))])

    (cell,) = compared.load_all()
    assert ([], 2) == (cell.different, len(cell.decided))
    assert good != bad


def test_shards_and_archives_are_not_mixed(tmp_path: Path) -> None:
    """A command that names both is refused."""
    with pytest.raises(Misused, match="one kind at a time"):
        home.are_archives([tmp_path / "shard-1", tmp_path / "results.json.xz"])


def test_a_device_is_compared_with_the_cpu_beside_it(filed: Path) -> None:
    """A case differs if both sides are decided and show different behaviours; a device case has no other side."""
    home.bring_home([archive(filed, results())])

    (cell,) = compared.load_all()
    assert (CELL, [DIFFERS]) == (cell.id, [(row.issue, row.case) for row in cell.different])
    assert [OF_DEVICE] == [(row.issue, row.case) for row in cell.about_devices]
    assert [] == cell.undecided


def test_timings_are_filed_under_the_device(filed: Path) -> None:
    """If a release of the line has the stack, asv's results have the device's name and all samples."""
    content = results()
    content["stack"]["packages"] = {**PACKAGES, **timings_stack()}
    for of in content["records"].values():
        for each in of:
            each["machine"]["packages"] = content["stack"]["packages"]

    home.bring_home([archive(filed, content)])

    (machine,) = [path for path in (filed / "results").iterdir() if path.is_dir()]
    (path,) = machine.glob("*-existing.json")
    rows = timings.rows(filed / "results", machine.name, timings.load(path)["commit_hash"], ["basics.Scan.time_trace"])
    assert "gpu-nvidia-h100-80gb-hbm3-x1" == machine.name
    assert [("measured", 0.0015, 0.001)] == [(row.state, row.value, row.least) for row in rows.values()]


def timings_stack() -> dict[str, str]:
    """Return the versions of the newest release of the line."""
    pins = lock.load(release_line.cells()[-1]).pins
    return {name: pins[name] for name in ASKED}


def test_check_says_what_ran_on_the_stack_s_device(filed: Path, published: Report) -> None:
    """With a device's plugin, each issue says whether it goes wrong there, too, or that no device ran it."""
    home.bring_home([archive(filed, results())])
    text = check_json(published, compared.load_all())
    path = filed / "check.json"
    path.write_text(text, encoding="utf-8")
    known = knowledge.load(path)

    of_gpu = answer(known, Stack({**PACKAGES, "jax": "0.4.36", "jaxlib": "0.4.36"}, "uv.lock"))
    of_cpu = answer(known, Stack({"jax": "0.4.36", "jaxlib": "0.4.36"}, "uv.lock"))

    told = {effect.name: effect.device for effect in of_gpu.effects}
    good, _ = good_and_bad(DIFFERS)
    assert told[DIFFERS] == f"not on {KIND} with jax 0.11.2: {good} (run)"
    assert told[SAME] == f"also on {KIND} with jax 0.11.2 (run)"
    assert "no device ran it" in told.values()
    assert {""} == {effect.device for effect in of_cpu.effects}
    assert any(f"of {len(of_gpu.effects)} cases below ran on {KIND} with jax 0.11.2" in each for each in of_gpu.unsure)


def test_pages_show_a_device_beside_the_cpu(filed: Path, published: Report) -> None:
    """The device's page lists what differs, and an issue's page says what ran on the device."""
    home.bring_home([archive(filed, results())])

    facts = Facts(published, numbers=numbers.load(), devices=compared.load_all())
    files = {page.path: render(page, facts) for page in device_pages.pages(facts)}
    issue = next(page for page in issue_pages.pages(facts) if page.path == f"issues/{DIFFERS[0]}.html")
    page = files[f"devices/{CELL}.html"]
    assert f"<h1>jax 0.11.2 on {KIND}</h1>" in page
    assert "cases that differ from the CPU: 1 of 2;" in files["devices.html"]
    assert "580.65.06" in page
    of_numpy = next(page for page in number_pages.pages(facts) if page.path == "functions/jax.numpy.html")
    assert f"differs on {KIND} in 1 call" in render(of_numpy, facts)
    assert f'<h3><a href="../devices/{CELL}.html">{KIND}, jax 0.11.2</a></h3>' in render(issue, facts)


def test_merge_files_archives(filed: Path) -> None:
    """The command brings results home."""
    path = archive(filed, results())

    assert Exit.AS_EXPECTED == main(["merge", str(path)])
    assert [f"{CELL}.json.xz"] == [each.name for each in devices.FOLDER.iterdir()]
