"""The command `nox -s bench-count`: count the host's phases on the line, and list the changes.

Known counts of a lock are kept, so an interrupted run can be continued. The order of releases covers the line evenly
from the start, so the results of an interrupted run are spread over the line.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence

from rich.text import Text

from jax_stack_compat.base.errors import Exit, Failed
from jax_stack_compat.stack import lock
from jax_stack_compat.stack.plan import Cell
from laboratory.timings import counts, release_line
from laboratory.timings.asv_call import COUNTED, OUT
from laboratory.timings.counting import Counter
from laboratory.timings.counts import Counted

# The number of changes to print; the page shows all.
_SAID = 20


def run(counter: Counter, machine: str, cells: Sequence[Cell], patterns: Sequence[str], *, fresh: bool) -> Exit:
    """Count each cell that has no counts yet, store them, and print the changes along the line. Raises BadFile."""
    missed, seconds = 0, 0.0
    # All releases have the same list. A benchmark that a release lacks fails when it is counted.
    listed = counter.listed(cells[-1], patterns)
    for number, place in enumerate(counts.spread(len(cells)), 1):
        cell, started = cells[place], time.monotonic()
        known = {} if fresh else counts.load(machine, COUNTED).known(cell.id, lock.load(cell).sha256)
        try:
            found = _count(counter, cell, listed, known)
        except Failed as error:
            missed += 1
            OUT.print(Text.assemble(("  not counted", "red"), f" {error}"), soft_wrap=True)
            continue
        if found:
            # Read again, since another run may have added counts.
            kept = counts.load(machine, COUNTED).plus(cell.id, lock.load(cell).sha256, found)
            counts.save(kept, [of_line.id for of_line in release_line.cells()], COUNTED)
        failed = [key for key, counted in found.items() if counted.failed]
        missed += len(failed)
        seconds += time.monotonic() - started
        left = math.ceil(seconds / number * (len(cells) - number) / 60)
        told = f": {len(found) - len(failed)} counted, {len(failed)} failed; about {left} minutes more"
        OUT.print(Text.assemble(f"{number}/{len(cells)} ", (cell.id, "bold"), told), soft_wrap=True)
        for key in failed:
            OUT.print(Text.assemble(("  failed", "red"), f" {key}: {found[key].failed}"), soft_wrap=True)
    made = counts.load(machine, COUNTED)
    changes = counts.turns(made, release_line.line(), counter.unit, {})
    for turn in changes[:_SAID]:
        OUT.print(f"{turn.after}, after {turn.before}: {turn.benchmark}: {turn.told}", soft_wrap=True)
    OUT.print(f"{len(changes)} counts of {counter.unit} change along {len(made.releases)} releases", soft_wrap=True)
    return Exit.INCOMPLETE if missed else Exit.AS_EXPECTED


def _count(
    counter: Counter, cell: Cell, listed: Mapping[str, str], known: Mapping[str, Counted]
) -> Mapping[str, Counted]:
    """Count a cell's listed benchmarks that have no count in this unit yet."""

    def lacks(key: str, version: str) -> bool:
        there = known.get(key)
        done = there is not None and (there.of(counter.unit) is not None or there.lacking)
        return not (done and there and there.version == version)

    wanted = [key for key, version in listed.items() if lacks(key, version)]
    with OUT.status(Text(cell.id)) as status:
        return counter.count(cell, wanted, lambda key: status.update(Text(f"{cell.id} {key}")))
