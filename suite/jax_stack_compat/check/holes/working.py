"""Sets of releases within declared bounds that install, import and run, and releases without such a set. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice

from jax_stack_compat.check.holes.judged import Admitted, Releases
from jax_stack_compat.check.inputs.stack import Stack
from jax_stack_compat.check.installs import refusals
from jax_stack_compat.check.knowledge import Knowledge
from jax_stack_compat.check.versions import looked_up
from jax_stack_compat.check.works import is_well, judged
from jax_stack_compat.judge.rules import Pins
from jax_stack_compat.packages import GUESTS, STACK

# No more sets are tried for one release.
_MOST_SETS = 400


@dataclass(frozen=True)
class Closed:
    """Adjacent admitted releases that work in no admitted set: the reason in the newest one, and a bound to add."""

    releases: Releases
    why: str
    add: str

    @property
    def told(self) -> str:
        """The releases, the reason and the bound, in a sentence."""
        return f"{self.releases} works in no admitted set: {self.why}. Add {self.add}"


def working(knowledge: Knowledge, within: Admitted, package: str, version: str) -> Pins | None:
    """Return the admitted set with this release that works by rule, of the newest releases; None if none does."""
    sets = _installable({package: version}, [*_bounded(within).items()], knowledge)
    well = (pins for pins in islice(sets, _MOST_SETS) if is_well(knowledge, _whole(pins, knowledge), ""))
    return next(well, None)


def _installable(pins: Pins, bounded: Sequence[tuple[str, list[str]]], knowledge: Knowledge) -> Iterator[Pins]:
    """Yield the sets that complete these pins within bounds and that metadata admits, of the newest releases first."""
    if refusals(_whole(pins, knowledge), ""):
        return
    if not bounded:
        yield pins
        return
    (name, releases), *others = bounded
    for release in [pins[name]] if name in pins else reversed(releases):
        yield from _installable({**pins, name: release}, others, knowledge)


def _whole(pins: Pins, knowledge: Knowledge) -> Pins:
    """Return pins with the jaxlib that an installer gives for their jax."""
    return {**knowledge.jaxlibs.get(pins.get("jax", ""), {}), **pins}


def closed(knowledge: Knowledge, within: Admitted) -> Iterator[Closed]:
    """Yield the admitted releases of jax that work in no admitted set that an installer gives."""
    releases = within.releases.get("jax", ())
    works = {release: working(knowledge, within, "jax", release) is not None for release in releases}
    if not any(works.values()):
        # No bound on jax alone would help.
        return
    for is_open, group in groupby(releases, works.__getitem__):
        span = list(group)
        if not is_open and (why := _why(knowledge, within, span[-1])):
            yield Closed(Releases("jax", span[0], span[-1]), why, _bound(span, releases))


def _bounded(within: Admitted) -> Mapping[str, list[str]]:
    """Return the admitted releases of jax and of the packages with bounds that decide if a stack works."""
    named = [name for name in (*STACK, *GUESTS) if name != "jaxlib" and within.releases.get(name)]
    return {name: list(within.releases[name]) for name in named}


def _why(knowledge: Knowledge, within: Admitted, jax: str) -> str:
    """Return why the newest admitted set with this jax does not import or run; empty if an installer refuses it."""
    pins = {**{name: of[-1] for name, of in _bounded(within).items()}, "jax": jax}
    stack = Stack(pins, "")
    found = judged(knowledge, stack, looked_up(stack, knowledge))
    return "" if found.refused else "; ".join(found.broken)


def _bound(span: Sequence[str], releases: Sequence[str]) -> str:
    """Return the bound that leaves out adjacent releases."""
    if span[-1] == releases[-1]:
        return f"jax<{span[0]}"
    if span[0] == releases[0]:
        return f"jax>{span[-1]}"
    return ",".join(f"jax!={release}" for release in span) if len(span) == 1 else f"jax<{span[0]} or jax>{span[-1]}"
