"""Tests of how much a publish adds to the repository's history: tracked files, packed as git packs them."""

import shutil
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest
from packaging.version import Version

from jax_stack_compat.base.files import replace_all
from jax_stack_compat.stack import lock, releases
from laboratory.records import archive
from laboratory.records.archive import PackedRecord
from laboratory.report import published as publishing
from laboratory.report.derive import coverage, derive
from laboratory.report.model import Report
from tests.processes import git

# The test publishes one issue in so many.
PART = 60
KB, MB = 1_000, 1_000_000


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


def publish(report: Report, there: Mapping[archive.Name, PackedRecord], folder: Path) -> int:
    """Write what a publish of a report writes over the one before, commit it, and return the size of the history."""
    cells, issues = {each.id for each in report.cells}, {each.id for each in report.issues}
    old, _ = archive.load(folder / "records") if (folder / "records").exists() else ({}, {})
    written: dict[str, str | bytes] = {**publishing.tracked(report)}
    for issue in issues:
        name = f"records/{issue}.jsonl.xz"
        found = {each: there[each] for each in sorted(there) if each[0] in cells and each[1] == issue}
        known = {each: packed for each, packed in old.items() if each[1] == issue}
        if (content := archive._content(folder / name, found, known)) is not None:
            written[name] = content
    # Each run rewrites the status of each cell.
    written["records/_cells.jsonl.xz"] = (archive.FOLDER / "_cells.jsonl.xz").read_bytes()
    replace_all(folder, written)
    own = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for command in (["add", "--all"], ["commit", "--quiet", "--message", "publish"], ["repack", "-adfq"]):
        git(folder, *own, *command)
    return sum(path.stat().st_size for path in (folder / ".git" / "objects" / "pack").glob("*.pack"))


def _records(name: str) -> Path:
    return archive.FOLDER / f"{name}.jsonl.xz"


@pytest.fixture(scope="module")
def added(published: Report, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, int]:
    """Return the bytes that a release of jax, and then an issue, add to a packed history."""
    # By size, so that an issue more changes little.
    by_size = sorted((each.id for each in published.issues), key=lambda id: _records(id).stat().st_size)
    chosen = by_size[::PART]
    whole, new = only(published, issues=chosen), chosen[len(chosen) // 2]
    fewer = only(whole, issues={each.id for each in whole.issues} - {new})
    newest = max((each.packages["jax"] for each in whole.cells if "jax" in each.packages), key=Version)
    repository, some = tmp_path_factory.mktemp("repository"), tmp_path_factory.mktemp("some")
    for name in ("_cells", *(each.id for each in whole.issues)):
        shutil.copy(_records(name), some)
    there, _ = archive.load(some)
    git(repository, "init", "--quiet")
    stages = (only(fewer, before=newest), fewer, whole)
    before, released, described = (publish(report, there, repository) for report in stages)
    return released - before, described - released


def test_a_publish_adds_little(added: tuple[int, int]) -> None:
    """Records and what follows from them: a release day adds at most 400 kB, and a new issue at most 30 kB."""
    released, described = added

    # The list of cells has the same size with few issues.
    assert 30 * KB + 400 * KB / PART > released
    assert 30 * KB > described
