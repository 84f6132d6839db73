"""The packages installed for an interpreter."""

import sys
from pathlib import Path

import pytest

from jax_stack_compat.base.errors import Failed, Misused
from jax_stack_compat.check.inputs import interpreters
from tests.check.conftest import Said
from tests.processes import program
from tests.worlds import pretend


def environment(folder: Path, **versions: str) -> Path:
    """Create an environment of the running Python with packages whose imports leave a trace."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    (folder / "pyvenv.cfg").write_text(f"home = {Path(sys.base_prefix, 'bin')}\ninclude-system-site-packages = false\n")
    packages = folder / "lib" / "python{}.{}".format(*sys.version_info) / "site-packages"
    pretend(packages, versions)
    for name in versions:
        (packages / f"{name}.py").write_text(f"open({str(folder / 'imported')!r}, 'w')\n")
    return folder


def test_environment_says_what_is_installed(tmp_path: Path) -> None:
    """An environment's folder yields its versions and its Python; no package is imported."""
    folder = environment(tmp_path / "a b;c", jax="0.4.35", ML_dtypes="0.5.0", json="1.0")
    stack = interpreters.ask(folder)
    assert {"jax": "0.4.35", "ml-dtypes": "0.5.0", "json": "1.0"} == stack.versions
    assert ".".join(map(str, sys.version_info[:3])) == stack.python
    assert str(folder / "bin" / "python") == stack.where
    assert not (folder / "imported").exists()


def test_an_environment_of_a_project_is_listed_and_not_run(
    tmp_path: Path, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`check` names the packages of a project's .venv by the names of folders, and starts nothing in it."""
    folder = environment(tmp_path / ".venv", jax="0.10.2", jaxlib="0.10.2", numpy="2.2.0")
    with (folder / "pyvenv.cfg").open("a") as settings:
        settings.write("version_info = 3.12.4\n")
    python = folder / "bin" / "python"
    python.unlink()
    python.write_text(f"#!/bin/sh\ntouch {folder / 'imported'}\n")
    python.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)

    assert said("check")[1].startswith("Imports and computes (by rule; CPU, x86-64).\n.venv: jax 0.10.2, jaxlib 0.10.2")
    assert not (folder / "imported").exists()
    stack = interpreters.listed(folder)
    assert ({"jax": "0.10.2", "jaxlib": "0.10.2", "numpy": "2.2.0"}, "3.12.4") == (stack.versions, stack.python)
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / ".venv").symlink_to(folder)
    assert stack.versions == interpreters.listed(tmp_path / "linked" / ".venv").versions


def test_neither_folder_nor_variables_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages of the working folder, or of variables for another Python, do not count."""
    folder = environment(tmp_path / "venv", jax="0.4.35")
    other = environment(tmp_path / "other", equinox="0.11.8")
    packages = next(other.glob("lib/*/site-packages"))
    monkeypatch.chdir(packages)
    monkeypatch.setenv("PYTHONPATH", str(packages))
    assert {"jax": "0.4.35"} == interpreters.ask(Path("..", "..", "..", "..", "venv")).versions
    assert str(folder) not in interpreters.ask(Path("..", "..", "..", "..", "venv")).where


def test_broken_metadata_is_left_out(tmp_path: Path) -> None:
    """A package with unreadable metadata does not hide others, and the output of a start-up file is not the answer."""
    folder = environment(tmp_path / "venv", jax="0.4.35")
    packages = next(folder.glob("lib/*/site-packages"))
    (packages / "broken-1.0.dist-info").mkdir()
    (packages / "odd-1.0.dist-info").mkdir()
    (packages / "odd-1.0.dist-info" / "METADATA").write_bytes(b"Name: \xff\x00\nVersion: \xff\n")
    (packages / "hello.pth").write_text("import atexit, sys; print('hello', end=''); atexit.register(print, 'bye')\n")
    assert {"jax": "0.4.35"} == interpreters.ask(folder).versions


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("exit 3", "did not list its packages: exit status 3"),
        ('echo \'{"python": "3", "found": {"a": 1}}\'', "did not list"),
        ("echo '[[[' ; echo no module named json >&2", "its packages: no module named json"),
        ("kill -9 $$", "exit status -9"),
    ],
)
def test_what_does_not_answer(tmp_path: Path, text: str, said: str) -> None:
    """A program that is not an interpreter fails; its last line is the reason."""
    with pytest.raises(Failed) as caught:
        interpreters.ask(program(tmp_path / "python", text))
    assert said in str(caught.value)


def test_interpreter_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that hangs is ended, also if a child of it continues."""
    monkeypatch.setattr(interpreters, "_PATIENCE_S", 0.2)
    with pytest.raises(Failed, match=r"did not list its packages within 0\.2 s"):
        interpreters.ask(program(tmp_path / "python", "sleep 5; true"))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (".", "it has no bin/python"),
        ("gone", "cannot be run as an interpreter: No such file"),
        ("notes", "cannot be run as an interpreter: Permission denied"),
        ("a\x00b", "cannot be run as an interpreter: embedded null"),
    ],
)
def test_what_is_no_interpreter(tmp_path: Path, name: str, said: str) -> None:
    """A folder without an interpreter, a missing file and a non-executable file are misuse."""
    (tmp_path / "notes").touch()
    with pytest.raises(Misused, match=said):
        interpreters.ask(tmp_path / name)
