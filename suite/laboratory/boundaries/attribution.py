"""Attribution of a case's change between two neighbouring cells to a package. Pure.

A package is named in three cases: it alone moved, a run shows that moving it alone has the same effect, or the case's
rules say so. If nothing tells jax from its jaxlib, the cause is one of the two. Otherwise the change came with all
packages that moved.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from packaging.version import Version

from jax_stack_compat.judge.rules import AnyRule, Pins, Run, first_match, in_stack_order

Grounds = Literal["run", "rule", "together"]
# Installers move jaxlib with jax, so both count as one unless a run or a rule tells them apart.
LINKED = ("jax", "jaxlib")


@dataclass(frozen=True)
class Move:
    """A package that differs between two cells; a version is None where the package is absent."""

    package: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        """Return the move for people: lineax 0.0.8 → 0.1.0."""
        return f"{self.package} {self.before or 'none'} → {self.after or 'none'}"


# Packages that move together in an attribution.
Unit = tuple[Move, ...]


@dataclass(frozen=True)
class Blame:
    """The cause of a change. `to` is one package, or jax or its jaxlib; with "together", all packages that moved.

    `evidence` is the id of the cell that shows the cause, or the rules' evidence; empty if the two neighbours suffice.
    """

    to: Unit
    grounds: Grounds
    moved: Unit
    evidence: str = ""

    @property
    def package(self) -> str | None:
        """The package to blame; jax for jax or its jaxlib."""
        return self.to[0].package if self.grounds != "together" else None

    def __str__(self) -> str:
        """Return the cause for people: "lineax 0.0.8 → 0.1.0", or "came with" and all moves."""
        if self.grounds == "together":
            return f"came with {told(self.to)}" if self.to else ""
        return told(self.to) if len(self.to) == 1 else f"{_one_of(self.to)}, which moved together"


def told(moves: Iterable[Move]) -> str:
    """Describe moves; if jax and jaxlib move alike, they share one phrase: jax and jaxlib 0.8.1 → 0.8.2."""
    by_name = {move.package: move for move in moves}
    linked = [by_name[name] for name in LINKED if name in by_name]
    if len({(each.before, each.after) for each in linked}) == 1 and len(linked) == len(LINKED):
        by_name["jax"] = replace(by_name["jax"], package="jax and jaxlib")
        del by_name["jaxlib"]
    return ", ".join(map(str, by_name.values()))


def _one_of(linked: Unit) -> str:
    """Describe two moves, of which one is the cause: jax or jaxlib 0.8.1 → 0.8.2."""
    jax, jaxlib = linked
    if (jax.before, jax.after) == (jaxlib.before, jaxlib.after):
        return f"jax or {jaxlib}"
    return f"{jax} or {jaxlib}"


def moves(before: Pins, after: Pins, among: Collection[str] | None = None) -> Unit:
    """Return the packages that moved, the stack's first and in its order; with `among`, only packages in it.

    `metadata.reached` gives the packages that can matter to a case.
    """
    names = in_stack_order(name for name in {**before, **after} if among is None or name in among)
    found = (Move(name, before.get(name), after.get(name)) for name in names)
    return tuple(each for each in found if not _same(each.before, each.after))


def blame(
    before: Run, after: Run, rules: Sequence[AnyRule], runs: Iterable[Run] = (), among: Collection[str] | None = None
) -> Blame | None:
    """Attribute the change between two neighbours; return None if both show the same behaviour.

    `rules` are the case's rules, `runs` its behaviour elsewhere, `among` the packages that can matter to the case.
    """
    if before.behaviour == after.behaviour:
        return None
    moved = moves(before.pins, after.pins, among)
    linked = tuple(each for each in moved if each.package in LINKED)
    units: list[Unit] = [linked] if linked else []
    units += [(each,) for each in moved if each.package not in LINKED]
    if len(moved) == 1:
        return Blame(moved, "run", moved)

    # Only these runs can differ from one side by the moved packages alone.
    still = ({*before.pins, *after.pins} if among is None else {*among}).difference(each.package for each in moved)
    own = {name: (before.pins.get(name), after.pins.get(name)) for name in still}
    near = [
        ((_of(run.pins, among), run.behaviour), run.cell)
        for run in runs
        if run.behaviour in (before.behaviour, after.behaviour)
        and all(run.pins.get(name) in versions for name, versions in own.items())
    ]

    def shown(part: Unit) -> str | None:
        """Return the cell that differs from one side by this part alone and shows the other side's behaviour."""
        forth = _of(_with(before.pins, part), among), after.behaviour
        back = _of(_with(after.pins, part, back=True), among), before.behaviour
        return next((cell for seen, cell in near if seen in (forth, back)), None)

    # Search by part only if the rules predict both sides.
    ruled = [first_match(rules, each.pins) for each in (before, after)]
    both = [before.behaviour, after.behaviour]
    foreseen = [each and each.behaviour for each in ruled] == both

    def said(part: Unit) -> str | None:
        """Return the rules' evidence if moving this part alone, in both directions, explains the whole change."""
        stacks = (_with(after.pins, part, back=True), _with(before.pins, part))
        if not foreseen or [(of := first_match(rules, pins)) and of.behaviour for pins in stacks] != both:
            return None
        sides = [each for each in ruled if each is not None]
        # A catch-all rule says nothing about this change.
        telling = [side for side in sides if side.on] or sides
        return "; ".join(dict.fromkeys(each.evidence for each in telling if each.evidence))

    tests: tuple[tuple[Grounds, Callable[[Unit], str | None]], ...] = (("run", shown), ("rule", said))
    for grounds, test in tests:
        found = [telling for unit in units if (telling := _telling(unit, test))]
        if len(found) == 1:
            to, evidence = found[0]
            if len(to) > 1 and (named := _alone(to, said)):
                return Blame(named[0], "rule", moved, named[1])
            # The neighbours themselves are no evidence that anybody has to look up.
            return Blame(to, grounds, moved, "" if evidence in (before.cell, after.cell) else evidence)
        if found:
            break
    if len(units) == 1:
        return Blame(units[0], "run", moved)
    return Blame(moved, "together", moved)


def _telling(unit: Unit, test: Callable[[Unit], str | None]) -> tuple[Unit, str] | None:
    """Return the part of a unit that causes the change, with the evidence: one package if that suffices."""
    if (alone := _alone(unit, test)) is not None:
        return alone
    evidence = test(unit)
    return None if evidence is None else (unit, evidence)


def _alone(unit: Unit, test: Callable[[Unit], str | None]) -> tuple[Unit, str] | None:
    """Return the one package of a unit that causes the change, with the evidence."""
    parts: list[Unit] = [(each,) for each in unit]
    alone = [(part, evidence) for part in parts if (evidence := test(part)) is not None]
    return alone[0] if len(alone) == 1 else None


def _with(pins: Pins, moved: Unit, *, back: bool = False) -> Pins:
    """Return `pins` with these packages moved, or moved back."""
    changed = {each.package: each.before if back else each.after for each in moved}
    return {name: version for name, version in {**pins, **changed}.items() if version is not None}


def _of(pins: Pins, among: Collection[str] | None) -> Pins:
    return {name: version for name, version in pins.items() if among is None or name in among}


def _same(one: str | None, other: str | None) -> bool:
    return one == other or (one is not None and other is not None and Version(one) == Version(other))
