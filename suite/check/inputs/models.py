"""Models of foreign files. Import this late: pydantic loads slowly."""

from __future__ import annotations

from pathlib import Path

from pydantic import ConfigDict, ValidationError

from suite.errors import BadFile
from suite.files import FileModel, Model, faults

_MAX_FAULTS = 20


class Foreign(FileModel):
    """A part of a foreign file, which may have more keys than we read."""

    model_config = ConfigDict(extra="ignore", alias_generator=lambda name: name.replace("_", "-"))


def model(kind: type[Model], path: Path, found: object) -> Model:
    """Validate the content of the file at `path` as a model. Raises BadFile."""
    try:
        return kind.model_validate(found)
    except ValidationError as error:
        raise BadFile(faults(kind, path, error)[:_MAX_FAULTS]) from error
