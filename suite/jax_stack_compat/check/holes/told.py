"""The answer about declared bounds, for people and as JSON; without a source tree or for one."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from jax_stack_compat import __version__
from jax_stack_compat.base.console import Terminal
from jax_stack_compat.base.errors import Exit, Misused
from jax_stack_compat.base.files import dump_ascii
from jax_stack_compat.check import ignored, unpinned
from jax_stack_compat.check.finding import KINDS, RANKS
from jax_stack_compat.check.holes.code import Gap, Narrowed, narrowed
from jax_stack_compat.check.holes.judged import Admitted, Hole, Releases, admitted, holes
from jax_stack_compat.check.holes.working import Closed, closed, working
from jax_stack_compat.check.inputs.bounds import bounds
from jax_stack_compat.check.inputs.stack import Stack
from jax_stack_compat.check.knowledge import Knowledge
from jax_stack_compat.check.output import text
from jax_stack_compat.check.versions import looked_up
from jax_stack_compat.check.works import Works, judged
from jax_stack_compat.judge.metadata import parsed
from jax_stack_compat.judge.wording import named as some
from jax_stack_compat.packages import STACK

MAX_LINES = 25
_MAX_NAMES = 4
_MAX_TO_TEST = 3
# The weight of a kind where there is no room for all lines.
_SHARES: Mapping[str, int] = {"silent-wrong": 4, "silent-change": 2, "crash": 2}


class ToTest(NamedTuple):
    """A release to test; `shows` counts the findings that no release before it in the list shows.

    `beside` is the rest of an admitted set that works.
    """

    package: str
    version: str
    shows: int
    beside: Mapping[str, str]


@dataclass(frozen=True)
class Within:
    """The answer about bounds: what they admit, the holes, the ignored issues, and the releases to test."""

    admitted: Admitted
    found: Narrowed
    ignored: int
    stale: tuple[str, ...]
    tests: tuple[ToTest, ...]
    works: Works
    closed: tuple[Closed, ...]
    deadly: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """True if one bound, or all bounds together, admit no run."""
        return bool(self.admitted.empty or not self.admitted.stacks)

    @property
    def verdict(self) -> str:
        """The first line."""
        kinds = {hole.issue.id: hole.issue.kind for hole in self.found.holes}
        silent = sum(kind.startswith("silent") for kind in kinds.values())
        silently = f", {silent} of them silently" * bool(silent)
        if kinds:
            issues = "1 documented issue affects" if len(kinds) == 1 else f"{len(kinds)} documented issues affect"
            return f"{issues} releases within these bounds{silently}."
        if self.is_empty:
            return "Nothing is known about these bounds: no stack that was run is within them."
        others = " that source code can show" * bool(self.found.untold)
        return f"None of the documented issues{others} is known to affect a release within these bounds."

    @property
    def rests_on(self) -> str:
        """The last line, without the day."""
        told = [f"{len(of)} of {name}" for name, of in self.admitted.releases.items() if name in STACK]
        stacks = self.admitted.stacks
        count = {0: "none of the stacks that were run is", 1: "1 stack is"}.get(stacks, f"{stacks} stacks are")
        return f"Admitted and run: {', '.join(told)}; {count} within all these bounds"


def _cases(hole: Hole) -> set[tuple[str, str]]:
    return {(hole.issue.id, case) for case in hole.cases}


def _line(gap: Gap) -> tuple[str, str]:
    return gap.place.path, gap.name


def to_test(
    knowledge: Knowledge, found: Sequence[Hole], within: Admitted, gaps: Sequence[Gap] = ()
) -> tuple[ToTest, ...]:
    """Return the lowest release, then those that show the most of the remaining findings.

    jaxlib comes with its jax.
    """
    own: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for package, version in ((name, of) for name, releases in within.releases.items() for of in releases):
        if package == "jaxlib":
            continue
        pins = {**(knowledge.jaxlibs[version] if package == "jax" else {}), package: version}
        shown = [hole for hole in found if hole.releases.package in pins]
        shown = [hole for hole in shown if hole.releases.has(pins[hole.releases.package])]
        lacking = [gap for gap in gaps if gap.releases.package == package and gap.releases.has(version)]
        own[package, version] = {name for hole in shown for name in _cases(hole)} | set(map(_line, lacking))
    if not own:
        return ()
    chosen, seen, ahead = list[ToTest](), set[tuple[str, str]](), [*own]
    while ahead and len(chosen) < _MAX_TO_TEST:
        # The lowest release first. max returns the first maximum, so reverse the list to get the newest release.
        best = max(reversed(ahead), key=lambda release: len(own[release] - seen)) if chosen else ahead[0]
        ahead.remove(best)
        if chosen and own[best] <= seen:
            break
        whole = working(knowledge, within, *best)
        if whole is None:
            continue
        beside = {name: version for name, version in whole.items() if name != best[0]}
        chosen.append(ToTest(*best, len(own[best] - seen), beside))
        seen |= own[best]
    return tuple(chosen)


def _deadly(knowledge: Knowledge, found: Iterable[Hole]) -> tuple[str, ...]:
    """Return the releases on which the process of a case dies, for each issue with such a case."""
    told: dict[str, Releases] = {}
    for hole in found:
        package = hole.releases.package
        runs = (run for id in hole.cases for run in knowledge.cases[hole.issue.id, id].runs if package in run.pins)
        dies = any(run.behaviour == "crashed" and hole.releases.has(run.pins[package]) for run in runs)
        known = told.get(hole.issue.id, hole.releases)
        if dies and (hole.issue.id not in told or parsed(known.last) < parsed(hole.releases.last)):
            told[hole.issue.id] = hole.releases
    return tuple(f"{releases} ({issue})" for issue, releases in told.items())


def tell(
    known: Knowledge,
    path: Path,
    source: Path | None,
    format: str,
    severe: Collection[str],
    *,
    strict: bool,
    verbose: bool,
    console: Terminal,
) -> Exit:
    """Print the releases within the bounds of `path` on which issues show. Raises BadFile, Misused, Failed."""
    if format not in ("text", "json"):
        raise Misused(f"--bounds has no format {format}: use --format text or json")
    of = bounds(path)
    if not of.packages.keys() & set(STACK):
        text.say(console, f"{path}: it has no bounds on {', '.join(STACK)}", "bold")
        return Exit.UNDECIDED
    found = within_bounds(known, admitted(known, of.packages), [*of.packages, *of.unsaid], source)
    within, narrow = found.admitted, found.found
    if format == "json":
        sys.stdout.write(_json(found, path, known))
    else:
        _show(found, path, known, verbose=verbose, console=console)
    if within.empty:
        return Exit.UNDECIDED
    if strict and (within.idle or within.without or not within.stacks or narrow.untold or narrow.unread):
        return Exit.INCOMPLETE
    if found.works.fails or found.closed or narrow.gaps or any(hole.issue.kind in severe for hole in narrow.holes):
        return Exit.UNEXPECTED
    return Exit.AS_EXPECTED if within.stacks else Exit.UNDECIDED


def within_bounds(known: Knowledge, within: Admitted, there: Collection[str], source: Path | None) -> Within:
    """Return the answer about bounds on the packages in `there`, without issues that the project ignores."""
    every = holes(known, within, there)
    ids, stale = ignored.applied({hole.issue.id for hole in every}, known)
    left = [hole for hole in every if hole.issue.id not in ids]
    found = narrowed(left, within, known, source) if source is not None else Narrowed(tuple(left))
    tests = to_test(known, found.holes, within, found.gaps) if found.holes or found.gaps else ()
    today = unpinned.today(Stack({}, "", bounds=within.bounds), known)
    works = judged(known, today, looked_up(today, known))
    shut = tuple(closed(known, within))
    return Within(within, found, len(ids), stale, tests, works, shut, _deadly(known, every))


def _show(found: Within, path: Path, known: Knowledge, *, verbose: bool, console: Terminal) -> None:
    """Print the answer, in a few lines unless `verbose`."""
    bounds = ", ".join(f"{name}{of}" for name, of in sorted(found.admitted.bounds.items()) if name in STACK)
    within, narrow = found.admitted, found.found
    bad = bool(narrow.holes or narrow.gaps or found.is_empty)
    head = [
        (f"What an installer gives today: {found.works.sentence}", "bold red" if found.works.fails else "bold green")
    ]
    head = head if found.works.sentence else []
    head += [(f"{path}: {bounds}", "dim"), (found.verdict, "bold red" if bad else "bold green")]
    head += [(f"{each.told}.", "bold red") for each in found.closed]
    if found.deadly:
        head.append((f"Not to admit, because a process dies there: {some(found.deadly)}.", "bold red"))
    head += [(each, "bold yellow") for each in within.empty]
    idle = [f"{name} {release}" for name, of in within.idle.items() if within.releases[name] for release in of]
    tail = [(f"{'; '.join(within.without)}.", "yellow")] if within.without else []
    tail += [(f"Admitted and never run: {some(idle)}.", "yellow")] if idle else []
    listed = ", ".join if verbose else some
    if narrow.untold:
        unseen = "These issues also occur there, but source code cannot show whether yours is concerned"
        tail.append((f"{unseen}: {listed(narrow.untold)}.", ""))
    if narrow.unused:
        tail.append((f"Issues of functions that this code does not use: {listed(narrow.unused)}.", "dim"))
    if narrow.unread:
        tail.append((f"Not read: {some([f'{each.path} ({each.why})' for each in narrow.unread])}.", "yellow"))
    if found.ignored:
        tail.append((f"Issues ignored by jax-stack-compat.toml: {found.ignored}.", "dim"))
    if found.stale:
        tail.append((f"jax-stack-compat.toml has stale entries: {'; '.join(found.stale)}.", "yellow"))
    if found.tests:
        first, *others = map(_set, found.tests)
        shown = sum(test.shows for test in found.tests)
        names = ", ".join([f"{first} (the lowest admitted)", *others])
        show = "They show" if others else "It shows"
        every = {name for hole in narrow.holes for name in _cases(hole)}.union(map(_line, narrow.gaps))
        tail.append((f"To test in CI: {names}. {show} {shown} of the {len(every)} findings.", "bold"))
    tail.append((f"{found.rests_on}, as of {known.day}.", "bold"))
    gaps = _told_gaps(narrow.gaps, verbose=verbose)
    room = MAX_LINES - len(head) - len(gaps) - len(tail)
    for line, style in [*head, *((gap, "red") for gap in gaps)]:
        text.say(console, line, style)
    for line in _told_holes(narrow.holes, len(narrow.holes) if verbose else room):
        text.say(console, f"  {line}")
    for line, style in tail:
        text.say(console, line, style)


def _set(test: ToTest) -> str:
    beside = " and ".join(f"{name} {version}" for name, version in test.beside.items())
    return f"{test.package} {test.version}" + f" with {beside}" * bool(beside)


def _told_gaps(gaps: Sequence[Gap], *, verbose: bool) -> list[str]:
    alike: dict[str, list[str]] = {}
    for gap in gaps:
        told = f"{gap.name}: missing on {gap.releases}, which the bounds admit"
        alike.setdefault(told, []).append(f"{gap.place.path}:{gap.place.line}")
    most = len(alike) if verbose else _MAX_NAMES
    lines = [f"  certain  {some(places)}  {told}" for told, places in list(alike.items())[:most]]
    return [*lines, *([f"  and {len(alike) - most} more names: --verbose"] if len(alike) > most else [])]


def _told_holes(found: Sequence[Hole], room: int) -> list[str]:
    """Return a line for each hole; if these are too many, group them by kind and releases."""
    if len(found) <= room:
        return [f"{each.issue.id} ({each.issue.kind})  {each.told}" for each in found]
    alike: dict[str, dict[str, list[Hole]]] = {}
    for hole in found:
        alike.setdefault(hole.issue.kind, {}).setdefault(hole.span, []).append(hole)
    # If a hole covers all admitted releases, no bound helps, so such holes are only counted.
    always = [each for each in found if each.lowest and each.highest]
    ranked = [
        (place / _SHARES.get(kind, 1), kind, of)
        for kind, spans in alike.items()
        for place, of in enumerate(sorted(spans.values(), key=lambda of: -len(of)))
        if of[0] not in always
    ]
    chosen = sorted(ranked, key=lambda each: (each[0], RANKS[each[1]]))[: room - 1 - bool(always)]
    lines = [
        f"{KINDS[kind]}: {of[0].span}: {some([each.issue.id for each in of])}"
        for _, kind, of in sorted(chosen, key=lambda each: (RANKS[each[1]], each[0]))
    ]
    hidden = len(found) - len(always) - sum(min(len(of), 3) for _, _, of in chosen)
    if always:
        ids = list(dict.fromkeys(each.issue.id for each in always))
        lines.append(f"{len(ids)} issues on all admitted releases of a package: {some(ids)}")
    more = f"and {hidden} more: " * bool(hidden)
    return [*lines, f"{more}--verbose lists all, with their cases"]


def _json(found: Within, path: Path, known: Knowledge) -> str:
    """Return the answer as JSON."""
    within, narrow = found.admitted, found.found
    data = {
        "where": str(path),
        "bounds": {name: str(of) for name, of in within.bounds.items()},
        "admitted": {
            name: {"count": len(of), "first": of[0] if of else None, "last": of[-1] if of else None}
            for name, of in within.releases.items()
        },
        "stacks": within.stacks,
        "never_run": {name: list(of) for name, of in within.idle.items()},
        **{"empty": list(within.empty), "without": list(within.without)},
        "works": {**vars(found.works), "fails": found.works.fails, "sentence": found.works.sentence},
        "closed": [{**each.releases._asdict(), "why": each.why, "add": each.add} for each in found.closed],
        "deadly": list(found.deadly),
        "verdict": found.verdict,
        "findings": [
            {
                **{"id": hole.issue.id, "kind": hole.issue.kind, "case": case, **hole.releases._asdict()},
                **{"lowest": hole.lowest, "highest": hole.highest, "by_rule": hole.by_rule},
            }
            for hole in narrow.holes
            for case in hole.cases
        ],
        "lines": [
            {"name": gap.name, "path": gap.place.path, "line": gap.place.line, **gap.releases._asdict()}
            for gap in narrow.gaps
        ],
        "to_test": [test._asdict() for test in found.tests],
        **{"untold": list(narrow.untold), "unused": list(narrow.unused), "ignored": found.ignored},
        "unread": [each._asdict() for each in narrow.unread],
        **{"data_of": known.day, "suite_version": __version__},
    }
    return dump_ascii(data)
