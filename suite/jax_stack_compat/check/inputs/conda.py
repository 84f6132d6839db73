"""The stack of a conda file: pixi.lock, conda-lock.yml, or environment.yml with its pip requirements."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from packaging.specifiers import SpecifierSet
from pydantic import Field

from jax_stack_compat.check.inputs import foreign, requirements
from jax_stack_compat.check.inputs.foreign import Foreign, bad, model
from jax_stack_compat.check.inputs.markers import environment
from jax_stack_compat.check.inputs.requirements import Pin, direct, pin
from jax_stack_compat.check.inputs.stack import Stack

# conda's names of platforms.
_SYSTEMS = {"linux": "linux", "darwin": "osx", "win32": "win"}
_MACHINES = {"x86_64": "64", "amd64": "64", "aarch64": "aarch64", "arm64": "arm64", "ppc64le": "ppc64le"}
# A dependency with its version and its build: `jaxlib=0.6.2=cuda129*`, `conda-forge::jaxlib 0.6.2 cpu_py312`.
_BUILD = re.compile(r"(?:\S*::)?(jax|jaxlib)(?![\w-])(?:[\s=]*([\d.*]+)[\s=]+([^\s=]\S*))?")
_ARCHIVES = (".conda", ".tar.bz2")
_WORDS = re.compile(r"(?:\S*::)?+([\w.-]++)\s*+(.*)")
# `==1.2`, `=1.2.3`, `=1.2=build`, ` 1.2`, ` 1.2 build`, `[version="1.2"]`: conda installs one version. `=` is a prefix,
# which is exact if it has three parts.
_EXACT = re.compile(
    r"==\s*([\w.!+]+)(?:[\s=].*)?|=?\s*([\d.]++\w*+)(?:=|\s+)[^\s<>=!~|,]\S*|=\s*(\d+\.\d+\.[\w.]*\w)|(\d[\w.]*)"
    r"|\[version=['\"]?={0,2}(\d[\w.]*)['\"]?\]"
)


class _Locked(Foreign):
    """A package of a pixi.lock: its address, and before version 6 its name and version."""

    conda: str = ""
    pypi: str = ""
    url: str = ""
    path: str = ""
    kind: str = ""
    name: str = ""
    version: str = ""


class _PixiEnvironment(Foreign):
    packages: Mapping[str, tuple[Mapping[str, Any], ...]] = Field(default_factory=dict)


class _PixiPlatform(Foreign):
    name: str
    subdir: str = ""


class _Pixi(Foreign):
    platforms: tuple[_PixiPlatform | str, ...] = ()
    environments: Mapping[str, _PixiEnvironment]
    packages: tuple[_Locked, ...] = ()


class _CondaPackage(Foreign):
    name: str
    version: str
    manager: str
    platform: str
    url: str = ""


class _CondaLock(Foreign):
    package: tuple[_CondaPackage, ...]


class _Environment(Foreign):
    dependencies: tuple[str | Mapping[str, Sequence[str] | None], ...]


def read(path: Path, written: str) -> Stack:
    """Return the stack of a pixi.lock, a conda-lock.yml or an environment.yml, by its content. Raises BadFile."""
    found = foreign.yaml(path, written)
    if isinstance(found, dict) and "environments" in found:
        return _pixi(model(_Pixi, path, found), path)
    if isinstance(found, dict) and "package" in found:
        return _conda_lock(model(_CondaLock, path, found), path)
    if isinstance(found, dict) and "dependencies" in found:
        return _environment(model(_Environment, path, found), path)
    keys = "`environments:`, `package:` and `dependencies:`"
    raise bad(
        path, "whole file", f"this YAML has none of {keys}: name a pixi.lock, a conda-lock.yml or an environment.yml"
    )


def _pixi(lock: _Pixi, path: Path) -> Stack:
    """Return the default environment on this platform, or the first with the stack if that lacks it."""
    of_package = {package.conda or package.pypi or package.url or package.path: package for package in lock.packages}
    stacks = {name: _of_environment(lock, name, of_package, path) for name in lock.environments}
    named = sorted(stacks.items(), key=lambda each: each[0] != "default")
    stack = next((each for _, each in named if each.names_stack), named[0][1] if named else Stack({}, str(path)))
    others: dict[str, list[str]] = {}
    for name, other in named:
        for package, version in {**other.versions, **other.unsaid}.items():
            if package not in stack.versions:
                others.setdefault(package, []).append(f"{version} in environment {name}")
    return replace(stack, unsaid={**{name: ", ".join(each) for name, each in others.items()}, **stack.unsaid})


def _of_environment(lock: _Pixi, name: str, of_package: Mapping[str, _Locked], path: Path) -> Stack:
    packages = lock.environments[name].packages
    ours = _platform()
    alike = [each.name for each in lock.platforms if isinstance(each, _PixiPlatform) and each.subdir == ours]
    chosen = next((each for each in (ours, *alike, *packages) if each in packages), "")
    where = f"{path}, environment {name}" + ("" if chosen in ("", ours) else f" for {chosen}")
    pins, python, builds = [], "", dict[str, str]()
    for entry in packages.get(chosen, ()):
        kind, address = next(iter(entry.items()), ("", ""))
        known = of_package.get(str(address), _Locked())
        named, numbered, build = _archive(str(address)) if kind == "conda" else ("", "", "")
        package, version = known.name or named, known.version or numbered
        if build:
            builds[package] = build
        if kind == "conda" and package == "python":
            python = version
        elif package:
            key = f"environments.{name}.packages.{chosen}"
            pins.append(
                _pin(package, version, kind, path, key) if version else direct(package, str(address), path, key)
            )
    return replace(requirements.stack(pins, where), python=python, notes=of_builds(builds))


def _archive(address: str) -> tuple[str, str, str]:
    """Return the name, the version and the build in the address of a conda package; all empty without them."""
    file = address.rpartition("/")[2]
    parts = file.removesuffix(".conda").removesuffix(".tar.bz2").rsplit("-", 2)
    is_archive = file.endswith(_ARCHIVES) and len(parts) == 3 and all(parts)
    return (parts[0], parts[1], parts[2]) if is_archive else ("", "", "")


def _conda_lock(lock: _CondaLock, path: Path) -> Stack:
    """Return the packages for this machine's platform, or else for the first platform of the lock."""
    ours = _platform()
    platforms = [package.platform for package in lock.package]
    chosen = ours if ours in platforms or not platforms else platforms[0]
    there = [each for each in lock.package if each.platform == chosen]
    python = next((each.version for each in there if (each.manager, each.name) == ("conda", "python")), "")
    pins = [_pin(each.name, each.version, each.manager, path, f"package {each.name}") for each in there]
    where = str(path) if chosen == ours else f"{path}, for {chosen}"
    archives = [_archive(each.url) for each in there if each.manager == "conda"]
    builds = {name: build for name, _, build in archives if build}
    stack = requirements.stack([each for each in pins if each.name != "python"], where)
    return replace(stack, python=python, notes=of_builds(builds))


def _platform() -> str:
    return f"{_SYSTEMS.get(sys.platform, sys.platform)}-{_MACHINES.get(platform.machine().lower(), '')}"


def _pin(name: str, version: str, kind: str, path: Path, key: str) -> Pin:
    """Return a pin; if conda's version is not Python's, without version: tzdata 2026c is not a candidate."""
    found = pin(name, version, path, key)
    return found if kind != "conda" or found.version == version else replace(found, version="")


def _environment(of: _Environment, path: Path) -> Stack:
    pins: list[Pin] = []
    python, pip = "", [line for each in of.dependencies if isinstance(each, Mapping) for line in each.get("pip") or ()]
    for number, dependency in enumerate(of.dependencies):
        if not isinstance(dependency, str) or not (found := _WORDS.fullmatch(dependency.strip())):
            continue
        name, rest = found[1], found[2].strip()
        exact = _EXACT.fullmatch(rest)
        version = next(filter(None, exact.groups()), "") if exact else ""
        if name == "python":
            python = version or rest
        else:
            key = f"dependencies[{number}]"
            loose = Pin(name.lower(), "", dependency, path, key, admits=_admitted(rest))
            pins.append(pin(name, version, path, key) if version else loose)
    written = "\n".join(" ".join(line.split()) for line in pip)
    series = re.match(r"=*\s*(\d+\.\d+)", python)
    pins += requirements.read(path, written, environment(f"=={series[1]}.*" if series else ""), "pip, ")
    full = python if re.fullmatch(r"\d+\.\d+\.\d+", python) else series[1] if series else ""
    builds = {
        found[1]: found[3] or "" for each in of.dependencies if isinstance(each, str) and (found := _BUILD.match(each))
    }
    return replace(requirements.stack(pins, str(path)), python=full, notes=of_builds(builds))


def _admitted(words: str) -> SpecifierSet | None:
    """Return the versions of a range in conda's syntax; None if Python's has no such range: `0.4.*|0.5.*`."""
    try:
        return foreign.specifiers(re.sub(r"^=?(\d[\w.]*)$", r"==\1.*", words.removesuffix(".*")))
    except ValueError:
        return None


def of_builds(builds: Mapping[str, str]) -> tuple[str, ...]:
    """Return a sentence on conda's build of jaxlib or, without it, of jax; empty without both."""
    name = next((each for each in ("jaxlib", "jax") if each in builds), "")
    if not name:
        return ()
    kind = f"CUDA build ({builds[name]})" if "cuda" in builds[name] else "build"
    return (f"conda's {kind} of {name} was not run here: the data is from pip's CPU wheels.",)
