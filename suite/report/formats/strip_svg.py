"""A picture of one case along the releases of jax, for the README."""

from __future__ import annotations

from itertools import groupby
from xml.etree.ElementTree import Element

from packaging.version import Version

from suite.judge.table import GOOD, PROPERTIES, Verdict
from suite.report.markup import element, xml
from suite.report.model import Report

_WIDTH, _BAR, _EDGE = 860, 34, 10
# For light pages, then for dark ones.
_COLOURS = {"clear": ("#1a7f4b", "#3fb97a"), "bad": ("#c4314b", "#ff7a90"), "other": ("#6b7280", "#9aa3af")}


def seen(report: Report, issue: str, case: str) -> list[tuple[str, Verdict]]:
    """Return a case's verdict on each release of jax on the line, in version order."""
    cells = report.jax_releases
    found = [
        (cells[row.cell], row.verdict)
        for row in report.observations
        if (row.issue, row.case) == (issue, case) and row.cell in cells and row.verdict != "unavailable"
    ]
    return sorted(found, key=lambda each: Version(each[0]))


def sentence(report: Report, issue: str, case: str) -> str:
    """Return the picture in words: `jnp.pad …: affected on jax 0.4.36 to 0.5.2`."""
    title = next(row.title for row in report.issues if row.id == issue)
    bad = [span for span in _spans(seen(report, issue, case)) if span[0] not in GOOD]
    parts = [f"{verdict} on jax {first} to {last}" for verdict, first, last, _ in bad]
    return f"{title}: {', '.join(parts)}"


def strip_svg(report: Report, issue: str, case: str) -> str:
    """Return the picture as SVG for light and dark pages, with the sentence as its description."""
    title = next(row.title for row in report.issues if row.id == issue)
    shown = seen(report, issue, case)
    place = (_WIDTH - 2 * _EDGE) / len(shown)
    parts: list[Element | str] = []
    x = float(_EDGE)
    for verdict, first, last, count in _spans(shown):
        width, css = count * place, PROPERTIES[verdict].css
        bar = element("rect", x=f"{x + 1:.1f}", y="40", width=f"{width - 2:.1f}", height=str(_BAR), rx="3")
        bar.set("class", css if css in _COLOURS else "other")
        glyph = element("text", f"{PROPERTIES[verdict].glyph} {verdict}", x=f"{x + width / 2:.1f}", y="62")
        glyph.set("class", "on")
        span = element("text", f"{first} to {last}", x=f"{x + width / 2:.1f}", y="94")
        span.set("class", "under")
        parts += [bar, glyph, span]
        x += width
    heading = element("text", title, x=str(_EDGE), y="24")
    heading.set("class", "title")
    how_many = element("text", f"{len(shown)} releases of jax", x=str(_WIDTH - _EDGE), y="24")
    how_many.set("class", "end")
    return xml(
        element(
            "svg",
            element("title", title),
            element("desc", sentence(report, issue, case)),
            element("style", _style()),
            heading,
            how_many,
            *parts,
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {_WIDTH} 104",
            role="img",
        )
    )


def _spans(shown: list[tuple[str, Verdict]]) -> list[tuple[Verdict, str, str, int]]:
    found = []
    for verdict, of in groupby(shown, key=lambda each: each[1]):
        versions = [version for version, _ in of]
        found.append((verdict, versions[0], versions[-1], len(versions)))
    return found


def _style() -> str:
    font = "font: 14px ui-sans-serif, system-ui, sans-serif"
    light = " ".join(f".{name} {{ fill: {colours[0]} }}" for name, colours in _COLOURS.items())
    dark = " ".join(f".{name} {{ fill: {colours[1]} }}" for name, colours in _COLOURS.items())
    return (
        f"text {{ {font}; fill: #1f2328 }} .title {{ font-size: 16px; font-weight: 600 }} "
        f".on {{ fill: #fff; text-anchor: middle; font-weight: 600 }} .under {{ text-anchor: middle }} "
        f".end {{ text-anchor: end }} {light} "
        f"@media (prefers-color-scheme: dark) {{ text {{ fill: #e6edf3 }} .on {{ fill: #10151b }} {dark} }}"
    )
