"""Issues that a project accepts: the entries of jax-stack-compat.toml, with reason and last day."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated

from pydantic import StringConstraints

from jax_stack_compat.base.errors import BadFile, Fault
from jax_stack_compat.base.files import FileModel, parse
from jax_stack_compat.check.inputs import foreign
from jax_stack_compat.check.knowledge import Knowledge

PATH = Path("jax-stack-compat.toml")


class IgnoredIssue(FileModel):
    """An issue to ignore, until the end of a day if one is given."""

    id: str
    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    until: date | None = None


class Ignored(FileModel):
    """The file jax-stack-compat.toml."""

    mend = "an entry is `[[ignore]]` with id, reason, and until = 2027-01-31 where it ends"

    ignore: tuple[IgnoredIssue, ...] = ()


def load(path: Path, known: Collection[str]) -> Sequence[IgnoredIssue]:
    """Return the entries in the file at `path`. Raises BadFile, also for unknown ids."""
    entries = parse(Ignored, foreign.text(path), path).ignore
    wrong = [
        Fault(path, f"ignore.{number}.id", f"there is no issue {entry.id!r}")
        for number, entry in enumerate(entries)
        if entry.id not in known
    ]
    if wrong:
        raise BadFile(wrong)
    return entries


def applied(there: Collection[str], known: Knowledge) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return which of the issues `there` the project ignores today, and its stale entries. Raises BadFile."""
    if not os.path.lexists(PATH):
        return frozenset(), ()
    entries = load(PATH, {issue.id for issue in known.issues})
    today = datetime.now(UTC).date()
    over = [entry for entry in entries if entry.until is not None and entry.until < today]
    ids = frozenset(entry.id for entry in entries if entry not in over)
    stale = [f"{entry.id}: its last day was {entry.until}" for entry in over]
    stale += [f"{id}: it does not affect this" for id in sorted(ids.difference(there))]
    return ids.intersection(there), tuple(stale)
