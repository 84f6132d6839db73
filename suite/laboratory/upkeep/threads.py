"""Look-up of upstream's threads at GitHub: their titles, and their states today."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import requests
from rich.console import Console

from jax_stack_compat.base.errors import Failed, Misused
from jax_stack_compat.base.files import dump, read
from jax_stack_compat.catalogue import catalogue
from laboratory.sources.threads import PATH, REFERENCE, Thread, Threads, commits, references, refuted
from laboratory.upkeep import landed
from laboratory.upkeep.landed import Clone

API = "https://api.github.com"
_SECONDS = 30


def renew_all(id: Sequence[str], *, clone: Sequence[Clone], console: Console) -> None:
    """Look up the threads that issues and refuted claims name, or read their first releases from clones.

    With ids, only the threads of those issues are looked up. Raises Misused for ids beside a clone, and otherwise as
    `renew` and `landed.renew` do.
    """
    if id and clone:
        raise Misused("a clone is read for all issues: leave out --clone or the ids")
    issues = [entry.issue for entry in catalogue.entries()]
    named = references(issues, refuted())
    if id:
        renew(references(entry.issue for entry in catalogue.select(list(id))), console, others=named)
    elif clone:
        landed.renew([*named, *commits(issues)], clone, console)
    else:
        renew(named, console)


def renew(
    named: Iterable[str], console: Console, *, others: Iterable[str] = (), path: Path = PATH, api: str = API
) -> None:
    """Rewrite the file at `path` with the named threads, and with the old entries of `others`.

    A thread that cannot be fetched keeps its old entry, and is printed with the reason. GITHUB_TOKEN is sent if set:
    without it, GitHub answers sixty requests an hour.

    Raises BadFile if `path` cannot be read, and Failed, without changing the file, if no thread could be fetched.
    """
    wanted = sorted(set(named))
    before = read(Threads, path)
    known = before.threads
    found: dict[str, Thread] = {}
    with requests.Session() as session:
        session.headers["Accept"] = "application/vnd.github+json"
        if token := os.environ.get("GITHUB_TOKEN"):
            session.headers["Authorization"] = f"Bearer {token}"
        for reference in wanted:
            try:
                found[reference] = _look_up(session, api, reference)
            except (requests.RequestException, ValueError, LookupError, TypeError) as error:
                instead = "the old entry stays" if reference in known else "there is no old entry"
                console.print(f"{reference}: {error}; {instead}", soft_wrap=True)
    if wanted and not found:
        raise Failed(f"none of {len(wanted)} threads could be fetched from {api}")
    kept = sorted({*wanted, *others})
    threads = {reference: thread for reference in kept if (thread := found.get(reference) or known.get(reference))}
    # GitHub does not say which release has a change: what git said stays.
    first = {ref: release for ref, release in before.first_releases.items() if "@" in ref or ref in threads}
    renewed = Threads(threads=threads, first_releases=first)
    path.write_text(dump(renewed.model_dump(mode="json")), encoding="utf-8")
    console.print(f"{len(found)} of {len(wanted)} threads looked up")


def _look_up(session: requests.Session, api: str, reference: str) -> Thread:
    match = REFERENCE.fullmatch(reference)
    if match is None:
        raise ValueError("not a thread")
    answer = session.get(f"{api}/repos/{match['repository']}/issues/{match['number']}", timeout=_SECONDS)
    answer.raise_for_status()
    told = answer.json()
    pull = told.get("pull_request")
    return Thread(
        kind="issue" if pull is None else "pull",
        title=told["title"],
        state="merged" if pull and pull.get("merged_at") else told["state"],
        looked_up=datetime.now(UTC).date(),
        source="github",
    )
