"""Timings on the page: charts, sentences, and results that are left out."""

import math
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from laboratory.report.site import timings
from laboratory.report.site.build import site
from laboratory.report.site.chart import drawn
from laboratory.report.site.pages.timings import paths
from laboratory.report.site.timings import (
    Asynchronous,
    Chart,
    Series,
    Shift,
    TimedMachine,
    asynchronous,
    machines,
    spoken,
    told,
    what,
)
from laboratory.timings import release_line
from laboratory.timings import results as measured
from laboratory.timings.counts import Counted, Counts, save
from laboratory.timings.quantities import duration
from laboratory.timings.results import ResultRow
from tests.report.test_report import EMPTY
from tests.timings.conftest import Known, put, put_results

MACHINE = "cpu-tiny"
OLD, MIDDLE, NEW = (cell.id for cell in release_line.cells() if cell.id in ("jax-0.4.30", "jax-0.6.0", "jax-0.9.2"))
NASTY = "<script>alert(1)</script>"
PRODUCT = "Four products in a row of two square matrices of float32"
SCAN = "A scan of 100 steps of tanh over a carry of 8 float32, that stacks a sum"


KNOWN: Known = {
    "basics.Counts.track_equations": ("track", "equations", [["'scan'"]]),
    "basics.Matmul.time_dispatch": ("time", "seconds", [["64", "512"]]),
    "basics.Matmul.time_execute": ("time", "seconds", [["64", "512"]]),
    "basics.Scan.time_execute": ("time", "seconds", []),
    "basics.Scan.time_trace": ("time", "seconds", []),
}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> TimedMachine:
    """Return results, noise and two comparisons on three releases, for a scan, a product in two sizes, and a count."""
    commits = release_line.hashes(release_line.commits())
    folders = results, noise, compared = [tmp_path_factory.mktemp(name) for name in ("results", "noise", "compared")]
    hardware = {"cpu": f"a processor {NASTY}", "num_cpu": "2", "ram": str(2**34), "os": "Linux", "arch": "x86_64"}
    put(results / MACHINE / "machine.json", hardware)
    for release, trace, dispatch, equations in ((OLD, 1e-3, 4e-3, 4), (MIDDLE, 2e-3, 1e-4, 4), (NEW, None, 1e-4, 6)):
        values = [[equations], [1e-5, dispatch], [2e-5, 5e-3], [math.nan], [trace]]
        rows = {name: (of, 0.1) for name, of in zip(KNOWN, values, strict=True)}
        put_results(results / MACHINE, KNOWN, commits[release], rows)
    worth = {"false_positives": 0.01, "detectable": 0.2}
    fences = {"basics.Scan.time_trace": {"fence": 0.08, "version": "1", **worth}}
    about = {"schema_version": 1, "machine": MACHINE}
    put(noise / f"{MACHINE}.json", {**about, "cell": NEW, "processes": 16, **worth, "benchmarks": fences})
    judged = {"reason": "", "base": 1e-3, "other": 2e-3, "change": 1.0, "limit": 0.1, "version": "1"}
    benchmarks = {
        "basics.Scan.time_trace": {**judged, "outcome": "regressed"},
        "basics.Scan.time_execute": {**judged, "outcome": "insufficient"},
    }
    for base, other, of in ((OLD, MIDDLE, [commits[OLD], commits[MIDDLE]]), (MIDDLE, NEW, ["0" * 40, "1" * 40])):
        which = {"base": base, "other": other, "commits": of, "processes": 8, "benchmarks": benchmarks}
        put(compared / MACHINE / f"{base}..{other}.json", {**about, **which})
    (found,) = machines(*folders)
    return found


def test_a_workload_is_drawn_by_phase_and_a_variant_by_what_varies(machine: TimedMachine) -> None:
    """A workload has one chart with a line for each phase; a workload with sizes has a chart for each phase."""
    (section,) = machine.sections
    assert [
        (f"{PRODUCT}, dispatch", "basics.Matmul", ["64", "512"]),
        (f"{PRODUCT}, execute", "basics.Matmul", ["64", "512"]),
        (SCAN, "basics.Scan", ["trace"]),
    ] == [(chart.title, chart.workload, [series.name for series in chart.series]) for chart in section.charts]
    assert (OLD, MIDDLE, NEW) == machine.releases
    (trace,) = section.charts[2].series
    assert ((1e-3, 2e-3, None), frozenset({2}), 0.08, False) == (trace.values, trace.failed, trace.fence, trace.device)
    assert [False, True] == [section.charts[place].series[0].device for place in (0, 1)]
    assert "64 shows the dispatch, and 512 takes milliseconds." == section.charts[0].rest
    assert "" == section.charts[2].rest


def test_only_what_a_comparison_of_these_locks_confirmed_is_marked(machine: TimedMachine) -> None:
    """A mark needs a confirmed change, judged on these locks."""
    assert [(f"{SCAN}, trace", OLD, MIDDLE)] == [(each.name, each.base, each.other) for each in machine.shifts]
    assert machine.shifts == machine.sections[0].charts[2].shifts
    assert 2 == machine.judged


def test_it_is_told_where_something_turns(machine: TimedMachine) -> None:
    """The page has the releases at which a count changes, and the two between which dispatch became asynchronous."""
    assert [("basics, scan, equations", ((OLD, 4), (NEW, 6)))] == [(each.key, each.turns) for each in machine.counts]
    assert Asynchronous(OLD, MIDDLE) == machine.asynchronous


@pytest.mark.parametrize("returns", [(True, True), (True, False), (False, False), (False, True, False), ()])
def test_measurements_that_do_not_say_so_are_not_made_to(returns: tuple[bool, ...]) -> None:
    """If there is no such change, or several, no release is named."""
    rows = {
        f"jax-0.{place}": {
            "basics.Matmul.time_dispatch(512)": ResultRow("measured", "1", False, least=0.1 if early else 1.0),
            "basics.Matmul.time_execute(512)": ResultRow("measured", "1", False, least=1.0),
        }
        for place, early in enumerate(returns)
    }

    assert None is asynchronous(rows)


def chart(*series: Series, shifts: tuple[Shift, ...] = (), title: str = "A") -> Chart:
    """A chart of these lines."""
    return Chart("a", title, "", series, shifts)


def line(name: str, *values: float | None, fence: float | None = None, key: str = "m.A.time_x") -> Series:
    """A line of a chart."""
    return Series(name, key, values, frozenset(), fence)


def test_a_chart_is_in_the_pages_own_style() -> None:
    """A chart has no colour, style, id or reference, which the page's policy forbids."""
    trace = line("trace", 1e-3, None, 3e-3, fence=0.1, key="m.A.time_trace")
    execute = line("execute", 1e-5, 1e-5, 1e-5, key="m.A.time_execute")
    judged = measured.JudgedChange(outcome="regressed", reason="", base=1, other=2, change=1, limit=0.1, version="1")
    shift = Shift("m.A.time_trace", "A trace", "seconds", "jax-0.4.1", "jax-0.6.0", judged)

    svg = drawn(chart(trace, execute, shifts=(shift,), title=f"A {NASTY}"), ["jax-0.4.1", "diffrax-0.6.0", "jax-0.6.0"])

    root = ElementTree.fromstring(svg)
    names = {name for element in root.iter() for name in element.attrib}
    assert {"viewBox", "role", "aria-label", "class", "d", "x", "y", "cx", "cy", "r", "text-anchor"} == names
    assert {"svg", "path", "circle", "text"} == {element.tag for element in root.iter()}
    classes = [element.get("class") for element in root.iter() if element.tag == "path"]
    assert {"grid", "s0 band", "s0", "s7 device"} == set(classes)
    assert {"0.4", "0.6", "trace", "execute", "▲", "1 ms", "10 µs"} <= {each.text for each in root.iter("text")}
    spoken_of = root.get("aria-label") or ""
    assert f"A {NASTY}. trace: 1 ms on jax-0.4.1, 3 ms on jax-0.6.0; least 1 ms on jax-0.4.1, most 3 ms" in spoken_of


def test_a_line_lies_where_its_times_do() -> None:
    """The time axis is logarithmic, and releases are equally spaced."""
    svg = drawn(chart(line("execute", 1e-5, 1e-4, 1e-3)), ["jax-0.4.1", "jax-0.4.2", "jax-0.4.3"])

    (points,) = re.findall(r'<path class="s7" d="M([^"]+)"', svg)
    (x0, y0), (x1, y1), (x2, y2) = zip(*[map(float, points.split())] * 2, strict=True)
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2)
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.2)
    assert y0 - y1 > 20


def test_the_page_says_what_was_confirmed_and_what_it_rests_on(machine: TimedMachine) -> None:
    """Changes are listed with their workloads and link to their charts; the undetectable slow-down is stated."""
    files = site(EMPTY, (machine,))
    page = files["timings.html"]

    assert NASTY not in page
    assert "a processor &lt;script&gt;" in page
    told_of = " ".join(re.sub(r"<[^>]+>", "", page).split())
    assert f"From {MIDDLE} on, a call returns before its result is ready; up to {OLD}" in told_of
    assert "one first measurement in 100 looks like a change; a second measurement then decides" in told_of
    assert "Half of the benchmarks cannot show a slow-down smaller than 20%." in told_of
    assert "regressed +100%" in told_of
    assert (
        f'<th scope="row">{SCAN}, trace <a class="soft" href="timings/cpu-tiny-basics.html#timing-basics.Scan">' in page
    )
    assert 'id="timing-basics.Scan"' in files["timings/cpu-tiny-basics.html"]


def test_the_page_says_the_numbers_behind_a_chart(machine: TimedMachine) -> None:
    """Each value is also in a table, and failures are named."""
    page = site(EMPTY, (machine,))["timings/cpu-tiny-basics.html"]

    assert f'<tr><th scope="row">{OLD}<td>1 ms\n' in page
    assert f'<tr><th scope="row">{NEW}<td>failed\n' in page
    assert "a processor &lt;script&gt;" in page


def test_what_was_counted_is_drawn_and_its_changes_are_named(tmp_path: Path) -> None:
    """Counts of calls have a chart in their own unit; a change has its releases and its exact size."""
    commits = release_line.hashes(release_line.commits())
    folders = results, _, _, counted = [tmp_path / name for name in ("results", "noise", "compared", "counts")]
    put(results / MACHINE / "machine.json", {"cpu": "a processor", "num_cpu": "2", "ram": "0"})
    found = Counts(machine=MACHINE)
    for release, calls in ((OLD, 3000.0), (MIDDLE, 3001.0), (NEW, 3361.0)):
        put_results(results / MACHINE, KNOWN, commits[release], {"basics.Scan.time_execute": ([1e-3], 0.1)})
        found = found.plus(release, "lock", {"basics.Scan.time_trace": Counted(version="1", calls=calls)})
    save(found, (), counted)

    (made,) = machines(*folders)

    assert [("calls", (3000.0, 3001.0, 3361.0))] == [
        (chart.unit, series.values) for chart in made.sections[-1].charts for series in chart.series
    ]
    files = site(EMPTY, (made,))
    assert f"{NEW}</span>, after" in files["timings.html"]
    assert f"{SCAN}, trace: 12.0% more calls, 3,001 before, 3,361 after" in files["timings.html"]
    assert "<td>3.36 k" in files[paths((made,))[MACHINE, "timings-calls"]]


def test_every_machine_has_pages_of_its_own(machine: TimedMachine) -> None:
    """Pages of machines with similar or odd names stay in their folder, each under its own name."""
    odd = replace(machine, name="../Cpu tiny")

    assert ["timings/cpu-tiny-basics.html", "timings/cpu-tiny-basics-2.html"] == list(paths((odd, machine)).values())


def test_every_machine_with_published_results_is_drawn() -> None:
    """Each machine under benchmarks/results is read and has measurements."""
    found = machines(measured.RESULTS, measured.NOISE, measured.COMPARED)

    assert {path.parent.name for path in measured.RESULTS.glob("*/machine.json")} == {each.name for each in found}
    assert all(each.tally["measured"] for each in found)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("12.3 s", duration(12.3456)),
        ("25 µs", duration(2.5e-5)),
        ("100 ns", duration(1e-7)),
        (f"{SCAN}, trace", spoken("basics.Scan.time_trace")),
        (f"{PRODUCT}, 512, dispatch", spoken("basics.Matmul.time_dispatch(512)")),
        ("wraps lower, wrapped-10, flops", spoken("wraps_lower.Counts.track_flops('wrapped-10')")),
        ("jax#40101: a small write into a large carry", what("published", "Jax40101")),
        # One measurement has no least and no most.
        ("trace: 1 ms on jax-2", told(Series("trace", "", (None, 1e-3), frozenset(), None), ["jax-1", "jax-2"])),
        # Results may be older than the benchmarks; removed benchmarks are ignored.
        ("", timings.story("removed")),
        ("", timings.story("basics", "Removed")),
    ],
)
def test_it_is_said_for_people(words: str, said: str) -> None:
    """A time has three digits in a suitable unit; a benchmark's name is in words."""
    assert words == said
