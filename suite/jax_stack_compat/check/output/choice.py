"""The choice of a set of releases near a stack on which most of its issues are fixed. Pure, except for the metadata.

A set is a stack that was run, so it installs; only NumPy may be another release. Every claim about a set was run on the
same releases, or is by rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from packaging.specifiers import SpecifierSet

from jax_stack_compat.base.spelling import requirement
from jax_stack_compat.check.answer import Answer, answer
from jax_stack_compat.check.inputs.markers import admits
from jax_stack_compat.check.inputs.stack import Stack
from jax_stack_compat.check.knowledge import Knowledge, KnownCase
from jax_stack_compat.check.on_devices import plugins
from jax_stack_compat.check.output.limits import Limits
from jax_stack_compat.check.output.lines import Lines
from jax_stack_compat.check.source.uses import Usage
from jax_stack_compat.judge.metadata import in_version_order, lower_bound, parsed, requires, upper_bound
from jax_stack_compat.judge.prediction import Name
from jax_stack_compat.judge.rules import Pins
from jax_stack_compat.judge.verdict_table import GOOD, UNDECIDED, Verdict
from jax_stack_compat.judge.verdicts import goes_wrong
from jax_stack_compat.libraries.told import told
from jax_stack_compat.packages import IMPORTS, STACK, guests
from jax_stack_compat.stack.releases import EXTRAS, OF_CPU, PYTHONS, Packages, Release, applies, exclusion, load

# Absent or guarded is not good here: the code does not work.
WELL: frozenset[Verdict] = frozenset({"clear", "documented"})
# Release of jax → plugin → its specifier, and the extra of jax.
Required = Mapping[str, Mapping[str, tuple[str, str]]]
# The interpreter of most stacks that were run.
_PYTHON = "3.12"


@dataclass(frozen=True)
class ReleaseSet:
    """Releases of the user's packages that install together, and a cell that was run with them.

    `numpy` is the release of NumPy to pin, if any, and `ran_numpy` the cell's own. `beside` are specifiers of plugins.
    `cells` are all cells with these releases.
    """

    pins: Pins
    cell: str
    cells: Sequence[str]
    numpy: str = ""
    ran_numpy: str = ""
    beside: Mapping[str, str] = field(default_factory=dict)

    @property
    def whole(self) -> Pins:
        """The pinned releases, with NumPy's."""
        return {**self.pins, **({"numpy": self.numpy} if self.numpy else {})}

    @property
    def shown(self) -> str:
        """The releases, in words."""
        return ", ".join(f"{name} {version}" for name, version in self.pins.items() if name != "jaxlib")


@dataclass(frozen=True)
class Candidate:
    """A set: the cases that it fixes (`well`), all that go wrong with it (`wrong`), and those that it adds (`new`)."""

    set: ReleaseSet
    well: frozenset[Name]
    wrong: frozenset[Name]
    new: tuple[Name, ...]


@dataclass(frozen=True)
class Advice:
    """The best set, with the cases that it fixes, leaves or neither, and the cases that other sets fix.

    `lowered` are the packages that it downgrades; `helped` is True if newer sets would fix cases, too, but break lines
    of the source.
    """

    best: Candidate
    fixed: tuple[Name, ...]
    left: tuple[Name, ...]
    neither: tuple[Name, ...]
    others: tuple[tuple[Candidate, tuple[Name, ...]], ...]
    lowered: Mapping[str, tuple[str, str]]
    helped: bool


def within(knowledge: Knowledge, limits: Limits, python: str, path: str, usage: Usage | None) -> Stack | None:
    """Return the newest stack that was run within a file's bounds and on which the fewest uses fail; None without any.

    `python` is the range of Python in the file.
    """
    asked = {"jax", "jaxlib", *(name for name in STACK if name in limits.bounds)}
    asked |= {other for name in asked for other in IMPORTS.get(name, ())}
    minor = next((each for each in (_PYTHON, *reversed(PYTHONS)) if admits(python, f"{each}.0")), _PYTHON)
    names = [name for name in STACK if name in asked]
    sets = installable(knowledge, names, {}, limits, minor)
    newest_first = sorted(sets, key=lambda each: tuple(map(parsed, each.pins.values())), reverse=True)
    lines = Lines(usage, {}) if usage else None
    newest = min(newest_first, key=lambda each: lines.count(each.whole) if lines else 0, default=None)
    where = f"the newest within the bounds of {path}{', with the fewest lines that fail' * (lines is not None)}"
    return Stack(newest.whole, where, f"{minor}.0", file=path) if newest else None


def installable(
    knowledge: Knowledge, names: Sequence[str], versions: Pins, limits: Limits, python: str
) -> Iterator[ReleaseSet]:
    """Yield the sets of releases of these packages that were run, are within the bounds, and install together.

    `versions` are those of the stack. If it has NumPy or a plugin, so have the sets; its NumPy is kept where possible.
    """
    offered = load().packages
    ran = {run.cell for case in knowledge.cases.values() for run in case.runs}
    fitting = _Numpy(knowledge, limits, offered, python)
    there = plugins(versions)
    required = {jax: _required(jax, offered, python) for jax in offered["jax"]} if there else {}
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for id, pins in knowledge.cells.items():
        if id in ran and all(name in pins for name in names):
            alike.setdefault(tuple((name, pins[name]) for name in names), []).append(id)
    for pairs, cells in alike.items():
        pins = dict(pairs)
        releases = [each for name, version in pairs if (each := offered.get(name, {}).get(version))]
        if not all(limits.admit(*pair) for pair in pairs) or not all(_installs(each, python) for each in releases):
            continue
        beside = _beside(there, pins["jax"], required)
        extras = {extra for _, extra in beside.values()} if beside else set()
        if beside is None or any(exclusion(pins, offered, python, extra) for extra in {OF_CPU, *extras}):
            continue
        if not all(_is_left(name, pins, limits, offered, python) for name in limits.bounds if name not in pins):
            continue
        cell = min(cells, key=len)
        ran_numpy = knowledge.cells[cell].get("numpy", "")
        numpy = _numpy(pins, cells, versions, fitting)
        if numpy is not None:
            yield ReleaseSet(pins, cell, cells, numpy, ran_numpy, {name: spec for name, (spec, _) in beside.items()})


def _installs(release: Release, python: str) -> bool:
    return release.yanked is None and release.allows(python) and release.newest_wheel(python) is not None


def _is_left(name: str, pins: Pins, limits: Limits, offered: Packages, python: str) -> bool:
    """Return True if the bounds on another package leave a release that installs with these, as far as known."""
    known = [version for version in offered.get(name, {}) if limits.admit(name, version)]
    if known:
        fit = (version for version in known if _installs(offered[name][version], python))
        return any(not exclusion({**pins, name: version}, offered, python) for version in fit)
    upper = upper_bound(limits.bounds[name])
    required = (requires(pin, pins, offered, python).get(name, SpecifierSet()) for pin in pins)
    lower = [bound for bound in map(lower_bound, required) if bound]
    return upper is None or all(parsed(bound) < parsed(upper) for bound in lower)


def _beside(names: Sequence[str], jax: str, required: Required) -> Mapping[str, tuple[str, str]] | None:
    """Return the specifier and the extra of each plugin that a jax requires; None if it has no release for it.

    A plugin that no jax of the data requires is left out.
    """
    # The runtime has the plugin's version.
    plugin_of = {name: name.replace("-pjrt", "-plugin") for name in names}
    known = {name for name, plugin in plugin_of.items() if any(plugin in of for of in required.values())}
    own = required.get(jax, {})
    if any(plugin_of[name] not in own for name in known):
        return None
    return {name: own[plugin_of[name]] for name in names if name in known}


def _required(jax: str, offered: Packages, python: str) -> Mapping[str, tuple[str, str]]:
    """Return the plugins that a jax requires, each with its specifier and jax's extra."""
    found = {}
    for wanted in map(requirement, offered["jax"][jax].requires_dist):
        extra = next((each for each in EXTRAS if each != OF_CPU and applies(wanted, python, each)), None)
        if extra and plugins([wanted.name]):
            versions = {each.version for each in wanted.specifier}
            exact = len(versions) == 1 and "*" not in str(wanted.specifier)
            found[wanted.name] = (f"=={versions.pop()}" if exact else str(wanted.specifier)), extra
    return found


@dataclass(frozen=True)
class _Numpy:
    """The releases of NumPy that fit a set."""

    knowledge: Knowledge
    limits: Limits
    offered: Packages
    python: str

    def fits(self, version: str, pins: Pins) -> bool:
        """Return True if a NumPy is within the bounds, installs with a set, and lets it import."""
        known = self.offered["numpy"].get(version)
        whole = {**pins, "numpy": version}
        if not self.limits.admit("numpy", version) or (known and not _installs(known, self.python)):
            return False
        works = not any(goes_wrong(case.by_rule(whole) or "not-run") for case in self._row_zero)
        return works and not exclusion(whole, self.offered, self.python)

    @cached_property
    def _row_zero(self) -> Sequence[KnownCase]:
        return [case for (issue, _), case in self.knowledge.cases.items() if issue in self.knowledge.row_zero]

    @cached_property
    def newest_first(self) -> Sequence[str]:
        """The releases for this Python that are within the bounds."""
        releases = [version for version, of in self.offered["numpy"].items() if _installs(of, self.python)]
        return [each for each in reversed(in_version_order(releases)) if self.limits.admit("numpy", each)]


def _numpy(pins: Pins, cells: Sequence[str], versions: Pins, of: _Numpy) -> str | None:
    """Return the NumPy to pin with a set; empty if the newest works and the stack has none; None if none fits."""
    own = [of.knowledge.cells[id].get("numpy", "") for id in cells]
    newest = of.newest_first
    if "numpy" not in versions and (not newest or of.fits(newest[0], pins)):
        return ""
    every = dict.fromkeys([versions.get("numpy", ""), *own, *newest])
    return next((version for version in every if version and of.fits(version, pins)), None)


def choose(
    found: Answer, knowledge: Knowledge, limits: Limits, lines: Lines | None = None, *, locked: bool = True
) -> Advice | None:
    """Return the set that fixes the most cases and breaks no line; among equals, the nearest.

    Each added case cancels one fixed case. With `lines` of a source, added cases do not count: it is unknown if the
    source meets them. A set that downgrades a package comes after all others, unless the stack is not `locked`. The
    nearest set is newer and the fewest minor releases away; among equals, the fewest releases. If each set breaks a
    line, the nearest one is taken. Return None if no set fixes more than it breaks; without a lock, the stack itself
    counts as a set. For a stack that does not work, the nearest set that does is the best.
    """
    names = [name for name in STACK if name in found.versions]
    if "jax" not in names:
        return None
    python = ".".join(found.stack.python.split(".")[:2]) or _PYTHON
    sets = installable(knowledge, names, {**found.stack.versions, **found.versions}, limits, python)
    every = judged(sets, found, knowledge)

    def gain(candidate: Candidate) -> int:
        return len(candidate.well) - (0 if lines else len(candidate.new))

    def near(candidate: Candidate) -> tuple[object, ...]:
        return _nearness(candidate.set.pins, found.versions, knowledge)

    def lowered(candidate: Candidate) -> Mapping[str, tuple[str, str]]:
        return _lowered(candidate.set.whole, found) if locked else {}

    # For a stack that does not work, the nearest set that does is wanted, whatever else it fixes.
    fails = found.works.fails
    ranked = sorted(every, key=lambda each: (not lowered(each), gain(each) * (not fails), near(each)), reverse=True)
    useful = [each for each in ranked if fails or gain(each) > 0 or (not locked and _is_here(each.set, found))]
    whole = (each for each in useful if not lines or not lines.count(each.set.whole))
    best = next(whole, None) or max(useful, key=lambda each: (not lowered(each), near(each)), default=None)
    if best is None:
        return None
    helped = bool(lowered(best)) and not all(map(lowered, useful))
    return _advice(best, found, every, near, lowered(best), helped=helped)


def _is_here(chosen: ReleaseSet, found: Answer) -> bool:
    return all(found.versions.get(name) == version for name, version in chosen.pins.items())


def _lowered(pins: Pins, found: Answer) -> Mapping[str, tuple[str, str]]:
    """Return the packages with an older release than the stack's, each with both releases."""
    versions = {**found.stack.versions, **found.versions}
    # jaxlib follows its jax.
    both = {name: (versions[name], pin) for name, pin in pins.items() if name in versions and name != "jaxlib"}
    return {name: pair for name, pair in both.items() if parsed(pair[1]) < parsed(pair[0])}


def _advice(
    best: Candidate,
    found: Answer,
    every: Sequence[Candidate],
    near: Callable[[Candidate], tuple[object, ...]],
    lowered: Mapping[str, tuple[str, str]],
    *,
    helped: bool,
) -> Advice:
    wanted = [effect.name for effect in found.effects]
    left = tuple(name for name in wanted if name not in best.well)
    others, rest = [], set(left)
    while rest:
        other = max(every, key=lambda each: (len(each.well & rest), near(each)))
        if not other.well & rest:
            break
        others.append((other, tuple(name for name in left if name in other.well & rest)))
        rest -= other.well
    fixed = tuple(name for name in wanted if name in best.well)
    still = tuple(name for name in left if name in best.wrong)
    neither = tuple(name for name in left if name not in best.wrong)
    return Advice(best, fixed, still, neither, tuple(others), lowered, helped)


def judged(sets: Iterable[ReleaseSet], found: Answer, knowledge: Knowledge) -> list[Candidate]:
    """Return the sets that import, also with the stack's guests and libraries, each with what it fixes and adds."""
    there = {"jaxlib", *found.versions, *found.stack.unsaid}
    wanted = {effect.name for effect in found.effects}
    cases = knowledge.cases.items()
    seen = {name: _CaseVerdicts(case) for name, case in cases if name in wanted or there.issuperset(case.needs)}
    imports = knowledge.row_zero | {issue.id for issue in knowledge.issues if issue.kind == "import-error"}
    now = {effect.name for effect in answer(knowledge, found.stack).effects}
    beside = {name: found.versions[name] for name in guests(found.versions)}
    made = []
    for each in sets:
        # Other packages keep their versions, unless the cell pins another; a guest always does.
        whole = [{**found.versions, **knowledge.cells[id], **beside, **each.whole} for id in each.cells]
        shown = {name: case.shows(whole) for name, case in seen.items()}
        wrong = [name for name, verdicts in shown.items() if not verdicts <= GOOD | UNDECIDED]
        if any(issue in imports for issue, _ in wrong):
            continue
        if any(not of.well for of in told({**found.stack.versions, **each.whole})):
            continue
        well = frozenset(name for name in wanted if shown[name] <= WELL)
        new = tuple(name for name in wrong if name not in now)
        made.append(Candidate(each, well, frozenset(wrong), new))
    return made


class _CaseVerdicts:
    """The verdicts on a case, by the releases that can matter to the case."""

    def __init__(self, case: KnownCase) -> None:
        self.case = case
        self.matter = sorted({"jax", "jaxlib", *case.needs, *case.named})
        self.alike: dict[tuple[str | None, ...], set[Verdict]] = {}
        means = {each.behaviour: case.verdict(each.behaviour) for each in case.runs}
        for run in case.runs:
            self.alike.setdefault(self._key(run.pins), set()).add(means[run.behaviour])

    def _key(self, pins: Pins) -> tuple[str | None, ...]:
        return tuple(map(pins.get, self.matter))

    def shows(self, whole: Iterable[Pins]) -> set[Verdict]:
        """Return the verdicts of runs with the same relevant packages as one of these stacks; without any, by rule.

        An unknown verdict is `not-run`.
        """
        whole = list(whole)
        if seen := {verdict for pins in whole for verdict in self.alike.get(self._key(pins), ())}:
            return seen
        return {self.case.by_rule(pins) or "not-run" for pins in whole}


def _nearness(pins: Pins, versions: Pins, knowledge: Knowledge) -> tuple[object, ...]:
    """Return a key for nearness to these versions; greater is nearer. jaxlib is ignored: it follows its jax."""
    minors = releases = down = 0
    for name in (pin for pin in pins if pin != "jaxlib"):
        here, there = parsed(versions[name]), parsed(pins[name])
        known = {*map(parsed, knowledge.releases[name]), here}
        between = [each for each in known if min(here, there) < each <= max(here, there)]
        low = min(here, there).release[:2]
        minors += len({each.release[:2] for each in between} - {low})
        releases += len(between)
        down += there < here
    return -down, -minors, -releases, tuple(parsed(pin) for pin in pins.values())
