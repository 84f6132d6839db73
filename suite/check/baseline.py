"""A file of known findings, matched by what they are and by the text of their line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from suite.cell.atomic import write
from suite.check.finding import Finding
from suite.errors import Misused
from suite.files import FileModel, dump, read

SCHEMA: Literal[1] = 1


class Entry(FileModel):
    """A finding: an issue's id or a name, the file, and the text of its line."""

    finding: str
    path: str
    text: str


class Baseline(FileModel):
    """The file."""

    mend = "write it again with --write-baseline"

    schema_version: Literal[1]
    findings: tuple[Entry, ...]


@dataclass(frozen=True)
class Compared:
    """The findings that a baseline does not have, how many it has, and how many of it are no longer found."""

    new: tuple[Finding, ...]
    known: int
    gone: int

    @property
    def told(self) -> str:
        """For people."""
        return (
            f"{len(self.new)} new finding{'s' * (len(self.new) != 1)}; {self.known} in the baseline; "
            f"{self.gone} no longer found."
        )


def save(path: Path, findings: Iterable[Finding]) -> int:
    """Write findings to a file, and return how many. Raises Misused for what is no file: it would be replaced."""
    if path.exists() and not path.is_file():
        raise Misused(f"{path} is no file: name one to write the baseline into")
    keys = sorted(finding.key for finding in findings)
    rows = [{"finding": what, "path": place, "text": text} for what, place, text in keys]
    write(path, dump({"schema_version": SCHEMA, "findings": rows}))
    return len(keys)


def compare(path: Path, findings: Iterable[Finding]) -> Compared:
    """Return which findings a file does not have; of alike ones, as many as it has. Raises BadFile."""
    left = Counter((each.finding, each.path, each.text) for each in read(Baseline, path).findings)
    new, known = [], 0
    for finding in findings:
        if left[finding.key]:
            left[finding.key] -= 1
            known += 1
        else:
            new.append(finding)
    return Compared(tuple(new), known, left.total())
