"""The page numbers.html, and a page for each module: what functions of jax returned, against a reference."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from jax_stack_compat.numbers.model import CallRow
from jax_stack_compat.numbers.uncalled import uncalled
from laboratory.cell.numbers.inputs import INPUTS, SHAPES
from laboratory.report.markup import clipped
from laboratory.report.site.facts import Facts
from laboratory.report.site.numbers import by_call, stretches, unlisted
from laboratory.report.site.page import Page

# The words for people, and the colours of style.css, the worst first.
STATUSES: Mapping[str, tuple[str, str, str]] = {
    "differs": ("differs", "changed", "differs from NumPy, SciPy or the documented formula"),
    "ended": ("ends", "crashed", "ended the process by a signal, or did not return"),
    "edge": (
        "differs at an edge",
        "guarded",
        "differs only for 0, infinite, NaN, tiny or huge numbers",
    ),
    "documented": ("documented", "neutral", "differs as JAX's documentation says"),
    "off": ("off", "guarded", "close to the reference, but further than rounding"),
    "raises": ("raises", "absent", "raises an exception"),
    "unknown": ("no reference", "not-run", "compared with the release before only"),
    "right": ("right", "clear", "the reference, rounded"),
}
_QUIET = ("right", "unknown")
_INPUT_CHARS = 120
_NAMES = re.compile(r"\w+")


@dataclass(frozen=True)
class CalledFunction:
    """A function's listed calls, each with its stretches of releases, and counts of the others.

    `now` has the calls on the newest measured release by status, the worst first; it is empty if that release lacks
    the function. `changed` has the releases with other values, `unlisted` counts lesser changes by kind.
    """

    name: str
    module: str
    aliases: list[str]
    calls: list[list[CallRow]]
    others: Mapping[str, int]
    now: Mapping[str, int]
    changed: list[str]
    unlisted: Mapping[str, int]


@dataclass(frozen=True)
class NumbersView:
    """The view of numbers.html: functions in sections, and the rest by module."""

    newest: str
    sections: list[tuple[str, str, list[CalledFunction]]]
    modules: list[tuple[str, list[CalledFunction]]]


@dataclass(frozen=True)
class ModuleView:
    """The view of a module's page: its functions, and the inputs that their listed calls name."""

    newest: str
    module: str
    functions: list[CalledFunction]
    inputs: Mapping[str, tuple[str, str]]


def pages(facts: Facts) -> Iterator[Page]:
    """Yield the page of numbers and those of the modules, if the report has any."""
    if facts.numbers.rows:
        releases = facts.numbers.measured.releases
        functions = [_function(name, rows, releases) for name, rows in facts.numbers.rows.items()]
        functions.sort(key=lambda each: (each.module, each.name))
        scripts = ("assets/numbers.js",)
        yield Page("numbers.html", "numbers.html.jinja", "Numbers", _view(releases[-1], functions), scripts=scripts)
        for module, of in groupby(functions, lambda each: each.module):
            view = _module(releases[-1], module, list(of))
            yield Page(path(module), "functions.html.jinja", f"Numbers: {module}", view, scripts=scripts)


def path(module: str) -> str:
    """Return the path of a module's page."""
    return f"functions/{module}.html"


def _view(newest: str, functions: list[CalledFunction]) -> NumbersView:
    titles = {
        "differ": f"Different from their reference on jax {newest}",
        "end": f"Calls that end the process on jax {newest}",
        "edge": f"Different only at edges on jax {newest}",
        "changed": "Changed between releases",
    }
    by_section: dict[str, list[CalledFunction]] = {section: [] for section in (*titles, "rest")}
    for function in functions:
        by_section[_section(function)].append(function)
    sections = [(section, title, of) for section, title in titles.items() if (of := by_section[section])]
    modules = [(module, list(of)) for module, of in groupby(by_section["rest"], lambda each: each.module)]
    return NumbersView(newest, sections, modules)


def _section(function: CalledFunction) -> str:
    """Return the first section of the page that a function belongs to."""
    for status, section in (("differs", "differ"), ("ended", "end"), ("edge", "edge")):
        if status in function.now:
            return section
    return "changed" if function.changed else "rest"


def _module(newest: str, module: str, functions: list[CalledFunction]) -> ModuleView:
    listed = {row.call for of in functions for rows in of.calls for row in rows}
    named = {name for call in listed for name in _NAMES.findall(call)}
    inputs = {name: _input(*INPUTS[name], SHAPES.get(name)) for name in INPUTS if name in named}
    return ModuleView(newest, module, functions, inputs)


def _function(name: str, rows: Iterable[CallRow], releases: tuple[str, ...]) -> CalledFunction:
    rows = list(rows)
    of = [stretches(each, releases) for each in by_call(rows).values()]
    listed = [
        each for each in of if len({row.status for row in each}) > 1 or each[0].status not in _QUIET or _turns(each)
    ]
    now = Counter(row.status for each in of for row in each if row.last == releases[-1])
    return CalledFunction(
        name=name,
        module=name.rpartition(".")[0],
        aliases=sorted(alias for alias, of_it in uncalled().aliases.items() if of_it == name),
        calls=listed,
        others=Counter(each[0].status for each in of if each not in listed),
        now={status: now[status] for status in STATUSES if now[status]},
        changed=sorted({row.first for each in of for row in _turns(each)}, key=releases.index),
        unlisted=unlisted(rows),
    )


def _turns(of: Iterable[CallRow]) -> list[CallRow]:
    return [row for row in of if row.listed]


def _input(dtype: str, values: Any, shape: tuple[int, ...] | None) -> tuple[str, str]:
    return dtype, f"shape {shape}" if values is None else clipped(str(values), _INPUT_CHARS)
