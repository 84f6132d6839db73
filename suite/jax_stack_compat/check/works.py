"""Whether a stack installs, imports and runs: the first sentence of every answer about it. Pure.

Metadata tells what an installer refuses; runs and rules of row zero and of the guests' cases tell the rest. A case that
ran needs its control, so what ran in a cell shows that its packages import there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from jax_stack_compat.check.inputs.stack import Stack
from jax_stack_compat.check.installs import PYTHONS, admits, newer_jaxlib, refusals, unused_plugins
from jax_stack_compat.check.knowledge import Knowledge
from jax_stack_compat.check.source.touched import IMPORT
from jax_stack_compat.check.versions import LookedUp, looked_up
from jax_stack_compat.judge.metadata import parsed
from jax_stack_compat.judge.prediction import Prediction, predict
from jax_stack_compat.judge.rules import Pins, concerned, first_match, in_stack_order, requirements
from jax_stack_compat.judge.verdict_table import GOOD, UNDECIDED
from jax_stack_compat.judge.verdicts import goes_wrong
from jax_stack_compat.judge.wording import named
from jax_stack_compat.libraries import known as libraries
from jax_stack_compat.libraries.told import Told, cause, told
from jax_stack_compat.packages import GUESTS, HELD, STACK, guests

PLATFORM = "CPU, x86-64"
_HOW: Mapping[str, str] = {"run": "run", "by rule": "by rule", "between": "between two runs that agree"}
_MOST_INSTEAD = 2
_IMPORT_ERROR, _CRASHED = "import-error", "crashed"
# Behaviours of row zero that need no solve.
AT_IMPORT = (_IMPORT_ERROR, _CRASHED)


@dataclass(frozen=True)
class Works:
    """The judgement of a stack.

    `refused` says why an installer refuses it, and `broken` what does not import or run. `instead` are the nearest
    releases without these, as `numpyro 0.21.0`. `well` says what imports and runs, and `outside` are the packages that
    the data does not have. `to_pin` says what fails with the NumPy that an installer gives if nobody pins it.
    """

    refused: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    well: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    to_pin: str = ""

    @property
    def fails(self) -> bool:
        """True if the stack is known not to install, import or run."""
        return bool(self.refused or self.broken)

    @property
    def sentence(self) -> str:
        """The judgement in words; empty if nothing is known."""
        told = [f"This stack does not install: {'; '.join(self.refused)}."] if self.refused else []
        told += [f"This stack does not work: {'; '.join(self.broken)}."] if self.broken else []
        told += [f"{'; '.join(self.well)}."] if self.well and not self.fails else []
        told += [f"Good: {' or '.join(self.instead)}."] if self.instead else []
        told += [f"Not known: {named(self.outside)}."] if self.outside else []
        told += [f"{self.to_pin}."] if self.to_pin else []
        return " ".join(told)


def judged(knowledge: Knowledge, stack: Stack, of: LookedUp) -> Works:
    """Return the judgement of a stack whose versions are looked up as `of`."""
    refused = refusals(of.named, stack.python)
    broken, well, unsure = _of_runs(knowledge, of.pins)
    of_libraries = _of_libraries(stack, of, unsure)
    # What metadata refuses is told already.
    told_twice = [one for one in of_libraries if one.refused and one.words in refused]
    of_libraries = [one for one in of_libraries if one not in told_twice]
    refused += [one.words for one in of_libraries if one.refused]
    broken += [one.words for one in of_libraries if one.fails]
    well += _working(one for one in of_libraries if one.well)
    if not refused and newer_jaxlib(of.named):
        broken.append(f"jax {of.named['jax']} does not import beside jaxlib {of.named['jaxlib']}, which is newer")
    of_stack = [each for each in (*refused, *broken) if each not in {one.words for one in of_libraries}]
    instead = _nearest(knowledge, stack, of) if of_stack else []
    instead += [release for one in of_libraries for release in one.instead]
    if refused and stack.python and not broken and (pythons := _pythons(of.named)):
        instead.append(f"Python {pythons[0]}" + f" to {pythons[-1]}" * (len(pythons) > 1))
    plugins = unused_plugins({**of.named, **stack.versions})
    if plugins:
        jaxlib = of.named["jaxlib"]
        broken.append(f"jaxlib {jaxlib} does not use {' and '.join(plugins)}, of another release")
        instead.append(" with ".join(f"{name.partition(' ')[0]} {jaxlib}" for name in plugins))
    lost = GUESTS.keys() - of.pins.keys() | libraries.load().keys() - HELD.keys()
    lost -= {one.library for one in (*of_libraries, *told_twice)}
    outside = [f"{name} {stack.versions[name]}" for name in sorted(lost & stack.versions.keys())]
    unsure = [release for release in unsure if release.partition(" ")[0] not in {one.library for one in of_libraries}]
    told_of = {"refused": refused, "broken": broken, "instead": instead, "well": well, "outside": [*unsure, *outside]}
    lists = {name: tuple(each) for name, each in told_of.items()}
    return Works(**lists, to_pin=_to_pin(knowledge, of, stack.python))


def _of_libraries(stack: Stack, of: LookedUp, unsure: Iterable[str]) -> list[Told]:
    """Return what is known of the libraries in a stack, without the guests of which a case tells."""
    silent = {release.partition(" ")[0] for release in unsure}.union(GUESTS.keys() - of.pins.keys())
    names = [name for name in libraries.load() if name not in GUESTS or name in silent]
    return list(told({**stack.versions, **of.named}, names))


def _working(of: Iterable[Told]) -> list[str]:
    """Return the libraries that work, a phrase for each way in which that is known; parts that fail get their own."""
    by_how: dict[str, list[str]] = {}
    parts = []
    for one in of:
        if one.words == f"{one.library} {one.release}":
            by_how.setdefault(one.how, []).append(one.words)
        else:
            parts.append(one.words)
    does = {how: "imports and runs" if len(names) == 1 else "import and run" for how, names in by_how.items()}
    return [*(f"{named(names)} {does[how]} ({how})" for how, names in by_how.items()), *parts]


def _to_pin(knowledge: Knowledge, of: LookedUp, python: str) -> str:
    """Return a sentence if row zero fails with the newest NumPy that a stack without a NumPy admits; else nothing."""
    if "numpy" not in of.assumed:
        return ""
    offered = (each for each in reversed(knowledge.releases["numpy"]) if admits("numpy", each, python))
    newest = next((each for each in offered if not refusals({**of.named, "numpy": each}, python)), "")
    broken = _of_row_zero(knowledge, {**of.pins, "numpy": newest}) if newest else []
    if not broken or _of_row_zero(knowledge, of.pins):
        return ""
    return f"Pin numpy: an installer gives {newest}, and {broken[0]}; numpy {of.assumed['numpy']} is good"


def _of_runs(knowledge: Knowledge, versions: Pins) -> tuple[list[str], list[str], list[str]]:
    """Return what does not import or run, what does, and the guests of which neither is known."""
    broken = _of_row_zero(knowledge, versions)
    well = [_of_stack(knowledge, versions)] if not broken else []
    unsure = list[str]()
    for guest in (name for name in GUESTS if name in versions):
        told = _of_guest(knowledge, guest, versions)
        if told is None:
            unsure.append(f"{guest} {versions[guest]}")
        else:
            (broken if told.fails else well).append(told.words)
    return broken, list(filter(None, well)), unsure


def _of_row_zero(knowledge: Knowledge, versions: Pins) -> list[str]:
    """Return what row zero shows not to import or run, a phrase each; only imports and crashes without Diffrax."""
    found = dict[str, None]()
    for (issue, id), case in knowledge.cases.items():
        if issue not in knowledge.row_zero:
            continue
        known = predict(case, versions, case.runs)
        if known.behaviour is None or not goes_wrong(case.verdict(known.behaviour)):
            continue
        if names := _stopping(known, versions):
            found[_stopped(names, known, versions)] = None
        elif versions.keys() >= set(case.needs):
            found[f"{id.replace('-', ' ')} fails ({known.behaviour}, {_HOW[known.how]})"] = None
    return list(found)


def _stopping(known: Prediction, versions: Pins) -> set[str]:
    """Return the packages whose import fails, or with which every array crashes; nothing if only a solve fails."""
    names = {each.name for rule in known.rules for each in requirements(rule.on)} & versions.keys() - {"jaxlib"}
    if known.behaviour == _IMPORT_ERROR:
        return names or {"jax"}
    return names if known.behaviour == _CRASHED else set()


def _stopped(names: Collection[str], known: Prediction, versions: Pins) -> str:
    """Return the packages that do not import or that crash, and those beside which they do, in words."""
    subject = next((name for name in reversed([*STACK]) if name in names), "jax")
    beside = [name for name in in_stack_order(names) if name != subject] or ["jax"]
    verb = "crashes" if known.behaviour == _CRASHED else "does not import"
    there = f" beside {_released(beside, versions)}" if subject not in beside else ""
    return f"{subject} {versions.get(subject, '')} {verb}{there} ({_HOW[known.how]})"


def _released(names: Iterable[str], versions: Pins) -> str:
    return " and ".join(f"{name} {versions[name]}" for name in names if name in versions)


def _of_stack(knowledge: Knowledge, versions: Pins) -> str:
    """Return what imports and runs of the stack; empty if neither a run nor a rule tells."""
    names = [name for name in STACK if name in versions and name != "jaxlib"]
    zero = [case for (issue, _), case in knowledge.cases.items() if issue in knowledge.row_zero]
    if "jax" not in names or not zero:
        return ""
    if versions.keys() >= {need for case in zero for need in case.needs}:
        known = [predict(case, versions, case.runs) for case in zero]
        if all(each.behaviour is not None for each in known):
            return f"Imports and solves ({_weakest(known)}; {PLATFORM})"
    if all(_ran(knowledge, name, versions) for name in names):
        return f"Imports and computes (run; {PLATFORM})"
    by_rule = {case.by_rule(versions) for case in zero}
    return f"Imports and computes (by rule; {PLATFORM})" if by_rule <= GOOD else ""


def _weakest(known: Iterable[Prediction]) -> str:
    return "run" if all(each.how == "run" for each in known) else "by rule"


def _ran(knowledge: Knowledge, package: str, versions: Pins) -> bool:
    """Return True if a case of a package was decided on these versions of the stack and of NumPy."""
    wanted = {name: versions[name] for name in (*STACK, "numpy") if name in versions}
    cells = {id for id, pins in knowledge.cells.items() if wanted.items() <= pins.items()}
    cases = (case for case in knowledge.cases.values() if package in concerned(case.needs))
    runs = (run for case in cases for run in case.runs if run.cell in cells)
    return any(run.behaviour not in UNDECIDED.union(AT_IMPORT) for run in runs)


@dataclass(frozen=True)
class _Guest:
    words: str
    fails: bool


def _of_guest(knowledge: Knowledge, guest: str, versions: Pins) -> _Guest | None:
    """Return what a guest does beside this stack; None if no case of it tells."""
    of_guest = {name: case for name, case in knowledge.cases.items() if guest in case.needs}
    known = {name: predict(case, versions, case.runs) for name, case in of_guest.items()}
    told = [(of_guest[name], each) for name, each in known.items() if each.behaviour is not None]
    if not told:
        return None
    release, beside = f"{guest} {versions[guest]}", f"beside {_released(['jax'], versions)}"
    verbs = dict.fromkeys(
        each.behaviour or "" for case, each in told if not goes_wrong(case.verdict(each.behaviour or ""))
    )
    failing = {module: each for case, each in told if (module := not_imported(case.touches, each.behaviour or ""))}
    if failing and not verbs:
        why = cause(guest, versions[guest], versions.get("jax", ""))
        words = f"{release} does not import {beside} ({_weakest(failing.values())}){f': {why}' * bool(why)}"
        return _Guest(words, fails=True)
    if not verbs:
        told_of = ", ".join(f"{each.behaviour}" for _, each in told)
        return _Guest(f"{release} fails {beside} ({told_of}, {_weakest(each for _, each in told)})", fails=True)
    *first, last = ["imports", *verbs]
    does = f"{', '.join(first)} and {last}" if first else last
    words = f"{release} {does} ({_weakest(each for _, each in told)})"
    good = _importing(knowledge, guest, versions)
    modules = [f"{module} does not import ({_HOW[each.how]}{good})" for module, each in failing.items()]
    return _Guest("; ".join([words, *modules]), fails=False)


def _importing(knowledge: Knowledge, guest: str, versions: Pins) -> str:
    """Return the next release of a guest that imports whole, by rule, as the end of a phrase; empty without one."""
    cases = [case for case in knowledge.cases.values() if guest in case.needs]
    for release in knowledge.releases[guest]:
        rules = [first_match(case.rules, {**versions, guest: release}) for case in cases]
        shown = [(case, rule.behaviour if rule else "") for case, rule in zip(cases, rules, strict=True)]
        is_newer = parsed(release) > parsed(versions[guest])
        if is_newer and not any(not_imported(case.touches, behaviour) for case, behaviour in shown):
            return f"; good: {guest} {release}"
    return ""


def not_imported(touches: Iterable[str], behaviour: str) -> str:
    """Return the module whose import fails where a case with these touches shows a behaviour; empty if none fails."""
    for name, _, condition in (
        each.removeprefix(IMPORT).partition(" if ") for each in touches if each.startswith(IMPORT)
    ):
        if f"'{behaviour}'" in condition:
            return name
    return ""


def _nearest(knowledge: Knowledge, stack: Stack, of: LookedUp) -> list[str]:
    """Return the nearest releases of single packages with which the stack installs, imports and runs; newer first."""
    versions = of.named
    newer, older = _own_jaxlib(knowledge, versions, stack.python), dict[str, Pins]()
    for package in (*GUESTS, *reversed([*STACK]), "numpy"):
        if package == "jaxlib" or package not in versions:
            continue
        above = [each for each in knowledge.releases[package] if parsed(each) > parsed(versions[package])]
        below = [each for each in knowledge.releases[package] if parsed(each) < parsed(versions[package])]
        for releases, found in ((above, newer), (reversed(below), older)):
            cured = (_cured(knowledge, stack, of, package, each) for each in releases)
            if moved := next(filter(None, cured), None):
                found[package] = moved
    nearest = {**newer, **{package: pins for package, pins in older.items() if package not in newer}}
    told = [f"{package} {pins[package]} ({_known(knowledge, pins)})" for package, pins in nearest.items()]
    return told[:_MOST_INSTEAD]


def _own_jaxlib(knowledge: Knowledge, versions: Pins, python: str) -> dict[str, Pins]:
    """Return a stack with the jaxlib that an installer gives with its jax, if that works, by the package."""
    own = knowledge.jaxlibs.get(versions.get("jax", ""), {}).get("jaxlib")
    if own is None or own == versions.get("jaxlib"):
        return {}
    moved = {**versions, "jaxlib": own}
    return {"jaxlib": moved} if is_well(knowledge, moved, python) else {}


def _cured(knowledge: Knowledge, stack: Stack, of: LookedUp, package: str, release: str) -> Pins | None:
    """Return a stack that works with another release of a package: beside its assumed packages or, else, others."""
    moved = {**of.named, package: release}
    if package == "jax":
        moved = {name: version for name, version in moved.items() if name != "jaxlib"} | {**knowledge.jaxlibs[release]}
    if is_well(knowledge, moved, stack.python):
        return moved
    if package in of.assumed or not of.assumed.keys() & STACK.keys():
        return None
    given = {name: version for name, version in moved.items() if name not in of.assumed}
    other = looked_up(replace(stack, versions=given), knowledge).named
    return other if is_well(knowledge, other, stack.python) else None


def _known(knowledge: Knowledge, versions: Pins) -> str:
    """Return how a stack that works is known to: run, or by rule."""
    telling = [case for name, case in knowledge.cases.items() if name[0] in knowledge.row_zero or guests(case.needs)]
    whole = [case for case in telling if versions.keys() >= set(case.needs)]
    names = [name for name in STACK if name in versions and name != "jaxlib"]
    if not all(_ran(knowledge, name, versions) for name in names):
        return "by rule"
    return _weakest(predict(case, versions, case.runs) for case in whole)


def is_well(knowledge: Knowledge, versions: Pins, python: str) -> bool:
    """Return True if a stack installs, and rules tell that it imports and runs."""
    if newer_jaxlib(versions) or refusals(versions, python):
        return False
    if not all(admits(name, of, python) for name, of in versions.items() if name in HELD):
        return False
    for (issue, _), case in knowledge.cases.items():
        is_whole = versions.keys() >= set(case.needs)
        if issue not in knowledge.row_zero and not (is_whole and guests(case.needs)):
            continue
        rule = first_match(case.rules, versions)
        behaviour = rule.behaviour if rule else ""
        if not is_whole and behaviour not in AT_IMPORT:
            continue
        if rule is None or goes_wrong(case.verdict(behaviour)):
            return False
    return True


def _pythons(versions: Pins) -> list[str]:
    """Return the interpreters that all of these releases have wheels for and allow."""
    held = [(name, of) for name, of in versions.items() if name in HELD]
    return [python for python in PYTHONS if all(admits(name, of, python) for name, of in held)]
