"""An answer for people: on a terminal, worst first, the verdict in the first line and what it rests on in the last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from suite.check.answer import KINDS, Answer, Bite
from suite.check.knowledge import KnownIssue
from suite.judge.rules import STACK, requirements
from suite.judge.table import PROPERTIES
from suite.judge.wording import named as some

if TYPE_CHECKING:
    from suite.check.concern import Place, Reading
    from suite.check.findings import Finding

_MOST_USES = 5
_MOST_LINES = 10
_MOST_ROWS = 12
_MOST_IDS = 5
_WIDEST = 72
SHORT = {
    **{"silent-wrong": "wrong", "silent-change": "changed", "import-error": "import", "by-design": "by design"},
    **{name: name for name in ("crash", "warning", "retrace", "slow")},
}
_STYLES = {"certain": "red", "deprecated": "yellow"}


def lines(read: Reading, console: Console, *, verbose: bool) -> None:
    """Print the lines of a source that a stack does not run or warns about, alike ones together."""
    shown = read.lines if verbose else read.unguarded
    alike: dict[tuple[str, bool, str, str], list[Finding]] = {}
    for each in sorted(shown, key=lambda each: (each.guarded, each.level)):
        alike.setdefault((each.level, each.guarded, each.name, each.says), []).append(each)
    for number, ((level, guarded, name, says), of) in enumerate(alike.items()):
        if number == _MOST_LINES and not verbose:
            say(console, f"and {len(alike) - number} more names: --verbose", "dim")
            break
        places = [f"{each.path}:{each.line}" for each in of]
        some = places if verbose else places[:3]
        more = f" and {len(places) - len(some)} more" if len(some) < len(places) else ""
        how = f"{level}, guarded" if guarded else level
        instead = f"; instead: {of[0].do}" if of[0].do else ""
        say(console, f"{how:<11} {', '.join(some)}{more}  {name}: {says}{instead}", _STYLES[level])
    hidden = len(read.lines) - len(read.unguarded)
    if hidden and not verbose:
        say(
            console,
            f"{hidden} more {'is' if hidden == 1 else 'are'} in code that asks for the release: --verbose",
            "dim",
        )
    for fault in read.unread:
        say(console, f"not read: {fault.path}: {fault.why}", "yellow")


def show(answer: Answer, read: Reading | None, console: Console, *, verbose: bool) -> None:
    """Print an answer; `read` is what was read in a source tree, if one was."""
    say(console, f"{answer.stack.where}: {named(answer)}. {answer.imports}".rstrip(), "dim")
    for each in answer.unsure:
        say(console, each, "yellow")
    worst = not answer.works or (read.certain if read else answer.issues)
    say(console, answer.first_line if read is None else _of_source(answer, read), _style(answer, bool(worst)))
    if read:
        lines(read, console, verbose=verbose)
    if verbose:
        _whole(answer, read, console)
    elif read is None:
        _table(answer, console)
    elif answer.issues:
        ids = [issue.id for issue, _ in answer.issues]
        more = f", and {len(ids) - _MOST_IDS} more" if len(ids) > _MOST_IDS else ""
        say(console, f"{'possible':<11} {len(ids)}: {', '.join(ids[:_MOST_IDS])}{more}: --verbose")
    say(console, answer.last_line, "dim")


def _style(answer: Answer, worst: bool) -> str:
    if not answer.is_known or answer.unsure:
        return "bold yellow"
    return "bold red" if worst else "bold green"


def _of_source(answer: Answer, read: Reading) -> str:
    places, possible = len(read.certain), len(answer.issues)
    if answer.stops or not answer.is_known:
        return answer.first_line
    if not read.files:
        return "No Python was read there."
    told = f"{places} place{'s' * (places != 1)} to change" if places else "No name or argument is known to be missing"
    return f"{told}. {possible} issue{'s' * (possible != 1)} possible."


def _table(answer: Answer, console: Console) -> None:
    """The issues that a release mends, the worst first, a line each."""
    chronic = {issue.id for issue in answer.chronic}
    rows = [(issue, of) for issue, of in answer.issues if issue.id not in chronic]
    if chronic:
        say(console, f"No release mends {len(chronic)} of them. --source . says which concern your code.")
    for issue, of in rows[:_MOST_ROWS]:
        until = next(each.good for each in of if each.good.startswith(("good", "refused")))
        title = issue.title if len(issue.title) <= _WIDEST else f"{issue.title[: _WIDEST - 1].rstrip()}…"
        say(console, f"{SHORT[issue.kind]:<9} {title:<{_WIDEST}}  {until}")
    if answer.issues:
        say(console, f"… {max(len(rows) - _MOST_ROWS, 0) + len(chronic)} more, and what to do: --verbose", "dim")


def _whole(answer: Answer, read: Reading | None, console: Console) -> None:
    for kind, issues in groupby(answer.issues, lambda each: each[0].kind):
        say(console, f"\n{KINDS[kind]}", "bold")
        for issue, bites in issues:
            _issue(issue, bites, console, read.places.get(issue.id, ()) if read else ())
    if answer.unknown:
        say(console, f"\nNot known: {some(answer.unknown)}", "dim")
    if answer.untold:
        say(console, f"\nThese affect the stack, and no source tells their use: {', '.join(answer.untold)}")
    if answer.unused:
        say(console, f"\nNot used here: {', '.join(answer.unused)}.", "dim")


def named(answer: Answer) -> str:
    """The stack in a line, with what else decides: a NumPy, where a rule on it tells that something bites."""
    rules = [rule for bite in answer.bites for rule in bite.known.rules]
    decides = dict.fromkeys([*STACK, *(each.name for rule in rules for each in requirements(rule.on))])
    versions = {**answer.stack.versions, **answer.versions}
    told = [f"{name} {versions[name]}" for name in decides if name in versions]
    unsaid = {name: why for name, why in answer.stack.unsaid.items() if name in STACK}
    return ", ".join([*told, *(f"{name} in no one version ({why})" for name, why in unsaid.items())])


def _issue(issue: KnownIssue, bites: Sequence[Bite], console: Console, uses: Sequence[Place]) -> None:
    head = Text("  ")
    worst = PROPERTIES[bites[0].verdict]
    head.append(f"{worst.glyph} {issue.id}", style=worst.colour)
    head.append(f"  {issue.title}")
    console.print(head, soft_wrap=True)
    for line in told(issue, bites):
        say(console, f"      {line}")
    for use in uses[:_MOST_USES]:
        say(console, f"      {use.path}:{use.line}:{use.column} {use.name}", "cyan")
    if len(uses) > _MOST_USES:
        say(console, f"      and {len(uses) - _MOST_USES} more uses", "cyan")


def told(issue: KnownIssue, bites: Iterable[Bite]) -> list[str]:
    """What there is to say of an issue, a line each: cases that are known alike are told together, and mended alike."""
    mended: dict[str, list[str]] = {}
    alike: dict[tuple[str, ...], list[Bite]] = {}
    for each in bites:
        key = (each.why, each.good, each.case.workaround, each.helps, *each.case.conditions)
        alike.setdefault(key, []).append(each)
    for of in alike.values():
        first = of[0]
        names = ", ".join(each.case.id for each in of)
        where = "; ".join(filter(None, [first.why, first.good]))
        only = f", only {' and '.join(first.case.conditions)}" if first.case.conditions else ""
        instead = f"instead: {first.case.workaround} ({first.helps})" if first.case.workaround else ""
        mended.setdefault(instead, []).append(f"{names}{only}: {where}")
    lines = [line for instead, of in mended.items() for line in (*of, instead) if line]
    return [*lines, issue.link]


def say(console: Console, line: str, style: str = "") -> None:
    """A line as long as it is: who reads it may be a program."""
    console.print(Text(line, style=style), soft_wrap=True)
