"""docs/data.md: its columns are those that are written, and its recipes give what the report says."""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

from suite.files import REPORTS, ROOT
from suite.report.formats.observations_csv import COLUMNS
from suite.report.model import Observation, Report
from tests.processes import lacking

DOCUMENT = ROOT / "docs" / "data.md"
CELL = "jax-0.9.2"


def recipe(language: str) -> str:
    """The document's first block of code in this language."""
    found, *_ = re.findall(rf"```{language}\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    return str(found)


def needed(package: str) -> ModuleType:
    """This package, or a test that is skipped."""
    try:
        return import_module(package)
    except ModuleNotFoundError:
        lacking(f"no {package} on this machine, which is in the group of tests: its recipe is not tested")


@pytest.fixture
def affected(published: Report, monkeypatch: pytest.MonkeyPatch) -> list[Observation]:
    """The affected cases of a cell, in whose report the recipes run."""
    monkeypatch.chdir(REPORTS / "published")
    return [each for each in published.observations if (each.cell, each.verdict) == (CELL, "affected")]


def test_every_column_is_documented() -> None:
    """The document's table has each column that is written, with its type and what its field's description says."""
    table = re.findall(r"^\| `([\w-]+)` \| (\w+) \| (.*) \|$", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)

    assert [(name, *told) for name, told in COLUMNS.items()] == table
    assert all(told for _, told in COLUMNS.values())


def test_pandas_reads_the_observations(affected: list[Observation], published: Report) -> None:
    """The recipe finds what is affected, each column has its documented type, and only what is null is missing."""
    needed("pandas")
    names: dict[str, Any] = {}
    exec(recipe("python"), names)

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

    found = duckdb.sql(recipe("sql")).fetchall()

    wrong = {issue.id: issue.title for issue in published.issues if issue.kind == "silent-wrong"}
    counts = Counter(each.issue for each in affected if each.issue in wrong)
    assert sorted(((of, wrong[of], n) for of, n in counts.items()), key=lambda row: (-row[2], row[0])) == found
    types = {"text": "VARCHAR", "boolean": "BOOLEAN", "integer": "BIGINT", "number": "DOUBLE"}
    described = duckdb.sql("SELECT column_name, column_type FROM (DESCRIBE FROM 'observations/*.csv')").fetchall()
    assert [(name, types[of]) for name, (of, _) in COLUMNS.items()] == described
    nulls = sum(each.behaviour is None for each in published.observations)
    assert [(nulls,)] == duckdb.sql("SELECT count(*) FROM 'observations/*.csv' WHERE behaviour IS NULL").fetchall()


def test_the_names_are_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The recipe prints until when jax.tree_map is there, which the changelog says too."""
    monkeypatch.chdir(REPORTS / "published")
    (code,) = re.findall(r"```python\n(import json\n.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.S)
    exec(code, {})

    assert "function 0.4.18 0.5.3\n" == capsys.readouterr().out
