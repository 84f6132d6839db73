"""The snapshot of upstream's threads."""

from __future__ import annotations

from suite.catalogue import catalogue, threads
from suite.cell.issue import Issue, Upstream


def test_the_snapshot_has_the_threads_that_issues_name() -> None:
    """Every thread of every issue and of every refuted claim is in the snapshot, in order, and no other."""
    named = threads.references((entry.issue for entry in catalogue.entries()), threads.refuted())
    assert named == list(threads.load().threads)


def test_what_was_looked_up_has_a_day_and_a_source() -> None:
    """A thread has a title, a state, a day and a source, or none of these; only a pull request is merged."""
    for thread in threads.load().threads.values():
        known = {bool(each) for each in (thread.title, thread.state, thread.looked_up, thread.source)}
        assert 1 == len(known)
        assert thread.state != "merged" or thread.kind == "pull"


def test_pages_and_commits_are_not_looked_up() -> None:
    """Only what has a number in a repository is looked up."""
    refs = ("jax-ml/jax#2", "https://docs.jax.dev/en/latest/#jax", "jax-ml/jax@aa2f995b1d", "jax-ml/jax#1")
    issue = Issue("crash", tuple(Upstream(ref, "report") for ref in refs), cases=())
    claim = threads.Refuted(ref="jax-ml/jax#3", claim="it does", tried="that", where="everywhere")
    assert ["jax-ml/jax#1", "jax-ml/jax#2", "jax-ml/jax#3"] == threads.references([issue, issue], [claim, claim])
