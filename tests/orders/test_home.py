"""Archives of results: what is refused, what is filed, and what is said of it."""

import json
import lzma
from collections.abc import Callable, Mapping
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
from laboratory.orders import archives, compared, home
from laboratory.orders.carried import case_keys, every
from laboratory.records import keys
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

# The results of a device that no machine here has, as run.py would leave them.
KIND = "NVIDIA H100 80GB HBM3"
CELL = "jax-0.11.2+nvidia-h100"
DIGEST = "0" * 64
PACKAGES = {"jax": "0.11.2", "jaxlib": "0.11.2", "equinox": "0.13.8", "diffrax": "0.7.2", "jax-cuda13-plugin": "0.11.2"}
# A case that goes wrong on the CPU and not on the device, and one that is the same on both.
DIFFERS, SAME = ("wraps-lower-bypass", "jit"), ("wraps-lower-bypass", "vmap")
OF_DEVICE = ("compute-on-aot", "ahead-of-time")


def record(name: tuple[str, str], cell: str, behaviour: str) -> dict[str, Any]:
    """Return a record of a case that saw one behaviour, with the keys of this tree."""
    issue, case = name
    key = {
        **{"lock": DIGEST, "issue": case_keys()[name], "probe": keys.probe_sha256()},
        **{"python": "3.12", "platform": "Linux-x86_64"},
    }
    machine = {
        **{"python": "3.12.1", "cores": 16, "packages": PACKAGES, "cpu_features": [], "import_errors": {}},
        **{"platform": {"system": "Linux", "machine": "x86_64", "cpu": "a CPU"}, "unforkable": None},
    }
    part = {"outcome": "returned", "behaviour": behaviour, "detail": f"it is {behaviour}"}
    return {
        **{"schema_version": 2, "cell": cell, "issue": issue, "case": case, "key": key, "machine": machine},
        **{"started_at": "2026-11-26T10:00:00Z", "attempts": [{"parts": {"reproducer": part}, "seconds": 0.1}]},
    }


def good_and_bad(name: tuple[str, str]) -> tuple[str, str]:
    """Return a behaviour of a case that is clear, and one that is affected."""
    behaviours: Mapping[str, str] = every()[name][1].behaviours
    by_verdict = {verdict: behaviour for behaviour, verdict in behaviours.items()}
    return by_verdict["clear"], by_verdict["affected"]


def results(**changes: Any) -> dict[str, Any]:
    """Return the content of an archive."""
    of_device, of_cpu = CELL, f"{CELL}+on-cpu"
    good, bad = good_and_bad(DIFFERS)
    right = ["float32", [2], "0000803f00000040"]
    wrong = ["float32", [2], "0000803f00000041"]
    call = "eager jax.numpy.sin(float32)"
    found = {
        "schema_version": 1,
        "orders": {"made_at": "2026-11-26T09:00:00+00:00", "suite_version": "2026.11.24", "wants": "gpu"},
        "stack": {
            **{"cell": CELL, "digest": DIGEST, "python": "3.12.1", "packages": PACKAGES, "platform": "gpu"},
            **{"kind": KIND, "count": 1, "runtime": "cuda 13000", "driver": "580.65.06", "flags": {}},
        },
        "records": {
            "device": [
                record(DIFFERS, of_device, good),
                record(SAME, of_device, good_and_bad(SAME)[1]),
                record(OF_DEVICE, of_device, "on-the-host"),
            ],
            "cpu": [record(DIFFERS, of_cpu, bad), record(SAME, of_cpu, good_and_bad(SAME)[1])],
        },
        "numbers": {"device": {call: {"values": [wrong]}}, "cpu": {call: {"values": [right]}}},
        "numbers_machine": {},
        "programs": [{"workload": "scan", "counts": {"fusions": 3}, "compile_seconds": 0.5}],
        "texts": {"scan.hlo.txt": "HloModule jit_program_scan"},
        "timings": [{"benchmark": "basics.Scan.time_trace", "version": "1", "samples": [0.002, 0.001]}],
    }
    return {**found, **changes}


def archive(folder: Path, content: Mapping[str, Any]) -> Path:
    """Write an archive, and return its path."""
    path = folder / f"results-{CELL}.json.xz"
    path.write_bytes(lzma.compress(json.dumps(content).encode()))
    return path


@pytest.fixture
def filed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which results are filed, apart from the tree's."""
    monkeypatch.setattr(archives, "FOLDER", tmp_path / "devices")
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
    assert not archives.FOLDER.exists()


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
        archives.read(path)
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


def test_a_jax_that_nobody_released_is_a_cell_as_well(filed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Results of a development version are judged, and its timings are not on the line."""
    jax = "0.13.0.dev20261126+cuda13"
    cell = f"jax-{jax}+nvidia-h100"
    content = results(records={"device": [record(SAME, cell, good_and_bad(SAME)[1])], "cpu": []})
    content["stack"] = {**content["stack"], "cell": cell, "packages": {**PACKAGES, "jax": jax}}

    home.bring_home([archive(filed, content)])

    (made,) = compared.load_all()
    assert (cell, [SAME]) == (made.id, [(row.issue, row.case) for row in made.undecided])
    assert "the timings stay in the archive, and are not on the line: no release of the line has jax==0.13.0.dev" in (
        capsys.readouterr().out
    )


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


def test_a_page_says_why_a_device_decides_nothing(filed: Path, published: Report) -> None:
    """Where a case's control fails on a device, the page of the issue has the reason, and not only a mark."""
    content = results()
    parts = content["records"]["device"][1]["attempts"][0]["parts"]
    parts["control"] = {"outcome": "raised", "exception": "BufferError", "detail": "Unsupported device", "seconds": 0.1}
    home.bring_home([archive(filed, content)])

    facts = Facts(published, devices=compared.load_all())
    issue = next(page for page in issue_pages.pages(facts) if page.path == f"issues/{SAME[0]}.html")
    assert "the control failed: BufferError: Unsupported device" in render(issue, facts)


def test_merge_files_archives(filed: Path) -> None:
    """The command brings results home."""
    path = archive(filed, results())

    assert Exit.AS_EXPECTED == main(["merge", str(path)])
    assert [f"{CELL}.json.xz"] == [each.name for each in archives.FOLDER.iterdir()]
