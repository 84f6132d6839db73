"""A file of known findings, matched by issue or name, by path and by the text of the line."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jax_stack_compat.base.errors import Misused
from jax_stack_compat.base.files import FileModel, content, dump, read
from jax_stack_compat.base.printable import encodable
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
    """Write findings to a file, and return how many. Raises Misused for a path that is not of a baseline."""
    if path.exists() and not path.is_file():
        raise Misused(f"{path} is not a file: name a file for the baseline")
    if not path.parent.is_dir():
        raise Misused(f"{path}: its folder does not exist")
    if path.exists() and not _is_baseline(path):
        raise Misused(f"{path} is not a baseline, so it is not replaced: name another file, or remove it")
    keys = sorted(map(_key, findings))
    rows = [{"finding": what, "path": place, "text": text} for what, place, text in keys]
    write(path, dump({"schema_version": SCHEMA, "findings": rows}))
    return len(keys)


def _is_baseline(path: Path) -> bool:
    """True if a file has the keys of a baseline, of any schema."""
    try:
        found = json.loads(content(path) or "null")
    except (OSError, ValueError, RecursionError):
        return False
    return found is None or (isinstance(found, dict) and {"schema_version", "findings"} <= found.keys())


def _key(finding: Finding) -> tuple[str, str, str]:
    """Return a finding's key as the file can hold it: a path may have bytes that are not UTF-8."""
    what, path, text = map(encodable, finding.key)
    return what, path, text


def compare(path: Path, findings: Iterable[Finding]) -> BaselineComparison:
    """Compare findings with a baseline file, which has the number of equal findings. Raises BadFile."""
    left = Counter((each.finding, each.path, each.text) for each in read(Baseline, path).findings)
    new, known = [], 0
    for finding in findings:
        if left[_key(finding)]:
            left[_key(finding)] -= 1
            known += 1
        else:
            new.append(finding)
    return BaselineComparison(tuple(new), known, left.total())
