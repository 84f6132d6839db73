"""The wheel: what `check`, `explain` and `try` need, and no more."""

import subprocess
import zipfile
from pathlib import Path

import pytest

from jax_stack_compat import __version__
from jax_stack_compat.base.errors import Exit
from jax_stack_compat.base.files import ROOT
from jax_stack_compat.stack import uv_call
from tests.processes import python
from tests.real_cell import CELL


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the tree."""
    folder = tmp_path_factory.mktemp("dist")
    built = [uv_call.found(), "build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT)]
    subprocess.run(built, check=True)
    return folder / f"jax_stack_compat-{__version__}-py3-none-any.whl"


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel's contents and its dependencies from this environment."""
    folder = tmp_path_factory.mktemp("installed")
    (folder / "state").mkdir()
    (folder / "state" / "store").symlink_to(uv_call.STORE)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def call(installed: Path, *words: str, asked: str = "") -> subprocess.CompletedProcess[str]:
    """Run the wheel's `jax-stack-compat` in a folder without a checkout."""
    command = ("-P", "-c", "from jax_stack_compat.command_line import main; main()", *words)
    variables = {"PYTHONPATH": str(installed), "SUITE_STATE": str(installed / "state")}
    return python(*command, folder=installed, asked=asked, env=variables)


def test_a_wheel_is_small(wheel: Path) -> None:
    """Code and data are under 3 MB."""
    assert 3_000_000 > wheel.stat().st_size


NO_DICT = "TypeError: unhashable type: 'DynamicJaxprTracer'"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        # `check` and `explain` look versions and a message up.
        ("check --from jax==0.4.35", Exit.AS_EXPECTED, "0.4.35"),
        ("explain", Exit.AS_EXPECTED, "tracer-hash-while-loop"),
        # `try` finds the lock of each stack, and ends with uv's own sentence where a release does not exist.
        (f"try equinox==99 --against {CELL.id}", Exit.INCOMPLETE, "equinox==99"),
        # A command of the suite is refused with one sentence that names the clone.
        ("compat", Exit.MISUSED, "such as compat, need a clone"),
    ],
)
def test_a_wheel_answers_without_a_checkout(words: str, code: Exit, said: str, installed: Path) -> None:
    """A wheel answers look-ups, `try` gets as far as uv, and other commands are said to need a clone."""
    ran = call(installed, *words.split(), asked=NO_DICT)

    assert code == ran.returncode, ran.stderr
    assert said in (ran.stderr if code else ran.stdout)
    assert code or not ran.stderr
    assert "Traceback" not in ran.stderr
