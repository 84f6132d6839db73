"""`check` and `explain` as typed: inputs, output and exit codes."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from jax_stack_compat import command_line, command_table
from jax_stack_compat.base.errors import Exit
from jax_stack_compat.cell.issue import Rule
from jax_stack_compat.check import answer as answers
from jax_stack_compat.check import knowledge as known
from jax_stack_compat.check.inputs.stack import Stack
from tests.check.conftest import Said
from tests.check.worlds import case, issue, knowledge
from tests.processes import within

pytestmark = pytest.mark.usefixtures("world")


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        (["--from", "jax==0.4.30"], Exit.AS_EXPECTED),
        (["--from", "jax==0.4.30", "--fail-on", "possible"], Exit.UNEXPECTED),
        (["--from", "jax==0.6.0", "--fail-on", "crash"], Exit.UNEXPECTED),
        (["--from", "jax==0.7.0", "--fail-on", "crash"], Exit.AS_EXPECTED),
        (["--from", "jax==0.7.0", "--fail-on", "slow"], Exit.UNEXPECTED),
        (["--from", "jax==0.6.0 equinox==0.12.0"], Exit.UNEXPECTED),
        (["--from", "jax==0.7.9", "--strict"], Exit.INCOMPLETE),
        (["--from", "jax==0.9.0"], Exit.UNDECIDED),
        (["--from", "jax==0.4.14"], Exit.UNDECIDED),
        (["--from", "equinox==0.12.0"], Exit.UNEXPECTED),
        (["--from", "jax==0.4.30", "--to", "jaxx==0.6.0"], Exit.MISUSED),
        (["--from", "jax==0.4.30", "--to", "numpy==2.0.0"], Exit.AS_EXPECTED),
        (["--from", "numpy==2.0.0"], Exit.UNDECIDED),
        (["--from", "jax>=0.4"], Exit.MISUSED),
        (["--from", "no-such.lock"], Exit.MISUSED),
        (["--lock", "no-such.lock"], Exit.MISUSED),
    ],
)
def test_exit_codes_tell_apart(typed: list[str], code: Exit, said: Said) -> None:
    """Exit codes: nothing to do, something to do, newer than the data, nothing known, and misuse."""
    assert code == said("check", *typed)[0]


def test_the_first_line_is_the_verdict_and_the_last_what_it_rests_on(said: Said) -> None:
    """The answer first says whether the stack works, and has the workaround between."""
    _, out = said("check", "--from", "jax==0.6.0", "--verbose")
    lines = out.splitlines()

    assert ["Imports and computes (run; CPU, x86-64).", "Assumed: numpy 2.0.0."] == lines[:2]
    assert "2 known issues affect this stack, 1 of them silent." == lines[2]
    assert "      instead: Do not. (not verified here)" in lines
    assert "back, only with x64 on: run on these versions; good up to jax 0.5.0, and on no later release" in out
    assert lines[-1].startswith("Looked up 3 cases, as of 2026-11-22: 3 run on exactly these versions.")


@pytest.mark.parametrize("content", [None, b"import jax\nx = (\n", b"\xff"])
def test_what_could_not_be_read_is_no_answer(content: bytes | None, world: Path, said: Said) -> None:
    """Without readable Python nothing is known, and unreadable files are listed."""
    if content:
        (world / "a.py").write_bytes(content)
    code, out = said("check", "--from", "jax==0.6.0", "--source", ".")

    assert (Exit.UNDECIDED, True) == (code, "No Python was found there." in out)
    assert bool(content) == ("read" in out.replace("No Python was found there.", "") and "a.py" in out)


def test_an_answer_is_short(monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    """An answer has at most 25 lines, and says how much it leaves out."""
    wrong = case("one", Rule("wrong", "jax<0.6.0", "run"), Rule("right", "", "run"))
    many = knowledge(*(issue(f"issue-{number}", wrong) for number in range(60)))
    monkeypatch.setattr(known, "load", lambda: many)
    _, out = said("check", "--from", "jax==0.4.30")

    assert 25 >= len(out.splitlines())
    assert "… 48 more, and what to do: --verbose" in out


def test_an_upgrade_is_told_by_what_it_adds_and_takes_away(said: Said) -> None:
    """Cases that affect both stacks are neither added nor removed; jaxlib follows its jax."""
    _, out = said("check", "--from", "jax==0.4.30", "--to", "jax==0.6.0")

    assert "What this upgrade adds:" in out
    assert "slow-thing" in out
    assert "No longer affected: wrong-numbers/mended." in out
    assert "wrong-numbers does it" not in out


def test_source_narrows_and_hides_nothing(world: Path, said: Said) -> None:
    """Issues in use are listed with their places; those that source code cannot show are named and counted."""
    (world / "model.py").write_text("import jax.numpy as jnp\n\njnp.pad(x, 1, mode='edge')\n")
    _, short = said("check", "--from", "jax==0.6.0", "--source", ".")
    code, out = said("check", "--from", "jax==0.6.0", "--source", ".", "--verbose", "--fail-on", "possible")

    assert "No line is known to need a change. 1 possible issue." in short
    assert "possible  1: wrong-numbers (model.py:3)" in short
    assert "model.py:3:1 jax.numpy.pad(mode=)" in out
    assert "source code cannot show whether your code is concerned: slow-thing." in out
    (world / "model.py").write_text("import jax.numpy as jnp\n\njnp.pad(x, 1)\n")
    words = ("check", "--from", "jax==0.6.0", "--source", ".", "--verbose")
    narrower, out = said(*words)
    strict, _ = said(*words, "--strict")
    _, machine = said(*words, "--format", "json")
    assert "No line is known to need a change. 0 possible issues." in out
    assert (Exit.UNEXPECTED, Exit.AS_EXPECTED, Exit.AS_EXPECTED) == (code, narrower, strict)
    data = json.loads(machine)
    assert ([], ["slow-thing"]) == (data["findings"], data["coverage"]["untold"])


@pytest.mark.parametrize(
    ("until", "format", "code", "told"),
    [
        ("", "text", Exit.AS_EXPECTED, "Issues ignored by jax-stack-compat.toml: 1."),
        ("", "json", Exit.AS_EXPECTED, '"ignored": [\n  "slow-thing"\n ]'),
        ("until = 2020-01-31", "text", Exit.UNEXPECTED, "its last day was 2020-01-31"),
    ],
)
def test_what_is_ignored_ends(until: str, format: str, code: Exit, told: str, world: Path, said: Said) -> None:
    """An entry ignores its issue until its day; then the issue returns, and the entry is stale."""
    (world / "jax-stack-compat.toml").write_text(f'[[ignore]]\nid = "slow-thing"\nreason = "we know"\n{until}\n')
    found, out = said("check", "--from", "jax==0.7.0", "--fail-on", "slow", "--format", format)

    assert code == found
    assert told in out


def test_what_decides_and_is_not_named_is_asked_for(monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    """A package that decides a case is asked for before the first finding; --strict then fails."""
    turns = case("one", Rule("wrong", "equinox>=0.13", "run"), Rule("right", "equinox<0.13", "run"))
    monkeypatch.setattr(known, "load", lambda: knowledge(issue("some-issue", turns)))
    _, out = said("check", "--from", "jax==0.4.31")
    strict, _ = said("check", "--from", "jax==0.5.0", "--strict")
    named, _ = said("check", "--from", "jax==0.5.0 equinox==0.12.0", "--strict")

    assert "Not named: equinox; 1 case depends on that." in out.splitlines()[0]
    assert (Exit.INCOMPLETE, Exit.AS_EXPECTED) == (strict, named)


def test_what_an_installer_would_have_given_is_said() -> None:
    """Unnamed imports of a named package are assumed as of the newest named release, in the first line."""
    pins = {"jax": "0.4.30", "equinox": "0.11.4", "diffrax": "0.6.0", "lineax": "0.0.5"}
    real = known.Knowledge("2026-11-22", {"diffrax-0.6.0": pins}, ())
    found = answers.answer(real, Stack({"jax": "0.4.30", "diffrax": "0.6.0"}, "words"))
    given = answers.answer(real, Stack({"jax": "0.4.30", "diffrax": "0.6.0", "equinox": "0.11.5"}, "words"))

    assert {"equinox": "0.11.4", "lineax": "0.0.5"} == found.assumed
    assert {"lineax": "0.0.5"} == given.assumed


def test_an_upgrade_adds_no_line_that_failed_before(world: Path, said: Said) -> None:
    """An upgrade does not add lines that fail on both stacks, but those that only the new one breaks."""
    (world / "a.py").write_text("import jax\n\njax.tree_map(f, x)\n")
    added, _ = said("check", "--from", "jax==0.5.0", "--to", "jax==0.6.0", "--source", ".")
    kept, out = said("check", "--from", "jax==0.6.0", "--to", "jax==0.7.0", "--source", ".")
    assert (Exit.UNEXPECTED, Exit.AS_EXPECTED) == (added, kept)
    assert "What this upgrade adds: No line is known to need a change." in out


def test_a_jaxlib_that_its_jax_refuses_is_answered_by_nothing(said: Said) -> None:
    """A jaxlib that metadata refuses is reported, and no rule is applied to the pair."""
    code, out = said("check", "--from", "jax==0.4.36 jaxlib==0.4.20")
    assert Exit.UNEXPECTED == code
    assert out.startswith("This stack does not install: jax 0.4.36 requires jaxlib")
    assert "Nothing is known about this stack." in out


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ('id = "no-such"\nreason = "?"', "ignore.0.id: there is no issue 'no-such'"),
        ('id = "slow-thing"\nreason = " "', "ignore.0.reason: String should have at least 1 character"),
        (lambda path: path.symlink_to("gone.toml"), "file: No such file"),
        (os.mkfifo, "file: it is a pipe"),
    ],
    ids=["unknown id", "empty reason", "broken link", "pipe"],
)
def test_what_is_ignored_has_an_id_and_a_reason(
    entry: str | Callable[[Path], None], fault: str, world: Path, said: Said
) -> None:
    """The error names the file, the key and the fault; a broken link is an error too, and a pipe is not waited for."""
    path = world / "jax-stack-compat.toml"
    if isinstance(entry, str):
        path.write_text(f"[[ignore]]\n{entry}\n")
    else:
        entry(path)
    with within(20):
        code, out = said("check", "--from", "jax==0.7.0")
    assert (Exit.MISUSED, True) == (code, f"jax-stack-compat.toml: {fault}" in out)


@pytest.mark.parametrize("format", command_table.FORMATS)
@pytest.mark.parametrize("name", ["a\n::error::b<b>[c](d)`\x1b[31m.txt", "\n::error::b.txt"])
def test_a_name_of_a_lock_is_no_command(world: Path, format: str, name: str, said: Said) -> None:
    """The name of a lock cannot inject a command of GitHub, of a terminal or of HTML."""
    (world / name).write_text("jax==0.7.0\n")
    _, out = said("check", "--lock", name, "--format", format)

    assert not [line for line in out.splitlines() if line.startswith("::error::")]
    assert "\x1b" not in out
    if format == "markdown":
        assert "<b>" not in out
        assert "[c](d)`" not in out.replace("\\[", "")


def test_what_cannot_be_run_any_more_is_not_taken_away(said: Said) -> None:
    """If an upgrade keeps Equinox from importing, its cases do not count as removed."""
    _, out = said("check", "--from", "jax==0.5.0 equinox==0.12.0 diffrax==0.6.0", "--to", "jax==0.6.0")

    assert "This stack does not work: equinox 0.12.0 does not import beside jax 0.6.0 (by rule)." in out
    assert "solve-is-off/solves" not in out


def test_bounds_answer_where_nothing_says_versions(world: Path, said: Said) -> None:
    """A pyproject.toml without a lock is answered as with --bounds, which the first line says; --to starts today."""
    (world / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "1"\ndependencies = ["jax>=0.4.36,<0.7"]\n')
    code, out = said("check")
    bounds = said("check", "--bounds", "pyproject.toml")
    newest, upgrade = said("check", "--to", "newest")

    first = "pyproject.toml: no file here pins versions, so its bounds are checked.\n"
    assert (bounds[0], first + bounds[1]) == (code, out)
    assert (Exit.AS_EXPECTED, True) == (newest, "as an installer gives it today with newest" in upgrade)


def test_setup_alone_says_what_to_do(world: Path, said: Said) -> None:
    """A project with a setup.py, and a pyproject.toml without declarations, gets advice on how to write a lock."""
    (world / "setup.py").touch()
    (world / "pyproject.toml").write_text("[tool.black]\n")
    code, out = said("check")

    assert Exit.MISUSED == code
    assert out.startswith("error: setup.py: file: it is not executed: write a lock, uv pip compile setup.py")


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        ("TypeError: unhashable type: 'JitTracer' on jax 0.6.0", Exit.AS_EXPECTED, "loud: run on these versions"),
        ("ValueError: no", Exit.UNEXPECTED, "No documented issue matches"),
        ("no such thing", Exit.UNEXPECTED, "no exception class"),
        ("No module named 'jax.experimental.maps'", Exit.AS_EXPECTED, "jax.experimental.maps exists on jax"),
        ("\x1b[1mNo module\x1b[0m named 'jax.experimental.maps'", Exit.AS_EXPECTED, "jax.experimental.maps exists"),
        # PowerShell writes UTF-16.
        ("No module named 'jax.experimental.maps'".encode("utf-16"), Exit.AS_EXPECTED, "jax.experimental.maps exists"),
    ],
)
def test_a_symptom_is_explained(text: str | bytes, code: Exit, told: str, world: Path, said: Said) -> None:
    """The matching issue on the versions in the text, the releases of a name, or that nothing matches."""
    (world / "said.txt").write_bytes(text if isinstance(text, bytes) else text.encode())
    found, out = said("explain", "said.txt")
    pasted, line = said("explain", "said.txt", "--format", "markdown")

    assert (code, code) == (found, pasted)
    assert told in out
    assert 1 == len(line.splitlines())


@pytest.mark.parametrize("typed", [["--from", ""], ["--from", "jax==0.7.0", "--to", ""], ["--from", "x", "--fail-on="]])
def test_an_empty_word_is_told(typed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """An empty argument, as of an unset variable, is an error."""
    with pytest.raises(SystemExit) as ended:
        command_line.main(["check", *typed])
    assert Exit.MISUSED == ended.value.code
    assert "Is a shell variable unset?" in capsys.readouterr().err


def test_a_release_in_another_spelling(said: Said) -> None:
    """A version 0.7 means 0.7.0, as for an installer."""
    answered = [said("check", "--from", each)[1].partition(": ")[2] for each in ("jax==0.7.0", "jax==0.7")]
    assert answered[0] == answered[1] != ""


def test_a_folder_that_is_gone_is_told(world: Path, said: Said) -> None:
    """A removed working folder is an error with a sentence."""
    (world / "gone").mkdir()
    os.chdir(world / "gone")
    (world / "gone").rmdir()
    code, out = said("check")
    assert (Exit.MISUSED, "error: the current folder is gone: change into one that exists\n") == (code, out)


def test_the_installed_command_has_both(capsys: pytest.CaptureFixture[str]) -> None:
    """`jax-stack-compat check --help` has examples and explains its exit codes."""
    with pytest.raises(SystemExit) as ended:
        command_line.main(["check", "--help"])

    assert not ended.value.code
    out = capsys.readouterr().out
    assert "jax-stack-compat check --bounds pyproject.toml" in out
    assert "4 nothing is known" in out
