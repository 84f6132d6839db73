"""Fixtures for upkeep: nox's list of sessions, and a server that answers on this machine."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.processes import printed

# Path and headers of a request → type and text of the answer; None for 404.
Answer = Callable[[str, Message], tuple[str, str] | None]
Serve = Callable[[Answer], str]


@pytest.fixture(scope="session")
def sessions() -> dict[str, str]:
    """Session → its description, as nox lists them."""
    listed = printed("-m", "nox", "--list")
    return dict(re.findall(r"^[*-] (\S+)(?: \[[^\]]*\])?(?: -> (.*))?$", listed, re.MULTILINE))


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a server that answers by a function; return its address."""
    with ExitStack() as servers:
        yield lambda answer: servers.enter_context(_served(answer))


@contextmanager
def _served(answer: Answer) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Answer, or return 404."""
            if (told := answer(self.path, self.headers)) is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Type", told[0])
            self.end_headers()
            self.wfile.write(told[1].encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
