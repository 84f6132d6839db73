"""The command `nox -s numbers`: make the calls on each release, in its cell, and write the results."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from packaging.version import Version

from jax_stack_compat.base.console import Terminal
from jax_stack_compat.base.errors import Failed
from jax_stack_compat.base.files import STATE, replace_all
from jax_stack_compat.cell.atomic import write
from jax_stack_compat.cell.machine import cores
from jax_stack_compat.names.spans import at
from jax_stack_compat.numbers import query
from jax_stack_compat.numbers.model import FOLDER
from jax_stack_compat.stack import lock, plan
from jax_stack_compat.stack.plan import Cell
from laboratory.cell.numbers.recipes import calls
from laboratory.collect import in_cell
from laboratory.collect.numbers import outcomes, table
from laboratory.collect.numbers.outcomes import PATH, PUBLISHED, Outcome, Outcomes, Span

WALKS = STATE / "numbers"
# In seconds; a core needs four to seven minutes, by what else its machine does.
_SECONDS = 3600
_ONE_CORE = "--xla_cpu_multi_thread_eigen=false"


def publish(cells: Sequence[Cell], *, fresh: bool, console: Terminal) -> None:
    """Make the missing calls in `cells`, or on every release, and write the files; with `fresh` make all calls again.

    Raises Failed, BadFile, OSError.
    """
    known = Outcomes((), (), {}) if fresh else outcomes.load()
    every = tuple(call.key for call in calls())
    asked = set(every)
    walks = {
        release: {key: outcome for key, outcome in walk.items() if key in asked}
        for release, walk in outcomes.split(known).items()
    }
    cpus = {key: known.features[known.elsewhere.get(key, 0)] for key in every if key in known.calls}
    new = tuple(key for key in every if key not in known.calls)
    todo = [(cell, every) for cell in (not fresh and cells) or wanted() if _release(cell) not in walks]
    if new:
        # A new call is made on all releases, so that no release looks like the first to have it.
        todo += [(cell, _returning(new, walks[_release(cell)])) for cell in wanted() if _release(cell) in walks]
    features = list(known.features)
    with ThreadPoolExecutor(cores()) as pool:
        for number, walk in enumerate(pool.map(lambda each: _walked(*each), todo), 1):
            cell, keys = todo[number - 1]
            console.print(f"{number}/{len(todo)} {cell.id}: {len(keys)} calls", soft_wrap=True)
            made = {key: walk["outcomes"][key] for key in keys if key in walk["outcomes"]}
            cpu = " ".join(walk["machine"]["cpu_features"])
            features.append(cpu)
            if foreign := [key for key in keys if cpus.setdefault(key, cpu) != cpu]:
                before, there = _before(cell, walks)
                console.print(
                    f"{before.id}: {len(foreign)} calls here, too: it was measured on another CPU", soft_wrap=True
                )
                here = _walked(before, _with_plain(foreign))["outcomes"]
                made |= carried({key: made[key] for key in foreign if key in made}, here, there)
            walks[_release(cell)] = {**walks.get(_release(cell), {}), **made}
    joined = outcomes.join({release: _named_alike(walk) for release, walk in walks.items()}, cpus)
    # A call of a function that no release has counts as made, too.
    whole = replace(
        joined,
        calls={**dict.fromkeys(every, ()), **joined.calls},
        features=tuple(dict.fromkeys((*joined.features, *features))),
    )
    found = replace(whole, mixed=_mixed(whole, known.mixed, console))
    tables = {f"{FOLDER.name}/{name}": text for name, text in table.texts(found).items()}
    replace_all(PUBLISHED, {PATH.name: outcomes.packed(found), **tables})
    told = f"{len(found.calls)} calls on {len(found.releases)} releases of jax, {len(todo)} of them measured now"
    console.print(told, soft_wrap=True)
    for cell in (cell for cell, _ in todo if _release(cell) not in known.releases):
        functions = dict.fromkeys(row.function for row in query.changed(_release(cell)))
        if functions:
            console.print(f"{cell.id} returns other values: {', '.join(functions)}", soft_wrap=True)


def _returning(keys: Sequence[str], known: Mapping[str, Outcome]) -> tuple[str, ...]:
    """Return the calls whose plain form returns, or is itself to be made: where it raises, every form raises."""
    plain = {key: f"eager {key.partition(' ')[2]}" for key in keys}
    return tuple(key for key in keys if plain[key] in plain or "values" in known.get(plain[key], {}))


def carried(
    new: Mapping[str, Outcome], here: Mapping[str, Outcome], there: Mapping[str, Outcome]
) -> dict[str, Outcome]:
    """Return the outcomes of a release, measured `here`, beside those of the release before, measured on two CPUs.

    A call that returns here what the release before returns here has not changed: its outcome is the one `there`.
    """
    return {key: there[key] if key in there and outcome == here.get(key) else outcome for key, outcome in new.items()}


def _before(cell: Cell, walks: Mapping[str, Mapping[str, Outcome]]) -> tuple[Cell, Mapping[str, Outcome]]:
    """Return the measured release before a cell's, and its outcomes. Raises Failed if there is none."""
    for each in wanted():
        if _release(each) in walks and Version(_release(each)) < Version(_release(cell)):
            return each, walks[_release(each)]
    raise Failed(f"{cell.id}: newer releases alone were measured, on another CPU: measure all here with `--fresh`")


def _with_plain(keys: Sequence[str]) -> tuple[str, ...]:
    """Return calls together with their plain forms, so that one process can tell if both return the same."""
    return tuple(dict.fromkeys(each for key in keys for each in (f"eager {key.partition(' ')[2]}", key)))


def wanted() -> list[Cell]:
    """Return the cells of jax's releases, newest first. Raises BadFile."""
    line = [cell for cell in plan.tagged("line") if cell.unavailable is None and cell.moves == "jax"]
    return sorted(line, key=lambda cell: Version(_release(cell)), reverse=True)


def _mixed(found: Outcomes, known: Mapping[str, Mapping[str, Outcome]], console: Terminal) -> dict[str, Any]:
    """Return outcomes of changed calls on each release of jax with the jaxlib of the release before.

    If both releases have the same jaxlib, these are the release's own outcomes.
    """
    line = {_release(cell): cell for cell in wanted()}
    pairs = {tuple(cell.holds): cell for cell in plan.tagged("full") if cell.unavailable is None}
    mixed: dict[str, Any] = {}
    for place, release in enumerate(found.releases):
        before = found.releases[place - 1]
        if not place or before not in line or release not in line:
            continue
        keys = [key for key, spans in found.calls.items() if _turns(spans, place)]
        old, new = (lock.load(line[each]).pins["jaxlib"] for each in (before, release))
        if old == new:
            mixed[release] = {key: outcome for key in keys if (outcome := at(found.calls[key], place)) is not None}
        elif cell := pairs.get((("jax", release), ("jaxlib", old))):
            kept = {key: outcome for key, outcome in known.get(release, {}).items() if key in keys}
            left = [key for key in keys if key not in kept]
            if left:
                console.print(f"{cell.id}: {len(left)} calls", soft_wrap=True)
            made = _walked(cell, left)["outcomes"] if left else {}
            mixed[release] = {**kept, **{key: made[key] for key in left if key in made}}
    return mixed


def _named_alike(walk: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """Return a walk in which calls under jit or vmap are marked if they return what the plain call returns.

    The cell's side marks calls that were made in one process.
    """
    of = {key: walk.get(f"eager {key.partition(' ')[2]}") for key in walk if key.startswith(("jit ", "vmap "))}
    return {key: {"same": "eager"} if of.get(key) == outcome else outcome for key, outcome in walk.items()}


def _turns(spans: Sequence[Span], place: int) -> bool:
    old, new = at(spans, place - 1), at(spans, place)
    return old is not None and new is not None and old != new and "same" not in (*old, *new)


def _release(cell: Cell) -> str:
    return lock.load(cell).pins["jax"]


def _walked(cell: Cell, keys: Sequence[str]) -> Mapping[str, Any]:
    """Return the outcomes of calls in a cell; outcomes that the same code made here before come from a file."""
    path = WALKS / f"{cell.id}.json"
    kept: dict[str, Any] = {}
    with contextlib.suppress(OSError, ValueError):
        kept = json.loads(path.read_text(encoding="utf-8"))
    if kept.get("caller") != in_cell.code("numbers"):
        kept = {}
    called, before = kept.get("called", []), kept.get("outcomes", {})
    if left := [key for key in keys if key not in set(called)]:
        # The calls are not part of the hash, so a new call voids no other.
        made = in_cell.answer(cell, "numbers.call", seconds=_SECONDS, given=json.dumps(left), XLA_FLAGS=_ONE_CORE)
        kept = {
            **{"caller": in_cell.code("numbers"), "machine": made["machine"]},
            **{"called": [*called, *left], "outcomes": {**before, **made["outcomes"]}},
        }
        write(path, json.dumps(kept, separators=(",", ":")))
    return kept
