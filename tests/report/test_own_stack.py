"""A stack of one's own in a terminal: what was seen, the worst first, and what to do."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from suite.report.formats import own_stack
from tests.report.test_report import observation, report


def shown(*seen: dict[str, object]) -> list[str]:
    """The lines that a person reads of these observations of one cell."""
    screen = StringIO()
    made = report(*(observation(**{"cell": "jax-0.4.30", **each}) for each in seen))
    own_stack.show(made, made.cells, Console(file=screen, width=300, highlight=False))
    return [line.strip() for line in screen.getvalue().splitlines() if line.strip()]


def test_the_worst_stands_first() -> None:
    """What crashed stands before what is affected, that before what is guarded; what is clear is only counted."""
    lines = shown(
        {"case": "c", "verdict": "clear"},
        {"case": "g", "verdict": "guarded"},
        {"case": "a", "verdict": "affected"},
        {"case": "x", "verdict": "crashed"},
    )

    assert ["some-issue/x:", "some-issue/a:", "some-issue/g:"] == [
        word for line in lines for word in line.split() if word.startswith("some-issue/")
    ]
    assert "✓ 1 clear" == lines[-1]


def test_what_helps_is_told_where_it_was_run_and_holds() -> None:
    """A case has its workaround's text where it holds; where it fails, that is said and no text."""
    held = shown({"case": "a", "workaround": "holds"}, {"case": "b", "workaround": "holds"})
    failed = shown({"case": "a", "workaround": "fails"})

    assert ["what helps, run here: Do not."] * 2 == [line for line in held if line.startswith("what helps")]
    assert "its workaround does not help here" in failed
    assert not any(line.startswith("what helps") for line in failed)


def test_what_is_not_as_expected_says_how_to_see_it() -> None:
    """An observation that nobody expected has the command that makes it again, for a stack that is no session."""
    lines = shown({"verdict": "clear", "agreement": "fixed", "expected": "bad"})

    assert "not as expected (bad): nox -s run -- jax-0.4.30 --issue some-issue --fresh" in lines
