"""The page of numbers, and the numbers on a release's page; the functions are invented."""

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from jax_stack_compat.base.files import replace_all
from jax_stack_compat.numbers.model import MEASURED, CallRow, Measured, written
from laboratory.report.folder.write import write
from laboratory.report.model import Report
from laboratory.report.site import numbers
from laboratory.report.site.build import site
from laboratory.report.site.facts import Facts
from laboratory.report.site.numbers import MeasuredNumbers
from laboratory.report.site.pages import numbers as page_of
from laboratory.report.site.pages.numbers import NumbersView
from tests.numbers.rows import call_row
from tests.report.site_browser import afresh, put
from tests.report.test_release_pages import shown
from tests.report.test_report import EMPTY, observation, report

pytestmark = pytest.mark.usefixtures("untimed")

RELEASES = ("0.5.3", "0.6.0", "0.7.0")


def row(name: str, first: str = RELEASES[0], last: str = RELEASES[-1], **changes: str) -> CallRow:
    """Return a row of a function, called on an input, that is right unless `changes` say otherwise."""
    function = f"jax.some.{name}"
    return call_row(function, first, last, **{"call": f"{function}(float32)", "ulp": "0.5", **changes})


def made(*rows: CallRow, releases: tuple[str, ...] = RELEASES) -> MeasuredNumbers:
    """Return rows as measured on these releases."""
    found: dict[str, tuple[CallRow, ...]] = {}
    for each in rows:
        found[each.function] = (*found.get(each.function, ()), each)
    calls = {(each.form, each.call) for each in rows}
    return MeasuredNumbers(Measured(releases=releases, cpu=("avx",), functions=len(found), calls=len(calls)), found)


PLAIN = row("plain")
# Each section of the page has a function, and jax 0.7.0 changed two of them.
EVERY = made(
    row("differs", last="0.6.0"),
    row(
        "differs",
        "0.7.0",
        status="differs",
        detail="0 of -1, SciPy has inf",
        change="value",
        was="0 of -1, was 1",
        package="jaxlib",
    ),
    row("ends", status="ended", detail="SIGSEGV"),
    row("changed", last="0.5.3", status="unknown"),
    row("changed", "0.6.0", "0.6.0", status="unknown", change="rounding", was="up to 2 ulp"),
    row("changed", "0.7.0", status="unknown", change="dtype", was="int32, was int64", explained="some-issue"),
    row("rounds", last="0.6.0"),
    row("rounds", "0.7.0", change="rounding", was="up to 1 ulp"),
    row("rounds", form="grad", status="unknown"),
    row("off", status="off", ulp="12", detail="1.1 of 1, NumPy has 1"),
    PLAIN,
    # Between two functions of the module in the order of names.
    replace(PLAIN, function="jax.some.fft.plain"),
)


def save(of: MeasuredNumbers, folder: Path) -> None:
    """Write numbers beside a report."""
    rows = written(each for rows in of.rows.values() for each in rows)
    replace_all(folder / "numbers", {MEASURED: of.measured.text, "jax.some.csv": rows})


def view(of: MeasuredNumbers) -> NumbersView:
    """Return the view of the page of numbers."""
    page, *_ = page_of.pages(Facts(EMPTY, numbers=of))
    assert isinstance(page.view, NumbersView)
    return page.view


def on(*releases: str) -> Report:
    """Return a report on releases of jax."""
    return report(*(observation(cell=f"jax-{each}") for each in releases))


def section(of: Report, release: str, found: MeasuredNumbers = EVERY) -> str:
    """Return the text of a release's section of numbers; empty if it has none."""
    html = site(of, (), (), found)[f"releases/jax-{release}.html"]
    text = html.partition('aria-labelledby="numbers"')[2].partition("</section>")[0]
    return shown(f"<main {text}")


def test_functions_that_differ_come_first() -> None:
    """Next come functions that end the process, changed ones, and the rest by module; each appears once."""
    of = view(EVERY)

    found = {id: [each.name for each in functions] for id, _, functions in of.sections}
    assert {"differ": ["jax.some.differs"], "end": ["jax.some.ends"], "changed": ["jax.some.changed"]} == found
    assert list(found) == ["differ", "end", "changed"]
    assert [("jax.some", ["off", "plain", "rounds"]), ("jax.some.fft", ["plain"])] == [
        (module, [each.name.rpartition(".")[2] for each in functions]) for module, functions in of.modules
    ]


def test_a_difference_that_is_over_is_a_change() -> None:
    """A function that differed on older releases alone is among those that changed."""
    of = view(made(row("was", last="0.6.0", status="differs"), row("was", "0.7.0", change="value", was="1, was 0")))

    assert ["changed"] == [id for id, _, _ in of.sections]
    assert {"right": 1} == of.sections[0][2][0].now


def test_rounding_parts_no_span() -> None:
    """Rows that differ only by rounding are joined, with the first row's change; rounding changes are counted."""
    rows = EVERY.rows["jax.some.changed"]

    assert [("0.5.3", "0.6.0"), ("0.7.0", "0.7.0")] == [
        (each.first, each.last) for each in numbers.stretches(rows, RELEASES)
    ]
    (of,) = view(EVERY).sections[2][2]
    assert (["0.7.0"], {"rounding": 1}) == (of.changed, of.unlisted)


def test_spans_with_a_gap_stay_apart() -> None:
    """If a release in between lacks a call, the span does not cover that release."""
    rows = [row("gone", last="0.5.3"), row("gone", first="0.7.0")]

    assert rows == numbers.stretches(rows, RELEASES)


def test_what_is_right_everywhere_is_counted() -> None:
    """Calls that never changed and are right or without a reference have no row on a module's page."""
    html = site(EMPTY, (), (), EVERY)["functions/jax.some.html"]

    assert 'id="jax.some.plain"' in html
    assert "plain(float32)" not in html
    assert "jax.some.rounds 1 right and 1 without a reference; changes: 1 by rounding" in shown(html)
    assert "off(float32) 0.5.3–0.7.0 off 1.1 of 1, NumPy has 1 12 ulp" in shown(html)


def test_a_difference_is_never_called_wrong() -> None:
    """The page says whose value differs, and that this is not always a bug."""
    files = site(EMPTY, (), (), EVERY)
    whole, module = shown(files["numbers.html"]), shown(files["functions/jax.some.html"])

    assert "differs 0 of -1, SciPy has inf 0 of -1, was 1; by jaxlib; unexplained" in module
    assert "A difference is not always a bug" in whole
    assert "wrong" not in whole.lower() + module.lower()


def test_a_function_that_the_newest_release_lacks_says_so() -> None:
    """A function that the newest release lacks has no status there, and is listed in the rest."""
    text = shown(site(EMPTY, (), (), made(PLAIN, row("gone", last="0.6.0")))["numbers.html"])

    assert "jax.some.gone not on jax 0.7.0" in text


def test_a_whole_report_has_the_numbers_and_names(tmp_path: Path) -> None:
    """The published report has the page and the data; a report on some cells that is written over it loses both."""
    write(on(*RELEASES), tmp_path, whole=True)
    assert "jax.numpy" in (tmp_path / "numbers.html").read_text(encoding="utf-8")
    assert {"jax.json", "libraries.json", "names.schema.json"} < {path.name for path in (tmp_path / "names").iterdir()}

    write(on(*RELEASES), tmp_path)
    assert not (tmp_path / "numbers.html").exists()
    assert [] == [*(tmp_path / "numbers").iterdir(), *(tmp_path / "names").iterdir()]


def test_a_release_names_the_numbers_that_it_changed() -> None:
    """A row has function, call, old and new value, reference and explanation; unexplained rows come first."""
    text = section(on(*RELEASES), "0.7.0")

    assert "compared with jax 0.6.0 ." in text
    assert "2 functions changed, in 2 calls" in text
    assert "jax.some.changed changed(float32) dtype int32, was int64 no reference some-issue" in text
    assert "0 of -1, was 1 differs 0 of -1, SciPy has inf by jaxlib; unexplained" in text
    assert "Changes not listed: 1 by rounding." in text
    assert "rounds" not in text
    assert text.index("jax.some.differs") < text.index("jax.some.changed")
    html = site(on(*RELEASES), (), (), EVERY)["releases/jax-0.7.0.html"]
    assert '<a href="../functions/jax.some.html#jax.some.differs">' in html
    assert '<a href="../issues/some-issue.html">' in html


LATE = made(*EVERY.rows["jax.some.differs"], releases=RELEASES[1:])


@pytest.mark.parametrize(
    ("releases", "release", "found", "said"),
    [
        # If only rounding differs, no change is listed.
        (RELEASES, "0.6.0", EVERY, "No result changed by more than rounding. Changes not listed: 1 by rounding."),
        # If the release before was not measured, each release since may have brought the change.
        (
            *(("0.6.0", "0.6.1", "0.6.2", "0.7.0"), "0.7.0", LATE),
            "compared with jax 0.6.0 . Not measured: jax 0.6.1 , 0.6.2 . The changes came with one of them",
        ),
        (RELEASES, "0.5.3", EVERY, "It is the first release whose numbers were measured"),
        (("0.5.3", "0.6.1"), "0.6.1", EVERY, "not measured."),
    ],
)
def test_a_release_says_what_its_numbers_are_compared_with(
    releases: tuple[str, ...], release: str, found: MeasuredNumbers, said: str
) -> None:
    """A release without changes, and one with nothing to compare, says so and why."""
    assert said in section(on(*releases), release, found)


@pytest.mark.usefixtures("_no_complaints")
def test_a_reader_finds_a_function(opened: Page, tmp_path: Path) -> None:
    """A function leads to its calls, unfolded; the filter leaves what fits; the front page leads to a function."""
    address = put(site(on(*RELEASES), (), (), EVERY), tmp_path).as_uri()
    page = afresh(opened, f"{address}/numbers.html#jax.some.changed")
    page.get_by_role("link", name="jax.some.changed").click()
    expect(page.get_by_text("int32, was int64")).to_be_visible()

    page.go_back()
    page.fill("#n-name", "some.Off(x)")
    expect(page.locator("#n-count")).to_have_text("1 of 7 functions")
    assert ["rest", "jax.some"] == [each.get_attribute("id") for each in page.locator("h2:visible, h3:visible").all()]

    page = afresh(opened, f"{address}/index.html")
    page.fill("#search", "some.ends")
    page.get_by_role("link", name="jax.some.ends: what it returned on each release").click()
    expect(page.locator("details[open] code").first).to_have_text("jax.some.ends")
