"""Finding a CPython for the cells on a machine that hides it."""

import json
import os
import platform
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from jax_stack_compat.environments import interpreter
from jax_stack_compat.environments.interpreter import NoInterpreter
from jax_stack_compat.judge.record import Key
from tests.processes import program

# Variables of this machine for interpreters and the network.
MANAGED = ("PYENV_ROOT", "ASDF_DATA_DIR", "MISE_DATA_DIR")
REAL = {name: os.environ.get(name) for name in (*MANAGED, "UV_OFFLINE", "UV_PYTHON_DOWNLOADS")}
PATH = os.environ["PATH"]
# A version that no machine has, so that only interpreters of the tests are found.
NONE = "3.99"


def says(path: Path, answer: str) -> Path:
    """Write an interpreter to `path` that always prints this."""
    return program(path, f"echo '{answer}'")


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without a network, with empty version managers and an empty folder on PATH; return that folder."""
    for name in MANAGED:
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "never")
    first = tmp_path / "first"
    first.mkdir()
    monkeypatch.setenv("PATH", str(first))
    interpreter.looked_for.cache_clear()
    return first


def test_an_interpreter_is_found_behind_a_shim(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interpreter is found behind a `python3.12` on PATH that is a shim and does not run."""
    shim = program(machine / "python3.12", "echo 'pyenv: python3.12: command not found' >&2", "exit 127")
    for name, value in REAL.items():
        monkeypatch.delenv(name)
        if value is not None:
            monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", f"{machine}{os.pathsep}{PATH}")

    found, full = interpreter.find("3.12")

    asked = [str(found), "-c", "import platform; print(platform.python_implementation(), platform.python_version())"]
    answer = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert found != shim
    assert f"CPython {full}\n" == answer
    assert full.startswith("3.12.")


def test_the_first_that_runs_is_taken(machine: Path) -> None:
    """The first interpreter on PATH that runs is used."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    mine = program(machine / f"python{version}", f'exec "{sys.executable}" "$@"')

    assert (mine, platform.python_version()) == interpreter.find(version)


@pytest.mark.parametrize(
    "lines",
    [
        ["exit 1"],
        ["echo 'CPython 3.99.1'; exit 1"],
        ["echo 'CPython 3.9.9'"],
        ["echo 'CPython 3.990.1'"],
        ["echo 'PyPy 3.99.1'"],
        ["echo 'welcome to CPython 3.99.1'"],
        [""],
        ["kill -9 $$"],
        None,
    ],
)
def test_what_is_no_such_cpython_is_not_believed(machine: Path, lines: list[str] | None) -> None:
    """Programs that fail, do not start, or are another version or implementation are skipped."""
    first = program(machine / f"python{NONE}", *(lines or []))
    if lines is None:
        first.write_bytes(b"\x7fELF of another machine")
    good = says(Path(os.environ["PYENV_ROOT"]) / "versions" / f"{NONE}.1" / "bin" / "python", f"CPython {NONE}.1")

    assert (good, f"{NONE}.1") == interpreter.find(NONE)


@pytest.mark.parametrize(
    "folder", [("PYENV_ROOT", "versions"), ("ASDF_DATA_DIR", "installs/python"), ("MISE_DATA_DIR", "installs/python")]
)
def test_version_managers_are_looked_through(folder: tuple[str, str]) -> None:
    """An interpreter in a version manager's folder is found; of several, the first that runs."""
    manager, versions = folder
    home = Path(os.environ[manager], versions)
    program(home / f"{NONE}.2" / "bin" / "python", "exit 1")
    good = says(home / f"{NONE}.1" / "bin" / "python", f"CPython {NONE}.1")
    says(home / "3.9.1" / "bin" / "python", "CPython 3.9.1")

    assert (good, f"{NONE}.1") == interpreter.find(NONE)


def test_an_interpreter_is_downloaded_where_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing CPython is downloaded by uv, and the downloaded one is used."""
    major, minor, patch = sys.version_info[:3]
    system = {"linux": "linux", "darwin": "macos"}[sys.platform]
    machine_family = {"arm64": "aarch64"}.get(platform.machine(), platform.machine())
    libc = "gnu" if system == "linux" else "none"
    # uv downloads an archive with an interpreter; this one has a script that calls the driver's.
    own = Path(sys.base_prefix, "bin", f"python{major}.{minor}")
    program(tmp_path / "python" / "bin" / f"python{major}.{minor}", f'exec "{own}" "$@"')
    library = tmp_path / "python" / "lib" / f"python{major}.{minor}"
    library.mkdir(parents=True)
    (library / "_sysconfigdata_.py").write_text("build_time_vars = {}\n", encoding="utf-8")
    with tarfile.open(tmp_path / "cpython.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "python", "python")
    offered = {
        **{"name": "cpython", "arch": {"family": machine_family, "variant": None}, "os": system, "libc": libc},
        **{"major": major, "minor": minor, "patch": patch, "prerelease": "", "variant": None, "build": "1"},
        **{"url": (tmp_path / "cpython.tar.gz").as_uri(), "sha256": None},
    }
    name = f"cpython-{major}.{minor}.{patch}-{system}-{machine_family}-{libc}"
    (tmp_path / "downloads.json").write_text(json.dumps({name: offered}), encoding="utf-8")
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "automatic")
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS_JSON_URL", str(tmp_path / "downloads.json"))
    monkeypatch.setenv("UV_PYTHON_INSTALL_DIR", str(tmp_path / "installed"))
    monkeypatch.setenv("UV_PYTHON_INSTALL_BIN", "0")
    monkeypatch.delenv("UV_OFFLINE")

    assert f"{major}.{minor}.{patch}" == interpreter.find(f"{major}.{minor}")[1]
    assert name in {path.name for path in (tmp_path / "installed").iterdir()}


def test_a_machine_without_it_gets_one_sentence() -> None:
    """A CPython that is missing and cannot be downloaded gives one line with version, reason and remedy."""
    with pytest.raises(NoInterpreter) as caught:
        interpreter.find(NONE)

    (line,) = str(caught.value).splitlines()
    assert line.startswith(f"no CPython {NONE} on this machine, and none could be downloaded (")
    assert f"`uv python install {NONE}`" in line


def test_what_one_place_lacks_is_looked_for_in_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed search is cached only for the folders that were searched."""
    with pytest.raises(NoInterpreter):
        interpreter.find(NONE)
    monkeypatch.setenv("PATH", str(tmp_path / "second"))
    good = says(tmp_path / "second" / f"python{NONE}", f"CPython {NONE}.1")

    assert (good, f"{NONE}.1") == interpreter.find(NONE)


@pytest.mark.parametrize(("python", "minor"), [("3.12.1", "3.12"), ("3.12", "3.12"), ("3.1.12", "3.1")])
def test_a_record_holds_under_its_minor_version(python: str, minor: str) -> None:
    """A record's key has its interpreter's minor version: a patch release keeps it, and another minor does not."""
    key = Key(lock="", issue="", probe="", python=python, platform="")

    assert minor == key.python
    assert key == key.model_validate_json(key.model_dump_json())
