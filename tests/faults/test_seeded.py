"""A project with faults put into it, in a real environment: `check --source --confirm` finds those, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from suite.__main__ import main
from suite.catalogue import catalogue
from suite.errors import Exit
from suite.files import read
from suite.report.assemble import assemble
from suite.report.join.sent import Sent, add
from tests.real_cell import CELL

SEEDED = {
    "fitting.py": "import jax.numpy as jnp\n\n\ndef cubic(counts):\n    return jnp.polyval(counts, 3)\n",
    "ranking.py": "from jax import numpy\n\n\ndef bounded(ranks):\n    return numpy.clip(ranks, a_min=0, a_max=9)\n",
    "model.py": "import jax\n\n\ndef turned(a, b):\n    return jax.numpy.cross(a, b)\n",
}
FOUND = {
    "polyval-keeps-integers": "fitting.py:5:12 jax.numpy.polyval",
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
    """Each is told with its place and confirmed by its reproducer; the records merge as a cell of their own."""
    for name, text in SEEDED.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    code = main(["check", "--python", str(python), "--source", ".", "--confirm", "--verbose", "--fail-on", "possible"])
    told = capsys.readouterr().out

    assert Exit.UNEXPECTED == code
    assert set(FOUND) == set(re.findall(r"^  ✗ ([a-z0-9-]+)  ", told, re.MULTILINE))
    assert [] == [place for place in FOUND.values() if place not in told]
    tried = re.findall(r"^  ([a-z0-9-]+)/[a-z0-9-]+: predicted, (.*?):", told, re.MULTILINE)
    assert {(issue, "confirmed") for issue in FOUND} == set(tried)
    seen = Path("jax-stack-compat-seen.json")
    made = add(assemble([CELL], catalogue.select(list(FOUND))), [seen])
    assert {"as-expected"} == {each.agreement for each in made.observations if each.cell == read(Sent, seen).cell}


def test_a_clean_project_is_clean(
    python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Code that uses nothing of what is documented to bite has no finding, and nothing is run for it."""
    (tmp_path / "clean.py").write_text(CLEAN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert Exit.AS_EXPECTED == main(
        ["check", "--python", str(python), "--source", ".", "--confirm", "--verbose", "--fail-on", "possible"]
    )
    assert "Nothing is predicted, so nothing was run." in capsys.readouterr().out
