"""The session `libraries`: run what is not known of the libraries, and publish what is."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from itertools import groupby

from jax_stack_compat.base.console import OUT
from jax_stack_compat.base.errors import Exit, Failed, Misused, nearest, say
from jax_stack_compat.cell import machine
from jax_stack_compat.libraries.known import PATH
from laboratory.libraries import offered, published, records, table
from laboratory.libraries.plan import Course, courses
from laboratory.libraries.trial import LibraryBench, bench, carry_out


def run(library: Sequence[str], *, renew: bool, every: bool, plan: bool) -> Exit:
    """Run what is not known of these libraries, or of all, and publish what is known.

    With `every`, also run the releases between two that agree. Raises BadFile, Unreachable, OSError.
    """
    if renew or not offered.PATH.exists():
        offered.renew()
    if new := [name for name in library or table.load() if name not in offered.load().libraries]:
        raise Misused(f"the releases of {', '.join(new)} are not read yet: add --renew")
    wanted = list(courses(library))
    left = [course for course in wanted if course.next_pair(every=every) or course.next_held()]
    OUT.print(f"{len(wanted)} searches along the releases of a package, {len(left)} with runs left", soft_wrap=True)
    if plan:
        return Exit.AS_EXPECTED
    failed = _run(left, every=every)
    OUT.print(f"{PATH.name}: {published.publish().told}", soft_wrap=True)
    return Exit.INCOMPLETE if failed else Exit.AS_EXPECTED


def _run(left: Sequence[Course], *, every: bool) -> list[str]:
    """Run the searches, those of one release of a library one after another; return the releases that failed."""
    failed = []
    groups = [list(group) for _, group in groupby(left, lambda course: (course.library, course.release))]
    with ThreadPoolExecutor(machine.cores()) as pool:
        runs = {pool.submit(_run_release, group, every=every): group[0] for group in groups}
        try:
            for number, run in enumerate(as_completed(runs), 1):
                name = f"{runs[run].library} {runs[run].release}"
                try:
                    OUT.print(f"{number}/{len(groups)} {name}: {run.result()} runs", soft_wrap=True)
                except (Failed, OSError) as error:
                    failed.append(name)
                    say(f"{name}: {error}")
        except KeyboardInterrupt:
            # What runs now ends; what waits does not begin.
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return failed


def _run_release(group: Sequence[Course], *, every: bool) -> int:
    """Run the searches of one release of a library in one environment; return the number of runs."""
    count = 0
    with ExitStack() as stack:
        made: LibraryBench | None = None
        for course in group:
            while pair := course.next_pair(every=every):
                made = made or stack.enter_context(bench(course.library, course.release))
                records.keep(carry_out(pair, made))
                count += 1
            while held := course.next_held():
                made = made or stack.enter_context(bench(course.library, course.release))
                records.keep(carry_out(held[0], made, held[1]))
                count += 1
    return count


def named(name: str) -> str:
    """Return the name of a library in the table. Raises Misused, BadFile."""
    if name not in table.load():
        raise Misused(f"no library {name!r} in {table.PATH.name}: {nearest(name, table.load())}")
    return name
