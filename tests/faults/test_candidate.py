"""What a branch breaks is told, and nothing else: an Equinox whose loop was broken on purpose, in a real stack."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.__main__ import main
from suite.cell.atomic import write
from suite.check.trial import candidate
from suite.errors import Exit
from suite.run import interpreter, probe_call
from suite.stack import lock, uv_call
from tests.worlds import packed

CELL = candidate.newest()
# A loop that never turns: what it would have computed, it returns as it was given.
BROKEN = "\n\ndef while_loop(cond_fun, body_fun, init_val, **_):\n    return init_val\n"


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A wheel of the Equinox of the newest stack with a broken loop."""
    root, python = tmp_path / "equinox", interpreter.find(CELL.python)[0]
    version = lock.load(CELL).pins["equinox"]
    words = ("pip", "install", "--no-deps", "--python", str(python), "--target", str(root), f"equinox=={version}")
    ended = uv_call.run(*words)
    assert 0 == ended.returncode, ended.stderr
    loop = root / "equinox" / "internal" / "_loop" / "loop.py"
    # As a new file: this one is the same as in uv's store, and in every environment with this release.
    write(loop, loop.read_text(encoding="utf-8") + BROKEN)
    (info,) = root.glob("*.dist-info")
    kept = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.parent != root and path.suffix != ".pyc" and path.name not in ("RECORD", "INSTALLER")
    }
    return packed(tmp_path / f"equinox-{version}-py3-none-any.whl", info.name, kept)


def test_a_broken_loop_is_told_and_nothing_else(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The case that loops is broken, those beside it that do not are not, and the exit code says so."""
    monkeypatch.setattr(candidate, "_PLACE", tmp_path / "candidates")
    monkeypatch.setattr(probe_call, "LOGS", tmp_path / "logs")
    issues = ["--issue", "tracer-hash-while-loop", "--issue", "converters-after-post-init"]

    code = main(["try", f"equinox={wheel}", *issues])

    told = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert Exit.UNEXPECTED == code
    assert ["broken: tracer-hash-while-loop/diffeqsolve: solved"] == [
        line.partition(" →")[0] for line in told if line.startswith(("broken", "changed", "new", "mended"))
    ]
    assert f"that concern equinox {lock.load(CELL).pins['equinox']}; 0 not decided." in told[-1]
    assert told[-1].startswith("1 broken, of ")
