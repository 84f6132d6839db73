"""The titles and states of upstream's threads, with the day of the last look-up; refuted claims; and searches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from jax_stack_compat.base.fields import VersionText
from jax_stack_compat.base.files import FileModel, read
from jax_stack_compat.cell.issue import Issue, Upstream
from jax_stack_compat.packages import HELD, REPOSITORIES

PATH = Path(__file__).with_name("threads.json")
REFUTED = Path(__file__).with_name("refuted.toml")
SEARCHED = Path(__file__).with_name("searched.toml")
REFERENCE = re.compile(r"(?P<repository>[\w.-]+/[\w.-]+)#(?P<number>[1-9][0-9]*)", re.ASCII)
COMMIT = re.compile(r"(?P<repository>[\w.-]+/[\w.-]+)@(?P<commit>[0-9a-f]{7,40})", re.ASCII)
_SHORT = re.compile(r"(?P<name>[a-z]+)(?P<mark>[#@:])(?P<rest>.*)")


class Thread(FileModel):
    """A thread. Only a pull request can be merged; git has the merges of bots, which GitHub calls closed.

    `source` is where the thread was looked up: at GitHub itself, or in a search of stored threads. Without a source,
    the kind comes from the thread's address, and title and state are unknown.
    """

    kind: Literal["issue", "pull", "discussion", "commit"]
    title: str = ""
    state: Literal["open", "closed", "merged", ""] = ""
    looked_up: date | None = None
    source: Literal["github", "search"] | None = None


class Threads(FileModel):
    """The file threads.json.

    `first_releases` has merged pull requests and commits: the first release of the repository's package that has each,
    as its tags say, or null if no release has it yet. What is not known is left out.
    """

    schema_version: Literal[3] = 3
    threads: Mapping[Annotated[str, StringConstraints(pattern=f"^{REFERENCE.pattern}$")], Thread]
    first_releases: Mapping[
        Annotated[str, StringConstraints(pattern=r"^[\w.-]+/[\w.-]+[#@][0-9a-f]+$")], VersionText | None
    ]


@cache
def load() -> Threads:
    """Return each thread by its reference, `jax-ml/jax#27829`. Raises BadFile with every fault in the file."""
    return read(Threads, PATH)


class Refuted(FileModel):
    """A claim that runs refute: its source, its words, the code that was tried, and where."""

    ref: str
    claim: str
    tried: str
    where: str


class RefutedClaims(FileModel):
    """The file refuted.toml."""

    schema_version: Literal[1] = 1
    refuted: tuple[Refuted, ...]


@cache
def refuted() -> tuple[Refuted, ...]:
    """Return the claims that no release bears out. Raises BadFile with every fault in the file."""
    return read(RefutedClaims, REFUTED).refuted


class Searched(FileModel):
    """The searches of stored threads that returned no report of an issue: these runs found it."""

    issue: str
    looked_up: date
    queries: Annotated[tuple[str, ...], Field(min_length=1)]


class SearchedIssues(FileModel):
    """The file searched.toml."""

    schema_version: Literal[1] = 1
    searched: tuple[Searched, ...]


@cache
def searched() -> Mapping[str, Searched]:
    """Return the searches for each issue that these runs found. Raises BadFile with every fault in the file."""
    return {each.issue: each for each in read(SearchedIssues, SEARCHED).searched}


def references(issues: Iterable[Issue], claims: Iterable[Refuted] = ()) -> list[str]:
    """Return the threads that these issues and claims name, sorted, without pages and commits."""
    named = {each.ref for issue in issues for each in upstream(issue)} | {each.ref for each in claims}
    return sorted(ref for ref in named if REFERENCE.fullmatch(ref))


def commits(issues: Iterable[Issue]) -> list[str]:
    """Return the commits that these issues name, sorted."""
    named = {each.ref for issue in issues for each in upstream(issue)}
    return sorted(ref for ref in named if COMMIT.fullmatch(ref))


def upstream(issue: Issue) -> list[Upstream]:
    """Return what an issue names upstream, with whole references."""
    return [replace(each, ref=_whole(each.ref)) for each in issue.upstream]


def _whole(ref: str) -> str:
    """Return a reference with its repository's whole name, or the address of a page of the documentation."""
    found = _SHORT.fullmatch(ref)
    if found is None:
        return ref
    name, mark, rest = found.groups()
    if mark == ":":
        return HELD[name].documentation + rest if name in HELD and HELD[name].documentation else ref
    return f"{REPOSITORIES[name]}{mark}{rest}" if name in REPOSITORIES else ref
