"""Tests of the facts derived from observations: intervals and turns by the package that changed them, and stacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from packaging.specifiers import SpecifierSet

from suite.report.derive import Seen, along, stacks
from suite.report.model import CaseRow, CellRow, Report
from suite.stack.releases import Packages
from tests.report.test_report import EMPTY, PLAIN, observation
from tests.stack.test_plan import LIBRARIES

OFFERED: Packages = LIBRARIES.packages
BAD: Seen = ("bad", "affected")
GOOD: Seen = ("good", "clear")


def row(identifier: str, packages: Mapping[str, str], day: int = 0, **changes: Any) -> CellRow:
    """Return a cell of the line or, if its id names more than one package, of an arm."""
    holds = {part.partition("-")[0]: part.partition("-")[2] for part in identifier.split("+")}
    plain = {"id": identifier, "kind": "arm" if len(holds) > 1 else "line", "moves": next(iter(holds)), "holds": holds}
    released_on = date(2024, 5, 1) + timedelta(day)
    found = {"python": "3.12", "released_on": released_on, "packages": dict(packages), "declared": "allows"}
    return CellRow.model_validate({**plain, **found, **changes})


def line(ids: Sequence[str]) -> list[CellRow]:
    """Return the line of these cells, a day apart, each with the newest releases before it."""
    pins = {"jax": "0.4.8", "equinox": "0.11.0"}
    made = []
    for day, identifier in enumerate(ids):
        name, _, version = identifier.partition("-")
        pins[name] = version
        made.append(row(identifier, pins, day))
    return made


def case(*needs: str) -> CaseRow:
    """Return a case without rules that needs these packages."""
    return PLAIN.issues[0].cases[0].model_copy(update={"needs": list(needs), "rules": []})


def told(seen: Mapping[str, Seen], *needs: str) -> list[tuple[str, str, str, str, bool, str]]:
    """Return the intervals of a case with these behaviours on these cells, by date."""
    found, _ = along(line([*seen]), seen, case(*needs), OFFERED)
    return [(each.package, each.behaviour, each.first, each.last, each.exact, each.came_with) for each in found]


def test_a_change_with_a_release_of_jax_is_exact() -> None:
    """A change at a release of jax is put down to jax, and no library is named."""
    assert [("jax", "bad", "0.4.9", "0.4.9", True, ""), ("jax", "good", "0.4.10", "0.5.0", True, "")] == told(
        {"jax-0.4.9": BAD, "equinox-0.11.2": BAD, "jax-0.4.10": GOOD, "jax-0.5.0": GOOD}, "jax", "equinox"
    )


BY_LIBRARY = {"equinox-0.11.1": BAD, "jax-0.4.9": BAD, "equinox-0.11.2": GOOD, "jax-0.4.10": GOOD, "jax-0.5.0": GOOD}


def test_a_change_with_a_release_of_a_library_is_told_by_that() -> None:
    """A change by a library between two releases of jax is named in jax's intervals, and the library's are exact."""
    assert [
        ("jax", "bad", "0.4.9", "0.4.9", False, ""),
        ("jax", "good", "0.4.10", "0.5.0", False, "equinox 0.11.1 → 0.11.2"),
        ("equinox", "bad", "0.11.1", "0.11.1", True, ""),
        ("equinox", "good", "0.11.2", "0.11.2", True, ""),
    ] == told(BY_LIBRARY, "jax", "equinox")


def test_a_library_that_a_case_does_not_reach_changes_nothing() -> None:
    """A package that the case cannot reach has no intervals."""
    assert {"jax"} == {each[0] for each in told(BY_LIBRARY, "jax")}


def test_a_turn_is_told_once_with_its_blame() -> None:
    """Two neighbours that differ are one turn, put down to the moved package; undecided cells are skipped."""
    seen: dict[str, Seen] = {"jax-0.4.9": BAD, "equinox-0.11.2": None, "jax-0.4.10": BAD, "equinox-0.11.3": GOOD}

    _, turns = along(line([*seen]), seen, case("jax", "equinox"), OFFERED)

    assert [("jax-0.4.10", "equinox-0.11.3", "equinox", "run", "equinox 0.11.2 → 0.11.3")] == [
        (turn.before, turn.after, turn.package, turn.grounds, turn.blame) for turn in turns
    ]


ASK = {"question": "What if?", "along": "jax"}
HELD = "+equinox-0.11.2+diffrax-0.5.0"


def arm(**compared: str | None) -> Report:
    """Return a report of an arm along jax, with these comparisons, by version."""
    cells = []
    for text, word in compared.items():
        version = text.replace("_", ".")
        pins = {"jax": version, "equinox": "0.11.2", "diffrax": "0.5.0"}
        cells.append(row(f"jax-{version}{HELD}", pins, asks=[ASK], declared_observed=word))
    issue = PLAIN.issues[0].model_copy(update={"row_zero": True, "cases": [case("jax")]})
    seen = [
        observation(cell=cell.id, detail="it broke" if bad else "", verdict="affected" if bad else "clear")
        for cell in cells
        if cell.declared_observed is not None
        for bad in [cell.declared_observed in ("latent", "guarded")]
    ]
    return EMPTY.model_copy(update={"cells": cells, "issues": [issue], "observations": seen})


def test_a_row_of_an_arm_is_told_in_ranges() -> None:
    """Cells that hold the same are one row, in version order, with ranges and the first broken cell's detail."""
    (found,) = stacks(arm(**{"0_5_0": "latent", "0_4_9": "guarded", "0_4_10": "supported"}), OFFERED)

    assert ({"equinox": "0.11.2", "diffrax": "0.5.0"}, ">=0.4.10") == (found.holds, found.declared)
    assert [("guarded", "0.4.9", "it broke"), ("supported", "0.4.10", ""), ("latent", "0.5.0", "it broke")] == [
        (span.declared_observed, span.first, span.detail) for span in found.ranges
    ]


def test_metadata_that_agrees_is_left_alone() -> None:
    """A requirement is proposed only for tried stacks whose metadata disagrees with the runs."""
    agreeing, untried = arm(**{"0_4_9": "guarded", "0_4_10": "supported"}), arm(**{"0_4_10": None})
    latent = arm(**{"0_4_10": "supported", "0_5_0": "latent"})

    assert [0, 0, 1] == [len(found.amendments) for of in (agreeing, untried, latent) for found in stacks(of, OFFERED)]


def test_the_published_amendments_agree_with_the_runs(published: Report) -> None:
    """A proposed requirement admits no release with which the package was run and does not work."""
    rows = [(row, each) for row in published.stacks for each in row.amendments if each.package is not None]
    cells = {cell.id: cell for cell in published.cells}
    wrong = [
        (cell, found.words)
        for row, found in rows
        for cell in row.cells
        if cells[cell].declared_observed == "supported"
        and cells[cell].packages.get(str(found.package)) == found.version
        if found.kind == "lacks" and not _admits(found.specifier, cells[cell].packages.get(found.dependency))
    ]

    assert rows
    assert [] == wrong
    words = {each.declared_observed for row in published.stacks for each in row.ranges}
    assert {"supported", "latent", "excluded"} <= words


def _admits(specifier: str, version: str | None) -> bool:
    return version is None or SpecifierSet(specifier).contains(version, prereleases=True)
