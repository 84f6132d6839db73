"""The index in search.json: issues by words, threads, names and signatures, confirmed timings, claims and functions.

In a clone the file is in the published report; in a wheel it is beside `check.json`. The pages have it as a script.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from jax_stack_compat.base.errors import usable
from jax_stack_compat.cell.issue import Signature
from jax_stack_compat.check.find.words import compared

_CARRIED = Path(__file__).parents[1] / "search.json"
_PUBLISHED = Path(__file__).parents[4] / "reports" / "published" / "search.json"
PATH = _CARRIED if _CARRIED.exists() else _PUBLISHED
SCHEMA = 1


@dataclass(frozen=True)
class Signed:
    """A signature of some cases of an issue, with the rules of the stacks on which it was seen.

    `cell` is the first of these stacks. `about` is the highest package of the stack that the cases need, and `guests`
    are the modules that its text must mention.
    """

    signature: Signature
    behaviour: str
    cases: tuple[str, ...]
    rules: tuple[str, ...] = ()
    cell: str = ""
    about: str = "jax"
    guests: tuple[str, ...] = ()


@dataclass(frozen=True)
class IndexedIssue:
    """An issue, with what finds it.

    `words` are stems of its own texts, `heard` of its threads' titles and its functions. `spans` are the releases that
    it affects: package, first, last, and `rules` are requirements on two packages or more that it affects.
    """

    id: str
    title: str
    row_zero: bool = False
    known_by: str = ""
    packages: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()
    heard: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()
    threads: tuple[str, ...] = ()
    spans: tuple[tuple[str, str, str], ...] = ()
    rules: tuple[str, ...] = ()
    signed: tuple[Signed, ...] = ()


@dataclass(frozen=True)
class Timing:
    """A confirmed slow-down: the factor from `base` to `since`, two releases of jax; `until` is fast again, if any."""

    id: str
    title: str
    threads: tuple[str, ...]
    words: frozenset[str]
    packages: tuple[str, ...]
    base: str
    since: str
    until: str
    factor: float

    @property
    def told(self) -> str:
        """The slow-down in words: `slower, measured: …, 147 times from jax 0.4.33 (jax#25190)`."""
        factor = f"{self.factor:.0f}" if self.factor >= 10 else f"{self.factor:.1f}"
        threads = f" ({', '.join(self.threads)})" * bool(self.threads)
        return f"slower, measured: {self.title}, {factor} times from jax {self.since}{threads}"

    def is_between(self, before: Mapping[str, str], after: Mapping[str, str]) -> bool:
        """Return True if the measured step lies between two stacks, and the second still has it."""
        if "jax" not in before or not after.keys() >= {*self.packages}:
            return False
        is_new = compared(before["jax"], self.base) <= 0 and compared(after["jax"], self.since) >= 0
        return is_new and not (self.until and compared(after["jax"], self.until) >= 0)


@dataclass(frozen=True)
class Index:
    """All that can be found. `releases` are stacks with a page, `numbers` are functions that were called."""

    issues: tuple[IndexedIssue, ...]
    timings: tuple[Timing, ...] = ()
    refuted: tuple[tuple[str, str], ...] = ()
    releases: tuple[str, ...] = ()
    packages: frozenset[str] = frozenset()
    aliases: Mapping[str, str] = field(default_factory=dict)
    numbers: tuple[str, ...] = ()
    guests: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def by_id(self) -> Mapping[str, IndexedIssue]:
        """The issues, by id."""
        return {issue.id: issue for issue in self.issues}


@cache
def load(path: Path = PATH) -> Index:
    """Read the index at `path`. Raises BadFile if it is missing, or of another version of the suite."""
    with usable(path, "nox -s rebuild"):
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["schema_version"] != SCHEMA:
            raise ValueError(f"its schema is {data['schema_version']}, but this version reads {SCHEMA}")
        return _index(data)


def _index(data: Mapping[str, Any]) -> Index:
    names = data["names"]
    return Index(
        issues=tuple(_issue(row, names) for row in data["issues"]),
        timings=tuple(map(_timing, data["timings"])),
        refuted=tuple((ref, claim) for ref, claim in data["refuted"]),
        releases=tuple(data["releases"]),
        packages=frozenset(data["packages"]),
        aliases=data["aliases"],
        numbers=tuple(f"{module}.{name}" for module, own in data["numbers"].items() for name in own),
        guests={name: tuple(told) for name, told in data["guests"].items()},
    )


def _issue(row: Mapping[str, Any], names: list[str]) -> IndexedIssue:
    return IndexedIssue(
        id=row["id"],
        title=row["title"],
        row_zero=bool(row.get("row_zero")),
        known_by=row.get("known_by", ""),
        packages=tuple(row["packages"]),
        words=frozenset(row["words"].split()),
        heard=frozenset(row.get("heard", "").split()),
        names=tuple(names[number] for number in row["names"]),
        threads=tuple(row["threads"]),
        spans=tuple((package, first, last) for package, first, last in row.get("spans", ())),
        rules=tuple(row.get("rules", ())),
        signed=tuple(map(_signed, row.get("signed", ()))),
    )


def _signed(row: Mapping[str, Any]) -> Signed:
    return Signed(
        signature=Signature(row["type"], row.get("message", ""), row.get("module", ""), bool(row.get("everyday"))),
        behaviour=row["behaviour"],
        cases=tuple(row["cases"]),
        rules=tuple(row.get("rules", ())),
        cell=row.get("cell", ""),
        about=row.get("about", "jax"),
        guests=tuple(row.get("guests", ())),
    )


def _timing(row: Mapping[str, Any]) -> Timing:
    return Timing(
        id=row["id"],
        title=row["title"],
        threads=tuple(row["threads"]),
        words=frozenset(row["words"].split()),
        packages=tuple(row["packages"]),
        base=row["base"],
        since=row["since"],
        until=row["until"],
        factor=row["factor"],
    )
