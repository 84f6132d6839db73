"""Numbers of the functions that a source calls: other values after an upgrade, and values unlike NumPy's. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from jax_stack_compat.judge.wording import named
from jax_stack_compat.numbers import query
from jax_stack_compat.numbers.model import CallRow

_WORDS = {"value": "", "edge": "", "dtype": "returns ", "shape": "has shape ", "raises": "", "ended": ""}
_ALONE = "Each was called by itself; fused with other operations under jit, it was not tried."
# A call that raised before.
_BENIGN = ("returns", "exception")


@dataclass(frozen=True)
class Numbers:
    """The called functions that were measured, and their rows.

    `changed` has a row of each function that returns something else on the release `new` than on `old`. `edges` are
    functions that do so only for 0, infinite, NaN, tiny or huge inputs; `rounded`, only by rounding. `unlike` has a row
    of each function that differs from its reference on `new` for other inputs than these. `on_devices` has a line for
    each function whose results on a device of the stack's kind are not the CPU's.
    """

    functions: tuple[str, ...]
    new: str
    old: str = ""
    changed: tuple[CallRow, ...] = ()
    edges: tuple[str, ...] = ()
    rounded: tuple[str, ...] = ()
    unlike: tuple[CallRow, ...] = ()
    on_devices: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """A sentence with the number of functions that changed or differ."""
        if not self.functions:
            return ""
        count = len(self.functions)
        head = f"Of the {count} numerical function{'s' * (count != 1)} you call"
        if self.old:
            changed, rounded = len(self.changed), len(self.rounded)
            other = (
                f"{changed or 'none'} return{'s' * (changed <= 1)} other values on jax {self.new} than on {self.old}"
            )
            edges = len(self.edges)
            at = f"; {edges} do{'es' * (edges == 1)} so only at 0, infinity, NaN, tiny or huge numbers" if edges else ""
            by = f"; {rounded} differ{'s' * (rounded == 1)} by rounding alone" if rounded else ""
            return f"{head}, {other} for the inputs that were tried{at}{by}. {_ALONE}"
        if not self.unlike:
            return ""
        names = [row.function for row in self.unlike]
        differ = f"{len(names)} differ{'s' * (len(names) == 1)} from NumPy or SciPy in 64 bits for some inputs"
        return f"{head}, {differ} on jax {self.new}: {named(names)}."


def told(row: CallRow) -> str:
    """Describe a change or a difference: `jax.numpy.sinc(float32): nan for inf, 64-bit NumPy has 0`."""
    form = "" if row.form == "eager" else f"{row.form} of "
    what = f"{_WORDS.get(row.change, '')}{row.was}" if row.change else row.detail
    by = f" ({row.explained.partition(' ')[0]})" if row.change and row.explained else ""
    return f"{form}{row.call}: {what}{by}"


def _order(row: CallRow) -> tuple[bool, ...]:
    is_plain = row.call.startswith(row.function) and row.form == "eager"
    return row.change == "edge", not is_plain, bool(row.explained)


def numbers(called: Collection[str], new: str | None, old: str | None = None) -> Numbers | None:
    """Return the results of functions on jax `new`, or their changes since `old`; None if a release was not measured.

    Raises BadFile.
    """
    if new is None or not query.is_measured(new) or (old is not None and not query.is_measured(old)):
        return None
    functions = query.known(called)
    if old is None:
        unlike = [rows[0] for function in functions if (rows := query.unlike(function, new))]
        return Numbers(tuple(functions), new, unlike=tuple(unlike))
    first: list[CallRow] = []
    edges, rounded = [], []
    for function in functions:
        rows = query.changes(function, old, new)
        if listed := [row for row in rows if row.listed and row.change not in _BENIGN]:
            # Plain calls come first, and changes that no issue explains.
            row = min(listed, key=_order)
            if row.change == "edge":
                edges.append(function)
            else:
                first.append(row)
        elif any(not row.listed for row in rows):
            rounded.append(function)
    first.sort(key=_order)
    return Numbers(tuple(functions), new, old, tuple(first), tuple(edges), tuple(rounded))
