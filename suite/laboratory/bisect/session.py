"""The command `bisect`: choose the cells, and run them one at a time until the result is known.

`search` chooses the next cell, and `wording` phrases the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rich.console import Console
from rich.text import Text

from jax_stack_compat.base.errors import Exit, Failed, Misused, nearest
from jax_stack_compat.catalogue import catalogue
from jax_stack_compat.catalogue.catalogue import Entry
from jax_stack_compat.cell.issue import Case
from jax_stack_compat.environments.probe_call import Progress
from jax_stack_compat.judge import verdicts
from jax_stack_compat.judge.rules import concerned
from jax_stack_compat.judge.verdict_table import RETRIED
from jax_stack_compat.judge.verdicts import Judged
from jax_stack_compat.judge.wording import tidy
from jax_stack_compat.packages import HELD
from jax_stack_compat.stack import lock, plan, releases
from jax_stack_compat.stack.plan import Cell
from laboratory.bisect import search, wording
from laboratory.bisect.search import Ask, CellAnswer, Found
from laboratory.bisect.wording import Question, Sighting
from laboratory.records import records
from laboratory.records.work import planned
from laboratory.run.schedule import scheduler

_SEVERITY = (Exit.AS_EXPECTED, Exit.INCOMPLETE, Exit.UNEXPECTED)
# Faults of the machine, which would occur in every cell and spoil the answer.
_EVERYWHERE = frozenset({"plan.no-interpreter", "install.network", "install.disk", "run.disk"})


def carry_out(
    case: str,
    package: str,
    hold: list[str],
    between: Sequence[str] | None,
    console: Console,
    *,
    fresh: bool,
) -> Exit:
    """Find where a case changes, and print the releases; return the exit code.

    If records and rules show several changes, each change is found, one after the other. `fresh` ignores the records.
    Raises Misused, Failed if this machine cannot run a cell, BadFile, OSError.
    """
    asked = _question(case, package, hold, between)
    hunt = _Hunt(asked, console, fresh, _recorded(asked, fresh=fresh))
    hunt.tell(wording.title(asked, before=len(hunt.seen)))
    span: range | None = range(len(asked.cells))
    searched: list[tuple[int, int]] = []
    codes: list[Exit] = []
    while span:
        if searched:
            ends = f"{asked.release(span[0])} to {asked.release(span[-1])}"
            hunt.tell(f"records and rules show another change: {ends}")
        found, runs = hunt.search(span)
        lines, code = wording.tell(asked, hunt.seen, found, runs)
        hunt.tell(*lines)
        codes.append(code)
        searched.append((found.first, found.last) if found.what == "boundary" else (span[0], span[-1]))
        span = wording.elsewhere(asked, hunt.seen, searched)
    # Equal end points are not the answer if a change was found between them.
    return max(codes[1:] if len(codes) > 1 and codes[0] is Exit.UNEXPECTED else codes, key=_SEVERITY.index)


def _question(name: str, package: str, holds: Sequence[str], between: Sequence[str] | None) -> Question:
    """Return the question about `ISSUE/CASE`, and the cells that can answer it. Raises Misused, BadFile.

    Without held packages, they are the cells of the line. With held packages, there is one cell for each release of
    `package`, combined with the held releases.
    """
    entry, case = _case(name)
    if package not in HELD:
        raise Misused(f"--package {package}: no such package moves here; {nearest(package, HELD)}")
    if package not in concerned(case.needs, case.rules):
        needs = f"{entry.issue.id}/{case.id} needs {', '.join(case.needs)} and nothing else"
        raise Misused(f"{needs}: no release of {package} can change it")
    held = _held(holds, package)
    cells = _cells(held, package)
    if not cells:
        raise Misused(f"--package {package}: no cell represents a release of it alone; add packages with --hold")
    if not entry.cases(next(iter(cells.values()))):
        raise Misused(f"{entry.issue.id}/{case.id} needs jax alone, so --hold changes nothing: leave it out")
    asked = Question(entry, case, package, held, tuple(cells), tuple(cells.values()))
    return replace(asked, cells=_between(asked, between)) if between else asked


@dataclass(frozen=True)
class _Hunt(Progress):
    """The cells of a question and their known results. It prints the messages of a running cell."""

    asked: Question
    console: Console
    fresh: bool
    seen: dict[int, Sighting]

    def search(self, span: range) -> tuple[Found, int]:
        """Run cells of a span until its change is known; return the change, and the number of runs.

        Raises Failed, BadFile, OSError.
        """
        known = {at: CellAnswer(each.affected, each.confirmed) for at, each in self.seen.items()}
        runs = 0
        while isinstance(now := search.step(known, len(span), start=span[0]), Ask):
            runs += 1
            cell = self.asked.cells[now.at]
            self.console.print(f"run {runs}, {now.why}: {cell.id}, {now.left} left", soft_wrap=True)
            sighting = self.seen[now.at] = self._run(cell)
            self.say(wording.sighted(sighting))
            known[now.at] = CellAnswer(sighting.affected)
        return now, runs

    def tell(self, *lines: str) -> None:
        for line in lines:
            self.console.print(Text(line), soft_wrap=True)

    def say(self, message: str) -> None:
        self.tell(f"  {message}")

    def _run(self, cell: Cell) -> Sighting:
        """Return the behaviour of the case in a cell; a cell that cannot be installed is untestable."""
        try:
            work = planned(cell, [self.asked.entry], fresh=self.fresh, confirm=True)
            (status,) = scheduler.run([work], lambda _: self, asked="bisection")
        except lock.Unresolvable as error:
            return Sighting(Judged("error", None, "plan.unresolved", tidy(str(error))))
        if status.reason in _EVERYWHERE:
            raise Failed(f"{cell.id}: {status.detail}")
        sighting = _of_record(self.asked, cell) if status.verdict == "ran" else None
        if sighting is None:
            verdict = "error" if status.verdict == "ran" else status.verdict
            return Sighting(Judged(verdict, None, status.reason, tidy(status.detail)))
        # The probe made all its attempts, so nothing is left to confirm.
        return replace(sighting, confirmed=True)


def _recorded(asked: Question, *, fresh: bool) -> dict[int, Sighting]:
    """Return the answers known before any run, from the plan and from conclusive records."""
    found: dict[int, Sighting] = {}
    for at, cell in enumerate(asked.cells):
        if cell.unavailable is not None:
            found[at] = Sighting(Judged(plan.verdict(cell), None, *cell.unavailable))
        elif not fresh and (known := _of_record(asked, cell)) and known.judged.verdict not in RETRIED:
            found[at] = known
    return found


def _of_record(asked: Question, cell: Cell) -> Sighting | None:
    record = records.in_force(cell, asked.entry, asked.case, lock.load(cell))
    if record is None:
        return None
    judged = verdicts.judge(asked.case, record.attempts)
    return Sighting(judged, verdicts.confirmed(record.attempts), len(record.attempts))


def _case(name: str) -> tuple[Entry, Case]:
    """Return the case called ISSUE/CASE, or the headline of ISSUE, with an entry that has only this case."""
    issue, _, wanted = name.partition("/")
    (entry,) = catalogue.select([issue])
    cases = {case.id: case for case in entry.issue.cases}
    if wanted and wanted not in cases:
        raise Misused(f"{issue} has no case {wanted!r}; {nearest(wanted, cases)}")
    case = cases[wanted] if wanted else entry.issue.cases[0]
    return catalogue.narrowed(entry, [case.id]), case


def _held(texts: Sequence[str], moves: str) -> dict[str, str]:
    """Return the held packages, in the order in which ids name them. Raises Misused."""
    offered = releases.load()
    held: dict[str, str] = {}
    for text in texts:
        name, _, version = text.partition("==")
        there = offered.packages.get(name, {})
        faults = (
            (not version, "not NAME==VERSION, such as jax==0.9.2"),
            (name not in HELD, f"--hold takes one of {', '.join(HELD)}"),
            (name == moves, f"{name} moves, so it cannot be held; choose another --package"),
            (name in held, f"{name} is held twice"),
            (version not in there, f"releases.json has no such {name}; {nearest(version, there)}"),
            (version not in offered.versions(name), "it was yanked, so no installer chooses it"),
        )
        if wrong := next((message for is_wrong, message in faults if is_wrong), None):
            raise Misused(f"--hold {text}: {wrong}")
        held[name] = version
    return {name: held[name] for name in HELD if name in held}


def _cells(held: Mapping[str, str], moves: str) -> dict[str, Cell]:
    """Return a cell for each release of `moves`, in order, without yanked ones: the line's, or one that adds `held`."""
    versions = releases.load().versions(moves)
    if held:
        return {version: plan.holding({**held, moves: version}, moves) for version in versions}
    line = {dict(cell.holds)[moves]: cell for cell in plan.tagged("line") if cell.moves == moves}
    return {version: line[version] for version in versions if version in line}


def _between(asked: Question, ends: Sequence[str]) -> tuple[Cell, ...]:
    for version in ends:
        if version not in asked.line:
            raise Misused(f"--between: no {asked.package} {version!r} to run; {nearest(version, asked.line)}")
    first, last = map(asked.line.index, ends)
    if first >= last:
        raise Misused(f"--between {ends[0]} {ends[1]}: {ends[0]} does not come before {ends[1]}")
    return asked.cells[first : last + 1]
