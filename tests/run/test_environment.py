"""Environments: the checks before records count, also for devices; and the calls of uv."""

import os
import shutil
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from jax_stack_compat.base.files import read
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.environments import interpreter
from jax_stack_compat.judge.record import Record
from jax_stack_compat.stack import lock, plan, uv_call
from jax_stack_compat.stack.lock import Lock
from jax_stack_compat.stack.plan import Cell
from laboratory.records import records
from laboratory.run import environment
from laboratory.run.environment import Environment, Unprepared
from tests.worlds import pretend, ran

CELL = plan.tagged("default")[0]
PINNED = lock.load(CELL)
ENTRY = catalogue.narrowed(catalogue.entry("laboratory.cell.staged.by_release"), ["changes"])
BROKEN, WHOLE = "raise ImportError('libjax.so: cannot open shared object file')\n", "__version__ = '0.4.20'\n"


@pytest.fixture
def made(own_store: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return the files to install in an environment, besides packages without contents."""
    of = {"jax/__init__.py": WHOLE}

    def uv(*words: str) -> None:
        if words[0] == "venv":
            venv.create(words[-1], clear=True, symlinks=True)
            return
        packages = next(Path(words[-2]).parent.parent.glob("lib/python*/site-packages"))
        pretend(packages, PINNED.pins)
        for name, text in of.items():
            (packages / name).parent.mkdir(exist_ok=True)
            (packages / name).write_text(text, encoding="utf-8")

    monkeypatch.setattr(environment, "_uv", uv)
    monkeypatch.setattr(interpreter, "find", lambda _: (Path(sys.executable), "3.12.1"))
    return of


def packages_of(cell: Cell) -> Path:
    """Return the folder of a cell's installed packages."""
    return next((environment.ENVIRONMENTS / cell.id).glob("lib/python*/site-packages"))


CHANGES: dict[str, Callable[[Path], object]] = {
    "another release": lambda packages: (packages / "jax" / "__init__.py").write_text("__version__ = '0.5.3'\n"),
    "a file missing": lambda packages: (packages / "jax" / "__init__.py").unlink(),
    "a file more": lambda packages: (packages / "json.py").write_text("1 / 0\n"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_installed_is_what_was_installed(made: dict[str, str], change: str) -> None:
    """An environment with a changed, removed or added file is replaced before a case runs in it."""
    environment.prepare(CELL, PINNED)
    CHANGES[change](packages_of(CELL))

    environment.prepare(CELL, PINNED)

    assert WHOLE == (packages_of(CELL) / "jax" / "__init__.py").read_text(encoding="utf-8")
    assert not (packages_of(CELL) / "json.py").exists()


def test_what_is_unchanged_is_not_made_again(made: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """An unchanged environment is used as it is, with files that Python compiled in it."""
    first = environment.prepare(CELL, PINNED)
    (packages_of(CELL) / "jax" / "__pycache__").mkdir()
    (packages_of(CELL) / "jax" / "__pycache__" / "__init__.cpython-312.pyc").write_bytes(b"")
    monkeypatch.setattr(environment, "_uv", None)

    assert first == environment.prepare(CELL, PINNED)


def test_a_file_that_is_not_its_record_s_is_not_linked_again(
    made: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A distribution that differs from its RECORD is removed from the store before it is linked again."""
    digest = "sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"
    version = PINNED.pins["jax"]
    made[f"jax-{version}.dist-info/RECORD"] = f"jax/__init__.py,{digest},0\njax-{version}.dist-info/METADATA,,\n"
    made["jax/__init__.py"] = ""
    environment.prepare(CELL, PINNED)
    (packages_of(CELL) / "jax" / "__init__.py").write_text("1 / 0\n", encoding="utf-8")
    told: list[tuple[str, ...]] = []
    monkeypatch.setattr(uv_call, "run", lambda *words: told.append(words))

    environment.prepare(CELL, PINNED)

    assert [("cache", "clean", "jax")] == told


def test_a_lock_that_lacks_a_package_is_our_error(made: dict[str, str]) -> None:
    """A lock without a package that an installed one requires is an error that names both, and nothing runs."""
    version = PINNED.pins["jax"]
    made[f"jax-{version}.dist-info/METADATA"] = (
        f"Metadata-Version: 2.1\nName: jax\nVersion: {version}\nRequires-Dist: abacus>=2; python_version >= '3.8'\n"
        "Requires-Dist: slide-rule; extra == 'cuda'\nRequires-Dist: quill; python_version < '3'\n"
    )
    with pytest.raises(Unprepared, match=f"is incomplete: jax {version} requires abacus; `nox -s lock`") as raised:
        environment.prepare(CELL, PINNED)
    assert ("error", "install.incomplete") == (raised.value.verdict, raised.value.reason)


def test_where_nothing_can_be_executed_nothing_is_installed(
    made: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a noexec file system imports would fail and upstream would be blamed, so the environment is not made."""
    mounted = os.statvfs_result((*os.statvfs("/")[:8], os.ST_NOEXEC, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: mounted)

    with pytest.raises(Unprepared, match=r"mounted noexec: set SUITE_STATE"):
        environment.prepare(CELL, PINNED)


def run() -> Record | None:
    """Run one case that imports jax in the cell; return its valid record."""
    ran(CELL, [ENTRY])
    return records.in_force(CELL, ENTRY, ENTRY.issue.cases[0], PINNED)


def test_an_import_that_fails_once_is_not_believed(made: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed import counts only if it fails in a second environment; else the second is recorded."""
    plain = environment.prepare

    def prepare(cell: Cell, pinned: Lock) -> Environment:
        found = plain(cell, pinned)
        made["jax/__init__.py"] = WHOLE
        return found

    made["jax/__init__.py"] = BROKEN
    monkeypatch.setattr(environment, "prepare", prepare)
    record = run()

    assert record is not None
    assert ("right", True) == (record.attempts[0].parts["reproducer"].behaviour, record.machine.remade)


def test_a_machine_without_the_interpreter_loses_no_record(
    made: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fresh run without the interpreter is unavailable, and the old record still counts."""
    assert run() is not None
    shutil.rmtree(environment.ENVIRONMENTS / CELL.id)

    def find(version: str) -> tuple[Path, str]:
        raise interpreter.NoInterpreter(f"no CPython {version}")

    monkeypatch.setattr(interpreter, "find", find)
    status = ran(CELL, [ENTRY], fresh=True)

    assert ("unavailable", "plan.no-interpreter") == (status.verdict, status.reason)
    assert records.in_force(CELL, ENTRY, ENTRY.issue.cases[0], PINNED) is not None


def test_an_import_that_fails_twice_is_believed(made: dict[str, str]) -> None:
    """A failed import counts if the record says that a second environment failed too."""
    made["jax/__init__.py"] = BROKEN
    record = run()

    assert record is not None
    assert ("import-error", True) == (record.attempts[0].parts["reproducer"].outcome, record.machine.remade)
    path = records.path_of(CELL.id, ENTRY.issue.id, ENTRY.issue.cases[0].id)
    path.write_text(path.read_text(encoding="utf-8").replace('"remade": true', '"remade": false'), encoding="utf-8")
    assert records.in_force(CELL, ENTRY, ENTRY.issue.cases[0], PINNED) is None


@pytest.mark.parametrize(
    ("old", "new"), [(f'"jax": "{PINNED.pins["jax"]}"', '"jax": "0.5.3"'), ('"case": "changes"', '"case": "again"')]
)
def test_a_record_of_something_else_is_not_in_force(made: dict[str, str], old: str, new: str) -> None:
    """A record with other releases than the lock's, or of another case, does not count."""
    assert run() is not None
    path = records.path_of(CELL.id, ENTRY.issue.id, ENTRY.issue.cases[0].id)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")

    assert records.in_force(CELL, ENTRY, ENTRY.issue.cases[0], PINNED) is None
    assert read(Record, path)


def test_uv_hears_what_is_meant_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the user's uv settings, only those for access to packages apply, not a resolution or link mode, or a limit."""
    odd = {"UV_RESOLUTION", "UV_CONSTRAINT", "UV_EXCLUDE_NEWER", "UV_LINK_MODE", "UV_TARGET", "PYTHONPATH"}
    for name in (*odd, "UV_CACHE_DIR"):
        monkeypatch.setenv(name, "odd")
    monkeypatch.setenv("UV_DEFAULT_INDEX", "https://example.org/simple")
    (tmp_path / "uv.toml").write_text(
        'resolution = "lowest"\nexclude-newer = "2020-01-01"\nindex-url = "https://example.org/simple"\n'
        '[[index]]\nname = "ours"\nurl = "https://example.org/ours"\ndefault = true\n'
        '[pip]\nprefix = "/nowhere"\nfind-links = ["/wheels"]\n',
        encoding="utf-8",
    )
    monkeypatch.setenv("UV_CONFIG_FILE", str(tmp_path / "uv.toml"))
    monkeypatch.setattr(uv_call, "STATE", tmp_path / "state")
    uv_call.configured.cache_clear()

    given = uv_call.surroundings()
    told = {name: each for name, each in given.items() if name.startswith(("UV_", "PYTHON"))}
    assert {
        "UV_CACHE_DIR": str(uv_call.STORE),
        "UV_DEFAULT_INDEX": "https://example.org/simple",
    }.items() <= told.items()
    assert not told.keys() & odd
    option, path = uv_call.configured()
    assert "--config-file" == option
    assert 0 == uv_call.run("cache", "dir").returncode
    assert (
        'index = [{name = "ours", url = "https://example.org/ours", default = true}]\n'
        'index-url = "https://example.org/simple"\nfind-links = ["/wheels"]\n'
    ) == Path(path).read_text(encoding="utf-8")
    uv_call.configured.cache_clear()
