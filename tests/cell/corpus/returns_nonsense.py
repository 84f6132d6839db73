"""The reproducer gives what no reproducer may give."""

from typing import Any

from suite.cell import Signature
from suite.cell.issue import Seen
from tests.cell.corpus import case, issue


def _any(value: Any) -> Any:
    """Hide a value's type from the type checker."""
    return value


def nothing() -> Seen:
    """Is None an answer?"""
    nothing: Seen = _any(None)
    return nothing


def a_name() -> Seen:
    """Is a behaviour's name an answer?"""
    name: Seen = _any("right")
    return name


def no_text() -> Seen:
    """Is a behaviour that is no text an answer?"""
    return _any(object()), "2 + 2 is 4"


def unknown_behaviour() -> Seen:
    """Is a behaviour that its table does not have an answer?"""
    return "confused", "2 + 2 is a cat"


ISSUE = issue(
    # The probe's own complaint is no symptom.
    case(nothing, signatures={"wrong": Signature("TypeError")}),
    case(a_name),
    case(no_text),
    case(unknown_behaviour),
)
