"""Answers for programs: JSON, Markdown, SARIF, and annotations for GitHub. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from jax_stack_compat import __version__
from jax_stack_compat.base.files import dump_ascii
from jax_stack_compat.base.markdown import in_code, sentence
from jax_stack_compat.base.printable import printable, without_marks
from jax_stack_compat.check.answer import Effect
from jax_stack_compat.check.finding import KINDS, Finding
from jax_stack_compat.check.findings import SourceRead
from jax_stack_compat.check.outcome import Outcome
from jax_stack_compat.check.output.text import lowest, named
from jax_stack_compat.check.source.numbers import Numbers
from jax_stack_compat.check.source.uses import Place
from jax_stack_compat.names import libraries

SCHEMA = 2
PLATFORM = "CPU, x86-64"
# Titles of SARIF's rules for findings without an issue, and the ranks of levels in SARIF and GitHub.
_NAMES = {"certain": "The stack lacks a name or an argument", "deprecated": "The stack warns about a name"}
_FAILS = "stack-does-not-work"
_RANKS: Mapping[str, str] = {"certain": "error", "likely": "warning"}


def as_json(found: Outcome) -> str:
    """Return the answer as JSON."""
    answer, read, baseline = found.answer, found.read or SourceRead(0), found.baseline
    cases = {
        issue.id: {"link": issue.link, "upstream": list(issue.upstream), "cases": list(map(_case, effects))}
        for issue, effects in answer.issues
        if issue.id in found.issues
    }
    data = {
        "schema_version": SCHEMA,
        "exit": int(found.exit),
        "sentence": found.verdict,
        "stack": {
            **{"where": answer.stack.where, "versions": dict(answer.versions), "assumed": dict(answer.assumed)},
            **{"unsaid": dict(answer.stack.unsaid), "python": answer.stack.python, "stops": list(answer.stops)},
            "imports": "" if answer.works.fails else "; ".join(answer.works.well),
            "works": {**vars(answer.works), "fails": answer.works.fails, "sentence": answer.works.sentence},
        },
        "lowest": _lowest(found.lowest) if found.lowest else None,
        "platform": PLATFORM,
        "data_of": answer.day,
        "read": {
            "files": read.files,
            "unread": [{"path": each.path, "why": each.why} for each in read.unread],
            "skipped": list(read.skipped),
        },
        "coverage": {
            **{"functions": read.functions, "covered": read.covered},
            **{"untold": list(read.untold), "looked_up": dict(answer.counts)},
            **{"blocked": len(answer.blocked), "unknown": list(answer.unknown), "unsure": found.unsure},
        },
        "numbers": _numbers(read.numbers) if read.numbers else None,
        "ignored": list(answer.ignored),
        "baseline": {"known": baseline.known, "gone": baseline.gone} if baseline else None,
        "findings": list(map(_finding, found.findings)),
        "issues": cases,
        "taken_away": list(found.gone) if found.gone is not None else None,
        "slower": list(found.slower),
        "suite_version": __version__,
    }
    return dump_ascii(data)


def _lowest(found: Outcome) -> dict[str, Any]:
    return {
        "versions": dict(found.answer.versions),
        "sentence": found.verdict,
        "findings": [*map(_finding, found.findings)],
    }


def _numbers(of: Numbers) -> dict[str, Any]:
    """Return the called functions' results as JSON: one or two releases, counts, and a row for each listed function."""
    names = ("function", "form", "call", "status", "detail", "change", "was", "package", "explained")
    rows = [{name: vars(row)[name] for name in names} for row in (*of.changed, *of.unlike)]
    told = {"on": of.new, "since": of.old or None, "functions": len(of.functions)}
    lists = {"edges": list(of.edges), "rounded": list(of.rounded), "on_devices": list(of.on_devices)}
    return {**told, **lists, "sentence": of.sentence, "rows": rows}


def _finding(finding: Finding) -> dict[str, Any]:
    names = ("level", "kind", "id", "name", "path", "line", "column", "guarded", "narrowed", "good_from", "do", "says")
    told = {**vars(finding), **vars(finding.place), "matters": libraries.matters(finding.users)}
    return {name: told[name] for name in (*names, "cases", *(("matters",) if finding.id else ()))}


def _case(effect: Effect) -> dict[str, Any]:
    return {
        **{"id": effect.case.id, "verdict": effect.verdict, "behaviour": effect.behaviour, "how": effect.known.how},
        **{"why": effect.why, "good": effect.good, "conditions": list(effect.case.conditions)},
        **{"workaround": effect.case.workaround, "helps": effect.helps},
        "device": effect.device,
    }


def markdown(found: Outcome) -> str:
    """Return the answer as Markdown, for a comment or a summary."""
    answer = found.answer
    stack = " ".join(filter(None, [f"{answer.stack.where}: {named(answer)}.", found.assumed]))
    numbers = found.read.numbers.sentence if found.read and found.read.numbers else ""
    works = [f"**{sentence(answer.works.sentence)}**", ""] if answer.works.sentence else []
    rest = [sentence(each) for each in (found.coverage, numbers, *found.unsure) if each]
    lines = [*works, " ".join([f"**{sentence(found.sentence)}**", *rest]), "", sentence(stack), ""]
    links = {issue.id: issue.link for issue, _ in answer.issues}
    shown = [each for each in found.listed if each.level != "chronic"]
    if shown:
        lines += ["| | place | what | good from, or instead |", "|---|---|---|---|"]
    for finding in shown:
        name = in_code(finding.name) if finding.of_name else f"[{finding.id}]({links.get(finding.id)})"
        kind = f" ({KINDS[finding.kind].lower()})" if finding.kind else ""
        place = in_code(f"{finding.place.path}:{finding.place.line}") if finding.place.line else ""
        instead = sentence("; ".join(finding.instead))
        lines.append(f"| {finding.level}{kind} | {place} | {name}: {sentence(finding.says)} | {instead} |")
    lines += [""] if shown else []
    lines += [f"- {sentence(each)}" for each in found.slower]
    lines += [sentence(lowest(found.lowest))] if found.lowest else []
    lines += [""] if found.slower or found.lowest else []
    return "\n".join([*lines, sentence(answer.last_line)]) + "\n"


def sarif(found: Outcome) -> str:
    """Return the answer as SARIF 2.1.0, with a result for each place in the source or the lock."""
    issues = {issue.id: issue for issue, _ in found.answer.issues}
    shown = found.listed
    rules = []
    for id in dict.fromkeys(each.id or each.level for each in shown):
        issue = issues.get(id)
        rule = {"id": id, "shortDescription": {"text": issue.title if issue else _NAMES[id]}}
        rules.append({**rule, "helpUri": issue.link} if issue and issue.link.startswith("https://") else rule)
    results = [
        {
            **{"ruleId": finding.id or finding.level, "level": _RANKS.get(finding.level, "note")},
            **{"message": {"text": _said(finding)}, "properties": {"level": finding.level}},
            "locations": [{"physicalLocation": _location(finding.place, found.answer.stack.where)}],
        }
        for finding in shown
    ]
    if found.answer.works.fails:
        rules.insert(0, {"id": _FAILS, "shortDescription": {"text": "The stack does not install, import or run"}})
        place = {"physicalLocation": _location(Place(found.answer.stack.file), found.answer.stack.where)}
        told = {"text": found.answer.works.sentence}
        results.insert(0, {"ruleId": _FAILS, "level": "error", "message": told, "locations": [place]})
    driver = {"name": "jax-stack-compat", "version": __version__, "rules": rules}
    data = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return dump_ascii(data)


def _location(place: Place, where: str) -> dict[str, Any]:
    region = {"startLine": place.line or 1, "startColumn": place.column}
    region |= {"endLine": place.end_line, "endColumn": place.end_column}
    uri = quote(place.path or where, safe="/=+,", errors="surrogateescape")
    return {"artifactLocation": {"uri": uri}, "region": {name: of for name, of in region.items() if of}}


def _said(finding: Finding) -> str:
    instead = f"instead: {finding.do}" * bool(finding.do)
    if finding.of_name:
        return "; ".join(filter(None, [finding.what, instead]))
    return "\n".join(filter(None, [finding.what, "; ".join(filter(None, [finding.good_from, instead]))]))


def github(found: Outcome) -> str:
    """Return the answer as commands of a GitHub workflow, with an annotation for each place to change."""
    lines = [
        annotation(_RANKS[finding.level], *finding.place.at[:2], finding.id or finding.name, _said(finding))
        for finding in found.to_do
    ]
    works, told = found.answer.works, [found.sentence, found.coverage, found.answer.last_line]
    if works.fails:
        lines.insert(0, message("error", works.sentence))
    said = " ".join(filter(None, [works.sentence, *found.unsure, found.assumed, *told]))
    return "\n".join([*lines, message("notice", said)]) + "\n"


def message(level: str, text: str) -> str:
    """Return a command of a GitHub workflow that shows a text."""
    return f"::{level}::{_escaped(text)}"


def annotation(level: str, path: str, line: int, title: str, text: str) -> str:
    """Return a command of a GitHub workflow that marks a line."""
    return f"::{level} file={_property(path)},line={line},title={_property(title)}::{_escaped(text)}"


def _escaped(text: str) -> str:
    # As in GitHub's own toolkit.
    return without_marks(printable(text, lines=True)).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


FORMATS: Mapping[str, Callable[[Outcome], str]] = {
    "json": as_json,
    "markdown": markdown,
    "sarif": sarif,
    "github": github,
}
