"""What in the README is made of the project: `nox -s publish` writes it, and a test checks it."""

from __future__ import annotations

import re
from io import StringIO

from rich.console import Console

from suite.cell.atomic import write
from suite.files import REPORTS, ROOT
from suite.judge.table import TABLE
from suite.report.formats import terminal
from suite.report.model import Report
from suite.report.stored import read_report

README = ROOT / "README.md"
PUBLISHED = REPORTS / "published"
# So many lines of each list: the README is no report.
_MOST = 4


def renew() -> None:
    """Put an excerpt of the published report, and the table of verdicts, into the README. Raises BadFile."""
    text = README.read_text(encoding="utf-8")
    write(README, with_verdicts(with_excerpt(text, read_report(PUBLISHED))))


def with_excerpt(readme: str, report: Report) -> str:
    """`readme`, its excerpt taken from `report`: what a terminal shows of it, less the length of its lists."""
    screen = StringIO()
    console = Console(file=screen, width=106, color_system=None, force_terminal=False)
    terminal.show(report, console, most=_MOST)
    lines = [line.rstrip() for line in screen.getvalue().strip().splitlines()]
    return _with_block(readme, "excerpt", "```text\n" + "\n".join(lines) + "\n```")


def with_verdicts(readme: str) -> str:
    """`readme`, with what each verdict means."""
    rows = [f"| {each.glyph} | {each.name} | {each.meaning} |" for each in TABLE]
    return _with_block(readme, "verdicts", "\n".join(["| | verdict | |", "|---|---|---|", *rows]))


def _with_block(readme: str, name: str, text: str) -> str:
    block = rf"(?<=<!-- {name}: written by `nox -s publish` -->\n).*?(?=<!-- end of {name} -->)"
    return re.sub(block, lambda _: f"\n{text}\n\n", readme, flags=re.DOTALL)
