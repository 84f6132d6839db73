"""The reader of corrections.toml: wrong published sentences, the right ones, and the evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from suite.files import FileModel, read
from suite.report.model import CorrectionRow

PATH = Path(__file__).with_suffix(".toml")


class _Corrections(FileModel):
    """All corrections, the newest first."""

    schema_version: Literal[1] = 1
    corrections: tuple[CorrectionRow, ...]


def corrections() -> tuple[CorrectionRow, ...]:
    """Return all corrections. Raises BadFile with every fault in the file."""
    return read(_Corrections, PATH).corrections
