"""A picture of one case along the releases of jax, for the README."""

from __future__ import annotations

from html import escape
from itertools import groupby

from packaging.version import Version

from jax_stack_compat.base.printable import printable
from jax_stack_compat.judge.verdict_table import GOOD, PROPERTIES, Verdict
from laboratory.report.model import Report

_WIDTH, _EDGE = 860, 10
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
    title = escape(printable(next(row.title for row in report.issues if row.id == issue)), quote=False)
    described = escape(printable(sentence(report, issue, case)), quote=False)
    shown = seen(report, issue, case)
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} 104" role="img">',
        f" <title>{title}</title>",
        f" <desc>{described}</desc>",
        f" <style>{_style()}</style>",
        f' <text x="{_EDGE}" y="24" class="title">{title}</text>',
        f' <text x="{_WIDTH - _EDGE}" y="24" class="end">{len(shown)} releases of jax</text>',
    ]
    place = (_WIDTH - 2 * _EDGE) / len(shown)
    x = float(_EDGE)
    for verdict, first, last, count in _spans(shown):
        width, known = count * place, PROPERTIES[verdict]
        css = known.css if known.css in _COLOURS else "other"
        middle = f"{x + width / 2:.1f}"
        lines += [
            f' <rect x="{x + 1:.1f}" y="40" width="{width - 2:.1f}" height="34" rx="3" class="{css}" />',
            f' <text x="{middle}" y="62" class="on">{known.glyph} {verdict}</text>',
            f' <text x="{middle}" y="94" class="under">{first} to {last}</text>',
        ]
        x += width
    return "\n".join([*lines, "</svg>", ""])


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
