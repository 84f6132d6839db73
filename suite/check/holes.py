"""Holes in declared bounds: releases that they admit and on which documented issues show.

Every run of the packages that a case needs counts, whatever other packages it had. So a bound on a package that a case
does not need has no effect on it. Without runs within the bounds of its needs, its rules decide.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby, product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from packaging.specifiers import SpecifierSet

from suite import __version__
from suite.check import concern, text
from suite.check.answer import KINDS, verdict
from suite.check.inputs.bounds import bounds as read_bounds
from suite.check.knowledge import Knowledge, KnownCase, KnownIssue
from suite.console import Terminal
from suite.errors import Exit, Misused
from suite.judge.prediction import predict
from suite.judge.rules import STACK, Pins, concerned, in_stack_order, is_there, met, requirements
from suite.judge.specifiers import in_version_order, parsed
from suite.judge.table import GOOD, UNDECIDED
from suite.judge.wording import named as some
from suite.stack.beside import BESIDE

if TYPE_CHECKING:
    from suite.check.source.sources import Unread
    from suite.check.source.usage import Usage, Use

MAX_LINES = 25
_MAX_NAMES = 4
_MAX_TO_TEST = 3
# The weight of a kind where there is no room for all lines.
_SHARES: Mapping[str, int] = {"silent-wrong": 4, "silent-change": 2, "crash": 2}
Bounds = Mapping[str, SpecifierSet]


@dataclass(frozen=True)
class Hole:
    """Adjacent releases of `package` that the bounds admit and on which cases of an issue go wrong.

    `by_rule`: no run on them is within all bounds, so the rules decide.
    """

    issue: KnownIssue
    cases: tuple[str, ...]
    package: str
    first: str
    last: str
    lowest: bool
    highest: bool
    by_rule: bool = False

    @property
    def span(self) -> str:
        """The releases in words: `jax 0.4.30 to 0.4.35, the lowest that is admitted`."""
        span = self.first if self.first == self.last else f"{self.first} to {self.last}"
        ends = {(True, True): ", all that is admitted", (True, False): ", the lowest that is admitted"}
        ends[False, True] = ", the highest that is admitted"
        how = ", by rule" * self.by_rule
        return f"{self.package} {span}{ends.get((self.lowest, self.highest), '')}{how}"

    @property
    def told(self) -> str:
        """The releases, and the cases."""
        return f"{self.span}: {', '.join(self.cases)}"

    def has(self, version: str) -> bool:
        """Return True if a release of its package is one of these."""
        return parsed(self.first) <= parsed(version) <= parsed(self.last)


@dataclass(frozen=True)
class Admitted:
    """The part of the data that bounds admit.

    `releases` are those that were run, by package, oldest first; `idle` are in the data but were not run. `empty` says
    why a bound does not admit any run, and `without` the same for packages outside the stack. `stacks` counts the
    stacks within all bounds.
    """

    bounds: Bounds
    releases: Mapping[str, Sequence[str]]
    idle: Mapping[str, Sequence[str]]
    empty: tuple[str, ...]
    without: tuple[str, ...]
    stacks: int

    def admits(self, name: str, version: str) -> bool:
        """Return True if the bounds admit a release that was run."""
        return version in self.releases.get(name, ())


@dataclass(frozen=True)
class Gap:
    """A line whose name or argument the admitted releases `first` to `last` of `package` lack."""

    name: str
    path: str
    line: int
    package: str
    first: str
    last: str

    @property
    def told(self) -> str:
        """The name and the releases."""
        span = self.first if self.first == self.last else f"{self.first} to {self.last}"
        return f"{self.name}: not on {self.package} {span}, which the bounds admit"

    def has(self, version: str) -> bool:
        """Return True if a release of its package is one of these."""
        return parsed(self.first) <= parsed(version) <= parsed(self.last)


class ToTest(NamedTuple):
    """A release to test; `shows` counts the findings that no earlier one shows."""

    package: str
    version: str
    shows: int


@dataclass(frozen=True)
class Within:
    """The answer about bounds."""

    admitted: Admitted
    holes: tuple[Hole, ...]
    gaps: tuple[Gap, ...] = ()
    untold: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()
    ignored: int = 0
    stale: tuple[str, ...] = ()
    tests: tuple[ToTest, ...] = field(default=())

    @property
    def issues(self) -> set[str]:
        """The ids of the issues."""
        return {hole.issue.id for hole in self.holes}

    @property
    def findings(self) -> int:
        """The number of cases that go wrong and of missing names."""
        cases = {(hole.issue.id, case) for hole in self.holes for case in hole.cases}
        return len(cases | {(gap.path, gap.name) for gap in self.gaps})

    @property
    def verdict(self) -> str:
        """The first line."""
        silent = len({hole.issue.id for hole in self.holes if hole.issue.kind.startswith("silent")})
        silently = f", {silent} of them silently" * bool(silent)
        match len(self.issues):
            case 0 if self.admitted.empty or not self.admitted.stacks:
                return "Nothing is known about these bounds: no stack that was run is within them."
            case 0:
                others = " that source code can show" * bool(self.untold)
                return f"None of the documented issues{others} is known to affect a release within these bounds."
            case 1:
                return f"1 documented issue affects releases within these bounds{silently}."
            case count:
                return f"{count} documented issues affect releases within these bounds{silently}."

    @property
    def rests_on(self) -> str:
        """The last line, less the day."""
        counts = [(len(of), name) for name, of in self.admitted.releases.items() if name in STACK]
        told = [f"{count} of {name}" for count, name in counts]
        stacks = self.admitted.stacks
        count = {0: "none of the stacks that were run is", 1: "1 stack is"}.get(stacks, f"{stacks} stacks are")
        return f"Admitted and run: {', '.join(told)}; {count} within all of these bounds"


def admitted(knowledge: Knowledge, bounds: Bounds) -> Admitted:
    """Return the runs that bounds admit, and the bounds that do not admit any."""
    ran = {run.cell for issue in knowledge.issues for case in issue.cases for run in case.runs}
    was_run: dict[str, set[str]] = {}
    for id in ran:
        for name, version in knowledge.cells[id].items():
            was_run.setdefault(name, set()).add(version)
    needed = {name for case in knowledge.cases.values() for name in case.needs}
    releases, idle = dict[str, list[str]](), dict[str, list[str]]()
    empty, without = list[str](), list[str]()
    # A package without a bound may have any release.
    for name in in_stack_order({"jax", *bounds} & was_run.keys()):
        of = bounds.get(name, SpecifierSet())
        within = [each for each in knowledge.releases[name] if of.contains(each, prereleases=True)]
        releases[name] = [each for each in within if each in was_run[name]]
        idle[name] = [each for each in within if each not in was_run[name]]
        if releases[name] or (name not in STACK and name not in needed):
            continue
        known = in_version_order(was_run[name])
        why = f"{name}{of} admits no release in the data, which has {known[0]} to {known[-1]}"
        if idle[name]:
            how = f"`check --from {name}=={idle[name][0]}` shows what is known by rule"
            why = f"{name}{of} admits only {', '.join(idle[name])}, which was never run: {how}"
        (empty if name in STACK else without).append(why)
    bound = {name: set(releases[name]) for name in releases if name in STACK and name in bounds}
    stacks = sum(all(knowledge.cells[id].get(name) in of for name, of in bound.items()) for id in ran)
    return Admitted(
        bounds, releases, {name: each for name, each in idle.items() if each}, tuple(empty), tuple(without), stacks
    )


def holes(knowledge: Knowledge, within: Admitted, there: Iterable[str]) -> list[Hole]:
    """Return the holes in bounds, for cases that need only packages in `there`; the worst kinds first."""
    there = concerned(there)
    found: list[Hole] = []
    for issue in knowledge.issues:
        alike: dict[tuple[str, str, str, bool, bool, bool], list[str]] = {}
        for case in (each for each in issue.cases if there.issuperset(each.needs)):
            for span in _spans(told_of(case, within, knowledge), within):
                alike.setdefault(span, []).append(case.id)
        found += [Hole(issue, tuple(cases), *span) for span, cases in alike.items()]
    order = list(KINDS)
    return sorted(found, key=lambda each: order.index(each.issue.kind))


@dataclass(frozen=True)
class Shown:
    """A release's result by the runs within the bounds; by rule if there are none."""

    wrong: bool
    cells: frozenset[str] = frozenset()

    @property
    def by_rule(self) -> bool:
        """True if nothing was run."""
        return not self.cells


# Package → release → its result.
Told = Mapping[str, Mapping[str, Shown]]


def told_of(case: KnownCase, within: Admitted, knowledge: Knowledge) -> Told:
    """Return a case's results on the releases that the bounds admit, by package.

    A release goes wrong if all of its runs within the bounds do: a good run shows a way out. Without runs, the rules
    decide, if they agree for all admitted releases of the other packages.
    """
    every = {"jax", *(requirement.name for rule in case.rules for requirement in requirements(rule.on))}
    named, beside = in_stack_order(every - BESIDE), every & BESIDE
    matter = {"jaxlib", *named, *case.needs} & within.bounds.keys()
    at: dict[str, dict[str, list[tuple[bool, str]]]] = {}
    for run in case.runs:
        means = verdict(case, run.behaviour)
        if means in UNDECIDED or not all(within.admits(name, run.pins[name]) for name in matter if name in run.pins):
            continue
        # Bounds do not cover packages beside the stack.
        if not all(is_there(name, run.pins) for name in beside):
            continue
        for package in (each for each in named if each in run.pins):
            at.setdefault(package, {}).setdefault(run.pins[package], []).append((means not in GOOD, run.cell))
    found = {
        package: {
            version: Shown(all(wrong for wrong, _ in of), frozenset(cell for _, cell in of))
            for version, of in here.items()
        }
        for package, here in at.items()
    }
    kinds = {each: _kinds(case, each, within, knowledge) for each in named if each in within.releases}
    for package in (each for each in named if each in within.bounds):
        here = found.setdefault(package, {})
        for version in within.releases.get(package, ()):
            if version not in here:
                here[version] = Shown(_is_wrong_by_rule(case, package, version, kinds, within, knowledge))
    return {package: here for package, here in found.items() if here}


def _kinds(case: KnownCase, package: str, within: Admitted, knowledge: Knowledge) -> list[str]:
    """Return one admitted release for each set of the rules' requirements that releases meet."""
    every = {str(requirement) for rule in case.rules for requirement in requirements(rule.on)}
    kinds: dict[frozenset[str], str] = {}
    for version in within.releases[package]:
        pins = _with_jaxlib({package: version}, knowledge)
        kinds.setdefault(frozenset({*pins, *(each for each in every if met(each, pins))}), version)
    return list(kinds.values())


def _with_jaxlib(pins: Pins, knowledge: Knowledge) -> Pins:
    """Return pins with the jaxlib that an installer gives for their jax."""
    return {**knowledge.jaxlibs.get(pins.get("jax", ""), {}), **pins}


def _is_wrong_by_rule(
    case: KnownCase,
    package: str,
    version: str,
    kinds: Mapping[str, Sequence[str]],
    within: Admitted,
    knowledge: Knowledge,
) -> bool:
    """Return True if a release goes wrong, by rule, with all admitted releases of the other packages."""
    others = [each for each in kinds if each != package and each != "jaxlib"]
    if not all(within.releases[name] for name in within.bounds.keys() & set(case.needs)):
        return False
    for beside in product(*(kinds[other] for other in others)):
        pins = {**dict(zip(others, beside, strict=True)), package: version}
        known = predict(case, _with_jaxlib(pins, knowledge), ())
        means = verdict(case, known.behaviour) if known.behaviour else None
        if means is None or means in GOOD or means in UNDECIDED:
            return False
    return True


def _spans(told: Told, within: Admitted) -> Iterable[tuple[str, str, str, bool, bool, bool]]:
    """Yield the adjacent releases on which a case goes wrong, of as few packages as cover all its runs.

    Of packages that cover as many runs, the one with the fewest such releases comes first, then stack order. Releases
    by rule are left out if a package goes wrong on all of its admitted releases.
    """
    bad = {package: {of for of, shown in at.items() if shown.wrong} for package, at in told.items()}
    runs = {package: {run for of in of_it for run in told[package][of].cells} for package, of_it in bad.items()}
    covered: set[str] = set()
    always = False
    left = in_stack_order(package for package, of_it in bad.items() if of_it)
    while left:
        package = min(left, key=lambda each: (-len(runs[each] - covered), len(bad[each])))
        left.remove(package)
        at = told[package]
        # Once a package goes wrong on all admitted releases, rules about another add nothing.
        here = {of for of in bad[package] if (not always and at[of].by_rule) or not at[of].cells <= covered}
        covered |= runs[package]
        always = always or len(bad[package]) == len(at)
        ordered = in_version_order(at)
        known = within.releases.get(package) or ordered
        for (wrong, by_rule), group in groupby(ordered, key=lambda of: (of in here, at[of].by_rule)):
            span = list(group)
            if wrong:
                yield package, span[0], span[-1], span[0] == known[0], span[-1] == known[-1], by_rule


def to_test(
    knowledge: Knowledge, found: Sequence[Hole], within: Admitted, gaps: Sequence[Gap] = ()
) -> tuple[ToTest, ...]:
    """Return the lowest release, then those that show the most of the remaining findings.

    jaxlib comes with its jax.
    """
    own: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for package, releases in within.releases.items():
        if package == "jaxlib":
            continue
        for version in releases:
            pins = {package: version}
            if package == "jax":
                pins |= {name: of for name, of in knowledge.jaxlibs[version].items() if name == "jaxlib"}
            shown = [each for each in found if each.package in pins and each.has(pins[each.package])]
            own[package, version] = {(each.issue.id, case) for each in shown for case in each.cases}
            own[package, version] |= {
                (gap.path, gap.name) for gap in gaps if gap.package == package and gap.has(version)
            }
    first = next(((name, of[0]) for name, of in within.releases.items() if of and name != "jaxlib"), None)
    if first is None:
        return ()
    chosen, seen = [ToTest(*first, len(own[first]))], set(own[first])
    while len(chosen) < _MAX_TO_TEST:
        # max takes the first: reversed, that is the newest of equals.
        best = max(reversed(own), key=lambda each: len(own[each] - seen))
        if own[best] <= seen:
            break
        chosen.append(ToTest(*best, len(own[best] - seen)))
        seen |= own[best]
    return tuple(chosen)


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
    of = read_bounds(path)
    if not of.packages.keys() & set(STACK):
        text.say(console, f"{path}: it has no bounds on {', '.join(STACK)}", "bold")
        return Exit.UNDECIDED
    within = admitted(known, of.packages)
    found = _less_ignored(Within(within, tuple(holes(known, within, [*of.packages, *of.unsaid]))), known)
    if source is not None:
        found = _narrowed(found, known, source)
    found = replace(found, tests=to_test(known, found.holes, within, found.gaps) if found.findings else ())
    if format == "json":
        sys.stdout.write(_json(found, path, known))
    else:
        _show(found, path, known, verbose=verbose, console=console)
    if within.empty:
        return Exit.UNDECIDED
    if strict and (within.idle or within.without or not within.stacks or found.untold or found.unread):
        return Exit.INCOMPLETE
    if found.gaps or any(hole.issue.kind in severe for hole in found.holes):
        return Exit.UNEXPECTED
    return Exit.AS_EXPECTED if within.stacks else Exit.UNDECIDED


def _less_ignored(found: Within, known: Knowledge) -> Within:
    """Return the answer without the issues that jax-stack-compat.toml ignores."""
    path = Path("jax-stack-compat.toml")
    if not os.path.lexists(path):
        return found
    from suite.check import ignored  # loads slowly, and most projects ignore nothing

    entries = ignored.load(path, {issue.id for issue in known.issues})
    active, stale = ignored.active(entries, found.issues, datetime.now(UTC).date())
    left = tuple(hole for hole in found.holes if hole.issue.id not in active)
    return replace(found, holes=left, ignored=len(found.issues & active), stale=stale)


def _narrowed(found: Within, known: Knowledge, source: Path) -> Within:
    """Return the holes that concern a source tree, with the lines that admitted releases lack."""
    from suite.check.source.usage import usage

    of = usage(source)
    uses = concern.uses(of.uses, of.names, known)
    left, untold, unused = [], dict[str, None](), dict[str, None]()
    for hole in found.holes:
        id = hole.issue.id
        releases = [each for each in found.admitted.releases.get(hole.package, ()) if hole.has(each)]
        cases = [case for case in hole.issue.cases if case.id in hole.cases]
        told = {case.id: [one.use for one in concern.met(case, uses)] for case in cases}
        kept_cases = [
            name
            for name, at in told.items()
            if any(not use.ignored & {id, "*"} and _reached(use, hole.package, releases) for use in at)
        ]
        if kept_cases:
            left.append(replace(hole, cases=tuple(kept_cases)))
        elif any(concern.is_untold(case) and not told[case.id] for case in cases):
            untold[id] = None
        else:
            unused[id] = None
    kept = {each.issue.id for each in left}
    return replace(
        found,
        holes=tuple(left),
        gaps=tuple(_gaps(of, found.admitted)),
        untold=tuple(each for each in untold if each not in kept),
        unused=tuple(each for each in unused if each not in kept and each not in untold),
        unread=of.unread,
    )


def _reached(use: Use, package: str, releases: Sequence[str]) -> bool:
    """Return False if the code's own conditions exclude all of these releases."""
    from suite.check.source.conditions import Holds, holds

    if not use.guards or not releases:
        return True
    return any(all(holds(guard, {package: of}) is not Holds.NO for guard in use.guards) for of in releases)


def _gaps(of: Usage, within: Admitted) -> Iterable[Gap]:
    """Yield the lines whose names an admitted release lacks, in order of place."""
    from suite.check.findings import lack
    from suite.check.source.conditions import excludes
    from suite.names import query

    alike: dict[object, list[tuple[str, str, str]]] = {}
    for use in of.uses:
        packages = {thing.name.partition(".")[0] for thing in use.things}
        package = min(packages)
        if len(packages) > 1 or package not in within.bounds or package not in within.releases:
            continue
        key = use.things, use.how, use.call, use.guards
        if key not in alike:
            walked = query.names(package).releases
            releases = [each for each in within.releases[package] if each in walked]
            lacks = [
                None if excludes(use.guards, {package: release}) else lack(use, {package: release}.get)
                for release in releases
            ]
            alike[key] = []
            for name, group in groupby(zip(releases, lacks, strict=True), key=lambda each: each[1] and each[1].shown):
                span = [each for each, _ in group]
                if name:
                    alike[key].append((name, span[0], span[-1]))
        if "*" not in use.ignored:
            yield from (Gap(name, use.path, use.line, package, *span) for name, *span in alike[key])


def _show(found: Within, path: Path, known: Knowledge, *, verbose: bool, console: Terminal) -> None:
    """Print the answer, in a few lines unless `verbose`."""
    bounds = ", ".join(f"{name}{of}" for name, of in sorted(found.admitted.bounds.items()) if name in STACK)
    bad = bool(found.holes or found.gaps or found.admitted.empty or not found.admitted.stacks)
    head = [(f"{path}: {bounds}", "dim"), (found.verdict, "bold red" if bad else "bold green")]
    head += [(each, "bold yellow") for each in found.admitted.empty]
    idle = [
        f"{name} {release}"
        for name, of in found.admitted.idle.items()
        if found.admitted.releases[name]
        for release in of
    ]
    tail = [(f"{'; '.join(found.admitted.without)}.", "yellow")] if found.admitted.without else []
    tail += [(f"Admitted and never run: {some(idle)}.", "yellow")] if idle else []
    if found.untold:
        listed = found.untold if verbose else [some(found.untold)]
        tail.append((f"Also on such releases, but source code cannot show it: {', '.join(listed)}.", ""))
    if found.unused:
        listed = found.unused if verbose else [some(found.unused)]
        tail.append((f"Not used here: {', '.join(listed)}.", "dim"))
    if found.unread:
        tail.append((f"Not read: {some([f'{each.path} ({each.why})' for each in found.unread])}.", "yellow"))
    if found.ignored:
        tail.append((f"{found.ignored} ignored by jax-stack-compat.toml.", "dim"))
    if found.stale:
        tail.append((f"jax-stack-compat.toml has stale entries: {'; '.join(found.stale)}.", "yellow"))
    if found.tests:
        first, *others = (f"{test.package} {test.version}" for test in found.tests)
        shown = sum(test.shows for test in found.tests)
        names = ", ".join([f"{first} (the lowest that is admitted)", *others])
        show = "They show" if others else "It shows"
        tail.append((f"To test in CI: {names}. {show} {shown} of the {found.findings} findings.", "bold"))
    tail.append((f"{found.rests_on}, as of {known.day}.", "bold"))
    gaps = _told_gaps(found.gaps, verbose=verbose)
    room = MAX_LINES - len(head) - len(gaps) - len(tail)
    for line, style in [*head, *((gap, "red") for gap in gaps)]:
        text.say(console, line, style)
    for line in _told_holes(found.holes, len(found.holes) if verbose else room):
        text.say(console, f"  {line}")
    for line, style in tail:
        text.say(console, line, style)


def _told_gaps(gaps: Sequence[Gap], *, verbose: bool) -> list[str]:
    alike: dict[str, list[str]] = {}
    for gap in gaps:
        alike.setdefault(gap.told, []).append(f"{gap.path}:{gap.line}")
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
    # No bound helps with holes on all admitted releases, so they are only counted.
    always = [each for each in found if each.lowest and each.highest]
    ranked = [
        (place / _SHARES.get(kind, 1), kind, of)
        for kind, spans in alike.items()
        for place, of in enumerate(sorted(spans.values(), key=lambda of: -len(of)))
        if of[0] not in always
    ]
    order = list(KINDS)
    chosen = sorted(ranked, key=lambda each: (each[0], order.index(each[1])))[: room - 1 - bool(always)]
    lines = [
        f"{KINDS[kind]}: {of[0].span}: {some([each.issue.id for each in of])}"
        for _, kind, of in sorted(chosen, key=lambda each: (order.index(each[1]), each[0]))
    ]
    hidden = len(found) - len(always) - sum(min(len(of), 3) for _, _, of in chosen)
    if always:
        ids = list(dict.fromkeys(each.issue.id for each in always))
        lines.append(f"{len(ids)} issues on all admitted releases of a package: {some(ids)}")
    more = f"and {hidden} more: " * bool(hidden)
    return [*lines, f"{more}--verbose lists all, with their cases"]


def _json(found: Within, path: Path, known: Knowledge) -> str:
    """Return the answer as JSON."""
    within = found.admitted
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
        "verdict": found.verdict,
        "findings": [
            {
                **{"id": hole.issue.id, "kind": hole.issue.kind, "case": case, "package": hole.package},
                **{"first": hole.first, "last": hole.last, "lowest": hole.lowest, "highest": hole.highest},
                "by_rule": hole.by_rule,
            }
            for hole in found.holes
            for case in hole.cases
        ],
        "lines": [
            {
                **{"name": gap.name, "path": gap.path, "line": gap.line, "package": gap.package},
                **{"first": gap.first, "last": gap.last},
            }
            for gap in found.gaps
        ],
        "to_test": [test._asdict() for test in found.tests],
        **{"untold": list(found.untold), "unused": list(found.unused), "ignored": found.ignored},
        "unread": [each._asdict() for each in found.unread],
        **{"data_of": known.day, "suite_version": __version__},
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"
