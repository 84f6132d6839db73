"""The record of one case in one cell, as the driver reads it from the probe. Raw, never judged."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Literal

from pydantic import Field, field_validator

from jax_stack_compat.base.fields import CellId, Id
from jax_stack_compat.base.files import FileModel

AGAIN = "remove the file; the next run of its cell makes it again"

# The ways in which a process ends without a usable answer.
Ending = Literal["signal", "timeout", "memory", "output", "exit", "no-result", "garbled"]
# The ways in which the import of a needed package fails.
ImportEnding = Literal["import-error", "import-signal", "import-timeout"]
# `probe-ended`: the part ended its probe, or could not be run.
Outcome = Literal["returned", "raised", "unavailable", "probe-ended", ImportEnding, Ending]


class Part(FileModel):
    """The result of a reproducer, a workaround or a control in one attempt.

    `behaviour` is set if a reproducer returned, or raised an exception that a signature of its case matches. `said` is
    the answer of a part whose process ended badly after the answer.
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
    """One attempt: a child process, or several if one ended before every part had run."""

    parts: dict[Literal["reproducer", "workaround", "control"], Part]
    seconds: float = Field(ge=0, le=86_400)
    peak_rss_mib: int = Field(default=0, ge=0, le=2**24)

    @field_validator("parts")
    @classmethod
    def _has_reproducer(cls, parts: dict[str, Part]) -> dict[str, Part]:
        if "reproducer" not in parts:
            raise ValueError("there is no reproducer")
        if parts["reproducer"].outcome == "returned" and parts["reproducer"].behaviour is None:
            raise ValueError("the reproducer returned without a behaviour")
        return parts


class Where(FileModel):
    """The machine's system, architecture and processor, as Python names them."""

    system: str
    machine: str
    cpu: str


class Machine(FileModel):
    """The machine and environment of a run, as the cell's own interpreter saw them.

    `cores` is the number that the probe could use; None in older records. With `remade`, the environment was recreated
    because an import had failed in the one before.
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
    """Everything that an observation depends on; hashes are of file contents.

    `python` is the interpreter's minor version, "3.12": another patch release does not void an observation. The
    record's `machine` has the full version.
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
    """Every attempt of one case in one cell.

    `shared` has attempts made beside other probes. They do not count: the case then ran alone, in `attempts`.
    """

    mend: ClassVar[str] = AGAIN

    # Records of an older suite can be read; their keys show that they are outdated.
    schema_version: Literal[1, 2]
    cell: CellId
    issue: Id
    case: Id
    key: Key
    started_at: datetime
    machine: Machine
    attempts: list[Attempt] = Field(min_length=1)
    shared: list[Attempt] = Field(default_factory=list)

    @property
    def fails_to_import(self) -> bool:
        """True if a package that the case needs did not import."""
        return self.attempts[0].parts["reproducer"].outcome.startswith("import-")
