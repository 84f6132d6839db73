"""The pages of releases and their install commands, without a browser."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from jax_stack_compat.judge.metadata import DeclaredObserved
from laboratory.report.folder.write import write
from laboratory.report.model import AmendmentRow, CellRow, Report, StackRow
from laboratory.report.site import install
from laboratory.report.site.build import site
from laboratory.report.site.facts import Facts
from laboratory.report.site.marked import linked
from laboratory.report.site.table import grids
from laboratory.report.site.timings import Asynchronous, Chart, Section, Series, Shift, TimedMachine, spells
from laboratory.timings.results import JudgedChange
from tests.report.on_disk import there
from tests.report.test_report import cell_row, observation, report, undecided, with_issue

pytestmark = pytest.mark.usefixtures("untimed")


def shown(text: str) -> str:
    """Return the text of a page, on one line."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text.partition("<main")[2])).split())


def page(of: Report, name: str = "releases/jax-0.4.30.html", timed: tuple[TimedMachine, ...] = ()) -> str:
    """Return the text of a page of the report's site."""
    return shown(site(of, timed)[name])


def having(of: Report, *cells: CellRow) -> Report:
    """Return the report with more cells."""
    return of.model_copy(update={"cells": [*of.cells, *cells]})


def arm(equinox: str, word: DeclaredObserved | None, diffrax: str = "0.5.1", **changes: Any) -> CellRow:
    """Return a stack of jax 0.4.30 with this Equinox, and its result."""
    name = f"jax-0.4.30+equinox-{equinox}+diffrax-{diffrax}"
    return cell_row(name, **{"declared_observed": word, **changes})


def test_what_bites_stands_with_what_to_do_once() -> None:
    """The worst case comes first, a shared workaround appears once, and behaviour by design is folded."""
    of = report(
        observation(verdict="guarded", behaviour="told"),
        observation(case="second", verdict="guarded", behaviour="told"),
        observation(case="worst", verdict="crashed", behaviour="died", workaround="fails"),
        observation(case="surprise", verdict="documented", behaviour="meant"),
        undecided("blocked", case="needs-it", reason="import.exception"),
    )
    blocked = of.cells[0].model_copy(update={"blocked_by": "equinox"})
    html = site(of.model_copy(update={"cells": [blocked]}), ())["releases/jax-0.4.30.html"]
    known = shown(html).partition("Known issues")[2].partition("What to install")[0]

    assert known.index("worst : ☠ died") < known.index("headline , second : ◐ told")
    assert 1 == known.count("Do not.") == known.count("Tested on this release in headline , second")
    assert "The workaround fails in worst" in known
    assert "<details><summary>1 documented surprise</summary>" in html
    assert "equinox 0.11.4 does not import: 1 case is not run." in shown(html)
    assert "needs-it" not in known


def test_a_release_leads_to_its_neighbours() -> None:
    """A release's neighbours are those of its package in version order, whatever came out between them."""
    of = report(*(observation(cell=f"jax-{each}") for each in ("0.8.2", "0.9.0", "0.8.3")))
    html = site(of, ())["releases/jax-0.8.3.html"]

    assert ["jax-0.8.2.html", "jax-0.9.0.html"] == re.findall(r'rel="(?:prev|next)" href="([^"]+)"', html)


def test_constraints_are_the_newest_set_that_works() -> None:
    """Among the sets that work and that metadata allows, the one with the newest libraries is chosen."""
    works = arm("0.11.8", "supported", "0.6.0")
    of = having(
        report(observation()),
        arm("0.11.4", "supported", "0.6.0"),
        works,
        arm("0.11.9", "latent"),
        arm("0.11.10", "excluded"),
        arm("0.12.0", None),
    )
    files = site(of, ())
    about = [line for line in files["constraints/jax-0.4.30.txt"].splitlines() if line.startswith("#")]
    pins = [Requirement(line) for line in files["constraints/jax-0.4.30.txt"].splitlines() if line not in about]

    assert works.packages == {each.name: str(each.specifier).removeprefix("==") for each in pins}
    assert sorted(works.packages) == [each.name for each in pins]
    assert any(works.id in line and "Python 3.12" in line for line in about)
    assert any(works.lock_sha256 in line for line in about)
    text = shown(files["releases/jax-0.4.30.html"])
    assert 'pip install "jax[cpu]==0.4.30" jaxlib==0.4.30 equinox==0.11.8 diffrax==0.6.0' in text
    assert 'pip install -c jax-0.4.30.txt "jax[cpu]" equinox diffrax' in text
    assert f"suite/jax_stack_compat/stack/locks/{works.id}.txt" in text


def test_another_python_is_taken_where_it_must_be() -> None:
    """A set on the line's Python is preferred to a newer one on another; if none works there, the page says so."""
    other = arm("0.12.0", "supported", python="3.13")
    facts = Facts(having(report(observation()), other))
    mine = arm("0.11.8", "supported")
    release = facts.line[0]

    assert mine == install.working(release, [other, mine])
    assert other == install.working(release, install.holding(facts, release))
    assert "diffrax 0.5.1 , Python 3.13 ; no tested set works on Python 3.12" in page(facts.report)


NEAREST = "The nearest set is jax 0.4.30 , equinox 0.11.4 , diffrax 0.5.1 :"


@pytest.mark.parametrize(
    ("word", "seen", "told"),
    [
        ("latent", "affected", f"{NEAREST} some-issue/headline : ✗ bad ."),
        ("excluded", "clear", f"{NEAREST} row zero works, but metadata"),
        (None, "error", "is allowed by its packages' metadata. Which stacks"),
    ],
)
def test_where_nothing_works_nothing_is_written(word: DeclaredObserved | None, seen: str, told: str) -> None:
    """Without a working set there is no file, and the page names the nearest set and an earlier release."""
    each = observation(verdict=seen, behaviour=None if seen == "error" else "good" if seen == "clear" else "bad")
    of = with_issue(report(each), row_zero=True)
    cells = [of.cells[0].model_copy(update={"declared_observed": word})]
    files = site(of.model_copy(update={"cells": cells}), ())

    assert "constraints/jax-0.4.30.txt" not in files
    text = shown(files["releases/jax-0.4.30.html"])
    assert "No tested set with this release both works" in text
    assert told in text


def test_stacks_that_work_come_first(known: Report) -> None:
    """All stacks with the release are listed: working ones first, and the newest first among these."""
    facts = Facts(known)
    release = facts.cells["jax-0.7.0"]
    text = site(known, ())["releases/jax-0.7.0.html"].partition('id="stacks"')[2].partition("</section>")[0]

    listed = re.findall(r'cells\.html#([^"]+)"', text)
    assert {cell.id for cell in known.cells if cell.packages["jax"] == "0.7.0"} == set(listed)
    assert sorted(listed) == sorted(cell.id for cell in install.holding(facts, release))
    words = [facts.cells[name].declared_observed for name in listed]
    assert words == sorted(words, key=["supported", "excluded", "guarded", "latent", None].index)


def test_stacks_are_told_from_one_another() -> None:
    """Packages in which two stacks differ are named, and one stack with two names appears once."""
    numpy = {**arm("0.11.8", None).packages, "numpy": "2.0.0"}
    older = arm("0.11.8", "latent", id="jax-0.4.30+equinox-0.11.8+numpy-1.26.4", packages={**numpy, "numpy": "1.26.4"})
    again = arm("0.11.8", "supported", id="jax-0.4.30+equinox-0.11.8", packages=numpy)
    of = having(report(observation()), arm("0.11.8", "supported", packages=numpy), older, again)
    text = page(of).partition("Which stacks with this release work")[2]

    assert 1 == text.count("✓ supported jax 0.4.30 , equinox 0.11.8 , diffrax 0.5.1 , numpy 2.0.0")
    assert 1 == text.count("numpy 1.26.4") == text.count("numpy 2.0.0")


def test_a_page_goes_with_the_report_that_made_it(tmp_path: Path) -> None:
    """Pages and constraints that only the former report had are removed; other files stay."""
    mine = {"releases/notes.html": b"mine", "constraints/mine.txt": b"numpy<3", "issues/other.html": b"mine"}
    former = having(report(observation(), observation(cell="jax-0.5.0")), arm("0.11.8", "supported"))
    write(former, tmp_path)
    assert (tmp_path / "constraints" / "jax-0.4.30.txt").exists()
    for name, text in mine.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(text)

    write(report(observation(cell="jax-0.5.0")), tmp_path)

    found = there(tmp_path)
    assert {*mine, "releases/jax-0.5.0.html"} == {
        name for name in found if name.startswith(("releases/", "constraints/")) or name == "issues/other.html"
    }
    assert mine == {name: found[name] for name in mine}


def amendment(**changes: Any) -> AmendmentRow:
    """Return the amendment "diffrax 0.7.0 lacks optimistix<0.1.0", with `changes`."""
    plain = {"kind": "lacks", "package": "diffrax", "version": "0.7.0", "dependency": "optimistix", "grounds": "rule"}
    rest = {"declared": ">=0.0.10", "specifier": "<0.1.0", "cells": ("jax-0.4.30",), "words": "so it is"}
    return AmendmentRow.model_validate({**plain, **rest, "evidence": ("diffrax#1",), **changes})


def stack_row(row: AmendmentRow) -> StackRow:
    """Return a row of stacks with this amendment."""
    return StackRow(question="?", holds={}, along="jax", cells=[], ranges=[], declared="", amendments=[row])


def test_a_grid_has_a_row_for_what_is_held(known: Report) -> None:
    """Rows with the same question share columns for all their versions; a field without a stack is empty."""
    grid = grids(known.stacks, Facts(known).cells)[0]

    assert "I keep my libraries and upgrade jax" == grid.question
    assert ["0.4.35", "0.4.36", "0.4.37", "0.4.38", "0.7.0"] == grid.versions
    _, marks = grid.rows[0]
    assert ["supported", "latent", "latent", "latent", "latent"] == [mark.told for mark in marks if mark]


# Speed

RELEASES = ("jax-0.7.0", "jax-0.7.1", "jax-0.7.2", "jax-0.8.0")


def timed(*seconds: float | None, story: str = "jax#31284: a loop. Ten times on 0.7.1.") -> TimedMachine:
    """Return a machine with these times of a workload from jax 0.7.0 on, and a confirmed slow-down on 0.7.1."""
    key = "published.Jax31284.time_execute"
    judged = JudgedChange(outcome="regressed", reason="", base=1e-3, other=1e-2, change=9.0, limit=0.1, version="1")
    shift = Shift(key, "jax#31284: a loop, execute", "seconds", "jax-0.7.0", "jax-0.7.1", judged)
    series = (Series("execute", key, seconds, frozenset(), None),)
    chart = Chart("timing-published.Jax31284", "jax#31284: a loop", story, series, (shift,))
    section = Section("timings-published", "Published.", (chart,))
    tally = {"measured": 1, "failed": 0, "lacking": 0, "missing": 0}
    asynchronous: Asynchronous | None = None
    return TimedMachine("cpu x/../y", "a cpu", RELEASES, (section,), (), 0, tally, None, (shift,), 1, asynchronous)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seconds", "there", "until"),
    [
        ((1e-3, 1e-2, 1e-3, 1e-3), {"jax-0.7.1"}, "jax-0.7.2"),
        ((1e-3, 1e-2, 5e-3, 2e-3), {"jax-0.7.1", "jax-0.7.2"}, "jax-0.8.0"),
        ((1e-3, 1e-2, None, 9e-3), {"jax-0.7.1", "jax-0.8.0"}, None),
        # A slow-down ends at the first fast release, even if it returns later.
        ((1e-3, 1e-2, 1e-3, 1e-2), {"jax-0.7.1"}, "jax-0.7.2"),
    ],
)
def test_a_slow_down_lasts_until_it_is_nearer_to_what_was(
    seconds: tuple[float | None, ...], there: set[str], until: str | None
) -> None:
    """A slow-down lasts from its confirmed release to the first one below the middle of the two times."""
    (spell,) = spells(timed(*seconds), RELEASES)

    assert (frozenset(there), until, 10) == (spell.there, spell.until, round(spell.factor))


def test_a_published_figure_is_told_with_what_was_seen() -> None:
    """If a publication names a release without a confirmed change, the page has the times on it and its neighbours."""
    of = report(*(observation(cell=each) for each in RELEASES))
    machine = timed(1e-3, 1e-2, 1e-3, 1e-3, story="jax#31284: a loop. Ten times on 0.8.0, with diffrax 0.7.2.")

    assert "1 ms on jax 0.7.2 , 1 ms on jax 0.8.0" in page(of, "releases/jax-0.8.0.html", (machine,))
    assert "Published figures" not in page(of, "releases/jax-0.7.2.html", (machine,))


def test_threads_are_links() -> None:
    """In `linked` text, a short name links to its repository, and a bare number to the repository before it."""
    text = str(linked("<b> equinox#854, #856; #1"))

    assert "&lt;b&gt; " in text
    assert ["equinox/issues/854", "equinox/issues/856", "equinox/issues/1"] == re.findall(r"kidger/([^\"]+)", text)
    assert "#7" == str(linked("#7"))
