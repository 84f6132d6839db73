"""A project with faults put into it, in a real environment: `check --source --confirm` finds those, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from suite.__main__ import main
from suite.errors import Exit
from suite.files import read
from suite.report.assemble import assemble
from suite.report.join.sent import Sent, add
from suite.run import catalogue
from tests.real_cell import CELL

SEEDED = {
    "fitting.py": "import jax.numpy as jnp\n\n\ndef cubic(counts):\n    return jnp.polyval(counts, 3)\n",
    "ranking.py": "from jax import numpy\n\n\ndef known(ids, all_ids):\n    return numpy.in1d(ids, all_ids)\n",
    "model.py": "import jax\n\n\ndef halved(parameters):\n    return jax.tree_map(lambda x: x / 2, parameters)\n",
}
FOUND = {
    "polyval-keeps-integers": "fitting.py:5:12 jax.numpy.polyval",
    "names-gone-from-jax-numpy": "ranking.py:5:12 jax.numpy.in1d",
    "names-gone-from-jax": "model.py:5:12 jax.tree_map",
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

    code = main(["check", "--python", str(python), "--source", ".", "--confirm"])
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

    assert Exit.AS_EXPECTED == main(["check", "--python", str(python), "--source", ".", "--confirm"])
    assert "Nothing is predicted, and so nothing was run." in capsys.readouterr().out
