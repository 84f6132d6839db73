"""Findings: lines of a source tree, or issues of a stack, with their level of certainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from jax_stack_compat.check.source.uses import NOWHERE, Place

Level = Literal["certain", "likely", "deprecated", "possible", "chronic"]
# In the order of the output.
LEVELS: Sequence[Level] = get_args(Level)
# The levels that require action.
ACT = ("certain", "likely")

# Worst first: silently different numbers, then failures that show themselves.
KINDS: Mapping[str, str] = {
    "silent-wrong": "Silently wrong",
    "silent-change": "Silently changed",
    "crash": "Crashes",
    "import-error": "Does not import",
    "warning": "Warns",
    "retrace": "Retraces",
    "slow": "Slow",
    "by-design": "By design",
}
RANKS: Mapping[str, int] = {kind: rank for rank, kind in enumerate(KINDS)}


@dataclass(frozen=True)
class Finding:
    """A line of code that fails or that an issue concerns; without source code, an issue that affects the stack.

    Certain: a name or an argument is missing there. Deprecated: it warns there. Likely: the code meets the case's
    condition. Possible: the condition cannot be seen. Chronic: no release is right. `id` and `kind` are the issue's,
    `cases` its case ids. `name` is the name used or missing, with a keyword as `jax.jit(inline=)`. `says` describes the
    finding, `good_from` names the releases without it, and `do` the replacement. `users` is the number of libraries, of
    thirty, that use a name that the issue touches. A `guarded` finding is in code that checks the release. A possible
    finding is `narrowed` if the code shows a part of the case's condition; if not, the values at run time decide.
    """

    level: Level
    name: str
    says: str
    place: Place = NOWHERE
    id: str = ""
    kind: str = ""
    cases: tuple[str, ...] = ()
    good_from: str = ""
    do: str = ""
    users: int = 0
    guarded: bool = False
    narrowed: bool = True

    @property
    def of_name(self) -> bool:
        """True if it is about a name that a release lacks or warns about."""
        return self.level in ("certain", "deprecated")

    @property
    def what(self) -> str:
        """The finding, in a phrase."""
        return f"{self.name}: {self.says}" if self.of_name else self.says

    @property
    def instead(self) -> list[str]:
        """The releases without it, and the replacement."""
        return [each for each in ("" if self.of_name else self.good_from, self.do) if each]

    @property
    def key(self) -> tuple[str, str, str]:
        """A key that identifies the finding, independent of line numbers."""
        return self.id or self.name, self.place.path, self.place.text
