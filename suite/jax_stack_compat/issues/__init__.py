"""The documented issues, one module each, in a folder by area: tables of data, and functions that run in a cell."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator


def modules() -> Iterator[str]:
    """Yield the dotted name of each issue's module, in the order of their own names."""
    found = [each.name for each in pkgutil.walk_packages(__path__, f"{__name__}.") if not each.ispkg]
    yield from sorted((name for name in found if name != f"{__name__}.__main__"), key=basename)


def basename(module: str) -> str:
    """Return a module's own name, without its area's."""
    return module.rpartition(".")[2]
