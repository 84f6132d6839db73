"""Uses that a stack lacks, refuses or warns about. Pure, except for reading the names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from jax_stack_compat.check.finding import Finding
from jax_stack_compat.check.source.conditions import excludes
from jax_stack_compat.check.source.uses import Call, Thing, Use
from jax_stack_compat.judge.rules import Pins
from jax_stack_compat.names import presence, query


@dataclass(frozen=True)
class Lack:
    """A name that a release lacks, or its complaint about a call's arguments."""

    name: str
    argument: str = ""

    @property
    def package(self) -> str:
        """The package of the name."""
        return self.name.partition(".")[0]

    @property
    def shown(self) -> str:
        """The name, with the argument: `jax.jit(inline=)`."""
        if not self.argument:
            return self.name
        keyword = self.argument.removeprefix(presence.UNKNOWN)
        return f"{self.name}({keyword}=)" if keyword != self.argument else f"{self.name}(…)"


def findings(uses: Sequence[Use], versions: Pins) -> tuple[Finding, ...]:
    """Return a finding for each use that these versions lack or warn about, in order of place. Raises BadFile."""
    known: dict[Use, Finding | None] = {}
    every = [(use, finding) for use in uses if (finding := _finding(use, versions, known))]
    imports = {(found.place.path, found.name) for use, found in every if use.how != "name" and not found.guarded}
    found = [finding for _, finding in every]
    # If an import fails, report the uses of the imported name too.
    for use in uses if imports else ():
        if use.how == "name" and any(thing.name.count(".") >= thing.bound for thing in use.things):
            finding = _finding(use.whole, versions, known)
            if finding and (finding.place.path, finding.name) in imports:
                found.append(finding)
    return tuple(sorted(dict.fromkeys(found), key=lambda each: (*each.place.at, each.name)))


def lack(use: Use, versions: Pins) -> Lack | None:
    """Return what the releases lack for a use; None if one meaning of the name works, or if that is unknown."""
    found = [_lack(use, thing, versions.get(thing.package)) for thing in use.things]
    return found[0] if all(found) else None


def takes(use: Use, versions: Pins) -> bool | None:
    """Return True if the releases are known to take a use's call, False if they refuse a literal; None if unknown.

    The call's number of arguments and its keywords must fit.
    """
    if (call := use.call) is None:
        return True
    told = [_takes(call, thing.name, versions[thing.package]) for thing in use.things]
    return next((known for known in (True, None) if known in told), False)


def _takes(call: Call, name: str, version: str) -> bool | None:
    if (parameters := query.parameters(name, version)) is None:
        return None
    if not presence.reads_literals(name):
        return True
    written = [(each, call.written(each[0].lstrip("/*="), place)) for place, each in enumerate(parameters)]
    return not any(presence.refuses(name, parameter, value) for parameter, value in written)


def lacks(use: Use, releases: Sequence[str]) -> Sequence[Lack | None]:
    """Return what each of these releases lacks for a use; None if the code checks for the release."""
    return _lacks(use.bare, tuple(releases))


def kind(use: Use) -> Use:
    """Return a use without what no answer of this module depends on: all uses of a kind have the same."""
    return use.anywhere if any(presence.reads_literals(thing.name) for thing in use.things) else use.bare


@cache
def _lacks(use: Use, releases: Sequence[str]) -> Sequence[Lack | None]:
    stacks = [{use.package: release} for release in releases]
    return [None if excludes(use.guards, stack) else lack(use, stack) for stack in stacks]


def _lack(use: Use, thing: Thing, version: str | None) -> Lack | None:
    if version is None:
        return None
    if name := presence.lacks(thing.name, version, thing.bound, module=use.how == "import"):
        return Lack(name)
    if use.how == "from" and presence.is_no_longer_a_module(module := thing.name.rpartition(".")[0], version):
        return Lack(module)
    if (call := use.call) is None:
        return None
    open = (call.open_positions, call.open_keywords)
    argument = presence.misfit(thing.name, version, call.positions, call.keywords, open=open, partial=call.partial)
    return Lack(thing.name, argument) if argument else None


def _finding(use: Use, versions: Pins, known: dict[Use, Finding | None]) -> Finding | None:
    """Return the finding for a use; `known` has those of other uses, by kind."""
    of = kind(use)
    if of not in known:
        known[of] = _found(of, versions)
    found = known[of]
    return found and replace(found, place=use.place)


def _found(use: Use, versions: Pins) -> Finding | None:
    guarded = excludes(use.guards, versions)
    if found := lack(use, versions):
        do = () if found.argument else query.replacements(found.name, versions[found.package])
        says = _told(use, found, versions[found.package])
        return Finding("certain", found.shown, says, use.place, do=" or ".join(do), guarded=guarded)
    warned = [_warned(thing, versions) for thing in use.things]
    if not all(warned) or not warned[0]:
        return None
    name, says = warned[0]
    do = query.replacements(name, versions[use.things[0].package])
    return Finding("deprecated", name, says, use.place, do=" or ".join(do), guarded=guarded)


def _told(use: Use, found: Lack, version: str) -> str:
    """Describe when a name was removed or added, from the nearest releases before and after that have it."""
    package = found.package
    releases = query.names(package).releases
    place = releases.index(version)
    # For a missing name, ignore the arguments. Releases whose names are unknown do not count.
    asked = use if found.argument else replace(use, call=None)
    fits = [_fits(found, asked, {package: each}) for each in releases]
    before = next((at for at in range(place, -1, -1) if fits[at]), None)
    after = next((at for at in range(place, len(releases)) if fits[at]), None)
    if found.argument:
        since = f" since {package} {releases[before + 1]}" if before is not None else ""
        until = f"; {package} {releases[after]} takes it" if after is not None else ""
        return f"{found.argument}{since}{until}"
    if before is not None:
        back = f", back in {releases[after]}" if after is not None else ""
        return f"removed in {package} {releases[before + 1]}{back}"
    if after is not None:
        return f"added in {package} {releases[after]}"
    return f"in no release of {package} from {releases[0]} to {releases[-1]}"


def _fits(found: Lack, use: Use, versions: Pins) -> bool:
    if not presence.is_there(found.name, *versions.values()) or lack(use, versions):
        return False
    return not found.argument or takes(use, versions) is True


def _warned(thing: Thing, versions: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the first part of a dotted name that a release warns about, with the release that removes the name."""
    if (version := versions.get(thing.package)) is None:
        return None
    parts = thing.name.split(".")
    names = (".".join(parts[:end]) for end in range(max(thing.bound, 1) + 1, len(parts) + 1))
    name = next((name for name in names if presence.is_deprecated(name, version) is not None), None)
    if name is None:
        return None
    releases = query.names(thing.package).releases
    later = releases[releases.index(version) :]
    gone = next((release for release in later if presence.lacks(name, release)), None)
    return name, f"deprecated; removed in {thing.package} {gone}" if gone else "deprecated"
