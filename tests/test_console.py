"""The output of commands is text, whoever wrote it."""

import re
from io import StringIO
from types import SimpleNamespace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.table import Table

from jax_stack_compat.base.console import Terminal
from jax_stack_compat.environments import progress
from jax_stack_compat.environments.progress import RunProgress

ODD = "no [/issue], [bold]x, :smile: \x1b[2J\x1b]0;t\x07 \u202ed\ud800"


@given(text=st.text())
@example(text=ODD)
@settings(deadline=None, max_examples=50)
def test_text_is_printed_as_it_is_said(text: str) -> None:
    """Text is never read as markup, emoji or terminal codes, in lines and in tables."""
    table = Table("a", title="b")
    table.add_row(text)
    for made in (text, table):
        out = Terminal(1000)
        out.file = StringIO()
        out.print(made, soft_wrap=True)
        told = out.file.getvalue()
        assert told.replace("\n", "").isprintable()
        assert text != ODD or "no [/issue], [bold]x, :smile: \\u001b[2J" in told


@pytest.mark.parametrize("on_terminal", [False, True])
def test_a_bar_shows_names_as_they_are(
    on_terminal: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The messages of a running cell and the names of its cases are shown as text."""
    monkeypatch.setattr(Terminal, "is_terminal", on_terminal)
    monkeypatch.setattr(Terminal, "is_dumb_terminal", False)
    name = "[/issue]", f"[/case]{ODD[-9:]}"
    with RunProgress(Terminal(300)) as run:
        progress = run.cell("jax-1[/x]")
        progress.expect({name: 1.0})
        progress.start(*name)
        progress.say(ODD)

    told = capsys.readouterr().out
    words = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", told)
    assert "jax-1[/x] no [/issue], [bold]x" in words
    assert ("[/issue]/[/case]" in words) == on_terminal
    assert not re.search("[\x07\u202e\ud800]|\x1b[^[]|\x1b\\[2J", told)


def test_a_run_says_what_is_left_of_all_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every minute, a run says how many cells are done, and the time left of all cells, also of cells not begun."""
    now = 0.0
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now))
    out = Terminal(300)
    out.file = StringIO()
    cases = {("issue", f"case-{number}"): 100.0 for number in range(4)}
    with RunProgress(out, dict.fromkeys(("one", "two"), cases)) as run:
        one = run.cell("one")
        one.expect(cases)
        for number in range(4):
            one.start("issue", f"case-{number}")
            now += 50.0
            one.step("issue", f"case-{number}")
        one.finish()
        now += 60.0
        other = run.cell("two")
        other.expect({("issue", "case-0"): 100.0})
        other.finish()

    told = [line for line in out.file.getvalue().splitlines() if line.startswith("all cells: ")]
    # Half of the expected time was needed; the second cell has 400 s of cases.
    assert "all cells: 0 of 2 cells done, about 5 min 0 s left" == told[0]
    assert "all cells: 1 of 2 cells done, about 0 s left" not in told[0]
    assert "2 of 2 cells done, about 0 s left" in told[-1]


def test_a_terminal_without_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """With COLUMNS=0, which some terminals and services set, the output is still printed."""
    monkeypatch.setenv("COLUMNS", "0")
    out = Terminal()
    out.file = StringIO()
    out.print("something")
    assert "something\n" == out.file.getvalue()
