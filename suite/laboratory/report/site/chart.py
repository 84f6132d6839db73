"""The charts of timings, as inline SVG that the page's style colours.

matplotlib would take three seconds for the forty charts of one machine, half of them for its import. Its output would
need parsing and restyling, because the page's security policy admits no inline style.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from laboratory.report.site.table import minor_of
from laboratory.report.site.timings import PHASES, Chart, Series, told
from laboratory.timings.quantities import quantity

# In points, the unit of the drawing. The margins have room for durations, releases and names.
WIDTH, HEIGHT = 336, 176
_LEFT, _TOP, _BOTTOM = 44, 10, 22
_FLOOR = HEIGHT - _BOTTOM
# The width of a letter in the style's size, and the gap beside a name.
_LETTER, _GAP = 4.9, 5.0
# The least distance between the names of lines.
_NAME_DISTANCE = 10.0
# A line with more points has no dots.
_MAX_DOTS = 24
# The least ratio of top to bottom, so that noise does not fill the chart.
_LEAST_RATIO = 3.0
# Above this ratio, only powers of ten are ticks.
_POWERS_RATIO = 50.0
# Stands for 0, which has no logarithm; below the resolution of any clock.
_NEAR_ZERO = 1e-12
COLOURS = len(PHASES)


class Plane:
    """The coordinates of the drawing: releases across, times in seconds down."""

    def __init__(self, chart: Chart, releases: Sequence[str]) -> None:
        values = [max(value, _NEAR_ZERO) for series in chart.series for value in series.values if value is not None]
        room = max(1.0, (_LEAST_RATIO * min(values) / max(values)) ** 0.5) * 1.25
        self.least, self.most = min(values) / room, max(values) * room
        self.far = max(values) >= _POWERS_RATIO * min(values)
        names = _LETTER * max(len(series.name) for series in chart.series)
        self.right = max(WIDTH / 2, WIDTH - names - 2 * _GAP)
        self._step = (self.right - _LEFT) / max(1, len(releases) - 1)

    def x(self, place: int) -> float:
        """Return the coordinate across, of the release at `place`."""
        return round(_LEFT + place * self._step, 1)

    def y(self, seconds: float) -> float:
        """Return the coordinate down, on a logarithmic scale, clipped to the drawing."""
        height = (math.log(max(seconds, _NEAR_ZERO)) - math.log(self.least)) / (
            math.log(self.most) - math.log(self.least)
        )
        return round(_FLOOR - min(1.0, max(0.0, height)) * (_FLOOR - _TOP), 1)


def drawn(chart: Chart, releases: Sequence[str]) -> Markup:
    """Return the chart: a line for each series, its band of noise, and an arrow at each confirmed change."""
    plane = Plane(chart, releases)
    inside = [*_scale(plane, chart.unit), *_axis(plane, releases)]
    for place, series in enumerate(chart.series):
        inside += _line(plane, series, _colour(series, place))
    inside += [*_arrows(plane, chart, releases), *_names(plane, chart.series)]
    spoken = "; ".join(told(series, releases, chart.unit) for series in chart.series)
    return Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        WIDTH, HEIGHT, f"{chart.title}. {spoken}", Markup("").join(inside)
    )


def minors(releases: Sequence[str]) -> list[tuple[int, str]]:
    """Return the minor releases of jax, each with the place of its first release."""
    found: dict[str, int] = {}
    for place, release in enumerate(releases):
        package, _, version = release.partition("-")
        if package == "jax":
            found.setdefault(minor_of(version), place)
    return [(place, minor) for minor, place in found.items()]


def _scale(plane: Plane, unit: str) -> Iterator[Markup]:
    """Yield the ticks of times or counts, each with a line across."""
    powers = range(math.floor(math.log10(plane.least)), math.ceil(math.log10(plane.most)) + 1)
    steps = (1,) if plane.far else (1, 2, 5)
    ticks = [step * 10.0**power for power in powers for step in steps]
    shown = [value for value in ticks if plane.least <= value <= plane.most]
    lines = "".join(f"M{_LEFT} {plane.y(value):g}H{plane.right:.0f}" for value in shown)
    yield Markup('<path class="grid" d="{}"/>').format(lines)
    for tick in shown:
        yield _text("soft", _LEFT - 4, plane.y(tick) + 3, "end", quantity(tick, unit))


def _axis(plane: Plane, releases: Sequence[str]) -> Iterator[Markup]:
    """Yield a tick for each release, longer at a minor release, and the names of minor releases that have room."""
    starts = dict(minors(releases))
    ticks = "".join(f"M{plane.x(place):g} {_FLOOR}v{6 if place in starts else 3}" for place in range(len(releases)))
    yield Markup('<path class="grid" d="{}"/>').format(ticks)
    free = 0.0
    for place, minor in starts.items():
        half = _LETTER * len(minor) / 2
        if plane.x(place) - half >= free:
            yield _text("soft", plane.x(place), HEIGHT - 5, "middle", minor)
            free = plane.x(place) + half + 2


def _colour(series: Series, place: int) -> str:
    """Return a CSS class: a phase has the same in every chart, and a variant has one by its place."""
    number = PHASES.index(series.name) if series.name in PHASES else place
    return f"s{number % COLOURS}"


def _line(plane: Plane, series: Series, colour: str) -> Iterator[Markup]:
    known = [(plane.x(place), value) for place, value in enumerate(series.values) if value is not None]
    if series.fence:
        # A band needs no more precision than whole points.
        edges = [*((x, value * (1 + series.fence)) for x, value in known)]
        edges += [(x, value / (1 + series.fence)) for x, value in reversed(known)]
        band = " ".join(f"{x:.0f} {plane.y(value):.0f}" for x, value in edges)
        yield Markup('<path class="{} band" d="M{}Z"/>').format(colour, band)
    points = [(x, plane.y(value)) for x, value in known]
    path = " ".join(f"{x:g} {y:g}" for x, y in points)
    yield Markup('<path class="{}{}" d="M{}"/>').format(colour, " device" if series.device else "", path)
    for x, y in points if len(points) <= _MAX_DOTS else ():
        yield Markup('<circle class="{}" cx="{}" cy="{}" r="2"/>').format(colour, f"{x:g}", f"{y:g}")


def _arrows(plane: Plane, chart: Chart, releases: Sequence[str]) -> Iterator[Markup]:
    of_key = {series.key: dict(zip(releases, series.values, strict=True)) for series in chart.series}
    for shift in chart.shifts:
        value = of_key[shift.key].get(shift.other)
        if value is not None:
            mark, away = ("▲", -3) if shift.judged.outcome == "regressed" else ("▼", 10)
            yield _text("mark", plane.x(releases.index(shift.other)), plane.y(value) + away, "middle", mark)


def _names(plane: Plane, series: Sequence[Series]) -> Iterator[Markup]:
    """Yield the name of each line at its end, without overlaps."""
    ends = [plane.y(next(value for value in reversed(line.values) if value is not None)) for line in series]
    downward = sorted(range(len(series)), key=ends.__getitem__)
    heights: list[float] = []
    for number, place in enumerate(downward):
        lowest = _FLOOR - (len(series) - 1 - number) * _NAME_DISTANCE
        highest = heights[-1] + _NAME_DISTANCE if heights else float(_TOP)
        heights.append(max(highest, min(ends[place], lowest)))
    for place, height in zip(downward, heights, strict=True):
        yield _text(_colour(series[place], place), plane.right + _GAP, height + 3, "start", series[place].name)


def _text(style: str, x: float, y: float, anchor: str, text: str) -> Markup:
    return Markup('<text class="{}" x="{}" y="{}" text-anchor="{}">{}</text>').format(
        style, f"{x:g}", f"{y:g}", anchor, text
    )
