"""The releases that are called good for an issue: none of its cases goes wrong there."""

from collections.abc import Iterator

import pytest

from jax_stack_compat.cell.issue import Rule
from jax_stack_compat.check.answer import answer
from jax_stack_compat.check.findings import of_stack
from jax_stack_compat.check.good import Span, good_for
from jax_stack_compat.check.knowledge import Knowledge, KnownCase, KnownIssue
from jax_stack_compat.judge.rules import Pins, Run, concerned, met, requirements
from jax_stack_compat.judge.verdicts import goes_wrong
from tests.check import worlds

BROUGHT = ("numpy", "scipy")


def rules(*told: str) -> list[Rule]:
    """Return rules from texts: `wrong jax<0.5`, `right`."""
    parts = (text.partition(" ") for text in told)
    return [Rule(behaviour, on, "run") for behaviour, _, on in parts]


@pytest.mark.parametrize(
    ("jax", "cases", "told"),
    [
        ("0.4.30", ["wrong jax<0.5|right", "wrong jax<0.6|right"], "good from jax 0.6.0"),
        ("0.4.30", ["wrong jax<0.5|right", "right jax>=0.5,<0.7|wrong"], "good from jax 0.5.0 to 0.6.0"),
        ("0.4.30", ["wrong jax<0.5|right jax<0.6|wrong jax<0.7|right"], "good on jax 0.5.0, again from 0.7.0"),
        ("0.5.0", ["right jax<0.5|wrong jax<0.7|right"], "good up to jax 0.4.36, again from 0.7.0"),
        ("0.5.0", ["right jax<0.5|wrong"], "good up to jax 0.4.36, and on no later release"),
        # In an older release without the function nobody is helped; a newer one has no fault.
        ("0.5.0", ["gone jax<0.5|wrong jax<0.7|right"], "good from jax 0.7.0"),
        ("0.5.0", ["gone jax<0.5|wrong"], "no tested release of jax is good"),
        ("0.5.0", ["wrong jax<0.6|gone"], "good from jax 0.6.0"),
        ("0.4.30", ["wrong jax<0.5|right", "wrong jax<0.6|raises"], "no longer silent from jax 0.6.0"),
        ("0.4.30", ["wrong jax<0.5|right", "wrong"], "1 of 2 cases from jax 0.5.0; no tested release cures the other"),
        (
            "0.4.30",
            ["wrong jax<0.5|right", "wrong jax<0.6|right", "wrong", "wrong"],
            "2 of 4 cases from jax 0.6.0; no tested release cures the others",
        ),
        (
            "0.4.30",
            ["wrong jax<0.5|right jax<0.6|wrong", "wrong jax<0.6|right"],
            "1 of 2 cases on jax 0.5.0; no tested release cures all",
        ),
        (
            "0.4.30",
            ["wrong", "wrong jax<0.6|raises"],
            "1 of 2 cases no longer silent from jax 0.6.0; no tested release cures the other",
        ),
        ("0.4.30", ["wrong jax<0.5|right", "right jax<0.5|wrong"], "the case from jax 0.5.0, where another goes wrong"),
        ("0.4.30", ["wrong jax<0.5|right", "right jax<0.5|wrong jax<0.7|right"], "good from jax 0.7.0"),
        ("0.4.30", ["wrong", "right"], "no tested release of jax is good"),
    ],
)
def test_a_release_is_good_for_all_cases_of_an_issue(jax: str, cases: list[str], told: str) -> None:
    """The releases are those on which every affected case is well, and no other case goes wrong."""
    means = {"wrong": "affected", "right": "clear", "raises": "guarded", "gone": "absent"}
    own = [worlds.case(f"case-{at}", *rules(*text.split("|")), behaviours=means) for at, text in enumerate(cases)]
    world = worlds.knowledge(worlds.issue("one", *own))

    assert [told] == [finding.good_from for finding in of_stack(answer(world, worlds.stack(jax=jax)), world)]


def test_an_added_case_does_not_hide_the_others() -> None:
    """A case that was affected before an upgrade still counts, although the answer leaves it out."""
    old = worlds.case("old", *rules("wrong jax<0.7", "right"))
    new = worlds.case("new", *rules("right jax<0.5", "wrong jax<0.6", "right"))
    world = worlds.knowledge(worlds.issue("one", old, new))
    added = answer(world, worlds.stack(jax="0.5.0")).less({("one", "old")})

    assert ["good from jax 0.7.0"] == [finding.good_from for finding in of_stack(added, world)]


def test_a_case_that_its_packages_block_is_not_called_good() -> None:
    """A release is not called good for a case if a package that the case needs does not import there."""
    broken = worlds.case("imports", *rules("import-error jax>=0.6.0 equinox<0.13", "right"), needs=("jax", "equinox"))
    own = worlds.case("own", *rules("wrong jax<0.5", "right"), needs=("jax", "equinox"))
    row_zero = worlds.issue("row-zero", broken, row_zero=True, kind="crash")
    world = worlds.knowledge(row_zero, worlds.issue("one", own))
    found = of_stack(answer(world, worlds.stack(jax="0.4.36", equinox="0.12.0")), world)

    assert ["good on jax 0.5.0"] == [finding.good_from for finding in found if finding.id == "one"]


class Shown:
    """What an issue showed in the runs, by the releases that can matter to it; elsewhere its rules decide."""

    def __init__(self, issue: KnownIssue) -> None:
        self.issue = issue
        self.matter = sorted({name for case in issue.cases for name in concerned(case.needs, case.rules)})
        self.runs = [{self.key(run.pins): run for run in case.runs} for case in issue.cases]
        self.known: dict[tuple[str | None, ...], list[KnownCase]] = {}

    def key(self, pins: Pins) -> tuple[str | None, ...]:
        """Return the versions of all that can matter to the issue."""
        return tuple(map(pins.get, self.matter))

    def wrong(self, pins: Pins) -> list[KnownCase]:
        """Return the cases that go wrong on a stack that has their packages."""
        key = self.key(pins)
        if key not in self.known:
            cases = zip(self.issue.cases, self.runs, strict=True)
            self.known[key] = [case for case, runs in cases if _is_wrong(case, runs.get(key), pins)]
        return self.known[key]


def _is_wrong(case: KnownCase, run: Run | None, pins: Pins) -> bool:
    if not pins.keys() >= {*case.needs}:
        return False
    return goes_wrong((case.verdict(run.behaviour) if run else case.by_rule(pins)) or "not-run")


def moved(pins: Pins, span: Span, knowledge: Knowledge) -> Iterator[Pins]:
    """Yield a stack with each installable release of a span; jaxlib moves with its jax."""
    releases = knowledge.releases[span.package]
    for release in releases[releases.index(span.first) : releases.index(span.last) + 1]:
        if span.package != "jax":
            yield {**pins, span.package: release}
        elif "jaxlib" in knowledge.jaxlibs[release]:
            yield {**pins, **knowledge.jaxlibs[release]}


def test_no_release_that_is_called_good_has_an_affected_case(published: Knowledge) -> None:
    """No release that is called good for an issue affects one of its cases, on any published stack.

    Stacks with the same versions of all that can matter to an issue are tried once. The runs decide, and the rules for
    releases without a run.
    """
    # NumPy decides if jax imports. Equinox, too, but only for the issues to which it matters.
    zero = (case for name, case in published.cases.items() if name[0] in published.row_zero)
    brought = {
        str(each) for case in zero for rule in case.rules for each in requirements(rule.on) if each.name in BROUGHT
    }
    wrong, named, tried = [], 0, set()
    shown = list(map(Shown, published.issues))
    for pins, of in ((pins, of) for pins in published.cells.values() for of in shown):
        alike = of.issue.id, of.key(pins), *(each for each in brought if met(each, pins))
        affected = of.wrong(pins) if alike not in tried else []
        tried.add(alike)
        spans = good_for(of.issue, affected, pins, published).spans if affected else ()
        for stack in (stack for span in spans for stack in moved(pins, span, published)):
            named += 1
            wrong += [(pins["jax"], of.issue.id, case.id, stack["jax"]) for case in of.wrong(stack)]

    assert [] == wrong
    assert named > 10_000
