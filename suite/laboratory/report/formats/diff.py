"""The difference between two reports: for the terminal, as Markdown and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby

from rich.console import Console
from rich.text import Text

from jax_stack_compat.base.files import dump_ascii
from jax_stack_compat.base.printable import printable
from laboratory.report.compare import Group, ReportDiff, tally
from laboratory.report.markup import cell_text, clipped, fit
from laboratory.report.model import ChangeKind
from laboratory.report.summary import last_line, replay

_COLOURS: dict[ChangeKind, str] = {
    **{"regressed": "red", "changed": "yellow", "fixed": "green"},
    **{"new": "cyan", "gone": "dim"},
}
_GROUPS_SHOWN = 20
_CASES_NAMED = 6
_UNDECIDED = "flaky, error, not run, blocked, unavailable or conflict on either side: not counted"


def show(found: ReportDiff, console: Console) -> None:
    """Print a difference, with a limited number of groups of each kind."""

    def say(text: str | Text, style: str = "") -> None:
        console.print(Text(text, style) if isinstance(text, str) else text, soft_wrap=True)

    for line in _reports(found):
        say(line)
    if found.premises:
        say("\nDifferent conditions", "bold")
    for premise in found.premises:
        say(printable(f"  {premise.what}: {premise.before} → {premise.now}"))
    for kind, groups in _sections(found):
        say(f"\n{kind.capitalize()}", "bold")
        for group in groups[:_GROUPS_SHOWN]:
            say(
                Text.assemble(
                    (printable(f"  {_cells(group)} {_cases(group)}: "), _COLOURS[kind]), printable(group.words)
                )
            )
            for line in _evidence(group):
                say(f"      {printable(clipped(line))}", "dim")
        if len(groups) > _GROUPS_SHOWN:
            say(f"  … and {len(groups) - _GROUPS_SHOWN} more; `--format markdown` lists them")
    colour = "red" if found.counts["regressed"] else "yellow" if found.newly_undecided[0] else "green"
    say(f"\n{last(found)}", f"bold {colour}")


def markdown(found: ReportDiff) -> str:
    """Return a difference as Markdown that fits an issue or a step summary."""
    lines = ["# What changed between two reports", "", f"{last(found)}.", ""]
    lines += [f"- {_posted(line)}" for line in _reports(found)]
    if found.premises:
        lines += ["", "## Different conditions", "", "| what | before | now |", "|---|---|---|"]
        lines += [f"| {' | '.join(map(_posted, (each.what, each.before, each.now)))} |" for each in found.premises]
    for kind, groups in _sections(found):
        lines += ["", f"## {kind.capitalize()}", ""]
        for group in groups:
            head = f"**{_posted(_cases(group))}** on {_posted(_cells(group))}: {_posted(group.words)}"
            lines.append("<br>".join([f"- {head}", *map(_posted, _evidence(group))]))
    return fit("\n".join(lines) + "\n")


def _posted(text: str) -> str:
    # The text of an issue or a pull request: a name in it pings, and a reference leaves a link in that thread.
    return cell_text(text, in_thread=True)


def as_json(found: ReportDiff) -> str:
    """Return a difference as JSON: every single change, undecided ones too."""
    sides = {"verdict", "behaviour", "reason", "agreement", "workaround", "detail"}
    reports = {
        name: {"generated_at": of.generated_at.isoformat(), "coverage": of.coverage.model_dump()}
        for name, of in (("old", found.old), ("new", found.new))
    }
    changes = [
        {
            "kind": change.kind,
            **dict(zip(("cell", "issue", "case"), change.key, strict=True)),
            "before": change.before.model_dump(include=sides) if change.before else None,
            "now": change.now.model_dump(include=sides) if change.now else None,
        }
        for change in found.changes
    ]
    not_alike = [asdict(premise) for premise in found.premises]
    counts = dict(found.counts)
    data = {
        **{"schema_version": 2, **reports, "counts": counts, "not_compared": dict(found.not_compared)},
        **{"not_run_alike": not_alike, "changes": changes},
    }
    return dump_ascii(data)


def last(found: ReportDiff) -> str:
    """Return all counts as a line, undecided ones last, and the number of observations that are no longer decided."""
    lost, had = found.newly_undecided
    less = f"; {lost} of the {had} observations decided before are undecided now" if lost else ""
    return f"{tally(found.counts)} ({_UNDECIDED}){less}{_apart(found)}"


def _apart(found: ReportDiff) -> str:
    """Return how many observations were not compared, and why; empty if all were."""
    total, reasons = len(found.apart), [f"{count:,} in {why}" for why, count in found.not_compared.items()]
    return f"; not compared: {total:,} observations, {', '.join(reasons)}" if total else ""


def _reports(found: ReportDiff) -> list[str]:
    sides = (("before", found.old), ("now", found.new))
    return [f"{word}: {report.generated_at:%Y-%m-%d %H:%M}, {last_line(report)}" for word, report in sides]


def _sections(found: ReportDiff) -> list[tuple[ChangeKind, list[Group]]]:
    """Return the groups by kind, in the order of triage."""
    return [(kind, list(of)) for kind, of in groupby(found.groups, key=lambda each: each.kind)]


def _cells(group: Group) -> str:
    first, final = group.cells[0], group.cells[-1]
    return first if len(group.cells) == 1 else f"{first} … {final} ({len(group.cells)} cells)"


def _cases(group: Group) -> str:
    """Return the cases by issue or, if there are many, their number."""
    if len(group.cases) > _CASES_NAMED:
        return f"{len(group.cases)} cases"
    of: dict[str, list[str]] = {}
    for issue, case in group.cases:
        of.setdefault(issue, []).append(case)
    return "; ".join(f"{issue}/{', '.join(cases)}" for issue, cases in of.items())


def _evidence(group: Group) -> list[str]:
    """Return the detail and the command of a regressed or changed group's first observation."""
    now = group.first.now
    if now is None or group.kind not in ("regressed", "changed"):
        return []
    return [text for text in (now.detail, replay(now)) if text]
