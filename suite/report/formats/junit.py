"""junit.xml: a test suite for each cell and a test case for each observation, for what reads such things."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC
from typing import Literal
from xml.etree.ElementTree import Element

from suite.judge.table import PROPERTIES
from suite.report.formats.markup import element, xml
from suite.report.model import CellRow, Observation, Report
from suite.report.summary import is_unexpected, replay

Outcome = Literal["failure", "error", "skipped"]


def junit(report: Report) -> str:
    """The report as JUnit XML: what is as expected passes, whatever its verdict is."""
    seen: dict[str, list[Observation]] = {cell.id: [] for cell in report.cells}
    for each in report.observations:
        seen.setdefault(each.cell, []).append(each)
    root = element("testsuites", {"name": "jax-stack-compat", **_counts(report.observations)})
    cells = {cell.id: cell for cell in report.cells}
    for identifier, observations in seen.items():
        root.append(_suite(report, identifier, cells.get(identifier), observations))
    return xml(root)


def outcome(each: Observation) -> Outcome | None:
    """What an observation is as a test; None where it passes."""
    if is_unexpected(each):
        return "failure"
    return PROPERTIES[each.verdict].junit


def _suite(report: Report, identifier: str, cell: CellRow | None, observations: Iterable[Observation]) -> Element:
    told = list(observations)
    moment = report.generated_at.astimezone(UTC) if report.generated_at.tzinfo else report.generated_at
    # A report says when it was made, not when each cell ran.
    made = element("testsuite", {"name": identifier, **_counts(told), "timestamp": f"{moment:%Y-%m-%dT%H:%M:%S}"})
    if cell is not None:
        properties = element("properties")
        for name, version in {"python": cell.python, **cell.packages}.items():
            properties.append(element("property", {"name": name, "value": version}))
        made.append(properties)
    for each in told:
        made.append(_case(each))
    return made


def _case(each: Observation) -> Element:
    of = {"classname": each.cell, "name": f"{each.issue}/{each.case}", "time": f"{each.seconds:.3f}"}
    made = element("testcase", of)
    came = outcome(each)
    shown = each.behaviour or each.verdict
    if came == "failure":
        workaround = "" if each.workaround_expected else f", its workaround {each.workaround}"
        message = f"{shown} ({each.verdict}), expected {each.expected or 'nothing'}{workaround}"
        text = f"{each.detail}\n{replay(each)}"
        made.append(element("failure", {"type": each.reason or each.agreement, "message": message}, text))
    elif came == "error":
        made.append(element("error", {"type": each.reason or each.verdict, "message": each.detail}, replay(each)))
    elif came == "skipped":
        made.append(element("skipped", {"message": f"{each.verdict} [{each.reason}]: {each.detail}"}))
    return made


def _counts(observations: Iterable[Observation]) -> dict[str, str]:
    told = list(observations)
    outcomes = [outcome(each) for each in told]
    return {
        "tests": str(len(told)),
        "failures": str(outcomes.count("failure")),
        "errors": str(outcomes.count("error")),
        "skipped": str(outcomes.count("skipped")),
        "time": f"{sum(each.seconds for each in told):.3f}",
    }
