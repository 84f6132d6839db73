"""Requirements in the syntax of pip and `pip freeze`, and the stack that a list of pins describes."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from jax_stack_compat.base.errors import BadFile, Fault
from jax_stack_compat.base.places import is_file, is_there
from jax_stack_compat.check.inputs import foreign
from jax_stack_compat.check.inputs.foreign import MAX_FAULTS
from jax_stack_compat.check.inputs.markers import applies
from jax_stack_compat.check.inputs.stack import Stack
from jax_stack_compat.packages import IMPORTS, STACK

_MAX_LINE_CHARS, _MAX_WORDS_CHARS = 10_000, 300
_MAX_LINES = 20_000
_COMMENT = re.compile(r"(?:^|\s)#.*")
_EDITABLE = re.compile(r"# Editable [^()]*\(([\w.-]+)==[^\s()]+\)")  # `pip freeze` writes it above `-e`
_OPTION = re.compile(r"(-r|-c|-e|--requirement\b|--constraint\b|--editable\b)[ \t=]*(\S.*)")
_PLACE = re.compile(r"[a-zA-Z][\w+.-]*://|file:|[a-zA-Z]:\\|[./~\\]|[^@\s]*\.(?:whl|zip|tar\.gz|tgz)(?:\s|$)")
_PLACE_NAME = re.compile(r"([a-zA-Z0-9][\w.-]*?)(?:\.git\b|@|\[|-v?[0-9]|[\s;#?]|$)")
# Parts of an address after `?` or `&`, except those that name a commit or folder.
_QUERY = re.compile(r"(?<=\S)([?&])(?!(?:rev|tag|branch|subdirectory|egg)=)[^&#\s]+")
_ROOT = ("pyproject.toml", "setup.py", ".git")


@dataclass(frozen=True)
class Pin:
    """A package on one line, with its version or, without one, with the text of the line."""

    name: str
    version: str
    words: str
    path: Path
    key: str
    # A direct reference: it is installed whatever other lines pin.
    direct: bool = False
    # The versions that the line admits; another line may contradict them.
    admits: SpecifierSet | None = None
    # From a constraint: it applies only if another line asks for the package.
    only_if_asked: bool = False


def pin(name: str, version: str, path: Path, key: str) -> Pin:
    """Return a pin; without a version if that is not valid in Python."""
    try:
        known = str(foreign.version(version))
    except ValueError:
        known = ""
    return Pin(canonicalize_name(name), known, version, path, key)


def direct(name: str, words: str, path: Path, key: str) -> Pin:
    """Return a direct reference: a package from a URL or path."""
    return Pin(canonicalize_name(name), "", _open(words), path, key, direct=True)


def stack(pins: Iterable[Pin], where: str) -> Stack:
    """Return the stack that a list of pins describes. Raises BadFile if two of them contradict each other.

    Local versions (`+cuda12`) are dropped: the data has public versions.
    """
    pinned: dict[str, Pin] = {}
    loose: dict[str, list[Pin]] = {}
    faults = []
    every, unasked = _asked(list(pins))
    for line in every:
        before = pinned.get(line.name)
        if not line.version:
            loose.setdefault(line.name, []).append(line)
        elif before is None or _says_more(line.version, before.version):
            pinned[line.name] = line
        elif Version(line.version) != Version(before.version) and not _says_more(before.version, line.version):
            faults.append(_contradiction(line, f"{line.name} {line.version}", before))
    for line in every:
        chosen = pinned.get(line.name)
        # The loop above reports contradicting versions.
        if not chosen or not line.admits or line.version not in ("", chosen.version):
            continue
        if not line.admits.contains(chosen.version, prereleases=True):
            faults.append(_contradiction(line, f"{line.name}{line.admits}", chosen))
    if faults:
        raise BadFile(faults[:MAX_FAULTS])
    for name, found in loose.items():
        # A direct reference wins over a version, and a version over a range.
        if from_place := [each for each in found if each.direct]:
            pinned.pop(name, None)
            loose[name] = from_place
    unsaid = {
        name: ", ".join(dict.fromkeys(each.words[:_MAX_WORDS_CHARS] for each in found))
        for name, found in loose.items()
        if name not in pinned
    }
    if unasked:
        where = f"{where}, without packages that only constraints name: {', '.join(unasked)}"
    bounds = {name: _joined(loose[name]) for name in unsaid if all(line.admits is not None for line in loose[name])}
    return Stack(
        {name: Version(each.version).public for name, each in pinned.items()}, where, unsaid=unsaid, bounds=bounds
    )


def _joined(pins: Iterable[Pin]) -> SpecifierSet:
    """Return the versions that all of these lines admit."""
    joined = SpecifierSet()
    for line in pins:
        joined &= line.admits or SpecifierSet()
    return joined


def _contradiction(pin: Pin, told: str, other: Pin) -> Fault:
    at = other.key if other.path == pin.path else f"{other.key} of {other.path}"
    return Fault(pin.path, pin.key, f"{told} contradicts {other.version} of {at}: leave one of them out")


def _asked(pins: list[Pin]) -> tuple[list[Pin], list[str]]:
    """Return the pins of installed packages, and the stack's packages that only constraints name."""
    asked = {each.name for each in pins if not each.only_if_asked}
    asked |= {other for name in asked for other in IMPORTS.get(name, ())}
    asked |= {"jaxlib"} if "jax" in asked else set()
    left_out = {each.name for each in pins} - asked
    return [each for each in pins if each.name in asked], [name for name in STACK if name in left_out]


def read(path: Path, written: str, environment: Mapping[str, str], part: str = "") -> list[Pin]:
    """Return all pins of the requirements at `path` and of those that they include. Raises BadFile.

    If `written` is only a part of the file, `part` names it.
    """
    top = Path(os.path.realpath(path))
    root = next((each for each in top.parents if any(is_there(each / name) for name in _ROOT)), top.parent)
    waiting, seen = deque([(path, written, False)]), {(top, False)}
    pins: list[Pin] = []
    faults: list[Fault] = []
    said = 0
    while waiting:
        path, written, constrains = waiting.popleft()
        editable, before = "", len(pins)
        for number, raw in _lines(written):
            key, line = f"{part}line {number}", _COMMENT.sub("", raw).strip()
            option = _OPTION.match(line)
            try:
                if found := _EDITABLE.match(raw):
                    editable = found[1]
                elif option and option[1].endswith(("-e", "-editable")):
                    pins += _at_place(option[2], line, editable, path, key)
                elif option and "://" not in option[2]:
                    within = _included(path, option[2].strip("'\""), root)
                    then = within, constrains or option[1] in ("-c", "--constraint")
                    if then not in seen:
                        seen.add(then)
                        waiting.append((within, foreign.text(within), then[1]))
                elif option and option[1] in ("-r", "--requirement"):
                    raise ValueError(f"{_short(option[2])} is not fetched: save the file in the project and include it")
                elif line and not re.match(r"--?[a-zA-Z]", line):
                    pins += _pinned(re.split(r"\s--?[a-zA-Z]", line, maxsplit=1)[0], path, key, environment)
            except (ValueError, RecursionError) as error:  # not a requirement; nested too deep
                faults.append(Fault(path, key, foreign.why(error)))
            if line:
                editable, said = "", said + 1
            if said > _MAX_LINES:
                faults.append(Fault(path, key, f"more than {_MAX_LINES} lines, which is too many for an environment"))
            if said > _MAX_LINES or len(faults) >= MAX_FAULTS:
                raise BadFile(faults)
        if constrains:
            pins[before:] = [replace(each, only_if_asked=True) for each in pins[before:]]
        part = ""
    if faults:
        raise BadFile(faults)
    return pins


def _pinned(line: str, path: Path, key: str, environment: Mapping[str, str]) -> list[Pin]:
    if len(line) > _MAX_LINE_CHARS:
        raise ValueError(f"it has more than {_MAX_LINE_CHARS} characters")
    if _PLACE.match(line):
        return _at_place(line, line, "", path, key)
    try:
        found = foreign.requirement(line)
    except ValueError as error:
        raise ValueError(f"{_short(line)} is not a requirement: {foreign.why(error)}") from error
    if not applies(found.marker, environment):
        return []
    exact = [each for each in found.specifier if each.operator in ("==", "===") and not each.version.endswith(".*")]
    if exact:
        return [replace(pin(found.name, each.version, path, key), admits=found.specifier) for each in exact]
    if found.url is not None:
        return [direct(found.name, line, path, key)]
    return [Pin(canonicalize_name(found.name), "", line, path, key, admits=found.specifier)]


def _at_place(place: str, words: str, name: str, path: Path, key: str) -> list[Pin]:
    """Return the package at a path or URL; empty if that does not reveal its name."""
    egg = re.search(r"[#&]egg=([\w.-]+)", place)
    last = re.split(r"[/\\]", re.split(r"[#;]|/archive/", place)[0].strip().rstrip("/\\"))[-1]
    told = name or (egg[1] if egg else "") or (found[1] if (found := _PLACE_NAME.match(last)) else "")
    return [direct(told, words, path, key)] if told else []


def _included(path: Path, name: str, root: Path) -> Path:
    """Return the file that a line of `path` includes. Raises ValueError if it is outside the project or missing."""
    within = Path(os.path.realpath(path.parent / name))
    if not within.is_relative_to(root):
        raise ValueError(f"{_short(name)} is outside the project in {root}, so it was not read: name that file itself")
    if not is_file(within):
        raise ValueError(f"there is no file {_short(name)}")
    return within


def _lines(written: str) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers, joined with their continuations as in pip, without those that say nothing."""
    parts: list[str] = []
    first = 0
    for number, line in enumerate(written.splitlines(), 1):
        says_nothing = not line or line.isspace() or (line[0] == "#" and not line.startswith("# Editable "))
        if says_nothing and not parts:
            continue
        first = first if parts else number
        if line.endswith("\\") and not line.lstrip().startswith("#"):
            parts.append(line[:-1])
            continue
        yield first, " ".join([*parts, line])
        parts = []
    if parts:
        yield first, "".join(parts)


def _says_more(one: str, other: str) -> bool:
    """Return True if `one` is `other` with a local version added; only indexes and locks have local versions."""
    return one.partition("+")[0] == other and "+" in one


def _open(words: str) -> str:
    """Return words without passwords and tokens in addresses."""
    return _QUERY.sub(r"\1…", re.sub(r"//[^/@\s]*@", "//", words))


def _short(words: str) -> str:
    told = _open(words[:_MAX_WORDS_CHARS])
    return repr(told if len(told) <= 60 else f"{told[:59]}…")
