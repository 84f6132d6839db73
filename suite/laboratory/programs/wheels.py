"""The wheels with a compiler for a device, found in jax's metadata and added to a cell's lock.

CUDA, cuDNN and other NVIDIA libraries are left out: only running a program needs them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from jax_stack_compat.base.errors import Failed
from jax_stack_compat.base.files import STATE, FileModel, dump, read
from jax_stack_compat.base.spelling import requirement
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.stack import lock, releases
from jax_stack_compat.stack.lock import Lock, Unresolvable
from jax_stack_compat.stack.plan import Cell
from laboratory.programs.targets import Target

LOCKS = STATE / "programs" / "locks"


class Resolved(FileModel):
    """An installer's choice: entries of a lock, and the bytes of each name==version."""

    wanted: str
    entries: str
    bytes: dict[str, int]


@dataclass(frozen=True)
class DeviceWheels:
    """A cell with an id of its own, and a lock that includes the wheels for a target."""

    cell: Cell
    pinned: Lock
    bytes: dict[str, int]

    @property
    def versions(self) -> dict[str, str]:
        """The versions of packages that the cell's own lock lacks, by name."""
        return dict(pin.split("==") for pin in sorted(self.bytes))


def wanted(cell: Cell, target: Target) -> str:
    """Return the requirement in jax's extra for the compiler: `libtpu==0.0.50.*`. Raises Failed."""
    jax = lock.load(cell).pins["jax"]
    for each in map(requirement, releases.load().packages["jax"][jax].requires_dist):
        if each.name == target.wheel and releases.applies(each, cell.python, target.extra):
            return f"{each.name}{each.specifier}"
    raise Failed(f"{cell.id}: jax {jax} does not require {target.wheel} in its extra {target.extra}")


def obtain(cell: Cell, target: Target) -> DeviceWheels:
    """Return the cell with a lock that has the wheels.

    The result is kept, so the index is asked only once. Raises Failed.
    """
    asked = wanted(cell, target)
    made = replace(cell, id=f"{cell.id}+{target.id}", requires=(asked,), tags=())
    kept = LOCKS / f"{made.id}.json"
    found = read(Resolved, kept) if kept.exists() else None
    if found is None or found.wanted != asked:
        found = _resolve(made, asked)
        write(kept, dump(found.model_dump()))
    path = LOCKS / made.lock_name
    text = lock.load(cell).text + found.entries
    write(path, text)
    return DeviceWheels(made, lock.parse(text, path), found.bytes)


def _resolve(made: Cell, asked: str) -> Resolved:
    """Resolve as of the cell's day, or of the snapshot's for a wheel that came later. Raises Failed."""
    late, said = max((moment for _, moment in made.as_of_package), default=made.as_of), ""
    for as_of in (late, releases.load().taken_at):
        try:
            entries, sizes = lock.resolve(replace(made, as_of=as_of, as_of_package=()))
        except Unresolvable as error:
            said = (str(error).splitlines() or ["uv said nothing"])[-1]
        else:
            return Resolved(wanted=asked, entries=entries, bytes=sizes)
    raise Failed(f"{made.id}: {asked} cannot be resolved: {said}")
