"""The rows of the published tables, made from the outcomes of all releases: statuses, changes and explanations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256

from jax_stack_compat.names.spans import at
from jax_stack_compat.numbers.model import MEASURED, CallRow, Measured, written
from laboratory.cell.numbers.recipes import NumericCall, calls
from laboratory.collect.numbers import compare, explained
from laboratory.collect.numbers.compare import Status, ValueChange
from laboratory.collect.numbers.outcomes import Outcome, Outcomes, Span


def texts(outcomes: Outcomes) -> dict[str, str]:
    """Return the tables' files, one for each module: name → text."""
    found: dict[str, list[CallRow]] = {}
    for row in rows(outcomes):
        found.setdefault(row.function.rpartition(".")[0], []).append(row)
    functions = {row.function for of in found.values() for row in of}
    measured = Measured(
        releases=outcomes.releases, cpu=outcomes.features, functions=len(functions), calls=len(outcomes.calls)
    )
    return {MEASURED: measured.text, **{f"{module}.csv": written(of) for module, of in sorted(found.items())}}


def rows(outcomes: Outcomes) -> Iterator[CallRow]:
    """Yield the rows, by call and release; under jit or vmap, only if the result differs from the plain call's."""
    for call in calls():
        before: Outcome | None = None
        row: CallRow | None = None
        for span in outcomes.calls.get(call.key, ()):
            if "same" in span[2]:
                before = None
                continue
            changed = compare.change(call, before, span[2]) if before is not None else None
            before = span[2]
            made = _row(outcomes, call, span, changed)
            if row is not None and not made.change and (row.status, row.detail) == (made.status, made.detail):
                # Only bits changed that no comparison distinguishes.
                made = replace(made, first=row.first, change=row.change, was=row.was, explained=row.explained)
            elif row is not None:
                yield row
            row = made
        if row is not None:
            yield row


def _row(outcomes: Outcomes, call: NumericCall, span: Span, changed: ValueChange | None) -> CallRow:
    first, last, outcome = span
    judged = explained.documented(call.text, compare.judged(call, outcome))
    release = outcomes.releases[first]
    return CallRow(
        function=call.function,
        form=call.form,
        call=call.text,
        first=release,
        last=outcomes.releases[last],
        status=judged.status,
        ulp="" if judged.ulp is None else f"{judged.ulp:.3g}",
        detail=judged.detail,
        change=changed.kind if changed else "",
        was=changed.detail if changed else "",
        package=_package(outcomes, call, first) if changed else "",
        explained=" ".join(dict.fromkeys(_explained(call, judged.status, changed, outcomes.releases, span))),
        digest=sha256(json.dumps(outcome, sort_keys=True).encode()).hexdigest()[:8],
    )


def _explained(
    call: NumericCall, status: Status, changed: ValueChange | None, releases: Sequence[str], span: Span
) -> Iterator[str]:
    """Yield the explanations of a change, or else of a difference."""
    first, last, _ = span
    if changed and changed.kind not in ("rounding", "bits"):
        if changed.kind in ("raises", "returns", "exception"):
            yield from explained.by_parameters(call, releases[first - 1], releases[first]).split()
        yield from explained.by(call.function, releases[first - 1], releases[first]).split()
    elif status in ("differs", "edge", "ended"):
        yield from explained.affecting(call.function, releases[last])


def _package(outcomes: Outcomes, call: NumericCall, place: int) -> str:
    """Return the package whose release changed a call; empty if the new jax was not tried with the older jaxlib."""
    mixed = outcomes.mixed.get(outcomes.releases[place], {}).get(call.key)
    spans = outcomes.calls[call.key]
    if mixed is None:
        return ""
    same = [where for where, of in (("jaxlib", place - 1), ("jax", place)) if mixed == at(spans, of)]
    return same[0] if same else "both"
