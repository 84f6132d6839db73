"""The data that the front page's box searches: words, symptoms, threads and releases, as a script. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from jax_stack_compat.base.printable import printable
from jax_stack_compat.packages import HELD
from laboratory.report.model import CaseRow, IssueRow, Observation
from laboratory.report.site.compiled import known
from laboratory.report.site.facts import Facts

# The detail of a failed import: `import equinox: AttributeError: module …; import diffrax: …`.
_IMPORT = re.compile(r"import \w+: (\w+): (.*?)(?=; import \w+: |$)")


def search_data(facts: Facts) -> str:
    """Return a script that sets `SEARCH`: issues with what finds them, the cells, and functions with numbers."""
    issues: list[dict[str, Any]] = []
    numbers: dict[str, int] = {}
    for issue in facts.report.issues:
        symptoms = [each for case in issue.cases for each in _symptoms(case, facts.seen[issue.id, case.id].values())]
        names, areas = names_and_areas(issue)
        issues.append(
            {
                **{"id": issue.id, "title": issue.title, "kind": issue.kind, "areas": areas},
                "touches": [numbers.setdefault(name, len(numbers)) for name in names],
                "cases": [[case.id, case.question] for case in issue.cases],
                "threads": [thread.ref for thread in issue.upstream],
                "symptoms": list(dict.fromkeys(symptoms)),
            }
        )
    cells = [cell.id for cell in facts.line]
    refuted = [[claim.ref, f"{claim.title} {claim.claim}".strip()] for claim in facts.report.refuted]
    numbers_of: dict[str, list[str]] = {}
    for function in sorted(facts.numbers.rows):
        module, _, name = function.rpartition(".")
        numbers_of.setdefault(module, []).append(name)
    named = {
        "packages": list(known(facts.report)),
        "aliases": {package.alias: name for name, package in HELD.items() if package.alias},
        "cells": cells,
        "refuted": refuted,
        "numbers": numbers_of,
    }
    return script("SEARCH", {"issues": issues, "names": list(numbers), **named})


def _symptoms(case: CaseRow, seen: Iterable[Observation]) -> Iterator[tuple[str, str]]:
    """Yield type and message of a case's symptoms, from its signatures and its observed import errors."""
    for signature in case.signatures:
        if case.behaviours.get(signature.behaviour) not in ("clear", "absent"):
            yield signature.type, signature.message
    failed = {row.detail for row in seen if row.behaviour == "import-error"}
    for detail in sorted(failed):
        yield from _IMPORT.findall(detail)


def names_and_areas(issue: IssueRow) -> tuple[list[str], list[str]]:
    """Return the qualified names that an issue touches, with keywords, and its areas in plain words."""
    names = [name for name in issue.touches if "." in name]
    return names, [name for name in issue.touches if "." not in name]


def script(name: str, data: Any) -> str:
    """Return a script that sets `name` to `data`; all text is printable and cannot end an element."""
    text = json.dumps(_printable(data), ensure_ascii=False, separators=(",", ":"))
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return f'"use strict";\nconst {name} = {text};\n'


def _printable(data: Any) -> Any:
    if isinstance(data, dict):
        return {printable(key): _printable(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return list(map(_printable, data))
    return printable(data, lines=True) if isinstance(data, str) else data
