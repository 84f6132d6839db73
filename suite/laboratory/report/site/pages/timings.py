"""The page timings.html, confirmed changes on each machine; and a page of charts for each module of benchmarks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from laboratory.report.site.chart import drawn
from laboratory.report.site.facts import Facts
from laboratory.report.site.page import Page
from laboratory.report.site.timings import Section, TimedMachine

_NO_PATH = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class Overview:
    """The view of timings.html: the addresses of the charts.

    `pages` has addresses by machine and section, `charts` by machine and chart, `keys` by machine and asv's name.
    """

    pages: Mapping[tuple[str, str], str]
    charts: Mapping[tuple[str, str], str]
    keys: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Charts:
    """The view of a page of charts; `drawings` are by the chart's id."""

    machine: TimedMachine
    section: Section
    drawings: Mapping[str, Markup]


def pages(facts: Facts) -> Iterator[Page]:
    """Yield the page of all timings, and those of the charts."""
    found = paths(facts.timed)
    title = "Timings along the releases"
    keys = {machine.name: keyed(machine, charts(facts.timed)) for machine in facts.timed}
    yield Page("timings.html", "timings.html.jinja", title, Overview(found, charts(facts.timed), keys))
    for machine in facts.timed:
        for section in machine.sections:
            drawings = {chart.id: drawn(chart, machine.releases) for chart in section.charts}
            view = Charts(machine, section, drawings)
            path = found[machine.name, section.id]
            yield Page(path, "charts.html.jinja", f"{section.title} On {machine.name}.", view)


def paths(timed: Sequence[TimedMachine]) -> dict[tuple[str, str], str]:
    """Return the path of each section's charts, by machine and section; a machine may have any name."""
    found: dict[tuple[str, str], str] = {}
    for machine in timed:
        for section in machine.sections:
            name = _NO_PATH.sub("-", f"{machine.name}-{section.id.removeprefix('timings-')}".lower()).strip("-")
            while f"timings/{name}.html" in found.values():
                name += "-2"
            found[machine.name, section.id] = f"timings/{name}.html"
    return found


def charts(timed: Sequence[TimedMachine]) -> dict[tuple[str, str], str]:
    """Return the address of each chart, by machine and chart."""
    found = paths(timed)
    return {
        (machine.name, chart.id): f"{found[machine.name, section.id]}#{chart.id}"
        for machine in timed
        for section in machine.sections
        for chart in section.charts
    }


def keyed(machine: TimedMachine, where: Mapping[tuple[str, str], str]) -> dict[str, str]:
    """Return the address of each benchmark's chart, by asv's name."""
    return {
        series.key: where[machine.name, chart.id]
        for section in machine.sections
        for chart in section.charts
        for series in chart.series
    }
