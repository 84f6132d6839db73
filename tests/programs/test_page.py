"""The page of the programs, made of what is kept alone."""

from __future__ import annotations

from suite.report.site.build import site
from tests.programs.conftest import counted, programs, release
from tests.report.test_report import EMPTY


def test_the_page_says_that_nothing_was_run_and_shows_what_changed() -> None:
    """Counts along the releases, a change in bold and in a sentence, and what is lacking with its reason."""
    before, after = ({"launches": each, "fusions": 1} for each in (4, 2))
    found = programs(
        release("0.9.0", [counted(counts=before, copies="not told <b>")]),
        release("0.9.1", [counted(counts=after, copies="not told <b>")]),
    )
    files = site(EMPTY, (), (found,))
    page = files["programs.html"]

    assert "compiled and never run" in page
    assert "<td>4<td><strong>2</strong>" in page
    assert "jax 0.9.1, after 0.9.0: softmax: 2 kernel launches fewer, 4 → 2" in page
    assert "copies: jax 0.9.0, 0.9.1" in page
    assert "<td>–<td>–" in page
    assert "not told <b>" not in page
    assert 'href="programs.html"' in files["index.html"]


def test_without_programs_there_is_no_page_and_no_way_to_one() -> None:
    """A report of nothing but runs is as it was."""
    files = site(EMPTY, ())

    assert "programs.html" not in files
    assert [] == [name for name, text in files.items() if "programs.html" in text]
