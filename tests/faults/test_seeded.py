"""In a real environment, faults that were planted in a project or a library are reported, and no others."""

import re
from pathlib import Path

import pytest

from jax_stack_compat.base.errors import Exit
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.check.trial import candidate
from jax_stack_compat.environments import interpreter
from jax_stack_compat.stack import lock, uv_call
from laboratory.cli.command_line import main
from tests.real_cell import CELL
from tests.worlds import packed

SEEDED = {
    "fitting.py": "import jax.numpy as jnp\n\n\ndef window(count):\n    return jnp.kaiser(count, 100.0)\n",
    "ranking.py": "from jax import numpy\n\n\ndef bounded(ranks):\n    return numpy.clip(ranks, a_min=0, a_max=9)\n",
    "model.py": "import jax\n\n\ndef turned(a, b):\n    return jax.numpy.cross(a, b)\n",
}
FOUND = {
    "bessel-i0-overflows-early": "fitting.py:5:12 jax.numpy.kaiser",
    "clip-takes-other-keywords": "ranking.py:5:12 jax.numpy.clip(a_min=)",
    "cross-of-two-dimensional-vectors": "model.py:5:12 jax.numpy.cross",
}
CLEAN = "import jax.numpy as jnp\n\n\ndef total(values):\n    return jnp.tanh(values) @ values\n"


@pytest.fixture
def python(real_state: Path) -> Path:
    """The interpreter of an environment like a user's."""
    return real_state / "envs" / CELL.id / "bin" / "python"


def test_seeded_faults_are_found_and_confirmed(
    python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each fault is reported with its place, and confirmed by its reproducer."""
    for name, text in SEEDED.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    code = main(["check", "--python", str(python), "--source", ".", "--confirm", "--verbose", "--fail-on", "possible"])
    told = capsys.readouterr().out

    assert Exit.UNEXPECTED == code
    assert set(FOUND) == set(re.findall(r"^  ✗ ([a-z0-9-]+)  ", told, re.MULTILINE))
    assert [] == [place for place in FOUND.values() if place not in told]
    tried = re.findall(r"^  ([a-z0-9-]+)/[a-z0-9-]+: (confirmed) as predicted:", told, re.MULTILINE)
    assert {(issue, "confirmed") for issue in FOUND} == set(tried)


def test_a_clean_project_is_clean(
    python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Code that uses nothing of the documented issues has no finding, and nothing is run for it."""
    (tmp_path / "clean.py").write_text(CLEAN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert Exit.AS_EXPECTED == main(
        ["check", "--python", str(python), "--source", ".", "--confirm", "--verbose", "--fail-on", "possible"]
    )
    assert "Nothing is predicted, so nothing was run." in capsys.readouterr().out


NEWEST = candidate.newest()
# A loop without iterations, which returns its initial value.
BROKEN = "\n\ndef while_loop(cond_fun, body_fun, init_val, **_):\n    return init_val\n"


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A wheel of the Equinox of the newest stack with a broken loop."""
    root, python = tmp_path / "equinox", interpreter.find(NEWEST.python)[0]
    version = lock.load(NEWEST).pins["equinox"]
    words = ("pip", "install", "--no-deps", "--python", str(python), "--target", str(root), f"equinox=={version}")
    ended = uv_call.run(*words)
    assert 0 == ended.returncode, ended.stderr
    loop = root / "equinox" / "internal" / "_loop" / "loop.py"
    # Write a new file: the old one is a link to uv's store, which other environments share.
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
    """Only the cases with a loop break, and the exit code says so."""
    monkeypatch.setattr(candidate, "_PLACE", tmp_path / "candidates")
    issues = ["--issue", "tracer-hash-while-loop", "--issue", "converters-after-post-init"]

    code = main(["try", f"equinox={wheel}", *issues])

    told = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert Exit.UNEXPECTED == code
    assert ["broken: tracer-hash-while-loop/diffeqsolve: solved"] == [
        line.partition(" →")[0] for line in told if line.startswith(("broken", "changed", "new", "mended"))
    ]
    assert f"that concern equinox {lock.load(NEWEST).pins['equinox']}; 0 undecided." in told[-1]
    assert told[-1].startswith("1 broken, of ")
