"""The command `nox -s elsewhere`: run the workarounds on other inputs than their examples', and keep the outcomes.

A workaround runs on the oldest and the newest release that its case can be asked of, on both sides of each change of
the case, and in the newest cell that is affected: where it is needed, and where it must do no harm.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from jax_stack_compat.base.console import OUT
from jax_stack_compat.base.errors import Exit, Failed, say
from jax_stack_compat.base.files import replace_all
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell import parts
from jax_stack_compat.cell.issue import Case
from jax_stack_compat.cell.machine import cores
from jax_stack_compat.judge.verdict_table import UNDECIDED
from jax_stack_compat.stack import plan
from jax_stack_compat.stack.plan import Cell
from laboratory.collect import in_cell
from laboratory.records import elsewhere
from laboratory.records.elsewhere import Elsewheres, OfCase, Outcomes
from laboratory.report.model import CaseRow, CellRow, Observation, Report
from laboratory.report.published import published
from laboratory.report.summary import by_case

Pair = tuple[Entry, Case]
_SECONDS = 3600


def carry_out(issue: Sequence[str], *, fresh: bool) -> Exit:
    """Run the workarounds that have not run elsewhere, in planned cells; with `fresh`, run all of them again.

    Raises BadFile, OSError.
    """
    failed = renew(published(), catalogue.select(list(issue)), fresh=fresh)
    return Exit.INCOMPLETE if failed else Exit.AS_EXPECTED


def renew(report: Report, entries: Sequence[Entry], *, fresh: bool = False) -> list[str]:
    """Run what is missing, and write the file after each cell. Return the cells in which nothing could be run."""
    todo = missing(report, entries, fresh=fresh)
    count = sum(map(len, todo.values()))
    OUT.print(f"{count} workarounds to run elsewhere, in {len(todo)} cells", soft_wrap=True)
    not_run: list[str] = []
    with ThreadPoolExecutor(cores()) as pool:
        for number, (cell, made) in enumerate(zip(todo, pool.map(_run, todo, todo.values()), strict=True), 1):
            if made is None:
                not_run.append(cell.id)
                continue
            _keep(cell, made)
            helps = sum(not any(outcomes.values()) for _, _, outcomes in made)
            OUT.print(f"{number}/{len(todo)} {cell.id}: {helps} of {len(made)} help on each input", soft_wrap=True)
    _forget_others()
    return not_run


def missing(report: Report, entries: Iterable[Entry], *, fresh: bool = False) -> dict[Cell, list[Pair]]:
    """Return the cases whose workaround is still to run elsewhere, by cell. A case that is not published has none.

    Raises BadFile.
    """
    cells = {cell.id: cell for cell in plan.cells()}
    rows = {(issue.id, case.id): case for issue in report.issues for case in issue.cases}
    seen = by_case(report.observations)
    todo: dict[Cell, list[Pair]] = {}
    for entry in entries:
        for case in filter(elsewhere.has_elsewhere, entry.issue.cases):
            known = elsewhere.ran(entry, case)
            there = known.cells if known and not fresh else {}
            name = entry.issue.id, case.id
            if name not in rows:
                say(f"{entry.issue.id}/{case.id} is not published: first run `nox -s publish -- --no-run`")
                continue
            for id in wanted(report.cells, rows[name], seen[name]):
                if id not in there:
                    todo.setdefault(cells[id], []).append((entry, case))
    return todo


def wanted(cells: Sequence[CellRow], case: CaseRow, seen: Mapping[str, Observation]) -> list[str]:
    """Return the cells in which a case's workaround runs elsewhere.

    They are the ends of the line, the sides of changes, and the newest affected cell.
    """
    ran = [cell for cell in cells if cell.id in seen and _can_help(seen[cell.id])]
    on_line = [cell for cell in ran if cell.kind == "line"] or ran
    chosen = {cell.id for cell in (*on_line[:1], *on_line[-1:])}
    chosen |= {id for turn in case.turns for id in (turn.before, turn.after)}
    needing = [cell for cell in ran if seen[cell.id].verdict == "affected"]
    newest = [cell for cell in needing if cell in on_line] or needing
    chosen |= {cell.id for cell in newest[-1:]}
    return [cell.id for cell in ran if cell.id in chosen]


def _can_help(seen: Observation) -> bool:
    """Return False if the function is absent, another fault was seen, or the workaround is known to fail."""
    return seen.verdict not in {*UNDECIDED, "absent", "different"} and seen.workaround != "fails"


def _run(cell: Cell, pairs: Sequence[Pair]) -> list[tuple[Entry, Case, Outcomes]] | None:
    """Run workarounds in a cell, those with the same environment variables together. Return None if none could run."""
    groups: dict[tuple[tuple[str, str], ...], list[Pair]] = {}
    for entry, case in pairs:
        variables = tuple(parts.variables(case, "workaround").items())
        groups.setdefault(variables, []).append((entry, case))
    made: list[tuple[Entry, Case, Outcomes]] = []
    for variables, group in groups.items():
        asked = _order(group)
        try:
            answer = in_cell.answer(cell, "elsewhere", seconds=_SECONDS, given=asked, **dict(variables))
        except Failed as error:
            say(str(error))
            return None
        told = [outcomes for _, _, outcomes in answer["outcomes"]]
        made += [(entry, case, outcomes) for (entry, case), outcomes in zip(group, told, strict=True)]
    return made


def _order(pairs: Iterable[Pair]) -> str:
    """Return the order for a cell: each case's module and id."""
    return json.dumps([[entry.module, case.id] for entry, case in pairs])


def _keep(cell: Cell, made: Iterable[tuple[Entry, Case, Outcomes]]) -> None:
    """Add a cell's outcomes to the file. Outcomes of other code are dropped."""
    kept = elsewhere.load()
    cases = {of.case: of for of in kept.cases}
    for entry, case, outcomes in made:
        name, key = f"{entry.issue.id}/{case.id}", elsewhere.key(entry, case)
        before = cases.get(name)
        cells: Mapping[str, dict[str, str]] = before.cells if before and before.key == key else {}
        failed = {each: told for each, told in outcomes.items() if told}
        inputs = elsewhere.inputs(case)
        cases[name] = OfCase(case=name, key=key, inputs=inputs, cells={**cells, cell.id: failed})
    _write(Elsewheres(locks={**kept.locks, cell.id: elsewhere.locks()[cell.id]}, cases=list(cases.values())))


def _forget_others() -> None:
    """Drop outcomes of cases, code and locks that the tree no longer has."""
    pairs = [(entry, case) for entry in catalogue.entries() for case in entry.issue.cases]
    cases = [of for entry, case in pairs if (of := elsewhere.ran(entry, case))]
    used = {cell for of in cases for cell in of.cells}
    locks = {cell: sha for cell, sha in elsewhere.locks().items() if cell in used}
    _write(Elsewheres(locks=locks, cases=cases))


def _write(kept: Elsewheres) -> None:
    in_order = {cell.id: kept.locks[cell.id] for cell in plan.cells() if cell.id in kept.locks}
    cases = [of.model_copy(update={"cells": _in_order(of.cells)}) for of in kept.cases]
    sorted_cases = sorted(cases, key=lambda of: of.case)
    text = elsewhere.text(Elsewheres(locks=in_order, cases=sorted_cases))
    replace_all(elsewhere.PATH.parent, {elsewhere.PATH.name: text})


def _in_order(cells: Mapping[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    return {cell.id: cells[cell.id] for cell in plan.cells() if cell.id in cells}
