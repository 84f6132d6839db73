"""The exceptions and warnings in a text, with messages and the files they came through. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Longer texts are logs, whose ends matter.
LONGEST = 1_000_000
_MAX_RAISED = 200
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
_SOURCE = re.compile(r"\b(?:except|class)\s+[\w., (]*$")
_CHAINED = re.compile(
    r"^(?:During handling of the above|The above exception was|The stack trace below|Traceback \(most recent|-{20,})",
    re.MULTILINE,
)
# They contain the text of another exception, raised in a callback.
_CARRIERS = ("XlaRuntimeError", "JaxRuntimeError")
_FILE = re.compile(r"(?<![\w~.…:@+/\\-])[\w~.…:@+/\\-]*[/\\][\w-]+\.py\b")
_INSTALLED = re.compile(
    r".*(?:site|dist)-packages/|.*/(?=(?:jax|equinox|lineax|optimistix|diffrax)/(?:_|internal/|nn/))"
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

    def through(self, module: str) -> bool:
        """Return True if it came through a module, or a module of that package."""
        path = module.replace(".", "/")
        places = [f"/{_INSTALLED.sub('', file)}" for file in self.files]
        return any(place.endswith(f"/{path}.py") or f"/{path}/" in place for place in places)


def plain(text: str) -> str:
    """Return a text without terminal codes and with plain quotation marks; only the ends of a long one."""
    text = text if len(text) <= LONGEST else text[: LONGEST // 2] + text[-LONGEST // 2 :]
    return _ANSI.sub("", text).translate(_QUOTES)


def raised(text: str) -> list[Raised]:
    """Return the exceptions and warnings of a text, in order."""
    said = _MARGIN.sub("", plain(text))
    found = list(_classes(said))
    told, last = [], 0
    for number, match in enumerate(found):
        after = found[number + 1].start() if number + 1 < len(found) else len(said)
        end = len(said) if match["type"] in _CARRIERS else after
        if chained := _CHAINED.search(said, match.end(), end):
            end = chained.start()
        message = said[match.end() : end] if match["message"] else ""
        files = tuple(place.group().replace("\\", "/") for place in _FILE.finditer(said, last, match.start()))
        told.append(Raised(match["type"], flat(message), files, flat(said[last:end])))
        last = match.end()
    # A log may repeat an exception thousands of times.
    once = list(dict.fromkeys(told))
    return once if len(once) <= _MAX_RAISED else once[: _MAX_RAISED // 2] + once[-_MAX_RAISED // 2 :]


def flat(text: str) -> str:
    """Return the text in one line."""
    return re.sub(r"\s+", " ", text).strip()


def _classes(said: str) -> Iterator[re.Match[str]]:
    for match in _CLASS.finditer(said):
        before = max(said.rfind("\n", 0, match.start()) + 1, match.start() - 200)
        line = said[before : match.start()]
        # An exception without a message must be alone on its line.
        if not _SOURCE.search(line) and (match["message"] or not line.strip()):
            yield match
