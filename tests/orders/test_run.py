"""Orders written, carried out by an interpreter without our packages, and brought home."""

import json
import lzma
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jax_stack_compat.base.errors import Exit
from jax_stack_compat.base.files import PACKAGES
from laboratory.cli.command_line import main
from laboratory.orders import archives, bundles, compared
from laboratory.orders.runner import unpack
from laboratory.orders.runner.device_stack import slug
from tests.processes import default_signals
from tests.real_cell import CELL, ISSUE
from tests.state import eventually


@pytest.fixture(scope="module")
def interpreter(real_state: Path) -> Path:
    """An interpreter that has jax, and none of our packages."""
    return real_state / "envs" / CELL.id / "bin" / "python"


def command(folder: Path, python: Path, *words: str) -> list[str]:
    """Return the command that carries out the orders in a folder."""
    return [sys.executable, "-I", str(folder / "run.py"), "--python", str(python), "--jobs", "2", *words]


def run(folder: Path, python: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Carry out orders as somebody without our packages would."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    asked = command(folder, python, *words)
    return subprocess.run(asked, cwd=folder.parent, env=env, capture_output=True, text=True, check=False)


def only(folder: Path) -> Path:
    """Return the one archive in a folder."""
    (path,) = folder.glob(f"results-*{archives.SUFFIX}")
    return path


def opened(path: Path) -> dict[str, Any]:
    """Return the content of an archive."""
    found: dict[str, Any] = json.loads(lzma.decompress(path.read_bytes()))
    return found


@pytest.fixture(scope="module")
def carried_out(tmp_path_factory: pytest.TempPathFactory, interpreter: Path) -> Path:
    """A folder of orders for one issue, killed in the middle and then continued."""
    folder = tmp_path_factory.mktemp("orders") / "folder"
    assert Exit.AS_EXPECTED == main(["orders", "--for", "cpu", "--issue", ISSUE, "--to", str(folder)])
    with subprocess.Popen(command(folder, interpreter), preexec_fn=default_signals) as first:
        eventually(lambda: list(folder.glob(f"results/*/*/{ISSUE}/*.json")))
        first.send_signal(signal.SIGTERM)
    finished = len(opened(only(folder))["records"]["device"])
    ran = run(folder, interpreter)
    assert 0 == ran.returncode, ran.stderr
    assert finished <= len(opened(only(folder))["records"]["device"])
    return folder


def test_a_killed_run_leaves_an_archive_and_is_continued(carried_out: Path) -> None:
    """Every case ran once on each side, and the archive has the stack that ran them."""
    found = archives.read(only(carried_out))

    wanted = {case["case"] for case in json.loads((carried_out / "orders.json").read_text())["cases"]}
    assert {"device": wanted, "cpu": wanted} == {
        side: {record.case for record in records} for side, records in found.records.items()
    }
    assert (f"{CELL.id}+cpu", "cpu") == (found.cell, found.stack.platform)


def test_nothing_is_left_to_run_afterwards(carried_out: Path, interpreter: Path) -> None:
    """The same command runs no case again."""
    before = {path: path.stat().st_mtime_ns for path in carried_out.glob("results/*/*/*/*.json")}

    ran = run(carried_out, interpreter)

    assert before == {path: path.stat().st_mtime_ns for path in carried_out.glob("results/*/*/*/*.json")}
    assert 0 == ran.returncode


def test_orders_write_only_into_their_folder(carried_out: Path, interpreter: Path, tmp_path: Path) -> None:
    """A run leaves nothing in the home folder, in the folder for temporary files, or beside the packages."""
    for name in ("home", "tmp"):
        (tmp_path / name).mkdir()
    site = next(interpreter.parents[1].glob("lib/*/site-packages"))
    before = {path.relative_to(site) for path in site.rglob("*")}
    folder = tmp_path / "folder"
    shutil.copytree(carried_out, folder)
    shutil.rmtree(folder / "results")
    env = {**os.environ, "HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path / "tmp")}

    subprocess.run(command(folder, interpreter), cwd=tmp_path, env=env, capture_output=True, check=True)

    assert ([], []) == (list((tmp_path / "home").iterdir()), list((tmp_path / "tmp").iterdir()))
    assert before == {path.relative_to(site) for path in site.rglob("*")}


def test_the_runner_needs_the_standard_library_alone() -> None:
    """Every module that run.py imports is Python's own, or travels with the orders."""
    code = (
        "import sys; before = set(sys.modules); import laboratory.orders.runner.run; print(*set(sys.modules) - before)"
    )
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.append({str(PACKAGES)!r}); {code}"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert 0 == ran.returncode, ran.stderr
    foreign = {name.partition(".")[0] for name in ran.stdout.split()} - sys.stdlib_module_names
    assert {"jax_stack_compat", "laboratory"} == foreign
    # Python 3.10 lacks it.
    assert "tomllib" not in ran.stdout.split()


def test_orders_for_another_device_say_what_is_there(tmp_path: Path, interpreter: Path) -> None:
    """Orders for a GPU are refused where jax finds a CPU, and name both."""
    main(["orders", "--for", "gpu", "--issue", ISSUE, "--to", str(tmp_path / "folder")])

    ran = run(tmp_path / "folder", interpreter)

    assert (2, "") == (ran.returncode, ran.stdout)
    assert f"these orders are for a gpu, and jax finds cpu (cpu) in {interpreter}\n" == ran.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--minutes", "abc"], "argument --minutes: 'abc' is not a number above 0"),
        (["--minutes", "-1"], "argument --minutes: '-1' is not a number above 0"),
        (["--jobs", "0"], "argument --jobs: '0' is not a number of processes"),
        (["--release", "9.9"], "it has no part of jax 9.9: write orders with --with-wheels 9.9"),
    ],
)
def test_wrong_words_are_one_sentence(carried_out: Path, interpreter: Path, words: list[str], said: str) -> None:
    """A wrong argument is named, with exit code 2."""
    ran = run(carried_out, interpreter, *words)

    assert (2, True) == (ran.returncode, ran.stderr.rstrip().endswith(said))


@pytest.mark.parametrize(("content", "said"), [("{}", "orders.json has no 'packages'"), ("[", "Expecting value")])
def test_orders_that_are_none_are_named(tmp_path: Path, interpreter: Path, content: str, said: str) -> None:
    """A broken orders.json is one sentence that names the folder."""
    main(["orders", "--for", "cpu", "--issue", ISSUE, "--to", str(tmp_path / "folder")])
    (tmp_path / "folder" / "orders.json").write_text(content, encoding="utf-8")

    ran = run(tmp_path / "folder", interpreter)

    assert 2 == ran.returncode
    assert ran.stderr.startswith(f"{tmp_path / 'folder'}: the orders cannot be used: {said}")


def test_an_interpreter_without_jax_is_named(carried_out: Path) -> None:
    """If the interpreter has no jax, the message names it and the reason."""
    ran = run(carried_out, Path(sys.executable))

    assert 2 == ran.returncode
    assert f"{sys.executable} has no working jax: ModuleNotFoundError: No module named 'jax'\n" == ran.stderr


def test_results_come_home(carried_out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Merged results are judged on both sides, and the next orders leave these cases out."""
    monkeypatch.setattr(archives, "FOLDER", tmp_path / "devices")

    assert Exit.AS_EXPECTED == main(["merge", str(only(carried_out))])

    (cell,) = compared.load_all()
    assert (f"{CELL.id}+cpu", [], len(cell.rows)) == (cell.id, cell.different, len(cell.decided))
    main(["orders", "--for", "cpu", "--issue", ISSUE, "--to", str(tmp_path / "next")])
    known = json.loads((tmp_path / "next" / "orders.json").read_text())["known"]
    assert {cell.stack.digest: {"device": len(cell.rows), "cpu": len(cell.rows)}} == {
        digest: {side: len(names) for side, names in of.items()} for digest, of in known.items()
    }


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("NVIDIA H100 80GB HBM3", "nvidia-h100"),
        ("NVIDIA A100-SXM4-40GB", "nvidia-a100"),
        ("NVIDIA GeForce RTX 4090", "nvidia-geforce-rtx-4090"),
        ("TPU v5 lite", "tpu-v5-lite"),
        ("cpu", "cpu"),
    ],
)
def test_a_kind_of_device_names_its_cell(kind: str, told: str) -> None:
    """A cell is named after the device, without the device's memory and socket."""
    assert told == slug(kind)


# Another release's packages


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The parts of a release, in the folder of its orders."""
    monkeypatch.setattr(bundles, "_PART", 1000)
    packages, to = tmp_path / "packages", tmp_path / "orders" / "releases"
    (packages / "jax" / "__pycache__").mkdir(parents=True)
    to.mkdir(parents=True)
    (packages / "jax" / "large.bin").write_bytes(random.Random(0).randbytes(5_000))
    (packages / "jax" / "__pycache__" / "compiled.pyc").write_bytes(b"0")
    return bundles.divided(packages, "0.8.0", to)


def test_parts_are_joined_where_the_device_is(parts: list[Path]) -> None:
    """The unpacked packages are those that were packed, without what Python compiled."""
    made = unpack.unpacked(parts[0].parents[1], "0.8.0")

    assert {"large.bin"} == {path.name for path in made.rglob("*") if path.is_file()}
    assert random.Random(0).randbytes(5_000) == (made / "jax" / "large.bin").read_bytes()
    assert made == unpack.unpacked(parts[0].parents[1], "0.8.0")


def test_each_part_can_be_transferred(parts: list[Path]) -> None:
    """No part is larger than the limit, and their names are in order."""
    assert len(parts) > 5
    assert all(path.stat().st_size <= 1000 for path in parts)
    assert sorted(parts) == parts


@pytest.mark.parametrize("lost", [0, 2, -1])
def test_a_missing_part_is_noticed(parts: list[Path], lost: int) -> None:
    """If a part is missing, nothing is left unpacked, and the message says so."""
    parts[lost].unlink()

    with pytest.raises(OSError, match=r"jax 0\.8\.0 cannot be unpacked, so a part may be missing: "):
        unpack.unpacked(parts[0].parents[1], "0.8.0")
    assert not (parts[0].parent / "0.8.0").exists()


def test_a_release_that_did_not_come_along_is_named(tmp_path: Path) -> None:
    """Without any part, the message says how to bring the release."""
    with pytest.raises(OSError, match=r"it has no part of jax 0\.8\.0: write orders with --with-wheels 0\.8\.0"):
        unpack.unpacked(tmp_path, "0.8.0")
