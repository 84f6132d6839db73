"""The page numbers.html: what each function of jax returned on the releases, against a reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from suite.cell.numbers.inputs import INPUTS, SHAPES
from suite.numbers.model import CallRow
from suite.numbers.uncalled import uncalled
from suite.report.markup import clipped
from suite.report.site.facts import Facts
from suite.report.site.numbers import MeasuredNumbers, by_call, stretches, unlisted
from suite.report.site.page import Page

# The words for people, and the colours of style.css, the worst first.
STATUSES: Mapping[str, tuple[str, str, str]] = {
    "differs": ("differs", "changed", "differs from NumPy, SciPy or the documented formula"),
    "ended": ("ends", "crashed", "ended the process by a signal, or did not return"),
    "off": ("off", "guarded", "close to the reference, but further than rounding"),
    "raises": ("raises", "absent", "raises an exception"),
    "unknown": ("no reference", "not-run", "compared with the release before only"),
    "right": ("right", "clear", "the reference, rounded"),
}
_QUIET = ("right", "unknown")
_INPUT_CHARS = 120


@dataclass(frozen=True)
class CalledFunction:
    """A function's listed calls, each with its stretches of releases, and counts of the others.

    `now` has the calls on the newest measured release by status, the worst first; it is empty if that release lacks
    the function. `changed` has the releases with other values, `unlisted` counts lesser changes by kind.
    """

    name: str
    aliases: list[str]
    calls: list[list[CallRow]]
    others: Mapping[str, int]
    now: Mapping[str, int]
    changed: list[str]
    unlisted: Mapping[str, int]


@dataclass(frozen=True)
class NumbersView:
    """The view of numbers.html: functions in sections, the rest by module, and the inputs by name."""

    newest: str
    sections: list[tuple[str, str, list[CalledFunction]]]
    modules: list[tuple[str, list[CalledFunction]]]
    inputs: Mapping[str, tuple[str, str]]


def pages(facts: Facts) -> Iterator[Page]:
    """Yield the page of numbers, if the report has any."""
    if facts.numbers.rows:
        view = _view(facts.numbers)
        yield Page("numbers.html", "numbers.html.jinja", "Numbers", view, scripts=("assets/numbers.js",))


def _view(numbers: MeasuredNumbers) -> NumbersView:
    newest = numbers.measured.releases[-1]
    functions = [_function(name, rows, numbers.measured.releases) for name, rows in sorted(numbers.rows.items())]
    differ = [each for each in functions if "differs" in each.now]
    end = [each for each in functions if "ended" in each.now and each not in differ]
    changed = [each for each in functions if each.changed and each not in differ and each not in end]
    told = {each.name for each in (*differ, *end, *changed)}
    rest = [each for each in functions if each.name not in told]
    sections = [
        ("differ", f"Different from their reference on jax {newest}", differ),
        ("end", f"Ended on jax {newest}", end),
        ("changed", "Changed between releases", changed),
    ]
    modules = [(module, list(of)) for module, of in groupby(rest, lambda each: each.name.rpartition(".")[0])]
    inputs = {name: _input(*INPUTS[name], SHAPES.get(name)) for name in INPUTS}
    return NumbersView(newest, [each for each in sections if each[2]], modules, inputs)


def _function(name: str, rows: Iterable[CallRow], releases: tuple[str, ...]) -> CalledFunction:
    rows = list(rows)
    of = [stretches(each, releases) for each in by_call(rows).values()]
    listed = [
        each for each in of if len({row.status for row in each}) > 1 or each[0].status not in _QUIET or _turns(each)
    ]
    now = Counter(row.status for each in of for row in each if row.last == releases[-1])
    return CalledFunction(
        name=name,
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
