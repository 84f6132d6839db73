"""The writer of COMPAT.md: a line for each issue, and the observations to look at.

It is read on a forge, and as the summary of a job. Without known addresses, links lead from a folder of `reports/` to
the issues' modules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from jax_stack_compat import issues
from jax_stack_compat.base import address as known
from jax_stack_compat.base.address import link
from jax_stack_compat.judge.verdict_table import GLYPHS, VERDICTS
from laboratory.report import standing, summary
from laboratory.report.compare import tally
from laboratory.report.markup import address, cell_text, clipped, fit, in_markdown
from laboratory.report.model import IssueRow, Report
from laboratory.report.standing import Standing

# The issue's page has the whole text.
_WORKAROUND_CHARS = 120
_PAGES = {
    "every case on every stack": "matrix.html",
    "the stacks": "cells.html",
    "front page": "index.html",
}


def compat_md(report: Report) -> str:
    """Return `report` as Markdown that fits an issue, a pull request or a step summary."""
    return fit("\n".join(_lines(report)).rstrip() + "\n")


def _lines(report: Report) -> Iterator[str]:
    platform = report.platform
    where = f"{platform.system} {platform.machine}, {platform.cpu}, device {platform.device}"
    yield from ("# Known issues by release", "", f"{in_markdown(summary.last_line(report))}.", "")
    yield cell_text(f"Run {report.generated_at:%Y-%m-%d %H:%M} UTC on {where}; suite {report.suite_version}.")
    yield ""
    if report.since:
        yield f"Since the report of {report.since.generated_at:%Y-%m-%d %H:%M} UTC: {tally(report.since.counts)}."
        yield ""
    if told_on := summary.run_on(report):
        yield from (f"{in_markdown(told_on)} “Since” names the first affected one of these.", "")
    occur = {row.verdict for row in report.observations}
    yield " · ".join(f"{GLYPHS[verdict]} {verdict}" for verdict in VERDICTS if verdict in occur)
    yield ""
    yield from _unexpected(report)
    yield from _issues(report)
    yield from _undecided(report)


def _unexpected(report: Report) -> Iterator[str]:
    if odd := summary.unexpected(report):
        yield from _head("Not as expected", "cell", "case", "seen", "expected", "detail")
    for row in odd:
        workaround = "" if row.workaround_expected else f", workaround {row.workaround}"
        seen = f"{GLYPHS[row.verdict]} {row.behaviour or row.verdict}{workaround}"
        yield _row((row.cell, f"{row.issue}/{row.case}", seen, row.expected or "nothing", row.detail))
    if odd:
        yield ""


def _issues(report: Report) -> Iterator[str]:
    if report.issues and report.cells:
        on = standing.label(standing.columns(report)[-1])
        yield from _head(f"On {on}", "now", "issue", "since", "workaround", "thread")
    at = _addresses()
    for state in standing.standings(report) if report.cells else ():
        title, when = _titled(state.issue, at), cell_text(state.when)
        yield f"| {' | '.join((GLYPHS[state.verdict], title, when, _todo(state), _thread(state.issue)))} |"
    yield from ("", _pages(), "")


def _titled(issue: IssueRow, at: Mapping[str, str]) -> str:
    """Return the issue's title, as a link if the address is known."""
    title = cell_text(issue.heading)
    return f"[{title}]({address(at[issue.id])})" if issue.id in at else title


def _home() -> str:
    """Return the address of the pages; empty if it is unknown."""
    return (known.address("Homepage") or "").rstrip("/")


def _addresses() -> dict[str, str]:
    """Return where each issue of this tree is shown, by its id: its page or, with no known homepage, its module."""
    home, repository = _home(), known.address("Repository")
    tree = f"{repository.rstrip('/')}/blob/HEAD" if repository else "../.."
    found = {}
    for module in issues.modules():
        issue = issues.basename(module).replace("_", "-")
        path = f"{tree}/suite/{module.replace('.', '/')}.py"
        found[issue] = f"{home}/issues/{issue}.html" if home else path
    return found


def _pages() -> str:
    """Say where the pages are, or how to build them."""
    if home := _home():
        return f"As pages: {' · '.join(f'[{title}]({home}/{page})' for title, page in _PAGES.items())}."
    return "`nox -s report` builds the pages, with every case on every stack."


def _todo(state: Standing) -> str:
    if state.verdict in ("clear", "absent"):
        return ""
    if state.todo:
        return cell_text(clipped(state.todo, _WORKAROUND_CHARS))
    return "no known workaround" if state.is_affected else ""


def _thread(issue: IssueRow) -> str:
    """Return a link to the thread that reports the issue, or to another, and the number of the rest."""
    known = sorted((each for each in issue.upstream if link(each.ref)), key=lambda each: each.role != "report")
    more = f", {len(known) - 1} more" if len(known) > 1 else ""
    return f"[{cell_text(known[0].ref.rpartition('/')[2])}]({address(link(known[0].ref))}){more}" if known else ""


def _undecided(report: Report) -> Iterator[str]:
    if groups := summary.undecided_causes(report):
        yield from _head("Undecided", "cell", "cases", "verdict", "reason", "detail")
    for group in groups:
        yield _row((group.cell, group.cases, f"{GLYPHS[group.verdict]} {group.verdict}", group.reason, group.detail))


def _head(title: str, *columns: str) -> Iterator[str]:
    yield from (f"## {cell_text(title)}", "", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|")


def _row(texts: Iterable[str]) -> str:
    return f"| {' | '.join(map(cell_text, texts))} |"
