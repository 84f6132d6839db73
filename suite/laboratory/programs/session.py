"""The command `nox -s device-programs`: compile with each release for absent devices, and print the changes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from packaging.version import Version
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from jax_stack_compat.base.errors import Exit, Failed
from jax_stack_compat.packages import STACK
from jax_stack_compat.stack import lock, plan
from jax_stack_compat.stack.plan import Cell
from laboratory.programs import cases, compiling, model, sources, texts, wheels
from laboratory.programs.changes import turns
from laboratory.programs.compiling import Compiled
from laboratory.programs.model import Program, Programs, ReleasePrograms
from laboratory.programs.targets import TARGETS, Target
from laboratory.programs.wheels import DeviceWheels
from laboratory.run import environment

# Older releases of jax cannot be told the properties of an absent GPU.
OLDEST = Version("0.4.38")


def every_cell() -> tuple[Cell, ...]:
    """Return the releases of jax that can compile for an absent device, by release day."""
    line = (each for each in plan.tagged("line") if each.moves == "jax" and not each.unavailable)
    return tuple(each for each in line if Version(dict(each.holds)["jax"]) >= OLDEST)


def cell(identifier: str) -> Cell:
    """Return the cell of `every_cell` called `identifier`. Raises Misused with the nearest names."""
    return plan.among(every_cell(), identifier, f"no release of jax since {OLDEST} is called")


def carry_out(
    cells: Sequence[Cell],
    target: str | None,
    diff: tuple[str, str, str] | None,
    console: Console,
    *,
    fresh: bool,
) -> Exit:
    """Compile the missing programs of one target or of all, and print the changes; or print the diff of two programs.

    Raises Misused, BadFile, OSError.
    """
    asked = [TARGETS[target]] if target else list(TARGETS.values())
    if diff:
        for line in texts.diff(asked[0], *diff):
            console.print(Text(line, style={"+": "green", "-": "red"}.get(line[:1], "")), soft_wrap=True)
        return Exit.AS_EXPECTED
    return max([_compile(each, cells or every_cell(), console, fresh=fresh) for each in asked])


@dataclass(frozen=True)
class _Job:
    """A release to compile for a target, the wheels to install, and the sources of its programs."""

    cell: Cell
    wheels: DeviceWheels
    target: Target
    recipe: str
    key: str
    sources: Mapping[str, str]


def _compile(target: Target, wanted: Sequence[Cell], console: Console, *, fresh: bool) -> Exit:
    """Compile the programs left for one target, and print the changes along the known releases."""
    found, recipe, every = texts.judged(model.load(target)), sources.recipe(), sources.programs()
    if found != model.load(target):
        model.save(found)
    keys = {each: _key(each, target, recipe) for each in wanted}
    left = {each: list(every) if fresh else _left(found.release(each.id), keys[each], every) for each in wanted}
    todo = [each for each in wanted if left[each]]
    jobs, failed = [], 0
    with ThreadPoolExecutor(4) as pool:
        asked = {each: pool.submit(wheels.obtain, each, target) for each in todo}
        for cell, answer in asked.items():
            try:
                of = {name: every[name] for name in left[cell]}
                jobs.append(_Job(cell, answer.result(), target, recipe, keys[cell], of))
            except Failed as error:
                failed += 1
                _say_not(console, str(error))
    known = len(wanted) - len(todo)
    start = f": {len(wanted)} releases, {known} cached; {_to_fetch(jobs)}"
    console.print(Text.assemble((target.title, "bold"), start), soft_wrap=True)
    for number, job in enumerate(jobs, 1):
        console.print(f"{number}/{len(jobs)} ", end="")
        try:
            found = _keep(job, _compiled(job, console), console)
        except (environment.Unprepared, compiling.CompilerEnded) as error:
            failed += 1
            _say_not(console, f"{job.cell.id}: {' '.join(str(error).split())[:300]}")
    if jobs:
        texts.pack(target, found)
    turned = turns(found)
    for turn in turned:
        console.print(turn.told, soft_wrap=True)
    last = (
        f"{target.title}: {known} releases known, {len(todo) - failed} compiled, {failed} not; {len(turned)} programs "
        f"differ from the release before, on {len(found.releases)} releases"
    )
    console.print(last, style="bold", soft_wrap=True)
    return Exit.INCOMPLETE if failed else Exit.AS_EXPECTED


def _key(cell: Cell, target: Target, recipe: str) -> str:
    """Return a hash of everything that the programs of a release depend on, except their own sources."""
    whole = "\n".join([lock.load(cell).sha256, target.id, wheels.wanted(cell, target), recipe])
    return hashlib.sha256(whole.encode()).hexdigest()


def _left(known: ReleasePrograms | None, key: str, every: Mapping[str, str]) -> list[str]:
    """Return the workloads that a release lacks, or whose source changed; none if it cannot compile any."""
    if known is None or known.key != key:
        return list(every)
    sources = {program.workload: program.source for program in known.programs}
    return [] if known.reason else [name for name, source in every.items() if sources.get(name) != source]


def _say_not(console: Console, why: str) -> None:
    console.print(Text.assemble(("not compiled", "red"), f": {why}"), soft_wrap=True)


def _to_fetch(jobs: Sequence[_Job]) -> str:
    """Return the number of programs to compile, and the size of the download, for people."""
    if not jobs:
        return "nothing to compile"
    absent = [each.wheels for each in jobs if environment.ready(each.wheels.cell, each.wheels.pinned) is None]
    told = f"{len(jobs)} to compile, minutes each"
    if not absent:
        return f"{told}: all environments exist: nothing to fetch"
    beside = {pin: size for each in absent for pin, size in each.bytes.items()}
    size = environment.to_fetch([(each.cell, each.pinned) for each in absent]) + sum(beside.values())
    fetched = f"up to {size / 1e6:,.0f} MB to fetch, less what uv has in its cache"
    return f"{told}: {len(absent)} environments to make, {fetched}"


def _compiled(job: _Job, console: Console) -> Compiled:
    """Compile for one release, in an environment of its own. Raises Unprepared, CompilerEnded."""
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.fields[cell]}", markup=False),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    made = job.wheels.cell
    with environment.reserve(made.id), bar:
        task = bar.add_task("installing", cell=made.id, total=None)
        there = environment.prepare(made, job.wheels.pinned)

        def note(done: int, doing: str) -> None:
            bar.update(task, completed=done, total=len(job.sources), description=doing)

        return compiling.compile(there.executable, made.id, job.target.id, list(job.sources), note)


def _judged(job: _Job, program: Program) -> Program:
    """Return the program with its source's hash, and the behaviour of its device case."""
    text = "" if program.reason else texts.compiled(job.target, job.cell.id, program.workload)
    seen, shown = cases.seen(program.workload, text, program.counts, program.reason)
    return program.model_copy(update={"source": job.sources[program.workload], "seen": seen, "shown": shown})


def _keep(job: _Job, came: Compiled, console: Console) -> Programs:
    """Add a release's results to the file, which another run may have changed meanwhile."""
    pins = job.wheels.pinned.pins
    release = ReleasePrograms(
        cell=job.cell.id,
        released_on=job.cell.released_on,
        packages={name: pins[name] for name in STACK if name in pins},
        wheels=job.wheels.versions,
        recipe=job.recipe,
        key=job.key,
        reason=came.reason,
        programs=[_judged(job, each) for each in came.programs],
    )
    now = model.load(job.target).plus(release, came.workloads)
    model.save(now)
    without = [each for each in came.programs if each.reason]
    seconds = sum(each.compile_seconds or 0.0 for each in came.programs)
    told = came.reason or f"{len(came.programs) - len(without)} programs, {seconds:.0f} s in the compiler"
    console.print(Text.assemble((job.cell.id, "bold"), f": {told}"), soft_wrap=True)
    for each in without:
        console.print(f"  {each.workload} has no program: {each.reason}", soft_wrap=True)
    return now
