"""The case's feature does not exist."""

from laboratory.cell.corpus import Seen, case, issue, well


def plain() -> Seen:
    """Does the feature exist?"""
    return "missing", "there is no such thing"


ISSUE = issue(case(plain, expected="missing", workaround=well))
