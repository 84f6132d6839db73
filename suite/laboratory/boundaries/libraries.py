"""The bounds on jax that a library's metadata lacks: for its own metadata, and for conda-forge. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from packaging.version import Version

from jax_stack_compat.libraries.known import EXCLUDED, WORKS, Beside, KnownLibrary
from jax_stack_compat.names import query

_JAX = "jax"
_BROKEN = ("does-not-import", "crashes")


@dataclass(frozen=True)
class LibraryBound:
    """A release of a library that does not import beside a newer jax, which its metadata admits.

    `below` is the first release of jax that lacks the needed name; where no name decides, it is the first that failed.
    `exact` is True if a name decides. `works` is the newest jax with which it ran, and `fails` the oldest with which it
    did not.
    """

    library: str
    release: str
    declared: str
    below: str
    works: str
    fails: str
    shown: Beside
    exact: bool

    @property
    def requirement(self) -> str:
        """The requirement for the library's own metadata."""
        return f"{_JAX}{','.join(filter(None, (self.declared, f'<{self.below}')))}"

    def patch_yaml(self, day: str) -> str:
        """Return the entry for conda-forge's repodata patches, for packages built until the end of a day.

        Source: the specification in conda-forge/conda-forge-repodata-patches-feedstock, recipe/README.md.
        """
        until = datetime.fromisoformat(day).replace(tzinfo=UTC) + timedelta(days=1)
        return (
            f'if:\n  name: {self.library}\n  version: "{self.release}"\n'
            f"  timestamp_lt: {int(until.timestamp() * 1000)}\nthen:\n"
            f'  - tighten_depends:\n      name: {_JAX}\n      upper_bound: "{self.below}"\n'
        )


def missing_bounds(name: str, library: KnownLibrary) -> Iterator[LibraryBound]:
    """Yield the bound that each release lacks, the newest release first.

    A name that another package than jax lacks is no reason for a bound on jax.
    """
    for release, of in reversed(list(library.releases.items())):
        course = [(version, beside) for version, beside in of.beside.get(_JAX, {}).items() if beside.how == "run"]
        works = [version for version, beside in course if beside.behaviour == WORKS]
        after = [pair for pair in course if works and Version(pair[0]) > Version(works[-1])]
        if not after or after[0][1].behaviour not in _BROKEN or after[-1][1].behaviour == EXCLUDED:
            continue
        fails, shown = after[0]
        if shown.needs and shown.needs.partition(".")[0] not in ("jax", "jaxlib"):
            continue
        first = _first_without(shown.needs, works[-1])
        declared = of.requires.get(_JAX, "")
        yield LibraryBound(name, release, declared, first or fails, works[-1], fails, shown, exact=bool(first))


def _first_without(name: str, works: str) -> str:
    """Return the first release of jax after `works` that lacks a name; empty if the names do not tell."""
    if name.partition(".")[0] != _JAX:
        return ""
    releases: Sequence[str] = query.names(_JAX).releases
    life = query.life(name) or query.module_life(name)
    last = [end for _, end in life if Version(end) >= Version(works)]
    later = [release for release in releases if last and Version(release) > Version(last[0])]
    return later[0] if later else ""
