"""The feature is not there."""

from tests.cell.corpus import Seen, case, issue, well


def plain() -> Seen:
    """Is there such a thing at all?"""
    return "missing", "there is no such thing"


ISSUE = issue(case(plain, expected="missing", workaround=well))
