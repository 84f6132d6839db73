"""The report: assembled from records, and shown by every emitter."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from html.parser import HTMLParser
from io import StringIO
from itertools import zip_longest
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console

from suite import files
from suite.errors import BadFile, Exit
from suite.files import REPORTS
from suite.judge import verdicts
from suite.judge.agreement import Agreement
from suite.judge.record import Attempt, Machine, Part, Record
from suite.judge.rules import expected, met
from suite.judge.table import GLYPHS, UNDECIDED, VERDICTS, Verdict
from suite.report import compact, summary
from suite.report.assemble import assemble
from suite.report.changes import since
from suite.report.derive import coverage
from suite.report.formats import terminal
from suite.report.formats.markup import clipped, said
from suite.report.model import IntervalRow, Observation, Report
from suite.report.site.embed import digest
from suite.report.write import render, schema, write
from suite.run import catalogue, environment, records
from suite.run.catalogue import Entry
from suite.run.records import Status
from suite.stack import lock, plan
from suite.stack.plan import Cell

pytestmark = pytest.mark.usefixtures("untimed")
Changes = Mapping[str, Any]


def observation(**changes: Any) -> Observation:
    """An observation that is as expected, or what `changes` makes of it."""
    plain = {"cell": "jax-0.4.30", "issue": "some-issue", "case": "headline", "verdict": "affected", "behaviour": "bad"}
    plain |= {"reason": "run.bad", "expected": "bad", "agreement": "as-expected", "workaround": "holds"}
    rest = {"attempts": 1, "seconds": 0.5, "peak_rss_mib": 100, "detail": "it was seen"}
    known = {"workaround_expected": changes.get("workaround") != "fails"}
    return Observation.model_validate({**plain, **rest, **known, **changes})


def undecided(verdict: Verdict, **changes: Any) -> Observation:
    """An observation from which nothing was learned."""
    nothing = {"behaviour": None, "reason": "run.nothing", "agreement": "spurious", "workaround": "none"}
    return observation(verdict=verdict, **{**nothing, **changes})


def report(*observations: Observation, planned: int | None = None) -> Report:
    """A report of these observations, one for each case and cell, and of what they are of."""
    cells = list(dict.fromkeys(each.cell for each in observations))
    cases = list(dict.fromkeys(each.case for each in observations))
    counted = coverage(observations)
    interval = {"package": "jax", "first": "0.4.30", "last": "0.4.30", "exact": False, "order": "version"}
    rows = [
        {
            "id": case,
            "question": "Does it?",
            "needs": ["jax"],
            "behaviours": {"bad": "affected", "good": "clear"},
            "rules": [{"behaviour": "bad", "on": "jax<0.5", "evidence": "seen"}],
            "workaround": {"text": "Do not."},
            "intervals": [{**interval, "behaviour": "bad", "verdict": "affected"}],
            "source": 'def headline():\n    return "bad", "it was seen"\n',
        }
        for case in cases
    ]
    issue = {
        **{"id": "some-issue", "title": "It does", "kind": "crash", "story": "Once.", "cases": rows},
        "upstream": [{"ref": "jax-ml/jax#1", "role": "report", "state": "open"}],
        "source_sha256": "1" * 64,
        "shared_source": "",
    }
    return Report.model_validate(
        {
            "schema_version": 2,
            "generated_at": "2026-11-21T10:00:00Z",
            "suite_version": "0.1.0",
            "probe_sha256": "2" * 64,
            "planned_cells": cells,
            "shard": None,
            "platform": {"system": "Linux", "machine": "x86_64", "cpu": "some cpu", "device": "cpu"},
            "cells": [cell_row(cell) for cell in cells],
            "issues": [issue] if observations else [],
            "stacks": [],
            "observations": [each.model_dump() for each in observations],
            "coverage": {**counted.model_dump(), "planned": counted.planned if planned is None else planned},
        }
    )


def cell_row(identifier: str) -> dict[str, Any]:
    """A cell, as the report has it."""
    version = identifier.removeprefix("jax-")
    packages = {"jax": version, "jaxlib": version, "equinox": "0.11.4", "diffrax": "0.5.1"}
    kept = {"kind": "line", "python": "3.12", "released_on": "2024-06-18", "lock_sha256": "0" * 64}
    moved: dict[str, Any] = {
        "moves": "jax",
        "holds": {"jax": version},
        "asks": [],
        "excluded_by": None,
        "blocked_by": None,
    }
    return {"id": identifier, "packages": packages, "declared": "allows", "declared_observed": None, **moved, **kept}


EMPTY = report()
PLAIN = report(observation())


def one_of(verdict: Verdict, cell: str) -> Observation:
    """An observation with this verdict, in a case of its own."""
    case = f"case-{verdict}"
    if verdict in UNDECIDED:
        return undecided(verdict, case=case, cell=cell)
    if verdict == "clear":
        return observation(verdict=verdict, case=case, cell=cell, behaviour="good", reason=None, agreement="fixed")
    return observation(verdict=verdict, case=case, cell=cell, agreement="changed", workaround="fails")


EVERY_VERDICT = report(*(one_of(verdict, cell) for cell in ("jax-0.4.30", "jax-0.5.0") for verdict in VERDICTS))
CHANGED = PLAIN.model_copy(update={"since": since(report(observation(behaviour="other")), PLAIN)})
REPORTS_TO_SHOW = {"empty": EMPTY, "plain": PLAIN, "every verdict": EVERY_VERDICT, "changed": CHANGED}


def shown(of: Report, **options: Any) -> str:
    """What a terminal of 80 columns shows of a report, without colour unless `options` ask for it."""
    screen = StringIO()
    terminal.show(of, Console(file=screen, width=80, highlight=False, **options))
    return screen.getvalue()


class Page(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element."""
        self.elements.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        """Keep text."""
        self.text += data


def structure(markdown: str) -> list[str]:
    """What Markdown makes of a text: the kinds of its blocks and of what is within them, less the text itself."""
    return [token.type for token in tokens(markdown)]


def tokens(markdown: str) -> list[Token]:
    """The blocks of a text and what is within them, as Markdown with tables has it."""
    blocks = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)
    return [token for block in blocks for token in (block, *(block.children or []))]


AGREEMENTS: list[Agreement] = ["as-expected", "regressed", "fixed", "changed", "new"]
OBSERVATIONS = st.one_of(
    st.builds(
        lambda verdict, **changes: observation(
            verdict=verdict, reason=None if verdict == "clear" else "run.bad", **changes
        ),
        st.sampled_from([each for each in VERDICTS if each not in UNDECIDED]),
        agreement=st.sampled_from(AGREEMENTS),
        workaround=st.sampled_from(["holds", "fails", "none"]),
        case=st.sampled_from(["headline", "variant"]),
        detail=st.sampled_from(["it was seen", "seen otherwise", ""]),
    ),
    st.sampled_from(sorted(UNDECIDED)).map(undecided),
)


# Assembling


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of records and environments that is empty."""
    monkeypatch.setattr(records, "RECORDS", tmp_path / "records")
    monkeypatch.setattr(environment, "ENVIRONMENTS", tmp_path / "envs")
    return tmp_path


CELLS = plan.cells()[:3]
SMOKE, *_ = ENTRIES = catalogue.select(["stack-smoke", "wraps-lower-bypass"])
CASES = [(entry, case) for entry in ENTRIES for case in entry.issue.cases]


def put_status(cell: Cell, verdict: str = "ran", reason: str = "ran", **changes: str) -> None:
    """Write down how far a cell got."""
    known = {"cell": cell.id, "at": "2026-11-21T10:00:00Z", "python": "3.12.1", "device": "cpu"}
    records.write_status(Status.model_validate({**known, "verdict": verdict, "reason": reason, **changes}))


WELL = Part(outcome="returned")


def put_record(
    cell: Cell, entry: Entry, case_id: str, reproducer: Part, lock_sha256: str | None = None, *, helps: bool = True
) -> None:
    """Write down what a reproducer did, and its workaround, with a control that is well."""
    pinned = lock.load(cell)
    (case,) = catalogue.narrowed(entry, [case_id]).issue.cases
    clear = next((name for name, means in case.behaviours.items() if means == "clear"), None)
    workaround = Part(outcome="returned" if helps else "raised", behaviour=clear if helps else None)
    made = Record(
        schema_version=2,
        cell=cell.id,
        issue=entry.issue.id,
        case=case_id,
        key=records.key(entry, case, lock_sha256 or pinned.sha256, cell.python),
        started_at=datetime(2026, 11, 21, 10, tzinfo=UTC),
        machine=Machine(
            python=f"{cell.python}.1",
            packages=dict(pinned.pins),
            platform={"system": "Linux", "machine": "x86_64", "cpu": "some cpu"},
            import_errors={},
            unforkable=None,
        ),
        attempts=[Attempt(parts={"reproducer": reproducer, "workaround": workaround, "control": WELL}, seconds=1.5)],
    )
    path = records.path_of(cell.id, entry.issue.id, case_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(files.dump(made.model_dump(mode="json")), encoding="utf-8")


def put_what_is_expected(cells: Sequence[Cell]) -> None:
    """Write down for every case of ENTRIES on these cells what it is known to show."""
    for cell in cells:
        put_status(cell)
        for entry, case in CASES:
            pins = lock.load(cell).pins
            known = expected(case, pins)
            assert known is not None
            fails = case.workaround is not None and any(met(on, pins) for on in case.workaround.fails)
            put_record(cell, entry, case.id, Part(outcome="returned", behaviour=known.behaviour), helps=not fails)


def test_what_was_never_tried_is_in_the_report(state: Path) -> None:
    """Without a record every planned observation is there as not run, and the run is incomplete."""
    made = assemble(CELLS, ENTRIES)

    assert [(cell.id, entry.issue.id, case.id) for cell in CELLS for entry, case in CASES] == [
        (each.cell, each.issue, each.case) for each in made.observations
    ]
    assert {("not-run", "run.not-tried", "spurious")} == {
        (each.verdict, each.reason, each.agreement) for each in made.observations
    }
    assert (len(made.observations), 0) == (made.coverage.not_run, made.coverage.run)
    assert Exit.INCOMPLETE == summary.exit_code(made)


def test_what_does_as_expected_is_well(state: Path) -> None:
    """Where every case shows what its releases are known to show, the exit code is 0 and the counts say so."""
    put_what_is_expected(CELLS)

    made = assemble(CELLS, ENTRIES)

    count = len(CELLS) * len(CASES)
    assert {"as-expected"} == {each.agreement for each in made.observations}
    assert Exit.AS_EXPECTED == summary.exit_code(made)
    assert f"{count} run, 0 not run, 0 unavailable, 0 error; {count} as expected" in summary.last_line(made)
    assert ("Linux", "x86_64", "some cpu", "cpu") == tuple(made.platform.model_dump().values())


def test_the_intervals_are_of_what_was_seen(state: Path) -> None:
    """A case's intervals run along the cells in version order, whatever order they were planned in."""
    cells = [plan.cell(f"jax-{version}") for version in ("0.10.0", "0.4.20", "0.9.2")]
    put_what_is_expected(cells)

    (headline, *_) = assemble(cells, ENTRIES[1:]).issues[0].cases

    assert [("bypassed", "0.4.20", "0.4.20"), ("attribute-error", "0.9.2", "0.10.0")] == [
        (each.behaviour, each.first, each.last) for each in headline.intervals
    ]


@pytest.mark.parametrize(("verdict", "reason"), [("unavailable", "plan.no-interpreter"), ("error", "install.network")])
def test_a_cell_that_did_not_come_about_tells_why(state: Path, verdict: str, reason: str) -> None:
    """Where a cell got no environment, all its observations have the cell's verdict and reason."""
    put_what_is_expected(CELLS)
    put_status(CELLS[1], verdict, reason, python="", detail="because\nof this")

    made = assemble(CELLS, ENTRIES)

    assert {(verdict, reason, "because of this", 0)} == {
        (each.verdict, each.reason, each.detail, each.attempts)
        for each in made.observations
        if each.cell == CELLS[1].id
    }
    assert len(CASES) == getattr(made.coverage, verdict)
    assert Exit.INCOMPLETE == summary.exit_code(made)


def test_a_probe_that_died_keeps_what_it_had_seen(state: Path) -> None:
    """Where the probe ended early, the records it left count, and the rest are errors."""
    put_status(CELLS[0], "error", "run.probe", detail="the probe ended")
    put_record(CELLS[0], SMOKE, "train-and-solve", Part(outcome="returned", behaviour="works"))

    made = assemble(CELLS[:1], [SMOKE])

    assert [("clear", None), ("error", "run.probe")] == [(each.verdict, each.reason) for each in made.observations]


def test_a_record_under_another_key_does_not_count(state: Path) -> None:
    """What was seen under another lock is as if it had not been run."""
    put_status(CELLS[0])
    works = Part(outcome="returned", behaviour="works")
    put_record(CELLS[0], SMOKE, "train-and-solve", works)
    put_record(CELLS[0], SMOKE, "implicit-solve", works, lock_sha256="0" * 64)

    made = assemble(CELLS[:1], [SMOKE])

    assert ["clear", "not-run"] == [each.verdict for each in made.observations]


def test_a_record_that_is_none_is_a_fault(state: Path) -> None:
    """A garbled record is a fault that names the file, and not an observation."""
    put_status(CELLS[0])
    put_record(CELLS[0], SMOKE, "train-and-solve", Part(outcome="returned", behaviour="works"))
    records.path_of(CELLS[0].id, SMOKE.issue.id, "train-and-solve").write_text('{"schema_version": 1', encoding="utf-8")

    with pytest.raises(BadFile, match=r"train-and-solve\.json: syntax"):
        assemble(CELLS[:1], [SMOKE])


@pytest.mark.parametrize(
    ("reproducers", "word"),
    [
        ([Part(outcome="returned", behaviour="works")] * 2, "supported"),
        ([Part(outcome="returned", behaviour="works"), Part(outcome="raised")], "latent"),
        ([Part(outcome="import-error")] * 2, "latent"),
        ([Part(outcome="returned", behaviour="works"), Part(outcome="memory")], None),
        ([], None),
    ],
)
def test_a_cell_works_where_row_zero_does(state: Path, reproducers: list[Part], word: str | None) -> None:
    """A cell whose metadata allows it is supported or latent by what row zero did, and neither where it is unknown."""
    put_status(CELLS[0])
    for case, reproducer in zip_longest(SMOKE.issue.cases, reproducers):
        if reproducer is not None:
            put_record(CELLS[0], SMOKE, case.id, reproducer)

    (row,) = assemble(CELLS[:1], [SMOKE]).cells

    assert ("allows", word) == (row.declared, row.declared_observed)


def test_what_was_observed_is_in_the_report(state: Path) -> None:
    """An observation has the behaviour, the evidence, the workaround and the cost of the record it is made from."""
    put_status(CELLS[0])
    put_record(CELLS[0], ENTRIES[1], "jit", Part(outcome="returned", behaviour="bypassed", detail="2.0, not 20.0"))

    (found, *_) = assemble(CELLS[:1], [ENTRIES[1]]).observations

    assert found == observation(
        **{"cell": CELLS[0].id, "issue": "wraps-lower-bypass", "case": "jit", "behaviour": "bypassed"},
        **{"reason": "run.bypassed", "expected": "bypassed", "detail": "2.0, not 20.0", "workaround": "holds"},
        **{"seconds": 1.5, "peak_rss_mib": 0},
    )


# JSON


def test_every_report_is_written_and_read_back(tmp_path: Path) -> None:
    """compat.json is what its schema says, and the same report again; every file is UTF-8 that ends with a newline."""
    validator = jsonschema.Draft202012Validator(json.loads(schema()), format_checker=jsonschema.FormatChecker())
    validator.check_schema(validator.schema)
    for name, of in REPORTS_TO_SHOW.items():
        folder = tmp_path / name
        written = write(of, folder)
        validator.validate(json.loads((folder / "compat.json").read_text(encoding="utf-8")))
        assert of == files.read(Report, folder / "compat.json")
        there = {"compat.json", "compat.schema.json", "COMPAT.md", "index.html", "feed.xml", "junit.xml"}
        assert {*there, "timings.json"} == {path.name for path in written if path.parent == folder}
        assert sorted(written) == sorted(path for path in folder.rglob("*") if path.is_file())
        assert [] == [path for path in written if not path.read_text(encoding="utf-8").endswith("\n")]


def test_the_schema_is_closed() -> None:
    """What is not of the model, a value or a key, does not pass the schema either."""
    odd = {"verdict": "fine", "agreement": "agreed", "workaround": "perhaps", "attempts": "many"}
    validator = jsonschema.Draft202012Validator(json.loads(schema()))
    refused = set()
    for key, value in {**odd, "detail": None, "opinion": "mine"}.items():
        data = json.loads(compact.text(PLAIN))
        assert validator.is_valid(data)
        data["observations"][0][key] = value
        refused |= set() if validator.is_valid(data) else {key}

    assert {*odd, "detail", "opinion"} == refused


@given(observations=st.lists(OBSERVATIONS, max_size=10))
@settings(deadline=None, max_examples=50)
def test_what_is_left_out_of_the_file_is_filled_in(observations: list[Observation]) -> None:
    """Whatever observations there are, a report comes out of its file as it went in."""
    of = report(*observations)

    assert of == Report.model_validate_json(compact.text(of))


def test_the_published_schema_is_that_of_the_model() -> None:
    """The JSON Schema in the tree is the one that the model makes today."""
    published = REPORTS.glob("published/compat.schema.json")

    assert {path.read_text(encoding="utf-8") for path in published} <= {schema()}


def test_the_published_report_is_one() -> None:
    """Each report in the tree is read by the model, and says of itself what its observations do."""
    for path in REPORTS.glob("published/compat.json"):
        published = files.read(Report, path)
        assert f"{summary.last_line(published)}." in path.with_name("COMPAT.md").read_text(encoding="utf-8")


# Pages and Markdown

TEMPLATES = ("compat.md.jinja", "index.html.jinja")


@cache
def rendered(name: str, template: str) -> str:
    """One of the reports above as a page or Markdown."""
    return render(REPORTS_TO_SHOW[name], template)


def test_a_report_ends_no_claim_without_the_counts() -> None:
    """Page and Markdown have the last line, with its counts of what ran and what did not."""
    assert [] == [
        (name, template)
        for name, of in REPORTS_TO_SHOW.items()
        for template in TEMPLATES
        if f"{summary.last_line(of)}." not in rendered(name, template)
    ]


def test_every_verdict_is_shown() -> None:
    """Page and Markdown show each verdict's glyph and name, and have no hole where something was not there."""
    for text in (rendered("every verdict", template) for template in TEMPLATES):
        assert [] == [verdict for verdict in VERDICTS if f"{GLYPHS[verdict]} {verdict}" not in text]
        assert not re.search(r"\b(None|Undefined)\b", text)


def test_the_page_is_closed() -> None:
    """The page loads nothing, and runs its own script alone: no handler, no frame, no address but a thread's.

    No two of its elements have one id, and every link within it leads to one.
    """
    for page in (Page(rendered(name, "index.html.jinja")) for name in REPORTS_TO_SHOW):
        tags = {tag for tag, _ in page.elements}
        assert set() == tags & {"iframe", "object", "embed", "img", "link", "base", "image", "use", "foreignobject"}
        attributes = [(key, value or "") for _, attributes in page.elements for key, value in attributes]
        assert [] == [key for key, _ in attributes if key.startswith("on") or key in ("src", "style")]
        links = [value for key, value in attributes if key == "href"]
        assert [] == [each for each in links if not re.match(r"#|compat\.json$|COMPAT\.md$|https://github\.com/", each)]
        ids = [value for key, value in attributes if key == "id"]
        assert sorted(set(ids)) == sorted(ids)
        assert {each[1:] for each in links if each.startswith("#")} <= set(ids)


def test_the_policy_of_the_page_admits_its_own_script_alone() -> None:
    """The content security policy names the page's script and style by their hashes, and admits no more."""
    text = rendered("every verdict", "index.html.jinja")

    (policy,) = re.findall('Content-Security-Policy" content="([^"]*)"', text)
    (script,) = re.findall("<script>(.*?)</script>", text, re.DOTALL)
    (style,) = re.findall("<style>(.*?)</style>", text, re.DOTALL)
    assert policy.split("; ") == [
        "default-src 'none'",
        *(f"{what}-src '{digest(part)}'" for what, part in (("script", script), ("style", style))),
        "base-uri 'none'",
        "form-action 'none'",
    ]


HOSTILE = {
    "script": "</td></table><script>alert(1)</script><img src=x onerror=alert(1)><style>*{display:none}</style>",
    "attribute": '" onmouseover="alert(1)" x=\'\' javascript:alert(1)',
    "entity": "&lt;script&gt; &amp;amp; &#60;b&#62;",
    "template": "{{ report }} {% for x in y %} {# comment #}",
    "table": "one | two | three\n|---|---|\n| a | b |\n\n# A heading\n\n- a list",
    "code": "`code` ```\nfence\n``` ~~~",
    "emphasis": "*a* **b** _c_ __d__ \\*e\\* ~~f~~",
    "link": "[text](javascript:alert(1)) ![image](http://example.org/x.png) <http://example.org> [a]: b",
    "comment": "<!-- --> <![CDATA[ ]]> <?php ?> <b>",
    "markup": "[bold red]red[/bold red] [link=http://example.org]x[/link] [/]",
    "long": "x" * 1_000_000,
    "lines": "\n" * 1000,
}


def saying(texts: Iterable[str]) -> Report:
    """A report in which each of these was said by a case as expected, by a new one and by one that came to nothing."""
    made = []
    for number, text in enumerate(texts):
        made += [observation(case=f"seen-{number}", detail=f"said {text}")]
        made += [observation(case=f"new-{number}", agreement="new", detail=f"said {text}")]
        made += [undecided("error", case=f"error-{number}", detail=f"said {text}")]
    return report(*made)


def test_somebody_elses_text_is_text() -> None:
    """Whatever an exception says stands in page and Markdown as it was said, and adds no element to either."""
    odd, plain = saying(HOSTILE.values()), saying(map(str, range(len(HOSTILE))))

    page, text = Page(render(odd, "index.html.jinja")), render(odd, "compat.md.jinja")

    assert Page(render(plain, "index.html.jinja")).elements == page.elements
    assert [] == [name for name, each in HOSTILE.items() if said(f"said {each}") not in page.text]
    assert structure(render(plain, "compat.md.jinja")) == structure(text)
    told = {token.content for token in tokens(text) if token.type == "text"}
    assert [] == [name for name, each in HOSTILE.items() if clipped(" ".join(f"said {each}".split())) not in told]


HARMLESS = report(observation(agreement="new", detail="said nothing."))
HARMLESS_ELEMENTS = Page(render(HARMLESS, "index.html.jinja")).elements
HARMLESS_STRUCTURE = structure(render(HARMLESS, "compat.md.jinja"))


@given(said=st.text(min_size=1))
@settings(deadline=None, max_examples=25)
def test_any_text_is_text(said: str) -> None:
    """No text that somebody else's code can say changes the structure of the page or of the Markdown."""
    hostile = report(observation(agreement="new", detail=f"said {said}."))

    assert HARMLESS_ELEMENTS == Page(render(hostile, "index.html.jinja")).elements
    assert HARMLESS_STRUCTURE == structure(render(hostile, "compat.md.jinja"))


@pytest.mark.parametrize(("outcome", "where"), [("raised", "reproducer"), ("exit", "control")])
def test_what_is_judged_cannot_act_on_a_screen(outcome: Any, where: str) -> None:
    """Escape sequences and direction marks in what an issue said reach no emitter as such."""
    said = Part(
        outcome=outcome, exception="Some", detail="\x1b[31mred\x1b[0m \x1b]0;title\x07 \u202eleft\u202c a\u2066b"
    )
    parts = {"reproducer": Part(outcome="returned", behaviour="bypassed"), "control": Part(outcome="returned")}
    attempt = Attempt.model_validate({"parts": {**parts, where: said}, "seconds": 1.0})
    judged = verdicts.judge(CASES[-1][1], [attempt])

    told = report(observation(verdict=judged.verdict, detail=judged.detail, agreement="changed"))

    for text in (shown(told), render(told, "index.html.jinja"), render(told, "compat.md.jinja")):
        assert [] == re.findall("[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", text)


# Exit code and counts


@pytest.mark.parametrize(
    ("of", "code"),
    [
        (EMPTY, Exit.INCOMPLETE),
        (PLAIN, Exit.AS_EXPECTED),
        (report(observation(), observation(case="other", verdict="clear", behaviour="good")), Exit.AS_EXPECTED),
        *((report(observation(), observation(case="other", agreement=each)), Exit.UNEXPECTED) for each in (
            "regressed", "fixed", "changed", "new",
        )),
        *((report(observation(), undecided(each, case="other")), Exit.INCOMPLETE)
          for each in sorted(UNDECIDED - {"blocked"})),
        (report(observation(), undecided("blocked", case="other")), Exit.AS_EXPECTED),
        (report(undecided("not-run"), observation(case="other", agreement="regressed")), Exit.UNEXPECTED),
        (report(observation(workaround="fails")), Exit.UNEXPECTED),
        (report(observation(workaround="none")), Exit.AS_EXPECTED),
        (report(observation(), planned=2), Exit.INCOMPLETE),
    ],
)  # fmt: skip
def test_the_exit_code(of: Report, code: Exit) -> None:
    """It is 0 only where all planned was run and is as expected, 1 where something is not, else 3."""
    assert code == summary.exit_code(of)


def test_a_failing_workaround_wants_a_look() -> None:
    """An observation that is as expected but whose workaround fails is listed as not as expected."""
    fails = observation(case="other", workaround="fails")

    assert [fails] == summary.unexpected(report(observation(), fails))


def test_one_cause_is_told_once() -> None:
    """What was not decided is told by cell and cause, and one case by its name."""
    broken = [undecided("error", case=case, reason="install.network") for case in ("one", "other")]
    alone = undecided("flaky", cell="jax-0.5.0", case="one")

    told = summary.undecided(report(*broken, alone, observation(case="other", cell="jax-0.5.0")))

    assert [("jax-0.4.30", "install.network", "2 cases"), ("jax-0.5.0", "run.nothing", "some-issue/one")] == [
        (each.cell, each.reason, each.cases) for each in told
    ]


@given(observations=st.lists(OBSERVATIONS, max_size=30))
@settings(deadline=None)
def test_the_counts_add_up(observations: list[Observation]) -> None:
    """The four counts of what ran add up to what was planned, and so do the agreements."""
    line = summary.last_line(report(*observations))

    planned, cells = map(int, re.findall(r"^(\d+) observations planned on (\d+) cell", line)[0])
    ran, agreed = line.split(": ")[1].split("; ")
    told = {
        what: int(count) for count, what in re.findall(r"(\d+) ([a-z -]+)", agreed.replace("workarounds", "workaround"))
    }
    blocked = sum(each.verdict == "blocked" for each in observations)
    ran = ran.replace(f" ({blocked} of them behind an import that fails)", "")
    assert len(observations) == planned == sum(map(int, re.findall(r"\d+", ran)))
    assert len({each.cell for each in observations}) == cells
    assert sum(each.workaround == "fails" for each in observations) == told.pop("workaround not as known", 0)
    assert len(observations) == sum(told.values())


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        ("0.4.30", "0.5.0", "0.4.30–0.5.0"),
        ("0.5.0", "0.5.0", "0.5.0"),
        ("0.4.30", "0.6.0", "0.4.30 on"),
        ("0.6.0", "0.6.0", "0.6.0 on"),
    ],
)
def test_an_interval_for_people(first: str, last: str, words: str) -> None:
    """An interval is its two ends, or the first alone where it is one release or reaches the newest."""
    cells = report(*(observation(cell=f"jax-{version}") for version in ("0.4.30", "0.5.0", "0.6.0"))).cells
    interval = IntervalRow.model_validate(
        {
            **{"behaviour": "bad", "verdict": "affected", "package": "jax", "exact": False, "order": "version"},
            **{"first": first, "last": last},
        }
    )

    assert words == summary.span(interval, cells)


def test_the_only_release_is_not_open() -> None:
    """Where one release was run, what it showed is said of that one alone."""
    (case,) = PLAIN.issues[0].cases

    assert "0.4.30" == summary.span(case.intervals[0], PLAIN.cells)


# Terminal


@pytest.mark.parametrize("name", ["plain", "every verdict"])
def test_a_terminal_ends_with_the_last_line(name: str) -> None:
    """What a terminal of 80 columns shows ends with the counts, in one piece."""
    of = REPORTS_TO_SHOW[name]

    assert summary.last_line(of) == shown(of).splitlines()[-1]


def test_a_terminal_shows_an_empty_report() -> None:
    """A report on nothing says how to make records."""
    assert "There are no records to report on: `nox -s compat` makes some.\n" == shown(EMPTY)


def test_a_terminal_shows_every_verdict() -> None:
    """Each verdict's glyph is shown, and each cause of what was not decided."""
    text = shown(EVERY_VERDICT)

    assert [] == [verdict for verdict in VERDICTS if GLYPHS[verdict] not in text]
    # That a package does not import is told once, by row zero.
    told = {verdict for verdict in UNDECIDED if f"{verdict} [run.nothing]" in text}
    assert UNDECIDED - {"blocked"} == told


def test_a_terminal_shows_the_whole_line(state: Path) -> None:
    """All cells and issues of the real line fit into 80 columns, up to the lists below the table."""
    table = shown(assemble(plan.tagged("line"), catalogue.entries())).split("\nNot decided\n")[0]

    assert max(map(len, table.splitlines())) <= 80
    for entry in catalogue.entries():
        assert entry.issue.id in table


def test_a_terminal_says_how_many_it_leaves_out() -> None:
    """Where more is not as expected than a screen holds, the rest is counted."""
    many = report(*(observation(case=f"case-{number}", agreement="new") for number in range(50)))

    listed = shown(many).count("nox -s ")
    assert f"… and {50 - listed} more" in shown(many)


def test_somebody_elses_text_is_text_in_a_terminal() -> None:
    """Whatever an exception says is shown as it was said: none of it is taken for markup."""
    for hostile in HOSTILE.values():
        assert hostile in shown(report(observation(agreement="new", detail=hostile)))


def test_colour_is_left_out_where_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    """With NO_COLOR set the same words are shown without a colour."""
    colour = re.compile(r"\x1b\[(?:\d+;)*(?:[34][0-7]|9[0-7])[;m]")
    options: dict[str, Any] = {"force_terminal": True, "color_system": "standard"}
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = shown(EVERY_VERDICT, **options)
    monkeypatch.setenv("NO_COLOR", "1")
    plain = shown(EVERY_VERDICT, **options)

    words = [re.sub(r"\x1b\[[\d;]*m", "", text) for text in (coloured, plain)]
    assert words[0] == words[1]
    assert colour.search(coloured)
    assert not colour.search(plain)
