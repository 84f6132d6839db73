"""Answers for programs: JSON, Markdown, SARIF, annotations and constraints."""

import json
from dataclasses import replace

from jax_stack_compat.check.answer import answer
from jax_stack_compat.check.finding import Finding
from jax_stack_compat.check.findings import SourceRead, of_stack
from jax_stack_compat.check.outcome import Outcome
from jax_stack_compat.check.output.machine import FORMATS
from jax_stack_compat.check.source.uses import Place
from tests.check.worlds import knowledge, stack

LINE = Finding("certain", "jax.tree_map", "removed in jax 0.6.0", Place("src/old.py", 3, 1, 3, 13), do="jax.tree.map")
PLACE = replace(LINE.place, path="src/a,b:c.py")
LIKELY = replace(
    LINE, level="likely", id="wrong-numbers", kind="silent-wrong", place=PLACE, says="pads", cases=("loud",)
)


def outcome(*findings: Finding, **versions: str) -> Outcome:
    """Return the outcome for these versions and these findings in a source; without, for the stack."""
    found = answer(knowledge(), stack(**versions))
    read = SourceRead(3, functions=4, covered=1, lacking=1) if findings else None
    return Outcome(found, knowledge(), findings or tuple(of_stack(found, knowledge())), read)


def test_json_has_what_programs_read() -> None:
    """JSON has the exit code, the sentence, the stack, what was read and covered, and the findings."""
    data = json.loads(FORMATS["json"](outcome(LINE, LIKELY, jax="0.6.0")))

    assert (2, 1, "CPU, x86-64") == (data["schema_version"], data["exit"], data["platform"])
    assert " 2 places to change. 0 possible issues. Of the 4 functions you call, 1 is" in data["sentence"]
    assert data["sentence"].startswith(data["stack"]["works"]["sentence"])
    assert {"files": 3, "unread": [], "skipped": []} == data["read"]
    assert (4, 1) == (data["coverage"]["functions"], data["coverage"]["covered"])
    keys = {"level", "kind", "id", "name", "path", "line", "column", "guarded", "good_from", "do"}
    assert all(keys <= each.keys() for each in data["findings"])
    assert ["certain", "likely"] == [each["level"] for each in data["findings"]]


def test_json_says_how_each_case_is_known() -> None:
    """Without a source a finding is an issue of the stack, and its cases are listed as in the runs."""
    data = json.loads(FORMATS["json"](outcome(jax="0.4.30")))

    assert ["wrong-numbers"] == [each["id"] for each in data["findings"]]
    assert ["mended", "loud"] == [each["id"] for each in data["issues"]["wrong-numbers"]["cases"]]
    assert {"run": 3} == data["coverage"]["looked_up"]


def test_sarif_points_at_the_source_or_the_lock() -> None:
    """SARIF has a result with level and place for each finding; without a source, one for the lock."""
    (run,) = json.loads(FORMATS["sarif"](outcome(LINE, LIKELY, jax="0.6.0")))["runs"]
    assert ["certain", "wrong-numbers"] == [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert ["error", "warning"] == [each["level"] for each in run["results"]]
    where = [each["locations"][0]["physicalLocation"] for each in run["results"]]
    assert ["src/old.py", "src/a,b%3Ac.py"] == [each["artifactLocation"]["uri"] for each in where]
    (run,) = json.loads(FORMATS["sarif"](outcome(jax="0.4.30")))["runs"]
    (only,) = run["results"]
    assert ("note", "uv.lock") == (
        only["level"],
        only["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
    )


def test_an_annotation_is_one_line_whatever_is_in_it() -> None:
    """Certain and likely findings are annotations; line ends, commas and colons in GitHub's commands are escaped."""
    others = [replace(LIKELY, level="possible"), replace(LIKELY, level="deprecated"), replace(LIKELY, level="chronic")]
    first, second, notice = FORMATS["github"](outcome(LINE, LIKELY, *others, jax="0.6.0")).splitlines()

    assert first.startswith("::error file=src/old.py,line=3,title=jax.tree_map::jax.tree_map: removed in jax 0.6.0; ")
    assert second.startswith("::warning file=src/a%2Cb%3Ac.py,line=3,title=wrong-numbers::pads%0Ainstead: ")
    assert notice.startswith("::notice::Imports and computes (run; CPU, x86-64).")


def test_a_list_leaves_out_what_the_code_does_not_show() -> None:
    """Markdown and SARIF have no possible finding without a part of its condition; JSON has it, and the text counts."""
    unshown = replace(LIKELY, level="possible", narrowed=False)
    of = outcome(unshown, jax="0.6.0")
    (run,) = json.loads(FORMATS["sarif"](of))["runs"]
    (told,) = json.loads(FORMATS["json"](of))["findings"]

    assert not run["results"]
    assert "|" not in FORMATS["markdown"](of)
    assert ("possible", False) == (told["level"], told["narrowed"])
    assert " 0 possible issues." in of.sentence
    assert {"wrong-numbers"} == of.unshown


def test_markdown_has_a_row_for_each_finding() -> None:
    """No text can break out of the cells of a table."""
    hostile = replace(LIKELY, says="a|b<c>\n::error::")
    rows = [line for line in FORMATS["markdown"](outcome(LINE, hostile, jax="0.6.0")).splitlines() if "|" in line]
    assert "| certain | `src/old.py:3` | `jax.tree_map`: removed in jax 0.6.0 | jax.tree.map |" in rows
    assert any("a&#124;b&lt;c&gt; ::error::" in row for row in rows)
    assert 4 == len(rows)
