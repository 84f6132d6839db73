"""An issue run alone, as `python -m jax_stack_compat.issues ID` runs it."""

import sys
from pathlib import Path

import pytest

from jax_stack_compat.cell import Issue, machine, standalone
from jax_stack_compat.issues import __main__ as command
from laboratory.cell.corpus import clear, different, keeps_tally, recognised, unavailable


def told(capsys: pytest.CaptureFixture[str], issue: Issue, *cases: str) -> list[str]:
    """Return the printed lines of some cases of an issue, without their questions."""
    found = tuple(case for case in issue.cases if case.id in cases)
    standalone.run(Issue(issue.kind, issue.upstream, found))
    printed = capsys.readouterr().out
    return [line for block in printed.split("\n\n")[1:] for line in block.splitlines()[1:]]


WHERE = "double quotes: line 1 column 2 (char 1)"
RIGHT, HOLDS = "saw         right (clear): 2 + 2 is 4", "control     holds"


@pytest.mark.parametrize(
    ("issue", "name", "lines"),
    [
        (clear.ISSUE, "plain", [RIGHT, HOLDS]),
        (clear.ISSUE, "workaround-fails", [RIGHT, "workaround  AssertionError: 2 + 2 is not 5", HOLDS]),
        (
            *(recognised.ISSUE, "raises"),
            [f"saw         refused (guarded): JSONDecodeError: Expecting property name enclosed in {WHERE}", HOLDS],
        ),
        (different.ISSUE, "unknown", ["saw         LookupError: no such key and a second line", HOLDS]),
        (
            *(different.ISSUE, "unknown-behaviour"),
            ["saw         confused (not among its behaviours): 2 + 2 is a cat", HOLDS],
        ),
        # A workaround that is a pin is another stack.
        (keeps_tally.ISSUE, "by-pin", [RIGHT, HOLDS, "workaround  to run it, install jax<0.5"]),
        (unavailable.ISSUE, "cpu", ["unavailable it needs a CPU with abacus"]),
    ],
)
def test_a_case_is_told_in_a_few_lines(
    capsys: pytest.CaptureFixture[str], issue: Issue, name: str, lines: list[str]
) -> None:
    """Each part has a line with its behaviour and its meaning, or its exception; parts that do not run say why."""
    assert [f"  {line}" for line in lines] == told(capsys, issue, name)


def test_the_issue_and_its_questions_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    """The output starts with the issue's title, and each case with its question."""
    standalone.run(Issue("crash", (), clear.ISSUE.cases[:1]))

    assert ["clear: Nothing is wrong", "", "plain: Is 2 + 2 still 4?"] == capsys.readouterr().out.splitlines()[:3]


@pytest.fixture(autouse=True)
def _folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CORPUS_FOLDER", str(tmp_path))
    monkeypatch.delenv("XLA_FLAGS", raising=False)


def test_what_needs_an_environment_says_how_to_run_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A case that needs variables is not run without them; the output has a working command that sets them."""
    flags = "--xla_of_the_case --xla_force_host_platform_device_count=2"
    command = "python -m jax_stack_compat.issues keeps-tally"

    assert [f"  saw         to run it: XLA_FLAGS='{flags}' {command}"] == told(capsys, keeps_tally.ISSUE, "under-flags")

    monkeypatch.setenv("XLA_FLAGS", flags)

    assert [
        f"  saw         right (clear): {flags}",
        f"  workaround  to run it: XLA_FLAGS='{flags} --xla_of_the_workaround' TALLY=again {command}",
        "  control     holds",
    ] == told(capsys, keeps_tally.ISSUE, "under-flags")


def test_an_issue_is_run_by_its_id(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command runs the issue that it names, and no other."""
    ran: list[Issue] = []
    monkeypatch.setattr(standalone, "run", ran.append)
    monkeypatch.setattr(machine, "describe", lambda names: {"packages": dict.fromkeys(names, "1.0")})

    assert 0 == command.main(["special-signs"])

    assert ["special-signs"] == [each.id for each in ran]


def test_an_interpreter_without_the_stack_runs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """If a package that every case needs is missing, the command names it and the interpreter, and fails."""
    assert 2 == command.main(["special-signs"])

    out, err = capsys.readouterr()
    assert ("", f"error: special-signs needs jax, which {sys.executable} does not have\n") == (out, err)


def test_an_unknown_id_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    """An id that no issue has is exit code 2, with the nearest ids."""
    assert 2 == command.main(["special-sings"])

    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: no issue 'special-sings'; the nearest are special-signs, ")
