"""A traceback, or what somebody remembers of it, and the issue that has it."""

from __future__ import annotations

import pytest

from suite.cell.issue import Rule, Signature
from suite.check import explain
from tests.check.worlds import case, issue, knowledge

RAISED = """Traceback (most recent call last):
  File "/home/x/site-packages/jax/_src/core.py", line 7, in f
TypeError: unhashable type: 'DynamicJaxprTracer'
"""


def found(text: str, *signatures: Signature) -> list[str]:
    """The ids of the issues that a text matches, where issue one has these signatures."""
    cases = [
        case(f"case-{number}", Rule("wrong", "", "run"), signatures=(("wrong", each),))
        for number, each in enumerate(signatures)
    ]
    return [each.issue.id for each in explain.matches(knowledge(issue("one", *cases)) if cases else knowledge(), text)]


@pytest.mark.parametrize(
    "text", [RAISED, "unhashable type: \u2018DynamicJaxprTracer\u2019", RAISED.replace(" ", "\n  ")]
)
def test_a_text_finds_its_issue(text: str) -> None:
    """However it is quoted, wrapped or cut, what a signature says is recognised."""
    assert ["wrong-numbers"] == found(text)


@pytest.mark.parametrize("text", ["", "TypeError", "unhashable type: 'list'", "Tracer' unhashable type"])
def test_another_text_finds_nothing(text: str) -> None:
    """A class alone, another type, or the pieces in another order are not the signature."""
    assert [] == found(text)


def test_an_exception_without_a_message_is_told_by_where_it_came_through() -> None:
    """With no message in the signature, the traceback has to go through its module."""
    signature = Signature("AssertionError", "", "jax._src.core")

    assert ["one"] == found(RAISED.replace("TypeError: unhashable", "AssertionError\n"), signature)
    assert [] == found("AssertionError", signature)


def test_the_most_telling_stands_first() -> None:
    """Of two issues that a text may be about, the one that has more of it is told first."""
    short = issue("short", case("a", signatures=(("wrong", Signature("ValueError", "unhashable")),)))
    long = issue("long", case("b", signatures=(("wrong", Signature("TypeError", "unhashable type: '…Tracer'")),)))

    assert ["long", "short"] == [each.issue.id for each in explain.matches(knowledge(short, long), RAISED)]


def test_versions_are_read_from_a_text() -> None:
    """As pip, uv and people write them; nothing else is taken for one."""
    text = "jax==0.4.35\nequinox 0.11.10, diffrax-0.6.0 and numpy 2.0; jax_cuda12 9.9; pyjax 1.0"

    assert {"jax": "0.4.35", "equinox": "0.11.10", "diffrax": "0.6.0"} == explain.versions(text)


def test_a_long_text_is_looked_through_at_its_ends() -> None:
    """Ten megabytes before an error hide it not."""
    assert ["wrong-numbers"] == found("x" * 10_000_000 + RAISED)
