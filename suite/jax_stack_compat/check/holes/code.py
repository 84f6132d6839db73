"""The holes in bounds that concern a source tree, and the lines whose names an admitted release lacks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from jax_stack_compat.check.holes.judged import Admitted, Hole, Releases
from jax_stack_compat.check.knowledge import Knowledge
from jax_stack_compat.check.source.conditions import is_dead
from jax_stack_compat.check.source.lacks import lacks
from jax_stack_compat.check.source.touched import Concern, is_untold, methods
from jax_stack_compat.check.source.tree import usage
from jax_stack_compat.check.source.uses import Place, Unread, Use
from jax_stack_compat.names import query


@dataclass(frozen=True)
class Gap:
    """A place whose name or argument some admitted releases lack."""

    name: str
    place: Place
    releases: Releases


@dataclass(frozen=True)
class Narrowed:
    """The holes that concern a source tree, its gaps, and its unread files.

    `untold` are issues that source code cannot show. `unused` are issues of functions that the source does not use.
    """

    holes: tuple[Hole, ...]
    gaps: tuple[Gap, ...] = ()
    untold: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()


def narrowed(holes: Sequence[Hole], within: Admitted, known: Knowledge, source: Path) -> Narrowed:
    """Return the holes that concern a source tree, with the lines that admitted releases lack."""
    of = usage(source, methods(known))
    concerned = Concern(of.everything, of.told, known)
    left, untold, unused = [], dict[str, None](), dict[str, None]()
    for hole in holes:
        id, package = hole.issue.id, hole.releases.package
        releases = [release for release in within.releases.get(package, ()) if hole.releases.has(release)]
        cases = [case for case in hole.issue.cases if case.id in hole.cases]
        told = {case.id: [met.use for met in concerned.met(case)] for case in cases}
        kept = [
            name
            for name, uses in told.items()
            if any(not use.place.ignores(id) and _reached(use, package, releases) for use in uses)
        ]
        if kept:
            left.append(replace(hole, cases=tuple(kept)))
        elif any(is_untold(case) and not told[case.id] for case in cases):
            untold[id] = None
        else:
            unused[id] = None
    ids = {hole.issue.id for hole in left}
    return Narrowed(
        tuple(left),
        tuple(gap for use in of.uses for gap in _gaps(use, within)),
        tuple(id for id in untold if id not in ids),
        tuple(id for id in unused if id not in ids and id not in untold),
        of.unread,
    )


def _reached(use: Use, package: str, releases: Sequence[str]) -> bool:
    """Return False if the code's own conditions exclude all of these releases."""
    return not releases or any(not is_dead(use.guards, {package: release}) for release in releases)


def _gaps(use: Use, within: Admitted) -> Iterator[Gap]:
    """Yield the admitted releases that lack the name or the argument of a use."""
    package = use.package
    if package not in within.bounds or package not in within.releases or "*" in use.place.ignored:
        return
    walked = query.names(package).releases
    releases = [release for release in within.releases[package] if release in walked]
    shown = [found and found.shown for found in lacks(use, releases)]
    for name, group in groupby(zip(releases, shown, strict=True), key=lambda pair: pair[1]):
        span = [release for release, _ in group]
        if name:
            yield Gap(name, use.place, Releases(package, span[0], span[-1]))
