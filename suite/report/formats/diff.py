"""A difference between two reports, for people in a terminal and in Markdown, and as JSON for programs."""

from __future__ import annotations

from typing import Any, Literal, get_args

from rich.console import Console
from rich.text import Text

from suite.files import dump
from suite.report.diff import Diff, Group, tally
from suite.report.formats.length_limit import fit
from suite.report.formats.markup import cell_text, clipped, printable
from suite.report.model import ChangeKind, Observation, Report
from suite.report.summary import last_line, replay

Format = Literal["terminal", "markdown", "json"]
FORMATS: tuple[Format, ...] = get_args(Format)

_COLOURS: dict[ChangeKind, str] = {
    **{"regressed": "red", "changed": "yellow", "fixed": "green"},
    **{"new": "cyan", "gone": "dim"},
}
_MOST = 20
_CASES = 6
_SPURIOUS = "flaky, error, not run, unavailable or conflict on either side: counted for nothing"


def show(found: Diff, console: Console) -> None:
    """Print a difference; only so many lines of a kind."""
    for line in _reports(found):
        console.print(Text(line), soft_wrap=True)
    if found.premises:
        console.print("\n[bold]Not run alike[/bold]")
    for each in found.premises:
        console.print(Text(printable(f"  {each.what}: {each.before} → {each.now}")), soft_wrap=True)
    for kind, groups in _sections(found):
        console.print(f"\n[bold]{kind.capitalize()}[/bold]")
        for group in groups[:_MOST]:
            told = Text(printable(f"  {_cells(group)} {_cases(group)}: "), _COLOURS[kind])
            told.append(printable(group.words), "default")
            console.print(told, soft_wrap=True)
            for line in _evidence(group):
                console.print(Text(f"      {printable(clipped(line))}", "dim"), soft_wrap=True)
        if len(groups) > _MOST:
            console.print(f"  … and {len(groups) - _MOST} more: `--format markdown` has them")
    console.print()
    bad = found.counts["regressed"]
    console.print(Text(last(found), style=f"bold {'red' if bad else 'green'}"), soft_wrap=True)


def markdown(found: Diff) -> str:
    """A difference as Markdown that goes into an issue or a step summary."""
    lines = ["# What changed between two reports", "", f"{last(found)}.", ""]
    lines += [f"- {cell_text(line)}" for line in _reports(found)]
    if found.premises:
        lines += ["", "## Not run alike", "", "| what | before | now |", "|---|---|---|"]
        lines += [" | ".join(("", *map(cell_text, (p.what, p.before, p.now)), "")).strip() for p in found.premises]
    for kind, groups in _sections(found):
        lines += ["", f"## {kind.capitalize()}", ""]
        for group in groups:
            head = f"**{cell_text(_cases(group))}** on {cell_text(_cells(group))}: {cell_text(group.words)}"
            lines.append("<br>".join([f"- {head}", *(cell_text(line) for line in _evidence(group))]))
    return fit("\n".join(lines) + "\n")


def as_json(found: Diff) -> str:
    """A difference as data: every change by itself, spurious ones among them."""
    return dump(
        {
            "schema_version": 1,
            "old": _report(found.old),
            "new": _report(found.new),
            "counts": dict(found.counts),
            "not_run_alike": [{"what": each.what, "before": each.before, "now": each.now} for each in found.premises],
            "changes": [
                {
                    "kind": each.kind,
                    **dict(zip(("cell", "issue", "case"), each.key, strict=True)),
                    "before": _side(each.before),
                    "now": _side(each.now),
                }
                for each in found.changes
            ],
        }
    )


def last(found: Diff) -> str:
    """The counts, all of them, each time; what is spurious apart."""
    return f"{tally(found.counts)} ({_SPURIOUS})"


def _reports(found: Diff) -> list[str]:
    sides = (("before", found.old), ("now", found.new))
    return [f"{word}: {report.generated_at:%Y-%m-%d %H:%M}, {last_line(report)}" for word, report in sides]


def _sections(found: Diff) -> list[tuple[ChangeKind, list[Group]]]:
    kinds = dict.fromkeys(group.kind for group in found.groups)
    return [(kind, [group for group in found.groups if group.kind == kind]) for kind in kinds]


def _cells(group: Group) -> str:
    first, *_, final = (*group.cells, group.cells[-1])
    return first if len(group.cells) == 1 else f"{first} … {final} ({len(group.cells)} cells)"


def _cases(group: Group) -> str:
    """Cases under their issue; only their number where they are many."""
    if len(group.cases) > _CASES:
        return f"{len(group.cases)} cases"
    of: dict[str, list[str]] = {}
    for issue, case in group.cases:
        of.setdefault(issue, []).append(case)
    return "; ".join(f"{issue}/{', '.join(cases)}" for issue, cases in of.items())


def _evidence(group: Group) -> list[str]:
    """What the first of them says, and how to see it again, where somebody is going to look."""
    now = group.first.now
    if now is None or group.kind not in ("regressed", "changed"):
        return []
    return [each for each in (now.detail, replay(now)) if each]


def _report(report: Report) -> dict[str, Any]:
    return {"generated_at": report.generated_at.isoformat(), "coverage": report.coverage.model_dump()}


def _side(each: Observation | None) -> dict[str, Any] | None:
    shown = {"verdict", "behaviour", "reason", "agreement", "workaround", "detail"}
    return each.model_dump(include=shown) if each else None
