"""Somebody else's text, told in a line of ours."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suite.judge.record import Part
from suite.judge.wording import explain, not_imported, tidy


def test_an_exception_without_a_message_is_told_by_its_type() -> None:
    """An exception that says nothing is told by its type alone."""
    assert "KeyError" == explain(Part(outcome="raised", exception="KeyError"))


def test_a_crash_after_an_answer_keeps_the_answer() -> None:
    """The detail of a crash at exit tells what had been answered before."""
    crashed = Part(
        outcome="signal", detail="SIGABRT", said=Part(outcome="returned", behaviour="good", detail="all is well")
    )

    assert "signal after its answer, good: all is well" == explain(crashed)


@pytest.mark.parametrize(
    ("text", "tidied"),
    [
        ("", ""),
        ("plain words", "plain words"),
        ("two\n  lines\tand a tab ", "two lines and a tab"),
        ("<function f at 0x7f3a5c0d9e10>", "<function f at 0x…>"),
        ("a small number: 0x1f", "a small number: 0x1f"),
        ('File "/usr/lib/python3.12/site-packages/jax/_src/core.py"', 'File "…/core.py"'),
        ("in /srv/a-b/c+d/e.txt and /usr/x/y", "in …/e.txt and …/y"),
        ("f32[2]/f32[3], a/b, and/or", "f32[2]/f32[3], a/b, and/or"),
        ("long " * 100, ("long " * 100)[:399] + "…"),
    ],
)
def test_a_detail_is_tidied(text: str, tidied: str) -> None:
    """A detail is one line of at most 400 characters, without addresses and folders."""
    assert tidied == tidy(text)


HOSTILE: st.SearchStrategy[Any] = st.one_of(
    st.text(),
    st.lists(
        st.sampled_from(["/", "a", "…", " ", "\n", "0x", "0x0123456789ab", "..", "/tmp/", ".", "x" * 150]), max_size=30
    ).map("".join),
)


@given(text=HOSTILE)
@settings(deadline=None)
def test_tidying_twice_changes_nothing(text: str) -> None:
    """A tidy detail stays as it is, and never grows beyond its limit."""
    tidied = tidy(text)

    assert tidied == tidy(tidied)
    assert len(tidied) <= 400


@pytest.mark.parametrize(
    "text", ["\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "a\u202eb\u202c", "\u2066a\u2069", "\x00", "\ud800"]
)
def test_a_tidy_detail_can_be_printed(text: str) -> None:
    """Escape sequences, direction marks and halves of characters in somebody else's text do not reach a reader raw."""
    assert tidy(f"before {text} after").isprintable()


@pytest.mark.parametrize(
    ("part", "package"),
    [
        (Part(outcome="import-error", detail="import equinox: AttributeError: no jax.core.Token"), "equinox"),
        (Part(outcome="raised", detail="import equinox: it says"), None),
        (Part(outcome="timeout"), None),
    ],
)
def test_the_package_that_does_not_import_is_named(part: Part, package: str | None) -> None:
    """Only where an import failed is a package named: where code raises is not where the fault is."""
    assert package == not_imported(part)
