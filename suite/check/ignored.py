"""Issues that a project accepts: the entries of jax-stack-compat.toml, with reason and last day."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import StringConstraints

from suite.catalogue.retired import retired, sentence
from suite.check.answer import Answer
from suite.check.inputs import foreign
from suite.errors import BadFile, Fault
from suite.files import FileModel, parse


class IgnoredIssue(FileModel):
    """An issue to ignore, up to and including a day if one is given."""

    id: str
    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    until: date | None = None


class Ignored(FileModel):
    """The file jax-stack-compat.toml."""

    mend = "an entry is `[[ignore]]` with id, reason, and until = 2027-01-31 where it ends"

    ignore: tuple[IgnoredIssue, ...] = ()


@dataclass(frozen=True)
class Left:
    """An answer without the ignored issues, and the stale entries with the reason."""

    answer: Answer
    stale: tuple[str, ...]


def load(path: Path, known: Collection[str]) -> Sequence[IgnoredIssue]:
    """Return the entries in the file at `path`. Raises BadFile, also for unknown ids."""
    entries = parse(Ignored, foreign.text(path), path).ignore
    wrong = [
        Fault(path, f"ignore.{number}.id", f"there is no issue {entry.id!r}")
        for number, entry in enumerate(entries)
        if entry.id not in known and entry.id not in retired()
    ]
    if wrong:
        raise BadFile(wrong)
    return entries


def leave_out(answer: Answer, entries: Sequence[IgnoredIssue], today: date) -> Left:
    """Return `answer` without the issues that are ignored today."""
    there = {issue.id for issue, _ in answer.issues}
    without, stale = active(entries, there, today)
    effects = tuple(effect for effect in answer.effects if effect.issue.id not in without)
    return Left(replace(answer, effects=effects, ignored=tuple(sorted(there & without))), stale)


def active(
    entries: Sequence[IgnoredIssue], there: Collection[str], today: date
) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the issues ignored today, and the stale entries; the issues `there` affect the stack."""
    over = [entry for entry in entries if entry.until is not None and entry.until < today]
    ids = frozenset(entry.id for entry in entries if entry not in over)
    stale = [f"{each.id}: its last day was {each.until}" for each in over]
    stale += [
        sentence(id) if id in retired() else f"{id}: it does not affect this" for id in sorted(ids.difference(there))
    ]
    return ids, tuple(stale)
