"""Queries on the published numbers: changes between two releases, and differences on one."""

from __future__ import annotations

from collections.abc import Iterable

from packaging.version import Version

from jax_stack_compat.numbers.model import CallRow, by_function, measured
from jax_stack_compat.numbers.uncalled import uncalled


def is_measured(release: str) -> bool:
    """Return True if the calls were made on a release of jax. Raises BadFile."""
    return release in measured().releases


def known(functions: Iterable[str]) -> list[str]:
    """Return the measured ones of these functions, by the names in their rows. Raises BadFile."""
    aliases = uncalled().aliases
    return sorted({aliases.get(name, name) for name in functions} & by_function().keys())


def changes(function: str, old: str, new: str) -> tuple[CallRow, ...]:
    """Return the rows in which a function's result changes after `old` and up to `new`. Raises BadFile.

    A change that was reverted in between is left out.
    """
    found, rows = [], by_function().get(function, ())
    for call in dict.fromkeys((row.form, row.call) for row in rows):
        of = [row for row in rows if (row.form, row.call) == call]
        between = [row for row in of if Version(old) < Version(row.first) <= Version(new) and row.change]
        before, after = _at(of, old), _at(of, new)
        if between and before and after and before.digest != after.digest:
            found.append(max(between, key=lambda row: (row.listed, row.change != "edge", Version(row.first))))
    return tuple(found)


def changed(release: str) -> tuple[CallRow, ...]:
    """Return the rows that begin on a release with a change larger than rounding. Raises BadFile."""
    return tuple(row for rows in by_function().values() for row in rows if row.listed and row.first == release)


def unlike(function: str, release: str) -> tuple[CallRow, ...]:
    """Return the rows in which a function differs from its reference, or does not end, on a release. Raises BadFile.

    Differences at edges only, and documented ones, are left out.
    """
    rows = by_function().get(function, ())
    return tuple(row for row in rows if row.status in ("differs", "ended") and _holds(row, release))


def _at(rows: Iterable[CallRow], release: str) -> CallRow | None:
    return next((row for row in rows if _holds(row, release)), None)


def _holds(row: CallRow, release: str) -> bool:
    return Version(row.first) <= Version(release) <= Version(row.last)
