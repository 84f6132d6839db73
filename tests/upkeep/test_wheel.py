"""The wheel: what `check`, `explain` and `try` need, and no more."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest

from suite import __version__
from suite.errors import Exit
from suite.files import ROOT
from suite.stack import uv_call
from tests.processes import python


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the tree."""
    folder = tmp_path_factory.mktemp("dist")
    built = [uv_call.found(), "build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT)]
    subprocess.run(built, check=True)
    return folder / f"jax_stack_compat-{__version__}-py3-none-any.whl"


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel brings."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def call(installed: Path, *words: str, asked: str = "") -> subprocess.CompletedProcess[str]:
    """Run `jax-stack-compat` as the wheel has it, in a folder without a checkout."""
    command = ("-P", "-c", "from suite.check.words import main; main()", *words)
    variables = {"PYTHONPATH": str(installed), "SUITE_STATE": str(installed / "state")}
    return python(*command, folder=installed, asked=asked, env=variables)


def test_a_wheel_is_small(wheel: Path) -> None:
    """Code and data are under 3 MB."""
    assert 3_000_000 > wheel.stat().st_size


def test_a_wheel_answers_without_a_checkout(installed: Path) -> None:
    """`check` and `explain` look versions and a message up."""
    checked = call(installed, "check", "--from", "jax==0.4.35")
    explained = call(installed, "explain", asked="TypeError: unhashable type: 'DynamicJaxprTracer'")

    assert (Exit.AS_EXPECTED, "") == (checked.returncode, checked.stderr)
    assert (Exit.AS_EXPECTED, "") == (explained.returncode, explained.stderr)
    assert "tracer-hash-while-loop" in explained.stdout


def test_a_wheel_has_what_try_needs(installed: Path) -> None:
    """`try` finds the lock of each stack, and ends with uv's own sentence where a release does not exist."""
    tried = call(installed, "try", "equinox==99", "--against", "jax-0.6.0")

    assert Exit.INCOMPLETE == tried.returncode
    assert "equinox==99" in tried.stderr
    assert "Traceback" not in tried.stderr


def test_a_wheel_says_where_the_rest_is(installed: Path) -> None:
    """A command of the suite is refused with one sentence that names the clone."""
    refused = call(installed, "compat")

    assert Exit.MISUSED == refused.returncode
    assert "such as compat, need a clone" in refused.stderr
