"""A file of known findings, matched by issue or name, by path and by the text of the line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jax_stack_compat.base.errors import Misused
from jax_stack_compat.base.files import FileModel, dump, read
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.check.finding import Finding

SCHEMA: Literal[1] = 1


class KnownFinding(FileModel):
    """A finding: an issue's id or a name, the file, and the text of its line."""

    finding: str
    path: str
    text: str


class Baseline(FileModel):
    """The baseline file."""

    mend = "write it again with --write-baseline"

    schema_version: Literal[1]
    findings: tuple[KnownFinding, ...]


@dataclass(frozen=True)
class BaselineComparison:
    """Findings compared with a baseline: the new ones, and the numbers of known ones and of ones no longer found."""

    new: tuple[Finding, ...]
    known: int
    gone: int

    @property
    def told(self) -> str:
        """The comparison, in a sentence."""
        return (
            f"{len(self.new)} new finding{'s' * (len(self.new) != 1)}; {self.known} in the baseline; "
            f"{self.gone} no longer found."
        )


def save(path: Path, findings: Iterable[Finding]) -> int:
    """Write findings to a file, and return how many. Raises Misused if the path is a folder or a device."""
    if path.exists() and not path.is_file():
        raise Misused(f"{path} is not a file: name a file for the baseline")
    keys = sorted(finding.key for finding in findings)
    rows = [{"finding": what, "path": place, "text": text} for what, place, text in keys]
    write(path, dump({"schema_version": SCHEMA, "findings": rows}))
    return len(keys)


def compare(path: Path, findings: Iterable[Finding]) -> BaselineComparison:
    """Compare findings with a baseline file, which has the number of equal findings. Raises BadFile."""
    left = Counter((each.finding, each.path, each.text) for each in read(Baseline, path).findings)
    new, known = [], 0
    for finding in findings:
        if left[finding.key]:
            left[finding.key] -= 1
            known += 1
        else:
            new.append(finding)
    return BaselineComparison(tuple(new), known, left.total())
