"""A text → the exceptions and warnings that it tells of, each with its message and the files it came through. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# What is longer was not written by a person, and says what it says at its ends.
LONGEST = 1_000_000
_MOST = 200
# Colours, links and cursors of a terminal; a page often drops the escape character, and keeps what follows it.
_ANSI = re.compile(
    r"(?:\x1b|\u241b|\^\[)\[[0-?]*[ -/]*[@-~]|\x9b[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\^_]"
    r"|\[(?:\d{1,3};)*\d{1,3}m"
)
_QUOTES = str.maketrans(dict.fromkeys('\u2018\u2019\u201c\u201d"`', "'"))
# What pytest, a quotation or a group of exceptions puts before a line.
_MARGIN = re.compile(r"^[ \t]*(?:E(?=\s)|>|[|│]|\+-)[ \t]*", re.MULTILINE)
_CLASS = re.compile(
    r"(?<![\w.#/])(?:[A-Za-z_]\w*\.)*(?P<type>[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit))"
    r"(?:(?P<message>:(?=\s|$))|(?=[ \t]*$))",
    re.MULTILINE,
)
# A line of source, which a traceback may show: nothing was raised there.
_SOURCE = re.compile(r"\b(?:except|class)\s+[\w., (]*$")
_CHAINED = re.compile(
    r"^(?:During handling of the above|The above exception was|The stack trace below|Traceback \(most recent|-{20,})",
    re.MULTILINE,
)
# They carry the text of another exception, which was raised in a callback.
_CARRIERS = ("XlaRuntimeError", "JaxRuntimeError")
_FILE = re.compile(r"(?<![\w~.…:@+/\\-])[\w~.…:@+/\\-]*[/\\][\w-]+\.py\b")
_INSTALLED = re.compile(
    r".*(?:site|dist)-packages/|.*/(?=(?:jax|equinox|lineax|optimistix|diffrax)/(?:_|internal/|nn/))"
)


@dataclass(frozen=True)
class Raised:
    """An exception or a warning of a text: its class, its message, the files it came through, and all said of it."""

    type: str
    message: str
    files: tuple[str, ...]
    said: str

    @property
    def packages(self) -> list[str]:
        """The package of each file that it came through, the innermost last; nothing for what is not installed."""
        return [_INSTALLED.sub("", file).partition("/")[0] if _INSTALLED.match(file) else "" for file in self.files]

    def through(self, module: str) -> bool:
        """Whether it came through a module, or a module of that package."""
        path = module.replace(".", "/")
        places = [f"/{_INSTALLED.sub('', file)}" for file in self.files]
        return any(place.endswith(f"/{path}.py") or f"/{path}/" in place for place in places)


def plain(text: str) -> str:
    """The text without the codes of a terminal, and with one kind of quotation marks; of a long one, its ends."""
    text = text if len(text) <= LONGEST else text[: LONGEST // 2] + text[-LONGEST // 2 :]
    return _ANSI.sub("", text).translate(_QUOTES)


def raised(text: str) -> list[Raised]:
    """The exceptions and warnings of a text, in its order."""
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
    # A log may tell of one exception thousands of times.
    once = list(dict.fromkeys(told))
    return once if len(once) <= _MOST else once[: _MOST // 2] + once[-_MOST // 2 :]


def flat(text: str) -> str:
    """The text in one line."""
    return re.sub(r"\s+", " ", text).strip()


def _classes(said: str) -> Iterator[re.Match[str]]:
    for match in _CLASS.finditer(said):
        before = max(said.rfind("\n", 0, match.start()) + 1, match.start() - 200)
        line = said[before : match.start()]
        # Without a message it stands alone in its line.
        if not _SOURCE.search(line) and (match["message"] or not line.strip()):
            yield match
