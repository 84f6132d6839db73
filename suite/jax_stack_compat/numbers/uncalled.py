"""The public functions that are not called: aliases of called functions, and functions without a recipe, by reason."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from jax_stack_compat.base.files import FileModel, read

PATH = Path(__file__).with_name("uncalled.toml")


class Uncalled(FileModel):
    """The file uncalled.toml: aliases → the function that is called; reasons → lines of `module: names`."""

    aliases: Mapping[str, str]
    reasons: Mapping[str, str]

    def functions(self, reason: str) -> frozenset[str]:
        """Return the functions that are not called for this reason."""
        lines = [line.partition(": ") for line in self.reasons[reason].split("\n") if line]
        return frozenset(f"{module}.{name}" for module, _, names in lines for name in names.split())


@cache
def uncalled() -> Uncalled:
    """Return the functions that are not called. Raises BadFile."""
    return read(Uncalled, PATH)
