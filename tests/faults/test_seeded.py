"""A project with faults put into it, in a real environment: `check --source --confirm` finds those, and no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from suite.__main__ import main
from suite.check import knowledge
from suite.errors import Exit
from suite.files import read
from suite.report.assemble import assemble
from suite.report.formats.check_json import check_json
from suite.report.join.sent import Sent, add
from suite.run import catalogue, environment, probe_call
from suite.stack import lock, plan
from tests.worlds import as_known

CELL = plan.cell("jax-0.4.35")
SEEDED = {
    "packing.py": "import jax.numpy as jnp\n\n\ndef packed(mask):\n    return jnp.packbits(mask)\n",
    "ranking.py": "from jax import numpy\n\n\ndef lowest(scores, k):\n    return numpy.partition(scores, k)[:k]\n",
    "model.py": "from equinox import nn\n\n\ndef rotary(size):\n    return nn.RotaryPositionalEmbedding(size)\n",
}
FOUND = {
    "array-functions-unlike-numpy": "packing.py:5:12 jax.numpy.packbits",
    "partition-loses-smallest": "ranking.py:5:12 jax.numpy.partition",
    "rotary-embedding-ignores-theta": "model.py:5:12 equinox.nn.RotaryPositionalEmbedding",
}
CLEAN = "import jax.numpy as jnp\n\n\ndef total(values):\n    return jnp.tanh(values) @ values\n"


@pytest.fixture(scope="module", autouse=True)
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What every issue of the tree says of the stack, as `check` reads it: published or not."""
    path = tmp_path_factory.mktemp("known") / "check.json"
    path.write_text(check_json(as_known([CELL], catalogue.entries())), encoding="utf-8")
    found = knowledge.load(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knowledge, "load", lambda: found)
        yield


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The interpreter of an environment like a user's, with an old jax."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(environment, "ENVIRONMENTS", tmp_path_factory.mktemp("envs"))
        patched.setattr(probe_call, "LOGS", tmp_path_factory.mktemp("logs"))
        yield environment.prepare(CELL, lock.load(CELL)).executable


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
