"""Cases that fail in an undocumented way, or return an invalid result."""

from typing import cast

from jax_stack_compat.cell import Signature
from laboratory.cell.corpus import Seen, case, folder, issue, note


class Unspeakable(Exception):
    """An exception that cannot be put in words."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


def unknown() -> Seen:
    """Does it raise an unknown exception?"""
    raise LookupError("no such key\nand a second line")


def leaves() -> Seen:
    """Does it raise SystemExit?"""
    raise SystemExit(0)


def not_unicode() -> Seen:
    """Does it name a file whose name is not text?"""
    raise FileNotFoundError(2, "No such file", b"caf\xe9".decode("utf-8", "surrogateescape"))


def unspeakable() -> Seen:
    """Does it raise an exception that cannot be printed?"""
    raise Unspeakable


def nothing() -> Seen:
    """Is None an answer?"""
    return cast(Seen, None)


def a_name() -> Seen:
    """Is a behaviour's name an answer?"""
    return cast(Seen, "right")


def no_text() -> Seen:
    """Is a behaviour an answer if it is not text?"""
    return cast(str, object()), "2 + 2 is 4"


def unknown_behaviour() -> Seen:
    """Is a behaviour an answer if its table does not list it?"""
    return "confused", "2 + 2 is a cat"


def alternates() -> Seen:
    """Is it the same twice?"""
    note("again", "turns")
    turns = (folder() / "turns").read_text().splitlines()
    return "wrong" if len(turns) % 2 else "refused", "heads or tails"


ISSUE = issue(
    *(case(each) for each in (unknown, leaves, not_unicode, unspeakable)),
    # The probe's own complaint is no symptom.
    case(nothing, signatures={"wrong": Signature("TypeError")}),
    *(case(each) for each in (a_name, no_text, unknown_behaviour, alternates)),
)
