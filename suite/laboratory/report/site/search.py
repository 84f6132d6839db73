"""The data that the front page's box searches, as a script: the index, and the constants of the search. Pure."""

from __future__ import annotations

import builtins
import json
from typing import Any

from jax_stack_compat.base.printable import printable
from jax_stack_compat.check.explain import matching, missing, ordinary
from jax_stack_compat.check.find import words
from jax_stack_compat.names import query
from jax_stack_compat.packages import ON_JAX, WALKED
from laboratory.report.formats.search_json import index
from laboratory.report.model import IssueRow
from laboratory.report.site.facts import Facts
from laboratory.report.site.pages.timings import charts

# The packages whose names are known.
NAMED = tuple(package for package in WALKED if query.is_known(package))


def search_data(facts: Facts) -> str:
    """Return a script that sets `SEARCH`: the index that `find` searches, with its words; and packages with names."""
    data = index(facts.report, facts.timed, facts.numbers.rows)
    pages = {id: page for (_, id), page in charts(facts.timed).items()}
    timings = {timing["id"]: pages[timing["id"]] for timing in data["timings"]}
    named = NAMED if facts.numbers.rows else ()
    return script("SEARCH", {**data, **_constants(), "named": named, "charts": timings})


def _constants() -> dict[str, Any]:
    """Return what the search in Python is made of, so that the script has no list of its own."""
    general = [name for name in dir(builtins) if isinstance(getattr(builtins, name), type)]
    return {
        "common": sorted(words.COMMON),
        "synonyms": words.ALIKE,
        "short": words.SHORT,
        "ordinary": ordinary.ORDINARY,
        "errors_page": ordinary.PAGE,
        "general": [*general, *matching.GENERAL],
        "phrases": matching.PHRASES.pattern,
        "missing": missing.MISSING.pattern.replace("?P<", "?<"),
        "on_jax": ON_JAX,
    }


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
