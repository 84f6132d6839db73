"""The excerpt in the README: a real one, of the published report, written by `nox -s publish` and checked by a test."""

from __future__ import annotations

import re
from io import StringIO

from rich.console import Console

from suite.cell.atomic import write
from suite.files import REPORTS, ROOT, read
from suite.report.formats import terminal
from suite.report.model import Report

README = ROOT / "README.md"
PUBLISHED = REPORTS / "published" / "compat.json"
SHOWN = ("wraps-lower-bypass", "tracer-hash-while-loop")
_BLOCK = re.compile(r"(?<=<!-- excerpt: written by `nox -s publish` -->\n).*?(?=<!-- end of excerpt -->)", re.DOTALL)


def renew() -> None:
    """Put an excerpt of the published report into the README. Raises BadFile."""
    text = README.read_text(encoding="utf-8")
    write(README, with_excerpt(text, read(Report, PUBLISHED)))


def with_excerpt(readme: str, report: Report) -> str:
    """`readme`, its excerpt taken from `report`: two issues of it, and the last line, as a terminal shows them."""
    screen = StringIO()
    console = Console(file=screen, width=106, color_system=None, force_terminal=False)
    shown = report.model_copy(update={"issues": [issue for issue in report.issues if issue.id in SHOWN]})
    terminal.show(shown, console)
    lines = [line.rstrip() for line in screen.getvalue().strip().splitlines()]
    return _BLOCK.sub(lambda _: "\n```text\n" + "\n".join(lines) + "\n```\n\n", readme)
