"""A catalogue of the size that is meant: a hundred issues with three hundred cases, over all cells of the tree."""

from __future__ import annotations

from itertools import cycle, islice

from suite.files import REPORTS, read
from suite.report import compact
from suite.report.derive import coverage
from suite.report.model import CaseRow, IssueRow, Observation, Report
from suite.report.site.build import site

ISSUES = 100


def grown(of: Report) -> Report:
    """`of` with its cases over and over, in as many issues as are meant: of each three, one needs a library.

    So all texts, costs and verdicts are as a run gives them, and each case is in the cells that its needs bring it to.
    """
    cases = [(issue, case) for issue in of.issues if not issue.row_zero for case in issue.cases]
    with_library = cycle(each for each in cases if each[1].needs != ["jax"])
    alone = cycle(each for each in cases if each[1].needs == ["jax"])
    issues: list[IssueRow] = []
    named: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for number in range(ISSUES):
        chosen = [*islice(alone, 2), next(with_library)]
        name = f"{number:03}{chosen[0][0].id[3:]}"
        rows: list[CaseRow] = []
        for place, (issue, case) in enumerate(chosen):
            rows.append(case.model_copy(update={"id": f"{place}{case.id[1:]}"}))
            named.setdefault((issue.id, case.id), []).append((name, rows[-1].id))
        issues.append(chosen[0][0].model_copy(update={"id": name, "cases": rows, "row_zero": False}))
    observations: list[Observation] = []
    for each in of.observations:
        for issue_id, case_id in named.get((each.issue, each.case), []):
            observations.append(each.model_copy(update={"issue": issue_id, "case": case_id}))
    counted = coverage(observations)
    return of.model_copy(update={"issues": issues, "observations": observations, "coverage": counted})


def test_a_large_report_is_small() -> None:
    """compat.json has no more than 190 bytes for each observation, all else that is in it among them."""
    large = grown(read(Report, REPORTS / "published" / "compat.json"))

    assert 3 * ISSUES == sum(len(issue.cases) for issue in large.issues)
    assert len(compact.text(large).encode()) < 190 * len(large.observations)


def test_no_page_is_large() -> None:
    """No page has more than 250 kB, be it of the issues there are or of a hundred."""
    published = read(Report, REPORTS / "published" / "compat.json")

    for of in (published, grown(published)):
        pages = site(of, ())
        assert len(pages) > len(of.issues)
        assert {} == {path: size for path, text in pages.items() if (size := len(text.encode())) > 250_000}
