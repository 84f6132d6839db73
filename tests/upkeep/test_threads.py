"""Upstream's threads, looked up at a server that answers as GitHub does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from suite.errors import Failed
from suite.files import dump, read
from suite.run.threads import Thread, Threads
from suite.upkeep.threads import renew

KNOWN = {
    "jax-ml/jax#1": {"title": "As it was called", "state": "open"},
    "jax-ml/jax#9": {"title": "Which no issue names now", "state": "open"},
}


class GitHub(BaseHTTPRequestHandler):
    """Answers for the threads in `told`, by path; anything else is not there."""

    told: dict[str, dict[str, Any]]
    tokens: set[str | None]

    def do_GET(self) -> None:
        """Answer for one thread."""
        self.tokens.add(self.headers["Authorization"])
        if self.path not in self.told:
            self.send_error(404)
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(self.told[self.path]).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Its address, with nothing there yet."""
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    GitHub.told, GitHub.tokens = {}, set()
    with ThreadingHTTPServer(("127.0.0.1", 0), GitHub) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A snapshot that was taken a while ago."""
    path = tmp_path / "threads.json"
    path.write_text(dump({"schema_version": 1, "taken_on": "2026-01-02", "threads": KNOWN}))
    return path


def tell(number: int, **more: Any) -> None:
    """Have a thread of this number at the server."""
    GitHub.told[f"/repos/jax-ml/jax/issues/{number}"] = {"title": f"Thread {number}", "state": "closed", **more}


def test_titles_and_states_are_of_today(github: str, path: Path) -> None:
    """What was merged is told from what was closed, and what no issue names is forgotten."""
    tell(1)
    tell(2, state="open")
    tell(3, pull_request={"merged_at": "2026-01-02T03:04:05Z"})
    tell(4, pull_request={"merged_at": None})
    before = datetime.now(UTC).date()
    renew([f"jax-ml/jax#{number}" for number in (4, 3, 2, 1)], Console(file=StringIO()), path=path, api=github)
    found = read(Threads, path)
    assert before <= found.taken_on <= datetime.now(UTC).date()
    states = {1: "closed", 2: "open", 3: "merged", 4: "closed"}
    assert [(f"jax-ml/jax#{number}", f"Thread {number}", state) for number, state in states.items()] == [
        (reference, thread.title, thread.state) for reference, thread in found.threads.items()
    ]


def test_what_cannot_be_had_stays_as_it_was_and_is_said(github: str, path: Path) -> None:
    """A thread that is not there keeps its title and state; one that was never known is left out."""
    tell(2)
    out = StringIO()
    renew(["jax-ml/jax#1", "jax-ml/jax#2", "jax-ml/jax#3"], Console(file=out), path=path, api=github)
    found = read(Threads, path).threads
    assert ["jax-ml/jax#1", "jax-ml/jax#2"] == list(found)
    assert Thread(title="As it was called", state="open") == found["jax-ml/jax#1"]
    said = [line for line in out.getvalue().splitlines() if "404" in line]
    assert ["what was known of it is kept", "nothing is known of it"] == [line.rpartition("; ")[2] for line in said]
    assert ["jax-ml/jax#1", "jax-ml/jax#3"] == [line.partition(": ")[0] for line in said]


def test_an_answer_that_is_none_is_not_believed(github: str, path: Path) -> None:
    """A state that GitHub does not have today is named, and what was known stays."""
    tell(1, state="asleep")
    tell(2)
    out = StringIO()
    renew(["jax-ml/jax#1", "jax-ml/jax#2"], Console(file=out), path=path, api=github)
    assert read(Threads, path).threads["jax-ml/jax#1"].state == "open"
    assert out.getvalue().startswith("jax-ml/jax#1: ")


def test_the_file_stays_where_nothing_can_be_had(github: str, path: Path) -> None:
    """A machine that is offline does not put today's date on what it knows."""
    with pytest.raises(Failed, match="none of 1 threads"):
        renew(["jax-ml/jax#1"], Console(file=StringIO()), path=path, api=github)
    assert date(2026, 1, 2) == read(Threads, path).taken_on


@pytest.mark.parametrize(("token", "sent"), [("abc", "Bearer abc"), ("", None)])
def test_a_token_is_sent_where_there_is_one(
    token: str, sent: str | None, github: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GITHUB_TOKEN goes along with each question."""
    monkeypatch.setenv("GITHUB_TOKEN", token)
    tell(1)
    renew(["jax-ml/jax#1"], Console(file=StringIO()), path=path, api=github)
    assert {sent} == GitHub.tokens
