"""Stacks of uv.lock, poetry.lock, pdm.lock and Pipfile.lock, read without the tools that wrote them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from pydantic import Field

from jax_stack_compat.check.inputs import foreign, requirements
from jax_stack_compat.check.inputs.foreign import Foreign, bad, model
from jax_stack_compat.check.inputs.markers import Environment, admits, environment, is_locked, read_for
from jax_stack_compat.check.inputs.requirements import Pin, direct, pin
from jax_stack_compat.check.inputs.stack import Stack, without_exclusive

# uv's names for sources other than an index.
_PLACES = ("git", "url", "path", "directory", "editable", "virtual")
_DEFAULT_GROUP = "dev"


class _Needed(Foreign):
    name: str
    version: str = ""
    source: Mapping[str, Any] = Field(default_factory=dict)
    extra: tuple[str, ...] = ()
    marker: str = ""


_Groups = Mapping[str, tuple[_Needed, ...]]


class _Package(Foreign):
    name: str
    version: str = ""
    source: Mapping[str, Any] = Field(default_factory=dict)
    dependencies: tuple[_Needed, ...] = ()
    optional_dependencies: _Groups = Field(default_factory=dict)
    dev_dependencies: _Groups = Field(default_factory=dict)

    @property
    def needed(self) -> _Needed:
        """This package as a requirement, without extras."""
        return _Needed(name=self.name, version=self.version, source=self.source)

    @property
    def is_root(self) -> bool:
        """True if it is the project."""
        return any(self.source.get(kind) == "." for kind in ("editable", "virtual", "directory"))

    def is_meant(self, needed: _Needed) -> bool:
        """Return True if a need is of this version, from this source."""
        return needed.version in ("", self.version) and (not needed.source or needed.source == self.source)


class _Manifest(Foreign):
    members: tuple[str, ...] = ()
    requirements: tuple[_Needed, ...] = ()
    dependency_groups: _Groups = Field(default_factory=dict)


class _Exclusive(Foreign):
    package: str = ""
    extra: str = ""
    group: str = ""


class _Uv(Foreign):
    requires_python: str = ""
    conflicts: tuple[tuple[_Exclusive, ...], ...] = ()
    manifest: _Manifest = _Manifest()
    package: tuple[_Package, ...] = ()


def uv(path: Path, written: str) -> Stack:
    """Return what a uv.lock installs here, without extras and groups that conflict. Raises BadFile."""
    lock = model(_Uv, path, foreign.toml(path, written))
    under = environment(lock.requires_python)
    where = read_for(str(path), under)
    there = [_uv_pin(each, path) for each in _reached(lock, path, under)]
    stack = requirements.stack(there, where)
    if not lock.conflicts:
        return stack
    return without_exclusive(stack, [(each.name, each.version) for each in lock.package])


def _reached(lock: _Uv, path: Path, under: Mapping[str, str]) -> list[_Package]:
    """Return the project, its members and the packages that they need here."""
    by_name: dict[str, list[_Package]] = {}
    for locked in lock.package:
        by_name.setdefault(locked.name, []).append(locked)
    roots = [each for each in lock.package if each.name in lock.manifest.members or each.is_root]
    left_out = {(each.package, each.extra or each.group) for some in lock.conflicts for each in some}
    left_out = {each for each in left_out if each[1] != _DEFAULT_GROUP}
    waiting: deque[_Needed] = deque(lock.manifest.requirements)
    for needed_by_group in lock.manifest.dependency_groups.values():
        waiting.extend(needed_by_group)
    chosen = set()
    for root in roots:
        waiting.append(root.needed)
        for kind, of in (("extra", root.optional_dependencies), ("group", root.dev_dependencies)):
            for name, several in of.items():
                if (root.name, name) not in left_out:
                    # uv's spelling in the markers of packages that depend on it.
                    chosen.add(f"{kind}-{len(root.name)}-{root.name}-{name}")
                    waiting.extend(several)
    if not waiting:
        waiting.extend(package.needed for package in lock.package)
    asked: Environment = {**under, "extras": frozenset(chosen)}
    found: dict[int, _Package] = {}
    seen = set()
    while waiting:
        needed = waiting.popleft()
        if not is_locked(needed.marker, asked, path, f"package {needed.name}"):
            continue
        meant = [each for each in by_name.get(needed.name, ()) if each.is_meant(needed)]
        if not meant:
            raise bad(path, f"package {needed.name}", "it is required but missing in the lock: lock the project again")
        for package in meant:
            found[id(package)] = package
            for extra in ("", *needed.extra):
                if (id(package), extra) not in seen:
                    seen.add((id(package), extra))
                    waiting.extend(package.optional_dependencies.get(extra, ()) if extra else package.dependencies)
    return list(found.values())


def _uv_pin(package: _Package, path: Path) -> Pin:
    key = f"package {package.name}"
    place = next((f"{each}+{package.source[each]}" for each in _PLACES if each in package.source), None)
    if place is None and package.version:
        return pin(package.name, package.version, path, key)
    return direct(package.name, f"{package.name} @ {place or 'no version is given'}", path, key)


class _PoetryPackage(Foreign):
    name: str
    version: str
    python_versions: str = "*"
    markers: str | Mapping[str, str] = ""
    source: Mapping[str, Any] = Field(default_factory=dict)

    @property
    def place(self) -> str:
        """The address of the package's source, if it is not an index."""
        return str(self.source.get("url", "")) if self.source.get("type", "legacy") != "legacy" else ""


class _PoetryMetadata(Foreign):
    python_versions: str = "*"


class _Poetry(Foreign):
    package: tuple[_PoetryPackage, ...] = ()
    metadata: _PoetryMetadata = _PoetryMetadata()
    extras: Mapping[str, Sequence[str]] = Field(default_factory=dict)


def poetry(path: Path, written: str) -> Stack:
    """Return what a poetry.lock installs here, with all its groups and extras. Raises BadFile.

    A lock before Poetry 2 does not say which of two versions of a package applies: both are reported.
    """
    lock = model(_Poetry, path, foreign.toml(path, written))
    return _of_markers(lock.package, lock.metadata.python_versions, lock.extras, path)


class _PdmPackage(_PoetryPackage):
    version: str = ""
    python_versions: str = Field("*", alias="requires_python")
    markers: str = Field("", alias="marker")
    git: str = ""
    url: str = ""
    path: str = ""

    @property
    def place(self) -> str:
        """The address of the package's source, if it is not an index."""
        return self.git or self.url or self.path


class _PdmTarget(Foreign):
    python_versions: str = Field("*", alias="requires_python")


class _PdmMetadata(Foreign):
    targets: tuple[_PdmTarget, ...] = ()


class _Pdm(Foreign):
    package: tuple[_PdmPackage, ...] = ()
    metadata: _PdmMetadata = _PdmMetadata()


def pdm(path: Path, written: str) -> Stack:
    """Return what a pdm.lock installs here, with all its groups. Raises BadFile.

    A lock before PDM 2.17 has no markers, so packages of other platforms are reported too.
    """
    lock = model(_Pdm, path, foreign.toml(path, written))
    wanted = " || ".join(target.python_versions for target in lock.metadata.targets)
    return _of_markers(lock.package, wanted or "*", (), path)


def _of_markers(packages: Iterable[_PoetryPackage], python: str, extras: Iterable[str], path: Path) -> Stack:
    under = environment(python)
    asked: Environment = {**under, "extras": frozenset(extras)}
    there: dict[str, list[_PoetryPackage]] = {}
    for package in packages:
        markers = package.markers.values() if isinstance(package.markers, Mapping) else (package.markers,)
        needed = any(is_locked(marker, asked, path, f"package {package.name}") for marker in markers)
        if needed and admits(package.python_versions, under["python_full_version"]):
            there.setdefault(canonicalize_name(package.name), []).append(package)
    pins = [_of_versions(name, of, path) for name, of in there.items()]
    return requirements.stack(pins, read_for(str(path), under))


def _of_versions(name: str, of: Sequence[_PoetryPackage], path: Path) -> Pin:
    key = f"package {name}"
    if places := list(dict.fromkeys(each.place for each in of if each.place)):
        return direct(name, f"{name} @ {' or '.join(places)}", path, key)
    versions = list(dict.fromkeys(each.version for each in of))
    return pin(name, versions[0], path, key) if len(versions) == 1 else Pin(name, "", " or ".join(versions), path, key)


class _Entry(Foreign):
    version: str = ""
    markers: str = ""
    git: str = ""
    path: str = ""
    file: str = ""


class _Requires(Foreign):
    python_version: str = Field("", alias="python_version")


class _Meta(Foreign):
    requires: _Requires | None = None


class _Pipfile(Foreign):
    meta: _Meta = Field(_Meta(), alias="_meta")
    default: Mapping[str, _Entry] = Field(default_factory=dict)
    develop: Mapping[str, _Entry] = Field(default_factory=dict)


def pipfile(path: Path, written: str) -> Stack:
    """Return what a Pipfile.lock installs here; its default section overrides its develop one. Raises BadFile."""
    lock = model(_Pipfile, path, foreign.parsed_json(path, written))
    python = lock.meta.requires.python_version if lock.meta.requires else ""
    under = environment(f"=={python}.*" if python else "")
    entries = {**lock.develop, **lock.default}.items()
    pins = [_pipfile_pin(name, of, path) for name, of in entries if is_locked(of.markers, under, path, name)]
    return requirements.stack(pins, read_for(str(path), under))


def _pipfile_pin(name: str, entry: _Entry, path: Path) -> Pin:
    if place := entry.git or entry.file or entry.path:
        return direct(name, f"{name} @ {place}", path, name)
    if entry.version.startswith("=="):
        return pin(name, entry.version.lstrip("="), path, name)
    return Pin(canonicalize_name(name), "", f"{name}{entry.version}", path, name)


READERS = {"uv": uv, "poetry": poetry, "pdm": pdm, "pipfile": pipfile}
