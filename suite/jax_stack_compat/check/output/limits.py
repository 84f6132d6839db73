"""The bounds that a set of releases must keep: those of the file that was read, and of the project's pyproject.toml."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from jax_stack_compat.base.errors import BadFile
from jax_stack_compat.base.places import is_file, is_there
from jax_stack_compat.check.inputs import foreign
from jax_stack_compat.check.inputs.bounds import bounds
from jax_stack_compat.check.inputs.stack import Stack

# Several requirements in the words of one package are joined by commas, as are the parts of a specifier.
_NEXT = re.compile(r", (?=[A-Za-z])")


@dataclass(frozen=True)
class Limits:
    """The allowed versions of packages, and the names of the files with them; `unread` has a file's name and fault."""

    bounds: Mapping[str, SpecifierSet] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    unread: str = ""

    def admit(self, name: str, version: str) -> bool:
        """Return True if a version of a package is within its bounds; so is any version of other packages."""
        return self.bounds.get(name, SpecifierSet()).contains(version, prereleases=True)


def project_file(folder: Path) -> Path | None:
    """Return a folder's pyproject.toml, there or above, within the repository."""
    place = Path(os.path.realpath(folder))
    for each in (place, *place.parents):
        if is_file(path := each / "pyproject.toml"):
            return path
        if is_there(each / ".git"):
            break
    return None


def python_of(project: Path) -> str:
    """Return the range of Python in a pyproject.toml; empty without any. Raises BadFile."""
    table = foreign.toml(project, foreign.text(project)).get("project", {})
    return str(table.get("requires-python", ""))


def limits(stack: Stack, project: Path | None) -> Limits:
    """Return the ranges in the file that a stack is from, and the bounds of its project."""
    found: dict[str, SpecifierSet] = {}
    files, unread = dict[str, None](), ""
    for name, specifier in _ranges(stack):
        found[name] = found.get(name, SpecifierSet()) & specifier
        files[Path(stack.file).name or stack.where] = None
    try:
        declared = bounds(project).packages if project else {}
    except BadFile as error:
        declared, unread = {}, f"{error.faults[0].path.name}: {error.faults[0].message}"
    for name, specifier in declared.items():
        found[name] = found.get(name, SpecifierSet()) & specifier
    if project and declared:
        files[project.name] = None
    return Limits(found, tuple(files), unread)


def _ranges(stack: Stack) -> Iterator[tuple[str, SpecifierSet]]:
    """Yield the ranges among the packages without a version."""
    for name, words in stack.unsaid.items():
        for text in _NEXT.split(words):
            try:
                requirement = foreign.requirement(text)
            except ValueError:
                continue
            if canonicalize_name(requirement.name) == name and not requirement.url:
                yield name, requirement.specifier
