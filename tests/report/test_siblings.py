"""The files beside compat.json: Markdown and CSV, made from it alone, safe to read, and small."""

import re
from collections import Counter
from math import ceil
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jax_stack_compat.base import address as known
from jax_stack_compat.base.errors import Misused
from jax_stack_compat.base.files import REPORTS
from jax_stack_compat.base.printable import printable
from jax_stack_compat.stack import plan
from laboratory.report import summary
from laboratory.report.findings import findings
from laboratory.report.folder import compat_json as stored
from laboratory.report.folder.write import write
from laboratory.report.formats.compat_md import compat_md
from laboratory.report.markup import MAX_CHARS, cell_text, fit
from laboratory.report.model import Platform, Report, RuleRow, StackRow, UpstreamRow, WorkaroundRow
from laboratory.report.site.build import site
from laboratory.report.site.facts import Facts
from tests.report.on_disk import saved, there
from tests.report.test_report import CHANGED, observation, report, shown, tokens, undecided
from tests.worlds import as_known

pytestmark = pytest.mark.usefixtures("untimed")
HOSTILE = "<b>&amp;]]>\x00\x07\x1b[31m\u202e\ud800\ufffe\"' --> <![CDATA[ \r\n\t end"
# Any text in Python, including text that UTF-8 cannot encode.
ANYTHING = st.text(st.characters(codec=None, exclude_categories=()), max_size=40)


def hostile(text: str = HOSTILE) -> Report:
    """Return a report in which every foreign text is `text`, even where a model would refuse it."""
    bad = observation(cell="jax-0.5.0").model_copy(
        update={"agreement": "changed", "behaviour": text, "detail": text, "expected": text, "reason": text}
    )
    failed = undecided("error", case="other").model_copy(update={"detail": text, "reason": text})
    skipped = undecided("unavailable", case="third").model_copy(update={"detail": text, "reason": text})
    made = report(observation(), bad, failed, skipped)
    (issue,) = made.issues
    case, *others = issue.cases
    interval = case.intervals[0]
    told = {
        **{"id": text, "question": text, "source": text, "workaround": WorkaroundRow(text=text)},
        "rules": [RuleRow(behaviour=text, on="", evidence=text)],
        "intervals": [interval, interval.model_copy(update={"first": "0.5.0", "last": "0.5.0", "behaviour": text})],
    }
    threads = [UpstreamRow(ref=each, role="docs", title=text, state=text) for each in (text, f"https://x/{text}")]
    texts = {"title": text, "story": text, "shared_source": text, "upstream": threads}
    # These two are parsed as versions if read from a file.
    row = StackRow(question=text, holds={}, along="jax", cells=[], ranges=[], declared="")
    row = row.model_copy(update={"holds": {"jax": text}, "declared": text})
    since = CHANGED.since
    assert since is not None
    worse = since.changes[0].model_copy(update={"first": text, "last": text, "cases": [text], "words": text})
    update = {
        "since": since.model_copy(update={"changes": [worse]}),
        "issues": [issue.model_copy(update={**texts, "cases": [case.model_copy(update=told), *others]})],
        "cells": [
            cell.model_copy(update={"packages": {**cell.packages, "other": text}, "python": text})
            for cell in made.cells
        ],
        "platform": Platform(system=text, machine=text, cpu=text, device=text),
        "suite_version": text,
        "stacks": [row],
        "planned_cells": [text],
    }
    return made.model_copy(update=update)


def test_what_can_be_shown_stays() -> None:
    """Printable text in any script is unchanged, other characters are spelled out, and a table cell is short."""
    assert "✗ ≤ 漢字 é" == printable("✗ ≤ 漢字 é")
    assert "a\\u001b[31m\\u202eb\\ud800" == printable("a\x1b[31m\u202eb\ud800")
    assert len(cell_text("x" * 10_000_000)) <= 500


def test_the_last_lines_give_way() -> None:
    """Text that fits is unchanged; otherwise the last lines are left out and counted."""
    text = "".join(f"- {number}\n" for number in range(100))

    made = fit(text, 300)

    assert text == fit(text, len(text) + 1)
    kept = made.count("- ")
    assert text.startswith(made.partition("\n\n")[0])
    assert f"\n\n*{100 - kept} more lines left out for room: compat.json has them.*\n" in made


@given(st.lists(st.text("# \nab|", max_size=60), max_size=30), st.integers(150, 400))
@settings(deadline=None)
def test_it_always_fits(lines: list[str], most: int) -> None:
    """Any Markdown is shortened to the limit."""
    assert len(fit("\n".join(lines), most)) < max(most, 1)


def test_a_big_report_goes_into_a_step_summary(tmp_path: Path) -> None:
    """A report with thousands of unexpected observations is cut, and these come first."""
    cells = (f"jax-0.{number}.0" for number in range(60))
    made = report(*(observation(cell=cell, agreement="changed", detail=f"{cell} " + "|<x>`" * 200) for cell in cells))

    text = compat_md(made)

    assert len(text) < MAX_CHARS
    assert f"{summary.last_line(made)}." in text
    assert text.index("## Not as expected") < text.index("left out for room")


@pytest.mark.parametrize("lies", ["index.html", "assets/style.css"])
def test_nothing_is_written_over_what_is_no_reports(
    lies: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that has a report's name but no report beside it stays, and the error names it."""
    (shard,) = saved([report(observation())], tmp_path / "from")
    path = tmp_path / "to" / lies
    path.parent.mkdir(parents=True)
    path.write_text("mine", encoding="utf-8")

    with pytest.raises(Misused, match=f"no report wrote .*{lies}"):
        write(stored.read_report(shard), tmp_path / "to")

    assert {lies: b"mine"} == there(tmp_path / "to")


PLAIN = hostile("plain")


@given(ANYTHING)
@example(HOSTILE)
@example("</script><img src=x onerror=alert(1)> [a](javascript:b) ![c](d) <http://e> `f` | g\n# h")
@settings(deadline=None, max_examples=8)
def test_anybodys_report_is_text(text: str) -> None:
    """Text in a compat.json never becomes a control character, an element, a link or a heading in a file."""
    made = hostile(text)
    markdown, files = compat_md(made), site(made, ())

    for written in (markdown, *files.values()):
        assert written.encode("utf-8").decode("utf-8").replace("\n", "").isprintable()
    for path, page in files.items():
        assert "<img" not in page, path
        assert page.count("<script") == len(re.findall(r'<script src="(?:\.\./)?(?:assets|data)/[a-z]+\.js">', page)), (
            path
        )
    acting = {"html_block", "html_inline", "image", "link_open", "heading_open"}
    found, plain = (
        Counter(token.type for token in tokens(each) if token.type in acting) for each in (markdown, compat_md(PLAIN))
    )
    assert plain["heading_open"] == found["heading_open"]
    assert {"html_block", "html_inline", "image"}.isdisjoint(found)
    assert [] == [
        target
        for token in tokens(markdown)
        if token.type == "link_open" and not re.match(r"https://|\.\./\.\./suite/", target := str(token.attrs["href"]))
    ]


@pytest.mark.parametrize(
    ("files", "most"),
    [("compat.json", 3_000_000), ("observations/*", 1_000_000), ("index.html", 200_000), ("**/*.html", 400_000)],
)
def test_the_published_report_is_small(report_folder: Path, files: str, most: int) -> None:
    """No file of the published report is larger than its kind may be."""
    sizes = {path.name: path.stat().st_size for path in report_folder.glob(files)}

    assert sizes
    assert {} == {name: size for name, size in sizes.items() if size > most}


def test_a_control_stands_once(published: Report) -> None:
    """An issue's report has each control once; the first case has one, since a later case may share it."""
    for issue in published.issues:
        controls = [case.control_source for case in issue.cases]
        told = [each for each in controls if each]
        assert controls[0], issue.id
        assert len(told) == len(set(told)), issue.id


def test_its_markdown_links_to_modules(published: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    """COMPAT.md links each issue to its module in the tree or, with a known homepage, to its page."""
    text = compat_md(published)
    paths = re.findall(r"\]\((\.\./\.\./suite/[^)]*)\)", text)
    assert len(published.issues) == len(paths)
    assert [] == [path for path in paths if not (REPORTS / "published" / path).exists()]
    assert "`nox -s report`" in text

    monkeypatch.setattr(known, "_known", lambda: {"Homepage": "https://example.org/pages/"})
    text = compat_md(published)
    assert len(published.issues) == text.count("](https://example.org/pages/issues/")
    assert "(https://example.org/pages/matrix.html)" in text


def test_its_markdown_is_short(published: Report) -> None:
    """COMPAT.md takes at most 330 bytes for each issue, everything included."""
    assert len(compat_md(published).encode()) <= 330 * len(published.issues)


def test_it_is_a_screen(published: Report) -> None:
    """A report with everything as expected takes at most forty lines in a terminal of 100 columns."""
    assert sum(max(1, ceil(len(line) / 100)) for line in shown(published, 100).splitlines()) <= 40


@pytest.fixture(scope="module")
def line() -> Report:
    """Return a report on every release of the line, with every case as its rules say."""
    return as_known(plan.tagged("line"))


def test_a_change_is_told_once_and_alike(line: Report) -> None:
    """Steps list every turn of every case once, with the same neighbours and the same blame."""
    turns = {
        (turn.after, f"{issue.id}/{case.id}"): (turn.before, turn.blame)
        for issue in line.issues
        for case in issue.cases
        for turn in case.turns
    }
    in_steps = [
        ((cell, f"{after.issue}/{after.case}"), (before.cell, blame))
        for cell, step in Facts(line).steps.items()
        for of in step.values()
        for blame, ends in of.items()
        for before, after in ends
    ]

    assert turns
    assert [] == [(key, said) for key, said in in_steps if turns[key] != said]
    assert len(in_steps) == len({key for key, _ in in_steps})


def test_what_lineax_broke_is_not_equinoxs(line: Report) -> None:
    """A stiff solve that fails again came with Lineax, and no text blames the Equinox of the same day."""
    case = next(case for issue in line.issues for case in issue.cases if case.id == "implicit-solve")
    others = [each for each in case.intervals if each.package not in ("jax", "lineax")]
    again = [each for each in others if each.behaviour == "lu-transpose-is-traced"]
    came_back = [each.title for each in findings(line) if each.sort == "came-back"]

    assert ("lineax", "lineax 0.0.8 → 0.1.0") in {(each.package, each.blame) for each in case.turns}
    assert [] == [each for each in again if each.exact or not each.came_with]
    assert [] == [each for each in came_back if each.startswith("stack-smoke/implicit-solve")]
