"""The cell's side of a library, in real environments: what is imported, what fails, and how a process ends."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from jax_stack_compat.environments.library_call import LibrarySeen, observe

Library = Callable[..., Path]


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """Return a function that makes an environment with a package `lib` of these modules."""

    def make(**modules: str) -> Path:
        folder = tmp_path / "env"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
        (packages,) = folder.glob("lib/python*/site-packages")
        for name, code in {"__init__": "", **modules}.items():
            path = packages / "lib" / f"{name.replace('__in__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(code)
        return folder

    return make


def seen(folder: Path, task: str = "import lib") -> LibrarySeen:
    """Return what is seen of the library in an environment."""
    return observe(folder, "lib", task)


def test_every_public_module_is_imported(library: Library) -> None:
    """Private modules and tests are left out, and what a module prints disturbs nothing."""
    found = seen(library(a="print('{')", _b="1 / 0", test_c="1 / 0", conftest="1 / 0", d="import lib.a"))

    assert (3, [], None, "") == (found.modules, found.failures, found.task, found.ended)


def test_what_a_library_writes_is_not_trusted(library: Library) -> None:
    """Lines on the probe's own channel that are no answer are left out, and an error commands no terminal."""
    write = "    try:\n        os.write(handle, b'[1]\\n{\\n')\n    except OSError:\n        pass"
    noise = f"import os\nfor handle in range(3, 9):\n{write}"
    found = seen(library(a=noise, b="raise ValueError('\x1b[31mred')"))

    assert ["lib.b"] == [failure.name for failure in found.failures]
    assert "\x1b" not in found.failures[0].error
    assert "" == found.ended


def test_a_broken_module_is_named_with_its_line(library: Library) -> None:
    """The error has its class, and the place is relative to the installed packages."""
    found = seen(library(a="\nfrom json import nothing", b=""))

    (failure,) = found.failures
    assert ("lib.a", "", "lib/a.py:2") == (failure.name, failure.lacks, failure.place)
    assert failure.error.startswith("ImportError: cannot import name 'nothing' from 'json'")


def test_a_package_that_is_not_installed_is_named(library: Library) -> None:
    """The lack of another package is told apart from a fault, also behind the library's own words."""
    words = (
        "try:\n    import not_there.part\nexcept ImportError as error:\n    raise ImportError('install it') from error"
    )
    found = seen(library(a="import not_there", b=words))

    assert ["not_there", "not_there"] == [failure.lacks for failure in found.failures]


def test_a_library_that_does_not_import_ends_there(library: Library) -> None:
    """Without the library itself, neither its modules nor its task run."""
    found = seen(library(__init__="1 / 0", a="1 / 0"))

    assert ["lib"] == [failure.name for failure in found.failures]
    assert found.task is None


def test_a_task_that_fails_is_told(library: Library) -> None:
    """The task's error is kept, and the modules are imported all the same."""
    found = seen(library(a=""), "import lib\nassert lib.x")

    assert found.task is not None
    assert found.task.error.startswith("AttributeError")
    assert 2 == found.modules


def test_a_module_that_ends_the_process_is_named(library: Library) -> None:
    """The step in which the process ended is known, with its status."""
    found = seen(library(a="import os; os._exit(3)"))

    assert ("exit status 3", "import lib.a") == (found.ended, found.during)


def test_a_module_that_leaves_by_exit_is_a_failure(library: Library) -> None:
    """`sys.exit` in a module ends its import alone."""
    found = seen(library(a="import sys; sys.exit(1)", b=""))

    assert ["SystemExit: 1"] == [failure.error for failure in found.failures]
    assert 3 == found.modules
