"""Names of files and folders, lines of locks and arguments in every format: they are data."""

import json
import os
from pathlib import Path

import pytest

from jax_stack_compat.base.errors import Exit
from tests.check.conftest import Said
from tests.hostile import TEXTS, faults

WORKS = "import jax\njax.tree_map(f, x)\njax.numpy.pad(x, 1, mode='edge')\n"
UNREADABLE = "import jax\nx = (\n"
NAMES = tuple(text.replace("/", "|") for text in TEXTS)
CHECK = ("check", "--from", "jax==0.6.0", "--source", "src")
NEEDS = ("needs", "--source", "src")
FORMATS = (
    *((CHECK, format) for format in ("text", "json", "markdown", "sarif", "github", "constraints")),
    *((NEEDS, format) for format in ("text", "json", "markdown", "github")),
)


@pytest.fixture(params=[WORKS, UNREADABLE], ids=["readable", "unreadable"])
def source(world: Path, request: pytest.FixtureRequest) -> Path:
    """A source with files and folders of odd names."""
    for name in NAMES:
        folder = world / "src" / name
        folder.mkdir(parents=True)
        (folder / f"{name}.py").write_text(request.param)
    return world / "src"


@pytest.mark.parametrize(("words", "format"), FORMATS, ids=str)
def test_a_name_is_on_one_line_and_no_command(words: tuple[str, ...], format: str, source: Path, said: Said) -> None:
    """Names of files and folders have no line ends and no commands in any format, whether the files are read or not."""
    code, out = said(*words, "--format", format)

    assert code in (Exit.AS_EXPECTED, Exit.UNEXPECTED, Exit.UNDECIDED)
    assert [] == faults(out, format)


def test_json_has_the_names_as_they_are(source: Path, said: Said) -> None:
    """The paths in JSON are those of the files, also with bytes that are not UTF-8."""
    data = json.loads(said(*CHECK, "--format", "json")[1])

    paths = {row["path"] for row in (*data["findings"], *data["read"]["unread"]) if row["path"]}
    assert len(NAMES) == len(paths)
    assert all(map(os.path.lexists, paths))


def test_a_baseline_knows_odd_names(source: Path, said: Said) -> None:
    """Findings in files of odd names are written to a baseline and found in it."""
    assert Exit.AS_EXPECTED == said(*CHECK, "--write-baseline", "known.json")[0]
    _, out = said(*CHECK, "--baseline", "known.json")
    assert "0 new findings" in out
    assert "; 0 no longer found." in out


@pytest.mark.parametrize("text", TEXTS)
def test_locks_and_arguments_are_data(text: str, world: Path, said: Said) -> None:
    """A lock's address, a path and a word in an argument are one line each, and no command."""
    (world / "requirements.txt").write_text(
        f"jax @ https://x/{text}\nequinox==0.11.10\n", encoding="utf-8", errors="surrogateescape"
    )
    for format in ("text", "markdown", "github", "constraints"):
        _, out = said("check", "--lock", "requirements.txt", "--format", format)
        assert [] == faults(out, format)
    for words in (("check", "--from", text), ("check", "--lock", f"{text}/x"), ("needs", "--source", f"{text}/x")):
        assert [] == faults(said(*words)[1])


@pytest.mark.parametrize("words", [("try", "x\n::error::y ##[error]z"), ("x\n::error::y",), ("check", "\n::error::y")])
def test_an_error_of_the_parser_is_one_line(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str], said: Said
) -> None:
    """A line end in an argument does not begin a line of an error message."""
    with pytest.raises(SystemExit):
        said(*words)
    assert [] == faults(capsys.readouterr().err)
