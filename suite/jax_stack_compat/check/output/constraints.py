"""Constraints for an installer: a set of releases near a stack, with what it fixes, leaves, breaks and downgrades."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from jax_stack_compat.base.printable import inert
from jax_stack_compat.check.answer import Answer
from jax_stack_compat.check.finding import Finding
from jax_stack_compat.check.on_devices import plugins
from jax_stack_compat.check.outcome import Outcome
from jax_stack_compat.check.output.choice import Advice, choose
from jax_stack_compat.check.output.limits import Limits
from jax_stack_compat.check.output.lines import Lines
from jax_stack_compat.check.output.text import named as shown
from jax_stack_compat.check.source.uses import Usage
from jax_stack_compat.judge.prediction import Name
from jax_stack_compat.judge.wording import named as some

_MAX_OTHERS = 3
_MAX_LINES = 3
_NO_LIMITS = Limits()


@dataclass(frozen=True)
class Constraints:
    """The lines for an installer, what the set does not keep, in words, and the lines of the source that it breaks."""

    text: str
    faults: tuple[str, ...] = ()
    broken: tuple[Finding, ...] = ()


def constraints(
    outcome: Outcome, usage: Usage | None = None, limits: Limits = _NO_LIMITS, *, locked: bool = True
) -> Constraints:
    """Return a set for `pip -c` and `uv --constraint`, with comments on the cases that it fixes and leaves.

    It is within `limits`, and no line of `usage` fails with it if another set does the same. `locked` is False for the
    stack of a project that has only bounds.
    """
    found = outcome.concerned
    named = {name: version for name, version in found.versions.items() if name not in found.assumed}
    found = replace(found, versions=named)
    lines = Lines(usage, found.versions) if usage else None
    chosen = choose(found, outcome.known, limits, lines, locked=locked) if found.effects or not locked else None
    told = [f"# {found.stack.where[0].upper()}{found.stack.where[1:]}: {shown(outcome.answer)}."] * (not locked)
    told += [f"# {outcome.verdict}", *(_set(chosen, limits, lines) if chosen else _without(found, limits))]
    told += [f"# The bounds are not known: {limits.unread}."] * bool(limits.unread)
    # A project with only bounds has no releases on which its lines are known to work.
    working = Lines(usage, found.versions if locked else {}) if usage else None
    broken = working.broken(chosen.best.set.whole) if working and chosen else ()
    beside = chosen.best.set.beside if chosen else {}
    unpinned = [name for name in plugins(found.stack.versions) if chosen and name not in beside]
    faults = [f"{name} is not pinned: this data does not have its releases" for name in unpinned]
    told += [f"# {fault}." for fault in faults]
    if broken:
        told.append(f"# {_told(broken, len(broken))}.")
        faults.append(_told(broken, _MAX_LINES))
    told.append(f"# {found.last_line}")
    # A line end in a name would add a constraint.
    return Constraints("".join(f"{inert(line)}\n" for line in told), tuple(faults), tuple(broken))


def _without(found: Answer, limits: Limits) -> Iterator[str]:
    """Yield the reason why there is no set."""
    if found.effects and "jax" not in found.versions:
        yield "# Name the version of jax to get a set of releases."
    elif found.effects:
        on = f" on Python {found.stack.python}" * bool(found.stack.python)
        yield f"# No tested stack of these packages{on}{_within(limits)} fixes more cases than it breaks."


def _set(chosen: Advice, limits: Limits, lines: Lines | None) -> Iterator[str]:
    yield from _pins(chosen, limits)
    yield from _comments(chosen, limits, lines)


def _pins(chosen: Advice, limits: Limits) -> Iterator[str]:
    of = chosen.best.set
    yield from (f"{name}=={version}" for name, version in of.whole.items())
    if "numpy" not in of.whole and (bound := limits.bounds.get("numpy")):
        yield f"numpy{bound}"
    yield from (f"{name}{spec}" for name, spec in of.beside.items())


def _comments(chosen: Advice, limits: Limits, lines: Lines | None) -> Iterator[str]:
    best, of = chosen.best, chosen.best.set
    numpy = f", with numpy {of.ran_numpy}" * (of.numpy not in ("", of.ran_numpy))
    yield f"# These releases were run together, as {of.cell}{numpy}."
    if limits.files:
        yield f"# They are within the bounds of {some(limits.files)}."
    if chosen.fixed:
        yield f"# Cases that they fix: {_cases(chosen.fixed)}."
    if chosen.left:
        yield f"# Cases still affected: {_cases(chosen.left)}."
    if chosen.neither:
        yield f"# Cases that are absent, refused or unknown with them: {_cases(chosen.neither)}."
    for other, cases in chosen.others[:_MAX_OTHERS]:
        fails = ", but lines of the source fail there" * bool(lines and lines.count(other.set.whole))
        yield f"# Cases that {other.set.shown} would fix{fails}: {_cases(cases)}."
    left = len(chosen.left) + len(chosen.neither) - sum(len(cases) for _, cases in chosen.others)
    if more := sum(len(cases) for _, cases in chosen.others[_MAX_OTHERS:]):
        yield f"# Cases that other sets would fix: {more}."
    if left:
        yield f"# Cases that no tested stack of these packages{_within(limits)} fixes: {left}."
    if best.new and not lines:
        yield f"# Cases that they newly affect: {_cases(best.new)}."
    yield from _downgrades(chosen, limits)
    moved = " ".join(f"{name}=={version}" for name, version in of.pins.items() if name != "jaxlib")
    yield f'# To see what else they change: check --to "{moved}"'


def _downgrades(chosen: Advice, limits: Limits) -> Iterator[str]:
    """Yield a line for the packages that the set downgrades, with the reason."""
    stack = {name: pair for name, pair in chosen.lowered.items() if name != "numpy"}
    if stack:
        told = ", ".join(f"{name} {old} to {new}" for name, (old, new) in stack.items())
        why = f"no set without a downgrade{_within(limits)} fixes more cases than it breaks"
        if chosen.helped:
            why = "each set without a downgrade breaks a line of the source"
        yield f"# Downgraded: {told}; {why}."
    if "numpy" in chosen.lowered:
        old, new = chosen.lowered["numpy"]
        why = "the other releases do not work with it"
        if not limits.admit("numpy", old):
            why = f"the bounds are numpy{limits.bounds['numpy']}"
        yield f"# Downgraded: numpy {old} to {new}; {why}."


def _told(broken: Sequence[Finding], most: int) -> str:
    places = some([f"{each.place.path}:{each.place.line} {each.name}" for each in broken], most)
    count = "1 line of the source fails" if len(broken) == 1 else f"{len(broken)} lines of the source fail"
    return f"{count} with this set: {places}"


def _within(limits: Limits) -> str:
    return f" within the bounds of {some(limits.files)}" if limits.files else ""


def _cases(names: Sequence[Name]) -> str:
    return f"{len(names)} ({some(['/'.join(name) for name in names])})"
