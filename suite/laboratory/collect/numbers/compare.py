"""Comparisons of a call's outcome with its reference, or with the outcome on the release before. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from laboratory.cell.numbers.inputs import INPUTS
from laboratory.cell.numbers.recipes import NumericCall
from laboratory.collect.numbers import reference
from laboratory.collect.numbers.outcomes import Array, Outcome, arrays

Status = Literal["right", "off", "edge", "differs", "documented", "raises", "ended", "unknown"]
Kind = Literal["value", "edge", "rounding", "bits", "dtype", "shape", "raises", "returns", "exception", "ended"]
# The bits of the significand after the first, the smallest normal number, and the largest number.
_FORMATS = {
    "float16": (10, 2.0**-14, 65504.0),
    "bfloat16": (7, 2.0**-126, 3.3895313892515355e38),
    "float32": (23, 2.0**-126, 3.4028234663852886e38),
    "float64": (52, 2.0**-1022, 1.7976931348623157e308),
    "complex64": (23, 2.0**-126, 3.4028234663852886e38),
    "complex128": (52, 2.0**-1022, 1.7976931348623157e308),
}
# The most units in the last place for a right value, by bits: elementwise, and if many numbers make one.
_BOUNDS = {7: (2.0, 4.0), 10: (4.0, 16.0), 23: (8.0, 64.0), 52: (8.0, 64.0)}
# A value whose relative error is larger differs; a smaller error is `off`.
_FAR = 0.01
_ORDER: tuple[Status, ...] = ("right", "off", "edge", "differs", "documented", "raises", "ended", "unknown")
_EDGES = (
    "float32",
    "float16",
    "bfloat16",
    "float64",
    "complex64",
    "int32",
    "probabilities",
    "positive",
    "counts",
    "unit",
    "line",
    "line64",
)

# Functions that change the order of their inputs' elements.
_REORDERING = ("sort", "argsort", "partition", "argpartition", "unique", "lexsort")


@dataclass(frozen=True)
class Assessment:
    """The status of an outcome, its error in units in the last place if known, and part of a sentence."""

    status: Status
    ulp: float | None = None
    detail: str = ""


@dataclass(frozen=True)
class ValueChange:
    """A change from one release to the next, with a part of a sentence about it."""

    kind: Kind
    detail: str


@dataclass(frozen=True)
class _Difference:
    """The largest difference between two arrays, in units in the last place; infinite if only one side is finite."""

    ulp: float
    detail: str = ""
    absolute: float = 0.0


def judged(call: NumericCall, outcome: Outcome) -> Assessment:
    """Return the status of an outcome."""
    if "ended" in outcome:
        return Assessment("ended", detail=str(outcome["ended"]))
    if "raises" in outcome:
        return Assessment("raises", detail=str(outcome["raises"]))
    got = arrays(outcome)
    wanted = [each for each in reference.values(call) if got is not None and len(each) == len(got)]
    if got is None or not wanted:
        return Assessment("unknown")
    return min((_against(call, outcome, got, each) for each in wanted), key=lambda each: _ORDER.index(each.status))


def _against(call: NumericCall, outcome: Outcome, got: Sequence[Array], wanted: Sequence[Array]) -> Assessment:
    names = [leaf[0].removeprefix("python ") for leaf in outcome["values"]]
    word = reference.owner(call)
    for value, should in zip(got, wanted, strict=True):
        if value.shape != should.shape:
            return Assessment("differs", detail=f"shape {value.shape}, {word} {should.shape}")

    def status(of: _Difference) -> Status:
        bits, bounds = _precision(names)
        if of.ulp <= bounds[not is_elementwise(call)]:
            return "right"
        is_far = of.ulp * 2.0**-bits > max(_FAR, 2.0 ** (4 - bits))
        return "differs" if is_far and not _is_small(call, of, names) else "off"

    inner, whole = (_apart(call, got, wanted, names, word, with_edges=edges) for edges in (False, True))
    found = status(whole)
    if found == "differs" and status(inner) == "differs":
        # A difference away from edges says more.
        whole = inner
    elif found == "differs":
        found = "edge"
    return Assessment(found, None if np.isinf(whole.ulp) else whole.ulp, "" if found == "right" else whole.detail)


def change(call: NumericCall, old: Outcome, new: Outcome) -> ValueChange | None:
    """Return the change from one outcome to another; None if the compared values are equal."""
    if old == new:
        return None
    if "ended" in new or "ended" in old:
        return ValueChange("ended", f"{_told(new)}, was {_shown(old)}")
    if "raises" in new and "raises" in old:
        return ValueChange("exception", f"{_told(new)}, was {_shown(old)}")
    if "raises" in new or "raises" in old:
        return ValueChange("raises" if "raises" in new else "returns", f"{_told(new)}, was {_shown(old)}")
    types = [[leaf[0] for leaf in outcome["values"]] for outcome in (old, new)]
    if types[0] != types[1]:
        return ValueChange("dtype", f"{', '.join(types[1])}, was {', '.join(types[0])}")
    shapes = [[tuple(leaf[1]) for leaf in outcome["values"]] for outcome in (old, new)]
    if shapes[0] != shapes[1]:
        return ValueChange("shape", f"{_shapes(shapes[1])}, was {_shapes(shapes[0])}")
    before, after = arrays(old), arrays(new)
    if before is None or after is None:
        return ValueChange("bits", "other bits, of which a digest is kept")
    bound = _precision(types[0])[1][1]
    inner, worst = (_apart(call, after, before, types[0], "was", with_edges=edges) for edges in (False, True))
    if worst.ulp <= bound:
        return ValueChange("rounding", f"up to {worst.ulp:.0f} ulp") if worst.ulp else None
    if _is_small(call, worst, types[0]):
        return ValueChange("rounding", worst.detail)
    if inner.ulp > bound and not _is_small(call, inner, types[0]):
        return ValueChange("value", inner.detail)
    return ValueChange("edge", worst.detail)


def _apart(
    call: NumericCall,
    got: Sequence[Array],
    wanted: Sequence[Array],
    dtypes: Sequence[str],
    word: str,
    *,
    with_edges: bool,
) -> _Difference:
    """Return the largest difference between arrays; elements from edges count only `with_edges`."""
    worst = _Difference(0.0)
    for value, other, dtype in zip(got, wanted, dtypes, strict=True):
        skip = reference.skipped(call, value.shape)
        if call.reference.startswith("scipy.stats") and other.dtype.kind == "f" and word != "was":
            # SciPy checks parameters, JAX does not.
            skip |= np.isnan(other)
        if not with_edges:
            skip |= reference.edges(call, value.shape, elementwise=is_elementwise(call))
        found = _difference(call, value, other, dtype.removeprefix("python "), word, skip)
        worst = max(worst, found, key=lambda each: each.ulp)
    return worst


def _is_small(call: NumericCall, worst: _Difference, dtypes: Sequence[str]) -> bool:
    """Return True if a difference is small beside 1, as for a result near 0 computed from numbers near 1."""
    bits, bounds = _precision(dtypes)
    return worst.absolute <= bounds[1] * 2.0**-bits and "e-" not in call.text


def _precision(dtypes: Sequence[str]) -> tuple[int, tuple[float, float]]:
    """Return the bits of the least precise type's significand, and the most units for a right value."""
    bits = [_FORMATS[name][0] for dtype in dtypes if (name := dtype.removeprefix("python ")) in _FORMATS]
    return (min(bits), _BOUNDS[min(bits)]) if bits else (0, (0.0, 0.0))


def is_elementwise(call: NumericCall) -> bool:
    """Return True if each element of the result depends on one element of each input."""
    ordered = call.function.rpartition(".")[2] in _REORDERING
    return (
        not ordered
        and bool(call.inputs)
        and all(name.rpartition("_")[0] in _EDGES or name in _EDGES for name in call.inputs)
    )


def _difference(
    call: NumericCall, got: Array, wanted: Array, dtype: str, word: str, skip: Array | bool = False
) -> _Difference:
    if not got.size:
        return _Difference(0.0)
    if dtype not in _FORMATS:
        with np.errstate(all="ignore"):
            should = wanted.astype(got.dtype) if wanted.dtype.kind in "biu" or np.all(np.isfinite(wanted)) else wanted
        apart = np.where(got != should, np.inf, 0.0)
    elif got.dtype.kind == "c" or wanted.dtype.kind == "c":
        apart, should = _complex(call, got, wanted, dtype), wanted
    else:
        apart, should = _ulps(call, got.astype(float), wanted.astype(float), dtype), wanted
    return _worst(call, np.where(skip, 0.0, apart), got, should, word)


def _complex(call: NumericCall, got: Array, wanted: Array, dtype: str) -> Array:
    one, other = got.astype(complex), wanted.astype(complex)
    # Complex infinities and NaNs have many spellings, so compare finite values only.
    whole = np.isfinite(one) & np.isfinite(other)
    bits, tiny, _ = _FORMATS[dtype]
    size = np.abs(other) if is_elementwise(call) else np.full(other.shape, np.max(np.abs(other[whole]), initial=0.0))
    with np.errstate(all="ignore"):
        apart = np.where(whole, np.abs(one - other) / (np.maximum(size, tiny) * 2.0**-bits), 0.0)
    return np.where(np.isfinite(other) & np.isnan(one), np.inf, apart)


def _ulps(call: NumericCall, got: Array, wanted: Array, dtype: str) -> Array:
    bits, tiny, most = _FORMATS[dtype]
    with np.errstate(all="ignore"):
        # In this format, too large values are infinite, and subnormal values may be 0.
        rounded = np.where(np.abs(wanted) > most * (1 + 2.0 ** -(bits + 2)), np.sign(wanted) * np.inf, wanted)
        finite = np.abs(rounded[np.isfinite(rounded)])
        size = np.abs(rounded) if is_elementwise(call) else np.maximum(np.abs(rounded), np.max(finite, initial=0.0))
        unit = 2.0 ** np.floor(np.log2(np.maximum(np.where(np.isfinite(size), size, 1.0), tiny))) * 2.0**-bits
        apart = np.abs(got - rounded) / unit
    apart = np.where((got == rounded) | (np.isnan(got) & np.isnan(rounded)), 0.0, apart)
    apart = np.where((np.abs(got) <= tiny) & (np.abs(rounded) <= tiny), 0.0, apart)
    # The largest number instead of infinity, or the reverse, is a matter of rounding.
    edge = (np.abs(got) >= most * (1 - 2.0**-bits * 64)) & (np.abs(rounded) >= most * (1 - 2.0**-bits * 64))
    apart = np.where(edge & (np.sign(got) == np.sign(rounded)), 0.0, apart)
    return np.where(np.isnan(apart) | (np.isinf(got) != np.isinf(rounded)) & (apart > 0), np.inf, apart)


def _worst(call: NumericCall, apart: Array, got: Array, wanted: Array, word: str) -> _Difference:
    if not np.any(apart):
        return _Difference(0.0)
    flat = int(np.argmax(apart))
    one, other = np.ravel(got)[flat], np.ravel(wanted)[flat]
    at = _at(call, flat, got.shape)
    with np.errstate(all="ignore"):
        absolute = float(np.abs(complex(one) - complex(other)))
    detail = f"{_number(one)}{at}, {word} {_number(other)}"
    return _Difference(float(np.ravel(apart)[flat]), detail, absolute if np.isfinite(absolute) else np.inf)


def _at(call: NumericCall, flat: int, shape: Sequence[int]) -> str:
    if is_elementwise(call) and all(np.size(INPUTS[name][1]) == np.prod(shape, dtype=int) for name in call.inputs):
        given = [_number(np.ravel(reference.array(name, wide=False))[flat]) for name in call.inputs]
        return f" for {', '.join(given)}"
    if not shape:
        return ""
    return f" at [{', '.join(str(place) for place in np.unravel_index(flat, tuple(shape)))}]"


def _number(value: object) -> str:
    if isinstance(value, (np.bool_, np.integer)):
        return str(value)
    return f"{value:.6g}"


def _told(outcome: Outcome) -> str:
    verb = "raises" if "raises" in outcome else "ends with" if "ended" in outcome else "returns"
    return f"{verb} {_shown(outcome)}"


def _shown(outcome: Outcome) -> str:
    ends = outcome.get("raises") or outcome.get("ended")
    return str(ends or ", ".join(leaf[0] for leaf in outcome["values"]))


def _shapes(shapes: Sequence[tuple[int, ...]]) -> str:
    return ", ".join(map(str, shapes))
