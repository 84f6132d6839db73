"""A lock, or a list of what is installed, as a stack: by its name, or else by what stands in it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.pylock import Package, Pylock, PylockValidationError, is_valid_pylock_path

from suite.check.inputs import foreign, requirements
from suite.check.inputs.foreign import bad
from suite.check.inputs.markers import Environment, applies, environment, read_for
from suite.check.inputs.requirements import Pin, direct, pin
from suite.check.inputs.stack import Stack
from suite.errors import BadFile
from suite.stack import uv_call

_EXPORT = (
    *("export", "--frozen", "--offline", "--no-cache", "--no-config", "--no-python-downloads", "--quiet"),
    *("--no-hashes", "--no-annotate", "--no-header"),
)
_EVERYTHING = ("--all-packages", "--all-extras", "--all-groups")
_PATIENCE_S = 60
# As uv writes them.
_UV_RANGE = re.compile(r'^requires-python = "(.*)"$', re.MULTILINE)
_UV_PACKAGE = re.compile(r'^\[\[package\]\]\nname = "(.*)"\nversion = "(.*)"$', re.MULTILINE)
_FORMS = "uv.lock, pylock.toml, requirements.txt, and what pip freeze, conda list --json, pip list --format json write"


def read(path: Path) -> Stack:
    """The versions that a file holds. Raises BadFile."""
    return replace(_read(path), file=str(path))


def _read(path: Path) -> Stack:
    written = foreign.text(path)
    if path.name == "uv.lock":
        return _uv(path, written)
    if is_valid_pylock_path(path):
        return _pylock(path, written)
    if path.suffix == ".json" or re.match(r"\s*(?:\{|\[\s*[{\]])", written):
        return _listed(path, written)
    if re.search(r"^lock-version\s*=", written, re.MULTILINE):
        return _pylock(path, written)
    if _UV_RANGE.search(written) and "\n[[package]]" in written:
        return _uv(path, written)
    if path.suffix in (".toml", ".yml", ".yaml") or re.search(r"^\[\[?[\w.-]+\]\]?$", written, re.MULTILINE):
        raise bad(path, "file", f"it is none of these, which are read: {_FORMS}")
    return requirements.stack(requirements.read(path, written, environment("")), str(path))


def _uv(path: Path, written: str) -> Stack:
    project = path.parent / "pyproject.toml"
    if not project.is_file():
        raise bad(path, "file", "uv reads a lock with its pyproject.toml: put that beside it")
    found = _UV_RANGE.search(written)
    under = environment(found[1] if found else "")
    where = read_for(str(path), under)
    with TemporaryDirectory() as alone:
        # Beside nothing else of the project's, uv finds no settings, no parents and nothing to build.
        Path(alone, "uv.lock").write_text(written, encoding="utf-8")
        Path(alone, "pyproject.toml").write_text(foreign.text(project), encoding="utf-8")

        def exported(*words: str) -> Stack:
            return requirements.stack(requirements.read(path, _export(path, alone, *words), under), where)

        try:
            return exported(*_EVERYTHING)
        except BadFile:
            return _chosen(exported(), _UV_PACKAGE.findall(written))


def _chosen(stack: Stack, every: Iterable[tuple[str, str]]) -> Stack:
    """What is installed where nobody asks for an extra or a group; and that the lock has more, by name and version.

    No one environment has all: extras or groups exclude each other.
    """
    versions: dict[str, list[str]] = {}
    for name, version in every:
        if name not in stack.versions:
            versions.setdefault(name, []).append(version)
    others = {name: f"{' or '.join(each)}, with other extras or groups" for name, each in versions.items()}
    where = f"{stack.where}, without the extras and groups that exclude each other"
    return Stack(stack.versions, where, unsaid={**others, **stack.unsaid})


def _export(path: Path, folder: str, *words: str) -> str:
    """The requirements that uv makes of the lock in a folder. Raises BadFile."""
    env = {name: each for name, each in os.environ.items() if not name.startswith(("UV_", "PYTHON", "VIRTUAL_ENV"))}
    command = [uv_call.found(), *_EXPORT, *words]
    try:
        run = subprocess.run(command, cwd=folder, env=env, capture_output=True, check=False, timeout=_PATIENCE_S)
    except subprocess.TimeoutExpired as error:
        raise bad(path, "file", f"uv does not read it within {_PATIENCE_S} s") from error
    if run.returncode:
        said = run.stderr.decode(errors="replace").replace(f"{os.path.realpath(folder)}/", "").replace(f"{folder}/", "")
        raise bad(path, "file", f"uv cannot read it: {' '.join(said.removeprefix('error: ').split())[:400]}")
    return run.stdout.decode(errors="replace")


def _pylock(path: Path, written: str) -> Stack:
    try:
        lock = Pylock.from_dict(foreign.toml(path, written))
    except PylockValidationError as error:
        raise bad(path, error.context or "whole file", error.message) from error
    except (ValueError, RecursionError) as error:
        raise bad(path, "whole file", foreign.why(error)) from error
    under = environment(str(lock.requires_python or ""))
    select = partial(_selected, lock, path, under)
    try:
        return select(lock.extras or [], lock.dependency_groups or [])
    except BadFile:
        every = [(each.name, str(each.version)) for each in lock.packages if each.version is not None]
        return _chosen(select([], lock.default_groups or []), every)


def _selected(
    lock: Pylock, path: Path, under: Mapping[str, str], extras: Sequence[str], groups: Sequence[str]
) -> Stack:
    # Pylock.select takes the same, or refuses all where a wheel is for another machine: here nothing is installed.
    pins = []
    asked: Environment = {**under, "extras": frozenset(extras), "dependency_groups": frozenset(groups)}
    for number, each in enumerate(lock.packages):
        key = f"packages[{number}]"
        try:
            if applies(each.marker, asked, lock=True):
                pins.append(_package(each, path, key))
        except ValueError as error:
            raise bad(path, key, foreign.why(error)) from error
    return requirements.stack(pins, read_for(str(path), under))


def _package(package: Package, path: Path, key: str) -> Pin:
    source = package.vcs or package.archive
    if source is None and package.directory is None and package.version is not None:
        return pin(package.name, str(package.version), path, key)
    place = source.url or source.path if source else package.directory and package.directory.path
    return direct(package.name, place or "no version is given", path, key)


def _listed(path: Path, written: str) -> Stack:
    try:
        found = json.loads(written)
    except (ValueError, RecursionError) as error:
        raise bad(path, "syntax", foreign.why(error)) from error
    if not isinstance(found, list):
        raise bad(
            path, "whole file", "it is no list of packages, as conda list --json and pip list --format json write"
        )
    pins = []
    python = ""
    for number, each in enumerate(found):
        name, version = (each.get("name"), each.get("version")) if isinstance(each, dict) else (None, None)
        if not isinstance(name, str) or not isinstance(version, str):
            raise bad(path, f"[{number}]", "this is no package with a name and a version")
        if name == "python" and "channel" in each:
            python = pin(name, version, path, f"[{number}]").version
        else:
            pins.append(pin(name, version, path, f"[{number}]"))
    stack = requirements.stack(pins, str(path))
    return Stack(stack.versions, stack.where, python, stack.unsaid)
