"""Discovery of a project's lock, requirements, environment or bounds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from jax_stack_compat.base.places import is_file
from jax_stack_compat.base.printable import printable
from jax_stack_compat.check.inputs import bounds, foreign, interpreters, locks
from jax_stack_compat.check.inputs.stack import Stack
from jax_stack_compat.packages import STACK

# Locks are complete: if a lock does not name a package of the stack, the project does not use the stack.
_WHOLE = ("uv.lock", "poetry.lock", "pdm.lock", "pixi.lock", "conda-lock.yml", "Pipfile.lock", "pylock.toml")
PATTERNS = (*_WHOLE, "pylock.*.toml", "requirements.txt", "requirements*.txt", "environment.yml", "environment.yaml")
_VARIABLES = ("VIRTUAL_ENV", "CONDA_PREFIX")

Place = tuple[str, Callable[[Path], Stack], Path]


def find(folder: Path, environ: Mapping[str, str]) -> Stack | Path:
    """Return the stack of the project around a folder, from the first file or environment that has it.

    If only its pyproject.toml or setup.py names the stack, return that path. `where` names the file that was used, and
    other files that were found. The interpreter that runs this is never used.
    """
    folder = Path(os.path.abspath(folder))  # noqa: PTH100  keep links as the user sees them
    project = next((each for each in (folder, *folder.parents) if is_file(each / "pyproject.toml")), folder)
    places = [*_files(project), *_environments(project, environ)]
    passed: list[tuple[str, Stack]] = []
    whole: list[tuple[str, Stack]] = []
    left: list[Place] = []
    for number, (told, read, path) in enumerate(places):
        if whole and path.name not in _WHOLE:
            left = places[number:]
            break
        stack = _named(read(path), told, path)
        if stack.pins_stack:
            return _told(stack, [each for each, _ in passed], places[number + 1 :])
        passed.append((told, stack))
        whole += passed[-1:] if path.name in _WHOLE else []
    if not whole and (declaring := _declaring(project)):
        return declaring
    names = [each for each, _ in passed]
    loose = (each for each in passed if each[1].names_stack)
    if taken := next(iter((*whole, *loose)), None):
        return _told(taken[1], [each for each in names if each != taken[0]], left)
    besides = f"no version of the stack in {', '.join(names)}; " if names else ""
    looked = ", ".join((*PATTERNS, ".venv", *_VARIABLES, "pyproject.toml"))
    name = 'name the versions: check --from "jax==0.10.2"'
    return Stack({}, f"{os.path.relpath(project)} ({besides}looked for {looked}; {name})")


def _files(project: Path) -> Iterator[Place]:
    # A workspace keeps the lock of its members in its root.
    above = [each for each in project.parents if _is_workspace(each)]
    paths = [each for pattern in PATTERNS for each in sorted(project.glob(pattern))]
    if project / "uv.lock" not in paths:
        paths = [*[each / "uv.lock" for each in above][:1], *paths]
    for path in dict.fromkeys(paths):
        if is_file(path):
            yield os.path.relpath(path, project), locks.read, path


def _is_workspace(folder: Path) -> bool:
    project = folder / "pyproject.toml"
    return is_file(project) and is_file(folder / "uv.lock") and "[tool.uv.workspace]" in foreign.text(project)


def _environments(project: Path, environ: Mapping[str, str]) -> Iterator[Place]:
    named = {".venv": project / ".venv"}
    named |= {each: Path(environ[each]) for each in _VARIABLES if environ.get(each)}
    seen = set()
    for name, place in named.items():
        real = os.path.realpath(place)
        if real not in seen and interpreters.interpreter(place):
            seen.add(real)
            is_own = name == ".venv"
            yield name if is_own else f"{name} ({place})", interpreters.listed if is_own else interpreters.ask, place


def _declaring(project: Path) -> Path | None:
    """Return the file with a project's bounds on the stack, else its setup.py or setup.cfg, if any."""
    path = project / "pyproject.toml"
    if is_file(path) and not (bounds.declared(path) or {}).keys().isdisjoint(STACK):
        return path
    return next((project / each for each in locks.NOT_RUN if is_file(project / each)), None)


def _named(stack: Stack, told: str, path: Path) -> Stack:
    """Rename a stack's place for people, keeping the environment or Python that it was read for."""
    read_for = stack.where.removeprefix(printable(str(path)))
    return replace(stack, where=told + read_for if read_for.startswith(", ") else told)


def _told(stack: Stack, passed: list[str], left: list[Place]) -> Stack:
    besides = [f"no version of the stack in: {', '.join(passed)}"] if passed else []
    besides += [f"not read: {', '.join(each for each, *_ in left)}"] if left else []
    return replace(stack, where=f"{stack.where} ({'; '.join(besides)})") if besides else stack
