"""Bounds on packages in a project's pyproject.toml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, TypeVar

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from jax_stack_compat.base.errors import BadFile, Fault
from jax_stack_compat.check.inputs import foreign
from jax_stack_compat.check.inputs.foreign import bad
from jax_stack_compat.check.inputs.markers import applies, environment

_GROUPS, _INCLUDE = "dependency-groups", "include-group"
_KINDS: Mapping[type, str] = {dict: "table", list: "list", str: "string"}
T = TypeVar("T")


@dataclass(frozen=True)
class Bounds:
    """The allowed versions of packages, by normalised name; `unsaid` are packages with a URL or path instead."""

    packages: Mapping[str, SpecifierSet]
    unsaid: Mapping[str, str]


def bounds(path: Path) -> Bounds:
    """Return the bounds of a pyproject.toml with all its extras and groups installed. Raises BadFile."""
    project, groups, silent = _read(path)
    if silent:
        raise bad(path, *silent)
    try:
        python = foreign.specifiers(_typed(path, "project.requires-python", project.get("requires-python", ""), str))
    except ValueError as error:
        raise bad(path, "project.requires-python", str(error)) from error
    under = environment(str(python))
    packages: dict[str, SpecifierSet] = {}
    unsaid: dict[str, str] = {}
    for _, requirement in _requirements(path, project, groups, under):
        name = canonicalize_name(requirement.name)
        if requirement.url:
            unsaid[name] = str(requirement)
        else:
            packages[name] = packages.get(name, SpecifierSet()) & requirement.specifier
    return Bounds({name: each for name, each in packages.items() if name not in unsaid}, unsaid)


def declared(path: Path) -> dict[str, list[tuple[str, SpecifierSet]]] | None:
    """Return the keys and specifiers that `path` declares, by package; None if only its build knows. Raises BadFile.

    Groups and extras count only for packages that are not dependencies: those are always installed.
    """
    project, groups, silent = _read(path)
    if silent:
        return None
    found: dict[str, list[tuple[str, SpecifierSet]]] = {}
    for key, requirement in _requirements(path, project, groups, environment("")):
        if not requirement.url:
            found.setdefault(canonicalize_name(requirement.name), []).append((key, requirement.specifier))
    for name, of in found.items():
        main = [each for each in of if each[0].startswith("project.dependencies")]
        found[name] = main or of
    return found


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any], tuple[str, str] | None]:
    """Return [project] and [dependency-groups]; if no bounds can be read, also the key at fault and the reason."""
    found = foreign.toml(path, foreign.text(path))
    project, groups = _table(path, found, "project"), _table(path, found, _GROUPS)
    if not project and not groups:
        return (
            project,
            groups,
            ("project", f"the file has neither this table nor [{_GROUPS}], so there are no bounds to read"),
        )
    if "dependencies" in _typed(path, "project.dynamic", project.get("dynamic", []), list):
        why = "its build computes the dependencies: list them in project.dependencies to check their bounds"
        return project, groups, ("project.dynamic", why)
    return project, groups, None


def _requirements(
    path: Path, project: dict[str, Any], groups: dict[str, Any], under: Mapping[str, str]
) -> list[tuple[str, Requirement]]:
    found, faults = [], []
    for key, text in [*_of_project(path, project), *_of_groups(path, groups)]:
        try:
            requirement = foreign.requirement(text)
            if applies(requirement.marker, under):
                found.append((key, requirement))
        except (ValueError, RecursionError) as error:
            faults.append(Fault(path, key, foreign.why(error)))
    if faults:
        raise BadFile(faults)
    return found


def _of_project(path: Path, project: dict[str, Any]) -> Iterator[tuple[str, str]]:
    lists = {"project.dependencies": project.get("dependencies", [])}
    extras = _table(path, project, "project.optional-dependencies")
    lists |= {f"project.optional-dependencies.{name}": each for name, each in extras.items()}
    for key, listed in lists.items():
        for number, one in enumerate(_typed(path, key, listed, list)):
            yield f"{key}[{number}]", _typed(path, f"{key}[{number}]", one, str)


def _of_groups(path: Path, groups: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the requirements of all groups; an included group yields its own."""
    includes: dict[str, list[str]] = {canonicalize_name(name): [] for name in groups}
    for name, group in groups.items():
        for number, one in enumerate(_typed(path, f"{_GROUPS}.{name}", group, list)):
            key = f"{_GROUPS}.{name}[{number}]"
            if not isinstance(one, dict):
                yield key, _typed(path, key, one, str)
                continue
            other = canonicalize_name(_typed(path, key, one.get(_INCLUDE), str))
            if other not in includes:
                raise bad(path, key, f"there is no group {other!r} to include")
            includes[canonicalize_name(name)].append(other)
    try:
        TopologicalSorter(includes).prepare()
    except CycleError as error:
        raise bad(path, _GROUPS, f"groups include each other: {' includes '.join(reversed(error.args[1]))}") from error


def _table(path: Path, within: dict[str, Any], key: str) -> dict[str, Any]:
    return _typed(path, key, within.get(key.rpartition(".")[2], {}), dict)


def _typed(path: Path, key: str, found: object, kind: type[T]) -> T:
    if not isinstance(found, kind):
        raise bad(path, key, f"it is not a {_KINDS[kind]}")
    return found
