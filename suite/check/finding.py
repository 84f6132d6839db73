"""A finding: what of a source tree, or of a stack, an issue or a missing name concerns, and how surely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Level = Literal["certain", "likely", "deprecated", "possible", "chronic"]
# In the order in which they are told.
LEVELS: Sequence[Level] = ("certain", "likely", "deprecated", "possible", "chronic")
# What somebody has to do something about.
ACT = ("certain", "likely")


@dataclass(frozen=True)
class Finding:
    """A line that a stack does not run, or that an issue concerns; without a source, an issue that affects the stack.

    Certain: a name or an argument is missing there. Deprecated: it warns there. Likely: what is written meets the
    case's condition. Possible: that cannot be seen. Chronic: no release is right. `id` and `kind` are an issue's, with
    the ids of its `cases`; `name` is what is used, or missing, with a keyword as `jax.jit(inline=)`. `says` tells what
    is so, `good_from` from which release it is not, and `do` what to write instead; of
    thirty libraries, `users` use what it touches. Lines and columns are from 1, and 0
    without a source; `text` is the line. A `guarded` one is in code that asks for the release.
    """

    level: Level
    name: str
    says: str
    path: str = ""
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    id: str = ""
    kind: str = ""
    cases: tuple[str, ...] = ()
    good_from: str = ""
    do: str = ""
    users: int = 0
    guarded: bool = False
    text: str = ""
    ignored: frozenset[str] = frozenset()

    @property
    def of_name(self) -> bool:
        """Whether it is about a name that a release lacks or warns about."""
        return self.level in ("certain", "deprecated")

    @property
    def what(self) -> str:
        """What is so."""
        return f"{self.name}: {self.says}" if self.of_name else self.says

    @property
    def instead(self) -> list[str]:
        """From when it is not so, and what to write instead."""
        return [each for each in ("" if self.of_name else self.good_from, self.do) if each]

    @property
    def key(self) -> tuple[str, str, str]:
        """What a finding is known by when lines have moved."""
        return self.id or self.name, self.path, self.text
