"""Foreign text in one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.judge.record import Part
from suite.judge.wording import explain, not_imported, tidy
from tests.judge.stacks import FEW_EXAMPLES

RAISED = "what happened\n----\nFor simplicity, JAX has removed"
SAID = Part(outcome="returned", behaviour="good", detail="all is well")


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (Part(outcome="raised", exception="ValueError", detail=RAISED), "ValueError: what happened"),
        (Part(outcome="raised", exception="KeyError"), "KeyError"),
        (Part(outcome="signal", detail="SIGABRT", said=SAID), "signal after its answer, good: all is well"),
        (Part(outcome="signal", detail="SIGABRT"), "signal: SIGABRT"),
        (Part(outcome="timeout"), "timeout"),
    ],
)
def test_an_ending_is_told_in_a_line(part: Part, words: str) -> None:
    """An exception has its type and first line; a crash at exit has the answer before it."""
    assert words == explain(part)


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


# Includes escape sequences, marks that change the text direction, and halves of characters.
PIECES = [
    *"/a…. \n\x00\ud800",
    "0x",
    "0x0123456789ab",
    "..",
    "/tmp/",
    "x" * 150,
    "\x1b[31m",
    "\x1b]0;",
    "\u202e",
    "\u2066",
]


@given(text=st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=30).map("".join))
@FEW_EXAMPLES
def test_a_tidy_detail_can_be_printed(text: str) -> None:
    """Any foreign text becomes a short printable detail, and tidying it again changes nothing."""
    tidied = tidy(text)

    assert tidied == tidy(tidied)
    assert (True, True) == (tidied.isprintable(), len(tidied) <= 400)


@pytest.mark.parametrize(
    ("part", "package"),
    [
        (Part(outcome="import-error", detail="import equinox: AttributeError: no jax.core.Token"), "equinox"),
        (Part(outcome="raised", detail="import equinox: it says"), None),
        (Part(outcome="timeout"), None),
    ],
)
def test_the_package_that_does_not_import_is_named(part: Part, package: str | None) -> None:
    """A package is named only if an import failed: code may raise far from the fault."""
    assert package == not_imported(part)
