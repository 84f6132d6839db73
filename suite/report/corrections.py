"""corrections.toml: the sentences that were published and were wrong, what is right, and the evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from suite.files import FileModel, read
from suite.report.model import CorrectionRow

PATH = Path(__file__).with_suffix(".toml")


class _Corrections(FileModel):
    """All of them, the newest first."""

    schema_version: Literal[1] = 1
    corrections: tuple[CorrectionRow, ...]


def corrections() -> tuple[CorrectionRow, ...]:
    """Return what was corrected. Raises BadFile with every fault in the file."""
    return read(_Corrections, PATH).corrections
