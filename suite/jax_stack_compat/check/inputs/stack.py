"""The stack that is looked up: packages with their versions, and where they were found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from packaging.specifiers import SpecifierSet

from jax_stack_compat.base.printable import printable
from jax_stack_compat.packages import GUESTS, STACK


@dataclass(frozen=True)
class Stack:
    """Versions by normalised name (`jax`, `diffrax`, all that was found), and where they were found, for people.

    `python` is a version, "3.12.4" or "3.12", or empty if unknown. `unsaid` are packages without an exact version (a
    range, a URL, a fork), with the words for each; `bounds` has the versions that their ranges admit. `notes` are
    sentences on what the data does not cover. `file` is the path of the lock, if there is one. Words for people are
    printable: the name of a file may have line ends.
    """

    versions: Mapping[str, str]
    where: str
    python: str = ""
    unsaid: Mapping[str, str] = field(default_factory=dict)
    file: str = ""
    bounds: Mapping[str, SpecifierSet] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def pins_stack(self) -> bool:
        """True if it has the version of a package of the stack."""
        return not self.versions.keys().isdisjoint(STACK)

    @property
    def names_stack(self) -> bool:
        """True if it names a package of the stack or a guest, with or without a version."""
        return not {*STACK, *GUESTS}.isdisjoint([*self.versions, *self.unsaid])

    def __post_init__(self) -> None:
        object.__setattr__(self, "where", printable(self.where))
        object.__setattr__(self, "notes", tuple(map(printable, self.notes)))
        object.__setattr__(self, "unsaid", {printable(name): printable(each) for name, each in self.unsaid.items()})


def without_exclusive(stack: Stack, every: Iterable[tuple[str, str]]) -> Stack:
    """Return a stack that lists the other versions in its lock under `unsaid`.

    `every` lists the lock by name and version. These belong to extras or groups that exclude each other, so no
    environment has all of them.
    """
    versions: dict[str, list[str]] = {}
    for name, version in every:
        if name not in stack.versions:
            versions.setdefault(name, []).append(version)
    others = {name: f"{' or '.join(each)}, with other extras or groups" for name, each in versions.items()}
    where = f"{stack.where}, without extras and groups that exclude each other"
    return Stack(stack.versions, where, unsaid={**others, **stack.unsaid})
