"""Timings on the page: what is drawn of asv's results, what is said of them, and what is left out."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from suite.report.site import timings
from suite.report.site.chart import drawn
from suite.report.site.timings import (
    Asynchronous,
    Chart,
    Machine,
    Series,
    Shift,
    asynchronous,
    duration,
    machines,
    readable,
    told,
)
from suite.report.write import render
from suite.timings import release_line
from suite.timings import results as measured
from suite.timings.results import Row
from tests.report.test_report import EMPTY
from tests.timings.conftest import Known, put, put_results

MACHINE = "cpu-tiny"
OLD, MIDDLE, NEW = (cell.id for cell in release_line.cells() if cell.id in ("jax-0.4.30", "jax-0.6.0", "jax-0.9.2"))
NASTY = "<script>alert(1)</script>"


KNOWN: Known = {
    "basics.Counts.track_equations": ("track", "equations", [["'scan'"]]),
    "basics.Matmul.time_dispatch": ("time", "seconds", [["64", "512"]]),
    "basics.Matmul.time_execute": ("time", "seconds", [["64", "512"]]),
    "basics.Scan.time_execute": ("time", "seconds", []),
    "basics.Scan.time_trace": ("time", "seconds", []),
}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """Results of three releases, their noise, and two comparisons: of a scan, a product of two sizes, and a count."""
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


def test_a_workload_is_drawn_by_phase_and_a_variant_by_what_varies(machine: Machine) -> None:
    """A workload has one chart, a line for each phase that has values; one with sizes a chart for each phase."""
    (section,) = machine.sections
    assert [("Matmul, dispatch", ["64", "512"]), ("Matmul, execute", ["64", "512"]), ("Scan", ["trace"])] == [
        (chart.title, [series.name for series in chart.series]) for chart in section.charts
    ]
    assert (OLD, MIDDLE, NEW) == machine.releases
    (trace,) = section.charts[2].series
    assert ((1e-3, 2e-3, None), frozenset({2}), 0.08, False) == (trace.values, trace.failed, trace.fence, trace.device)
    assert [False, True] == [section.charts[place].series[0].device for place in (0, 1)]
    assert "scan of 100 steps" in section.charts[2].story


def test_only_what_a_comparison_of_these_locks_confirmed_is_marked(machine: Machine) -> None:
    """What was insufficient is no change, and neither is what was judged of other locks."""
    assert [("basics.Scan trace", OLD, MIDDLE)] == [(each.name, each.base, each.other) for each in machine.shifts]
    assert machine.shifts == machine.sections[0].charts[2].shifts
    assert 2 == machine.judged


def test_it_is_told_where_something_turns(machine: Machine) -> None:
    """Of a count that changes, the releases at which it does; and between which two a call came back early."""
    assert [("basics.Counts(scan) equations", ((OLD, 4), (NEW, 6)))] == [
        (each.key, each.turns) for each in machine.counts
    ]
    assert Asynchronous(OLD, MIDDLE) == machine.asynchronous


@pytest.mark.parametrize("returns", [(True, True), (True, False), (False, False), (False, True, False), ()])
def test_measurements_that_do_not_say_so_are_not_made_to(returns: tuple[bool, ...]) -> None:
    """No such release is named where none is seen, or more than one."""
    rows = {
        f"jax-0.{place}": {
            "basics.Matmul.time_dispatch(512)": Row("measured", "1", False, least=0.1 if early else 1.0),
            "basics.Matmul.time_execute(512)": Row("measured", "1", False, least=1.0),
        }
        for place, early in enumerate(returns)
    }

    assert None is asynchronous(rows)


def test_a_chart_is_in_the_pages_own_style() -> None:
    """What matplotlib draws keeps no colour, style, identifier or reference: the page's policy admits none of them."""
    series = (
        Series("trace", "m.A.time_trace", (1e-3, None, 3e-3), frozenset(), 0.1),
        Series("execute", "m.A.time_execute", (1e-5, 1e-5, 1e-5), frozenset(), None),
    )
    judged = measured.Judged(outcome="regressed", reason="", base=1, other=2, change=1, limit=0.1, version="1")
    shift = Shift("m.A.time_trace", "A trace", "seconds", "jax-1", "jax-3", judged)

    svg = drawn([Chart("a", f"A {NASTY}", "", series, (shift,))], ["jax-1", "jax-2", "jax-3"])["a"]

    root = ElementTree.fromstring(svg)
    names = {name for element in root.iter() for name in element.attrib}
    assert {"viewBox", "role", "aria-label", "class", "d", "x", "y", "cx", "cy", "r", "text-anchor"} == names
    assert {"svg", "path", "circle", "text"} == {element.tag for element in root.iter()}
    classes = [element.get("class") for element in root.iter() if element.tag == "path"]
    assert {"grid", "s0 band", "s0", "s7 device"} == set(classes)
    texts = [element.text for element in root.iter("text")]
    assert {"1", "2", "3", "trace", "execute", "▲", "1 ms", "10 µs"} <= set(texts)
    spoken = root.get("aria-label") or ""
    assert f"A {NASTY}. trace: 1 ms on jax-1, 3 ms on jax-3; least 1 ms on jax-1, most 3 ms on jax-3; exec" in spoken


def test_names_of_lines_do_not_lie_on_one_another() -> None:
    """Eight lines that end in one point have eight names, one under the other, within the drawing."""
    series = tuple(Series(f"way-{n}", f"m.A.time_x({n})", (1e-3, 1e-3), frozenset(), None) for n in range(8))

    svg = drawn([Chart("a", "A", "", series, ())], ["jax-1", "jax-2"])["a"]

    heights = sorted(float(each) for each in re.findall(r'y="([0-9.]+)" text-anchor="start">way', svg))
    assert 8 == len(heights)
    assert all(after - before >= 9.5 for before, after in pairwise(heights))
    assert heights[0] >= 8
    assert heights[-1] <= 176


def test_the_page_says_the_numbers_behind_a_chart(machine: Machine) -> None:
    """Each value stands in a table too, one that failed is called so, and a machine's words are escaped."""
    page = render(EMPTY, "index.html.jinja", (machine,))

    assert f'<tr><th scope="row">{OLD}</th><td>1 ms</td></tr>' in page
    assert f'<tr><th scope="row">{NEW}</th><td>failed</td></tr>' in page
    assert NASTY not in page
    assert "a processor &lt;script&gt;" in page
    assert f"From {MIDDLE} on, a call comes back before its result is there; up to {OLD}" in page
    assert "one comparison in 100 looks changed before it is measured again" in page
    assert "regressed +100%" in page


def test_without_results_there_is_no_section(tmp_path: Path) -> None:
    """A tree in which nothing was timed has a page without timings, and no link to them."""
    page = render(EMPTY, "index.html.jinja", machines(tmp_path, tmp_path, tmp_path))

    assert "timings" not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL).lower()


def test_every_machine_with_published_results_is_drawn() -> None:
    """What is committed under benchmarks/results is read whole: each of its machines, on releases of the line."""
    found = machines(measured.RESULTS, measured.NOISE, measured.COMPARED)

    assert {path.parent.name for path in measured.RESULTS.glob("*/machine.json")} == {each.name for each in found}
    assert all(each.tally["measured"] for each in found)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("12.3 s", duration(12.3456)),
        ("500 ms", duration(0.5)),
        ("25 µs", duration(2.5e-5)),
        ("100 ns", duration(1e-7)),
        ("wraps_lower.Wrapped(wrapped-10) trace", readable("wraps_lower.Wrapped.time_trace('wrapped-10')")),
        ("imports.Import(jax) import", readable("imports.Import.timeraw_import('jax')")),
        ("training.Mlp first call", readable("training.Mlp.peakmem_first_call")),
        # One measurement has no least and no most.
        ("trace: 1 ms on jax-2", told(Series("trace", "", (None, 1e-3), frozenset(), None), ["jax-1", "jax-2"])),
        # Results can be older than the benchmarks: of what was removed there is nothing to say.
        ("", timings.story("removed")),
        ("", timings.story("basics", "Removed")),
    ],
)
def test_it_is_said_for_people(words: str, said: str) -> None:
    """A time has three digits in the unit that keeps them before the point; a name has none of asv's prefixes."""
    assert words == said
