"""The command `explain`: its answer for people, and as lines to paste into a thread."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from jax_stack_compat.base import bounded
from jax_stack_compat.base.address import address
from jax_stack_compat.base.console import Terminal
from jax_stack_compat.base.errors import Exit, Misused
from jax_stack_compat.base.markdown import sentence
from jax_stack_compat.cell.issue import Rule
from jax_stack_compat.check import knowledge
from jax_stack_compat.check.answer import Answer, Effect, answer
from jax_stack_compat.check.explain import arguments, missing, ordinary
from jax_stack_compat.check.explain.matching import Match, matches, versions
from jax_stack_compat.check.explain.raised import raised
from jax_stack_compat.check.find import index as indexed
from jax_stack_compat.check.find.index import Index
from jax_stack_compat.check.good import WELL, good_for
from jax_stack_compat.check.inputs import foreign, spoken
from jax_stack_compat.check.inputs.stack import Stack
from jax_stack_compat.check.knowledge import Knowledge, KnownCase, KnownIssue
from jax_stack_compat.check.output.text import say
from jax_stack_compat.judge.rules import Pins, first_match, met, requirements
from jax_stack_compat.packages import BESIDE

# Enough for the log of a whole run.
_MAX_TEXT_BYTES = 256 * 2**20
# 25 lines fit three names, a count, and six lines for each of three issues, or more cases of a single issue.
_MAX_ISSUES = 3
_MAX_NAMES = 3
_MAX_CASES = 3
_NONE = "No documented issue matches. It may still be known upstream: search there."
_NO_CLASS = "The text names no exception class, which the search needs: give the whole line, as in `TypeError: …`."


def explain(file: Path | None, on: str | None, format: str, *, console: Terminal) -> Exit:
    """Look up an error among missing names and arguments, and issues. Raises BadFile, Misused, Failed."""
    said = _said(file)
    known = knowledge.load()
    stack = spoken.stack(on, known) if on else Stack(versions(said), "the text")
    shown = lookup(known, indexed.load(), said, stack)
    for line, style in lines(said, shown, stack, format):
        say(console, line, style)
    return Exit.AS_EXPECTED if shown.sentences or shown.found else Exit.UNEXPECTED


@dataclass(frozen=True)
class Explained:
    """What is known about a text: sentences on names, arguments and ordinary mistakes, and issues."""

    sentences: tuple[str, ...]
    found: tuple[Found, ...]


@dataclass(frozen=True)
class Found:
    """A match, with its published cases, their effects on a stack, and the issue's good releases in words."""

    match: Match
    link: str
    cases: tuple[KnownCase, ...]
    effects: tuple[Effect, ...] = ()
    good: str = ""


def lookup(known: Knowledge, index: Index, said: str, stack: Stack) -> Explained:
    """Return what is known about a text. Raises BadFile."""
    shown = matches(index.issues, said)
    sentences = [*missing.told(said, index.guests), *arguments.told(said)]
    if not shown:
        sentences += [line for _, line in ordinary.told(raised(said))]
    told = answer(known, stack) if shown and stack.versions else None
    return Explained(tuple(sentences), tuple(found_of(known, match, told) for match in shown))


def found_of(known: Knowledge, match: Match, told: Answer | None) -> Found:
    """Return what is known of a match, on a stack if there is an answer about one."""
    cases = tuple(known.cases[match.issue.id, case] for case in match.cases if (match.issue.id, case) in known.cases)
    effects = told.effects if told else ()
    here = tuple(each for each in effects if each.name[0] == match.issue.id and each.case in cases)
    own = next(issue for issue in known.issues if issue.id == match.issue.id)
    if told and here:
        good = good_for(own, [each.case for each in here], told.versions, known).told
    else:
        good = _seen(known, match, own, cases)
    return Found(match, own.link, cases, here, good)


def _seen(known: Knowledge, match: Match, issue: KnownIssue, cases: Sequence[KnownCase]) -> str:
    """Return the releases on which a match's issue is good, on the first stack that showed it; or ""."""
    if match.cell not in known.cells or not cases:
        return ""
    pins = known.cells[match.cell]
    case = next((case for case in cases if any(run.cell == match.cell for run in case.runs)), cases[0])
    told = good_for(issue, [case], pins, known).told
    named = dict.fromkeys(each.name for on in match.rules for each in requirements(on) if met(on, pins))
    packages = [name for name in named if name in pins and name != "jaxlib"]
    on = ", ".join(f"{name} {pins[name]}" for name in packages)
    return f"seen on {on}: {told}" if told and len(packages) > 1 else ""


def _said(file: Path | None) -> str:
    how = "give the traceback as a file or on standard input: jax-stack-compat explain < traceback.txt"
    if file is None and os.isatty(0):
        raise Misused(how)
    try:
        # No time limit: the program at the other end of a pipe may take hours.
        said = bounded.given(file or bounded.STDIN, _MAX_TEXT_BYTES, None)
    except (OSError, ValueError) as error:  # a NUL in its name
        told = getattr(error, "strerror", None) or error
        raise Misused(f"{file or 'standard input'}: {told}; {how}") from error
    return said.decode(foreign.encoding(said), errors="replace")


def lines(said: str, shown: Explained, stack: Stack, format: str) -> Iterator[tuple[str, str]]:
    """Return the lines of an answer, each with its style."""
    found = shown.found
    for told in shown.sentences[:_MAX_NAMES]:
        yield (f"- {sentence(told)}", "") if format == "markdown" else (told, "bold")
    if not found:
        if not shown.sentences:
            yield (_NONE if raised(said) else _NO_CLASS), "bold"
        return
    if format == "markdown":
        yield from ((markdown(each, stack), "") for each in found[:_MAX_ISSUES])
        return
    more = f"; the first {_MAX_ISSUES} follow" if len(found) > _MAX_ISSUES else ""
    likeliest = ", best first" if len(found) > 1 else ""
    yield f"{len(found)} known issue{'s match' if len(found) > 1 else ' matches'}{likeliest}{more}.", "bold"
    for each in found[:_MAX_ISSUES]:
        yield f"{each.match.issue.id}  {each.match.issue.title}", "bold red"
        most = _MAX_CASES if len(found) == 1 else 1
        yield from ((f"    {line}", "") for line in _told(each, stack, most))


def markdown(found: Found, stack: Stack) -> str:
    """Return an issue as a line to paste into a thread."""
    where = since(found, stack.versions)
    told = [f"{where[:1].upper()}{where[1:]}."] if where else []
    told += [f"Workaround: {' Or: '.join(instead)}" for instead in [_workarounds(found)] if instead]
    return f"- [{sentence(found.match.issue.title)}]({link(found)}). {sentence(' '.join(told))}".rstrip()


def link(found: Found) -> str:
    """Return the address of an issue's page if the pages have one, else of upstream's thread."""
    homepage = address("Homepage")
    return f"{homepage.rstrip('/')}/issues/{found.match.issue.id}.html" if homepage else found.link


def since(found: Found, versions: Pins) -> str:
    """Return the releases on which a match's cases showed its signature; empty without runs and rules.

    With versions that one of the rules admits, only that rule counts.
    """
    own = found.match.rules
    here = tuple(on for on in own if met(on, versions))
    return next(filter(None, (_where(case, found.match.behaviour, here or own) for case in found.cases)), "")


def _where(case: KnownCase, behaviour: str, seen: Sequence[str]) -> str:
    """Return the releases on which a case shows a behaviour, by those of its rules that were `seen`, else by all."""
    every = [rule for rule in case.rules if rule.behaviour == behaviour]
    own = [rule for rule in every if rule.on in seen] or every
    well = [rule for rule in case.rules if case.behaviours.get(rule.behaviour) in WELL]
    named = [
        {each.name for rule in rules for each in requirements(rule.on)} - {"jaxlib"} - BESIDE for rules in (own, well)
    ]
    packages = next(filter(None, named), {"jax"} if {*case.needs} <= {"jax"} else set())
    if len(packages) == 1:
        return _along(packages.pop(), case, behaviour, own)
    # If several packages decide, show the requirements of the rules, not releases of one package.
    told = [rule.on.replace(" ", ", ") for rule in own if rule.on]
    return f"affects {' and '.join(told[:2])}" if told else ""


def _along(package: str, case: KnownCase, behaviour: str, own: Sequence[Rule]) -> str:
    # Only the stacks that an installer gave on the day of a release.
    runs = {run.pins[package]: run for run in case.runs if run.cell == f"{package}-{run.pins.get(package, '')}"}
    seen = {release: run.behaviour for release, run in runs.items()}
    releases = sorted(seen, key=Version)
    shown = [
        number
        for number, each in enumerate(releases)
        if seen[each] == behaviour and (not own or first_match(case.rules, runs[each].pins) in own)
    ]
    if not shown:
        return ""
    first, last = releases[shown[0]], releases[shown[-1]]
    if len(shown) == len(releases):
        return f"affects every release of {package} that was run, {first} to {last}"
    before, after = releases[: shown[0]], releases[shown[-1] + 1 :]
    told = f"affects {package} since {first}" if before else f"affects {package} {first} (or older)"
    if after and first == last:
        told = f"affects {package} {first}"
    if after:
        # "Fixed" needs a change from affected to clear; other changes are "changed".
        means, now = case.behaviours.get(behaviour), case.behaviours.get(seen[after[0]])
        until = f" until {last}" * (first != last)
        told += f"{until}, {'fixed' if means == 'affected' and now == 'clear' else 'changed'} in {after[0]}"
    return told + " (not on every release between)" * (shown[-1] - shown[0] + 1 > len(shown))


def _told(found: Found, stack: Stack, most: int) -> Iterator[str]:
    """Yield the lines below an issue: the signature, the releases, the workaround and the link."""
    signature = found.match.signature
    yield f"{signature.type}{': ' * bool(signature.message)}{signature.message}"
    where = since(found, stack.versions)
    if where or found.good:
        yield "; ".join(filter(None, [where, found.good]))
    on = ", ".join(f"{name} {version}" for name, version in stack.versions.items())
    for effect in found.effects[:most]:
        helps = f" (workaround: {effect.helps})" if effect.helps else ""
        yield f"{effect.case.id}: {effect.why}{helps}"
    if not found.effects:
        yield from _by_rule(found, stack, on)
    yield from (f"workaround: {each}" for each in _workarounds(found)[:most])
    yield link(found)


def _workarounds(found: Found) -> list[str]:
    return list(dict.fromkeys(case.workaround for case in found.cases if case.workaround))[:_MAX_CASES]


def _by_rule(found: Found, stack: Stack, on: str) -> Iterator[str]:
    """Yield a line on whether the issue affects a stack, by the rules of the cases whose packages the stack names."""
    rules = [first_match(case.rules, stack.versions) for case in found.cases if stack.versions.keys() >= {*case.needs}]
    told = [rule.behaviour for rule in rules if rule is not None]
    if found.match.behaviour in told:
        yield f"affects {on}, by its rules"
    elif told:
        yield f"not known to affect {on}"
