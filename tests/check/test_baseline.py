"""Baselines: known findings are hidden, and stay known when lines move."""

import os
from pathlib import Path

import pytest

from jax_stack_compat.base.errors import Exit, Misused
from jax_stack_compat.check.baseline import save
from tests.check.conftest import Said

CODE = """import jax

jax.tree_map(f, x)
jax.numpy.pad(x, 1, mode='edge')
if jax.__version_info__ < (0, 6):
    jax.tree_map(g, x)
"""
CHECK = ("check", "--from", "jax==0.6.0", "--source", "src")


@pytest.fixture(autouse=True)
def project(world: Path) -> None:
    """A project with a source."""
    (world / "src").mkdir()
    (world / "src" / "a.py").write_text(CODE)


def test_what_a_baseline_has_is_hidden_and_counted(world: Path, said: Said) -> None:
    """Known findings do not fail, even on moved lines; a new one does, and gone ones are counted."""
    assert Exit.UNEXPECTED == said(*CHECK)[0]
    assert Exit.AS_EXPECTED == said(*CHECK, "--write-baseline", "known.json")[0]
    (world / "src" / "a.py").write_text(f"# moved\n{CODE}")

    code, out = said(*CHECK, "--baseline", "known.json")
    assert (Exit.AS_EXPECTED, True) == (code, "0 new findings; 3 in the baseline; 0 no longer found." in out)
    (world / "src" / "a.py").write_text("import jax\n\njax.tree_map(f, x)\njax.tree_map(f, y)\n")
    code, out = said(*CHECK, "--baseline", "known.json")
    assert (Exit.UNEXPECTED, True) == (code, "1 new finding; 1 in the baseline; 2 no longer found." in out)


def test_a_line_that_stands_twice_is_known_once(world: Path, said: Said) -> None:
    """A baseline counts findings that are alike."""
    said(*CHECK, "--write-baseline", "known.json")
    (world / "src" / "a.py").write_text(f"{CODE}jax.tree_map(f, x)\n")
    code, out = said(*CHECK, "--baseline", "known.json")
    assert (Exit.UNEXPECTED, True) == (code, "1 new finding; 3 in the baseline" in out)


@pytest.mark.parametrize(
    ("content", "fault"),
    [(None, "file: "), ("{", "syntax: "), ('{"schema_version": 99, "findings": []}', "schema_version: ")],
)
def test_a_baseline_that_is_none_is_a_sentence(content: str | None, fault: str, world: Path, said: Said) -> None:
    """The error names the file and the fault, also in a baseline of another schema, and the remedy."""
    if content:
        (world / "known.json").write_text(content)
    code, out = said(*CHECK, "--baseline", "known.json")
    assert (Exit.MISUSED, True) == (code, f"known.json: {fault}" in out)
    assert "write it again with --write-baseline" in out


def test_a_device_is_not_replaced(tmp_path: Path) -> None:
    """Writing a baseline does not replace a pipe or a device such as /dev/stdout."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Misused, match="pipe is not a file"):
        save(tmp_path / "pipe", [])
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("content", ["hello\n", "{}", "[]", '{"findings": []}', "\0"])
def test_only_a_baseline_is_replaced(content: str, world: Path, said: Said) -> None:
    """A file that is not a baseline stays as it is."""
    (world / "mine.txt").write_text(content)
    code, out = said(*CHECK, "--write-baseline", "mine.txt")
    assert (Exit.MISUSED, content) == (code, (world / "mine.txt").read_text())
    assert "mine.txt is not a baseline, so it is not replaced" in out


@pytest.mark.parametrize("content", ["", '{"schema_version": 99, "findings": []}'])
def test_an_empty_file_or_an_old_baseline_is_replaced(content: str, world: Path, said: Said) -> None:
    """A file from mktemp, and a baseline of any schema, are written anew."""
    (world / "known.json").write_text(content)
    assert Exit.AS_EXPECTED == said(*CHECK, "--write-baseline", "known.json")[0]
    assert "0 new findings; 3 in the baseline" in said(*CHECK, "--baseline", "known.json")[1]


def test_a_baseline_makes_no_folder(world: Path, said: Said) -> None:
    """The folder of a baseline must exist, since a wrong path is likelier than a new folder."""
    assert Exit.MISUSED == said(*CHECK, "--write-baseline", "nodir/known.json")[0]
    assert not (world / "nodir").exists()
