"""Tests of the report: assembled from records, and written in every format."""

import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.console import Console

from jax_stack_compat.base import files
from jax_stack_compat.base.errors import Exit
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.issue import Case
from jax_stack_compat.judge.record import Attempt, Machine, Part, Record, Where
from jax_stack_compat.judge.rules import expected, met
from jax_stack_compat.judge.verdict_table import GLYPHS, UNDECIDED, VERDICTS, Verdict
from jax_stack_compat.judge.verdicts import Agreement, WorkaroundWord
from jax_stack_compat.stack import lock, plan
from jax_stack_compat.stack.plan import Cell
from laboratory.records import keys, records
from laboratory.records.records import Status
from laboratory.report import summary
from laboratory.report.assemble import assemble, roughly
from laboratory.report.compare import since
from laboratory.report.derive import coverage
from laboratory.report.folder import compat_json as stored
from laboratory.report.folder.write import schema, write
from laboratory.report.formats import terminal
from laboratory.report.formats.compat_md import compat_md
from laboratory.report.model import CellRow, Observation, Report
from tests.report.on_disk import pages

pytestmark = pytest.mark.usefixtures("untimed")


def observation(**changes: Any) -> Observation:
    """Return an observation that is as expected, with `changes`."""
    plain = {"cell": "jax-0.4.30", "issue": "some-issue", "case": "headline", "verdict": "affected", "behaviour": "bad"}
    plain |= {"reason": "run.bad", "expected": "bad", "agreement": "as-expected", "workaround": "holds"}
    rest = {"attempts": 1, "seconds": 0.5, "peak_rss_mib": 100, "detail": "it was seen"}
    known = {"workaround_expected": changes.get("workaround") != "fails"}
    return Observation.model_validate({**plain, **rest, **known, **changes})


def undecided(verdict: Verdict, **changes: Any) -> Observation:
    """Return an undecided observation."""
    nothing = {"behaviour": None, "reason": "run.nothing", "agreement": "undecided", "workaround": "none"}
    return observation(verdict=verdict, **{**nothing, **changes})


def report(*observations: Observation, planned: int | None = None) -> Report:
    """Return a report of these observations, with their issues, cases and cells."""
    cells = list(dict.fromkeys(each.cell for each in observations))
    interval = {"behaviour": "bad", "verdict": "affected", "package": "jax", "first": "0.4.30", "last": "0.4.30"}
    rows = [
        {
            "id": case,
            "question": "Does it?",
            "needs": ["jax"],
            "behaviours": {"bad": "affected", "good": "clear"},
            "rules": [{"behaviour": "bad", "on": "jax<0.5", "evidence": "seen"}],
            "workaround": {"text": "Do not."},
            "intervals": [{**interval, "exact": False}],
            "source": 'def headline():\n    return "bad", "it was seen"\n',
        }
        for case in dict.fromkeys(each.case for each in observations)
    ]
    issue = {
        **{"id": "some-issue", "title": "It does", "kind": "crash", "story": "Once.", "cases": rows},
        "upstream": [{"ref": "jax-ml/jax#1", "role": "report", "state": "open"}],
        "source_sha256": "1" * 64,
    }
    made = Report.model_validate(
        {
            "schema_version": 4,
            "generated_at": "2026-11-21T10:00:00Z",
            "suite_version": "0.1.0",
            "probe_sha256": "2" * 64,
            "planned_cells": cells,
            "platform": {"system": "Linux", "machine": "x86_64", "cpu": "some cpu", "device": "cpu"},
            "cells": [cell_row(cell) for cell in cells],
            "issues": [issue] if observations else [],
            "observations": observations,
            "coverage": coverage(observations),
        }
    )
    counted = made.coverage if planned is None else made.coverage.model_copy(update={"planned": planned})
    return made.model_copy(update={"coverage": counted})


def cell_row(identifier: str, **changes: Any) -> CellRow:
    """Return a cell of the line or, if its id names several packages, of an arm, with `changes`."""
    holds = {part.partition("-")[0]: part.partition("-")[2] for part in identifier.split("+")}
    jax = holds.get("jax", "0.4.30")
    packages = {"jax": jax, "jaxlib": jax, "equinox": "0.11.4", "diffrax": "0.5.1", **holds}
    moved = {"kind": "arm" if len(holds) > 1 else "line", "moves": next(iter(holds)), "holds": holds}
    kept = {"python": "3.12", "released_on": "2024-06-18", "lock_sha256": "0" * 64, "declared": "allows"}
    return CellRow.model_validate({"id": identifier, "packages": packages, **moved, **kept, **changes})


def with_issue(of: Report, **changes: Any) -> Report:
    """Return a report of one issue, with `changes` of the issue."""
    (issue,) = of.issues
    return of.model_copy(update={"issues": [issue.model_copy(update=changes)]})


def with_case(of: Report, **changes: Any) -> Report:
    """Return a report of one issue with one case, with `changes` of the case."""
    (case,) = of.issues[0].cases
    return with_issue(of, cases=[case.model_copy(update=changes)])


EMPTY = report()
PLAIN = report(observation())


def one_of(verdict: Verdict, cell: str) -> Observation:
    """Return an observation with this verdict, in a case of its own."""
    case = f"case-{verdict}"
    if verdict in UNDECIDED:
        return undecided(verdict, case=case, cell=cell)
    if verdict == "clear":
        return observation(verdict=verdict, case=case, cell=cell, behaviour="good", reason=None, agreement="fixed")
    return observation(verdict=verdict, case=case, cell=cell, agreement="changed", workaround="fails")


EVERY_VERDICT = report(*(one_of(verdict, cell) for cell in ("jax-0.4.30", "jax-0.5.0") for verdict in VERDICTS))
BLOCKED = report(observation(), undecided("blocked", case="other"))
CHANGED = PLAIN.model_copy(update={"since": since(report(observation(behaviour="other")), PLAIN)})
REPORTS_TO_SHOW = {"empty": EMPTY, "plain": PLAIN, "every verdict": EVERY_VERDICT, "changed": CHANGED}


def on_screen(show: Callable[..., None], *of: object, width: int = 300, **how: bool) -> str:
    """Return what `show` prints in so many columns, without colour."""
    screen = StringIO()
    show(*of, Console(file=screen, width=width, highlight=False), **how)
    return screen.getvalue()


def shown(of: Report, width: int = 80, *, cases: bool = False, verbose: bool = False) -> str:
    """Return a report as printed."""
    return on_screen(terminal.show, of, width=width, cases=cases, verbose=verbose)


def tokens(markdown: str) -> list[Token]:
    """Return the tokens of a Markdown text with tables, nested ones too."""
    blocks = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)
    return [token for block in blocks for token in (block, *(block.children or []))]


# Every possible value of an observation, even if the judge never gives it.
ANY_OBSERVATION = st.builds(
    Observation,
    cell=st.sampled_from(["jax-0.4.30", "jax-0.4.31", "jax-0.5.0", "jax-0.6.0"]),
    issue=st.just("some-issue"),
    case=st.sampled_from(["headline", "variant"]),
    verdict=st.sampled_from(VERDICTS),
    behaviour=st.sampled_from([None, "bad", "good", "crashed"]),
    reason=st.sampled_from([None, "run.bad", "run.signal", "import.exception"]),
    expected=st.sampled_from([None, "bad", "good"]),
    agreement=st.sampled_from(get_args(Agreement)),
    workaround=st.sampled_from(get_args(WorkaroundWord)),
    workaround_expected=st.booleans(),
    attempts=st.integers(0, 2),
    seconds=st.sampled_from([0.0, 0.1, 12.5]),
    peak_rss_mib=st.sampled_from([0, 150]),
    detail=st.sampled_from(["it was seen", 'it said "no", twice', "-51", "=1+1", "'quoted'", "nan", ""]),
)
ANY_OBSERVATIONS = st.lists(ANY_OBSERVATION, max_size=8, unique_by=lambda each: (each.cell, each.case))


CELLS = plan.cells()[:3]
SMOKE, *_ = ENTRIES = catalogue.select(["stack-smoke", "wraps-lower-bypass"])
SMOKE_CASES = SMOKE.issue.cases
CASES = [(entry, case) for entry in ENTRIES for case in entry.issue.cases]


def put_status(cell: Cell, verdict: str = "ran", reason: str = "ran", **changes: str) -> None:
    """Write a cell's status."""
    known = {"cell": cell.id, "at": "2026-11-21T10:00:00Z", "python": "3.12.1", "device": "cpu"}
    records.write_status(Status.model_validate({**known, "verdict": verdict, "reason": reason, **changes}))


WELL = Part(outcome="returned")
WORKS = Part(outcome="returned", behaviour="works")


def put_record(
    cell: Cell, entry: Entry, case: Case, reproducer: Part, lock_sha256: str | None = None, *, helps: bool = True
) -> Path:
    """Write the record of a reproducer and its workaround, with a clear control; return its path."""
    pinned = lock.load(cell)
    clear = next((name for name, means in case.behaviours.items() if means == "clear"), None)
    workaround = Part(outcome="returned" if helps else "raised", behaviour=clear if helps else None)
    made = Record(
        schema_version=2,
        cell=cell.id,
        issue=entry.issue.id,
        case=case.id,
        key=keys.key(entry, case, lock_sha256 or pinned.sha256, cell.python),
        started_at=datetime(2026, 11, 21, 10, tzinfo=UTC),
        machine=Machine(
            python=f"{cell.python}.1",
            packages=dict(pinned.pins),
            platform=Where(system="Linux", machine="x86_64", cpu="some cpu"),
            import_errors={},
            unforkable=None,
            remade=reproducer.outcome == "import-error",
        ),
        attempts=[
            Attempt(
                parts={"reproducer": reproducer, "workaround": workaround, "control": WELL},
                seconds=1.46,
                peak_rss_mib=148,
            )
        ],
    )
    path = records.path_of(cell.id, entry.issue.id, case.id)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(files.dump(made.model_dump(mode="json")), encoding="utf-8")
    return path


def put_what_is_expected(cells: Sequence[Cell]) -> None:
    """Write a record of the expected behaviour for every case of ENTRIES on these cells."""
    for cell in cells:
        put_status(cell)
        pins = lock.load(cell).pins
        for entry, case in CASES:
            known = expected(case, pins)
            assert known is not None
            fails = case.workaround is not None and any(met(on, pins) for on in case.workaround.fails)
            put_record(cell, entry, case, Part(outcome="returned", behaviour=known.behaviour), helps=not fails)


def test_what_was_never_tried_is_in_the_report(elsewhere: Path) -> None:
    """Without records every planned observation is not-run, and the run is incomplete."""
    made = assemble(CELLS, ENTRIES)

    assert [(cell.id, entry.issue.id, case.id) for cell in CELLS for entry, case in CASES] == [
        (seen.cell, seen.issue, seen.case) for seen in made.observations
    ]
    assert {("not-run", "run.not-tried", "undecided")} == {
        (seen.verdict, seen.reason, seen.agreement) for seen in made.observations
    }
    assert (len(made.observations), 0) == (made.coverage.not_run, made.coverage.run)
    assert Exit.INCOMPLETE == summary.exit_code(made)


def test_what_does_as_expected_is_well(elsewhere: Path) -> None:
    """If every case is as expected, the exit code is 0 and the counts say so."""
    put_what_is_expected(CELLS)

    made = assemble(CELLS, ENTRIES)

    count = len(CELLS) * len(CASES)
    assert {"as-expected"} == {each.agreement for each in made.observations}
    assert Exit.AS_EXPECTED == summary.exit_code(made)
    assert f"{count} of {count} run as expected; 0 could not run, 0 not run, 0 errors" == summary.last_line(made)
    assert ("Linux", "x86_64", "some cpu", "cpu") == tuple(made.platform.model_dump().values())


@pytest.mark.parametrize(("verdict", "reason"), [("unavailable", "plan.no-interpreter"), ("error", "install.network")])
def test_a_cell_that_did_not_come_about_tells_why(elsewhere: Path, verdict: str, reason: str) -> None:
    """All observations of a cell without an environment have the cell's verdict and reason."""
    put_status(CELLS[1], verdict, reason, python="", detail="because\nof this")

    made = assemble(CELLS, ENTRIES)

    assert {(verdict, reason, "because of this", 0)} == {
        (seen.verdict, seen.reason, seen.detail, seen.attempts)
        for seen in made.observations
        if seen.cell == CELLS[1].id
    }
    assert len(CASES) == getattr(made.coverage, verdict)
    assert Exit.INCOMPLETE == summary.exit_code(made)


@pytest.mark.parametrize(
    ("verdict", "reason", "counts"),
    [
        ("unavailable", "plan.no-interpreter", True),
        ("unavailable", "plan.no-device", True),
        ("error", "install.network", False),
    ],
)
def test_a_machine_that_lacks_something_takes_nothing_away(
    elsewhere: Path, verdict: str, reason: str, counts: bool
) -> None:
    """Earlier records count if the interpreter or device is missing here; a failed install hides them."""
    put_what_is_expected(CELLS)
    put_status(CELLS[1], verdict, reason, python="")

    made = assemble(CELLS, ENTRIES)

    assert {counts} == {each.attempts > 0 for each in made.observations if each.cell == CELLS[1].id}
    assert (Exit.AS_EXPECTED if counts else Exit.INCOMPLETE) == summary.exit_code(made)


def test_the_line_s_own_python_is_not_left_to_others(elsewhere: Path) -> None:
    """Without the line's Python a publish is incomplete too."""
    put_what_is_expected(CELLS[1:])
    put_status(CELLS[0], "unavailable", "plan.no-interpreter", python="")
    assert Exit.INCOMPLETE == summary.exit_code(assemble(CELLS, ENTRIES), other_pythons=False)


@pytest.mark.parametrize(
    ("other", "status", "second"),
    [(None, ("error", "run.probe"), ("error", "run.probe")), ("0" * 64, ("ran", "ran"), ("not-run", "run.not-tried"))],
)
def test_a_record_counts_where_it_is_in_force(
    elsewhere: Path, other: str | None, status: tuple[str, str], second: tuple[str, str]
) -> None:
    """Records of a probe that ended early count; records under another lock do not."""
    put_status(CELLS[0], *status)
    put_record(CELLS[0], SMOKE, SMOKE_CASES[0], WORKS)
    if other:
        put_record(CELLS[0], SMOKE, SMOKE_CASES[1], WORKS, other)

    made = assemble(CELLS[:1], [SMOKE])

    assert [("clear", None), second] == [(each.verdict, each.reason) for each in made.observations]


@pytest.mark.parametrize(
    ("reproducers", "word"),
    [
        ([WORKS, WORKS], "supported"),
        ([WORKS, Part(outcome="raised")], "latent"),
        ([Part(outcome="import-error")] * 2, "latent"),
        ([WORKS, Part(outcome="memory")], None),
        ([], None),
    ],
)
def test_a_cell_works_where_row_zero_does(elsewhere: Path, reproducers: list[Part], word: str | None) -> None:
    """An allowed cell is supported or latent by row zero, and neither if row zero is undecided."""
    put_status(CELLS[0])
    for case, reproducer in zip(SMOKE_CASES, reproducers, strict=False):
        put_record(CELLS[0], SMOKE, case, reproducer)

    (row,) = assemble(CELLS[:1], [SMOKE]).cells

    assert ("allows", word) == (row.declared, row.declared_observed)


def test_what_was_observed_is_in_the_report(elsewhere: Path) -> None:
    """An observation has the behaviour, the evidence, the workaround and the cost of the record it is made from."""
    put_status(CELLS[0])
    entry, case = CASES[len(SMOKE_CASES)]
    put_record(CELLS[0], entry, case, Part(outcome="returned", behaviour="bypassed", detail="2.0, not 20.0"))

    (found, *_) = assemble(CELLS[:1], [entry]).observations

    assert found == observation(
        **{"cell": CELLS[0].id, "issue": "wraps-lower-bypass", "case": "jit", "behaviour": "bypassed"},
        **{"reason": "run.bypassed", "expected": "bypassed", "detail": "2.0, not 20.0", "workaround": "holds"},
        **{"seconds": 1.0, "peak_rss_mib": 100},
    )


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.0, 0.0), (0.04, 0.0), (0.05, 0.1), (0.2, 0.3), (0.6, 1.0), (2.0, 3.0), (5.0, 3.0), (5.1, 10.0), (61.2, 60.0)],
)
def test_a_time_is_told_roughly(seconds: float, told: float) -> None:
    """An attempt's cost is rounded, so that most repeats give the same figures."""
    assert told == roughly(seconds)


def test_every_report_is_written_and_read_back(tmp_path: Path) -> None:
    """compat.json meets its schema and reads back equal; every file is UTF-8 that ends with a newline."""
    validator = jsonschema.Draft202012Validator(json.loads(schema()), format_checker=jsonschema.FormatChecker())
    validator.check_schema(validator.schema)
    for name, of in REPORTS_TO_SHOW.items():
        folder = tmp_path / name
        written = write(of, folder)
        validator.validate(json.loads((folder / "compat.json").read_text(encoding="utf-8")))
        assert of == stored.read_report(folder)
        there = {"compat.json", "compat.schema.json", "timings.json", "COMPAT.md"}
        there |= {"check.json", "search.json", *(path for path in pages(of) if "/" not in path)}
        assert there == {path.name for path in written if path.parent == folder}
        assert sorted([*written, folder / ".files"]) == sorted(path for path in folder.rglob("*") if path.is_file())
        assert [] == [path for path in written if not path.read_text(encoding="utf-8").endswith("\n")]


def test_the_schema_is_closed() -> None:
    """The schema refuses values and keys that the model refuses, and missing keys."""
    validator = jsonschema.Draft202012Validator(json.loads(schema()))
    refused = set()
    for key, value in {"kind": "corner", "runs": "some", "released_on": 1, "asks": None, "opinion": "mine"}.items():
        data = json.loads(stored.texts(PLAIN)["compat.json"])
        assert validator.is_valid(data)
        data["cells"][0][key] = value
        refused |= set() if validator.is_valid(data) else {key}
    del data["cells"][0]["opinion"], data["cells"][0]["asks"]

    assert {"kind", "runs", "released_on", "asks", "opinion"} == refused
    assert not validator.is_valid(data)


@cache
def rendered(name: str) -> str:
    """Return the front page of one of the reports above."""
    return pages(REPORTS_TO_SHOW[name])["index.html"]


@pytest.mark.parametrize("shown", [rendered, lambda name: compat_md(REPORTS_TO_SHOW[name])], ids=["page", "markdown"])
def test_page_and_markdown_show_every_verdict_and_the_counts(shown: Callable[[str], str]) -> None:
    """Page and Markdown have the last line, each verdict's glyph and name, and no empty placeholders."""
    counts = {name: f"{summary.last_line(of)}." for name, of in REPORTS_TO_SHOW.items()}
    assert [] == [name for name, told in counts.items() if told not in shown(name)]
    text = shown("every verdict")
    assert [] == [verdict for verdict in VERDICTS if f"{GLYPHS[verdict]} {verdict}" not in text]
    assert not re.search(r"\b(None|Undefined)\b", text)


def test_a_page_is_closed() -> None:
    """A page has a policy that admits only the site's own style and scripts; its links to other sites are secure."""
    policy = "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'"
    for of in REPORTS_TO_SHOW.values():
        for path, text in pages(of).items():
            head, _, rest = text.partition("<title>")
            assert f'<meta http-equiv="Content-Security-Policy" content="{policy}">' in head, path
            assert {"https:"} >= set(re.findall(r'<a\b[^<>]*\shref="?([a-z]+:|//)', rest)), path


@pytest.mark.parametrize(
    ("of", "code"),
    [
        (EMPTY, Exit.INCOMPLETE),
        (PLAIN, Exit.AS_EXPECTED),
        (report(observation(), observation(case="other", verdict="clear", behaviour="good")), Exit.AS_EXPECTED),
        *((report(observation(), observation(case="other", agreement=word)), Exit.UNEXPECTED) for word in (
            "regressed", "fixed", "changed", "new",
        )),
        *((report(observation(), undecided(verdict, case="other")), Exit.INCOMPLETE)
          for verdict in sorted(UNDECIDED - {"blocked"})),
        (with_issue(BLOCKED, row_zero=True), Exit.AS_EXPECTED),
        (BLOCKED, Exit.INCOMPLETE),
        (with_issue(report(undecided("blocked")), row_zero=True), Exit.INCOMPLETE),
        *((report(observation(), undecided("unavailable", case="other", reason=reason)), code) for reason, code in (
            ("plan.yanked", Exit.AS_EXPECTED), ("plan.no-wheel", Exit.AS_EXPECTED),
            ("plan.no-wheel-here", Exit.INCOMPLETE), ("plan.no-interpreter", Exit.INCOMPLETE),
        )),
        (report(undecided("not-run"), observation(case="other", agreement="regressed")), Exit.UNEXPECTED),
        (report(observation(workaround="fails")), Exit.UNEXPECTED),
        (report(observation(workaround="none")), Exit.AS_EXPECTED),
        (report(observation(), planned=2), Exit.INCOMPLETE),
    ],
)  # fmt: skip
def test_the_exit_code(of: Report, code: Exit) -> None:
    """The exit code is 0 only if everything planned ran as expected, 1 if something is unexpected, else 3.

    A blocked observation counts as not run in a report without the row zero that would say why.
    """
    assert code == summary.exit_code(of)


def test_one_cause_is_told_once() -> None:
    """Undecided observations are grouped by cell and cause, and a single case is named."""
    broken = [undecided("error", case=case, reason="install.network") for case in ("one", "other")]
    alone = undecided("flaky", cell="jax-0.5.0", case="one")

    told = summary.undecided_causes(report(*broken, alone, observation(case="other", cell="jax-0.5.0")))

    assert [("jax-0.4.30", "install.network", "2 cases"), ("jax-0.5.0", "run.nothing", "some-issue/one")] == [
        (entry.cell, entry.reason, entry.cases) for entry in told
    ]


def test_the_last_line_of_a_report() -> None:
    """The last line has the four counts, which add up, also if they are zero, and only the agreements that occur."""
    of_all = report(*(observation(case=word, agreement=word) for word in get_args(Agreement)))

    assert "1 of 1 run as expected; 0 could not run, 0 not run, 0 errors" == summary.last_line(PLAIN)
    assert (
        "1 of 6 run as expected, 1 regressed, 1 fixed, 1 changed, 1 new, 1 undecided; "
        "0 could not run, 0 not run, 0 errors"
    ) == summary.last_line(of_all)
    assert (
        "0 of 18 run as expected, 2 fixed, 14 changed, 2 undecided, 14 workarounds not as known; "
        "6 could not run (2 blocked, 2 conflict, 2 unavailable), 2 not run, 2 errors"
    ) == summary.last_line(EVERY_VERDICT)


@pytest.mark.parametrize(
    ("line", "first", "last", "words"),
    [
        (["0.4.30", "0.5.0", "0.6.0"], "0.4.30", "0.5.0", "0.4.30–0.5.0"),
        (["0.4.30", "0.5.0", "0.6.0"], "0.5.0", "0.5.0", "0.5.0"),
        (["0.4.30", "0.5.0", "0.6.0"], "0.4.30", "0.6.0", "0.4.30 on"),
        (["0.4.30", "0.5.0", "0.6.0"], "0.6.0", "0.6.0", "0.6.0 on"),
        (["0.6.0"], "0.6.0", "0.6.0", "0.6.0"),
    ],
)
def test_an_interval_for_people(line: Sequence[str], first: str, last: str, words: str) -> None:
    """An interval is shown as its two ends, one release, or open if it reaches the newest."""
    cells = report(*(observation(cell=f"jax-{version}") for version in line)).cells
    interval = PLAIN.issues[0].cases[0].intervals[0].model_copy(update={"first": first, "last": last})

    assert words == summary.span(interval, cells)


def test_a_terminal_shows_an_empty_report() -> None:
    """A report on nothing says how to make records."""
    assert "There are no records to report on. Run `nox -s compat` first.\n" == shown(EMPTY)


def test_a_terminal_shows_every_verdict() -> None:
    """With `verbose`, each verdict's glyph is shown, and each cause of undecided observations."""
    text = shown(with_issue(EVERY_VERDICT, row_zero=True), verbose=True)

    assert [] == [verdict for verdict in VERDICTS if GLYPHS[verdict] not in text]
    # Row zero reports once that a package does not import.
    told = {verdict for verdict in UNDECIDED if f"{verdict} [run.nothing]" in text}
    assert UNDECIDED - {"blocked"} == told


def test_a_terminal_shows_the_whole_line(published: Report) -> None:
    """With each case along the line, all cells and issues of the published report fit into 80 columns."""
    table = shown(published, cases=True).split("\nUndecided\n")[0]

    assert max(map(len, table.splitlines())) <= 80
    assert [] == [issue.id for issue in published.issues if issue.id not in table]


def test_a_terminal_lists_the_known_issues() -> None:
    """Each issue that affects the newest release has a line with its case, behaviour and since when."""
    early = observation(verdict="clear", behaviour="good")
    seen = [early, observation(cell="jax-0.5.0"), observation(cell="jax-0.6.0")]

    lines = shown(report(*seen)).splitlines()

    assert "Known issues on jax 0.6.0, the newest of 3 releases, and the first release with each" in lines
    assert "  ✗ some-issue/headline: bad  jax 0.5.0" in lines
    well = shown(report(observation(), observation(cell="jax-0.5.0", verdict="clear", behaviour="good")))
    assert "  the other issues: ✓ 1 clear; `-- --verbose` shows each case" in well.splitlines()
    assert "some-issue" not in well


def test_what_the_newest_release_does_not_tell_is_of_an_older_one() -> None:
    """An issue undecided on the newest release is shown by an older release, which is named."""
    text = shown(report(observation(), undecided("blocked", cell="jax-0.5.0")))

    assert "  ✗ some-issue/headline: bad  jax 0.4.30 or before, last seen on jax 0.4.30" in text.splitlines()


def test_a_reason_is_a_line() -> None:
    """Observations undecided for one reason are one line with counts; with `verbose`, all are listed."""
    cells = ("jax-0.4.30", "jax-0.5.0")
    made = report(*(undecided("error", cell=cell).model_copy(update={"detail": f"in {cell}"}) for cell in cells))

    assert "  ! error [run.nothing] 2 cells, 2 cases, such as: in jax-0.4.30" in shown(made).splitlines()
    assert ["      in jax-0.4.30", "      in jax-0.5.0"] == re.findall("^      in .*", shown(made, verbose=True), re.M)


def test_a_terminal_says_how_many_it_leaves_out() -> None:
    """Unexpected observations beyond a screen are counted."""
    many = report(*(observation(case=f"case-{number}", agreement="new") for number in range(50)))

    listed = shown(many).count("nox -s ")
    assert f"… and {50 - listed} more" in shown(many)


def test_somebody_elses_text_is_text_in_a_terminal() -> None:
    """An exception's text is printed literally, never as markup."""
    hostile = "[bold red]red[/bold red] [link=http://example.org]x[/link] [/] {{ report }}"

    assert hostile in shown(report(observation(agreement="new", detail=hostile)))


@pytest.mark.parametrize("entries", [ENTRIES[1:], ENTRIES])
def test_a_stack_that_does_not_import_is_never_well(elsewhere: Path, entries: Sequence[Entry]) -> None:
    """If a package does not import, a run is not as expected: neither with row zero nor narrowed to another issue."""
    put_status(CELLS[0])
    for entry in entries:
        for case in entry.issue.cases:
            put_record(CELLS[0], entry, case, Part(outcome="import-error", detail="import jax: no such file"))

    made = assemble(CELLS[:1], entries)

    assert Exit.AS_EXPECTED != summary.exit_code(made)
