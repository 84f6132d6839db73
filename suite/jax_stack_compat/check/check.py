"""The command `check`: choose the versions to look up, and print the answer in a format."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from jax_stack_compat.base import errors
from jax_stack_compat.base.console import Terminal
from jax_stack_compat.base.errors import Exit, Misused
from jax_stack_compat.base.places import is_file
from jax_stack_compat.check import answer as answers
from jax_stack_compat.check import baseline as baselines
from jax_stack_compat.check import findings, ignored, knowledge, unpinned
from jax_stack_compat.check.answer import Answer
from jax_stack_compat.check.find import index
from jax_stack_compat.check.holes import told as holes
from jax_stack_compat.check.inputs import discovery, interpreters, locks, spoken
from jax_stack_compat.check.inputs.bounds import bounds as bounds_of
from jax_stack_compat.check.inputs.stack import Stack
from jax_stack_compat.check.knowledge import Knowledge
from jax_stack_compat.check.outcome import Outcome, severities
from jax_stack_compat.check.output import machine, text
from jax_stack_compat.check.output.limits import Limits, limits, project_file, python_of
from jax_stack_compat.check.source.touched import methods
from jax_stack_compat.check.source.tree import usage
from jax_stack_compat.check.source.uses import Usage
from jax_stack_compat.judge.rules import Pins
from jax_stack_compat.judge.wording import named
from jax_stack_compat.libraries import known as libraries
from jax_stack_compat.packages import STACK


def check(
    python: Path | None,
    lock: Path | None,
    bounds: Path | None,
    before: str | None,
    to: str | None,
    source: Path | None,
    baseline: Path | None,
    write_baseline: Path | None,
    format: str,
    fail_on: str | None,
    *,
    strict: bool,
    confirm: bool,
    verbose: bool,
    console: Terminal,
) -> Exit:
    """Print the known issues of a stack, or the issues that an upgrade adds. Raises BadFile, Misused, Failed."""
    known = knowledge.load()
    if confirm and python is None:
        raise Misused("--confirm runs reproducers in your interpreter: name it with --python PATH")
    stack = spoken.stack(before, known) if before else bounds or _found(python, lock)
    if isinstance(stack, Path) and to and bounds is None:
        stack = unpinned.of_bounds(stack)
    project = stack if isinstance(stack, Path) else None
    if project and to:
        raise Misused("--bounds does not combine with --to: leave one side out")
    if project and format != "constraints":
        if baseline or write_baseline:
            raise Misused(f"{project}: for bounds, a baseline needs --format constraints")
        if bounds is None and format == "text":
            text.say(console, f"{project}: no file here pins versions, so its bounds are checked.", "bold")
        severe = severities(fail_on or "slow")
        return holes.tell(known, project, source, format, severe, strict=strict, verbose=verbose, console=console)
    read = usage(source, methods(known)) if source else None
    if isinstance(stack, Path):
        stack = _newest(known, stack, read)
    low: Stack | None = None
    if unpinned.is_unpinned(stack):
        low, stack = unpinned.lowest(stack, known), unpinned.today(stack, known)
    # The stack may lack JAX, and the upgrade may add it.
    asked = spoken.stack(to, known, stack) if to else stack
    if not asked.names_stack:
        text.say(console, _nothing_in(asked), "bold")
        return Exit.UNDECIDED
    answer = old = answers.answer(known, stack)
    gone: tuple[str, ...] | None = None
    slower: tuple[str, ...] = ()
    if to:
        new = answers.answer(known, asked)
        answer, gone = _upgraded(old, new)
        timings = index.load().timings
        slower = tuple(each.told for each in timings if each.is_between(old.versions, new.versions))
    found = _outcome(answer, known, read, old.versions if to else None)
    if low is not None and not to and low.versions != stack.versions:
        found = replace(found, lowest=_outcome(answers.answer(known, low), known, read, None))
    found = replace(found, gone=gone, slower=slower, fail_on=fail_on, strict=strict)
    if write_baseline is not None:
        count = baselines.save(write_baseline, found.findings)
        text.say(console, f"Wrote {count} findings into {write_baseline}: --baseline {write_baseline} hides them.")
        return Exit.AS_EXPECTED
    if baseline is not None:
        compared = baselines.compare(baseline, found.findings)
        found = replace(found, findings=compared.new, baseline=compared)
    if format == "text":
        text.show(found, console, verbose=verbose)
    elif format == "constraints":
        kept = project or _project(stack, source, python, before)
        found = _constrained(found, read, limits(stack, kept), locked=project is None)
    else:
        sys.stdout.write(machine.FORMATS[format](found))
    if confirm and python is not None:
        found = _confirmed(python, found, console)
    return found.exit


def _upgraded(before: Answer, after: Answer) -> tuple[Answer, tuple[str, ...]]:
    """Return the answer with what an upgrade adds, and the cases that it removes.

    Blocked and unknown cases do not count as removed.
    """
    old, new = ({effect.name for effect in answer.effects} for answer in (before, after))
    gone = {"/".join(name) for name in old - new.union(after.blocked)}.difference(after.unknown)
    return after.less(old), tuple(sorted(gone))


def _nothing_in(asked: Stack) -> str:
    """Return that a stack names no package that the data has, and what it names instead."""
    outside = [f"{name} {asked.versions[name]}" for name in libraries.load() if name in asked.versions]
    if outside:
        return f"{asked.where}: not known: {named(outside)}; name the version of jax as well"
    return f"{asked.where}: found none of {', '.join(STACK)}"


def _outcome(answer: Answer, known: Knowledge, read: Usage | None, before: Pins | None) -> Outcome:
    """Return an answer without what the project ignores, for a source tree if one was read.

    `before` are the versions that an upgrade starts from.
    """
    ids, stale = ignored.applied({issue.id for issue, _ in answer.issues}, known)
    answer = answer.less({effect.name for effect in answer.effects if effect.issue.id in ids})
    found, source, by_code = findings.of_stack(answer, known), None, list[str]()
    if read is not None:
        found, source, by_code = findings.of_source(answer, known, read, before)
    answer = replace(answer, ignored=tuple(sorted({*ids, *by_code})))
    return Outcome(answer, known, findings.ordered(found, known), source, stale=stale)


def _newest(known: Knowledge, project: Path, read: Usage | None) -> Stack:
    """Return the newest stack within a project's bounds that suits its source. Raises BadFile.

    If there is none, the stack has no versions.
    """
    from jax_stack_compat.check.output.choice import within  # metadata loads slowly

    of = bounds_of(project)
    if of.packages.keys().isdisjoint(STACK):
        return Stack({}, f"{project} (it has no bounds)", file=str(project))
    newest = within(known, limits(Stack({}, str(project)), project), python_of(project), str(project), read)
    return newest or Stack({}, f"{project} (no tested stack is within its bounds)", file=str(project))


def _project(stack: Stack, source: Path | None, python: Path | None, before: str | None) -> Path | None:
    """Return the pyproject.toml beside the file of a stack, else of its source or of this folder."""
    beside = Path(stack.file).parent / "pyproject.toml"
    if stack.file and is_file(beside):
        return beside
    if source is None and (stack.file or python or before):
        return None
    return project_file(source or Path.cwd())


def _constrained(found: Outcome, read: Usage | None, kept: Limits, *, locked: bool) -> Outcome:
    """Print constraints, and on standard error what they do not keep; a line that fails is a cause to exit with 1."""
    from jax_stack_compat.check.output.constraints import constraints  # metadata loads slowly

    made = constraints(found, read, kept, locked=locked)
    sys.stdout.write(made.text)
    for fault in made.faults:
        errors.say(fault)
    return replace(found, findings=(*found.findings, *made.broken))


def _found(python: Path | None, lock: Path | None) -> Stack | Path:
    """Return the versions of an interpreter, a lock or the project here, or the pyproject.toml with its bounds."""
    if python is not None:
        return interpreters.ask(python)
    found = locks.read(lock) if lock is not None else discovery.find(Path.cwd(), os.environ)
    if isinstance(found, Stack):
        return found
    path = Path(os.path.relpath(found))
    # Reading a setup.py raises an error that says what to do instead.
    return locks.read(path) if path.name in locks.NOT_RUN else path


def _confirmed(python: Path, found: Outcome, console: Terminal) -> Outcome:
    """Run the predicted cases; return the answer without cases that did not show the predicted behaviour."""
    concerned = found.concerned
    if not concerned.effects:
        text.say(console, "Nothing is predicted, so nothing was run.", "dim")
        return found
    from jax_stack_compat.check.trial import confirm  # loads slowly

    tried = confirm.confirm(interpreters.interpreter(python) or python, concerned, console)
    console.print()
    text.say(console, f"Tried with {python}, on {tried.device or 'an unnamed device'}:", "bold")
    for told, agrees in tried.lines:
        text.say(console, f"  {told}", {True: "red", False: "bold magenta", None: "dim"}[agrees])
    refuted = {each.effect.name for each in tried.found if each.agrees is False}
    kept = (each for each in found.findings if not each.cases or {(each.id, case) for case in each.cases} - refuted)
    return replace(found, findings=tuple(kept), answer=found.answer.less(refuted))
