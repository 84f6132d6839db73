"""What stands within the page as it is: the data of its script, marked source, hashes and addresses. Pure."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from markupsafe import Markup
from pygments import lex
from pygments.lexers import PythonLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, _TokenType

from suite.judge.rules import concerned
from suite.judge.specifiers import in_version_order
from suite.judge.table import PROPERTIES
from suite.printable import printable
from suite.report import summary
from suite.report.formats.markup import said
from suite.report.model import CaseRow, IssueRow, Report
from suite.report.site.table import TOLD, kind_of
from suite.report.site.timeline import Seen, is_mended, stands
from suite.stack.releases import PACKAGES

_MARKS = (
    *((Comment, "c"), (String, "s"), (Number, "n"), (Keyword, "k"), (Operator.Word, "k")),
    *((Name.Function, "f"), (Name.Class, "f"), (Name.Decorator, "f")),
)
# Whose repositories are meant by a short name.
_REPOSITORIES = {
    "jax": "jax-ml/jax",
    **{name: f"patrick-kidger/{name}" for name in ("diffrax", "equinox", "jaxtyping", "lineax", "optimistix")},
}
_THREAD = re.compile(rf"(?:\b({'|'.join(_REPOSITORIES)}))?#(\d{{1,9}})\b")


def embedded(report: Report, seen: Seen, year: tuple[str, str] | None) -> Markup:
    """The report for the page's script: what is told often stands once, in JSON that ends no element."""
    packages, kinds, rules, needs, workarounds = (_Numbered() for _ in range(5))

    def case_of(issue: IssueRow, case: CaseRow) -> dict[str, Any]:
        told = [seen.get((issue.id, case.id), {}).get(cell.id) for cell in report.cells]
        return {
            "id": case.id,
            "question": case.question,
            "needs": needs[tuple(case.needs)],
            "behaviours": case.behaviours,
            "rules": [rules[each.behaviour, each.on, each.evidence] for each in case.rules],
            "workaround": workarounds[(case.workaround.text, *case.workaround.fails) if case.workaround else ()],
            "seen": [kinds[kind_of(each)] if each else -1 for each in told],
            "seconds": [round(each.seconds, 1) if each else 0 for each in told],
            "mib": [each.peak_rss_mib if each else 0 for each in told],
        }

    cells = [
        {
            "id": cell.id,
            "on": cell.released_on.isoformat(),
            "python": cell.python,
            "line": cell.kind == "line",
            "moves": cell.moves,
            "compared": cell.declared_observed,
            "packages": [packages[f"{name} {version}"] for name, version in cell.packages.items()],
        }
        for cell in report.cells
    ]
    issues = [
        {
            **{"id": issue.id, "title": issue.title, "rowZero": issue.row_zero},
            "cases": [case_of(issue, case) for case in issue.cases],
        }
        for issue in report.issues
    ]
    data = {
        "verdicts": {each.name: [each.glyph, stands(each.name), is_mended(each.name)] for each in PROPERTIES.values()},
        "compared": dict(summary.STACK_GLYPHS),
        "replay": summary.REPLAY,
        "year": year,
        "known": known(report),
        "packages": list(packages),
        "needs": [{"needs": each, "imports": sorted(concerned(each))} for each in needs],
        "rules": list(rules),
        "workarounds": list(workarounds),
        "told": TOLD,
        "kinds": [[said(each) if isinstance(each, str) else each for each in kind] for kind in kinds],
        "cells": cells,
        "issues": issues,
    }
    text = json.dumps(_printable(data), ensure_ascii=False, separators=(",", ":"))
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    # Nothing is left in it that HTML would act on.
    return Markup(text)


def _printable(data: Any) -> Any:
    """Data with all text in it printable: a script would show what stands in a string's escapes."""
    if isinstance(data, Mapping):
        return {printable(key): _printable(each) for key, each in data.items()}
    if isinstance(data, (list, tuple)):
        return list(map(_printable, data))
    return printable(data, lines=True) if isinstance(data, str) else data


class _Numbered(dict[Any, int]):
    """Things, each with a number that stands for it wherever it is told again."""

    def __missing__(self, thing: Any) -> int:
        self[thing] = len(self)
        return self[thing]


def known(report: Report) -> dict[str, list[str]]:
    """The packages of the stack, and what else matters to some case → their releases that a cell has, oldest first."""
    named = (name for issue in report.issues for case in issue.cases for name in concerned(case.needs, case.rules))
    names = sorted({*PACKAGES, *named})
    there = {name: {cell.packages[name] for cell in report.cells if name in cell.packages} for name in names}
    return {name: in_version_order(of) for name, of in there.items() if of}


def verdict_styles() -> str:
    """The colours of each verdict as a style sheet: the page defines those of the classes in the verdicts' table."""
    return "\n".join(
        f".{each.name} {{ --b: var(--{each.css}); --i: var(--{each.css}-ink); }}" for each in PROPERTIES.values()
    )


def highlight(source: str) -> Markup:
    """Python source with its keywords, strings, comments, numbers and definitions marked; whatever else is text."""
    found = Markup("")
    for name, tokens in groupby(lex(source, PythonLexer()), lambda token: _mark_of(token[0])):
        text = "".join(value for _, value in tokens)
        found += Markup('<i class="{}">{}</i>').format(name, text) if name else Markup("{}").format(text)
    return found


def digest(text: str) -> str:
    """What a content security policy calls an inline script or style by."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def link(ref: str) -> str:
    """The address of an upstream thread: `jax-ml/jax#27829`, or an address as it stands; nothing where it is none."""
    repository, _, number = ref.partition("#")
    if number.isdecimal() and ":" not in repository:
        return f"https://github.com/{repository}/issues/{number}"
    return ref if ref.startswith("https://") else ""


def linked(text: str) -> Markup:
    """Text in which `jax#31284` leads to its thread, and so does the `#31282` that follows it."""
    found, at, repository = Markup(""), 0, ""
    for each in _THREAD.finditer(text):
        repository = _REPOSITORIES.get(each[1] or "", repository)
        if repository:
            address = link(f"{repository}#{each[2]}")
            found += Markup('{}<a href="{}">{}</a>').format(text[at : each.start()], address, each[0])
            at = each.end()
    return found + text[at:]


def _mark_of(token: _TokenType) -> str:
    return next((name for kind, name in _MARKS if token in kind), "")
