"""The findings of a stack, or of a source tree on it. Pure, except for reading the names."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jax_stack_compat.check import on_devices
from jax_stack_compat.check.answer import Answer, Effect
from jax_stack_compat.check.finding import LEVELS, RANKS, Finding, Level
from jax_stack_compat.check.good import good_for
from jax_stack_compat.check.knowledge import Knowledge
from jax_stack_compat.check.source import lacks
from jax_stack_compat.check.source.conditions import excludes, is_dead
from jax_stack_compat.check.source.numbers import Numbers, numbers
from jax_stack_compat.check.source.touched import IMPORT, Concern, Met, is_untold, touches
from jax_stack_compat.check.source.uses import Place, Unread, Usage
from jax_stack_compat.judge.rules import Pins
from jax_stack_compat.names import libraries


@dataclass(frozen=True)
class SourceRead:
    """The source that was read: the number of files, those that could not be read, and skipped folders.

    Of the `functions` that it calls, `covered` are touched by a case that was looked up, and `lacking` do not exist.
    `untold` are issues of the stack that code can meet without naming a function. `numbers` are the results of the
    functions that the source calls.
    """

    files: int
    unread: tuple[Unread, ...] = ()
    skipped: tuple[str, ...] = ()
    functions: int = 0
    covered: int = 0
    lacking: int = 0
    untold: tuple[str, ...] = ()
    numbers: Numbers | None = None


def of_stack(answer: Answer, known: Knowledge) -> list[Finding]:
    """Return a finding for each issue that affects a stack, for answers without a source."""
    found = []
    for issue, effects in answer.issues:
        level: Level = "chronic" if issue.id in answer.chronic else "possible"
        found.append(Finding(level, "", issue.title, Place(answer.stack.file), **_of_cases(effects, answer, known)))
    return found


def _of_cases(effects: Sequence[Effect], answer: Answer, known: Knowledge) -> dict[str, Any]:
    """Return the fields of a finding that come from its cases; its good releases are those of the whole issue."""
    issue = effects[0].issue
    good = good_for(issue, [effect.case for effect in effects], answer.versions, known).told
    works = [effect.case.workaround for effect in effects if effect.case.workaround and "not help" not in effect.helps]
    users = libraries.users(touch.name for effect in effects for touch in touches(effect.case))
    own = {"id": issue.id, "kind": issue.kind, "users": users}
    return {**own, "cases": tuple(effect.case.id for effect in effects), "good_from": good, "do": "".join(works[:1])}


def of_source(
    answer: Answer, known: Knowledge, usage: Usage, before: Pins | None = None
) -> tuple[list[Finding], SourceRead, list[str]]:
    """Return the findings for a source tree, what was read, and the ids that the code itself ignores.

    Lines that also fail on the versions `before` the upgrade are left out.
    """
    here = [use for use in usage.uses if not is_dead(use.guards, answer.versions)]
    beside = [use for use in usage.beside if not is_dead(use.guards, answer.versions)]
    concerned = Concern([*here, *beside], usage.told, known)
    told: dict[tuple[str, str, int, int], tuple[Met, list[Effect]]] = {}
    ignored, untold = dict[str, None](), dict[str, None]()
    # Row zero is about the stack, not about a line: the first sentence tells of it.
    for effect in (each for each in answer.effects if not each.issue.row_zero):
        id = effect.issue.id
        found = concerned.met(effect.case, effect.behaviour)
        if not found and is_untold(effect.case):
            untold[id] = None
        for met in found:
            if met.use.place.ignores(id):
                ignored[id] = None
                continue
            at = id, *met.use.place.at
            first, effects = told.get(at, (met, []))
            told[at] = (met if met.rank > first.rank else first), [*effects, effect]
    old = {(found.level, found.key, found.name) for found in lacks.findings(usage.uses, before)} if before else set()
    lines = [
        found
        for found in lacks.findings(usage.uses, answer.versions)
        if "*" not in found.place.ignored and (found.level, found.key, found.name) not in old
    ]
    # One finding is enough for a line that fails.
    ended = {found.place.at: number for number, found in enumerate(lines) if found.level == "certain"}
    issues = []
    for (id, *_), (met, effects) in told.items():
        place, own = met.use.place, _of_cases(effects, answer, known)
        if (number := ended.get(place.at)) is not None and not lines[number].id:
            lines[number] = replace(lines[number], **{**own, "do": lines[number].do})
            continue
        if met.certain:
            guarded = excludes(met.use.guards, answer.versions)
            says = f"does not import here: {effects[0].issue.title}"
            own["do"] = "; ".join(filter(None, [own["good_from"], own["do"]]))
            issues.append(Finding("certain", met.name.removeprefix(IMPORT), says, place, guarded=guarded, **own))
            continue
        likely = met.likely and (id not in answer.chronic or own["do"])
        level: Level = "likely" if likely else "chronic" if id in answer.chronic else "possible"
        guarded = excludes(met.use.guards, answer.versions)
        title = effects[0].issue.title
        issues.append(Finding(level, met.name, title, place, guarded=guarded, narrowed=met.narrowed, **own))
    called = {thing.name for use in here if use.call for thing in use.things}
    touched = {touch.name for name in answer.looked_up for touch in touches(known.cases[name])}
    read = SourceRead(
        usage.files,
        usage.unread,
        usage.skipped,
        len(called),
        len(called & touched),
        len({line.name for line in lines if line.level == "certain" and not line.guarded} & called),
        tuple(id for id in untold if id not in {reached for reached, *_ in told}),
        _numbers(answer, known, called, before),
    )
    return [*lines, *issues], read, list(ignored)


def _numbers(answer: Answer, known: Knowledge, called: Collection[str], before: Pins | None) -> Numbers | None:
    """Return the results of the called functions, with their differences on the stack's kinds of devices."""
    of = numbers(called, answer.versions.get("jax"), before.get("jax") if before else None)
    there = tuple(on_devices.numbers(on_devices.of_stack(known.devices, answer.stack.versions), called))
    if there:
        return replace(of or Numbers((), ""), on_devices=there)
    return of


def ordered(findings: Sequence[Finding], known: Knowledge) -> tuple[Finding, ...]:
    """Sort findings by level, with row zero first, then by kind, by the number of libraries concerned, and by place."""

    def order(finding: Finding) -> tuple[object, ...]:
        kind = finding.id not in known.row_zero, RANKS.get(finding.kind, -1)
        return LEVELS.index(finding.level), *kind, -finding.users, finding.id, *finding.place.at, finding.name

    return tuple(sorted(findings, key=order))
