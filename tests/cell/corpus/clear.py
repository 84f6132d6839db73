"""Nothing is wrong."""

from tests.cell.corpus import case, fails, issue, right, well

ISSUE = issue(
    __name__,
    "It works",
    case("plain", right),
    case("with-workaround", right, workaround=well),
    case("workaround-fails", right, workaround=fails),
    case("in-interpreter", right, isolation="interpreter", workaround=well),
)
