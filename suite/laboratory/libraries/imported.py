"""The names of jax that a library needs at its import, read from its wheel: on which releases one is missing.

A file counts if the import of the library reaches it: through imports outside functions, from one file to the next.
"""

from __future__ import annotations

import ast
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import groupby
from pathlib import Path

from packaging.version import Version

from jax_stack_compat.base.errors import Failed, usable
from jax_stack_compat.base.fields import VersionText
from jax_stack_compat.base.files import FileModel, dump, read
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.check.source.lacks import lacks
from jax_stack_compat.check.source.tree import usage
from jax_stack_compat.check.source.uses import Use
from jax_stack_compat.libraries.known import PATH
from jax_stack_compat.names import query
from jax_stack_compat.stack import uv_call
from laboratory.libraries import stacks, table
from laboratory.libraries.records import FOLDER

_JAX = "jax"


class MissingSpan(FileModel):
    """Releases of jax, from `first` to `last`, that lack a name which the import needs, and the line that uses it.

    It is `refuted` if a run imported the library there.
    """

    first: VersionText
    last: VersionText
    name: str
    place: str
    refuted: bool = False


class Imported(FileModel):
    """The names that the import of a release of a library needs and that some releases of jax lack.

    `unread` is a file that could not be read: a newer Python's syntax. `names` is the newest jax that was looked up.
    """

    missing: tuple[MissingSpan, ...] = ()
    unread: str = ""
    names: VersionText


def imported(library: str, release: str) -> Imported:
    """Return what the import of a release needs: as published, or read from its wheel, once on this machine.

    Raises Failed, BadFile.
    """
    path = FOLDER / library / f"{release}.imported.json"
    names = query.names(_JAX).releases[-1]
    known = [read(Imported, path)] if path.exists() else []
    known += [row for row in [_published().get((library, release))] if row]
    if found := next((row for row in known if row.names == names), None):
        return found
    with tempfile.TemporaryDirectory() as folder:
        _install(library, release, folder)
        try:
            missing = tuple(_missing(Path(folder), table.module(library)))
            found = Imported(missing=missing, names=names)
        except SyntaxError as error:
            found = Imported(unread=f"{error.filename}: {error.msg}", names=names)
    write(path, dump(found.model_dump(mode="json")))
    return found


@cache
def _published() -> Mapping[tuple[str, str], Imported]:
    if not PATH.exists():
        return {}
    with usable(PATH, "nox -s libraries"):
        data = json.loads(PATH.read_text(encoding="utf-8"))
        return {
            (library, release): Imported(**of["imported"])
            for library, row in data["libraries"].items()
            for release, of in row["releases"].items()
            if "imported" in of
        }


def _install(library: str, release: str, folder: str) -> None:
    words = ("pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", "--target", folder)
    python = ("--python-version", stacks.python(library, release), "--python-platform", "linux")
    done = uv_call.run(*words, *python, f"{library}=={release}")
    if done.returncode:
        raise Failed(f"{library} {release} cannot be read: {done.stderr.strip()}")


def _missing(folder: Path, module: str) -> Iterator[MissingSpan]:
    """Yield the spans of releases of jax that lack a name of the import."""
    reached = reachable(folder, module)
    uses = [use for use in usage(folder).uses if not use.inside and use.package == _JAX and use.place.path in reached]
    releases = query.names(_JAX).releases
    first: dict[str, tuple[str, str]] = {}
    for use in uses:
        for version, lack in zip(releases, lacks(use, releases), strict=True):
            if lack and not lack.argument:
                first.setdefault(version, (lack.name, _place(use)))
    for told, group in groupby(releases, first.get):
        span = list(group)
        if told:
            yield MissingSpan(first=span[0], last=span[-1], name=told[0], place=told[1])


def _place(use: Use) -> str:
    return f"{use.place.path}:{use.place.line}"


def lacking(found: Imported, version: str) -> MissingSpan | None:
    """Return what a release of jax lacks for an import; None if nothing is known to be missing."""
    here = Version(version)
    return next((one for one in found.missing if Version(one.first) <= here <= Version(one.last)), None)


def reachable(folder: Path, module: str) -> frozenset[str]:
    """Return the paths of the files that the import of a module reads, relative to `folder`."""
    found: dict[str, str] = {}
    left = [module]
    while left:
        name = left.pop()
        parents = [".".join(name.split(".")[:end]) for end in range(1, name.count(".") + 2)]
        for part in parents:
            if part in found or not (path := _file(folder, part)):
                continue
            found[part] = path.relative_to(folder).as_posix()
            left += _imports(path, part)
    return frozenset(found.values())


def _file(folder: Path, module: str) -> Path | None:
    path = folder.joinpath(*module.split("."))
    files = (path / "__init__.py", path.with_suffix(".py"))
    return next((file for file in files if file.is_file()), None)


def _imports(path: Path, module: str) -> list[str]:
    """Return the modules that a file imports when it is imported, and the names that may be modules."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found = []
    for node in _outside(ast.parse(path.read_bytes(), path.name).body):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = _base(package, node)
            found += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return found


def _outside(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that run at the import, also in classes and branches, but not for type checkers."""
    for node in body:
        yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or _is_for_types(node):
            continue
        # The handlers of a `try` have bodies of their own.
        inner = [part for name in ("body", "orelse", "finalbody") for part in getattr(node, name, ())]
        handled = [part for handler in getattr(node, "handlers", ()) for part in handler.body]
        yield from _outside([*inner, *handled])


def _is_for_types(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _base(package: str, node: ast.ImportFrom) -> str:
    """Return the absolute name of the module that a `from` import names."""
    if not node.level:
        return node.module or ""
    above = package.split(".")[: len(package.split(".")) + 1 - node.level]
    return ".".join(filter(None, (*above, node.module)))
