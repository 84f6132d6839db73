"""Facts derived from observations: intervals, turns and stacks; and a sparse report on releases that it did not run."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from jax_stack_compat.stack import lock, releases
from jax_stack_compat.stack.releases import Packages
from laboratory.report import summary
from laboratory.report.derive import Line, Seen, along, derive, stacks
from laboratory.report.formats.compat_md import compat_md
from laboratory.report.model import ByRuleRow, CaseRow, CellRow, Report, RuleRow
from laboratory.report.site.build import site
from laboratory.report.site.facts import Facts, StripRun
from laboratory.report.site.timeline import verified
from tests.report.test_report import EMPTY, PLAIN, cell_row, observation, report, shown, undecided, with_case
from tests.stack.test_plan import LIBRARIES

OFFERED = releases.load().packages
VERSIONS = ["0.4.30", "0.4.31", "0.4.33", "0.4.34", "0.4.35", "0.5.0", "0.5.1", "0.6.0"]


def line(versions: Sequence[str] = VERSIONS, unavailable: Sequence[str] = ()) -> Line:
    """Return the line of these releases of jax, without pins for those that cannot be installed."""
    return {version: {} if version in unavailable else {"jax": version, "jaxlib": version} for version in versions}


def expecting(of: Report, **rules: Sequence[str]) -> Report:
    """Return a report of one case whose rules expect these behaviours on these releases of jax alone."""
    rows = [RuleRow(behaviour=name, on=f"jax=={each}") for name, versions in rules.items() for each in versions]
    return with_case(of, rules=rows)


def the_case(of: Report) -> CaseRow:
    """Return the one case of a report."""
    return of.issues[0].cases[0]


def over(row: ByRuleRow, versions: Sequence[str]) -> list[str]:
    """Return the releases of a row."""
    return list(versions[versions.index(row.first) : versions.index(row.last) + 1])


def sparse() -> Report:
    """A case that ran bad on 0.4.30 and 0.5.0, good on 0.6.0, is bad by rule between them, but for one release."""
    seen = [observation(cell="jax-0.4.30"), observation(cell="jax-0.5.0")]
    seen += [observation(cell="jax-0.6.0", verdict="clear", behaviour="good", expected="good", workaround="none")]
    made = expecting(report(*seen), bad=[each for each in VERSIONS[:6] if each != "0.4.34"], good=VERSIONS[6:])
    return derive(made, OFFERED, line())


@given(
    states=st.lists(
        st.sampled_from(["bad", "good", "unknown", "unavailable", "run", "missed"]),
        min_size=len(VERSIONS),
        max_size=len(VERSIONS),
    ).filter(lambda states: {"run", "missed"} & {*states})
)
def test_a_release_is_observed_or_by_rule_or_unknown(states: Sequence[str]) -> None:
    """A release is not by rule if it was observed, has no rule or cannot be installed."""
    of = {state: [each for each, its in zip(VERSIONS, states, strict=True) if its == state] for state in {*states}}
    seen = [observation(cell=f"jax-{each}") for each in of.get("run", ())]
    seen += [undecided("not-run", cell=f"jax-{each}") for each in of.get("missed", ())]
    # The rule also covers releases that were run or are unavailable.
    bad = [each for each, its in zip(VERSIONS, states, strict=True) if its in ("bad", "run", "missed", "unavailable")]

    made = derive(
        expecting(report(*seen), bad=bad, good=of.get("good", [])), OFFERED, line(unavailable=of.get("unavailable", ()))
    )

    rows = the_case(made).by_rule
    said = [(each, row.behaviour, row.verdict) for row in rows for each in over(row, VERSIONS)]
    verdicts = {"bad": "affected", "good": "clear"}
    assert [(each, its, verdicts[its]) for each, its in zip(VERSIONS, states, strict=True) if its in verdicts] == said
    # A run of neighbours is one row.
    assert len(rows) == sum(its in verdicts and its != after for its, after in pairwise([*states, ""]))
    assert ([] if len(seen) == len(VERSIONS) else VERSIONS) == made.jax_line


def test_a_report_of_the_whole_line_says_nothing_by_rule(published: Report) -> None:
    """A report with a cell for every release of jax says nothing by rule, and neither does a shard."""
    ids = {issue.id for issue in published.issues[::4]}
    some = published.model_copy(
        update={
            "issues": [issue for issue in published.issues if issue.id in ids],
            "observations": [each for each in published.observations if each.issue in ids],
        }
    )
    made = derive(some, OFFERED, lock.jax_line())

    assert [] == made.jax_line
    assert [] == [one.id for one, other in zip(some.issues, made.issues, strict=True) if one != other]
    shard = sparse().model_copy(update={"shard": "1/2"})
    assert ([], []) == (derive(shard, OFFERED, line()).jax_line, the_case(derive(shard, OFFERED, line())).by_rule)


def test_what_a_rule_says_was_seen_where_all_was_run(published: Report) -> None:
    """Rules predict, from the published headlines on five releases, the observations on all others."""
    ran = [f"jax-{version}" for version in ("0.4.18", "0.4.27", "0.4.36", "0.8.1", "0.12.0.1")]
    headlines = {(issue.id, issue.cases[0].id) for issue in published.issues}
    seen = {(each.issue, each.case, each.cell): each for each in published.observations}
    kept = [each for each in published.observations if each.cell in ran and (each.issue, each.case) in headlines]
    few = published.model_copy(
        update={
            "cells": [cell for cell in published.cells if cell.id in ran],
            "issues": [issue.model_copy(update={"cases": issue.cases[:1]}) for issue in published.issues],
            "observations": kept,
        }
    )

    made = derive(few, OFFERED, lock.jax_line())

    told = [
        (seen.get((issue.id, case.id, f"jax-{version}")), row)
        for issue in made.issues
        for case in issue.cases
        for row in case.by_rule
        for version in over(row, made.jax_line)
    ]
    assert len(told) > 5000
    # An issue that is new may not have run in each cell yet.
    was_run = [(was, row) for was, row in told if was is None or was.verdict != "not-run"]
    assert [] == [
        row for was, row in was_run if was is None or (was.behaviour, was.verdict) != (row.behaviour, row.verdict)
    ]


def test_a_band_by_rule_lies_between_runs_and_says_so() -> None:
    """Each release of the line has its place; only bands that were not run are drawn and named as by rule."""
    page = site(sparse(), ())["issues/some-issue.html"]
    (axis,) = re.findall(r'<svg class="axis" width="100%" height="46".*?</svg>\n(?=<ol>)', page, re.DOTALL)

    bands = re.findall(
        r'<svg x="([\d.]+)%"[^>]* width="([\d.]+)%"[^>]*>(?:<title>([^<]*)</title>)?<rect class="([^"]*)"', axis
    )
    assert [
        ("0.0", "12.5", "", "affected"),
        ("12.5", "25.0", "0.4.31–0.4.33: bad by rule, not run", "affected by-rule"),
        ("50.0", "12.5", "0.4.35: bad by rule, not run", "affected by-rule"),
        ("62.5", "12.5", "", "affected"),
        ("75.0", "12.5", "0.5.1: good by rule, not run", "clear by-rule"),
        ("87.5", "12.5", "", "clear"),
    ] == bands
    assert ["affected", "clear"] == re.findall(r'<span class="v (\w+) by-rule">', page)
    assert "Dashed edge: by rule, not run." in page


def test_a_strip_has_a_place_for_each_release_of_the_line() -> None:
    """A strip shows releases that were run, those by rule, and gaps for the others."""
    facts = Facts(sparse())
    (issue,) = facts.report.issues

    assert [
        StripRun("affected", 0, 1),
        StripRun("affected", 1, 2, by_rule=True),
        StripRun(None, 3, 1),
        StripRun("affected", 4, 1, by_rule=True),
        StripRun("affected", 5, 1),
        StripRun("clear", 6, 1, by_rule=True),
        StripRun("clear", 7, 1),
    ] == facts.runs(facts.worst(issue), issue.cases)


def test_a_sparse_report_says_what_it_ran() -> None:
    """The terminal, COMPAT.md and the front page name the releases that were run, and how many there are."""
    made = sparse()
    screen = shown(made, 200, cases=True)
    told = "Run on 3 of 8 releases of jax: 0.4.30, 0.5.0, 0.6.0."

    assert told == summary.run_on(made)
    assert told in screen
    assert "bad 0.4.30 and 0.5.0, good 0.6.0" in screen
    assert told in compat_md(made)
    front = site(made, ())["index.html"]
    assert told in front
    assert "affected just before, of the releases that were run" in front
    assert "" == summary.run_on(report(observation()))


def test_a_case_that_was_not_planned_there_is_neither_run_nor_missing() -> None:
    """A case not planned on a release is by rule there and blank in the matrix, not `not-run`."""
    seen = [observation(cell="jax-0.6.0"), observation(cell="jax-0.6.0", case="other")]
    of = report(*seen, observation(cell="jax-0.4.30", case="other"))
    made = derive(of, OFFERED, line())

    headline, other = made.issues[0].cases
    assert [("0.4.30", "0.4.35")] == [(row.first, row.last) for row in headline.by_rule]
    assert [("0.4.31", "0.4.35")] == [(row.first, row.last) for row in other.by_rule]
    assert "not every case on each" in summary.run_on(made)
    pages = site(made, ())
    assert not [path for path, text in pages.items() if "not-run" in text and path.endswith(".html")]


def test_a_workaround_is_told_of_each_release_that_was_run() -> None:
    """Two equal releases do not form a range if those between them were not run."""
    of = {each: observation(cell=each) for each in ("jax-0.4.30", "jax-0.5.0")}
    assert "helps on jax 0.4.30 and 0.5.0" == verified(sparse().cells, of, "jax", sparse=True)


def test_no_release_is_right_is_not_said_of_some() -> None:
    """A sparse report never says that no release is right."""
    facts = Facts(derive(report(observation()), OFFERED, line()))

    assert facts.is_sparse
    assert not facts.never_well(facts.worst(facts.report.issues[0]))


def test_the_line_of_the_tree_is_in_version_order() -> None:
    """The line has every planned release of jax, without pins for a yanked one."""
    found = lock.jax_line()

    assert [*found] == sorted(found, key=Version)
    assert {} == found["0.4.32"]
    assert all(pins["jax"] == version for version, pins in found.items() if pins)


def test_releases_that_show_other_cases_are_not_compared() -> None:
    """A report of chosen rows, whose releases ran different cases, claims neither changes nor their absence."""
    made = sparse()
    chosen = site(made.model_copy(update={"rows": "chosen"}), ())

    for name, page in site(made, ()).items():
        if name == "index.html" or name.startswith("releases/jax-"):
            assert ('id="newest"' in page) == (name == "index.html")
            assert ('id="turned"' in page) == (name != "index.html")
            assert not re.search(r'id="(newest|turned)"|nothing changed|Nothing changed', chosen[name])


FEW_OFFERED: Packages = LIBRARIES.packages
BAD: Seen = ("bad", "affected")
GOOD: Seen = ("good", "clear")


def line_of(ids: Sequence[str]) -> list[CellRow]:
    """Return the line of these cells, a day apart, each with the newest releases before it."""
    pins = {"jax": "0.4.8", "equinox": "0.11.0"}
    made = []
    for day, identifier in enumerate(ids):
        name, _, version = identifier.partition("-")
        pins[name] = version
        made.append(cell_row(identifier, packages=dict(pins), released_on=date(2024, 5, 1) + timedelta(day)))
    return made


def case(*needs: str) -> CaseRow:
    """Return a case without rules that needs these packages."""
    return PLAIN.issues[0].cases[0].model_copy(update={"needs": list(needs), "rules": []})


def told(seen: Mapping[str, Seen], *needs: str) -> list[tuple[str, str, str, str, bool, str]]:
    """Return the intervals of a case with these behaviours on these cells, by date."""
    found, _ = along(line_of([*seen]), seen, case(*needs), FEW_OFFERED)
    return [(each.package, each.behaviour, each.first, each.last, each.exact, each.came_with) for each in found]


def test_a_change_with_a_release_of_jax_is_exact() -> None:
    """A change at a release of jax is attributed to jax, and no library is named."""
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
    """Two differing neighbours are one turn, attributed to the moved package; undecided cells are skipped."""
    seen: dict[str, Seen] = {"jax-0.4.9": BAD, "equinox-0.11.2": None, "jax-0.4.10": BAD, "equinox-0.11.3": GOOD}

    _, turns = along(line_of([*seen]), seen, case("jax", "equinox"), FEW_OFFERED)

    assert [("jax-0.4.10", "equinox-0.11.3", "equinox", "run", "equinox 0.11.2 → 0.11.3")] == [
        (turn.before, turn.after, turn.package, turn.grounds, turn.blame) for turn in turns
    ]


ASK = {"question": "What if?", "along": "jax"}
HELD = "+equinox-0.11.2+diffrax-0.5.0"


def arm(**compared: str | None) -> Report:
    """Return a report of an arm along jax, with these comparisons, by version."""
    words = {f"jax-{version.replace('_', '.')}{HELD}": word for version, word in compared.items()}
    cells = [cell_row(name, asks=[ASK], declared_observed=word) for name, word in words.items()]
    issue = PLAIN.issues[0].model_copy(update={"row_zero": True, "cases": [case("jax")]})
    seen = [
        observation(cell=cell.id, detail="it broke" if bad else "", verdict="affected" if bad else "clear")
        for cell in cells
        if cell.declared_observed is not None
        for bad in [cell.declared_observed in ("latent", "guarded")]
    ]
    return EMPTY.model_copy(update={"cells": cells, "issues": [issue], "observations": seen})


def test_a_row_of_an_arm_is_told_in_ranges() -> None:
    """Cells with the same held packages are one row, in version order, with ranges and the first failure's detail."""
    (found,) = stacks(arm(**{"0_5_0": "latent", "0_4_9": "guarded", "0_4_10": "supported"}), FEW_OFFERED)

    assert ({"equinox": "0.11.2", "diffrax": "0.5.0"}, ">=0.4.10") == (found.holds, found.declared)
    assert [("guarded", "0.4.9", "it broke"), ("supported", "0.4.10", ""), ("latent", "0.5.0", "it broke")] == [
        (span.declared_observed, span.first, span.detail) for span in found.ranges
    ]


def test_metadata_that_agrees_is_left_alone() -> None:
    """A requirement is proposed only for tried stacks whose metadata disagrees with the runs."""
    agreeing, untried = arm(**{"0_4_9": "guarded", "0_4_10": "supported"}), arm(**{"0_4_10": None})
    latent = arm(**{"0_4_10": "supported", "0_5_0": "latent"})

    assert [0, 0, 1] == [
        len(found.amendments) for of in (agreeing, untried, latent) for found in stacks(of, FEW_OFFERED)
    ]


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
