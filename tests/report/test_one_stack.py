"""Tests of a single stack in the terminal: observations, workarounds, and expectations without a run."""

import re
from pathlib import Path

import pytest

from jax_stack_compat.base.errors import Exit, Failed
from jax_stack_compat.stack import lock
from laboratory.cli.command_line import main
from laboratory.report.formats import one_stack
from tests.report.test_report import observation, on_screen, report

pytestmark = pytest.mark.usefixtures("pageless", "elsewhere")


def shown(*seen: dict[str, object]) -> list[str]:
    """Return the lines that are printed for these observations of one cell."""
    made = report(*(observation(**{"cell": "jax-0.4.30", **each}) for each in seen))
    return [line.strip() for line in on_screen(one_stack.show, made, made.cells).splitlines() if line.strip()]


def test_the_worst_stands_first() -> None:
    """Crashed cases come before affected ones, these before guarded ones; clear cases are only counted."""
    verdicts = {"c": "clear", "g": "guarded", "a": "affected", "x": "crashed"}
    seen: list[dict[str, object]] = [{"case": case, "verdict": verdict} for case, verdict in verdicts.items()]
    lines = shown(*seen)

    assert ["some-issue/x:", "some-issue/a:", "some-issue/g:"] == [
        word for line in lines for word in line.split() if word.startswith("some-issue/")
    ]
    assert "✓ 1 clear" == lines[-1]


def test_what_helps_is_told_where_it_was_run_and_holds() -> None:
    """A case shows its workaround if that holds, and only says so if it fails."""
    held = shown({"case": "a", "workaround": "holds"}, {"case": "b", "workaround": "holds"})
    failed = shown({"case": "a", "workaround": "fails"})

    assert ["workaround, tested here: Do not."] * 2 == [line for line in held if line.startswith("workaround, tested")]
    assert "workaround fails here" in failed
    assert not any(line.startswith("what helps") for line in failed)


def test_what_is_not_as_expected_says_how_to_see_it() -> None:
    """An unexpected observation has the command that repeats it, for a stack without a session."""
    lines = shown({"verdict": "clear", "agreement": "fixed", "expected": "bad"})

    assert "not as expected (bad): nox -s run -- jax-0.4.30 --issue some-issue --fresh" in lines


def test_what_kept_all_of_it_from_running_is_told_once() -> None:
    """Cases that could not run for the same reason share a line; cases that ran have their own."""
    gone: dict[str, object] = {"verdict": "unavailable", "reason": "plan.yanked", "detail": "yanked", "attempts": 0}
    lines = shown(
        *({"case": case, **gone, "behaviour": None, "agreement": "undecided"} for case in "abc"), {"case": "d"}
    )

    assert ["∅ unavailable 3 cases: plan.yanked", "yanked"] == [line for line in lines if "yanked" in line]
    assert any("some-issue/d" in line for line in lines)


def test_a_stack_that_was_never_run_is_answered_by_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Expectations list row zero first, then the worst, and still count as not run, exit code 3."""
    words = ["report", "jax-0.9.2+equinox-0.13.0+diffrax-0.7.0", "--to", str(tmp_path / "to")]
    some = (
        "stack-smoke",
        "wraps-lower-bypass",
        "clip-takes-other-keywords",
        "arange-is-a-constant",
        "out-of-bounds-indexing",
    )
    assert Exit.INCOMPLETE == main([*words, *(word for each in some for word in ("--issue", each))])

    told = capsys.readouterr().out.splitlines()
    lines = told[told.index("  not run here; expected:") + 1 :]
    zero, *rest = lines[: lines.index("")]
    assert zero.startswith("  ✗ affected stack-smoke/")
    assert "(by rule: " in zero
    assert re.fullmatch(r"0 of 0 run as expected; 0 could not run, \d+ not run, 0 errors", told[-1])
    glyphs = [line.split()[0] for line in rest if "stack-smoke" not in line]
    assert sorted(glyphs, key="☠∞✗≠?◐◇✓–".index) == glyphs
    assert all("by rule" in line or "run as" in line or "between" in line for line in rest if " ? " not in line)


@pytest.mark.parametrize("narrowed", [[], ["--issue", "filter-grad-return-type"]])
def test_what_does_not_import_is_told_once(
    narrowed: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A library that cannot import beside its jax blocks every case that needs it, in one line."""
    main(["report", "jax-0.12.0.1+equinox-0.13.0", "--to", str(tmp_path / "to"), *narrowed])

    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("  ✗", "  ▢"))]
    assert 2 - len(narrowed) // 2 == len(lines)
    assert lines[-1].startswith("  ▢ blocked ")
    assert lines[-1].endswith(" cases: equinox 0.13.0 does not import")


def test_a_version_that_decides_and_is_not_named_leaves_it_unknown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An expectation that depends on a version not in the id names that package."""
    main(["report", "jax-0.9.0+diffrax-0.7.0", "--issue", "stack-smoke", "--to", str(tmp_path / "to")])

    assert "? unknown stack-smoke/train-and-solve: it depends on equinox\n" in capsys.readouterr().out


def test_a_run_answers_before_it_begins(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`run` prints a stack's expectations first, so that they are the answer without a network."""

    def unreachable(*_: object, **__: object) -> None:
        raise Failed("no index")

    monkeypatch.setattr(lock, "obtain", unreachable)

    assert Exit.INCOMPLETE == main(["run", "jax-0.12.0.1+equinox-0.13.0"])

    said = capsys.readouterr()
    assert "import-error (by rule: " in said.out
    assert "error: no index\n" == said.err
