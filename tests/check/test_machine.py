"""An answer for programs: JSON, Markdown, SARIF, annotations and constraints."""

from __future__ import annotations

import json

import pytest

from suite.check.answer import answer
from suite.check.concern import Place, Reading
from suite.check.findings import Finding
from suite.check.machine import FORMATS
from tests.check.worlds import knowledge, stack

PLACES = {"wrong-numbers": (Place("jax.numpy.pad", "src/model.py", 7, 5), Place("jax.numpy.pad", "src/a,b:c.py", 1, 1))}
LINE = Finding("certain", "jax.tree_map", "src/old.py", 3, 1, 3, 13, False, "removed in jax 0.6.0", "jax.tree.map")


def made(format: str, *, uses: bool = False, **versions: str) -> str:
    """The answer for these versions in a format."""
    return FORMATS[format](answer(knowledge(), stack(**versions)), Reading(PLACES) if uses else Reading(), knowledge())


def test_json_says_all_that_the_text_says() -> None:
    """The verdict, what it rests on, each case with how it is known, and the places in the source."""
    found = json.loads(made("json", uses=True, jax="0.4.30"))

    assert found["verdict"] == "1 known issue affects this stack, 1 of them silent."
    (told,) = found["issues"]
    assert ["mended", "loud"] == [each["id"] for each in told["cases"]]
    assert {"name": "jax.numpy.pad", "path": "src/model.py", "line": 7, "column": 5} == told["uses"][0]
    assert {"run": 3} == found["known"]


@pytest.mark.parametrize(
    ("uses", "places"), [(True, [("src/model.py", 7), ("src/a,b:c.py", 1)]), (False, [("uv.lock", 1)])]
)
def test_sarif_points_at_the_source_or_the_lock(uses: bool, places: list[tuple[str, int]]) -> None:
    """A result for each use, by a rule of its own; without uses one for the lock."""
    (run,) = json.loads(made("sarif", uses=uses, jax="0.4.30"))["runs"]

    assert ["wrong-numbers"] == [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    where = [each["locations"][0]["physicalLocation"] for each in run["results"]]
    assert places == [(each["artifactLocation"]["uri"], each["region"]["startLine"]) for each in where]


def test_an_annotation_is_one_line_whatever_is_in_it() -> None:
    """GitHub's commands end at a line's end, and their properties at commas and colons: these are escaped."""
    first, second, notice = made("github", uses=True, jax="0.4.30").splitlines()

    assert first.startswith("::error file=src/model.py,line=7,title=wrong-numbers::wrong-numbers does it%0A")
    assert second.startswith("::error file=src/a%2Cb%3Ac.py,line=1,")
    assert notice.startswith("::notice::1 known issue affects this stack")


@pytest.mark.parametrize(
    ("format", "told"),
    [
        ("json", '"says": "removed in jax 0.6.0"'),
        ("sarif", '"ruleId": "certain"'),
        ("github", "::error file=src/old.py,line=3,title=jax.tree_map::jax.tree_map: removed in jax 0.6.0; instead: "),
        ("markdown", "| certain | `src/old.py:3` | `jax.tree_map`: removed in jax 0.6.0 | jax.tree.map |"),
    ],
)
def test_each_format_has_the_lines_that_do_not_run(format: str, told: str) -> None:
    """What a stack lacks is told by each, with its place and what to write instead."""
    read = Reading(lines=(LINE,))
    assert told in FORMATS[format](answer(knowledge(), stack(jax="0.6.0")), read, knowledge())


def test_markdown_has_a_row_for_each_issue() -> None:
    """A table whose cells no text can leave."""
    rows = [line for line in made("markdown", jax="0.4.30").splitlines() if line.startswith("| Silently")]

    assert ["| Silently wrong | [wrong-numbers](https://github.com/jax-ml/jax/issues/1)<br>"] == [
        row[:78] for row in rows
    ]
