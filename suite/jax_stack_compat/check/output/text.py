"""Answers for people on a terminal: the verdict first, the worst next, and the data behind it last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from rich.console import Console
from rich.text import Text

from jax_stack_compat.base.printable import printable
from jax_stack_compat.check.answer import Answer, Effect
from jax_stack_compat.check.finding import KINDS, RANKS, Finding
from jax_stack_compat.check.knowledge import KnownIssue
from jax_stack_compat.check.outcome import Outcome
from jax_stack_compat.check.source import numbers
from jax_stack_compat.judge.rules import requirements
from jax_stack_compat.judge.verdict_table import PROPERTIES
from jax_stack_compat.judge.wording import named as some
from jax_stack_compat.packages import BESIDE, STACK

_MAX_USES = 5
_MAX_ROWS = 12
_MAX_IDS = 5
_MAX_POSSIBLE = 3
_MAX_TITLE_CHARS = 72
# The most rows for one level in a short answer.
_MAX_ROWS_OF_LEVEL: Mapping[str, int] = {"certain": 7, "likely": 5, "deprecated": 2}
_SHORT = {"silent-wrong": "wrong", "silent-change": "changed", "import-error": "import", "by-design": "by design"}
_STYLES = {"certain": "red", "likely": "magenta", "deprecated": "yellow"}
_MAX_GONE = 5
_MAX_NUMBERS = 3
_MAX_SLOWER = 4


def show(found: Outcome, console: Console, *, verbose: bool) -> None:
    """Print an answer, in at most 25 lines unless `verbose`."""
    answer, read = found.answer, found.read
    if answer.works.sentence:
        say(console, answer.works.sentence, "bold red" if answer.works.fails else "bold green")
    for sentence in found.unsure:
        say(console, sentence, "yellow")
    # Skip versions that the user named.
    said = all(f"{name}=={of}" in answer.stack.where for name, of in answer.stack.versions.items())
    stack = "" if said and answer.works.sentence else f"{answer.stack.where}: {named(answer)}."
    if head := " ".join(filter(None, [stack, found.assumed])):
        say(console, head, "dim")
    say(
        console,
        " ".join(filter(None, [found.sentence, found.coverage, "" if verbose else _chronic(found)])),
        _style(found),
    )
    if found.baseline:
        say(console, found.baseline.told)
    if read:
        _lines(found, console, verbose=verbose)
    elif not verbose:
        _table(found, console)
    if verbose:
        _whole(found, console)
    for line in _numbers(found, verbose=verbose):
        say(console, line)
    for line in _slower(found, verbose=verbose):
        say(console, line)
    for line in _rest(found, verbose=verbose):
        say(console, line, "dim")
    if found.lowest:
        say(console, lowest(found.lowest), _style(found.lowest))
    for entry in found.stale:
        say(console, f"jax-stack-compat.toml has a stale entry: {entry}.", "yellow")
    say(console, answer.last_line, "dim")


def lowest(found: Outcome) -> str:
    """Return the answer for the lowest releases that bounds admit, in a line."""
    return f"The lowest releases in this data that the bounds admit, {named(found.answer)}: {found.verdict}"


def _style(found: Outcome) -> str:
    if not found.answer.is_known or found.unsure:
        return "bold yellow"
    bad = found.answer.works.fails or (found.to_do if found.read else found.answer.issues)
    return "bold red" if bad else "bold green"


def _lines(found: Outcome, console: Console, *, verbose: bool) -> None:
    """Print the source lines that fail or cause a warning on the stack, or that an issue likely concerns."""
    rows: list[tuple[str, str, str, str]] = []
    hidden = 0
    for level in _MAX_ROWS_OF_LEVEL:
        alike: dict[tuple[bool, str, str, str, str], list[Finding]] = {}
        for finding in sorted(found.of(level, guarded=verbose), key=lambda each: each.guarded):
            what = finding.what if finding.of_name else _clipped(finding.what)
            good = "; or: ".join(map(_clipped, finding.instead))
            key = finding.guarded, finding.id, finding.name * finding.of_name, what, good
            alike.setdefault(key, []).append(finding)
        shown = len(alike) if verbose else _MAX_ROWS_OF_LEVEL[level]
        hidden += len(list(alike)[shown:])
        for (guarded, _, _, what, good), of in list(alike.items())[:shown]:
            places = _places(of, len(of) if verbose else 2)
            rows.append((f"{level}, guarded" if guarded else level, places, what, good))
    widths = [min(max((len(row[at]) for row in rows), default=0), most) for at, most in ((0, 20), (1, 48), (2, 76))]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        say(console, "  ".join([*cells, row[3]]).rstrip(), _STYLES[row[0].partition(",")[0]])
    if not verbose:
        _possible(found.possible, console)
        _hidden(found, hidden, console)


def _possible(found: Mapping[str, Sequence[Finding]], console: Console) -> None:
    """Print the possible issues in a line, with their places if these are few."""
    if not found:
        return
    few = sum(map(len, found.values())) <= _MAX_POSSIBLE
    told = [f"{id} ({_places(of, len(of))})" if few else id for id, of in found.items()]
    more = ", …" * (len(told) > _MAX_IDS)
    say(console, f"possible  {len(told)}: {', '.join(told[:_MAX_IDS])}{more}")


def _places(findings: Sequence[Finding], most: int) -> str:
    return some([f"{each.place.path}:{each.place.line}" for each in findings], most)


def _hidden(found: Outcome, names: int, console: Console) -> None:
    guarded = [each for each in found.of(*_MAX_ROWS_OF_LEVEL, guarded=True) if each.guarded]
    chronic = {each.id for each in found.of("chronic")}
    unshown = len(found.unshown)
    told = [
        f"{names} more name{'s' * (names != 1)} to change or deprecated" * bool(names),
        f"{len(guarded)} line{'s' * (len(guarded) != 1)} in code that checks the release" * bool(guarded),
        f"{unshown} issue{'s' * (unshown != 1)} whose conditions the code does not show" * bool(unshown),
        f"{len(chronic)} issue{'s' * (len(chronic) != 1)} without a good release for any case" * bool(chronic),
    ]
    if any(told) or found.of("possible"):
        say(console, f"… {', '.join([*filter(None, told), 'all places, and what to do'])}: --verbose", "dim")


def _rest(found: Outcome, *, verbose: bool) -> Iterator[str]:
    """Yield lines on the issues that an upgrade removes, and on issues that source code cannot show."""
    read = found.read
    if found.gone:
        yield f"No longer affected: {some(found.gone, len(found.gone) if verbose else _MAX_GONE)}."
    if read:
        if read.untold:
            count = len(read.untold)
            listed = f": {', '.join(read.untold)}" if verbose else ""
            more = f"{count} more issue{'s affect' if count > 1 else ' affects'} this stack"
            yield f"{more}, but source code cannot show whether your code is concerned{listed}."
        notes = [each for each in read.unread if not each.mentions]
        told = [f"{each.path}: {each.why}" for each in (read.unread if verbose else notes)]
        if told:
            yield f"Not read: {some(told)}."
        if read.skipped:
            yield f"Skipped: {some(read.skipped)}."


def _numbers(found: Outcome, *, verbose: bool) -> Iterator[str]:
    """Yield lines on the called functions whose results change with an upgrade, or differ from NumPy's."""
    of = found.read.numbers if found.read else None
    if of is None:
        return
    yield from of.on_devices
    if not of.sentence:
        return
    yield of.sentence
    rows = [*of.changed, *(of.unlike if verbose else ())]
    kept = rows if verbose else rows[:_MAX_NUMBERS]
    yield from (f"  {numbers.told(row)}" for row in kept)
    if len(kept) < len(rows):
        yield f"  … {len(rows) - len(kept)} more: --verbose"


def _slower(found: Outcome, *, verbose: bool) -> Iterator[str]:
    """Yield the confirmed slow-downs of an upgrade, the largest first."""
    shown = found.slower if verbose else found.slower[:_MAX_SLOWER]
    yield from shown
    if len(shown) < len(found.slower):
        yield f"… {len(found.slower) - len(shown)} more measured: --verbose"


def _chronic(found: Outcome) -> str:
    """Return a sentence with the number of issues without a good release, and a hint at `--source`."""
    count = len(found.of("chronic"))
    if found.read or not found.findings:
        return ""
    has = f"{count} ha{'s' if count == 1 else 've'} no good release for any case. " if count else ""
    return f"{has}To see which concern your code: --source ."


def _table(found: Outcome, console: Console) -> None:
    """Print the issues that have a good release, worst first, one line each."""
    chronic = {each.id for each in found.of("chronic")}
    rows = found.of("possible")
    for row in rows[:_MAX_ROWS]:
        say(console, f"{_SHORT.get(row.kind, row.kind):<9} {_clipped(row.says):<{_MAX_TITLE_CHARS}}  {row.good_from}")
    if found.findings:
        say(console, f"… {max(len(rows) - _MAX_ROWS, 0) + len(chronic)} more, and what to do: --verbose", "dim")


def _clipped(text: str) -> str:
    return text if len(text) <= _MAX_TITLE_CHARS else f"{text[: _MAX_TITLE_CHARS - 1].rstrip()}…"


def _whole(found: Outcome, console: Console) -> None:
    answer, issues = found.answer, found.issues
    effects = {issue.id: (issue, of) for issue, of in answer.issues}
    told = [(effects[id], of) for id, of in issues.items() if id in effects]
    told.sort(key=lambda each: RANKS[each[0][0].kind])
    for kind, group in groupby(told, lambda each: each[0][0].kind):
        console.print()
        say(console, KINDS[kind], "bold")
        for (issue, of), findings in group:
            cases = {case for finding in findings for case in finding.cases}
            _issue(issue, [each for each in of if each.case.id in cases], console, findings if found.read else ())
    if answer.unknown:
        console.print()
        say(console, f"Not known: {some(answer.unknown)}", "dim")


def named(answer: Answer) -> str:
    """Return the stack in a line, with other packages, such as NumPy, that the rules of its cases name."""
    rules = [rule for effect in answer.effects for rule in effect.known.rules]
    decides = dict.fromkeys([*STACK, *(requirement.name for rule in rules for requirement in requirements(rule.on))])
    versions = {**answer.stack.versions, **answer.versions}
    told = [
        f"{name} {versions[name]}" for name in decides if name in versions and name not in {*answer.assumed, *BESIDE}
    ]
    unsaid = {name: why for name, why in answer.stack.unsaid.items() if name in STACK}
    return ", ".join([*told, *(f"{name} without an exact version ({why})" for name, why in unsaid.items())])


def _issue(issue: KnownIssue, effects: Sequence[Effect], console: Console, uses: Sequence[Finding]) -> None:
    head = Text("  ")
    worst = PROPERTIES[effects[0].verdict]
    head.append(f"{worst.glyph} {issue.id}", style=worst.colour)
    head.append(f"  {issue.title}")
    console.print(head, soft_wrap=True)
    for line in told(issue, effects):
        say(console, f"      {line}")
    for use in uses[:_MAX_USES]:
        say(console, f"      {use.level}: {use.place.path}:{use.place.line}:{use.place.column} {use.name}", "cyan")
    if len(uses) > _MAX_USES:
        say(console, f"      and {len(uses) - _MAX_USES} more places", "cyan")


def told(issue: KnownIssue, effects: Iterable[Effect]) -> list[str]:
    """Return the lines about an issue; cases with the same facts share a line."""
    by_workaround: dict[str, list[str]] = {}
    alike: dict[tuple[str, ...], list[Effect]] = {}
    for effect in effects:
        key = (effect.why, effect.good, effect.device, effect.case.workaround, effect.helps, *effect.case.conditions)
        alike.setdefault(key, []).append(effect)
    for of in alike.values():
        first = of[0]
        names = ", ".join(each.case.id for each in of)
        where = "; ".join(filter(None, [first.why, first.good, first.device]))
        only = f", only {' and '.join(first.case.conditions)}" if first.case.conditions else ""
        instead = f"instead: {first.case.workaround} ({first.helps})" if first.case.workaround else ""
        by_workaround.setdefault(instead, []).append(f"{names}{only}: {where}")
    lines = [line for instead, of in by_workaround.items() for line in (*of, instead) if line]
    return [*lines, issue.link]


def say(console: Console, line: str, style: str = "") -> None:
    """Print one line, whatever is in it; it is not wrapped, because a program may read it."""
    console.print(Text(printable(line), style=style), soft_wrap=True)
