"""A stack in somebody's words → versions: what is typed in a box, a cell's id, requirement lines, a pasted pip freeze.

Names are whole names (`jaxtyping` is not jax), and what is not understood is said, never guessed. The page's script
reads the same words in the same way; a test holds the two together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

NEWEST = "newest"
_CELL = re.compile(r"[a-z]+-\d[\w.]*(\+[a-z]+-\d[\w.]*)*")
_WORD = re.compile(r"[^\s,=]+")
_OPERATOR = re.compile(r"[<>!~]|==")
# Where the next package begins: before a name that an operator or a version follows, and after a comma.
_PARTS = re.compile(
    r"\s*,?\s+(?=[A-Za-z][\w.-]*(?:\[[^\]]*\])?(?:\s*[<>=!~]|\s+(?:v?\d|newest)))|\s*,\s*(?=[A-Za-z])", re.ASCII
)


@dataclass(frozen=True)
class Asked:
    """The versions that were named, by package, and a sentence for each thing that was not taken as it stands."""

    versions: Mapping[str, str]
    notes: tuple[str, ...]


def read(text: str, known: Mapping[str, Sequence[str]]) -> Asked:
    """What `text` names of the packages in `known`, which maps each to its releases, oldest first.

    `jax 0.10` and `jax==0.10.*` are the newest release of that minor, `newest` alone the newest jax; a bare version is
    jax's. Other packages are counted, and ignored.
    """
    reader = _Reader(known)
    # No name and no version has anything but ASCII in it.
    for raw in re.sub(r"[^\n\r -~]", " ", text).splitlines():
        # A comment, a hash or an option of a requirements file says nothing of versions; nor does a marker.
        line = re.sub(r"(^|\s)#.*|--hash=\S+|\\$", "", raw).partition(";")[0].strip()
        if line and not line.startswith("-"):
            reader.line(line)
    return reader.asked()


class _Reader:
    """Takes lines, one after the other."""

    def __init__(self, known: Mapping[str, Sequence[str]]) -> None:
        self._known = known
        self._versions: dict[str, str] = {}
        self._notes: list[str] = []
        self._others: list[str] = []

    def asked(self) -> Asked:
        """What was understood, and what was not."""
        notes = list(self._notes)
        if self._others:
            few = ", ".join(self._others[:3]) + (" …" if len(self._others) > 3 else "")
            notes.append(f"Not of the stack, and ignored: {few}.")
        return Asked(self._versions, tuple(notes))

    def line(self, line: str) -> None:
        """One requirement, one id of a cell, or a row of words."""
        if _CELL.fullmatch(line):
            for part in line.split("+"):
                name, _, version = part.partition("-")
                self._name(name, version)
            return
        for part in _PARTS.split(line) if _OPERATOR.search(line) else [line]:
            if _OPERATOR.search(part):
                self._requirement(part)
            else:
                self._words(part)

    def _words(self, text: str) -> None:
        name = ""
        for word in _WORD.findall(text):
            if word == NEWEST or re.match(r"v?\d", word):
                if name or len(self._versions) == 0 or word != NEWEST:
                    self._name(name or "jax", word.removeprefix("v"))
                name = ""
            else:
                if name:
                    self._name(name, "")
                name = word.partition("[")[0]
        if name:
            self._name(name, "")

    def _requirement(self, text: str) -> None:
        try:
            wanted = Requirement(text)
        except InvalidRequirement:
            self._notes.append(f"“{text}” is no requirement.")
            return
        name = canonicalize_name(wanted.name)
        if name not in self._known:
            self._others.append(name)
            return
        asked = str(wanted.specifier)
        if exact := re.fullmatch(r"(?:===?([^,*]*))?", asked):
            self._name(name, exact[1] or "")
            return
        admitted = [each for each in self._known[name] if wanted.specifier.contains(each, prereleases=True)]
        if not admitted:
            self._notes.append(f"No release here is {name}{asked}.")
            return
        self._versions[name] = admitted[-1]
        self._notes.append(f"{name}{asked} is taken as its newest, {admitted[-1]}.")

    def _name(self, name: str, version: str) -> None:
        name = canonicalize_name(name)
        if name not in self._known:
            self._others.append(name)
            return
        there = self._known[name]
        if not version:
            self._notes.append(f"{name} has no version beside it, and is ignored.")
        elif version == NEWEST:
            self._versions[name] = there[-1]
        elif (public := _public(version)) is None:
            self._notes.append(f"“{version}” is no version of {name}.")
        elif public in there or not (of_minor := [each for each in there if each.startswith(f"{public}.")]):
            self._versions[name] = public
            if public not in there:
                self._notes.append(f"There is no {name} {public} here: what follows of it is by rule.")
        else:
            self._versions[name] = of_minor[-1]
            self._notes.append(f"{name} {public} is taken as its newest, {of_minor[-1]}.")


def _public(version: str) -> str | None:
    try:
        return Version(version).public
    except InvalidVersion:
        return None
