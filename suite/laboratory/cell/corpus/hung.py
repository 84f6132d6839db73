"""It never ends."""

from laboratory.cell.corpus import Seen, case, issue, right, sleep_long, well


def plain() -> Seen:
    """Does it come back?"""
    sleep_long()
    return right()


ISSUE = issue(
    case(plain, expected="hung", seconds=0.4, workaround=well),
    case(plain, "undocumented", seconds=0.4),
    case(plain, "long", isolation="interpreter", seconds=50),
)
