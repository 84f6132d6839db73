"""The reference of a call: NumPy's and SciPy's functions on the same inputs, in 64 bits. Driver's side."""

from __future__ import annotations

import importlib
import math
import re
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from laboratory.cell.numbers.inputs import INPUTS, SHAPES
from laboratory.cell.numbers.recipes import NumericCall
from laboratory.collect.numbers.outcomes import Array

_WIDE = {"float32": "float64", "float16": "float64", "bfloat16": "float64", "complex64": "complex128"}
# Functions of jax.lax whose names differ in NumPy and SciPy.
_LAX = {
    **{
        "asin": "arcsin",
        "acos": "arccos",
        "atan": "arctan",
        "asinh": "arcsinh",
        "acosh": "arccosh",
        "atanh": "arctanh",
    },
    **{"neg": "negative", "sub": "subtract", "mul": "multiply", "div": "divide", "rem": "fmod", "pow": "power"},
    **{"atan2": "arctan2", "is_finite": "isfinite", "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal"},
    **{"gt": "greater", "ge": "greater_equal", "max": "maximum", "min": "minimum", "integer_pow": "power"},
    **{"logistic": "scipy.special.expit", "erf": "scipy.special.erf"},
    **{"erfc": "scipy.special.erfc", "erf_inv": "scipy.special.erfinv", "lgamma": "scipy.special.gammaln"},
    **{"digamma": "scipy.special.digamma", "bessel_i0e": "scipy.special.i0e", "bessel_i1e": "scipy.special.i1e"},
    **{"igamma": "scipy.special.gammainc", "igammac": "scipy.special.gammaincc", "zeta": "scipy.special.zeta"},
}


def _gelu(x: Array, approximate: bool = True) -> Any:
    erf = importlib.import_module("scipy.special").erfc
    if not approximate:
        return 0.5 * x * erf(-x / math.sqrt(2))
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def _sigmoid(x: Array) -> Any:
    return importlib.import_module("scipy.special").expit(x)


# Formulas from the documentation of jax.nn.
_NN: Mapping[str, Callable[..., Any]] = {
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.minimum(np.maximum(x, 0), 6),
    "sigmoid": _sigmoid,
    "softplus": lambda x: np.logaddexp(x, 0),
    "soft_sign": lambda x: x / (np.abs(x) + 1),
    "silu": lambda x: x * _sigmoid(x),
    "log_sigmoid": lambda x: -np.logaddexp(-x, 0),
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "celu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0))),
    "gelu": _gelu,
    "leaky_relu": lambda x: np.where(x >= 0, x, 0.01 * x),
    "hard_sigmoid": lambda x: np.minimum(np.maximum(x + 3, 0), 6) / 6,
    "hard_silu": lambda x: x * np.minimum(np.maximum(x + 3, 0), 6) / 6,
    "hard_tanh": lambda x: np.where(x > 1, 1, np.where(x < -1, -1, x)),
    "mish": lambda x: x * np.tanh(np.logaddexp(x, 0)),
    "squareplus": lambda x: (x + np.sqrt(x**2 + 4)) / 2,
    "sparse_plus": lambda x: np.where(x <= -1, 0, np.where(x >= 1, x, (x + 1) ** 2 / 4)),
    "sparse_sigmoid": lambda x: np.clip((x + 1) / 2, 0, 1),
    "log1mexp": lambda x: np.where(x < math.log(2), np.log(-np.expm1(-x)), np.log1p(-np.exp(-x))),
    "standardize": lambda x, axis=-1: (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + 1e-5),
    "glu": lambda x: np.split(x, 2, axis=-1)[0] * _sigmoid(np.split(x, 2, axis=-1)[1]),
    "logmeanexp": lambda x, axis=None: (
        importlib.import_module("scipy.special").logsumexp(x, axis=axis)
        - math.log(x.size if axis is None else x.shape[axis])
    ),
}


def _poisson_entropy(mu: float) -> float:
    gammaln = importlib.import_module("scipy.special").gammaln
    wide = 40 * (1 + math.sqrt(mu))
    k = np.arange(max(0.0, np.floor(mu - wide)), mu + wide)
    logpmf = k * math.log(mu) - mu - gammaln(k + 1)
    return float(-np.sum(np.exp(logpmf) * logpmf))


# Formulas for functions whose value in SciPy overflows, or sums too few terms.
_STATS: Mapping[str, Callable[..., Any]] = {
    "jax.scipy.stats.poisson.entropy": lambda mu, loc=0: np.vectorize(
        lambda each: _poisson_entropy(each) if 0 < each < np.inf else 0.0 if each == 0 else np.nan
    )(mu),
    "jax.scipy.stats.laplace.logpdf": lambda x, loc=0.0, scale=1.0: -np.abs((x - loc) / scale) - np.log(2 * scale),
}
_OWN: Mapping[str, Callable[..., Any]] = {
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "clz": lambda x: np.vectorize(lambda each: _bits(x) - (int(each) % 2 ** _bits(x)).bit_length(), otypes=[int])(x),
    "div": lambda x, y: np.trunc(x / y).astype(np.int64) if x.dtype.kind in "iu" else x / y,
    "unique_values": np.unique,
    "argsort": lambda x, axis=-1: np.argsort(x, axis, kind="stable"),
    "population_count": lambda x: np.vectorize(lambda each: (int(each) % 2 ** _bits(x)).bit_count(), otypes=[int])(x),
    "cummax": lambda x, axis=0, reverse=False: _reversed(np.maximum.accumulate, x, axis, reverse),
    "cummin": lambda x, axis=0, reverse=False: _reversed(np.minimum.accumulate, x, axis, reverse),
    "cumsum": lambda x, axis=0, reverse=False: _reversed(np.cumsum, x, axis, reverse),
    "cumprod": lambda x, axis=0, reverse=False: _reversed(np.cumprod, x, axis, reverse),
    "cumlogsumexp": lambda x, axis=0, reverse=False: _reversed(np.logaddexp.accumulate, x, axis, reverse),
    "bitwise_not": np.invert,
}


_SINGULAR = ("singular", "zeros")
_HUGE = re.compile(r"\* \d{3,}|\de[-+]?\d\d|inf")
_DIVISIONS = ("floor_divide", "remainder", "fmod", "mod", "divmod", "div", "rem")


def _bits(x: Array) -> int:
    return x.dtype.itemsize * 8


def _reversed(function: Callable[..., Any], x: Array, axis: int, reverse: bool) -> Any:
    return np.flip(function(np.flip(x, axis), axis=axis), axis) if reverse else function(x, axis=axis)


def _sorted(x: Array) -> Any:
    return np.sort(x)[::-1]


@cache
def values(call: NumericCall) -> tuple[tuple[Array, ...], ...]:
    """Return the values that a call may return: none without a reference, two if integers may count as floats.

    For a small integer NumPy makes a float16, for a large one a float64; JAX makes a float32.
    """
    function = _function(call) if call.form != "grad" else None
    if function is None:
        return ()
    text = re.sub(rf"\b{re.escape(call.function)}\(", "_function(", call.text, count=1)
    # NumPy always computes in the precision of its numbers.
    text = text.replace(", precision='highest'", "")
    wide = not call.reference.startswith("same:")
    named = {name: array(name, wide=wide) for name in call.inputs}
    floats = {
        name: each.astype(np.float32).astype(float) if each.dtype.kind in "iu" else each for name, each in named.items()
    }
    found = []
    for given in (named, floats) if any(each.dtype.kind in "iu" for each in named.values()) else (named,):
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                made = eval(text, {"_function": function, "float": float, **given})
                found.append(tuple(np.asarray(leaf) for leaf in _leaves(made)))
        except Exception:
            # If NumPy refuses a call on integers, it has no reference as floats, either.
            break
    return tuple(found)


def owner(call: NumericCall) -> str:
    """Return the source of the reference's value, as the start of a phrase."""
    if call.function in _STATS or (call.reference == "nn" and call.function.rpartition(".")[2] in _NN):
        return "its formula gives"
    name = call.function.rpartition(".")[2]
    of_scipy = call.reference.startswith("scipy") or call.reference == "nn" or "scipy" in _LAX.get(name, "")
    return "64-bit SciPy has" if of_scipy else "64-bit NumPy has"


def skipped(call: NumericCall, shape: tuple[int, ...]) -> Array:
    """Return a mask of the elements that no reference decides.

    XLA may replace a subnormal number by 0, and an integer divided by 0 has no value.
    """
    mask = np.zeros(shape, bool)
    for place, name in enumerate(call.inputs):
        given = array(name, wide=False)
        if given.shape != shape:
            continue
        if given.dtype.kind == "f":
            # A bfloat16 has the range of a float32.
            tiny = 2.0**-1022 if given.dtype.itemsize == 8 and not name.startswith("bfloat16") else 2.0**-126
            tiny = 2.0**-14 if given.dtype == np.float16 else tiny
            mask |= (given != 0) & (np.abs(given) < tiny)
        elif place and given.dtype.kind in "iu" and call.function.rpartition(".")[2] in _DIVISIONS:
            mask |= given == 0
    return mask


def edges(call: NumericCall, shape: tuple[int, ...], *, elementwise: bool) -> Array:
    """Return a mask of the elements that come from an edge: an infinite, NaN, tiny or huge number, or 0.

    If many numbers make one, all elements come from an edge in three cases: an input has such a number other than 0;
    the input is empty or singular; or the call's text has a huge number.
    """
    mask = np.full(shape, bool(_HUGE.search(call.text)))
    for name in call.inputs:
        given = array(name, wide=False)
        with np.errstate(all="ignore"):
            size = np.abs(given.astype(complex))
            ends = ~np.isfinite(size) | (size > (6e4 if given.dtype == np.float16 else 1e30)) | (size < 1e-30)
        if elementwise and given.shape == shape:
            mask |= ends
        elif (ends & (size != 0)).any() or not given.size or name in _SINGULAR:
            mask |= True
    return mask


def _leaves(made: Any) -> list[Any]:
    if isinstance(made, (tuple, list)):
        return [leaf for each in made for leaf in _leaves(each)]
    return [made]


def array(name: str, *, wide: bool = True) -> Array:
    """Return an input rounded to its own format, and, if `wide`, converted to 64 bits."""
    dtype, given = INPUTS[name]
    if given is None:
        return np.zeros(SHAPES[name])
    if dtype == "bfloat16":
        bits = np.asarray(given, np.float32).view(np.uint32)
        # Round to the nearest, ties to even, and keep NaN.
        rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(np.float32)
        found = np.where(np.isnan(np.asarray(given)), np.nan, rounded)
        return found.astype(np.float64)
    narrow = np.asarray(given, dtype)
    return narrow.astype(_WIDE.get(dtype, dtype)) if wide else narrow


def _function(call: NumericCall) -> Callable[..., Any] | None:
    reference, name = call.reference.removeprefix("same:"), call.function.rpartition(".")[2]
    if call.function in _STATS:
        return _STATS[call.function]
    if not reference or reference.startswith("{"):
        return _sorted if reference and name == "sort" else None
    if reference == "nn":
        special = importlib.import_module("scipy.special")
        return _NN.get(name) or getattr(special, name, None)
    if name in _OWN and (reference == "lax" or name in ("unique_values", "argsort")):
        return _OWN[name]
    if reference == "lax":
        home, _, name = _LAX.get(name, name).rpartition(".")
        reference = home or "numpy"
    here: Any = importlib.import_module(reference.split(".")[0])
    for part in reference.split(".")[1:]:
        here = getattr(here, part, None) or importlib.import_module(f"{here.__name__}.{part}")
    found: Callable[..., Any] | None = getattr(here, name, None)
    return found
