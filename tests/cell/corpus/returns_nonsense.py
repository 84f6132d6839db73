"""The reproducer gives what no reproducer may give."""

from typing import Any

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


def unknown() -> Seen:
    """Is a behaviour that its table does not have an answer?"""
    return Seen("confused", "2 + 2 is a cat")


def no_name() -> Seen:
    """Is a behaviour that is no text an answer?"""
    return Seen(_any(None), "2 + 2 is 4")


def no_json() -> Seen:
    """Is a behaviour that JSON has no words for an answer?"""
    return Seen(_any(object()), "2 + 2 is 4")


ISSUE = issue(
    __name__,
    "It returns nonsense",
    case("nothing", nothing),
    case("a-name", a_name),
    case("unknown-behaviour", unknown),
    case("nameless-behaviour", no_name),
    case("unwritable-behaviour", no_json),
)
