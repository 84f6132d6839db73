"""What `check` and `explain` do, once their words are read. Each raises BadFile, Misused, Failed; else an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from suite.cell.atomic import write
from suite.check import answer as answers
from suite.check import concern, holes, knowledge, machine, text
from suite.check import explain as explaining
from suite.check.answer import KINDS, Answer
from suite.check.concern import Reading
from suite.check.inputs import discovery, interpreters, locks, spoken
from suite.check.inputs.stack import Stack
from suite.check.knowledge import Knowledge
from suite.console import Terminal
from suite.errors import Exit, Misused
from suite.judge.prediction import Name
from suite.judge.rules import STACK

if TYPE_CHECKING:
    from suite.check.ignored import Left


_MOST_GONE = 5


def check(
    python: Path | None,
    lock: Path | None,
    bounds: Path | None,
    before: str | None,
    to: str | None,
    source: Path | None,
    format: str,
    fail_on: str | None,
    *,
    strict: bool,
    confirm: bool,
    verbose: bool,
    console: Terminal,
) -> Exit:
    """Say what is known to affect an environment, a lock or a stack, or what an upgrade of it adds."""
    known = knowledge.load()
    if confirm and python is None:
        raise Misused("--confirm runs reproducers in an interpreter of yours: name it, --python PATH")
    if bounds is not None:
        if to:
            raise Misused("--bounds asks about all that is admitted, and --to about an upgrade: leave one of them out")
        severe = _severe(fail_on or "slow")
        return holes.tell(known, bounds, source, format, severe, strict=strict, verbose=verbose, console=console)
    stack = _stack(known, before, None) if before else _found(python, lock)
    asked = _stack(known, to, stack) if to else stack
    if asked.versions.keys().isdisjoint(STACK) and asked.unsaid.keys().isdisjoint(STACK):
        text.say(console, f"{asked.where}: none of {', '.join(STACK)} is there", "bold")
        return Exit.UNDECIDED
    found = answers.answer(known, stack)
    gone: tuple[str, ...] = ()
    if to:
        after = answers.answer(known, asked)
        # What cannot be run any more is not mended, and what nobody knows may not be.
        there = _names(after).union(after.blocked)
        told = sorted("/".join(each.name) for each in found.bites if each.name not in there)
        gone = tuple(each for each in told if each not in after.unknown)
        found = replace(after, bites=tuple(each for each in after.bites if each.name not in _names(found)))
    left = _left(found, known)
    found = left.answer if left else found
    read = None
    if source:
        found, read = _narrowed(found, known, source)
    if format == "text":
        _show(found, read, left, gone, upgrade=bool(to), verbose=verbose, console=console)
    else:
        sys.stdout.write(machine.FORMATS[format](found, read or Reading(), known))
    if confirm and python is not None:
        found = _confirmed(python, found, console)
    return _code(found, read, fail_on, strict=strict)


def _left(found: Answer, known: Knowledge) -> Left | None:
    """What is left of an answer, where the folder has a file of what to ignore."""
    path = Path("jax-stack-compat.toml")
    if not path.exists():
        return None
    from suite.check import ignored  # most projects have none, and are answered sooner

    return ignored.leave_out(found, ignored.load(path, {each.id for each in known.issues}), datetime.now(UTC).date())


def _found(python: Path | None, lock: Path | None) -> Stack:
    if python is not None:
        return interpreters.ask(python)
    return locks.read(lock) if lock is not None else discovery.find(Path.cwd(), os.environ)


def _stack(known: Knowledge, words: str, over: Stack | None) -> Stack:
    """What words name: a lock, or versions such as `jax==0.10.2`, over those of another stack."""
    if (path := Path(words)).is_file():
        return locks.read(path)
    moved = [name for name in STACK if name != "jaxlib" and (over is None or name in over.versions)]
    try:
        pins = spoken.versions(words, known.releases, moved)
    except ValueError as error:
        raise Misused(f"{words}: {error}; name versions as jax==0.10.2, or a lock that is there") from error
    kept = {name: version for name, version in (over.versions if over else {}).items() if name not in pins}
    # A jaxlib goes with its jax.
    if "jax" in pins and "jaxlib" not in pins:
        kept.pop("jaxlib", None)
    return Stack({**kept, **pins}, f"{over.where} with {words}" if over else words)


def _names(found: Answer) -> set[Name]:
    return {each.name for each in found.bites}


def _narrowed(found: Answer, known: Knowledge, source: Path) -> tuple[Answer, Reading]:
    """What of an answer concerns a source tree, and where; what no source tells of is named in it."""
    from suite.check.findings import findings  # the names are for those who ask for them
    from suite.check.source.conditions import is_dead
    from suite.check.source.usage import usage

    of = usage(source)
    told = concern.concern(
        found, concern.own_names(known), [each for each in of.uses if not is_dead(each.guards, found.versions)]
    )
    bites = tuple(each for each in found.bites if each.issue.id in told.places)
    lines = tuple(each for each in findings(of.uses, found.versions) if "*" not in each.ignored)
    return replace(found, bites=bites, untold=told.untold, unused=told.unused), Reading(
        told.places, lines, of.unread, of.files
    )


def _show(
    found: Answer,
    read: Reading | None,
    left: Left | None,
    gone: Sequence[str],
    *,
    upgrade: bool,
    verbose: bool,
    console: Terminal,
) -> None:
    if upgrade:
        text.say(console, "What this upgrade adds:", "bold")
    text.show(found, read, console, verbose=verbose)
    if gone:
        some = gone if verbose else gone[:_MOST_GONE]
        more = f" and {len(gone) - len(some)} more" if len(some) < len(gone) else ""
        text.say(console, f"It takes away: {', '.join(some)}{more}.")
    for each in left.stale if left else ():
        text.say(console, f"jax-stack-compat.toml has a stale entry: {each}.", "yellow")


def _confirmed(python: Path, found: Answer, console: Terminal) -> Answer:
    """What is left of an answer once it was tried: all but what did not show."""
    if not found.bites:
        text.say(console, "Nothing is predicted, and so nothing was run.", "dim")
        return found
    from suite.check import confirm  # what runs reproducers is for those who ask for it

    tried = confirm.confirm(interpreters.interpreter(python) or python, found, console)
    text.say(console, f"\nTried with {python}, on {tried.device or 'a device that it did not name'}:", "bold")
    for told, agrees in tried.lines:
        text.say(console, f"  {told}", {True: "red", False: "bold magenta", None: "dim"}[agrees])
    if tried.records:
        write(seen := Path("jax-stack-compat-seen.json"), tried.records)
        text.say(console, f"What was seen is in {seen}, to be sent along with a report.", "dim")
    return replace(found, bites=tuple(each.bite for each in tried.found if each.agrees is not False))


def _code(found: Answer, read: Reading | None, fail_on: str | None, *, strict: bool) -> Exit:
    if not found.is_known or (read is not None and not read.files):
        return Exit.UNDECIDED
    unread = read.unread if read else ()
    if strict and (found.newer or found.unknown or found.untold or found.unsure or unread):
        return Exit.INCOMPLETE
    severe = _severe(fail_on)
    affected = fail_on == "possible" or any(issue.kind in severe for issue, _ in found.issues)
    lines = any(each.level in ("certain", fail_on) for each in read.unguarded) if read else False
    return Exit.UNEXPECTED if not found.works or lines or (affected and found.issues) else Exit.AS_EXPECTED


def _severe(fail_on: str | None) -> Collection[str]:
    """The kinds that are as bad as this one, or worse; none where no kind is given."""
    kinds = list(KINDS)
    return kinds[: kinds.index(fail_on) + 1] if fail_on in kinds else ()


def needs(source: Path, format: str, *, console: Terminal) -> Exit:
    """Say which releases of each package a source tree works with, by its names and arguments."""
    from suite.check import needs as needing  # the names are for those who ask for them

    return needing.tell(source, format, console=console)


def explain(file: Path | None, on: str | None, format: str, *, console: Terminal) -> Exit:
    """Look a traceback or an error message up, among missing names and the signatures of issues, and say what to do."""
    from suite.check import explained, missing  # the names are megabytes, which no other command reads

    said = _said(file)
    known = knowledge.load()
    stack = _stack(known, on, None) if on else Stack(explaining.versions(said), "the text")
    found = explaining.matches(known, said)
    names = list(missing.told(said))
    bites = answers.answer(known, stack).bites if found and stack.versions else ()
    for line, style in explained.lines(said, found, names, bites, stack, format):
        text.say(console, line, style)
    return Exit.AS_EXPECTED if names or found else Exit.UNEXPECTED


def _said(file: Path | None) -> str:
    how = "what happened is read from a file, or from standard input: jax-stack-compat explain < traceback.txt"
    if file is not None:
        try:
            return file.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise Misused(f"{file}: {error.strerror}; {how}") from error
    if sys.stdin.isatty():
        raise Misused(how)
    return sys.stdin.buffer.read().decode("utf-8", errors="replace")
