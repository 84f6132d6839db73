"""The rows of the published tables, from the outcomes of all releases: statuses, changes and what explains them."""

from __future__ import annotations

from collections.abc import Iterator

from suite.cell.numbers.recipes import Call, calls
from suite.numbers import compare, explained
from suite.numbers.compare import Change
from suite.numbers.model import Row, written
from suite.numbers.outcomes import Outcome, Outcomes, Span


def texts(outcomes: Outcomes) -> dict[str, str]:
    """Return the files: name → text, one for each module."""
    found: dict[str, list[Row]] = {}
    for row in rows(outcomes):
        found.setdefault(row.function.rpartition(".")[0], []).append(row)
    return {f"{module}.csv": written(of) for module, of in sorted(found.items())}


def rows(outcomes: Outcomes) -> Iterator[Row]:
    """Return the rows, by call and release."""
    for call in calls():
        spans = outcomes.calls.get(call.key, ())
        eager = outcomes.calls.get(f"eager {call.text}", ())
        before: Outcome | None = None
        row: Row | None = None
        for first, last, outcome in _whole(spans, eager):
            changed = compare.change(call, before, outcome) if before is not None else None
            before = outcome
            made = _row(outcomes, call, (first, last, outcome), changed)
            if row is not None and not made.change and (row.status, row.detail) == (made.status, made.detail):
                # The digest alone is another, or nothing is.
                made = Row(**{**vars(made), "first": row.first, "change": row.change, "was": row.was})
            elif row is not None:
                yield row
            row = made
        if row is not None:
            yield row


def _whole(spans: tuple[Span, ...], eager: tuple[Span, ...]) -> Iterator[Span]:
    """Return spans in which what is the same as the eager call's is written out."""
    for first, last, outcome in spans:
        if "same" not in outcome:
            yield first, last, outcome
            continue
        for start, end, whole in eager:
            if start <= last and first <= end:
                yield max(first, start), min(last, end), whole


def _row(outcomes: Outcomes, call: Call, span: Span, changed: Change | None) -> Row:
    first, last, outcome = span
    judged = compare.judged(call, outcome)
    release = outcomes.releases[first]
    is_listed = changed is not None and changed.kind != "rounding"
    return Row(
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
        explained=explained.by(call.function, outcomes.releases[first - 1], release) if is_listed else "",
    )
