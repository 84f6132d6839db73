"""Nothing is wrong."""

from laboratory.cell.corpus import Seen, case, fails, issue, right, well


def plain() -> Seen:
    """Is 2 + 2 still 4?"""
    return right()


ISSUE = issue(
    case(plain),
    case(plain, "workaround_fails", workaround=fails),
    case(plain, "in_interpreter", isolation="interpreter", workaround=well),
)
