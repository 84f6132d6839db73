"""What a project uses, where nobody says it: its lock, its requirements, its environment, or this interpreter."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from suite.check.inputs import foreign, interpreters, locks
from suite.check.inputs.stack import Stack

_STACK = ("jax", "jaxlib", "equinox", "diffrax")
# What holds all that a project uses: where it does not name the stack, the project does not use it.
_WHOLE = ("uv.lock", "pylock.toml")


def find(folder: Path, environ: Mapping[str, str]) -> Stack:
    """The versions that the project around a folder uses, by the first file or environment that has some of the stack.

    `where` says which that is, and what there is besides.
    """
    folder = Path(os.path.abspath(folder))  # noqa: PTH100  by the way that its user came
    project = next((each for each in (folder, *folder.parents) if (each / "pyproject.toml").is_file()), folder)
    places = [*_files(project), *_environments(project, environ)]
    passed: list[tuple[str, Stack]] = []
    for number, (told, read, path) in enumerate(places):
        stack = read(path)
        if path.name in _WHOLE or not stack.versions.keys().isdisjoint(_STACK):
            # This interpreter is always there.
            left = [each for each, *_ in places[number + 1 : -1]]
            return _told(stack, told, [each for each, _ in passed], left)
        passed.append((told, stack))
    # Nothing has a version: then what is told of it, and else this interpreter, where it is not.
    told, stack = next((each for each in passed if not each[1].unsaid.keys().isdisjoint(_STACK)), passed[-1])
    return _told(stack, told, [each for each, _ in passed if each != told], [])


Place = tuple[str, Callable[[Path], Stack], Path]


def _files(project: Path) -> Iterator[Place]:
    # A member of a workspace has its lock there.
    locks_of = [project / "uv.lock", *(each / "uv.lock" for each in project.parents if _is_workspace(each))]
    paths = [
        *[each for each in locks_of if each.is_file()][:1],
        *(project / "pylock.toml", *sorted(project.glob("pylock.*.toml"))),
        *(project / "requirements.txt", *sorted(project.glob("requirements*.txt"))),
    ]
    for path in dict.fromkeys(paths):
        if path.is_file():
            yield os.path.relpath(path, project), locks.read, path


def _is_workspace(folder: Path) -> bool:
    project = folder / "pyproject.toml"
    return project.is_file() and "[tool.uv.workspace]" in foreign.text(project)


def _environments(project: Path, environ: Mapping[str, str]) -> Iterator[Place]:
    named = {".venv": project / ".venv"}
    named |= {each: Path(environ[each]) for each in ("VIRTUAL_ENV", "CONDA_PREFIX") if environ.get(each)}
    seen = set()
    for name, place in named.items():
        real = os.path.realpath(place)
        if real not in seen and interpreters.interpreter(place):
            seen.add(real)
            yield name if name == ".venv" else f"{name} ({place})", interpreters.ask, place
    yield f"this interpreter ({sys.executable})", interpreters.ask, Path(sys.executable)


def _told(stack: Stack, found: str, passed: list[str], left: list[str]) -> Stack:
    besides = [f"no version of the stack in: {', '.join(passed)}"] if passed else []
    besides += [f"not looked into: {', '.join(left)}"] if left else []
    where = f"{found} ({'; '.join(besides)})" if besides else found
    return replace(stack, where=where)
