"""Upstream's threads, looked up at a server that answers as GitHub does."""

import json
from collections.abc import Iterable
from datetime import UTC, date, datetime
from email.message import Message
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from jax_stack_compat.base.errors import Failed
from jax_stack_compat.base.files import dump, read
from laboratory.sources.threads import Thread, Threads
from laboratory.upkeep import threads
from tests.upkeep.conftest import Serve

KNOWN = {
    "jax-ml/jax#1": {"kind": "issue", "title": "As it was called", "state": "open", "looked_up": "2026-01-02"},
    "jax-ml/jax#9": {"kind": "pull", "title": "Which no issue names now", "state": "open", "looked_up": "2026-01-02"},
}
FIRST = {"jax-ml/jax#1": "0.4.30", "jax-ml/jax#9": None, "jax-ml/jax@abcdef0": "0.5.0"}


class GitHub:
    """A server that answers for the threads in `told`, and an old snapshot to renew."""

    def __init__(self, path: Path, serve: Serve) -> None:
        self.path, self.told, self.tokens = path, dict[str, Any](), set[str | None]()
        self.address = serve(self.answer)
        path.write_text(dump({"schema_version": 3, "threads": KNOWN, "first_releases": FIRST}))

    def answer(self, path: str, headers: Message) -> tuple[str, str] | None:
        """Answer for known threads, and return 404 for others."""
        self.tokens.add(headers["Authorization"])
        return ("application/json", json.dumps(self.told[path])) if path in self.told else None

    def tell(self, number: int, **more: Any) -> None:
        """Add a thread with this number."""
        self.told[f"/repos/jax-ml/jax/issues/{number}"] = {"title": f"Thread {number}", "state": "closed", **more}

    def renew(self, *numbers: int, others: Iterable[int] = ()) -> list[str]:
        """Look up threads; return the printed lines."""
        console = Console(file=(out := StringIO()))
        named, kept = ([f"jax-ml/jax#{number}" for number in some] for some in (numbers, others))
        threads.renew(named, console, others=kept, path=self.path, api=self.address)
        return out.getvalue().splitlines()


@pytest.fixture
def github(tmp_path: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> GitHub:
    """Without an old snapshot."""
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    return GitHub(tmp_path / "threads.json", serve)


def test_titles_and_states_are_of_today(github: GitHub) -> None:
    """A renewal tells merged pull requests from closed ones and forgets threads that no issue names."""
    github.tell(1)
    github.tell(2, state="open")
    github.tell(3, pull_request={"merged_at": "2026-01-02T03:04:05Z"})
    github.tell(4, pull_request={"merged_at": None})
    before = datetime.now(UTC).date()
    github.renew(4, 3, 2, 1)
    found = read(Threads, github.path)
    kinds = (("issue", "closed"), ("issue", "open"), ("pull", "merged"), ("pull", "closed"))
    assert [(f"jax-ml/jax#{number}", f"Thread {number}", *kind) for number, kind in enumerate(kinds, 1)] == [
        (reference, thread.title, thread.kind, thread.state) for reference, thread in found.threads.items()
    ]
    for thread in found.threads.values():
        assert thread.looked_up is not None
        assert before <= thread.looked_up <= datetime.now(UTC).date()
        assert "github" == thread.source
    assert {"jax-ml/jax#1": "0.4.30", "jax-ml/jax@abcdef0": "0.5.0"} == found.first_releases


def test_threads_that_are_not_asked_for_stay(github: GitHub) -> None:
    """A look-up of one issue's threads keeps the entries of all other threads, and adds none for them."""
    github.tell(2)
    github.tell(3)
    assert ["1 of 1 threads looked up"] == github.renew(2, others=(1, 2, 3))
    assert ["jax-ml/jax#1", "jax-ml/jax#2"] == list(read(Threads, github.path).threads)


def test_what_cannot_be_had_stays_as_it_was_and_is_said(github: GitHub) -> None:
    """A missing thread, or one in an invalid state, keeps its old entry; without one, it is left out."""
    github.tell(2)
    known, unknown, _ = github.renew(1, 2, 3)
    assert (known[:17], known.rpartition("; ")[2]) == ("jax-ml/jax#1: 404", "the old entry stays")
    assert (unknown[:17], unknown.rpartition("; ")[2]) == ("jax-ml/jax#3: 404", "there is no old entry")
    assert ["jax-ml/jax#1", "jax-ml/jax#2"] == list(read(Threads, github.path).threads)
    github.tell(1, state="asleep")
    assert github.renew(1, 2)[0].startswith("jax-ml/jax#1: ")
    assert (
        Thread.model_validate(KNOWN["jax-ml/jax#1"], strict=False) == read(Threads, github.path).threads["jax-ml/jax#1"]
    )


def test_the_file_stays_where_nothing_can_be_had(github: GitHub) -> None:
    """Offline, known entries keep their date."""
    with pytest.raises(Failed, match="none of 1 threads"):
        github.renew(1)
    assert {date(2026, 1, 2)} == {each.looked_up for each in read(Threads, github.path).threads.values()}


def test_a_token_is_sent_where_there_is_one(github: GitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """GITHUB_TOKEN goes along with each question."""
    github.tell(1)
    for token, sent in (("abc", {"Bearer abc"}), ("", {"Bearer abc", None})):
        monkeypatch.setenv("GITHUB_TOKEN", token)
        github.renew(1)
        assert sent == github.tokens
