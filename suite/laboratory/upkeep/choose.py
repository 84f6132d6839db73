"""The default plan and the costs of cases, computed from the published report: default.json and costs.json.

The default plan has the newest release of jax and four others. They show almost as many behaviours of headlines as the
best choice of four, with the smallest download.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import median

from packaging.version import Version

from jax_stack_compat.base.console import OUT
from jax_stack_compat.base.files import dump
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.judge.verdict_table import UNDECIDED
from jax_stack_compat.stack import chosen, lock, plan
from jax_stack_compat.stack.chosen import Chosen
from laboratory.records.packed import Packed
from laboratory.report.model import Report
from laboratory.run import sizes
from laboratory.run.schedule import costs
from laboratory.run.schedule.costs import Cost, Costs

# The number of releases of jax besides the newest.
OTHERS = 4
# A choice must show this share of the pairs that the best choice shows.
ENOUGH = 0.99
# A cost that changed by a smaller factor is kept, so that the file does not change with every run.
_SAME = 1.5
# An issue and a behaviour of its headline.
Pair = tuple[str, str]


def write_all(published: Report) -> None:
    """Rewrite default.json and costs.json. Raises BadFile, OSError."""
    before = chosen.load() if chosen.PATH.exists() else Chosen(rows={})
    made = choose(shown(published), bytes_of(), before)
    write(chosen.PATH, dump(made.model_dump(mode="json")))
    told = ", ".join(f"{version}: {len(rows)}" for version, rows in made.rows.items())
    OUT.print(f"{chosen.PATH.name}: rows besides the newest release: {told}", soft_wrap=True)
    known = costs.load() if costs.PATH.exists() else {}
    made_costs = measured(published_costs(), known)
    write(costs.PATH, dump(Costs(cases=made_costs).model_dump(mode="json")))
    OUT.print(f"{costs.PATH.name}: {len(made_costs)} cases, {sum(cost.seconds for cost in made_costs.values()):,.0f} s")


def published_costs() -> dict[str, list[Cost]]:
    """Return the costs of each case in the packed records of the line, by `issue/case`. Raises BadFile."""
    evidence, found = Packed(), dict[str, list[Cost]]()
    for cell in plan.tagged("line"):
        pinned = lock.load(cell)
        for entry in catalogue.entries():
            for case in entry.issue.cases:
                seen = evidence.of_cell(cell, entry, case, pinned)
                if seen is not None:
                    cost = Cost(seen.seconds, seen.peak_rss_mib)
                    found.setdefault(f"{entry.issue.id}/{case.id}", []).append(cost)
    return found


def measured(of_case: Mapping[str, Sequence[Cost]], before: Mapping[str, Cost]) -> Mapping[str, Cost]:
    """Return the cost of each case by its runs; a cost in `before` that is similar is kept."""
    found = {}
    for name, seen in sorted(of_case.items()):
        seconds = float(f"{median(attempt.seconds for attempt in seen):.2g}")
        cost = Cost(seconds, round(max(attempt.mib for attempt in seen), -1))
        kept = before.get(name)
        found[name] = kept if kept is not None and _is_about(kept, cost) else cost
    return found


def _is_about(one: Cost, other: Cost) -> bool:
    return all(max(a, b) <= _SAME * min(a, b) for a, b in zip(one, other, strict=True))


def shown(report: Report) -> dict[str, set[Pair]]:
    """Return the behaviours that headlines show on each release of jax, in version order.

    Absent, blocked, different and undecided results do not count.
    """
    headlines = {(issue.id, issue.cases[0].id) for issue in report.issues}
    versions = {cell.id: cell.holds["jax"] for cell in report.cells if cell.kind == "line" and cell.moves == "jax"}
    found: dict[str, set[Pair]] = {version: set() for version in sorted(versions.values(), key=Version)}
    for row in report.observations:
        is_headline = row.cell in versions and (row.issue, row.case) in headlines
        if is_headline and row.behaviour is not None and row.verdict not in {*UNDECIDED, "absent", "different"}:
            found[versions[row.cell]].add((row.issue, row.behaviour))
    return {version: pairs for version, pairs in found.items() if pairs}


def bytes_of() -> dict[str, dict[str, int]]:
    """Return the wheels that each release of jax on the line needs, with their sizes."""
    known = sizes.load()
    cells = [cell for cell in plan.tagged("line") if cell.moves == "jax" and cell.unavailable is None]
    pins = {dict(cell.holds)["jax"]: lock.load(cell).pins.items() for cell in cells}
    return {
        jax: {f"{name}=={version}": known.get(f"{name}=={version}", 0) for name, version in of}
        for jax, of in pins.items()
    }


def choose(pairs: Mapping[str, set[Pair]], wheels: Mapping[str, Mapping[str, int]], before: Chosen) -> Chosen:
    """Return the releases of jax to run besides the newest, and the issues to run on each.

    Among all choices that show at least 99% of the best choice's pairs, return the one with the fewest bytes. The
    choice in `before` is kept while it also shows 99%, so that a new issue or release seldom changes the choice.
    """
    *others, newest = sorted(pairs, key=Version)
    numbers = {pair: 1 << place for place, pair in enumerate(sorted(set().union(*pairs.values())))}
    masks = {version: sum(numbers[pair] for pair in of) for version, of in pairs.items()}

    def count(some: tuple[str, ...]) -> int:
        mask = masks[newest]
        for version in some:
            mask |= masks[version]
        return mask.bit_count()

    counts = {some: count(some) for some in combinations(others, min(OTHERS, len(others)))}
    enough = ENOUGH * max(counts.values())
    kept = tuple(sorted(before.rows, key=Version))
    best = (
        kept
        if counts.get(kept, 0) >= enough
        else min(
            (some for some, number in counts.items() if number >= enough),
            key=lambda some: (sum({**_union(some, wheels), **wheels[newest]}.values()), -counts[some], some),
        )
    )
    seen = set(pairs[newest])
    rows: dict[str, tuple[str, ...]] = {}
    for version in reversed(best):
        rows[version] = tuple(sorted({issue for issue, _ in pairs[version] - seen}))
        seen |= pairs[version]
    return Chosen(rows={version: rows[version] for version in best})


def _union(some: tuple[str, ...], wheels: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    return {name: size for version in some for name, size in wheels[version].items()}
