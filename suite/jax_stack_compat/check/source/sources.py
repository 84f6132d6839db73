"""The Python texts in a file or a folder, and the files that cannot be read. Nothing in them is executed.

The cells of a notebook are one text, because they share names. Names that start with a dot, environments and build
folders are skipped. Links are not followed: a target inside the folder is read in its own place.
"""

from __future__ import annotations

import ast
import io
import json
import os
import re
import stat
import sys
import tokenize
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from jax_stack_compat.base.errors import Misused, shown
from jax_stack_compat.base.places import is_folder, is_link, is_there
from jax_stack_compat.check.source.uses import Unread

MAX_BYTES = 2_000_000
# Errors of the parser for text that is not Python, or that exceeds its limits.
BEYOND = (SyntaxError, ValueError, RecursionError, MemoryError)
# Folders with built or fetched files, which may have foreign or copied Python.
_NO_SOURCE = ("venv", "site-packages", "node_modules", "build", "dist")
# Encodings that take quadratic time to read.
_SLOW = ("punycode", "idna")
# Cell magics that run Python; other cells have another language.
_PYTHON_MAGIC = re.compile(r"%%(time|timeit|capture|prun|python3?)\b")
_MAGIC = re.compile(r"([ \t]*+)(?:[%!?]|[\w.]++\?{1,2}\s*$|[\w, ]++=\s*[%!]).*")


class Source(NamedTuple):
    """A file that may contain Python, and its name below the folder."""

    path: Path
    name: str


@dataclass(frozen=True)
class Text:
    """A Python text. `starts` has the first line and the name of each file or notebook cell in it."""

    name: str
    code: str
    starts: tuple[tuple[int, str], ...]

    def place(self, line: int) -> tuple[str, int]:
        """Return the path, and the line in it, of a line of the text."""
        first, path = self.starts[bisect_right(self.starts, line, key=lambda each: each[0]) - 1]
        return path, line - first + 1


def files(folder: Path) -> Iterator[Source | Unread | str]:
    """Yield the files below `folder` that may contain Python, in order, and the skipped folders. Raises Misused."""
    root = Path(os.path.realpath(folder))
    try:
        kind = root.stat().st_mode
    except OSError as failed:
        fault = "does not exist" if isinstance(failed, FileNotFoundError) else f"cannot be read ({failed.strerror})"
        raise Misused(f"{shown(folder)} {fault}: --source takes a folder or a file of Python") from failed
    if not stat.S_ISDIR(kind):
        yield Source(root, root.name)
        return
    refused: list[OSError] = []
    # os.walk calls itself for each folder, before Python 3.12.
    ahead = [root]
    while ahead:
        at = ahead.pop()
        _, folders, names = next(os.walk(at, onerror=refused.append), (at, [], []))
        links = {name for name in folders if is_link(at / name)}
        seen = sorted(name for name in set(folders) - links if not name.startswith((".", "__pycache__")))
        within = dict.fromkeys(name for name in seen if _may_hold(at / name))
        ahead += [at / name for name in reversed(within)]
        yield from (_name(at / name, root) for name in seen if name not in within)
        for name in sorted([*names, *links]):
            path = at / name
            if is_link(path) and (name in links or _is_python(name)):
                if not Path(os.path.realpath(path)).is_relative_to(root):
                    yield Unread(_name(path, root), "a link that leads out of the folder is not followed")
            elif _is_python(name):
                yield Source(path, _name(path, root))
    for error in refused:
        yield Unread(_name(Path(error.filename), root), str(error.strerror))


def below_repository(folder: Path) -> str:
    """Return the path of a folder in its repository, else in the working directory, with a slash at the end."""
    place = Path(os.path.realpath(folder))
    place = place if is_folder(place) else place.parent
    for root in (place, *place.parents):
        if is_there(root / ".git"):
            return f"{place.relative_to(root).as_posix()}/".removeprefix("./")
    here = Path.cwd().resolve()
    return f"{place.relative_to(here).as_posix()}/".removeprefix("./") if place.is_relative_to(here) else ""


def text(source: Source) -> tuple[Text | None, list[Unread]]:
    """Return the text of a file, and the parts that cannot be read."""
    path, name = source
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return None, [Unread(name, "it is not a regular file")]
        if found.st_size > MAX_BYTES:
            return None, [Unread(name, f"it is larger than {MAX_BYTES // 1_000_000} MB")]
        content = path.read_bytes()
        if path.suffix == ".ipynb":
            return _notebook(json.loads(content), name)
        code = _decoded(content)
    except OSError as error:
        return None, [Unread(name, str(error.strerror))]
    except (ValueError, RecursionError, SyntaxError, LookupError) as error:
        return None, [Unread(name, f"it cannot be decoded: {error}")]
    return Text(name, code, ((1, name),)), []


def mentions(source: Source, packages: Iterable[str]) -> bool:
    """Return True if a file names one of these packages, or cannot be opened."""
    try:
        if not stat.S_ISREG(source.path.stat().st_mode):
            return False
        with source.path.open("rb") as file:
            return bool(re.search(rb"\b(%s)\b" % "|".join(packages).encode(), file.read(MAX_BYTES)))
    except OSError:
        return True


def parsed(code: str) -> ast.Module:
    """Return the syntax tree of a text, without warnings. Raises one of BEYOND."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code)


def why(error: BaseException) -> str:
    """Return why this Python cannot parse a text."""
    if isinstance(error, SyntaxError):
        at = f"line {error.lineno}: " if error.lineno else ""
        return f"{at}{error.msg}, says Python {sys.version_info.major}.{sys.version_info.minor}"
    return f"it cannot be read: {error}" if isinstance(error, ValueError) else "it is nested too deep"


def _may_hold(folder: Path) -> bool:
    marks = ("pyvenv.cfg", "conda-meta")
    return folder.name not in _NO_SOURCE and not any(is_there(folder / each) for each in marks)


def _is_python(name: str) -> bool:
    return name.endswith((".py", ".ipynb")) and not name.startswith(".")


def _name(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def _decoded(content: bytes) -> str:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    if encoding in _SLOW:
        raise LookupError(f"the encoding {encoding} is not supported")
    return _lines(content.decode(encoding))


def _lines(code: str) -> str:
    """Return code with the line ends that Python sees."""
    return code.replace("\r\n", "\n").replace("\r", "\n")


def _fault(code: str) -> str:
    try:
        parsed(code)
    except BEYOND as error:
        return why(error)
    return ""


def _notebook(content: Any, name: str) -> tuple[Text | None, list[Unread]]:
    try:
        codes = [(n, _cell(each)) for n, each in enumerate(content["cells"], 1) if each["cell_type"] == "code"]
    except (TypeError, KeyError, AttributeError):
        return None, [Unread(name, "it is not a notebook")]
    unread, starts, lines = [], [], list[str]()
    for number, code in codes:
        if fault := _fault(code):
            unread.append(Unread(f"{name}#cell{number}", fault))
        else:
            starts.append((len(lines) + 1, f"{name}#cell{number}"))
            lines += code.split("\n")
    return (Text(name, "\n".join(lines), tuple(starts)) if starts else None), unread


def _cell(cell: Any) -> str:
    source: str | Iterable[str] = cell["source"]
    code = _lines(source if isinstance(source, str) else "".join(source))
    # A line of valid Python can begin with %, inside brackets.
    if not _fault(code):
        return code
    if code.lstrip().startswith("%%") and not _PYTHON_MAGIC.match(code.lstrip()):
        return ""
    return "\n".join(_MAGIC.sub(r"\1pass", line) if _MAGIC.fullmatch(line) else line for line in code.split("\n"))
