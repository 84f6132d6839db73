"""It does something else each time."""

from tests.cell.corpus import Seen, case, folder, issue, note


def alternates() -> Seen:
    """Is it the same twice?"""
    note("again", "turns")
    turns = (folder() / "turns").read_text().splitlines()
    return "wrong" if len(turns) % 2 else "refused", "heads or tails"


ISSUE = issue(case(alternates))
