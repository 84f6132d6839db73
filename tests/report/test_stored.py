"""A report on disk: read as written, readable by other programs as in docs/data.md, refused if damaged."""

import csv
import json
import re
from collections import Counter
from importlib import import_module
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import pytest
from hypothesis import example, given, settings

from jax_stack_compat.base.errors import BadFile, Exit
from jax_stack_compat.base.files import ROOT
from jax_stack_compat.numbers import model
from laboratory.cli import command_line as command
from laboratory.report.folder.compat_json import read_report, texts
from laboratory.report.folder.observations import COLUMNS, name_of
from laboratory.report.merge import merge
from laboratory.report.model import ChangeRow, Observation, Report, SinceRow, UpstreamRow
from tests.processes import lacking
from tests.report import test_numbers
from tests.report.on_disk import save, saved, there
from tests.report.test_numbers import EVERY
from tests.report.test_report import (
    ANY_OBSERVATIONS,
    PLAIN,
    REPORTS_TO_SHOW,
    observation,
    report,
    undecided,
)
from tests.report.test_siblings import ANYTHING, hostile

NAME = name_of("some-issue")


def rows(of: Report) -> list[dict[str, str]]:
    """Return a report's observations, as a CSV reader reads them."""
    return list(csv.DictReader(StringIO(texts(of).get(NAME, ""), newline=""), strict=True))


@given(ANY_OBSERVATIONS)
@settings(deadline=None, max_examples=50)
def test_a_report_is_read_as_it_was_written(observations: list[Observation]) -> None:
    """A report is read as it was written, its observations by cell and then by case."""
    of = report(*observations)
    cells, cases = [cell.id for cell in of.cells], [case.id for issue in of.issues for case in issue.cases]
    seen = sorted(observations, key=lambda each: (cells.index(each.cell), cases.index(each.case)))
    of = of.model_copy(update={"observations": seen})

    with TemporaryDirectory() as folder:
        save(of, Path(folder))

        assert of == read_report(Path(folder)) == read_report(Path(folder, "compat.json"))


def test_each_observation_is_a_row() -> None:
    """Each observation has a row with its cell's versions; null fields are empty."""
    (first, second) = rows(report(observation(detail='it said "no", twice\n, then\tended'), undecided("error")))

    assert {
        **{"cell": "jax-0.4.30", "issue": "some-issue", "case": "headline", "verdict": "affected"},
        **{"behaviour": "bad", "reason": "run.bad", "expected": "bad", "agreement": "as-expected"},
        **{"workaround": "holds", "workaround_expected": "true", "ran_in": "", "attempts": "1", "seconds": "0.5"},
        **{"peak_rss_mib": "100", "detail": 'it said "no", twice , then ended', "kind": "crash", "python": "cp312"},
        **{"jax": "0.4.30", "jaxlib": "0.4.30", "equinox": "0.11.4", "diffrax": "0.5.1", "ml-dtypes": ""},
    }.items() <= first.items()
    assert ("error", "", "undecided") == (second["verdict"], second["behaviour"], second["agreement"])
    for of in REPORTS_TO_SHOW.values():
        assert [(each.cell, each.issue, each.case, each.verdict) for each in of.observations] == [
            (row["cell"], row["issue"], row["case"], row["verdict"]) for row in rows(of)
        ]


@given(ANYTHING)
@example("=1+1")
@example("\t@x")
@example("\r\n-1")
@settings(deadline=None, max_examples=25)
def test_no_row_is_a_formula(text: str) -> None:
    """Each observation is one printable line, and none of its values begins as a formula."""
    made = hostile(text)

    assert [len(made.observations) + 1, True] == [
        texts(made)[NAME].count("\n"),
        texts(made)[NAME].replace("\n", "").isprintable(),
    ]
    assert [] == [value for row in rows(made) for value in row.values() if value.startswith(("=", "+", "-", "@"))]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("cell,issue", "cell,question", "line 1: the header does not begin with cell,issue,"),
        ("jax-0.4.30,some-issue", "jax-9,some-issue", "line 2: compat.json has no cell 'jax-9' here"),
        ("some-issue", "other-issue", "line 2: compat.json has no issue 'other-issue' here"),
        ("headline", "other", "line 2: compat.json has no case 'other' here"),
        ("affected", "fine", "line 2, verdict: Input should be "),
        ("true", "perhaps", "line 2, workaround_expected: Input should be a valid boolean"),
        (",0.5,", ",nan,", "line 2, seconds: Input should be a finite number"),
        (",1,0.5", ",many,0.5", "line 2, attempts: Input should be a valid integer"),
        (",crash,", ",", "line 2: does not have as many values as the header"),
        ("it was seen", '"it was seen', "line 3: unexpected end of data"),
    ],
)
def test_a_row_cut_by_hand_is_told(old: str, new: str, told: str, tmp_path: Path) -> None:
    """A value that cannot be read, and a cell or case that compat.json lacks, is named by file and line."""
    save(report(observation(), observation(cell="jax-0.5.0")), tmp_path)
    path = tmp_path / NAME
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")

    with pytest.raises(BadFile) as caught:
        read_report(tmp_path)

    assert str(caught.value.faults[0]).startswith(f"{path}: {told}")


def test_a_file_may_not_be_missing(tmp_path: Path) -> None:
    """A missing file of observations is named."""
    save(PLAIN, tmp_path)
    (tmp_path / NAME).unlink()
    with pytest.raises(BadFile, match=rf"{NAME}: file: .*No such file"):
        read_report(tmp_path)


@pytest.mark.parametrize("odd", [b"", b"\xff", b"\0", b'"', b"\n" * 9, b"cell\n", b"," * 40])
def test_no_text_breaks_the_reader(odd: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A replaced or damaged file of observations is read, or gives a sentence and exit code 2."""
    (good, bad) = saved([PLAIN, PLAIN], tmp_path)
    text = (bad / NAME).read_bytes()
    for mutant in (odd, text[: len(text) // 2] + odd, text + odd):
        (bad / NAME).write_bytes(mutant)
        code = command.main(["diff", str(good), str(bad)])
        told = capsys.readouterr().err
        assert code == Exit.AS_EXPECTED or (code == Exit.MISUSED and told.startswith(f"error: {bad / NAME}: "))


@pytest.mark.parametrize("schema", [2, 5])
@pytest.mark.parametrize("words", [["diff", "{old}", "{now}"], ["diff", "{now}", "{old}"], ["merge", "{now}", "{old}"]])
def test_another_schema_is_one_sentence(
    words: list[str], schema: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`diff` and `merge` name a report of another schema and the remedy, and no other faults."""
    old, now = tmp_path / "old", tmp_path / "now"
    save(PLAIN, now)
    old.mkdir()
    (old / "compat.json").write_text(json.dumps({"schema_version": schema, "cells": [{"broken_in": []}]}))

    assert Exit.MISUSED == command.main([each.format(old=old, now=now) for each in words])

    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {old}/compat.json: schema_version: is {schema}, but this suite reads 3 and 4.")
    assert "`nox -s report`" in line


CHANGE = ChangeRow(
    kind="undecided", first="jax-0.4.30", last="jax-0.4.30", cell_count=1, cases=["a/b"], case_count=1, words="✓ → ~"
)
SINCE = SinceRow(
    generated_at=PLAIN.generated_at,
    coverage=PLAIN.coverage,
    counts={"new": 2, "undecided": 1},
    changes=[CHANGE],
    left_out=0,
)
_RUN = report(observation(), undecided("flaky", cell="jax-0.5.0"))
_ISSUE = _RUN.issues[0].model_copy(update={"upstream": [UpstreamRow(ref="https://example.org/", role="docs")]})
OF_TODAY = _RUN.model_copy(update={"since": SINCE, "issues": [_ISSUE, *_RUN.issues[1:]]})


def save_as_schema_3(of: Report, folder: Path) -> None:
    """Write the files of a report as a suite of schema 3 wrote them."""
    save(of, folder)
    path = folder / "compat.json"
    data = json.loads(
        path.read_text(encoding="utf-8").replace('"undecided"', '"spurious"').replace('"docs"', '"changelog"')
    )
    cells = [{**cell, "sent_on": None} for cell in data["cells"]]
    path.write_text(json.dumps({**data, "schema_version": 3, "corrections": [{"of": "x"}], "cells": cells}))
    rows = (folder / NAME).read_text(encoding="utf-8")
    (folder / NAME).write_text(rows.replace(",undecided,", ",spurious,"), encoding="utf-8")
    # So the tests below read something else.
    assert ["undecided" in each.read_text(encoding="utf-8") for each in (path, folder / NAME)] == [False, False]


def test_a_report_of_schema_3_is_read_as_today_s(tmp_path: Path) -> None:
    """A report of schema 3 equals the same report of today, if it is read, merged or written again."""
    old, now = tmp_path / "old", tmp_path / "now"
    save_as_schema_3(OF_TODAY, old)
    save(OF_TODAY, now)

    assert OF_TODAY == read_report(old)
    assert merge([now]) == merge([old])
    save(read_report(old), old)
    assert there(now) == there(old)


@pytest.mark.parametrize(
    ("key", "odd"),
    [
        ("cells", [{"id": "jax-0.4.30", "sent_on": {"system": "Linux"}}]),
        ("cells", {"id": 1}),
        ("cells", ["jax-0.4.30"]),
        ("since", {"counts": ["spurious"], "changes": 1}),
        ("since", [1]),
    ],
)
def test_a_malformed_report_of_schema_3_is_refused(key: str, odd: Any, tmp_path: Path) -> None:
    """The faults of a report of schema 3 are named by key, as are results that somebody else sent in."""
    save_as_schema_3(OF_TODAY, tmp_path)
    path = tmp_path / "compat.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), key: odd}))

    with pytest.raises(BadFile, match=rf"compat\.json: {key}"):
        read_report(tmp_path)


DOCUMENT = ROOT / "docs" / "data.md"
CELL = "jax-0.9.2"


def recipe(language: str, section: str) -> str:
    """Return the code block in this language from a section of the document."""
    _, text = DOCUMENT.read_text(encoding="utf-8").split(f"\n## {section}\n")
    (found,) = re.findall(rf"```{language}\n(.*?)```", text.partition("\n## ")[0], re.DOTALL)
    return str(found)


def needed(package: str) -> ModuleType:
    """Return this package, or skip the test."""
    try:
        return import_module(package)
    except ModuleNotFoundError:
        lacking(f"no {package} on this machine, which is in the group of tests: its recipe is not tested")


@pytest.fixture
def affected(published: Report, report_folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Observation]:
    """Return the affected cases of a cell in the report on which the recipes run."""
    monkeypatch.chdir(report_folder)
    return [each for each in published.observations if (each.cell, each.verdict) == (CELL, "affected")]


def test_every_column_is_documented() -> None:
    """The document's table has each column that is written, with its type and what its field's description says."""
    table = re.findall(r"^\| `([\w-]+)` \| (\w+) \| (.*) \|$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)

    assert [(name, *told) for name, told in COLUMNS.items()] == table
    assert all(told for _, told in COLUMNS.values())


def test_pandas_reads_the_observations(affected: list[Observation], published: Report) -> None:
    """The recipe finds the affected issues, each column has its documented type, and only null fields are missing."""
    needed("pandas")
    names: dict[str, Any] = {}
    exec(recipe("python", "pandas"), names)

    wanted = Counter((each.issue, each.workaround) for each in affected)
    assert wanted == {key: count for key, count in names["affected"].stack().items() if count}
    types = {"text": "str", "boolean": "bool", "integer": "int64", "number": "float64"}
    seen = names["seen"]
    assert {name: types[of] for name, (of, _) in COLUMNS.items()} == {name: str(of) for name, of in seen.dtypes.items()}
    assert sum(each.behaviour is None for each in published.observations) == seen["behaviour"].isna().sum()
    assert {"cp312"} == set(seen[seen["cell"] == CELL]["python"])


def test_duckdb_reads_the_observations(affected: list[Observation], published: Report) -> None:
    """The recipe finds issues by kind, with their titles; each column has its documented type."""
    duckdb = needed("duckdb")

    found = duckdb.sql(recipe("sql", "DuckDB")).fetchall()

    wrong = {issue.id: issue.title for issue in published.issues if issue.kind == "silent-wrong"}
    counts = Counter(each.issue for each in affected if each.issue in wrong)
    assert sorted(((of, wrong[of], n) for of, n in counts.items()), key=lambda row: (-row[2], row[0])) == found
    types = {"text": "VARCHAR", "boolean": "BOOLEAN", "integer": "BIGINT", "number": "DOUBLE"}
    described = duckdb.sql("SELECT column_name, column_type FROM (DESCRIBE FROM 'observations/*.csv')").fetchall()
    assert [(name, types[of]) for name, (of, _) in COLUMNS.items()] == described
    nulls = sum(each.behaviour is None for each in published.observations)
    assert [(nulls,)] == duckdb.sql("SELECT count(*) FROM 'observations/*.csv' WHERE behaviour IS NULL").fetchall()


def test_the_names_are_read(
    report_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The recipe prints the last release with jax.tree_map, which agrees with the changelog."""
    monkeypatch.chdir(report_folder)
    exec(recipe("python", "Names"), {})

    assert "function 0.4.18 0.5.3\n" == capsys.readouterr().out


def test_the_columns_of_numbers_are_documented() -> None:
    """The document's table of numbers has each column that is written, in its order."""
    (_, text) = DOCUMENT.read_text(encoding="utf-8").split("\n## Numbers\n")

    assert list(model.COLUMNS) == re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)


def test_pandas_reads_the_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The recipe finds differences on the newest release; all columns are text without null."""
    needed("pandas")
    test_numbers.save(EVERY, tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}

    exec(recipe("python", "Numbers"), names)

    assert ["f(float32)"] == list(names["differ"]["call"])
    assert {"str"} == {str(of) for of in names["numbers"].dtypes}
    assert not names["numbers"].isna().any(axis=None)
