"""The releases on which a case is good, and what is known of its workaround. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from jax_stack_compat.check.knowledge import Knowledge, KnownCase
from jax_stack_compat.judge.metadata import parsed
from jax_stack_compat.judge.prediction import Prediction
from jax_stack_compat.judge.rules import Pins, met

WELL = ("clear", "absent", "documented")
_WHAT: Mapping[str | None, str | None] = {None: None, "guarded": "no longer silent", **dict.fromkeys(WELL, "good")}


@dataclass(frozen=True)
class Span:
    """Adjacent releases of `package` on which a case has one result; `what` is "good", "no longer silent" or empty."""

    package: str
    what: str
    first: str
    last: str
    open: bool


def spans(case: KnownCase, package: str, versions: Pins, knowledge: Knowledge) -> list[Span]:
    """Return a case's spans along the known releases of a package, by its rules, oldest first.

    The rest of the stack stays, but jaxlib moves with its jax. A release without a matching rule ends a span.
    """
    told: list[tuple[str, str | None]] = []
    releases = knowledge.releases.get(package, [])
    if package == "jax" and any("jaxlib" in each for each in knowledge.jaxlibs.values()):
        # Do not advise a jax that cannot be installed.
        releases = [each for each in releases if "jaxlib" in knowledge.jaxlibs[each]]
    for release in releases:
        moved: Pins = {**versions, package: release}
        if package == "jax":
            moved = {**{name: of for name, of in versions.items() if name != "jaxlib"}, **knowledge.jaxlibs[release]}
        told.append((release, _WHAT.get(case.by_rule(moved), "")))
    found = []
    for what, group in groupby(told, lambda each: each[1]):
        span = [release for release, _ in group]
        if what is not None:
            found.append(Span(package, what, span[0], span[-1], span[-1] == releases[-1]))
    return found


def good(case: KnownCase, versions: Pins, knowledge: Knowledge) -> str:
    """Return the releases on which a case is good, for a package that its rules name; empty without a rule.

    The other versions are kept.
    """
    own = knowledge.jaxlibs.get(versions.get("jax", ""), {}).get("jaxlib")
    if own and versions.get("jaxlib") not in (None, own) and case.by_rule({**versions, "jaxlib": own}) in WELL:
        # An installer would have chosen another jaxlib for this jax.
        return f"good with jaxlib {own}"
    named = dict.fromkeys([*case.named, "jax", *case.needs])
    packages = [name for name in named if name in versions and name != "jaxlib"]
    told = [span for package in packages for span in spans(case, package, versions, knowledge)]
    after = [each for each in told if parsed(each.first) > parsed(versions[each.package])]
    before = [each for each in told if parsed(each.last) < parsed(versions[each.package])]
    if better := next((each for what in ("good", "no longer silent") for each in after if each.what == what), None):
        if better.first == better.last and not better.open:
            return f"{better.what} on {better.package} {better.first}"
        return f"{better.what} from {better.package} {better.first}{'' if better.open else f' to {better.last}'}"
    if last_good := next((each for each in reversed(before) if each.what == "good"), None):
        return f"good up to {last_good.package} {last_good.last}, and on no later release"
    if not told:
        return ""
    *others, last = (
        (each for each in packages if each in case.needs or each == "jax") if "jax" in packages else packages
    )
    tried = f"{', '.join(others)} or {last}" if others else last
    return f"no tested release of {tried} is good"


def helps(case: KnownCase, known: Prediction, versions: Pins) -> str:
    """Return a phrase on whether the workaround helps on these versions."""
    if not case.workaround:
        return ""
    if any(met(on, versions) for on in case.fails):
        return "known not to help here"
    seen = {case.helped.get(run.cell, "") for run in known.runs}
    if "fails" in seen:
        return "it did not help where it was run"
    if "holds" in seen:
        where = "these versions" if known.how == "run" else "the nearest tested versions"
        return f"verified on {where}" if case.verified else f"tried on {where}, on the example alone"
    return "not verified here"
