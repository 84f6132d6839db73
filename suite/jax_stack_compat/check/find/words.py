"""The words of a question: stems, synonyms, the versions that it names, and its threads. Pure.

The script match.js of the pages does the same, and a test compares both.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

_ENDING = re.compile(r"(?:ers?|ed|ing|es|s|e)$")
_SPACE = re.compile(r"\s+")
_QUOTES = str.maketrans(dict.fromkeys('\u2018\u2019\u201c\u201d"`', "'"))
_VERSION = re.compile(r"v?\d+(?:\.\d+)+")
_NUMBER = re.compile(r"v?(\d+(?:\.\d+)*)")
_PINNED = re.compile(r"([a-z][a-z_-]*)==?v?(\d[\w.]*)")
_CELL = re.compile(r"[a-z_-]+-\d[\w.]*(?:\+[a-z_-]+-\d[\w.]*)*")
_OF_CELL = re.compile(r"(?<![a-z_-])([a-z_-]+)-(\d[\w.]*)")
_THREAD = re.compile(r"(?:\b([a-z][\w.-]{0,99}))?(?:#|/issues/|/pull/|/discussions/)(\d{2,6})\b(?!\.)")
# What a program printed is not a list of words.
_PRINTED = re.compile(r"\n|(?:Error|Exception|Warning)\b")
_MOST_CHARS = 300
_COMMON = (
    "a an and are as at be by can did do does first for from has have i in is it my of on or our release same should "
    "since that the then there this to was what when which why with work works"
)
COMMON = frozenset(_COMMON.split())
# What people write → what an issue may have instead.
SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "hang": ("deadlock", "hung", "stuck"),
    "deadlock": ("hang", "hung", "stuck"),
    "leak": ("memory", "kept"),
    "recompile": ("retrace", "compile"),
    "retrace": ("recompile", "trace"),
    "SIGSEGV": ("segfault", "signal"),
    "segfault": ("SIGSEGV", "SIGABRT", "signal"),
    "crash": ("segfault", "SIGSEGV", "SIGABRT", "signal"),
    "slow": ("slower", "regression", "performance"),
    "regression": ("slow", "slower", "performance"),
}
# What people write before a dot.
SHORT: Mapping[str, str] = {
    "jnp": "jax.numpy",
    "jr": "jax.random",
    "jrandom": "jax.random",
    "lax": "jax.lax",
    "jtu": "jax.tree_util",
}


@dataclass(frozen=True)
class Asked:
    """A question: its text, its terms without versions, the versions, and whether a program printed the text."""

    text: str
    terms: tuple[str, ...]
    versions: Mapping[str, str]
    is_printed: bool

    @cached_property
    def flat(self) -> str:
        """The text in lower case, in one line; hundreds of issues are compared with it."""
        return flat(self.text)

    @cached_property
    def threads(self) -> list[tuple[str, str]]:
        """The threads that the text names."""
        return threads(self.text)


def flat(text: str) -> str:
    """Return a text in lower case, in one line, with plain quotation marks."""
    return _SPACE.sub(" ", text.lower().translate(_QUOTES)).strip()


def words(text: str) -> list[str]:
    """Return the words of a text, in lower case; a dotted name is a word."""
    parts = (part.strip(".") for part in re.split(r"[^a-z0-9_.=#]+", flat(text)))
    return [part for part in parts if part]


def stem(word: str) -> str:
    """Return a word without its ending."""
    return _ENDING.sub("", word) if len(word) > 4 else word


def stems(texts: Collection[str]) -> list[str]:
    """Return the stems of texts, sorted, without words that are in most."""
    found = {word for text in texts for word in words(text)}
    return sorted({stem(word) for word in found if len(word) > 1 and word not in COMMON})


def alike(word: str) -> tuple[str, ...]:
    """Return the stems of a word and of its synonyms."""
    return (stem(word), *ALIKE.get(stem(word), ()))


ALIKE = {stem(word.lower()): tuple(stem(each.lower()) for each in of) for word, of in SYNONYMS.items()}


def whole(name: str, aliases: Mapping[str, str]) -> str:
    """Return a dotted name with its first part written out: `jnp.median` is `jax.numpy.median`."""
    first, dot, rest = name.partition(".")
    return f"{aliases.get(first) or SHORT.get(first, first)}{dot}{rest}" if dot else name


def asked(text: str, packages: Collection[str], releases: Collection[str]) -> Asked:
    """Return what a text asks: a text that a program printed has no terms."""
    text = text.strip()
    is_printed = _PRINTED.search(text) is not None
    if is_printed or len(text) > _MOST_CHARS:
        return Asked(text, (), {}, is_printed)
    versions: dict[str, str] = {}
    parts = [_without_versions(part, packages, releases, versions) for part in re.split(r"[,;]+", text)]
    parts = [part for part in parts if part]
    # Three words are a function or a topic; more are a sentence, whose commas separate nothing.
    listed = all(len(part.split()) < 4 for part in parts)
    terms = parts if listed else [" ".join(parts)]
    return Asked(text, tuple(terms), versions, is_printed=False)


def threads(text: str) -> list[tuple[str, str]]:
    """Return the threads that a text names: a repository's last part, or "", and a number."""
    said = flat(text)
    if re.fullmatch(r"\d{3,6}", said):
        return [("", said)]
    return [(found[1] or "", found[2]) for found in _THREAD.finditer(said)]


def _without_versions(part: str, packages: Collection[str], releases: Collection[str], versions: dict[str, str]) -> str:
    """Return a part of a question without the versions in it, which `versions` collects."""
    tokens = [token for token in re.sub(r"[?!]+|\.(?=\s|$)", " ", flat(part)).split(" ") if token]
    kept = []
    skip = False
    for place, token in enumerate(tokens):
        if skip:
            skip = False
            continue
        after = tokens[place + 1] if place + 1 < len(tokens) else ""
        if found := dict(_pins(token, after, packages, releases)):
            versions |= found
            skip = token in found
        elif not _VERSION.fullmatch(token):
            kept.append(token)
    return " ".join(kept)


def _pins(token: str, after: str, packages: Collection[str], releases: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the versions that a word names, alone or with the next word."""
    if (pinned := _PINNED.fullmatch(token)) and pinned[1] in packages:
        yield pinned[1], pinned[2]
    elif token in packages and (number := _NUMBER.fullmatch(after)):
        yield token, number[1]
    elif _CELL.fullmatch(token):
        yield from ((name, of) for name, of in _OF_CELL.findall(token.replace("+", " ")) if name in packages)
    elif _VERSION.fullmatch(token) and f"jax-{token.removeprefix('v')}" in releases:
        # A bare version is of jax, if jax has it.
        yield "jax", token.removeprefix("v")


def admits(on: str, versions: Mapping[str, str]) -> bool:
    """Return True if versions meet requirements such as `jax<0.4.26 numpy>=2.0`; one without a version is not met."""
    return all(_admits(requirement, versions) for requirement in on.split())


def _admits(requirement: str, versions: Mapping[str, str]) -> bool:
    name, clauses = re.fullmatch(r"([\w.-]+?)((?:[<>=!~].*)?)", requirement).groups()  # type: ignore[union-attr]
    if name not in versions:
        return False
    return all(_meets(versions[name], clause) for clause in clauses.split(",") if clause)


def _meets(version: str, clause: str) -> bool:
    found = re.fullmatch(r"(<=|>=|==|!=|~=|<|>)(.*)", clause)
    if found is None:
        return False
    order = compared(version, found[2].removesuffix(".*"))
    return {"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0, "==": order == 0, "!=": order != 0}.get(
        found[1], False
    )


def compared(one: str, other: str) -> int:
    """Return -1, 0 or 1 for a release before, equal to or after another, by their numbers."""
    first, second = _numbers(one), _numbers(other)
    length = max(len(first), len(second))
    pairs: Sequence[tuple[int, int]] = list(
        zip([*first, *[0] * (length - len(first))], [*second, *[0] * (length - len(second))], strict=True)
    )
    different = next((pair for pair in pairs if pair[0] != pair[1]), None)
    if different is None:
        return 0
    return -1 if different[0] < different[1] else 1


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]
