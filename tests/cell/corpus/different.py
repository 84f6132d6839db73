"""It fails, but not as documented."""

from tests.cell.corpus import Seen, case, issue


class Unspeakable(Exception):
    """An exception that cannot be put in words."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


def unknown() -> Seen:
    """Does it raise what nobody knows?"""
    raise LookupError("no such key\nand a second line")


def leaves() -> Seen:
    """Does it ask to leave?"""
    raise SystemExit(0)


def not_unicode() -> Seen:
    """Does it name a file whose name is not text?"""
    raise FileNotFoundError(2, "No such file", b"caf\xe9".decode("utf-8", "surrogateescape"))


def unspeakable() -> Seen:
    """Does it raise what cannot be shown?"""
    raise Unspeakable


ISSUE = issue(case(unknown), case(leaves), case(not_unicode), case(unspeakable))
