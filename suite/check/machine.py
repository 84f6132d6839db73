"""An answer for programs: JSON, Markdown, SARIF, GitHub's annotations, and constraints for an installer. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from suite import __version__
from suite.check.answer import KINDS, Answer, Bite
from suite.check.concern import Place, Reading
from suite.check.constraints import constraints
from suite.check.knowledge import Knowledge, KnownIssue
from suite.check.text import named, told
from suite.printable import printable

if TYPE_CHECKING:
    from suite.check.findings import Finding

# How SARIF and GitHub rank a finding.
_LINES = {"certain": "The stack lacks a name or an argument", "deprecated": "The stack warns about a name"}
_LINE_LEVELS = {"certain": "error", "deprecated": "note"}
_LEVELS = {"silent-wrong": "error", "crash": "error", "import-error": "error"}


def as_json(answer: Answer, read: Reading, knowledge: Knowledge) -> str:
    """All of the answer, as data."""
    issues = [
        {
            **{"id": issue.id, "title": issue.title, "kind": issue.kind, "link": issue.link},
            "upstream": list(issue.upstream),
            "cases": [_case(each) for each in bites],
            "uses": [_use(each) for each in read.places.get(issue.id, ())],
        }
        for issue, bites in answer.issues
    ]
    fields = ("level", "name", "path", "line", "column", "end_line", "end_column", "guarded", "says", "do")
    lines = [{name: getattr(each, name) for name in fields} for each in read.lines]
    data = {
        "lines": lines,
        "unread": [each._asdict() for each in read.unread],
        **{"where": answer.stack.where, "versions": dict(answer.versions), "unsaid": dict(answer.stack.unsaid)},
        **{"verdict": answer.first_line, "rests_on": answer.last_line, "issues": issues, "stops": list(answer.stops)},
        **{"known": dict(answer.counts), "blocked": len(answer.blocked), "unknown": list(answer.unknown)},
        **{"untold": list(answer.untold), "unused": list(answer.unused), "ignored": list(answer.ignored)},
        **{"newer": list(answer.newer), "data_of": knowledge.day, "suite_version": __version__},
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _case(each: Bite) -> dict[str, Any]:
    return {
        **{"id": each.case.id, "verdict": each.verdict, "behaviour": each.behaviour, "how": each.known.how},
        **{"why": each.why, "good": each.good, "conditions": list(each.case.conditions)},
        **{"workaround": each.case.workaround, "helps": each.helps},
    }


def _use(each: Place) -> dict[str, Any]:
    return {"name": each.name, "path": str(each.path), "line": each.line, "column": each.column}


def markdown(answer: Answer, read: Reading, knowledge: Knowledge) -> str:
    """The answer as Markdown, for a comment or a summary."""
    where = cell(f"{answer.stack.where}: {named(answer)}").replace("[", "\\[").replace("`", "\\`")
    lines = [f"**{answer.first_line}**", "", where, ""]
    if unguarded := read.unguarded:
        lines += ["| | place | name | instead |", "|---|---|---|---|"]
        for one in unguarded:
            what = f"`{one.name}`: {cell(one.says)}"
            lines.append(f"| {one.level} | `{one.path}:{one.line}` | {what} | {cell(one.do)} |")
        lines.append("")
    if answer.bites:
        lines += ["| | issue | what is known |", "|---|---|---|"]
    for issue, bites in answer.issues:
        of = [f"`{each.path}:{each.line}`" for each in read.places.get(issue.id, ())[:5]]
        known = "<br>".join(map(cell, [*told(issue, bites)[:-1], *of]))
        lines.append(f"| {KINDS[issue.kind]} | [{issue.id}]({issue.link})<br>{cell(issue.title)} | {known} |")
    return "\n".join([*lines, *([""] if answer.bites else []), answer.last_line]) + "\n"


def cell(text: str) -> str:
    """Return a text as a cell of a table in Markdown."""
    return printable(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def sarif(answer: Answer, read: Reading, knowledge: Knowledge) -> str:
    """The answer as SARIF 2.1.0: a result for each use in the source, or one for the lock."""
    found = [(issue, bites, where) for issue, bites in answer.issues for where in _places(answer, read, issue)]
    rules = [
        {
            "id": issue.id,
            "shortDescription": {"text": issue.title},
            **({"helpUri": issue.link} if issue.link.startswith("https://") else {}),
            "defaultConfiguration": {"level": _LEVELS.get(issue.kind, "warning")},
        }
        for issue, _ in answer.issues
    ]
    unguarded = read.unguarded
    rules += [
        {
            "id": level,
            "shortDescription": {"text": words},
            "defaultConfiguration": {"level": _LINE_LEVELS[level]},
        }
        for level, words in _LINES.items()
        if any(each.level == level for each in unguarded)
    ]
    results: list[dict[str, Any]] = [
        {
            "ruleId": issue.id,
            "level": _LEVELS.get(issue.kind, "warning"),
            "message": {"text": "\n".join([issue.title, *told(issue, bites)])},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": path}, "region": {"startLine": line}}}],
        }
        for issue, bites, (path, line) in found
    ]
    results += [
        {
            "ruleId": each.level,
            "level": _LINE_LEVELS[each.level],
            "message": {"text": each.told},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": each.path}, "region": _region(each)}}],
        }
        for each in unguarded
    ]
    driver = {"name": "jax-stack-compat", "version": __version__, "rules": rules}
    data = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _region(each: Finding) -> dict[str, int]:
    return {
        "startLine": each.line,
        "startColumn": each.column,
        "endLine": each.end_line,
        "endColumn": each.end_column,
    }


def github(answer: Answer, read: Reading, knowledge: Knowledge) -> str:
    """The answer as commands of a GitHub workflow: an annotation for each use, or one for the lock."""
    lines = [annotation("error", each.path, each.line, each.name, each.told) for each in read.certain]
    for issue, bites in answer.issues:
        for path, line in _places(answer, read, issue):
            level = _LEVELS.get(issue.kind, "warning")
            text = "\n".join([issue.title, *told(issue, bites)])
            lines.append(annotation(level, path, line, issue.id, text))
    return "\n".join([*lines, f"::notice::{_escaped(answer.first_line + ' ' + answer.last_line)}"]) + "\n"


def annotation(level: str, path: str, line: int, title: str, text: str) -> str:
    """Return a command of a GitHub workflow that marks a line."""
    return f"::{level} file={_property(path)},line={line},title={_property(title)}::{_escaped(text)}"


def _places(answer: Answer, read: Reading, issue: KnownIssue) -> list[tuple[str, int]]:
    return [(str(each.path), each.line) for each in read.places.get(issue.id, ())] or [
        (answer.stack.file or answer.stack.where, 1)
    ]


def _escaped(text: str) -> str:
    # As GitHub's own toolkit does.
    return printable(text, lines=True).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


FORMATS: Mapping[str, Callable[[Answer, Reading, Knowledge], str]] = {
    "json": as_json,
    "markdown": markdown,
    "sarif": sarif,
    "github": github,
    "constraints": constraints,
}
