"""Unreleased packages in a released stack: the cases that concern them are run and compared with that stack.

`try equinox=../equinox` shows what this branch breaks, fixes and changes before its release.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from jax_stack_compat.base.console import Terminal
from jax_stack_compat.base.errors import Exit, Failed, Misused, nearest
from jax_stack_compat.base.files import OURS, STATE, read
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.issue import Case
from jax_stack_compat.check import knowledge
from jax_stack_compat.check.inputs import foreign
from jax_stack_compat.check.knowledge import Knowledge
from jax_stack_compat.check.output import text
from jax_stack_compat.check.trial import library
from jax_stack_compat.check.trial.own_folder import own_folder
from jax_stack_compat.environments import interpreter, probe_call
from jax_stack_compat.environments.progress import RunProgress
from jax_stack_compat.environments.task import Task
from jax_stack_compat.judge import verdicts
from jax_stack_compat.judge.prediction import Name
from jax_stack_compat.judge.record import Record
from jax_stack_compat.judge.rules import concerned
from jax_stack_compat.judge.verdict_table import GOOD, UNDECIDED, Verdict
from jax_stack_compat.judge.verdicts import Judged
from jax_stack_compat.libraries import known as libraries
from jax_stack_compat.packages import PACKAGES
from jax_stack_compat.stack import lock, plan, uv_call
from jax_stack_compat.stack.plan import Cell

_PLACE = STATE / "candidates"
# Builds of pure Python packages take less time than this, and jaxlib comes as a wheel.
_BUILD_S = 900.0


@dataclass(frozen=True)
class Wanted:
    """A package and the requirement to install for it: a version or a direct reference."""

    package: str
    source: str


@dataclass(frozen=True)
class CandidateChange:
    """A case whose behaviour changed; `before` is None if it is unknown."""

    name: Name
    before: str | None
    after: str
    how: str
    detail: str


def parse(words: str) -> Wanted:
    """Parse `equinox=../equinox`, `equinox=git+https://…` or a requirement, `jax==0.13.0rc1`. Raises Misused."""
    name, equals, place = words.partition("=")
    source = words
    if equals and place and not place.startswith("=") and not name.endswith(tuple("<>!~")):
        if "://" not in place:
            # uv starts in another folder, so make the path absolute.
            path = Path(os.path.abspath(place))  # noqa: PTH100  a link may be what is meant
            if not path.exists():
                raise Misused(f"{words}: {path} does not exist")
            place = path.as_uri()
        # With the name, uv refuses a path to another package.
        source = f"{name} @ {place}"
    try:
        found = foreign.requirement(source)
    except ValueError as error:
        why = str(error).partition("\n")[0]
        raise Misused(f"{words}: {why}; a candidate is equinox=PATH, a wheel, an address, or jax==VERSION") from error
    if found.marker:
        raise Misused(f"{words}: leave out the marker, which may prevent the installation")
    package = str(canonicalize_name(found.name))
    tried = {*PACKAGES, *libraries.load()}
    if package not in tried:
        raise Misused(f"{package} is neither of the stack nor a library that is run; {nearest(package, tried)}")
    return Wanted(package, source)


def attempt(candidates: Sequence[Wanted], against: Sequence[str], issue: list[str], *, console: Terminal) -> Exit:
    """Run the cases that concern the candidates in each stack of `against`, and print what changes.

    A library that is not part of the stack runs beside the newest jax of each minor series instead. Raises Misused,
    Failed, BadFile, OSError.
    """
    of_libraries = [candidate for candidate in candidates if candidate.package not in PACKAGES]
    if of_libraries and (len(candidates) > 1 or against or issue):
        raise Misused(f"{of_libraries[0].package} is tried alone, beside the newest jax of each minor series")
    if of_libraries:
        return library.attempt(of_libraries[0].package, of_libraries[0].source, console=console)
    known = knowledge.load()
    cells = [plan.stack(each) for each in against] or [newest()]
    worst = Exit.AS_EXPECTED
    for cell in cells:
        told = ", ".join(candidate.source for candidate in candidates)
        text.say(console, f"{cell.id}, with {told}", "bold")
        found, seen, undecided, ran = _held(cell, candidates, catalogue.select(issue), known, console)
        for change in sorted(found, key=lambda each: _ORDER.index(each.how)):
            moved = f"{change.before or 'not known'} → {change.after}"
            line = f"  {change.how}: {'/'.join(change.name)}: {moved}: {change.detail}"
            text.say(console, line, _STYLES[change.how])
        counts = {word: sum(change.how == word for change in found) for word in _ORDER}
        said = ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "nothing changed"
        text.say(console, f"{said}, of {seen} cases that concern {ran}; {undecided} undecided.", "bold")
        worst = max(worst, Exit.UNEXPECTED if counts["broken"] else Exit.INCOMPLETE if undecided else Exit.AS_EXPECTED)
    return worst


_STYLES = {"broken": "red", "changed": "yellow", "new": "yellow", "fixed": "green"}
_ORDER = list(_STYLES)


def newest() -> Cell:
    """Return the cell of the newest release of jax."""
    return next(cell for cell in reversed(plan.tagged("line")) if cell.moves == "jax" and cell.unavailable is None)


def _held(
    cell: Cell, candidates: Sequence[Wanted], entries: Sequence[Entry], known: Knowledge, console: Terminal
) -> tuple[list[CandidateChange], int, int, str]:
    """Return the changes from the cell's published run, the counts of cases seen and undecided, and the versions."""
    pinned = lock.load(cell)
    names = {candidate.package for candidate in candidates}
    concern = [(entry, case) for entry in entries for case in entry.issue.cases if names & concerned(case.needs)]
    before = behaviours(cell, known)
    with own_folder(_PLACE) as folder:
        python = _made(cell, candidates, folder / "env")
        tasks = [
            # One attempt is enough for a case that behaves as before.
            Task(entry, case, before.get((entry.issue.id, case.id)), folder / entry.issue.id / f"{case.id}.json")
            for entry, case in concern
        ]
        with RunProgress(console) as run:
            progress = run.cell(cell.id)
            progress.expect(dict.fromkeys((task.name for task in tasks), 0.0))
            packages, log = sorted(pinned.pins), folder / "probe.log"
            ended = probe_call.call(python, "candidate", packages, tasks, progress, remake=_refuse, log=log, shut=OURS)
        records = [(task.case, read(Record, task.record)) for task in tasks if task.record.exists()]
    if not records:
        raise Failed(f"nothing could be run with {', '.join(sorted(names))} in {cell.id}: {ended.detail}")
    there = {name: version for name, version in records[0][1].machine.packages.items() if version}
    alone = {f"{of.issue}/{of.case}": verdicts.judge(case, of.attempts) for case, of in records}
    judged = {
        (of.issue, of.case): verdicts.waited(alone[f"{of.issue}/{of.case}"], _awaited(case, there, alone))
        for case, of in records
    }
    undecided = len(tasks) - sum(each.verdict not in UNDECIDED for each in judged.values())
    ran = ", ".join(f"{name} {there.get(name, '(not installed)')}" for name in sorted(names))
    return changes(cell, judged, known), len(judged), undecided, ran


def _awaited(case: Case, there: Mapping[str, str], judged: Mapping[str, Judged]) -> Mapping[str, Verdict]:
    """Return the verdicts on the cases that a case waits for: from this run, else by their rules."""
    seen = {name: judged[name].verdict for name in case.waits_for if name in judged}
    return {**catalogue.by_rule(case, there), **seen}


def changes(cell: Cell, judged: Mapping[Name, Judged], known: Knowledge) -> list[CandidateChange]:
    """Return the decided cases whose behaviour differs from the published run of the cell."""
    found = []
    cases, seen = known.cases, behaviours(cell, known)
    for name, now in judged.items():
        case = cases.get(name)
        before, after = seen.get(name), now.behaviour or now.verdict
        if now.verdict in UNDECIDED or before == after:
            continue
        means = case.verdict(before) if case is not None and before is not None else None
        found.append(CandidateChange(name, before, after, how(means, now.verdict), now.detail))
    return found


def behaviours(cell: Cell, known: Knowledge) -> dict[Name, str]:
    """Return the behaviour of each case in the published run of a cell."""
    return {name: run.behaviour for name, case in known.cases.items() for run in case.runs if run.cell == cell.id}


def how(before: Verdict | None, after: Verdict) -> str:
    """Return a change in a word, by the verdicts before and after."""
    if before is None:
        return "new"
    if (before in GOOD) == (after in GOOD):
        return "changed"
    return "fixed" if after in GOOD else "broken"


def _made(cell: Cell, candidates: Sequence[Wanted], folder: Path) -> Path:
    """Create an environment with the cell's lock and the candidates over it; return its interpreter. Raises Failed."""
    try:
        python, _ = interpreter.find(cell.python)
    except interpreter.NoInterpreter as error:
        raise Failed(str(error)) from error
    executable = folder / "bin" / "python"
    _uv("venv", "--quiet", "--no-project", "--python", str(python), str(folder))
    _uv("pip", "sync", "--require-hashes", "--python", str(executable), str(lock.load(cell).path))
    # Do not install dependencies: they stay as in the stack, so only the candidate can cause a change.
    sources = (candidate.source for candidate in candidates)
    _uv("pip", "install", "--no-deps", "--reinstall", "--python", str(executable), *sources, within=_BUILD_S)
    return executable


def _refuse() -> Path:
    raise Failed("a case wrote into the installed packages, so the others were not run")


def _uv(*words: str, within: float | None = None) -> None:
    run = uv_call.run(*words, within=within)
    if run.returncode:
        raise Failed(f"uv {' '.join(words[:2])}: {run.stderr[max(run.stderr.find('error:'), 0) :].strip()[-1500:]}")
