"""The page seeds.html: the numbers that each sampler draws from one key, by release of jax."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise

from jax_stack_compat.judge.verdict_table import UNDECIDED
from laboratory.report.model import CaseRow, CellRow, IssueRow, Observation
from laboratory.report.site.facts import Facts
from laboratory.report.site.page import Page
from laboratory.report.site.table import minor_of


@dataclass(frozen=True)
class Stream:
    """Adjacent releases on which a sampler draws the same; `of` numbers the sampler's streams.

    `of` is 0 if the sampler does not exist, and `seen` is None if undecided.
    """

    of: int
    seen: Observation | None
    first: CellRow
    width: int


@dataclass(frozen=True)
class Sampler:
    """A case along the releases, and the releases on which its numbers changed."""

    issue: IssueRow
    case: CaseRow
    streams: list[Stream]
    changed: list[CellRow]


@dataclass(frozen=True)
class Seeds:
    """The view of seeds.html: the releases by minor, and the samplers of each issue."""

    groups: list[tuple[str, list[CellRow]]]
    rows: list[tuple[IssueRow, list[Sampler]]]


def pages(facts: Facts) -> Iterator[Page]:
    """Yield the map of the random streams, if the report has an issue of that area."""
    if facts.streams:
        columns = [cell for cell in facts.columns if cell.moves == "jax"]
        groups = [(minor, list(of)) for minor, of in groupby(columns, lambda cell: minor_of(cell.holds["jax"]))]
        rows = [(issue, [_sampler(facts, columns, issue, case) for case in issue.cases]) for issue in facts.streams]
        yield Page("seeds.html", "seeds.html.jinja", "Same seed, same numbers?", Seeds(groups, rows))


def _sampler(facts: Facts, columns: list[CellRow], issue: IssueRow, case: CaseRow) -> Sampler:
    of = facts.seen[issue.id, case.id]
    told = [(cell, each if (each := of.get(cell.id)) and each.verdict not in UNDECIDED else None) for cell in columns]
    numbers: dict[str | None, int] = {}
    streams = []
    for _, group in groupby(told, lambda each: each[1] and (each[1].verdict, each[1].behaviour)):
        cells = list(group)
        first, seen = cells[0]
        absent = seen is None or seen.verdict == "absent"
        number = 0 if absent else numbers.setdefault(seen.behaviour if seen else None, len(numbers) + 1)
        streams.append(Stream(number, seen, first, len(cells)))
    known = [stream for stream in streams if stream.of]
    changed = [after.first for before, after in pairwise(known) if before.of != after.of]
    return Sampler(issue, case, streams, changed)
