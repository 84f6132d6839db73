"""What a report says beyond its observations: intervals by the package that changed them, and stacks."""

from __future__ import annotations

from typing import Any

import pytest
from packaging.specifiers import SpecifierSet

from suite.files import REPORTS, read
from suite.judge import verdicts as judge
from suite.report.derive import derive, intervals, stacks
from suite.report.model import CellRow, Report
from suite.run import catalogue
from suite.stack import releases
from suite.stack.releases import Packages
from tests.report.test_report import EMPTY, observation
from tests.stack.test_plan import LIBRARIES

PUBLISHED = REPORTS / "published" / "compat.json"
OFFERED: Packages = LIBRARIES.packages
BAD, GOOD = ("bad", "affected"), ("good", "clear")


def row(identifier: str, **changes: Any) -> CellRow:
    """A cell of the line, or of an arm where its id holds more than one package."""
    holds = {part.partition("-")[0]: part.partition("-")[2] for part in identifier.split("+")}
    plain: dict[str, Any] = {
        "id": identifier,
        "kind": "arm" if len(holds) > 1 else "line",
        "moves": next(iter(holds)),
        "holds": holds,
    }
    plain |= {"asks": []}
    plain |= {"python": "3.12", "released_on": "2024-05-01", "packages": holds, "lock_sha256": "0" * 64}
    found = {"declared": "allows", "declared_observed": None, "excluded_by": None, "broken_in": None}
    return CellRow.model_validate({**plain, **found, **changes})


def told(line: dict[str, Any], needs: tuple[str, ...] = ("jax", "equinox")) -> list[tuple[str, str, str, str, bool]]:
    """The intervals of a case that was seen to do this on these cells, in the order of their days."""
    found = intervals([row(name) for name in line], line, needs, OFFERED)
    return [(each.package, each.behaviour, each.first, each.last, each.exact) for each in found]


def test_a_change_with_a_release_of_jax_is_exact() -> None:
    """Where what came before a release of jax did otherwise, the release changed it, and no library is named."""
    assert [("jax", "bad", "0.4.9", "0.4.9", True), ("jax", "good", "0.4.10", "0.5.0", True)] == told(
        {"jax-0.4.9": BAD, "equinox-0.11.2": BAD, "jax-0.4.10": GOOD, "jax-0.5.0": GOOD}
    )


def test_a_change_with_a_release_of_a_library_is_told_by_that() -> None:
    """Where a library's release changed it between two of jax, no end on jax is exact, and the library's is."""
    assert [
        ("jax", "bad", "0.4.9", "0.4.9", False),
        ("jax", "good", "0.4.10", "0.5.0", False),
        ("equinox", "bad", "0.11.1", "0.11.1", True),
        ("equinox", "good", "0.11.2", "0.11.2", True),
    ] == told({"equinox-0.11.1": BAD, "jax-0.4.9": BAD, "equinox-0.11.2": GOOD, "jax-0.4.10": GOOD, "jax-0.5.0": GOOD})


def test_a_library_that_a_case_does_not_need_changes_nothing() -> None:
    """No interval is told by a package that the case does not import."""
    line = {"equinox-0.11.1": BAD, "jax-0.4.9": BAD, "equinox-0.11.2": GOOD, "jax-0.4.10": GOOD}

    assert {"jax"} == {each[0] for each in told(line, needs=("jax",))}


def test_an_interval_is_in_version_order() -> None:
    """A release that came out late, of an older line, stands where its version does."""
    assert [("jax", "bad", "0.4.9", "0.4.10", True), ("jax", "good", "0.5.0", "0.5.0", True)] == told(
        {"jax-0.4.9": BAD, "jax-0.5.0": GOOD, "jax-0.4.10": BAD}
    )


ASK = {"question": "What if?", "along": "jax"}
HELD = "+equinox-0.11.2+diffrax-0.5.0"


def arm(**compared: str | None) -> Report:
    """A report of an arm along jax, whose cells are compared as this says, by version."""
    cells = [
        row(
            f"jax-{version.replace('_', '.')}{HELD}",
            asks=[ASK],
            declared_observed=word,
            broken_in="equinox" if word == "latent" else None,
        )
        for version, word in compared.items()
    ]
    seen = [
        observation(cell=cell.id, issue="stack-smoke", case="train-and-solve", detail="it broke")
        for cell in cells
        if cell.declared_observed == "latent"
    ]
    return EMPTY.model_copy(update={"cells": cells, "observations": seen})


def test_a_row_of_an_arm_is_told_in_ranges() -> None:
    """Cells that hold the same are one row, in version order, told in ranges with what was seen on the first broken."""
    (found,) = stacks(arm(**{"0_5_0": "latent", "0_4_9": "guarded", "0_4_10": "supported"}), OFFERED)

    assert {"equinox": "0.11.2", "diffrax": "0.5.0"} == found.holds
    assert [("guarded", "0.4.9", ""), ("supported", "0.4.10", ""), ("latent", "0.5.0", "it broke")] == [
        (each.declared_observed, each.first, each.detail) for each in found.ranges
    ]


def test_a_latent_range_has_the_requirement_that_would_agree() -> None:
    """Where metadata allows what does not work, the row has the specifier for the package that breaks."""
    (found,) = stacks(arm(**{"0_4_10": "supported", "0_5_0": "latent"}), OFFERED)

    assert (">=0.4.10", ">=0.4.10,<0.5.0", "equinox") == (found.declared, found.specifier, found.broken_in)


def test_an_over_tight_range_has_the_requirement_that_would_agree() -> None:
    """Where metadata excludes what works, the specifier lets it in."""
    (found,) = stacks(arm(**{"0_4_9": "over-tight", "0_4_10": "supported", "0_5_0": "supported"}), OFFERED)

    assert (">=0.4.10", ">=0.4.9") == (found.declared, found.specifier)


def test_metadata_that_agrees_is_left_alone() -> None:
    """Where metadata says what the runs say, nothing is proposed; nor where nothing works, or nothing was tried."""
    agreeing = arm(**{"0_4_9": "guarded", "0_4_10": "supported"})

    for each in (agreeing, arm(**{"0_4_10": "latent"}), arm(**{"0_4_10": None})):
        assert [None] == [found.specifier for found in stacks(each, OFFERED)]


def test_the_published_report_follows_from_its_observations() -> None:
    """The intervals, stacks and coverage that are published are those that the published observations give."""
    published = read(Report, PUBLISHED)

    assert derive(published, releases.load().packages) == published


def test_the_published_intervals_are_those_that_are_expected() -> None:
    """At both ends of each interval the tables of the issues expect the behaviour that it is of."""
    published = read(Report, PUBLISHED)
    packages = {cell.id: cell.packages for cell in published.cells}
    cases = {(each.issue.id, case.id): case for each in catalogue.entries() for case in each.issue.cases}
    for issue in published.issues:
        for case in issue.cases:
            for each in case.intervals:
                for end in (each.first, each.last):
                    known = judge.expected(cases[issue.id, case.id], packages[f"{each.package}-{end}"])
                    assert known is not None
                    assert each.behaviour == known.behaviour, (issue.id, case.id, each)


def test_the_published_specifiers_agree_with_the_runs() -> None:
    """Each requirement that is proposed admits the releases on which its row works, and none on which it does not."""
    published = read(Report, PUBLISHED)
    compared = {cell.id: cell for cell in published.cells}
    rows = [each for each in published.stacks if each.specifier is not None]

    assert rows
    for each in rows:
        for cell in (compared[name] for name in each.cells if compared[name].declared_observed is not None):
            works = cell.declared_observed in ("supported", "over-tight")
            assert works == (cell.holds[each.along] in SpecifierSet(str(each.specifier))), (cell.id, each.specifier)


@pytest.mark.parametrize("word", ["supported", "latent", "over-tight"])
def test_the_published_arms_show_every_kind(word: str) -> None:
    """The arms that are published hold stacks that work, that metadata allows and that it wrongly excludes."""
    assert word in {each.declared_observed for row in read(Report, PUBLISHED).stacks for each in row.ranges}
