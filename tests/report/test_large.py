"""Tests of the size of the published report and its files."""

from __future__ import annotations

from io import StringIO
from math import ceil

from rich.console import Console

from suite.files import REPORTS
from suite.report.formats import terminal
from suite.report.formats.compat_md import compat_md
from suite.report.model import Report

FOLDER = REPORTS / "published"


def test_the_published_report_is_small() -> None:
    """The published compat.json has at most 3 MB, and no file of observations more than 1 MB."""
    assert (FOLDER / "compat.json").stat().st_size <= 3_000_000
    assert max(path.stat().st_size for path in (FOLDER / "observations").iterdir()) <= 1_000_000


def test_its_markdown_is_short(published: Report) -> None:
    """COMPAT.md takes at most 300 bytes for each issue, everything included."""
    assert len(compat_md(published).encode()) <= 300 * len(published.issues)


def test_it_is_a_screen(published: Report) -> None:
    """A report with everything as expected takes at most forty lines in a terminal of 100 columns."""
    screen = StringIO()

    terminal.show(published, Console(file=screen, width=100))

    assert sum(max(1, ceil(len(line) / 100)) for line in screen.getvalue().splitlines()) <= 40


def test_no_page_is_large() -> None:
    """The published front page has at most 200 kB, any other page at most 400 kB."""
    sizes = {path.relative_to(FOLDER).as_posix(): path.stat().st_size for path in FOLDER.rglob("*.html")}

    assert {} == {path: size for path, size in sizes.items() if size > 400_000}
    assert sizes["index.html"] <= 200_000
