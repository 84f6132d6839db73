"""Findings about uses that a stack lacks, refuses or warns about. Pure, except for reading the names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from suite.check.finding import Finding
from suite.check.source.conditions import excludes
from suite.check.source.project import Thing
from suite.check.source.usage import Use
from suite.names import presence, query


@dataclass(frozen=True)
class Lack:
    """A name that a release lacks, or its complaint about a call's arguments."""

    name: str
    argument: str = ""

    @property
    def shown(self) -> str:
        """The name, with the argument: `jax.jit(inline=)`."""
        if not self.argument:
            return self.name
        keyword = self.argument.removeprefix(presence.UNKNOWN)
        return f"{self.name}({keyword}=)" if keyword != self.argument else f"{self.name}(…)"


def findings(uses: Iterable[Use], versions: Mapping[str, str]) -> tuple[Finding, ...]:
    """Return a finding for each use that these versions lack or warn about, in order of place. Raises BadFile."""
    found, imports = [], set()
    uses = list(uses)
    for use in uses:
        finding = _finding(use, versions)
        if finding:
            found.append(finding)
            if use.how != "name" and not finding.guarded:
                imports.add((finding.path, finding.name))
    # Uses of a failed import are missing too.
    for use in uses:
        if use.how == "name" and imports:
            below = whole(use)
            finding = _finding(below, versions)
            if finding and (finding.path, finding.name) in imports and _has_rest(use):
                found.append(finding)
    return tuple(sorted(dict.fromkeys(found), key=lambda each: (each.path, each.line, each.column, each.name)))


def whole(use: Use) -> Use:
    """Return a use whose parts must all exist."""
    things = tuple(Thing(thing.name, 0) for thing in use.things)
    return replace(use, things=things, call=None)


def _has_rest(use: Use) -> bool:
    return any(thing.name.count(".") >= thing.bound for thing in use.things)


def lack(use: Use, version: Callable[[str], str | None]) -> Lack | None:
    """Return what releases lack for a use, whatever it stands for; None if one lacks nothing, or it is unknown."""
    found = [_lack(use, thing, version(thing.name.partition(".")[0])) for thing in use.things]
    return found[0] if all(found) else None


def _lack(use: Use, thing: Thing, version: str | None) -> Lack | None:
    if version is None:
        return None
    if name := presence.lacks(thing.name, version, thing.bound, module=use.how == "import"):
        return Lack(name)
    call = use.call
    if call is None:
        return None
    open = (call.open_positions, call.open_keywords)
    argument = presence.misfit(thing.name, version, call.positions, call.keywords, open=open, partial=call.partial)
    return Lack(thing.name, argument) if argument else None


def _finding(use: Use, versions: Mapping[str, str]) -> Finding | None:
    guarded = excludes(use.guards, versions)
    found = lack(use, versions.get)
    if found:
        package = found.name.partition(".")[0]
        version = versions[package]
        do = "" if found.argument else " or ".join(query.replacements(found.name, version))
        says = _told(use, found, package, version)
        return Finding("certain", found.shown, says, do=do, guarded=guarded, **place(use))
    warned = [_warned(use, thing, versions) for thing in use.things]
    if not all(warned) or not warned[0]:
        return None
    name, says = warned[0]
    do = " or ".join(query.replacements(name, versions[name.partition(".")[0]]))
    return Finding("deprecated", name, says, do=do, guarded=guarded, **place(use))


def place(use: Use) -> dict[str, Any]:
    """Return the fields of a finding that tell the place of a use."""
    return {
        name: getattr(use, name) for name in ("path", "line", "column", "end_line", "end_column", "text", "ignored")
    }


def _told(use: Use, found: Lack, package: str, version: str) -> str:
    """Return since when a release lacks it, by the releases before and after."""
    releases = query.names(package).releases
    place = releases.index(version)
    # Ignore the arguments of a missing name; releases that could not be walked show nothing.
    asked = use if found.argument else replace(use, call=None)
    fits = [presence.is_there(found.name, each) and lack(asked, {package: each}.get) is None for each in releases]
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


def _warned(use: Use, thing: Thing, versions: Mapping[str, str]) -> tuple[str, str] | None:
    package = thing.name.partition(".")[0]
    if package not in versions:
        return None
    for name in _prefixes(thing):
        if presence.is_deprecated(name, versions[package]) is not None:
            releases = query.names(package).releases
            later = releases[releases.index(versions[package]) :]
            gone = next((each for each in later if presence.lacks(name, each)), None)
            return name, f"deprecated; removed in {package} {gone}" if gone else "deprecated"
    return None


def _prefixes(thing: Thing) -> Iterator[str]:
    parts = thing.name.split(".")
    for end in range(max(thing.bound, 1) + 1, len(parts) + 1):
        yield ".".join(parts[:end])
