"""Programs that a machine compiles for its own device, compared with those compiled without it."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from jax_stack_compat.base.console import Terminal
from jax_stack_compat.base.errors import Exit, Misused
from laboratory.programs import compiling, model, own_device, session, sources
from laboratory.programs.model import Programs
from laboratory.programs.targets import TARGETS
from tests.processes import program
from tests.programs.conftest import counted, programs, release

H100 = "NVIDIA H100 80GB HBM3"


@pytest.fixture(autouse=True)
def _recipe(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two programs of jax 0.9.0 that were compiled without the device, and texts of these tests' own."""
    of = [counted(counts={"launches": 4, "copies": 1}), counted("solve", {"launches": 2})]
    known = {TARGETS["h100"]: programs(release("0.9.0", of)), TARGETS["v5e"]: Programs(target="v5e", title="")}
    monkeypatch.setattr(model, "load", known.__getitem__)
    monkeypatch.setattr(sources, "recipe", lambda: "one")
    monkeypatch.setattr(sources, "programs", lambda: {"softmax": "one", "solve": "one"})
    monkeypatch.setattr(compiling, "TEXTS", tmp_path / "texts")
    monkeypatch.setattr(compiling, "LOGS", tmp_path / "logs")


def machine(folder: Path, device: str = H100, **told: Mapping[str, object]) -> Path:
    """Return an interpreter with jax 0.9.0 that sees this device and prints these results."""
    lines = [json.dumps({"workload": workload, **each}) for workload, each in told.items()]
    answers = {"asked": [json.dumps({"jax": "0.9.0", "device": device})], "compiled": lines}
    for name, each in answers.items():
        (folder / name).write_text("\n".join(each) + "\n", encoding="utf-8")
    return program(folder / "python", f'case "$*" in *h100*) cat {folder}/compiled;; *) cat {folder}/asked;; esac')


def test_what_a_device_makes_otherwise_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each differing count and each equal program has a line, and the last line counts them."""
    python = machine(tmp_path, softmax={"counts": {"launches": 3}}, solve={"counts": {"launches": 2}})

    assert Exit.AS_EXPECTED == own_device.compare(python, Terminal(width=300))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{H100}, jax-0.9.0: 2 programs. XLA compiled these without a GPU.")
    assert ["  softmax: 1 fewer kernel launch, 4 → 3", "  solve: the same"] == lines[1:3]
    assert lines[3].startswith(
        f"{H100}: 1 of 2 programs have the same counts as without the device; their texts are in "
    )


def test_a_program_that_only_one_of_them_has_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the reason why the other has none."""
    python = machine(tmp_path, softmax={"reason": "XlaRuntimeError: no memory"}, solve={"counts": {}})

    own_device.compare(python, Terminal(width=300))
    assert "  softmax: only without the device: XlaRuntimeError: no memory" in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("device", "recipe", "said"),
    [
        ("cpu", "one", "jax sees cpu, but programs are known only for NVIDIA H100 and TPU v5e: there is nothing to"),
        ("NVIDIA H200", "one", r"jax sees NVIDIA H200, but programs are known only for NVIDIA H100"),
        (H100, "another", r"no program of jax-0\.9\.0 for .* was compiled .* -- jax-0\.9\.0 --target h100`"),
        ("TPU v5 lite", "one", r"no program of jax-0\.9\.0 for TPU v5e was compiled .* --target v5e` compiles"),
    ],
)
def test_what_cannot_be_compared_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, device: str, recipe: str, said: str
) -> None:
    """Another device, and programs that are not known or were compiled otherwise."""
    monkeypatch.setattr(sources, "recipe", lambda: recipe)

    with pytest.raises(Misused, match=said):
        own_device.compare(machine(tmp_path, device), Terminal())


def test_what_would_be_looked_over_is_refused(tmp_path: Path) -> None:
    """The interpreter's own device and release are used, so other options are refused."""
    with pytest.raises(Misused, match="leave out cells and other options"):
        session.carry_out((), "h100", None, tmp_path, Terminal(), fresh=False)


def test_an_interpreter_without_jax_is_named(tmp_path: Path) -> None:
    """An interpreter that fails, one that is missing, and a program that is not Python, with its output."""
    with pytest.raises(Misused, match="/bin/echo is not a working Python: it printed "):
        own_device.compare(Path("/bin/echo"), Terminal())
    python = tmp_path / "python"
    with pytest.raises(Misused, match="does not run"):
        own_device.compare(python, Terminal())
    program(python, "echo no module named jax >&2; exit 1")
    with pytest.raises(Misused, match="has no working jax: no module named jax"):
        own_device.compare(python, Terminal())
