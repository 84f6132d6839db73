"""New releases: what is new on an index, and what their cells do otherwise."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from suite.errors import Exit, Failed
from suite.run import catalogue, environment, records
from suite.stack import index, lock, plan, releases
from suite.stack import matrix as matrices
from suite.stack.releases import PACKAGES, Snapshot
from suite.upkeep import discover
from tests.report.test_report import observation, report

DAY = "2026-01-02T03:04:05Z"


class Index(BaseHTTPRequestHandler):
    """A package index as PEP 691 has it, of whatever stands in `offered`: package → version → requirements."""

    offered: dict[str, dict[str, list[str]]]

    def do_GET(self) -> None:
        """Answer for a project's page, or for the metadata of a wheel."""
        last = self.path.rstrip("/").rsplit("/", 1)[1]
        if last.endswith(".whl.metadata"):
            name, version = last.split("-")[:2]
            wants = "".join(f"Requires-Dist: {each}\n" for each in self.offered[name][version])
            self.answer("text/plain", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{wants}")
        elif last in self.offered:
            names = {version: f"{last}-{version}-py3-none-any.whl" for version in self.offered[last]}
            files = [
                {
                    **{"filename": name, "url": f"/simple/{last}/{name}", "hashes": {}, "requires-python": ">=3.10"},
                    **{"upload-time": DAY, "core-metadata": True, "yanked": False, "size": 1},
                }
                for name in names.values()
            ]
            page = {"meta": {"api-version": "1.1"}, "name": last, "versions": list(names), "files": files}
            self.answer("application/vnd.pypi.simple.v1+json", json.dumps(page))
        else:
            self.send_error(404)

    def answer(self, kind: str, text: str) -> None:
        """Send a page."""
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[dict[str, dict[str, list[str]]]]:
    """What a real index on this machine offers, which is the user's index, and the tree's snapshot is of it."""
    there: dict[str, dict[str, list[str]]] = {name: {} for name in PACKAGES}
    there |= {"jax": {"0.4.30": ["numpy>=1.26"]}, "equinox": {"0.11.4": ["jax>=0.4.13"]}}
    handler = type("Offering", (Index,), {"offered": there})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name in ("UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("UV_DEFAULT_INDEX", f"http://127.0.0.1:{server.server_port}/simple")
    monkeypatch.setattr(releases, "PATH", tmp_path / "releases.json")
    releases.save(index.snapshot())
    yield there
    server.shutdown()
    server.server_close()


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A plan of the releases of jax alone; the report goes to a folder of its own."""
    matrix = tmp_path / "matrix.toml"
    line = '[line]\nreleases = ["jax"]\nbeside = []\ndefault = ["newest"]\n'
    matrix.write_text(f'schema_version = 1\npython = "3.12"\n{line}', encoding="utf-8")
    monkeypatch.setattr(plan, "PATH", matrix)
    monkeypatch.setattr(matrices, "PATH", matrix)
    monkeypatch.setattr(discover, "REPORTS", tmp_path / "reports")
    monkeypatch.setattr(records, "RECORDS", tmp_path / "records")
    monkeypatch.setattr(environment, "ENVIRONMENTS", tmp_path / "envs")
    plan.cells.cache_clear()
    yield
    plan.cells.cache_clear()


def said(console: Console) -> str:
    """What was printed."""
    screen = console.file
    assert isinstance(screen, StringIO)
    return screen.getvalue()


def quiet() -> Console:
    """A console that keeps what it is told."""
    return Console(file=StringIO(), width=200)


def yanked(known: Snapshot, package: str) -> Snapshot:
    """A snapshot in which the first release of `package` has been yanked since."""
    (version, release), *_ = known.packages[package].items()
    versions = {**known.packages[package], version: release.model_copy(update={"yanked": "broken"})}
    return known.model_copy(update={"packages": {**known.packages, package: versions}})


def test_a_snapshot_is_what_the_index_offers(offered: dict[str, dict[str, list[str]]]) -> None:
    """A snapshot has each release with its day, its requirements and its wheels, and no address."""
    release = releases.load().packages["equinox"]["0.11.4"]

    assert (["jax>=0.4.13"], ">=3.10", None) == (release.requires_dist, release.requires_python, release.yanked)
    assert {"py3": ["any"]} == {tag: each.platforms for tag, each in release.wheels.items()}
    assert "127.0.0.1" not in releases.PATH.read_text(encoding="utf-8")


def test_with_nothing_new_it_says_so(offered: dict[str, dict[str, list[str]]], planned: None) -> None:
    """Where the index has what the snapshot has, that is said, the exit code is 0, and nothing is written."""
    before, console = releases.PATH.read_bytes(), quiet()

    assert Exit.AS_EXPECTED == discover.discover([], console)
    assert said(console).startswith("nothing is new since ")
    assert before == releases.PATH.read_bytes()


def test_a_new_release_without_a_cell_is_told(offered: dict[str, dict[str, list[str]]], planned: None) -> None:
    """A release of a package that the plan has no cells of goes into the snapshot, and nothing is run."""
    offered["lineax"] = {"0.1.0": []}
    console = quiet()

    assert Exit.AS_EXPECTED == discover.discover([], console)
    assert "lineax 0.1.0" in said(console)
    assert "none of what came out has a cell: nothing to run" in said(console)
    assert "0.1.0" in releases.load().packages["lineax"]


def test_a_yanked_release_is_told_as_that(
    offered: dict[str, dict[str, list[str]]], planned: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a release was yanked and nothing came out, nothing is said of what came out, and nothing is run."""
    taken = yanked(releases.load(), "equinox")
    monkeypatch.setattr(index, "snapshot", lambda known: taken)
    console = quiet()

    assert Exit.AS_EXPECTED == discover.discover([], console)
    assert "equinox 0.11.4 (yanked since)" in said(console)
    assert "nothing came out, and what was yanked is not run again: nothing to run" in said(console)
    assert taken == releases.load()


def test_a_new_release_has_its_cell_run(offered: dict[str, dict[str, list[str]]], planned: None) -> None:
    """A new release of jax is a new cell; one that cannot be had is reported as such, and nothing else is run."""
    offered["jax"]["0.4.31"] = ["jaxlib==0.4.31"]
    console = quiet()

    assert Exit.AS_EXPECTED == discover.discover(catalogue.entries(), console)
    assert ["jax-0.4.30", "jax-0.4.31"] == [cell.id for cell in plan.cells()]
    assert "1 new cell: 0 of 30 observations are not as on the release before" in said(console)


def test_an_index_that_does_not_resolve_leaves_the_snapshot_alone(
    offered: dict[str, dict[str, list[str]]], planned: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a new cell's lock cannot be made, that is said, and the next try finds the release new again."""
    offered["jaxlib"] = {"0.4.31": []}
    offered["jax"]["0.4.31"] = ["jaxlib==0.4.31"]
    monkeypatch.setattr(lock, "LOCKS", releases.PATH.parent)

    with pytest.raises(Failed, match=r"jax-0\.4\.31"):
        discover.discover([], quiet())

    assert "0.4.31" not in releases.load().packages["jax"]


def test_what_was_yanked_since_is_new() -> None:
    """A release that has been yanked since the snapshot is told as that."""
    known = releases.load()
    first = next(iter(known.packages["jax"]))
    assert [f"jax {first} (yanked since)"] == discover.new_releases(known, yanked(known, "jax"))
    assert [] == discover.new_releases(known, known)


def test_a_change_is_against_the_release_before() -> None:
    """What a new cell does is held against the last cell of the line before it in version order."""
    last = report(observation(cell="jax-0.4.9"), observation(cell="jax-0.4.30", behaviour="worse"))
    now = report(observation(cell="jax-0.5.0"))

    (found,) = discover.changes(last, now, ["jax-0.5.0"])

    told = "✗ worse, workaround holds → ✗ bad, workaround holds"
    assert f"jax-0.5.0 some-issue/headline: {told} (since jax-0.4.30, changed)" == discover.line(found)


def test_what_does_as_the_release_before_is_no_change() -> None:
    """The same behaviour is no change, nor is what was not decided, nor a cell that is not new."""
    last = report(observation(cell="jax-0.4.30"))
    now = report(observation(cell="jax-0.5.0"), observation(cell="jax-0.6.0", behaviour="worse"))

    assert [] == discover.changes(last, now, ["jax-0.5.0"])
