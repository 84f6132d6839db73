"""The command `needs`: the releases of each package that a source tree works with, by its names and arguments.

Only absent names and refused arguments count. Code that needs a later release because a function's result changed is
not found.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from packaging.specifiers import SpecifierSet

from jax_stack_compat.base.console import Terminal
from jax_stack_compat.base.errors import Exit
from jax_stack_compat.base.files import dump
from jax_stack_compat.check.inputs.bounds import declared
from jax_stack_compat.check.output.machine import annotation, cell
from jax_stack_compat.check.output.text import say
from jax_stack_compat.check.source.conditions import excludes
from jax_stack_compat.check.source.lacks import Lack, lack, lacks
from jax_stack_compat.check.source.tree import usage
from jax_stack_compat.check.source.uses import Use
from jax_stack_compat.judge.rules import Pins
from jax_stack_compat.judge.wording import named
from jax_stack_compat.names import presence, query
from jax_stack_compat.packages import WALKED

_MAX_LINES = 12
Declared = Mapping[str, Sequence[tuple[str, SpecifierSet]]]


@dataclass(frozen=True)
class Reason:
    """A line that works since release `since`."""

    name: str
    path: str
    line: int
    since: str


@dataclass(frozen=True)
class ToFix:
    """A line that fails on the newest release; `until` is the last release on which it works, if any."""

    name: str
    path: str
    line: int
    until: str
    replacement: str


@dataclass(frozen=True)
class Need:
    """The releases of a package that a source tree works with, the reasons, and the project's declaration.

    `to_fix` are lines that fail on the newest release. `lowest` is the oldest release that is declared and known.
    `failing` are the declared releases on which a line fails.
    """

    package: str
    needs: str
    declared: str | None
    reasons: tuple[Reason, ...]
    to_fix: tuple[ToFix, ...]
    lowest: str
    failing: tuple[str, ...]


def needs(uses: Iterable[Use], told: Declared | None) -> tuple[Need, ...]:
    """Return the releases of each package that these uses need. Raises BadFile."""
    by_package = defaultdict(list)
    for use in uses:
        if use.package:
            by_package[use.package].append(use)
    order = sorted(by_package, key=lambda package: (package != "jax", package))
    return tuple(_need(package, by_package[package], (told or {}).get(package, ())) for package in order)


def _need(package: str, uses: Sequence[Use], told: Sequence[tuple[str, SpecifierSet]]) -> Need:
    releases = query.names(package).releases
    admitted = [release for release in releases if any(of.contains(release, prereleases=True) for _, of in told)]
    reasons, fixes, failing = dict[Reason, None](), dict[ToFix, None](), set[str]()
    for use in uses:
        found = lacks(use, releases)
        fails = [number for number, lack in enumerate(found) if lack]
        if not fails or not (lacking := found[last := fails[-1]]):
            continue
        failing.update(releases[number] for number in fails)
        works = [not found[at] and _works(use, lacking, {package: release}) for at, release in enumerate(releases)]
        place = lacking.shown, use.place.path, use.place.line
        if since := next((releases[at] for at in range(last, len(releases)) if works[at]), ""):
            reasons[Reason(*place, since)] = None
        else:
            until = next((releases[at] for at in range(last, -1, -1) if works[at]), "")
            fixes[ToFix(*place, until, _instead(lacking, (admitted or releases)[0]))] = None
    floor = max((reason.since for reason in reasons), key=releases.index, default="")
    return Need(
        package,
        f">={floor}" if floor else "",
        " or ".join(dict.fromkeys(str(of) or "any" for _, of in told)) if told else None,
        tuple(reason for reason in reasons if reason.since == floor),
        tuple(fixes),
        admitted[0] if admitted else "",
        tuple(release for release in admitted if release in failing),
    )


def _works(use: Use, lacking: Lack, stack: Pins) -> bool:
    """Return True if a release has the name that another release lacks, or if the code checks for the release."""
    if excludes(use.guards, stack):
        return True
    return presence.is_there(lacking.name, *stack.values()) and not (use.how == "name" and lack(use.whole, stack))


def _instead(lacking: Lack, floor: str) -> str:
    """Return a replacement that the oldest declared release and the newest have, if any."""
    if lacking.argument:
        return ""
    there = query.replacements(lacking.name, floor)
    newest = query.replacements(lacking.name, query.names(lacking.package).releases[-1])
    return next((name for name in newest if name in there), "")


def tell(source: Path, format: str, *, console: Terminal) -> Exit:
    """Run `needs`. Raises BadFile, Misused, Failed."""
    found = usage(source)
    project = _project(source)
    told = declared(project) if project else None
    of = needs(found.uses, told)
    where = f"{project.name} " if project else ""
    if format == "text":
        _text(of, found.files, where, project is not None and told is None, console)
        for file in found.unread[:_MAX_LINES]:
            say(console, f"not read: {file.path}: {file.why}", "yellow")
    else:
        sys.stdout.write(FORMATS[format](of))
    return Exit.UNEXPECTED if any(each.failing for each in of) else Exit.AS_EXPECTED


def _project(source: Path) -> Path | None:
    """Return a folder's pyproject.toml, there or above, within the repository."""
    for folder in (source.resolve(), *source.resolve().parents):
        if (path := folder / "pyproject.toml").is_file():
            return path
        if (folder / ".git").exists():
            break
    return None


def _text(of: Sequence[Need], files: int, where: str, silent: bool, console: Terminal) -> None:
    if not of:
        say(console, f"No name of {', '.join(sorted(WALKED))} is used in {files} file{'s' * (files != 1)}.", "bold")
        return
    width = max(len(each.package) + len(each.needs) + 1 for each in of)
    for need in of:
        releases = query.names(need.package).releases
        head = f"{need.package} {need.needs}".strip().ljust(width)
        if need.reasons:
            first = need.reasons[0]
            more = f" and {len(need.reasons) - 1} more lines" if len(need.reasons) > 1 else ""
            say(console, f"{head}  {first.name}, not before {first.since}: {first.path}:{first.line}{more}", "bold")
        else:
            fixed = " once these are fixed" if need.to_fix else ""
            say(console, f"{head}  any from {releases[0]} on{fixed}", "bold")
        alike: dict[str, list[ToFix]] = {}
        for fix in need.to_fix:
            alike.setdefault(_fix(need, fix), []).append(fix)
        for number, (what, fixes) in enumerate(list(alike.items())[:_MAX_LINES]):
            place = named([f"{fix.path}:{fix.line}" for fix in fixes], 1)
            say(console, f"  {'to fix' if not number else '':<8}{place}  {what}", "red")
        if len(alike) > _MAX_LINES:
            say(console, f"  {'':<8}and {len(alike) - _MAX_LINES} more names: --format json has them", "red")
    for need in of:
        if need.failing:
            say(console, f"{where}declares {need.package}{need.declared}: {_verdict(need)}", "bold red")
    undeclared = [each.package for each in of if each.declared is None]
    if silent:
        say(
            console,
            f"{where}computes its dependencies in the build, so the needs were not compared with them.",
            "yellow",
        )
    elif not where:
        say(console, "No pyproject.toml, so nothing was compared.", "yellow")
    elif undeclared:
        say(console, f"{where}does not declare {', '.join(undeclared)}: not compared.", "dim")
    if len(undeclared) < len(of) and not any(each.failing for each in of):
        say(console, "All declared releases in the data have the names that this code uses.", "green")


def _verdict(need: Need) -> str:
    """Describe what is wrong with a declared requirement."""
    lines = len(need.to_fix)
    if need.needs and need.lowest and not SpecifierSet(need.needs).contains(need.lowest, prereleases=True):
        return f"too low (needs {need.needs[2:]})" + (f"; {lines} to fix" if lines else "")
    return f"it admits {need.failing[-1]}, on which {lines} {'line fails' if lines == 1 else 'lines fail'}"


def _fix(need: Need, fix: ToFix) -> str:
    releases = query.names(need.package).releases
    if not fix.until:
        told = f"{fix.name}, which no release has, from {releases[0]} to {releases[-1]}"
    else:
        told = f"{fix.name}, gone since {releases[releases.index(fix.until) + 1]}"
    if fix.replacement and (life := query.life(fix.replacement) or query.module_life(fix.replacement)):
        return f"{told}; {fix.replacement} exists on {query.told(fix.replacement, life)}"
    return told


def as_json(of: Sequence[Need]) -> str:
    """Return the needs as JSON."""
    keys = ("package", "needs", "declared", "reasons", "to_fix")
    data = [{key: asdict(need)[key] for key in keys} for need in of]
    return dump({"packages": data})


def markdown(of: Sequence[Need]) -> str:
    """Return the needs as a Markdown table."""
    lines = ["| package | needs | declared | why, and what to fix |", "|---|---|---|---|"]
    for need in of:
        told = [f"`{one.name}`, not before {one.since}: `{one.path}:{one.line}`" for one in need.reasons[:3]]
        told += [f"to fix: `{one.path}:{one.line}` {_fix(need, one)}" for one in need.to_fix]
        declared = "not declared" if need.declared is None else f"`{need.declared}`"
        lines.append(f"| {need.package} | {need.needs or 'any'} | {cell(declared)} | {'<br>'.join(map(cell, told))} |")
    return "\n".join(lines) + "\n"


def github(of: Sequence[Need]) -> str:
    """Return GitHub workflow commands: an annotation for each line that a declared release cannot run."""
    found = []
    for need in of:
        level = "error" if need.failing else "notice"
        found += [annotation(level, one.path, one.line, "needs", _fix(need, one)) for one in need.to_fix]
        for one in need.reasons if need.failing else ():
            text = f"{one.name} needs {need.package} {one.since} or later; declared is {need.declared}"
            found.append(annotation("error", one.path, one.line, "needs", text))
    return "".join(f"{line}\n" for line in found)


FORMATS: Mapping[str, Callable[[Sequence[Need]], str]] = {"json": as_json, "markdown": markdown, "github": github}
