"""What the probe writes of one case in one cell, as the driver reads it. Raw: nothing here is judged."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal

from pydantic import Field, field_validator

from suite.fields import CellId, Id
from suite.files import FileModel

AGAIN = "remove the file, and its cell runs it again"

# How a process ends that has not answered, or not well.
Ending = Literal["signal", "timeout", "memory", "output", "exit", "no-result", "garbled"]
# How importing a package that the case needs ends otherwise than well.
ImportEnding = Literal["import-error", "import-signal", "import-timeout"]
# `probe-ended`: it has ended the probe that ran it, or could not be run.
Outcome = Literal["returned", "raised", "unavailable", "probe-ended", ImportEnding, Ending]


class Part(FileModel):
    """What came of a reproducer, a workaround or a control in one attempt.

    `behaviour` is there where a reproducer returned, or raised what a signature of its case knows. `said` is what a
    part had said before its process ended badly.
    """

    outcome: Outcome
    behaviour: str | None = None
    detail: str = ""
    exception: str | None = None
    traceback: str | None = None
    output: str | None = None
    seconds: float = 0.0
    said: Part | None = None


class Attempt(FileModel):
    """One child process, or as many as it took to reach every part."""

    parts: dict[Literal["reproducer", "workaround", "control"], Part]
    seconds: float = Field(ge=0, le=86_400)
    peak_rss_mib: int = Field(default=0, ge=0, le=2**24)

    @field_validator("parts")
    @classmethod
    def _has_reproducer(cls, parts: dict[str, Part]) -> dict[str, Part]:
        if "reproducer" not in parts:
            raise ValueError("there is no reproducer")
        if parts["reproducer"].outcome == "returned" and parts["reproducer"].behaviour is None:
            raise ValueError("the reproducer returned, and no behaviour says what it saw")
        return parts


class Where(FileModel):
    """The machine's system, architecture and processor, as Python names them."""

    system: str
    machine: str
    cpu: str


class Machine(FileModel):
    """Where it ran, as the cell's own interpreter saw it.

    `cores`: how many the probe could use; None in records of before it was asked.
    `remade`: its environment was made anew, after an import had failed in the one before it.
    """

    python: str
    cores: int | None = None
    packages: dict[str, str | None]
    platform: Where
    cpu_features: list[str] = Field(default_factory=list)
    import_errors: dict[str, str]
    unforkable: str | None
    remade: bool = False


class Key(FileModel):
    """What an observation depends on; the shas are of file contents.

    `python` is the interpreter's minor version, "3.12", whatever it is made from: an interpreter's patch release does
    not void what was seen. Which one it was, the record's machine says.
    """

    lock: str
    issue: str
    probe: str
    python: str
    platform: str

    @field_validator("python")
    @classmethod
    def _minor(cls, python: str) -> str:
        return ".".join(python.split(".")[:2])


class Record(FileModel):
    """What one case did in one cell, every attempt of it.

    `shared` holds attempts made beside other probes that did not count, since `attempts` were then made alone.
    """

    mend: ClassVar[str] = AGAIN

    # One of an older suite is read, so that its key can say that it no longer holds.
    schema_version: Literal[1, 2]
    cell: CellId
    issue: Id
    case: Id
    key: Key
    started_at: datetime
    machine: Machine
    attempts: list[Attempt] = Field(min_length=1)
    shared: list[Attempt] = Field(default_factory=list)
