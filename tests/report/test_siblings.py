"""What lies beside compat.json: Markdown, feed and CSV, made of it alone and safe to read."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date, datetime
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from suite.errors import Misused
from suite.printable import printable
from suite.report import stored, summary
from suite.report.derive import derive
from suite.report.formats.compat_md import compat_md
from suite.report.formats.feed import feed
from suite.report.formats.length_limit import MAX_CHARS, fit
from suite.report.markup import cell_text
from suite.report.model import Platform, Report, RuleRow, StackRow, UpstreamRow, WorkaroundRow
from suite.report.site.build import site
from suite.report.write import siblings, write
from suite.stack import releases
from tests.report.on_disk import saved, there
from tests.report.test_report import CHANGED, REPORTS_TO_SHOW, observation, report, tokens, undecided

pytestmark = pytest.mark.usefixtures("untimed")
ATOM = "{http://www.w3.org/2005/Atom}"
HOSTILE = "<b>&amp;]]>\x00\x07\x1b[31m\u202e\ud800\ufffe\"' --> <![CDATA[ \r\n\t end"
# Any text that Python can hold, what UTF-8 cannot hold among it.
ANYTHING = st.text(st.characters(codec=None, exclude_categories=()), max_size=40)


def hostile(text: str = HOSTILE) -> Report:
    """A report in which whatever somebody else's compat.json can say is `text`; a model would not take all of it."""
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
    # Read from a file, these two would be versions.
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


def parsed(text: str) -> Element:
    """XML as a strict parser reads it, from the bytes of the file."""
    return ElementTree.fromstring(text.encode("utf-8"))


def entries(of: Report) -> list[dict[str, str]]:
    """The entries of a feed, as tag → text."""
    return [
        {each.tag.removeprefix(ATOM): each.text or "" for each in entry}
        for entry in parsed(feed(of)).iter(f"{ATOM}entry")
    ]


def test_what_can_be_shown_stays() -> None:
    """Text that can be shown is not touched, whatever its script; what cannot is spelled out, and a cell is short."""
    assert "✗ ≤ 漢字 é" == printable("✗ ≤ 漢字 é")
    assert "a\\u001b[31m\\u202eb\\ud800" == printable("a\x1b[31m\u202eb\ud800")
    assert len(cell_text("x" * 10_000_000)) <= 500


def test_the_last_sections_give_way_first() -> None:
    """What fits is left alone; else what stands first stays whole, and a section that is cut counts what it lost."""
    sections = [f"## {name}\n\n" + "".join(f"- {name} {number}\n" for number in range(100)) + "\n" for name in "abc"]
    text = "# head\n\n" + "".join(sections)

    made = fit(text, len(text) - 200)

    assert text == fit(text, len(text) + 1)
    assert made.startswith("# head\n\n" + sections[0] + sections[1])
    kept = made.count("- c ")
    assert 0 < kept < 100
    assert f"*{100 - kept} more lines of this section left out for room" in made
    assert len(made) < len(text) - 200
    shorter = fit(text, len(text) // 2)
    assert ("- a 99" in shorter, "- c 0" in shorter, "## c" in shorter) == (True, False, True)


@given(st.lists(st.text("# \nab|", max_size=60), max_size=30), st.integers(150, 400))
@settings(deadline=None)
def test_it_always_fits(lines: list[str], most: int) -> None:
    """Whatever Markdown looks like, it gets as short as it has to be."""
    assert len(fit("\n".join(lines), most)) < max(most, 1)


def test_sections_that_are_too_many_are_counted() -> None:
    """Where even the headings are too many, the last sections are left out, and their number is told."""
    made = fit("# head\n\n" + "".join(f"## section {number}\n\ntext\n\n" for number in range(1000)), 2000)

    assert made.startswith("# head\n\n## section 0\n")
    assert made.rstrip().endswith("more sections left out for room: compat.json has them.*")
    assert len(made) < 2000


def test_a_big_report_goes_into_a_step_summary(tmp_path: Path) -> None:
    """A report of thousands of surprises with long evidence is cut, and what is not as expected stands first."""
    cells = (f"jax-0.{number}.0" for number in range(60))
    made = report(*(observation(cell=cell, agreement="changed", detail=f"{cell} " + "|<x>`" * 200) for cell in cells))

    text = siblings(made, ())["COMPAT.md"]

    assert len(text) < MAX_CHARS
    assert f"{summary.last_line(made)}." in text
    assert text.index("## Not as expected") < text.index("left out for room")


def test_a_feed_is_valid_atom() -> None:
    """Feed and entries have the id, title, moment and author that RFC 4287 asks for, and each id is its own."""
    for of in (*REPORTS_TO_SHOW.values(), hostile()):
        root = parsed(feed(of))
        assert f"{ATOM}feed" == root.tag
        for each in (root, *root.findall(f"{ATOM}entry")):
            assert [1, 1, 1] == [len(each.findall(f"{ATOM}{name}")) for name in ("id", "title", "updated")]
            assert (each.findtext(f"{ATOM}id") or "").startswith("urn:uuid:")
            moment = datetime.fromisoformat(each.findtext(f"{ATOM}updated") or "")
            assert moment.tzinfo is not None
        assert root.findtext(f"{ATOM}author/{ATOM}name")
        ids = [each.text for each in root.iter(f"{ATOM}id")]
        assert len(ids) == len(set(ids))


def changing() -> Report:
    """A report in which a case changed with jax 0.5.0, and again with 0.6.0; with 0.5.1 nothing was learned of it."""
    seen = [
        observation(cell="jax-0.4.30"),
        observation(cell="jax-0.5.0", verdict="clear", behaviour="good", reason=None, expected="good"),
        undecided("blocked", cell="jax-0.5.1"),
        observation(cell="jax-0.6.0"),
    ]
    made = report(*seen)
    days = ("2024-06-18", "2025-01-17", "2025-02-01", "2025-04-17")
    cells = [
        cell.model_copy(update={"released_on": date.fromisoformat(day)})
        for cell, day in zip(made.cells, days, strict=True)
    ]
    return derive(made.model_copy(update={"cells": cells}), releases.load().packages)


def test_a_change_keeps_its_id() -> None:
    """In the feed of a later report the same change has the same id: whoever has read it is not told again."""
    later = changing().model_copy(update={"generated_at": datetime.fromisoformat("2027-01-01T00:00:00Z")})

    ids, again = ([entry["id"] for entry in entries(of)] for of in (changing(), later))

    assert ids[1:] == again[1:]
    assert ids[0] != again[0]


def named(issue: str) -> Report:
    """A report on an issue of this name."""
    made = report(observation())
    seen = [each.model_copy(update={"issue": issue}) for each in made.observations]
    return made.model_copy(update={"issues": [made.issues[0].model_copy(update={"id": issue})], "observations": seen})


@pytest.mark.parametrize("lies", ["index.html", "assets/style.css", "feed.xml"])
def test_nothing_is_written_over_what_is_no_reports(
    lies: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where a file of a report's name lies without a report, it stays, and a sentence names it."""
    (shard,) = saved([report(observation())], tmp_path / "from")
    path = tmp_path / "to" / lies
    path.parent.mkdir(parents=True)
    path.write_text("mine", encoding="utf-8")

    with pytest.raises(Misused, match=f"no report wrote .*{lies}"):
        write(stored.read_report(shard), tmp_path / "to")

    assert {lies: b"mine"} == there(tmp_path / "to")


PLAIN = hostile("plain")
PLAIN_FEED = [each.tag for each in parsed(feed(PLAIN)).iter()]


@given(ANYTHING)
@example(HOSTILE)
@example("</script><img src=x onerror=alert(1)> [a](javascript:b) ![c](d) <http://e> `f` | g\n# h")
@settings(deadline=None, max_examples=12)
def test_anybodys_report_is_text(text: str) -> None:
    """Whatever a compat.json holds, no file has a control, and none of it is an element, a link or a heading."""
    made = hostile(text)
    markdown, files, told = compat_md(made), site(made, ()), feed(made)

    for shown in (markdown, told, *files.values()):
        assert shown.encode("utf-8").decode("utf-8").replace("\n", "").isprintable()
    assert PLAIN_FEED == [each.tag for each in parsed(told).iter()]
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
        if token.type == "link_open"
        and not re.match(r"https://|issues/|[a-z]+\.html$", target := str(token.attrs["href"]))
    ]
