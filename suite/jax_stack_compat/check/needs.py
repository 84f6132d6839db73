"""The command `needs`: the releases of each package that a source tree works with, by its names and arguments.

Only absent names and refused arguments count. Code that needs a later release because a function's result changed is
not found.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path

from packaging.specifiers import SpecifierSet

from jax_stack_compat.base.console import Terminal
from jax_stack_compat.base.errors import Exit
from jax_stack_compat.base.files import dump_ascii
from jax_stack_compat.base.markdown import in_code, sentence
from jax_stack_compat.check.inputs import discovery
from jax_stack_compat.check.inputs.bounds import declared
from jax_stack_compat.check.inputs.stack import Stack
from jax_stack_compat.check.outcome import NO_PYTHON
from jax_stack_compat.check.output.limits import project_file
from jax_stack_compat.check.output.machine import annotation, message
from jax_stack_compat.check.output.text import say
from jax_stack_compat.check.source.conditions import excludes
from jax_stack_compat.check.source.lacks import Lack, kind, lack, lacks, takes
from jax_stack_compat.check.source.tree import usage
from jax_stack_compat.check.source.uses import Usage, Use, not_read
from jax_stack_compat.judge.rules import Pins
from jax_stack_compat.judge.wording import named
from jax_stack_compat.libraries.told import AtMost, at_most
from jax_stack_compat.names import presence, query
from jax_stack_compat.names.query import Life
from jax_stack_compat.names.spans import within
from jax_stack_compat.packages import WALKED

_ANY = "any"
_MAX_LINES = 12
_OR = " or "
Declared = Mapping[str, Sequence[tuple[str, SpecifierSet]]]
# Spans of places among a package's releases: the first and the last of each.
Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Reason:
    """A line that works since release `since`, and on the earlier spans `before`; between them it fails."""

    name: str
    path: str
    line: int
    since: str
    before: Life = ()


@dataclass(frozen=True)
class ToFix:
    """A line that is not known to work on the newest release; `until` is the last release on which it works, if any."""

    name: str
    path: str
    line: int
    until: str
    replacement: str


@dataclass(frozen=True)
class Need:
    """The releases of a package that a source tree works with, the reasons, and the project's declaration.

    `to_fix` are lines that fail on the newest release. `lowest` is the oldest release that is declared and known.
    `failing` are the declared releases on which a line fails; on the last of them, `failing_lines` lines fail.
    """

    package: str
    needs: str
    declared: str | None
    reasons: tuple[Reason, ...]
    to_fix: tuple[ToFix, ...]
    lowest: str
    failing: tuple[str, ...]
    failing_lines: int


def needs(uses: Iterable[Use], told: Declared | None) -> tuple[Need, ...]:
    """Return the releases of each package that these uses need. Raises BadFile."""
    by_package = defaultdict(list)
    for use in uses:
        if use.package:
            by_package[use.package].append(use)
    order = sorted(by_package, key=lambda package: (package != "jax", package))
    return tuple(_need(package, by_package[package], (told or {}).get(package, ())) for package in order)


def _need(package: str, uses: Sequence[Use], told: Sequence[tuple[str, SpecifierSet]]) -> Need:
    releases = query.names(package).releases
    admitted = [release for release in releases if any(of.contains(release, prereleases=True) for _, of in told)]
    reasons, fixes = dict[Reason, Spans](), dict[ToFix, None]()
    failing = defaultdict[str, set[tuple[str, int]]](set)
    known: dict[Use, _Judged] = {}
    for use in uses:
        if (of := kind(use)) not in known:
            known[of] = _judged(of, releases, (admitted or releases)[0])
        judged, (path, line, _) = known[of], use.place.at
        for release in judged.failing:
            failing[release].add((path, line))
        fixes |= {replace(fix, path=path, line=line): None for fix in judged.fixes}
        if judged.reason:
            reasons[replace(judged.reason, path=path, line=line)] = judged.spans
    every = {*reasons.values()}
    together = _spans([all(within(spans, at) for spans in every) for at in range(len(releases))])
    edges = _edges(together, releases)
    telling = {spans for spans in every if edges & _edges(spans, releases)}
    failing_here = tuple(release for release in admitted if release in failing)
    return Need(
        package,
        _specifiers(_lives(together, releases), releases),
        _OR.join(dict.fromkeys(str(of) or _ANY for _, of in told)) if told else None,
        tuple(reason for reason, spans in reasons.items() if spans in telling),
        tuple(fixes),
        admitted[0] if admitted else "",
        failing_here,
        len(failing[failing_here[-1]]) if failing_here else 0,
    )


@dataclass(frozen=True)
class _Judged:
    """The answer for all uses of a kind: the releases on which they fail, and fixes and a reason without a place."""

    failing: tuple[str, ...]
    fixes: tuple[ToFix, ...]
    reason: Reason | None
    spans: Spans


def _judged(use: Use, releases: Sequence[str], oldest: str) -> _Judged:
    states = _states(use, releases)
    failing = tuple(release for release, works in zip(releases, states, strict=True) if works is False)
    if fixes := tuple(_fixes_of(use, states, releases, oldest)):
        # A fix of the arguments keeps the name.
        use = replace(use, call=None)
        states = _states(use, releases)
    return _Judged(failing, fixes, _reason(use, states, releases), _spans(states))


def _fixes_of(use: Use, states: Sequence[bool | None], releases: Sequence[str], oldest: str) -> Iterator[ToFix]:
    """Yield what to fix in a line: its arguments, and then its name, which can be gone, too."""
    spans, found = _spans(states), lacks(use, releases)
    if not any(found) or _reach_newest(spans, releases):
        return
    last = spans[-1][1] if spans else -1
    lacking = _first_lack(found, last + 1)
    until = releases[last] if spans else ""
    yield ToFix(lacking.shown, use.place.path, use.place.line, until, _instead(lacking, oldest))
    if lacking.argument:
        name = replace(use, call=None)
        yield from _fixes_of(name, _states(name, releases), releases, oldest)


def _first_lack(found: Sequence[Lack | None], start: int) -> Lack:
    """Return the first lack from a place on; if no release works, the first that is not for want of the name."""
    later = [lack for lack in found[start:] if lack]
    refused = [lack for lack in later if lack.argument]
    return refused[0] if refused and not start else later[0]


def _reason(use: Use, states: Sequence[bool | None], releases: Sequence[str]) -> Reason | None:
    spans = _spans(states)
    lacking = _last_lack(use, releases)
    if lacking is None or not _reach_newest(spans, releases):
        return None
    since = releases[spans[-1][0]]
    return Reason(lacking.shown, use.place.path, use.place.line, since, _lives(spans[:-1], releases))


def _last_lack(use: Use, releases: Sequence[str]) -> Lack | None:
    return next((lack for lack in reversed(lacks(use, releases)) if lack), None)


def _states(use: Use, releases: Sequence[str]) -> Sequence[bool | None]:
    """Return True for each release on which a use works, False if it fails, and None if that is unknown.

    If all releases have what it uses, all are True.
    """
    found = lacks(use, releases)
    if (lacking := _last_lack(use, releases)) is None:
        return [True] * len(releases)
    is_refused = any(lack and lack.argument for lack in found)
    return [
        not lack and _works(use, lacking, {use.package: release}, is_refused=is_refused)
        for lack, release in zip(found, releases, strict=True)
    ]


def _works(use: Use, lacking: Lack, stack: Pins, *, is_refused: bool) -> bool | None:
    """Return True if a release has what another one lacks, or if the code checks for the release; None if unknown.

    If a release refuses the call, `is_refused`, others must be known to take it.
    """
    if excludes(use.guards, stack):
        return True
    if not presence.is_there(lacking.name, *stack.values()) or (use.how == "name" and lack(use.whole, stack)):
        return None
    return takes(use, stack) if is_refused else True


def _spans(states: Iterable[bool | None]) -> Spans:
    """Return the spans without a failure that have a release on which the code works.

    Between such a release and a failure, unknown releases do not count.
    """
    places = list(enumerate(states))
    spans = []
    for fails, run in groupby(places, lambda place: place[1] is False):
        span = list(run)
        known = [at for at, works in span if works]
        if known and not fails:
            first = 0 if span[0] == places[0] else known[0]
            last = places[-1][0] if span[-1] == places[-1] else known[-1]
            spans.append((first, last))
    return tuple(spans)


def _reach_newest(spans: Spans, releases: Sequence[str]) -> bool:
    return bool(spans) and spans[-1][1] == len(releases) - 1


def _edges(spans: Spans, releases: Sequence[str]) -> set[int]:
    """Return the places of the releases that begin a span, or follow one."""
    starts = {first for first, _ in spans}
    ends = {last + 1 for _, last in spans}
    return (starts | ends) - {0, len(releases)}


def _lives(spans: Spans, releases: Sequence[str]) -> Life:
    return tuple((releases[first], releases[last]) for first, last in spans)


def _specifiers(life: Life, releases: Sequence[str]) -> str:
    """Return spans as version specifiers: `<0.9.0 or >=0.11.1`; empty for all releases."""
    told = []
    for first, last in life:
        lower = [f">={first}"] if first != releases[0] else []
        upper = [f"<{_after(last, releases)}"] if last != releases[-1] else []
        told.append(",".join(lower + upper))
    return _OR.join(told)


def _after(release: str, releases: Sequence[str], count: int = 1) -> str:
    return releases[releases.index(release) + count]


def _instead(lacking: Lack, floor: str) -> str:
    """Return a replacement that the oldest declared release and the newest have, if any."""
    if lacking.argument:
        return ""
    there = query.replacements(lacking.name, floor)
    newest = query.replacements(lacking.name, query.names(lacking.package).releases[-1])
    return next((name for name in newest if name in there), "")


@dataclass(frozen=True)
class Answer:
    """The needs of a source tree, what was read of it, and the name of the project's file in which it declares them.

    The project is `silent` if its build computes the dependencies. `limits` are set by the libraries in its `lock`.
    """

    needs: tuple[Need, ...]
    usage: Usage
    project: str = ""
    silent: bool = False
    lock: str = ""
    limits: tuple[AtMost, ...] = ()

    @property
    def unsure(self) -> list[str]:
        """Sentences on what was not read."""
        return [*([] if self.usage.files else [NO_PYTHON]), *not_read(self.usage.unread, _MAX_LINES)]

    @property
    def exit(self) -> Exit:
        """The exit code: what was not read is never clean."""
        if any(need.failing for need in self.needs):
            return Exit.UNEXPECTED
        return Exit.UNDECIDED if self.unsure else Exit.AS_EXPECTED


def tell(source: Path, format: str, *, console: Terminal) -> Exit:
    """Run `needs`. Raises BadFile, Misused, Failed."""
    read = usage(source)
    project = project_file(source)
    told = declared(project) if project else None
    locked = _locked(project)
    found = Answer(
        needs(read.uses, told),
        read,
        project.name if project else "",
        silent=bool(project) and told is None,
        lock=locked.where if locked else "",
        limits=tuple(at_most(locked.versions)) if locked else (),
    )
    if format == "text":
        _text(found, console)
    else:
        sys.stdout.write(FORMATS[format](found))
    return found.exit


def _locked(project: Path | None) -> Stack | None:
    """Return the versions in the lock beside a project's file; None without a lock."""
    found = discovery.find(project.parent, {}) if project else None
    return found if isinstance(found, Stack) and found.pins_stack else None


def _text(found: Answer, console: Terminal) -> None:
    for told in found.unsure:
        say(console, told, "bold yellow")
    if found.needs:
        _needs(found, console)
    elif found.usage.files:
        say(console, _nothing(found.usage.files), "bold")
    for file in [file for file in found.usage.unread if not file.mentions][:_MAX_LINES]:
        say(console, f"not read: {file.path}: {file.why}", "yellow")


def _nothing(files: int) -> str:
    return f"No name of {', '.join(sorted(WALKED))} is used in {files} file{'s' * (files != 1)}."


def _needs(found: Answer, console: Terminal) -> None:
    of, where = found.needs, f"{found.project} " * bool(found.project)
    width = max(len(each.package) + len(each.needs) + 1 for each in of)
    for need in of:
        releases = query.names(need.package).releases
        head = f"{need.package} {need.needs}".strip().ljust(width)
        if not need.reasons:
            fixed = " once these are fixed" if need.to_fix else ""
            say(console, f"{head}  any from {releases[0]} on{fixed}", "bold")
        together = defaultdict[str, list[Reason]](list)
        for reason in need.reasons:
            together[_why(reason, releases)].append(reason)
        for why, (first, *others) in together.items():
            more = f" and {len(others)} more lines" if others else ""
            say(console, f"{head}  {first.name}, {why}: {first.path}:{first.line}{more}", "bold")
            head = " " * width
        alike: dict[str, list[ToFix]] = {}
        for fix in need.to_fix:
            alike.setdefault(_fix(need, fix), []).append(fix)
        for number, (what, fixes) in enumerate(list(alike.items())[:_MAX_LINES]):
            place = named([f"{fix.path}:{fix.line}" for fix in fixes], 1)
            say(console, f"  {'to fix' if not number else '':<8}{place}  {what}", "red")
        if len(alike) > _MAX_LINES:
            say(console, f"  {'':<8}and {len(alike) - _MAX_LINES} more names: --format json has them", "red")
    for limit in found.limits:
        say(console, f"{limit.words} ({found.lock})", "bold")
    for need in of:
        if need.failing:
            declared = need.declared if need.declared != _ANY else ""
            say(console, f"{where}declares {need.package}{declared}: {_verdict(need)}", "bold red")
    undeclared = [each.package for each in of if each.declared is None]
    if found.silent:
        say(
            console,
            f"{where}computes its dependencies in the build, so the needs were not compared with them.",
            "yellow",
        )
    elif not where:
        say(console, "No pyproject.toml, so nothing was compared.", "yellow")
    elif undeclared:
        say(console, f"{where}does not declare {', '.join(undeclared)}: not compared.", "dim")
    if len(undeclared) < len(of) and found.exit is Exit.AS_EXPECTED:
        say(console, "All declared releases in the data have the names that this code uses.", "green")


def _verdict(need: Need) -> str:
    """Describe what is wrong with a declared requirement."""
    fixes = len(need.to_fix)
    if need.lowest and not _admits(need.needs, need.lowest):
        needed = need.needs if _OR in need.needs else need.needs.removeprefix(">=")
        return f"too low (needs {needed})" + (f"; {fixes} to fix" if fixes else "")
    lines = need.failing_lines
    return f"it admits {need.failing[-1]}, on which {lines} {'line fails' if lines == 1 else 'lines fail'}"


def _admits(needs: str, release: str) -> bool:
    return any(SpecifierSet(span).contains(release, prereleases=True) for span in needs.split(_OR))


def _why(reason: Reason, releases: Sequence[str]) -> str:
    """Describe the releases on which a line fails: `not before 0.10.0`, `not from 0.9.0 to 0.11.0`."""
    spans = (*reason.before, (reason.since, releases[-1]))
    start = spans[0][0]
    told = [f"before {start}"] if start != releases[0] else []
    for (_, last), (back, _) in pairwise(spans):
        first_away, last_away = _after(last, releases), _after(back, releases, -1)
        told.append(f"from {first_away} to {last_away}" if first_away != last_away else f"on {first_away}")
    return f"not {', nor '.join(told)}"


def _fix(need: Need, fix: ToFix) -> str:
    releases = query.names(need.package).releases
    if fix.until:
        told = f"{fix.name}, gone since {_after(fix.until, releases)}"
    else:
        verb = "is known to take" if fix.name.endswith(")") else "has"
        told = f"{fix.name}, which no release {verb}, from {releases[0]} to {releases[-1]}"
    if fix.replacement and (life := query.life(fix.replacement) or query.module_life(fix.replacement)):
        return f"{told}; {fix.replacement} exists on {query.told(fix.replacement, life)}"
    return told


def _needed(need: Need, reason: Reason) -> str:
    if not reason.before:
        return f"{reason.since} or later"
    releases = query.names(need.package).releases
    return _specifiers((*reason.before, (reason.since, releases[-1])), releases)


def as_json(found: Answer) -> str:
    """Return the needs as JSON."""
    keys = ("package", "needs", "declared", "reasons", "to_fix")
    data = [{key: asdict(need)[key] for key in keys} for need in found.needs]
    for reason in (reason for need in data for reason in need["reasons"] if not reason["before"]):
        del reason["before"]
    limits = [asdict(limit) for limit in found.limits]
    unread = [{"path": each.path, "why": each.why} for each in found.usage.unread]
    read = {"files": found.usage.files, "unread": unread, "skipped": list(found.usage.skipped)}
    return dump_ascii(
        {"exit": int(found.exit), "unsure": found.unsure, "read": read, "packages": data, "at_most": limits}
    )


def markdown(found: Answer) -> str:
    """Return the needs as a Markdown table."""
    lines = [f"**{sentence(each)}**\n" for each in found.unsure]
    if found.needs:
        lines += ["| package | needs | declared | why, and what to fix |", "|---|---|---|---|"]
    elif found.usage.files:
        lines.append(sentence(_nothing(found.usage.files)))
    for need in found.needs:
        releases = query.names(need.package).releases
        told = [f"{in_code(one.name)}, {_why(one, releases)}: {_place(one)}" for one in need.reasons[:3]]
        told += [f"to fix: {_place(one)} {sentence(_fix(need, one))}" for one in need.to_fix]
        declared = "not declared" if need.declared is None else in_code(need.declared)
        lines.append(
            f"| {need.package} | {in_code(need.needs) if need.needs else _ANY} | {declared} | {'<br>'.join(told)} |"
        )
    lines += ["", *(f"- {sentence(limit.words)}" for limit in found.limits)] if found.limits else []
    return "\n".join(lines) + "\n"


def _place(of: Reason | ToFix) -> str:
    return in_code(f"{of.path}:{of.line}")


def github(found: Answer) -> str:
    """Return GitHub workflow commands: an annotation for each line that a declared release cannot run."""
    told = [message("warning", each) for each in found.unsure]
    for need in found.needs:
        level = "error" if need.failing else "notice"
        told += [annotation(level, one.path, one.line, "needs", _fix(need, one)) for one in need.to_fix]
        for one in need.reasons if need.failing else ():
            text = f"{one.name} needs {need.package} {_needed(need, one)}; declared is {need.declared}"
            told.append(annotation("error", one.path, one.line, "needs", text))
    return "".join(f"{line}\n" for line in told)


FORMATS: Mapping[str, Callable[[Answer], str]] = {"json": as_json, "markdown": markdown, "github": github}
