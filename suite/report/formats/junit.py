"""junit.xml: a test suite for each cell and a test case for each observation, for what reads such things."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from xml.etree.ElementTree import Element

from suite.judge.table import PROPERTIES
from suite.report.markup import element, xml
from suite.report.model import CellRow, Observation, Report
from suite.report.summary import is_unexpected, replay


def junit(report: Report) -> str:
    """The report as JUnit XML: what is as expected passes, whatever its verdict is."""
    seen: dict[str, list[Observation]] = {cell.id: [] for cell in report.cells}
    for each in report.observations:
        seen[each.cell].append(each)
    moment = report.generated_at.astimezone(UTC) if report.generated_at.tzinfo else report.generated_at
    # A report says when it was made, not when each cell ran.
    suites = [_suite(cell, seen[cell.id], f"{moment:%Y-%m-%dT%H:%M:%S}") for cell in report.cells]
    return xml(element("testsuites", *suites, name="jax-stack-compat", **_counts(report.observations)))


def _suite(cell: CellRow, told: Sequence[Observation], made_at: str) -> Element:
    stack = {"python": cell.python, **cell.packages}
    properties = [element("property", name=name, value=version) for name, version in stack.items()]
    inside = element("properties", *properties), *map(_case, told)
    return element("testsuite", *inside, name=cell.id, **_counts(told), timestamp=made_at)


def _case(each: Observation) -> Element:
    inside = []
    match _outcome(each):
        case "failure":
            workaround = "" if each.workaround_expected else f", its workaround {each.workaround}"
            shown = f"{each.behaviour or each.verdict} ({each.verdict})"
            message = f"{shown}, expected {each.expected or 'nothing'}{workaround}"
            text, kind = f"{each.detail}\n{replay(each)}", each.reason or each.agreement
            inside.append(element("failure", text, type=kind, message=message))
        case "error":
            inside.append(element("error", replay(each), type=each.reason or each.verdict, message=each.detail))
        case "skipped":
            inside.append(element("skipped", message=f"{each.verdict} [{each.reason}]: {each.detail}"))
    name, seconds = f"{each.issue}/{each.case}", f"{each.seconds:.3f}"
    return element("testcase", *inside, classname=each.cell, name=name, time=seconds)


def _outcome(each: Observation) -> str:
    """What an observation is as a test; nothing where it passes."""
    return "failure" if is_unexpected(each) else PROPERTIES[each.verdict].junit or ""


def _counts(told: Sequence[Observation]) -> dict[str, str]:
    outcomes = list(map(_outcome, told))
    return {
        "tests": str(len(told)),
        "failures": str(outcomes.count("failure")),
        "errors": str(outcomes.count("error")),
        "skipped": str(outcomes.count("skipped")),
        "time": f"{sum(each.seconds for each in told):.3f}",
    }
