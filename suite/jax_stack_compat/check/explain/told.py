"""The command `explain`: its answer for people, and as lines to paste into a thread."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from packaging.version import Version

from jax_stack_compat.base import bounded
from jax_stack_compat.base.address import address
from jax_stack_compat.base.console import Terminal
from jax_stack_compat.base.errors import Exit, Misused
from jax_stack_compat.check import knowledge
from jax_stack_compat.check.answer import Effect, answer
from jax_stack_compat.check.explain import missing
from jax_stack_compat.check.explain.matching import Match, matches, versions
from jax_stack_compat.check.explain.raised import raised
from jax_stack_compat.check.good import WELL
from jax_stack_compat.check.inputs import foreign, spoken
from jax_stack_compat.check.inputs.stack import Stack
from jax_stack_compat.check.knowledge import KnownCase, KnownIssue
from jax_stack_compat.check.output.text import say
from jax_stack_compat.judge.rules import first_match, requirements
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
    """Look up a traceback or an error message among missing names and issues. Raises BadFile, Misused, Failed."""
    said = _said(file)
    known = knowledge.load()
    stack = spoken.stack(on, known) if on else Stack(versions(said), "the text")
    found = matches(known, said)
    names = list(missing.told(said))
    effects = answer(known, stack).effects if found and stack.versions else ()
    for line, style in lines(said, found, names, effects, stack, format):
        say(console, line, style)
    return Exit.AS_EXPECTED if names or found else Exit.UNEXPECTED


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


def lines(
    said: str, found: Sequence[Match], names: Sequence[str], effects: Sequence[Effect], stack: Stack, format: str
) -> Iterator[tuple[str, str]]:
    """Return the lines of an answer, each with its style."""
    for sentence in names[:_MAX_NAMES]:
        yield (f"- {sentence}", "") if format == "markdown" else (sentence, "bold")
    if not found:
        if not names:
            yield (_NONE if raised(said) else _NO_CLASS), "bold"
        return
    if format == "markdown":
        yield from ((markdown(each), "") for each in found[:_MAX_ISSUES])
        return
    more = f"; the first {_MAX_ISSUES} follow" if len(found) > _MAX_ISSUES else ""
    likeliest = ", best first" if len(found) > 1 else ""
    yield f"{len(found)} known issue{'s match' if len(found) > 1 else ' matches'}{likeliest}{more}.", "bold"
    for match in found[:_MAX_ISSUES]:
        yield f"{match.issue.id}  {match.issue.title}", "bold red"
        most = _MAX_CASES if len(found) == 1 else 1
        yield from ((f"    {line}", "") for line in _told(match, effects, stack, most))


def markdown(found: Match) -> str:
    """Return an issue as a line to paste into a thread."""
    where = since(found)
    told = [f"{where[:1].upper()}{where[1:]}."] if where else []
    told += [f"Workaround: {' Or: '.join(instead)}" for instead in [_workarounds(found)] if instead]
    return f"- [{found.issue.title}]({link(found.issue)}). {' '.join(told)}".rstrip()


def link(issue: KnownIssue) -> str:
    """Return the address of an issue's page if the pages have one, else of upstream's thread."""
    homepage = address("Homepage")
    return f"{homepage.rstrip('/')}/issues/{issue.id}.html" if homepage else issue.link


def since(found: Match) -> str:
    """Return the releases on which a match's cases showed its behaviour; empty without runs and rules."""
    return next(filter(None, (_where(case, found.behaviour) for case in found.cases)), "")


def _where(case: KnownCase, behaviour: str) -> str:
    own = [rule for rule in case.rules if rule.behaviour == behaviour]
    well = [rule for rule in case.rules if case.behaviours.get(rule.behaviour) in WELL]
    named = [
        {each.name for rule in rules for each in requirements(rule.on)} - {"jaxlib"} - BESIDE for rules in (own, well)
    ]
    packages = next(filter(None, named), {"jax"} if {*case.needs} <= {"jax"} else set())
    if len(packages) == 1:
        return _along(packages.pop(), case, behaviour)
    # If several packages decide, show the requirements of the first matching rules, not releases of one package.
    rules = takewhile(lambda rule: rule.behaviour == behaviour, case.rules)
    told = [rule.on.replace(" ", ", ") for rule in rules if rule.on]
    return f"affects {' and '.join(told[:2])}" if told else ""


def _along(package: str, case: KnownCase, behaviour: str) -> str:
    # Only the stacks that an installer gave on the day of a release.
    seen = {
        run.pins[package]: run.behaviour for run in case.runs if run.cell == f"{package}-{run.pins.get(package, '')}"
    }
    releases = sorted(seen, key=Version)
    shown = [number for number, each in enumerate(releases) if seen[each] == behaviour]
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


def _told(found: Match, effects: Sequence[Effect], stack: Stack, most: int) -> Iterator[str]:
    """Yield the lines below an issue: the signature, the releases, the workaround and the link."""
    signature = found.signature
    yield f"{signature.type}{': ' * bool(signature.message)}{signature.message}"
    if where := since(found):
        yield where
    on = ", ".join(f"{name} {version}" for name, version in stack.versions.items())
    here = [each for each in effects if each.issue.id == found.issue.id and each.case in found.cases]
    for effect in here[:most]:
        helps = f" (workaround: {effect.helps})" if effect.helps else ""
        yield f"{effect.case.id}: {'; '.join(filter(None, [effect.why, effect.good]))}{helps}"
    if not here:
        yield from _by_rule(found, stack, on)
    yield from (f"workaround: {each}" for each in _workarounds(found)[:most])
    yield link(found.issue)


def _workarounds(found: Match) -> list[str]:
    return list(dict.fromkeys(case.workaround for case in found.cases if case.workaround))[:_MAX_CASES]


def _by_rule(found: Match, stack: Stack, on: str) -> Iterator[str]:
    """Yield a line on whether the issue affects a stack, by the rules of the cases whose packages the stack names."""
    rules = [first_match(case.rules, stack.versions) for case in found.cases if stack.versions.keys() >= {*case.needs}]
    told = [rule.behaviour for rule in rules if rule is not None]
    if found.behaviour in told:
        yield f"affects {on}, by its rules"
    elif told:
        yield f"not known to affect {on}"
