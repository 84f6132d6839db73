"""A chart of timings → SVG that stands in the page: drawn by matplotlib, coloured by the page's own style.

The page's security policy admits no style attribute, and its themes are two: of what matplotlib writes, the geometry
and the text stay, and a class stands for each colour.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from suite.report.site.timings import PHASES, Chart, Series, duration, told

# In points, which are the units of the drawing; the margins have room for durations, releases and names.
WIDTH, HEIGHT = 336, 176
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 104, 8, 20
_SIZE = 9
# Names of lines, and of releases, nearer than this would lie on one another.
_APART, _ABREAST = 10.0, 34.0
# So many points can be told apart.
_DOTTED = 24
# Where nothing changes, a tenth would fill the chart: it shows no less than this factor.
_LEAST = 3.0
# Over more than this, powers of ten are ticks enough.
_FAR = 50.0
COLOURS = len(PHASES)
# What matplotlib is told to draw in, and the class that it becomes; black it does not say.
_CLASSES = {"#0000a0": "grid", "#0000b0": "soft", "#0000c0": "mark"}
_CLASSES |= {f"#0000{place + 1:02x}": f"s{place}" for place in range(COLOURS)}
_INKS = {name: ink for ink, name in _CLASSES.items()}
_SETTINGS: dict[Any, Any] = {
    **{"svg.fonttype": "none", "path.simplify": False, "text.parse_math": False, "font.size": _SIZE},
    **dict.fromkeys(("xtick.color", "ytick.color"), _INKS["soft"]),
    **{"grid.color": _INKS["grid"], "grid.linewidth": 1, "axes.grid": True, "axes.grid.axis": "y"},
    **dict.fromkeys(("xtick.bottom", "ytick.left", "ytick.minor.visible"), False),
    **{f"axes.spines.{side}": False for side in ("left", "right", "top", "bottom")},
}


def drawn(charts: Sequence[Chart], releases: Sequence[str]) -> dict[str, Markup]:
    """Id → chart: a line for each series, its band of noise, and an arrow where a change was confirmed."""
    with rc_context(_SETTINGS):
        figure = Figure(figsize=(WIDTH / 72, HEIGHT / 72), dpi=72, facecolor="none")
        frame = (_LEFT / WIDTH, _BOTTOM / HEIGHT, 1 - (_LEFT + _RIGHT) / WIDTH, 1 - (_TOP + _BOTTOM) / HEIGHT)
        # One for all of them: to make its ticks takes longer than to draw a chart.
        axes = figure.add_axes(frame, facecolor="none", yscale="log", autoscale_on=False)
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: duration(value)))
        axes.set_xlim(-0.3, len(releases) - 0.7)
        every = math.ceil(len(releases) * _ABREAST / (WIDTH - _LEFT - _RIGHT))
        shown = range(0, len(releases), every)
        axes.set_xticks(shown, [releases[place].removeprefix("jax-") for place in shown])
        return {chart.id: _drawn(chart, releases, figure, axes) for chart in charts}


def _drawn(chart: Chart, releases: Sequence[str], figure: Figure, axes: Axes) -> Markup:
    for artist in (*axes.lines, *axes.patches, *axes.texts):
        artist.remove()
    values = [value for each in chart.series for value in each.values if value is not None]
    room = max(1.0, (_LEAST * min(values) / max(values)) ** 0.5) * 1.25
    axes.set_ylim(min(values) / room, max(values) * room)
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if max(values) < _FAR * min(values) else (1.0,)))
    for place, series in enumerate(chart.series):
        _line(axes, series, _ink(series, place))
    _arrows(axes, chart, releases)
    _names(axes, chart.series)
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    spoken = "; ".join(told(series, releases) for series in chart.series)
    inside = Markup("").join(_restyled(ElementTree.fromstring(buffer.getvalue())))
    return Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        WIDTH, HEIGHT, f"{chart.title}. {spoken}", inside
    )


def _ink(series: Series, place: int) -> str:
    """The colour of a phase, the same in every chart; of a variant, that of its place."""
    number = PHASES.index(series.name) if series.name in PHASES else place
    return _INKS[f"s{number % COLOURS}"]


def _line(axes: Axes, series: Series, ink: str) -> None:
    known = [(place, value) for place, value in enumerate(series.values) if value is not None]
    places, values = zip(*known, strict=True)
    if series.fence:
        edge = [value * (1 + series.fence) for value in values] + [value / (1 + series.fence) for value in values[::-1]]
        axes.fill([*places, *places[::-1]], edge, color=ink, linewidth=0)
    dots = "o" if len(known) <= _DOTTED else None
    axes.plot(places, values, color=ink, linestyle="--" if series.device else "-", marker=dots)


def _arrows(axes: Axes, chart: Chart, releases: Sequence[str]) -> None:
    of_key = {each.key: dict(zip(releases, each.values, strict=True)) for each in chart.series}
    settled: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "color": _INKS["mark"]}
    for shift in chart.shifts:
        value = of_key[shift.key].get(shift.other)
        if value is not None:
            mark, away, edge = ("▲", 3, "bottom") if shift.judged.outcome == "regressed" else ("▼", -3, "top")
            axes.annotate(mark, (releases.index(shift.other), value), xytext=(0, away), va=edge, **settled)


def _names(axes: Axes, series: Sequence[Series]) -> None:
    """The name of each line at its end, none over another."""
    apart = _APART / (HEIGHT - _TOP - _BOTTOM)
    settled: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "center"}
    within = axes.transData - axes.transAxes
    ends = [next(value for value in reversed(each.values) if value is not None) for each in series]
    heights = [float(within.transform((0, end))[1]) for end in ends]
    lowest = 0.0
    for number, place in enumerate(sorted(range(len(series)), key=heights.__getitem__)):
        above = len(series) - 1 - number
        at = max(lowest, min(heights[place], 1 - above * apart))
        axes.annotate(series[place].name, (1, at), xytext=(5, 0), color=_ink(series[place], place), **settled)
        lowest = at + apart


def _restyled(root: ElementTree.Element) -> Iterator[Markup]:
    """What is to be seen of matplotlib's drawing, in order, each with a class for its colour."""
    for element in root.iter():
        style = dict(re.findall(r"([\w-]+): ([^;]+)", element.get("style", "")))
        name = next((_CLASSES[each] for each in (style.get("stroke"), style.get("fill")) if each in _CLASSES), None)
        if name is None:
            continue
        at = [_rounded(element.get(axis, "")) for axis in "xy"]
        match element.tag.rpartition("}")[2]:
            case "path" if element.get("id") is None:
                band = style.get("stroke", "none") == "none"
                # A band is a blur, and has twice the points; after a move, pairs of numbers are lines by themselves.
                path = _rounded(element.get("d", ""), 0 if band else 1).replace(" L ", " ")
                name += " band" if band else " device" if "stroke-dasharray" in style else ""
                yield Markup('<path class="{}" d="{}"/>').format(name, path)
            case "use":
                yield Markup('<circle class="{}" cx="{}" cy="{}" r="2"/>').format(name, *at)
            case "text":
                anchor, text = style.get("text-anchor", "start"), element.text or ""
                yield Markup('<text class="{}" x="{}" y="{}" text-anchor="{}">{}</text>').format(
                    name, *at, anchor, text
                )


def _rounded(numbers: str, digits: int = 1) -> str:
    """A tenth of a point is all that can be seen."""
    found = re.sub(r"-?\d+(?:\.\d+)?", lambda each: f"{float(each[0]):.{digits}f}".removesuffix(".0"), numbers)
    return " ".join(found.split())
