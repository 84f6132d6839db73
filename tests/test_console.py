"""The output of commands is text, whoever wrote it."""

import re
from io import StringIO

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.table import Table

from jax_stack_compat.base.console import Terminal
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


def test_a_terminal_without_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """With COLUMNS=0, which some terminals and services set, the output is still printed."""
    monkeypatch.setenv("COLUMNS", "0")
    out = Terminal()
    out.file = StringIO()
    out.print("something")
    assert "something\n" == out.file.getvalue()
