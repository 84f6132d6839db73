"""The cases that orders carry: those of the catalogue, and the device cases."""

from __future__ import annotations

import pkgutil
from functools import cache

from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.issue import Case
from laboratory.cell import devices as folder
from laboratory.records import keys

Name = tuple[str, str]


@cache
def device_entries() -> tuple[Entry, ...]:
    """Return the issues' device cases, by issue; no cell for a CPU runs them. Raises any error of their import."""
    names = sorted(module.name for module in pkgutil.iter_modules(folder.__path__))
    return tuple(catalogue.entry(f"{folder.__name__}.{name}") for name in names)


def is_of_device(entry: Entry) -> bool:
    """Return True if an entry has device cases."""
    return entry.module.startswith(f"{folder.__name__}.")


def every() -> dict[Name, tuple[Entry, Case]]:
    """Return all cases that orders can carry, by the ids of issue and case: the device cases first. Raises BadFile."""
    entries = (*device_entries(), *catalogue.entries())
    return {(entry.issue.id, case.id): (entry, case) for entry in entries for case in entry.issue.cases}


def case_keys() -> dict[Name, str]:
    """Return the hash of each case, by the ids of issue and case. Raises BadFile."""
    return {name: keys.case_sha256(*of) for name, of in every().items()}
