"""The tasks of the probe: a case to run, and the file of its record."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.issue import Case
from jax_stack_compat.judge.prediction import Name
from jax_stack_compat.judge.record import Attempt, Key

_NO_KEY = Key(lock="", issue="", probe="", python="3", platform="")


@dataclass(frozen=True)
class Task:
    """A case to run, and the key of its record; a record without a key does not stay.

    `shared` holds the attempts made while other probes ran; the record keeps them beside the attempts that count.
    """

    entry: Entry
    case: Case
    expected: str | None
    record: Path
    key: Key = _NO_KEY
    shared: tuple[Attempt, ...] = ()

    @property
    def name(self) -> Name:
        """The ids of the issue and the case."""
        return self.entry.issue.id, self.case.id

    @property
    def module(self) -> str:
        """The issue's module."""
        return self.entry.module

    def ordered(self, ended: str) -> dict[str, Any]:
        """Return the case as the probe reads it; `ended` says how it ended a probe before."""
        issue, case = self.name
        return {
            **{"module": self.module, "issue": issue, "case": case, "expected": self.expected},
            **{"key": self.key.model_dump(), "record": str(self.record), "ended": ended},
            "shared": [attempt.model_dump(mode="json", exclude_unset=True) for attempt in self.shared],
        }
