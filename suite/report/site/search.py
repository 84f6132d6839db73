"""What the front page's box looks in: the issues' words, symptoms and threads, and the releases, as a script. Pure."""

from __future__ import annotations

import json
from typing import Any

from suite.printable import printable
from suite.report.site.facts import Facts


def search_data(facts: Facts) -> str:
    """A script that sets `SEARCH`: of each issue its names, titles, functions, threads and symptoms, and the cells."""
    issues = []
    for issue in facts.report.issues:
        symptoms = [[each.type, each.message] for case in issue.cases for each in case.signatures]
        issues.append(
            {
                **{"id": issue.id, "title": issue.title, "kind": issue.kind, "touches": issue.touches},
                "cases": [[case.id, case.question] for case in issue.cases],
                "threads": [each.ref for each in issue.upstream],
                "symptoms": [each for place, each in enumerate(symptoms) if each not in symptoms[:place]],
            }
        )
    return script("SEARCH", {"issues": issues, "cells": [cell.id for cell in facts.line]})


def script(name: str, data: Any) -> str:
    """A script that sets `name` to `data`: all text in it printable, and nothing that would end an element."""
    text = json.dumps(_printable(data), ensure_ascii=False, separators=(",", ":"))
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return f'"use strict";\nconst {name} = {text};\n'


def _printable(data: Any) -> Any:
    if isinstance(data, dict):
        return {printable(key): _printable(each) for key, each in data.items()}
    if isinstance(data, (list, tuple)):
        return list(map(_printable, data))
    return printable(data, lines=True) if isinstance(data, str) else data
