"""What is looked up: packages with their versions, and where they were found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from suite.printable import printable


@dataclass(frozen=True)
class Stack:
    """Versions by normalised name (`jax`, `diffrax`, all that was found), and where that stands, for people.

    `python` is a full version, "3.12.4", or nothing where it is not known. `unsaid` are packages that are there in no
    one version: a range, a URL, a fork; each with the words in which it is told. `file` is the path of the lock that it
    is from, where it is from one. Words for people are printable: a name of a file may have line ends.
    """

    versions: Mapping[str, str]
    where: str
    python: str = ""
    unsaid: Mapping[str, str] = field(default_factory=dict)
    file: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "where", printable(self.where))
        object.__setattr__(self, "unsaid", {printable(name): printable(each) for name, each in self.unsaid.items()})


def without_exclusive(stack: Stack, every: Iterable[tuple[str, str]]) -> Stack:
    """Return a stack, with what else its lock has, by name and version, among `unsaid`.

    No one environment has all: extras or groups exclude each other.
    """
    versions: dict[str, list[str]] = {}
    for name, version in every:
        if name not in stack.versions:
            versions.setdefault(name, []).append(version)
    others = {name: f"{' or '.join(each)}, with other extras or groups" for name, each in versions.items()}
    where = f"{stack.where}, without the extras and groups that exclude each other"
    return Stack(stack.versions, where, unsaid={**others, **stack.unsaid})
