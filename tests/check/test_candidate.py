"""A package that is not released yet: what is meant by the words, and what turned against the stack it is put into."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.check import candidate
from suite.check.candidate import Wanted, parse
from suite.errors import Misused
from suite.judge.table import Verdict
from suite.judge.verdicts import Judged
from suite.stack import plan
from tests.check.worlds import knowledge


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("equinox=git+https://example.org/equinox@main", Wanted("equinox", "git+https://example.org/equinox@main")),
        ("jax==0.13.0rc1", Wanted("jax", "jax==0.13.0rc1")),
        ("jax>=0.13.dev0", Wanted("jax", "jax>=0.13.dev0")),
        ("jax", Wanted("jax", "jax")),
    ],
)
def test_a_candidate_is_named_with_what_to_install(words: str, wanted: Wanted) -> None:
    """An address, or a requirement as installers take it."""
    assert wanted == parse(words)


def test_a_path_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is near where the command was typed is so for an installer that starts elsewhere."""
    (tmp_path / "equinox").mkdir()
    monkeypatch.chdir(tmp_path)

    assert Wanted("equinox", str(tmp_path / "equinox")) == parse("equinox=equinox")


@pytest.mark.parametrize("words", ["equinox=/no/such/folder", "numpyro==1.0", "=x", "jax=", "a b c"])
def test_what_cannot_be_meant_is_told(words: str) -> None:
    """A path that is not there, a package that is not of the stack, and what is no requirement."""
    with pytest.raises(Misused):
        parse(words)


@pytest.mark.parametrize(
    ("before", "after", "how"),
    [
        ("clear", "affected", "broken"),
        ("guarded", "crashed", "broken"),
        ("affected", "clear", "mended"),
        ("affected", "different", "changed"),
        ("clear", "guarded", "changed"),
        (None, "clear", "new"),
    ],
)
def test_a_turn_is_for_the_better_or_the_worse(before: Verdict | None, after: Verdict, how: str) -> None:
    """By whether anything goes wrong silently; what nobody had seen there is new."""
    assert how == candidate.how(before, after)


def test_only_what_turned_is_told() -> None:
    """A case that does what it did in the stack, and one that was not decided, are none."""
    (cell,) = [each for each in plan.cells() if each.id == "jax-0.6.0"]
    judged = {
        ("wrong-numbers", "mended"): Judged("affected", "wrong", "run.wrong", "it is back"),
        ("wrong-numbers", "loud"): Judged("affected", "wrong", "run.wrong", ""),
        ("slow-thing", "back"): Judged("error", None, "run.control", ""),
        ("another", "case"): Judged("clear", "right", None, ""),
    }

    found = candidate.turns(cell, judged, knowledge())
    assert [
        (("wrong-numbers", "mended"), "right", "wrong", "broken"),
        (("another", "case"), None, "right", "new"),
    ] == [(each.name, each.before, each.after, each.how) for each in found]


def test_the_newest_stack_is_of_the_newest_jax() -> None:
    """Without a word a candidate is put into the newest release of jax that an installer can give."""
    newest = candidate.newest()

    assert "jax" == newest.moves
    assert newest.unavailable is None
