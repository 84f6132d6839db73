"""The snapshot of upstream's threads."""

from __future__ import annotations

from suite.cell.issue import Issue, Upstream
from suite.run import catalogue, threads


def test_the_snapshot_has_the_threads_that_issues_name() -> None:
    """Every thread of every issue and of every refuted claim is in the snapshot, in order, with a title; no other."""
    named = threads.references((entry.issue for entry in catalogue.entries()), threads.refuted())
    assert named == [reference for reference, thread in threads.load().threads.items() if thread.title]


def test_pages_and_commits_are_not_looked_up() -> None:
    """Only what has a number in a repository is looked up."""
    refs = ("jax-ml/jax#2", "https://docs.jax.dev/en/latest/#jax", "jax-ml/jax@aa2f995b1d", "jax-ml/jax#1")
    issue = Issue("crash", tuple(Upstream(ref, "report") for ref in refs), cases=())
    claim = threads.Refuted(ref="jax-ml/jax#3", claim="it does", tried="that", where="everywhere")
    assert ["jax-ml/jax#1", "jax-ml/jax#2", "jax-ml/jax#3"] == threads.references([issue, issue], [claim, claim])


def test_a_fix_was_not_turned_down() -> None:
    """No fix is a pull request that was closed and not merged, but in XLA, which closes those that it takes over."""
    fixes = {up.ref for entry in catalogue.entries() for up in entry.issue.upstream if up.role == "fix"}
    closed = {ref for ref, thread in threads.load().threads.items() if ref in fixes and thread.state == "closed"}
    assert {"openxla/xla"} == {ref.partition("#")[0] for ref in closed}
