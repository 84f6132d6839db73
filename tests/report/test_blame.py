"""Tests that a report blames one package for a change, wherever it names it, on the real line and its rules."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from suite.report.findings import findings
from suite.report.formats.feed import feed
from suite.report.model import Report
from suite.report.site.facts import Facts
from suite.stack import plan
from tests.worlds import as_known

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture(scope="module")
def line() -> Report:
    """Return a report on every release of the line, with every case as its rules say."""
    return as_known(plan.tagged("line"))


def test_a_change_is_told_once_and_alike(line: Report) -> None:
    """Feed and steps list every turn of every case once, with the same neighbours and the same blame."""
    turns = {
        (turn.after, f"{issue.id}/{case.id}"): (turn.before, turn.blame)
        for issue in line.issues
        for case in issue.cases
        for turn in case.turns
    }
    _, *told = ElementTree.fromstring(feed(line).encode()).iter(f"{ATOM}entry")
    in_feed = {}
    for entry in told:
        title, content = (str(entry.findtext(f"{ATOM}{name}")) for name in ("title", "content"))
        key = title.split()[0], title.split()[2]
        before, blame = turns[key]
        in_feed[key] = f" in {before}. Cause: {blame}" in content
    in_steps = [
        ((step.after.id, f"{after.issue}/{after.case}"), (before.cell, blame))
        for step in Facts(line).steps.values()
        for of in step.turns.values()
        for blame, ends in of.items()
        for before, after in ends
    ]

    assert turns
    assert dict.fromkeys(turns, True) == in_feed
    assert len(turns) == len(told)
    assert [] == [(key, said) for key, said in in_steps if turns[key] != said]
    assert len(in_steps) == len({key for key, _ in in_steps})


def test_what_lineax_broke_is_not_equinoxs(line: Report) -> None:
    """A stiff solve that fails again came with Lineax, and no text blames the Equinox of the same day."""
    case = next(case for issue in line.issues for case in issue.cases if case.id == "implicit-solve")
    others = [each for each in case.intervals if each.package not in ("jax", "lineax")]
    again = [each for each in others if each.behaviour == "lu-transpose-is-traced"]
    came_back = [each.title for each in findings(line) if each.sort == "came-back"]

    assert ("lineax", "lineax 0.0.8 → 0.1.0") in {(each.package, each.blame) for each in case.turns}
    assert [] == [each for each in again if each.exact or not each.came_with]
    assert [] == [each for each in came_back if each.startswith("stack-smoke/implicit-solve")]
