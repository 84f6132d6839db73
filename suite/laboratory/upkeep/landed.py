"""The first release that has a pull request or a commit of upstream, read from git clones.

GitHub calls some merged pull requests closed, because a bot merges them; the history has them all the same.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from rich.console import Console

from jax_stack_compat.base.errors import Failed, Misused
from jax_stack_compat.base.files import dump, read
from jax_stack_compat.judge.metadata import in_version_order, parsed
from jax_stack_compat.packages import HELD
from jax_stack_compat.stack import releases
from laboratory.sources.threads import PATH, REFERENCE, Threads

# Fields end with NUL and commits with a record separator: neither is in a message.
_FORMAT = "%H%x00%an%x00%at%x00%s%x00%b%x1e"
_ROLLED_BACK = re.compile(r"\b(?:reverts?|roll(?:s|ed|ing)?[ -]?back)\b(?: commit| PR)?\s+(#\d+|[0-9a-f]{7,40})", re.I)

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Commit:
    """A commit. A cherry-pick of it has the same author, author's time and subject."""

    id: str
    author: str
    written: str
    subject: str
    body: str

    @property
    def origin(self) -> tuple[str, str, str]:
        """What its cherry-picks share with it."""
        return self.author, self.written, self.subject

    def pulls(self, name: str) -> Iterator[str]:
        """Yield the numbers of the pull requests to the repository `name` that this commit merges."""
        merged = re.match(r"Merge pull request #(\d+) ", self.subject)
        squashed = re.search(r"\(#(\d+)\)$", self.subject)
        copied = re.findall(rf"^COPYBARA_INTEGRATE_REVIEW=\S+/{re.escape(name)}/pull/(\d+)\b", self.body, re.M)
        yield from (found[1] for found in (merged, squashed) if found)
        yield from copied


class Clone:
    """A git clone of one of upstream's repositories: what is on its checked out branch, or has a tag."""

    def __init__(self, repository: str, folder: Path) -> None:
        self.repository, self.folder = repository, folder
        self.name = repository.rpartition("/")[2]

    @cached_property
    def commits(self) -> list[Commit]:
        """The commits of the branch and of all tags. Raises Failed if the folder is not a clone."""
        log = self._git("log", "HEAD", "--tags", f"--format={_FORMAT}")
        return _parsed(log)

    @cached_property
    def newest(self) -> str:
        """The newest tagged release; empty without any."""
        tagged = in_version_order(self._versions(self._git("tag")))
        return tagged[-1] if tagged else ""

    def landings(self, reference: str, title: str = "") -> list[Commit]:
        """Return the commits that brought a pull request or a commit, with their cherry-picks.

        A rebase leaves no number: then the one commit whose subject is the pull request's title counts.
        """
        _, mark, rest = re.split("([#@])", reference)
        found = self._of_pulls.get(rest, []) if mark == "#" else [c for c in self.commits if c.id.startswith(rest)]
        if mark == "#" and title and not found:
            found = self._of_subjects.get(title.casefold(), [])
        origins = {commit.origin for commit in found}
        copies = [copy for origin in origins for copy in self._of_origins[origin]]
        return copies if found or mark == "#" else self._beside(rest)

    def rolled_back(self, reference: str, landings: Iterable[Commit]) -> str:
        """Return the subject of a commit that takes these back; empty without any."""
        ids = {commit.id for commit in landings}
        for taken, subject in self._taken_back:
            if reference.endswith(taken) or any(one.startswith(taken) for one in ids):
                return subject
        return ""

    def first_release(self, landings: Iterable[Commit]) -> str | None:
        """Return the lowest version whose tag has one of these commits; None if no tag has."""
        tags = "\n".join(self._git("tag", "--contains", commit.id) for commit in landings)
        return next(iter(in_version_order(self._versions(tags))), None)

    @cached_property
    def _of_pulls(self) -> Mapping[str, list[Commit]]:
        """The commits that merge each pull request."""
        return _grouped((number, commit) for commit in self.commits for number in commit.pulls(self.name))

    @cached_property
    def _of_subjects(self) -> Mapping[str, list[Commit]]:
        """The commits whose subject no other change has."""
        found = _grouped((commit.subject.casefold(), commit) for commit in self.commits)
        return {subject: some for subject, some in found.items() if len({commit.origin for commit in some}) == 1}

    @cached_property
    def _of_origins(self) -> Mapping[tuple[str, str, str], list[Commit]]:
        return _grouped((commit.origin, commit) for commit in self.commits)

    @cached_property
    def _taken_back(self) -> list[tuple[str, str]]:
        """What each commit takes back, a pull request or a commit, and that commit's subject."""
        texts = ((commit.subject, f"{commit.subject}\n{commit.body}") for commit in self.commits)
        return [(taken, subject) for subject, text in texts for taken in _ROLLED_BACK.findall(text)]

    def _beside(self, start: str) -> list[Commit]:
        """Return a commit that only another branch has."""
        try:
            log = self._git("log", "-1", f"--format={_FORMAT}", start)
        except Failed:
            return []
        return _parsed(log)

    def _versions(self, tags: str) -> list[str]:
        """Return the versions of final releases among tags: `v0.13.8` and, of jax, `jax-v0.8.0`."""
        form = re.compile(rf"(?:{re.escape(self.name)}-)?v?(\d+(?:\.\d+)+)")
        return [found[1] for tag in tags.split() if (found := form.fullmatch(tag))]

    def _git(self, *words: str) -> str:
        command = ["git", "-C", str(self.folder), *words]
        ran = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if ran.returncode:
            raise Failed(f"git cannot read {self.folder}: {ran.stderr.strip()}")
        return ran.stdout


def _parsed(log: str) -> list[Commit]:
    return [Commit(*text.strip("\n").split("\0")) for text in log.split("\x1e") if text.strip()]


def _grouped(pairs: Iterable[tuple[Key, Commit]]) -> dict[Key, list[Commit]]:
    found: dict[Key, list[Commit]] = {}
    for key, commit in pairs:
        found.setdefault(key, []).append(commit)
    return found


def clone(text: str) -> Clone:
    """Parse `jax-ml/jax=FOLDER`. Raises Misused."""
    repository, equals, folder = text.partition("=")
    if not equals or not REFERENCE.fullmatch(f"{repository}#1"):
        raise Misused(f"{text} is not a clone: write OWNER/NAME=FOLDER")
    return Clone(repository, Path(folder))


def renew(named: Iterable[str], clones: Iterable[Clone], console: Console, *, path: Path = PATH) -> None:
    """Rewrite the first releases of the pull requests and commits in these clones, in the file at `path`.

    A pull request that a clone has is merged, whatever GitHub calls it. What cannot be known is left out and printed.
    Raises BadFile if `path` cannot be read, and Failed if git cannot read a clone.
    """
    known = read(Threads, path)
    threads = dict(known.threads)
    of_repositories = {each.repository: each for each in clones}
    found: dict[str, str | None] = {}
    for reference in sorted(set(named)):
        of, thread = of_repositories.get(_repository(reference)), threads.get(reference)
        if of is None:
            if reference in known.first_releases:
                found[reference] = known.first_releases[reference]
        elif "@" in reference or (thread is not None and thread.kind == "pull"):
            landings = of.landings(reference, thread.title if thread else "")
            if landings and thread and thread.state not in ("", "merged"):
                console.print(f"{reference}: merged, not {thread.state}", soft_wrap=True)
                threads[reference] = thread.model_copy(update={"state": "merged"})
            if why := _unknown(of, reference, landings):
                console.print(f"{reference}: {why}", soft_wrap=True)
            else:
                found[reference] = of.first_release(landings)
    renewed = Threads(threads=threads, first_releases=found)
    path.write_text(dump(renewed.model_dump(mode="json")), encoding="utf-8")
    console.print(f"{len(found)} first releases known")


def _unknown(of: Clone, reference: str, landings: list[Commit]) -> str:
    """Return why the first release of something cannot be known; empty if it can."""
    if not landings:
        return "not in the clone"
    if subject := of.rolled_back(reference, landings):
        return f"rolled back: {subject}"
    if of.first_release(landings) is None and _lacks_releases(of):
        return f"newer than {of.newest}, the newest release in the clone"
    return ""


def _lacks_releases(of: Clone) -> bool:
    """Return True if the clone may lack a release of its package."""
    names = {package.repository: name for name, package in HELD.items()}
    known = releases.load().packages.get(names.get(of.repository, of.name), {})
    newest = in_version_order(known)[-1:]
    return not newest or not of.newest or parsed(of.newest) < parsed(newest[0])


def _repository(reference: str) -> str:
    return re.split("[#@]", reference)[0]
