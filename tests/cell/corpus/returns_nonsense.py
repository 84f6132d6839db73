"""The reproducer gives what no reproducer may give."""

from typing import cast

from suite.cell import Signature
from tests.cell.corpus import Seen, case, issue


def nothing() -> Seen:
    """Is None an answer?"""
    return cast(Seen, None)


def a_name() -> Seen:
    """Is a behaviour's name an answer?"""
    return cast(Seen, "right")


def no_text() -> Seen:
    """Is a behaviour that is no text an answer?"""
    return cast(str, object()), "2 + 2 is 4"


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
