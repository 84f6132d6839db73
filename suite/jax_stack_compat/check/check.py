"""The command `check`: choose the versions to look up, and print the answer in a format."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from jax_stack_compat.base.console import Terminal
from jax_stack_compat.base.errors import Exit, Misused
from jax_stack_compat.check import answer as answers
from jax_stack_compat.check import baseline as baselines
from jax_stack_compat.check import findings, ignored, knowledge
from jax_stack_compat.check.answer import Answer
from jax_stack_compat.check.holes import told as holes
from jax_stack_compat.check.inputs import discovery, interpreters, locks, spoken
from jax_stack_compat.check.inputs.stack import Stack
from jax_stack_compat.check.knowledge import Knowledge
from jax_stack_compat.check.outcome import Outcome, severities
from jax_stack_compat.check.output import machine, text
from jax_stack_compat.check.source.touched import methods
from jax_stack_compat.check.source.tree import usage
from jax_stack_compat.judge.rules import Pins
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
    if isinstance(stack, Path):
        if to and bounds is None:
            raise Misused(f'{stack} has bounds but no versions: name the stack to upgrade, --from "jax==0.10.2"')
        if to or baseline or write_baseline:
            raise Misused("--bounds does not combine with --to, --baseline and --write-baseline: leave one side out")
        if bounds is None and format == "text":
            text.say(console, f"{stack}: no file here pins versions, so its bounds are checked.", "bold")
        bounds = stack
        severe = severities(fail_on or "slow")
        return holes.tell(known, bounds, source, format, severe, strict=strict, verbose=verbose, console=console)
    # The stack may lack JAX, and the upgrade may add it.
    asked = spoken.stack(to, known, stack) if to else stack
    if not asked.names_stack:
        text.say(console, f"{asked.where}: found none of {', '.join(STACK)}", "bold")
        return Exit.UNDECIDED
    answer = old = answers.answer(known, stack)
    gone: tuple[str, ...] | None = None
    if to:
        answer, gone = _upgraded(old, answers.answer(known, asked))
    found = _outcome(answer, known, source, old.versions if to else None)
    found = replace(found, gone=gone, fail_on=fail_on, strict=strict)
    if write_baseline is not None:
        count = baselines.save(write_baseline, found.findings)
        text.say(console, f"Wrote {count} findings into {write_baseline}: --baseline {write_baseline} hides them.")
        return Exit.AS_EXPECTED
    if baseline is not None:
        compared = baselines.compare(baseline, found.findings)
        found = replace(found, findings=compared.new, baseline=compared)
    if format == "text":
        text.show(found, console, verbose=verbose)
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


def _outcome(answer: Answer, known: Knowledge, source: Path | None, before: Pins | None) -> Outcome:
    """Return an answer without what the project ignores, for a source tree if one is given.

    `before` are the versions that an upgrade starts from.
    """
    ids, stale = ignored.applied({issue.id for issue, _ in answer.issues}, known)
    answer = answer.less({effect.name for effect in answer.effects if effect.issue.id in ids})
    found, read, by_code = findings.of_stack(answer), None, list[str]()
    if source is not None:
        found, read, by_code = findings.of_source(answer, known, usage(source, methods(known)), before)
    answer = replace(answer, ignored=tuple(sorted({*ids, *by_code})))
    return Outcome(answer, known, findings.ordered(found, known), read, stale=stale)


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
    text.say(console, f"\nTried with {python}, on {tried.device or 'an unnamed device'}:", "bold")
    for told, agrees in tried.lines:
        text.say(console, f"  {told}", {True: "red", False: "bold magenta", None: "dim"}[agrees])
    refuted = {each.effect.name for each in tried.found if each.agrees is False}
    kept = (each for each in found.findings if not each.cases or {(each.id, case) for case in each.cases} - refuted)
    return replace(found, findings=tuple(kept), answer=found.answer.less(refuted))
