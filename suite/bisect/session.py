"""What `bisect` is asked → the cells that can answer → run one at a time, until the answer is known.

Which cell comes next is for `search` to say, and what it all means for `wording`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from packaging.version import Version
from rich.console import Console
from rich.markup import escape

from suite.bisect import search, wording
from suite.bisect.search import Agreed, Ask, Boundary, Contradicted, Find, Untestable
from suite.bisect.wording import Question, Sighting
from suite.cell.issue import Case
from suite.errors import Exit, Failed, Misused, nearest
from suite.judge import verdicts
from suite.judge.record import Record
from suite.judge.rules import concerned
from suite.judge.table import RETRIED
from suite.judge.verdicts import Judged
from suite.judge.wording import tidy
from suite.run import catalogue, cell_run, records
from suite.run.catalogue import Entry
from suite.stack import lock, plan, releases
from suite.stack.plan import Cell
from suite.stack.releases import PACKAGES

_HOLD = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[0-9][0-9A-Za-z.]*)")
# These are the machine's, and would be met in every cell: going on could only spoil the answer.
_SEVERITY = (Exit.AS_EXPECTED, Exit.INCOMPLETE, Exit.UNEXPECTED)
_EVERYWHERE = frozenset({"plan.no-interpreter", "install.network", "install.disk", "run.disk"})


def question(name: str, package: str, holds: Sequence[str], between: Sequence[str] | None) -> Question:
    """What is asked by `ISSUE/CASE`, and the cells that can answer. Raises Misused where it cannot be meant, BadFile.

    The cells are the line's where nothing is held, else an arm's: every release of `package` beside what is held.
    """
    entry, case = _case(name)
    moves = next((each for each in PACKAGES if each == package), None)
    if moves is None:
        raise Misused(f"--package {package}: no such package moves here; {nearest(package, PACKAGES)}")
    if moves not in concerned(case.needs, case.rules):
        needs = ", ".join(case.needs)
        raise Misused(f"{entry.issue.id}/{case.id} needs {needs} and nothing else: no release of {moves} can change it")
    held = _held(holds, moves)
    cells = _arm(held, moves) if held else _line(moves)
    if not cells:
        raise Misused(f"--package {moves}: no cell stands for a release of it; --hold says what to put beside")
    if not catalogue.cases(entry, cells[0]):
        raise Misused(f"{entry.issue.id}/{case.id} needs jax alone: --hold can change nothing, the line has its answer")
    line = tuple(dict(cell.holds)[moves] for cell in cells)
    return Question(entry, case, moves, held, line, _between(cells, moves, between))


def bisection(asked: Question, *, find: Find | None, fresh: bool, console: Console) -> Exit:
    """Find where the case changes, and say so; the exit code it deserves.

    Where records and rules have it change more than once, each change is found, one after the other; `find` asks for
    one. `fresh` takes no answer from the records. Raises Failed where this machine cannot run a cell, BadFile, OSError.
    """
    seen = _recorded(asked, fresh=fresh)
    console.print(wording.title(asked, before=len(seen)), soft_wrap=True)
    span: tuple[int, int] | None = (0, len(asked.cells) - 1)
    searched: list[tuple[int, int]] = []
    codes: list[Exit] = []
    while span is not None:
        if searched:
            told_span = f"{asked.release(span[0])} to {asked.release(span[1])}"
            console.print(f"it changes elsewhere too, by what is on record and the rules: {told_span}", soft_wrap=True)
        found, runs = _search(asked, seen, span, find=find, fresh=fresh, console=console)
        told = wording.tell(asked, seen, found, runs)
        for line in told.lines:
            console.print(escape(line), soft_wrap=True)
        codes.append(told.code)
        searched.append((found.before, found.after) if isinstance(found, Boundary) else span)
        span = None if find else wording.elsewhere(asked, seen, searched)
    # That the outermost releases agree is no answer where a change was found between them.
    return max(codes[1:] if len(codes) > 1 and codes[0] is Exit.UNEXPECTED else codes, key=_SEVERITY.index)


def _search(
    asked: Question,
    seen: dict[int, Sighting],
    span: tuple[int, int],
    *,
    find: Find | None,
    fresh: bool,
    console: Console,
) -> tuple[Boundary | Agreed | Contradicted | Untestable, int]:
    """Run cells of a span until it is known where the case changes in it, and how many; `seen` gets what they show."""
    first, last = span
    runs = 0
    while True:
        known = {at - first: each for at, each in wording.answers(seen).items() if first <= at <= last}
        match search.step(known, last - first + 1, find):
            case Ask(at, why, left):
                runs += 1
                cell = asked.cells[first + at]
                console.print(f"run {runs}, {why}: [bold]{cell.id}[/bold], {left} left", soft_wrap=True)
                seen[first + at] = _look(asked, cell, fresh=fresh, confirm=True, console=console)
                console.print(f"  {escape(wording.sighted(seen[first + at]))}", soft_wrap=True)
            case Boundary(before, after, kind):
                return Boundary(first + before, first + after, kind), runs
            case Agreed(one, other):
                return Agreed(first + one, first + other), runs
            case Contradicted(one, other, kind):
                return Contradicted(first + one, first + other, kind), runs
            case Untestable() as nothing:
                return nothing, runs


def scan(asked: Question, *, fresh: bool, console: Console) -> Exit:
    """Run the case in every cell, and tell its intervals; the exit code they deserve. Raises as `bisection` does."""
    seen = _recorded(asked, fresh=fresh)
    console.print(wording.title(asked, before=len(seen), scan=True), soft_wrap=True)
    todo = [at for at in range(len(asked.cells)) if at not in seen]
    for number, at in enumerate(todo, 1):
        cell = asked.cells[at]
        console.print(f"run {number} of {len(todo)}: [bold]{cell.id}[/bold]", soft_wrap=True)
        seen[at] = _look(asked, cell, fresh=fresh, confirm=False, console=console)
        console.print(f"  {escape(wording.sighted(seen[at]))}", soft_wrap=True)
    told = wording.tell_scan(asked, seen, len(todo))
    for line in told.lines:
        console.print(escape(line), soft_wrap=True)
    return told.code


def _case(name: str) -> tuple[Entry, Case]:
    """The case called ISSUE/CASE, or the headline of ISSUE; the entry has no other."""
    issue, _, wanted = name.partition("/")
    entry = next(iter(catalogue.select([issue])))
    cases = {case.id: case for case in entry.issue.cases}
    if wanted and wanted not in cases:
        raise Misused(f"{issue} has no case {wanted!r}; {nearest(wanted, cases)}")
    case = cases[wanted] if wanted else entry.issue.cases[0]
    return catalogue.narrowed(entry, [case.id]), case


def _held(texts: Sequence[str], moves: str) -> dict[str, str]:
    offered = releases.load().packages
    held: dict[str, str] = {}
    for text in texts:
        parts = _HOLD.fullmatch(text)
        if parts is None:
            raise Misused(f"--hold {text}: not NAME==VERSION, such as jax==0.9.2")
        name = next((each for each in PACKAGES if each == parts["name"]), None)
        if name is None:
            raise Misused(f"--hold {text}: what can be held is {', '.join(PACKAGES)}")
        if name == moves:
            raise Misused(f"--hold {text}: {name} is what moves, so it cannot be held; --package says what moves")
        if name in held:
            raise Misused(f"--hold {text}: {name} is held twice")
        found = offered[name].get(parts["version"])
        if found is None:
            there = offered[name]
            raise Misused(f"--hold {text}: releases.json has no such {name}; {nearest(parts['version'], there)}")
        if found.yanked is not None:
            raise Misused(f"--hold {text}: it was yanked, and no installer gives it")
        held[name] = parts["version"]
    return {name: held[name] for name in PACKAGES if name in held}


def _line(moves: str) -> tuple[Cell, ...]:
    """The line's cells of this package's releases, in version order, less what was yanked."""
    found = [
        cell
        for cell in plan.cells()
        if cell.kind == "line" and cell.moves == moves and (cell.unavailable or ("", ""))[0] != "plan.yanked"
    ]
    return tuple(sorted(found, key=lambda cell: Version(dict(cell.holds)[moves])))


def _arm(held: Mapping[str, str], moves: str) -> tuple[Cell, ...]:
    """Every release of `moves` beside what is held, in version order, less what was yanked."""
    there = releases.load().packages[moves]
    return tuple(
        plan.holding({**held, moves: version}, moves)
        for version in sorted(there, key=Version)
        if there[version].yanked is None
    )


def _between(cells: tuple[Cell, ...], moves: str, ends: Sequence[str] | None) -> tuple[Cell, ...]:
    if ends is None:
        return cells
    places = {dict(cell.holds)[moves]: place for place, cell in enumerate(cells)}
    for version in ends:
        if version not in places:
            raise Misused(f"--between: no {moves} {version!r} to run; {nearest(version, places)}")
    first, last = ends
    if places[first] >= places[last]:
        raise Misused(f"--between {first} {last}: {first} does not come before {last}")
    return cells[places[first] : places[last] + 1]


def _recorded(asked: Question, *, fresh: bool) -> dict[int, Sighting]:
    """What is known before anything runs: by the plan, and by records that taught something."""
    found: dict[int, Sighting] = {}
    for at, cell in enumerate(asked.cells):
        if cell.unavailable is not None:
            found[at] = Sighting(Judged(plan.verdict(cell), None, *cell.unavailable))
        elif not fresh and (cell.tags or lock.path_of(cell).exists()) and (record := _record(asked, cell)):
            sighting = _sighting(asked, record)
            if sighting.judged.verdict not in RETRIED:
                found[at] = sighting
    return found


def _record(asked: Question, cell: Cell) -> Record | None:
    return records.in_force(cell, asked.entry, asked.case, lock.load(cell))


def _sighting(asked: Question, record: Record) -> Sighting:
    judged = verdicts.judge(asked.case, record.attempts)
    return Sighting(judged, verdicts.confirmed(record.attempts), len(record.attempts))


def _look(asked: Question, cell: Cell, *, fresh: bool, confirm: bool, console: Console) -> Sighting:
    """Run the case in `cell`; what cannot be installed is seen to be untestable. Raises Failed, BadFile, OSError."""
    try:
        lock.obtain(cell)
    except lock.Unresolvable as error:
        return Sighting(Judged("error", None, "plan.unresolved", tidy(str(error))))
    status = cell_run.run(
        cell, [asked.entry], fresh=fresh, progress=_Progress(console), confirm=confirm, asked="bisection"
    )
    if status.reason in _EVERYWHERE:
        raise Failed(f"{cell.id}: {status.detail}")
    record = _record(asked, cell) if status.verdict == "ran" else None
    if record is None:
        verdict = "error" if status.verdict == "ran" else status.verdict
        return Sighting(Judged(verdict, None, status.reason, tidy(status.detail)))
    # As many attempts as the probe makes were asked for: there is no more to confirm.
    return replace(_sighting(asked, record), confirmed=True)


@dataclass(frozen=True)
class _Progress:
    """Passes on what a cell has to say: one case has no steps to show."""

    console: Console

    def say(self, message: str) -> None:
        self.console.print(f"  {escape(message)}", soft_wrap=True)

    def step(self, done: int, total: int, issue: str, case: str) -> None:
        pass
