"""Tests of how much a publish adds to the repository's history: records, data and pages, packed as git packs them."""

import json
import lzma
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from jax_stack_compat.stack import lock, releases
from laboratory.records import archive
from laboratory.report import stored
from laboratory.report.derive import coverage, derive
from laboratory.report.model import Report
from laboratory.report.write import siblings
from tests.processes import git

# The test publishes one issue in so many.
PART = 60
KB, MB = 1_000, 1_000_000
Files = dict[str, bytes]


def only(report: Report, *, issues: Collection[str] | None = None, before: str | None = None) -> Report:
    """Return a report on these issues alone, or as it was before a release of jax."""
    kept = [each for each in report.issues if issues is None or each.id in issues]
    cells = [each for each in report.cells if before is None or each.packages.get("jax") != before]
    names = ({each.id for each in cells}, {each.id for each in kept})
    seen = [each for each in report.observations if each.cell in names[0] and each.issue in names[1]]
    parts = {"issues": kept, "cells": cells, "planned_cells": [each.id for each in cells], "observations": seen}
    offered = {
        name: {version: each for version, each in found.items() if (name, version) != ("jax", before)}
        for name, found in releases.load().packages.items()
    }
    line = {version: pins for version, pins in lock.jax_line().items() if version != before}
    return derive(report.model_copy(update={**parts, "coverage": coverage(seen), "since": None}), offered, line)


def files(report: Report) -> Files:
    """Return what publishing a report writes: data, pages and packed records, by name."""
    cells = {each.id for each in report.cells}
    found = {name: text.encode() for name, text in {**stored.texts(report), **siblings(report, ())}.items()}
    for issue in ("_cells", *(each.id for each in report.issues)):
        path = archive.FOLDER / f"{issue}.jsonl.xz"
        lines = lzma.decompress(path.read_bytes()).decode().splitlines()
        some = [part for line in lines if (part := _only(json.loads(line), cells))]
        found[f"records/{path.name}"] = lzma.compress("".join(f"{json.dumps(each)}\n" for each in some).encode())
    return found


def _only(line: Any, cells: Collection[str]) -> Any:
    """Return what a line of the archive says of these cells."""
    if isinstance(line, dict):
        return line if line["status"]["cell"] in cells else None
    shared, *rows = line
    return [shared, *kept] if (kept := [row for row in rows if row[0] in cells]) else None


@pytest.fixture(scope="module")
def added(published: Report, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, int]:
    """Return the bytes that a release of jax, and then an issue, add to a packed history."""
    whole = only(published, issues=[each.id for each in published.issues][::PART])
    new = whole.issues[len(whole.issues) // 2].id
    fewer = only(whole, issues={each.id for each in whole.issues} - {new})
    newest = max((each.packages["jax"] for each in whole.cells if "jax" in each.packages), key=Version)
    repository = tmp_path_factory.mktemp("repository")
    git(repository, "init", "--quiet")
    before, released, described = (
        committed(files(each), repository) for each in (only(fewer, before=newest), fewer, whole)
    )
    return released - before, described - released


def committed(published: Files, repository: Path) -> int:
    """Commit files, and return the size of the repacked history."""
    for name, data in published.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_bytes(data)
    own = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for command in (["add", "--all"], ["commit", "--quiet", "--message", "publish"], ["repack", "-adfq"]):
        git(repository, *own, *command)
    return sum(path.stat().st_size for path in (repository / ".git" / "objects" / "pack").glob("*.pack"))


def test_a_publish_adds_little(added: tuple[int, int]) -> None:
    """A release day adds at most 3 MB, since most pages change; a new issue at most 300 kB."""
    released, described = added

    # Some pages have the same size with few issues.
    assert 100 * KB + 3 * MB / PART > released
    assert 300 * KB > described
