"""The exceptions and warnings in a text, with messages and the files they came through. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

# Longer texts are logs, whose ends matter.
LONGEST = 1_000_000
_MAX_RAISED, _MAX_FILES = 200, 2_000
# Colours, links and cursors of a terminal; a page often drops the escape character and keeps the rest.
_ANSI = re.compile(
    r"(?:\x1b|\u241b|\^\[)\[[0-?]*[ -/]*[@-~]|\x9b[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\^_]"
    r"|\[(?:\d{1,3};)*\d{1,3}m"
)
_QUOTES = str.maketrans(dict.fromkeys('\u2018\u2019\u201c\u201d"`', "'"))
# The prefix that pytest, a quotation or an exception group puts before a line.
_MARGIN = re.compile(r"^[ \t]*(?:E(?=\s)|>|[|│]|\+-)[ \t]*", re.MULTILINE)
_CLASS = re.compile(
    r"(?<![\w.#/])(?:[A-Za-z_]\w*\.)*(?P<type>[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit))"
    r"(?:(?P<message>:(?=\s|$))|(?=[ \t]*$))",
    re.MULTILINE,
)
# A line of source code in a traceback, not an exception.
_SOURCE = re.compile(r"\b(?:except|class)\s++[\w., (]*+$")
_CHAINED = re.compile(
    r"^(?:During handling of the above|The above exception was|The stack trace below|Traceback \(most recent|-{20,})",
    re.MULTILINE,
)
# They contain the text of another exception, raised in a callback. A log may have thousands of them.
_CARRIERS, _MAX_CARRIERS, _MAX_CARRIED_CHARS = ("XlaRuntimeError", "JaxRuntimeError"), 200, 20_000
_FILE = re.compile(r"(?<![\w~.…:@+/\\-])[\w~.…:@+/\\-]*[/\\][\w-]+\.py\b")
_INSTALLED = re.compile(
    r"\A(?:.*(?:site|dist)-packages/|.*/(?=(?:jax|equinox|lineax|optimistix|diffrax)/(?:_|internal/|nn/)))"
)


@dataclass(frozen=True)
class Raised:
    """An exception or a warning: its class, its message, the files it came through, and its whole text."""

    type: str
    message: str
    files: tuple[str, ...]
    said: str

    @property
    def packages(self) -> list[str]:
        """The packages of the files that it came through, innermost last; "" for files that are not installed."""
        return [_INSTALLED.sub("", file).partition("/")[0] if _INSTALLED.match(file) else "" for file in self.files]

    @cached_property
    def places(self) -> list[str]:
        """The files that it came through, below the folder of the installed packages, with a slash before each."""
        return [f"/{_INSTALLED.sub('', file)}" for file in self.files]

    def through(self, module: str) -> bool:
        """Return True if it came through a module, or a module of that package."""
        path = module.replace(".", "/")
        return any(place.endswith(f"/{path}.py") or f"/{path}/" in place for place in self.places)


def plain(text: str) -> str:
    """Return a text without terminal codes and with plain quotation marks; only the ends of a long one."""
    text = text if len(text) <= LONGEST else text[: LONGEST // 2] + text[-LONGEST // 2 :]
    return _ANSI.sub("", text).translate(_QUOTES)


def raised(text: str) -> list[Raised]:
    """Return the exceptions and warnings of a text, in order."""
    said = _MARGIN.sub("", plain(text))
    found = list(_classes(said))
    chains = [*(chain.start() for chain in _CHAINED.finditer(said)), len(said)]
    ends = [*(match.start() for match in found[1:]), len(said)]
    carriers = {*[match.start() for match in found if match["type"] in _CARRIERS][:_MAX_CARRIERS]}
    told, last = [], 0
    for match, end in zip(found, ends, strict=False):
        before, last = last, match.end()
        if match.start() in carriers:
            end = max(end, last + _MAX_CARRIED_CHARS)
        end = min(end, chains[bisect_left(chains, last)])
        message = said[last:end] if match["message"] else ""
        places = _FILE.finditer(said, before, match.start())
        files = [place.group().replace("\\", "/") for place in places][-_MAX_FILES:]
        told.append(Raised(match["type"], flat(message), tuple(files), flat(said[before:end])))
    # A log may repeat an exception thousands of times.
    once = list(dict.fromkeys(told))
    return once if len(once) <= _MAX_RAISED else once[: _MAX_RAISED // 2] + once[-_MAX_RAISED // 2 :]


def flat(text: str) -> str:
    """Return the text in one line."""
    return re.sub(r"\s+", " ", text).strip()


def _classes(said: str) -> Iterator[re.Match[str]]:
    for match in _CLASS.finditer(said):
        near = max(match.start() - 200, 0)
        line = said[near : match.start()].rpartition("\n")[2]
        # An exception without a message must be alone on its line.
        if not _SOURCE.search(line) and (match["message"] or not line.strip()):
            yield match
