"""The session `lock`: resolve cells as of their days, and write their locks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from rich.console import Console
from rich.text import Text

from jax_stack_compat.base.errors import Failed
from jax_stack_compat.stack import lock, plan
from jax_stack_compat.stack.plan import Cell
from laboratory.run import sizes


def renew(*, console: Console) -> None:
    """Resolve every cell as of its day, and write the locks. Raises Failed after all cells were tried."""
    cells = plan.cells()
    bytes_of = resolve(cells, console)
    for name in lock.prune({cell.lock_name for cell in cells}):
        console.print(f"{name} removed: its cell is no longer planned")
    sizes.save(bytes_of)


def _written(cell: Cell, text: str) -> str:
    return "written" if lock.write_lock(cell, text) else "unchanged"


def resolve(cells: Sequence[Cell], console: Console, put: Callable[[Cell, str], str] = _written) -> dict[str, int]:
    """Write the locks of `cells`; return the bytes of wheels by name==version. Raises Failed after all were tried.

    `put` takes each cell's lock instead of a file, and returns what became of it, in a word.
    """
    failed: dict[str, str] = {}
    bytes_of: dict[str, int] = {}
    wanted = [cell for cell in cells if not cell.unavailable]
    # A resolver mostly waits for the index.
    with ThreadPoolExecutor(8) as pool:
        answers = {cell: pool.submit(lock.resolve, cell) for cell in wanted}
        for number, cell in enumerate(wanted, 1):
            try:
                text, found = answers[cell].result()
            except lock.Unresolvable as error:
                failed[cell.id] = str(error)
                console.print(Text.assemble((f"{cell.id} cannot be resolved", "red"), f": {error}"), soft_wrap=True)
                continue
            bytes_of |= found
            console.print(f"{number}/{len(wanted)} {cell.id} {put(cell, text)}")
    if failed:
        raise Failed(f"{len(failed)} of {len(wanted)} cells could not be resolved: {', '.join(failed)}")
    return bytes_of
