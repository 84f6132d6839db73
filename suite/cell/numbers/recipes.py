"""The calls: recipes of a few lines of data, for every public numerical function of jax. Read by both sides.

In a recipe's calls `f` is the function, and other words are names of inputs. `reference` says whose function of the same
name is the truth; a call can have its own, after `=>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from suite.cell.numbers.inputs import INPUTS

_WORDS = re.compile(r"[A-Za-z_][\w.]*")


@dataclass(frozen=True)
class Recipe:
    """The calls of several functions of a module.

    The first function's first call is also made in each of `forms`: under jit, under vmap, and its gradient (of 400 calls
    on jax 0.10.2 three were others under jit or vmap). Elementwise, the gradient of every function is taken. `reference` is a module, or an expression in which `{name}` stands for
    the function.
    """

    home: str
    names: str
    calls: tuple[str, ...]
    forms: tuple[str, ...] = ("jit", "vmap")
    reference: str = ""


@dataclass(frozen=True)
class Call:
    """A call of a function: an expression, and the inputs that it names."""

    function: str
    text: str
    form: str
    inputs: tuple[str, ...]
    reference: str

    @property
    def x64(self) -> bool:
        """True if the call needs 64-bit numbers."""
        return any(INPUTS[name][0] in ("float64", "int64") for name in self.inputs)

    @property
    def key(self) -> str:
        """The call as published: `jit jax.numpy.sin(float32)`."""
        return f"{self.form} {self.text}"


_ALL = ("jit", "vmap", "grad")
_ELEMENTWISE = ("jit", "grad")
_FLOATS = ("f(float32)", "f(bfloat16)", "f(float64)")
_NUMBERS = (*_FLOATS, "f(complex64)", "f(int32)")
_TWO_FLOATS = ("f(float32_1, float32_2)", "f(bfloat16_1, bfloat16_2)")
_TWO = (*_TWO_FLOATS, "f(int32_1, int32_2)", "f(uint8_1, uint8_2)")
_AXES = ("f(cube)", "f(cube, axis=-1, keepdims=True)")
_ODD = ("f(with_nan)", "f(one)", "f(empty)", "f(many)")
_MATRICES = ("f(square)", "f(singular)", "f(zeros)", "f(huge_matrix)", "f(nan_matrix)")
_MORE_MATRICES = ("f(batch)", "f(no_matrix)", "f(complex_matrix)", "f(square64)")
_SCIPY = "scipy.special"

RECIPES = (
    # jax.numpy: elementwise
    Recipe(
        "jax.numpy",
        "sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh exp exp2 expm1 log log2 log10 log1p"
        " sqrt square reciprocal abs negative positive sign sinc",
        _NUMBERS,
        _ELEMENTWISE,
        "numpy",
    ),
    Recipe("jax.numpy", "cbrt rint floor ceil trunc deg2rad rad2deg fabs degrees radians", (*_FLOATS, "f(int32)"), _ELEMENTWISE, "numpy"),
    Recipe("jax.numpy", "i0", (*_FLOATS, "f(int32)"), _ELEMENTWISE, "numpy"),
    Recipe("jax.numpy", "nan_to_num angle", _NUMBERS, _ELEMENTWISE, "numpy"),
    Recipe("jax.numpy", "conj real imag", ("f(complex64)", "f(float32)", "f(int32)"), reference="numpy"),
    Recipe(
        "jax.numpy",
        "isnan isinf isfinite isposinf isneginf signbit iscomplex isreal logical_not",
        ("f(float32)", "f(bfloat16)", "f(int32)", "f(complex64)"),
        (),
        "numpy",
    ),
    Recipe("jax.numpy", "modf frexp", ("f(float32)", "f(float16)", "f(float64)"), reference="numpy"),
    Recipe("jax.numpy", "spacing", ("f(float32)", "f(float16)", "f(bfloat16)", "f(float64)"), reference="same:numpy"),
    Recipe("jax.numpy", "round around fix", ("f(float32)", "f(float16)", "f(int32)", "f(complex64)"), _ALL, "numpy"),
    Recipe(
        "jax.numpy",
        "round",
        ("f(float32, 2)", "f(float32, -2)", "f(float32, 38)", "f(float32, 39)", "f(int32, -1)", "f(float16, 5)"),
        _ALL,
        "numpy",
    ),
    Recipe("jax.numpy", "invert bitwise_not bitwise_count", ("f(int32)", "f(uint8)", "f(int8)", "f(booleans)"), reference="numpy"),
    # jax.numpy: of two arguments
    Recipe(
        "jax.numpy",
        "add subtract multiply divide power maximum minimum arctan2 hypot fmod remainder floor_divide",
        (*_TWO, "f(complex64_1, complex64_2)"),
        _ELEMENTWISE,
        "numpy",
    ),
    Recipe("jax.numpy", "pow mod true_divide atan2", ("f(float32_1, float32_2)", "f(int32_1, int32_2)"), (), "numpy"),
    Recipe("jax.numpy", "fmax fmin logaddexp logaddexp2 copysign heaviside float_power", _TWO, _ELEMENTWISE, "numpy"),
    Recipe("jax.numpy", "nextafter", _TWO_FLOATS, (), "same:numpy"),
    Recipe("jax.numpy", "ldexp", ("f(float32, 3)", "f(float32, -130)", "f(float32, 200)", "f(float16, 5)", "f(int32, 2)"), _ALL, "numpy"),
    Recipe("jax.numpy", "divmod", ("f(float32_1, float32_2)", "f(int32_1, int32_2)"), reference="numpy"),
    Recipe("jax.numpy", "gcd lcm", ("f(integers, integers[::-1])", "f(uint8_1, uint8_2)"), reference="numpy"),
    Recipe(
        "jax.numpy",
        "equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor isclose",
        ("f(float32_1, float32_2)", "f(int32_1, int32_2)", "f(complex64_1, complex64_2)"),
        (),
        "numpy",
    ),
    Recipe(
        "jax.numpy",
        "bitwise_and bitwise_or bitwise_xor",
        ("f(int32_1, int32_2)", "f(uint8_1, uint8_2)", "f(booleans_1, booleans_2)"),
        reference="numpy",
    ),
    Recipe("jax.numpy", "left_shift right_shift", ("f(int32, 3)", "f(uint8, 3)", "f(int32, 31)", "f(int32, 40)", "f(int8, 9)"), reference="numpy"),
    Recipe("jax.numpy", "array_equal array_equiv allclose", ("f(vector, vector)", "f(with_nan, with_nan)", "f(empty, empty)", "f(vector, 1.0)"), ("jit",), "numpy"),
    Recipe("jax.numpy", "array_equal allclose", ("f(with_nan, with_nan, equal_nan=True)",), ("jit",), "numpy"),
    # jax.numpy: reductions
    Recipe("jax.numpy", "sum prod max min mean", (*_AXES, *_ODD, "f(integers)", "f(complexes)"), _ALL, "numpy"),
    Recipe("jax.numpy", "std var", (*_AXES, *_ODD, "f(vector, ddof=1)", "f(one, ddof=1)", "f(integers)", "f(complexes)", "f(halves)"), _ALL, "numpy"),
    Recipe("jax.numpy", "sum prod mean std var", ("f(vector, where=mask)", "f(many_halves)", "f(bytes)", "f(small_bytes)", "f(mask)"), (), "numpy"),
    Recipe("jax.numpy", "max min", ("f(vector, where=mask, initial=-9.0)", "f(empty, initial=2.0)", "f(integers, axis=0)", "f(mask)"), (), "numpy"),
    Recipe("jax.numpy", "sum prod", ("f(integers, dtype='float32')", "f(vector, initial=2.0)", "f(halves, dtype='float32')", "f(vector, dtype='int32')"), (), "numpy"),
    Recipe("jax.numpy", "all any count_nonzero", ("f(cube, axis=1)", "f(with_nan)", "f(empty)", "f(mask)", "f(complexes)", "f(scalar)"), reference="numpy"),
    Recipe("jax.numpy", "argmax argmin", ("f(cube, axis=1)", "f(with_nan)", "f(ties)", "f(integers)", "f(empty)", "f(rectangle, keepdims=True)", "f(complexes)", "f(mask)"), reference="numpy"),
    Recipe("jax.numpy", "nansum nanprod nanmean nanstd nanvar nanmax nanmin", ("f(some_nan)", "f(some_nan, axis=1)", "f(with_nan)", "f(empty)", "f(integers)", "f(some_nan, axis=0, keepdims=True)"), _ALL, "numpy"),
    Recipe("jax.numpy", "nanargmax nanargmin", ("f(with_nan)", "f(some_nan, axis=0)", "f(some_nan, axis=1)", "f(integers)"), reference="numpy"),
    Recipe("jax.numpy", "median nanmedian", (*_AXES, "f(with_nan)", "f(some_nan, axis=1)", "f(integers)", "f(empty)", "f(halves)"), _ALL, "numpy"),
    Recipe("jax.numpy", "quantile nanquantile", ("f(vector, 0.3)", "f(cube, 0.25, axis=1)", "f(with_nan, 0.5)", "f(integers, 0.4)", "f(halves, 0.1)", "f(vector, 0.3, method='lower')", "f(vector, 0.3, method='nearest')", "f(vector, 0.5, method='midpoint')", "f(vector, 1.5)"), _ALL, "numpy"),
    Recipe("jax.numpy", "percentile nanpercentile", ("f(vector, 30.0)", "f(some_nan, 50.0, axis=1)", "f(integers, 40)"), _ALL, "numpy"),
    Recipe("jax.numpy", "ptp", (*_AXES, "f(with_nan)", "f(bytes)"), _ALL, "numpy"),
    Recipe("jax.numpy", "average", ("f(cube, axis=1)", "f(vector, weights=other_vector)", "f(integers)", "f(rectangle, axis=0, weights=right)"), _ALL, "numpy"),
    Recipe("jax.numpy", "cumsum cumprod", ("f(vector)", "f(cube, axis=1)", "f(with_nan)", "f(integers)", "f(bytes)", "f(many_halves)", "f(empty)", "f(mask)", "f(complexes)"), _ALL, "numpy"),
    Recipe("jax.numpy", "nancumsum nancumprod", ("f(with_nan)", "f(some_nan, axis=1)", "f(integers)"), _ALL, "numpy"),
    Recipe("jax.numpy", "cumulative_sum cumulative_prod", ("f(vector)", "f(cube, axis=1)", "f(vector, include_initial=True)", "f(integers)"), _ALL, "numpy"),
    # jax.numpy: sorting and sets
    Recipe("jax.numpy", "sort argsort", ("f(vector)", "f(with_nan)", "f(ties)", "f(integers)", "f(cube, axis=1)", "f(complex_ties)", "f(bytes)", "f(empty)", "f(mask)", "f(float16)", "f(cube, axis=None)"), reference="numpy"),
    Recipe("jax.numpy", "sort argsort", ("f(ties, descending=True)", "f(with_nan, descending=True)"), (), "{name}_descending"),
    Recipe("jax.numpy", "sort_complex", ("f(complex_ties)", "f(vector)"), reference="numpy"),
    Recipe("jax.numpy", "partition argpartition", ("f(vector, 2)", "f(with_nan, 3)", "f(integers, 2)", "f(vector, -2)"), ("jit",)),
    Recipe("jax.numpy", "lexsort", ("f((integers, vector))", "f((ties, with_nan))", "f((with_nan,))"), reference="numpy"),
    Recipe("jax.numpy", "unique", ("f(integers)", "f(with_nan)", "f(ties)", "f(vector, size=9)", "f(integers, return_counts=True)", "f(integers, return_index=True, return_inverse=True)", "f(integer_matrix, axis=0)", "f(empty)", "f(complex_ties)"), (), "numpy"),
    Recipe("jax.numpy", "unique_values unique_counts unique_inverse unique_all", ("f(integers)", "f(with_nan)"), (), "numpy"),
    Recipe("jax.numpy", "union1d intersect1d setdiff1d setxor1d isin", ("f(integers, other_integers)", "f(with_nan, vector)", "f(empty, vector)"), (), "numpy"),
    Recipe("jax.numpy", "searchsorted", ("f(sorted, vector)", "f(sorted, with_nan)", "f(sorted, vector, side='right')", "f(empty, vector)", "f(sorted, 100.0, method='sort')", "f(sorted, vector, method='compare_all')"), reference="numpy"),
    Recipe("jax.numpy", "digitize", ("f(vector, sorted)", "f(with_nan, sorted)", "f(vector, sorted, right=True)", "f(vector, sorted[::-1])"), reference="numpy"),
    Recipe("jax.numpy", "nonzero flatnonzero argwhere", ("f(integers)", "f(with_nan)", "f(integer_matrix)", "f(empty)", "f(integers, size=9)"), (), "numpy"),
    Recipe("jax.numpy", "bincount", ("f(small_ints)", "f(integers)", "f(small_ints, length=4)", "f(small_ints, minlength=13)", "f(small_ints, weights=small_ints)"), (), "numpy"),
    Recipe("jax.numpy", "histogram histogram_bin_edges", ("f(vector)", "f(vector, 4)", "f(vector, 3, (-1.0, 2.0))", "f(integers, 5)", "f(vector, sorted)", "f(one, 3)", "f(empty, 3)"), ("jit",), "numpy"),
    Recipe("jax.numpy", "histogram", ("f(vector, 4, density=True)", "f(vector, 4, weights=other_vector)"), ("jit",), "numpy"),
    Recipe("jax.numpy", "histogram2d", ("f(vector, other_vector, 3)",), ("jit",), "numpy"),
    Recipe("jax.numpy", "histogramdd", ("f(rectangle, 2)",), ("jit",), "numpy"),
    Recipe("jax.numpy", "compress extract", ("f(mask, vector)",), (), "numpy"),
    Recipe("jax.numpy", "trim_zeros", ("f(other_integers)", "f(integers)"), (), "numpy"),
    # jax.numpy: indexing
    Recipe("jax.numpy", "take", ("f(vector, places)", "f(vector, places, mode='clip')", "f(vector, places, mode='wrap')", "f(vector, places, mode='fill')", "f(integers, places)", "f(bytes, places)", "f(rectangle, places, axis=1)", "f(mask, places)"), _ALL),
    Recipe("jax.numpy", "take", ("f(vector, small_ints[:4])", "f(rectangle, small_ints[:3], axis=1)"), (), "numpy"),
    Recipe("jax.numpy", "take_along_axis", ("f(rectangle, small_ints[None, :3], axis=1)", "f(vector, places, axis=0)", "f(vector, places, axis=0, mode='clip')", "f(vector, places, axis=0, mode='fill')"), _ALL),
    Recipe("jax.numpy", "choose", ("f(small_ints[:3], (right, right + 1, right * 2))", "f(places, vector[:6], mode='wrap')", "f(places, vector[:6], mode='clip')"), ("jit",), "numpy"),
    Recipe("jax.numpy", "put", ("f(vector, small_ints[:3], -1.0, inplace=False)", "f(vector, places, 9.0, mode='clip', inplace=False)", "f(vector, places, 9.0, mode='wrap', inplace=False)"), ("jit",)),
    Recipe("jax.numpy", "put_along_axis", ("f(vector, small_ints[:3], -1.0, 0, inplace=False)",), ("jit",)),
    Recipe("jax.numpy", "place", ("f(vector, mask, right, inplace=False)",), ("jit",)),
    Recipe("jax.numpy", "fill_diagonal", ("f(square, 9.0, inplace=False)", "f(rectangle, 9.0, wrap=True, inplace=False)"), ("jit",)),
    Recipe("jax.numpy", "select", ("f([vector > 1, vector < 0], [vector, -vector])", "f([vector > 1, vector > 0], [vector, -vector], 7)"), _ALL, "numpy"),
    Recipe("jax.numpy", "where", ("f(mask, vector, other_vector)", "f(mask, vector, 0)", "f(integers)", "f(mask, integers, 2.5)"), ("jit",), "numpy"),
    Recipe("jax.numpy", "piecewise", ("f(vector, [vector < 0, vector > 2], [-1.0, 1.0])", "f(vector, [vector < 0], [lambda v: -v, lambda v: v * 2])"), _ALL, "numpy"),
    Recipe("jax.numpy", "delete", ("f(vector, 2)", "f(vector, small_ints[:2])", "f(rectangle, 1, axis=0)", "f(vector, slice(1, 3))"), ("jit",), "numpy"),
    Recipe("jax.numpy", "insert", ("f(vector, 2, 9.0)", "f(vector, small_ints[:2], 9.0)", "f(rectangle, 1, 9.0, axis=1)", "f(vector, -1, 9.0)"), ("jit",), "numpy"),
    Recipe("jax.numpy", "unravel_index", ("f(places, (3, 4))", "f(small_ints, (3, 4))"), ("jit",)),
    Recipe("jax.numpy", "ravel_multi_index", ("f((small_ints[:3], small_ints[:3]), (3, 4), mode='clip')", "f((places, places), (3, 4), mode='wrap')"), ("jit",), "numpy"),
    # jax.numpy: shapes
    Recipe("jax.numpy", "ravel transpose flip squeeze atleast_1d atleast_2d atleast_3d copy", ("f(cube)", "f(scalar)", "f(empty)"), ("jit",), "numpy"),
    Recipe("jax.numpy", "fliplr flipud rot90 diag diagonal trace tril triu matrix_transpose diagflat", ("f(rectangle)", "f(integer_matrix)"), ("jit",), "numpy"),
    Recipe("jax.numpy", "roll", ("f(vector, 2)", "f(vector, -9)", "f(cube, 1, axis=1)", "f(cube, (1, 2), axis=(0, 1))", "f(empty, 1)"), ("jit",), "numpy"),
    Recipe("jax.numpy", "repeat", ("f(vector, 2)", "f(cube, 2, axis=1)", "f(right, small_ints[:3])", "f(right, small_ints[:3], total_repeat_length=5)"), (), "numpy"),
    Recipe("jax.numpy", "tile", ("f(vector, 2)", "f(rectangle, (2, 1, 2))"), ("jit",), "numpy"),
    Recipe("jax.numpy", "resize reshape", ("f(cube, (4, 6))", "f(empty, (0, 3))"), ("jit",), "numpy"),
    Recipe("jax.numpy", "pad", ("f(vector, 2)", "f(vector, (1, 3), mode='edge')", "f(vector, 9, mode='reflect')", "f(vector, 9, mode='symmetric')", "f(vector, 9, mode='wrap')", "f(vector, 2, mode='linear_ramp', end_values=1.0)", "f(vector, 2, mode='mean')", "f(vector, 2, mode='median')", "f(vector, 2, mode='minimum', stat_length=3)", "f(integers, 2, constant_values=1.5)", "f(vector, 3, mode='reflect', reflect_type='odd')", "f(integers, 3, mode='linear_ramp', end_values=9)", "f(integers, 3, mode='mean')"), _ALL, "numpy"),
    Recipe("jax.numpy", "concatenate stack hstack vstack dstack column_stack", ("f([vector, other_vector])", "f([vector, integers])", "f([square, symmetric])"), ("jit",), "numpy"),
    Recipe("jax.numpy", "append", ("f(vector, integers)",), (), "numpy"),
    Recipe("jax.numpy", "block", ("f([vector, vector])",), (), "numpy"),
    Recipe("jax.numpy", "split array_split hsplit", ("f(many[:12], 3)", "f(vector, [2, 4])"), ("jit",), "numpy"),
    Recipe("jax.numpy", "vsplit dsplit", ("f(cube, 1)", "f(cube, [1])"), ("jit",), "numpy"),
    Recipe("jax.numpy", "moveaxis swapaxes rollaxis", ("f(cube, 0, 2)", "f(cube, -1, 0)"), ("jit",), "numpy"),
    Recipe("jax.numpy", "expand_dims unstack", ("f(cube, axis=0)", "f(cube, axis=1)"), ("jit",), "numpy"),
    Recipe("jax.numpy", "broadcast_to", ("f(right, (2, 3))", "f(scalar, (2,))"), ("jit",), "numpy"),
    Recipe("jax.numpy", "meshgrid", ("f(right, vector)", "f(right, vector, indexing='ij')", "f(right, right, sparse=True)"), ("jit",), "numpy"),
    Recipe("jax.numpy", "packbits unpackbits", ("f(bytes)", "f(bytes, bitorder='little')"), ("jit",), "numpy"),
    Recipe("jax.numpy", "unpackbits", ("f(bytes, count=11)", "f(bytes, count=-3)", "f(bytes, count=50)"), ("jit",), "numpy"),
    Recipe("jax.numpy", "astype", ("f(float32, 'int32')", "f(float32, 'uint8')", "f(float32, 'int8')", "f(float32, 'bool')", "f(float32, 'float16')", "f(float32, 'bfloat16')", "f(int32, 'uint8')", "f(int32, 'float16')", "f(complex64, 'float32')", "f(float16, 'int32')"), ("jit",)),
    Recipe("jax.numpy", "clip", ("f(float32, -1.0, 1.0)", "f(with_nan, -1.0, None)", "f(integers, 0, 2)", "f(vector, 2.0, -2.0)", "f(bytes, 10, 100)"), _ALL, "numpy"),
    # jax.numpy: making arrays
    Recipe("jax.numpy", "arange", ("f(5)", "f(0.0, 1.0, 0.1)", "f(5, 0, -1.5)", "f(0, 1, 0.3, dtype='int32')", "f(3, dtype='float16')", "f(1.0, 2.0, 0.1)", "f(0, 300, 7, dtype='uint8')"), (), "numpy"),
    Recipe("jax.numpy", "linspace", ("f(0.0, 1.0, 7)", "f(-1, 5, 4, dtype='int32')", "f(-5, 5, 7, dtype='int32')", "f(0.0, 1.0, 5, endpoint=False)", "f(0.0, 3e38, 5)", "f(-3e38, 3e38, 5)", "f(2.0, 2.0, 3)", "f(0.0, 1.0, 1)", "f(0.0, 1.0, 3, retstep=True)", "f(1j, 2.0, 3)", "f(0.0, 0.3, 4, dtype='float16')"), ("jit",), "numpy"),
    Recipe("jax.numpy", "logspace geomspace", ("f(1.0, 3.0, 5)", "f(1, 8, 4)", "f(1.0, 2.0, 5, endpoint=False)", "f(2.0, 2.0, 3)", "f(1, 8, 4, dtype='int32')", "f(1 + 1j, 3 - 2j, 4)", "f(1.0, 8.0, 1)"), ("jit",), "numpy"),
    Recipe("jax.numpy", "eye tri", ("f(3)", "f(3, 4, 1)", "f(3, 4, -1)"), ("jit",), "numpy"),
    Recipe("jax.numpy", "identity bartlett blackman hamming hanning", ("f(5)", "f(1)", "f(0)", "f(8)"), ("jit",), "numpy"),
    Recipe("jax.numpy", "kaiser", ("f(5, 8.6)", "f(1, 2.0)", "f(6, 0.0)", "f(7, 100.0)"), ("jit",), "numpy"),
    Recipe("jax.numpy", "vander", ("f(right)", "f(right, 4, increasing=True)", "f(integers[:3])"), ("jit",), "numpy"),
    Recipe("jax.numpy", "full_like", ("f(vector, 3.7)", "f(integers, 2.7)", "f(bytes, 300)"), ()),
    Recipe("jax.numpy", "diag_indices tril_indices triu_indices", ("f(3)",), (), "numpy"),
    Recipe("jax.numpy", "indices", ("f((2, 3))", "f((2, 3), sparse=True)"), (), "numpy"),
    Recipe("jax.numpy", "ix_", ("f(integers[:2], other_integers)",), (), "numpy"),
    # jax.numpy: polynomials, differences, statistics
    Recipe("jax.numpy", "polyval", ("f(coefficients, vector)", "f(integer_coefficients, integers)", "f(coefficients, 1e20)", "f(integer_coefficients, 100000)", "f(coefficients[:0], vector)"), _ALL, "numpy"),
    Recipe("jax.numpy", "polyadd polysub polymul", ("f(coefficients, right)", "f(integer_coefficients, right)", "f(integer_coefficients, integer_coefficients)"), _ALL, "numpy"),
    Recipe("jax.numpy", "polydiv", ("f(coefficients, right)", "f(coefficients, one)"), ("jit",), "numpy"),
    Recipe("jax.numpy", "polyder polyint", ("f(coefficients)", "f(coefficients, 2)", "f(integer_coefficients)"), _ALL, "numpy"),
    Recipe("jax.numpy", "roots", ("f(coefficients)", "f(coefficients[:1])", "f(integer_coefficients)"), (), ""),
    Recipe("jax.numpy", "poly", ("f(right)", "f(square)", "f(integers[:3])"), ("jit",), "numpy"),
    Recipe("jax.numpy", "polyfit", ("f(sorted, vector[:6], 2)", "f(vector, other_vector, 1)"), ("jit",), "numpy"),
    Recipe("jax.numpy", "diff", ("f(vector)", "f(cube, axis=1)", "f(bytes)", "f(mask)", "f(vector, n=2)", "f(vector, n=9)", "f(vector, prepend=0.0, append=1.0)", "f(integers, n=0)"), _ALL, "numpy"),
    Recipe("jax.numpy", "ediff1d", ("f(vector)", "f(integers, to_begin=1)", "f(bytes)"), _ALL, "numpy"),
    Recipe("jax.numpy", "gradient", ("f(vector)", "f(rectangle)", "f(rectangle, axis=1)", "f(vector, 0.5)", "f(integers)", "f(vector, sorted[:1] + vector.cumsum())"), _ALL, "numpy"),
    Recipe("jax.numpy", "unwrap", ("f(vector)", "f(vector * 3)", "f(vector, period=3.0)", "f(integers, period=4)", "f(vector, discont=5.0)"), _ALL, "numpy"),
    Recipe("jax.numpy", "interp", ("f(vector, sorted, right.repeat(2))", "f(with_nan, sorted, sorted)", "f(vector, sorted, sorted, left=-9.0, right=9.0)", "f(vector, right, right, period=5.0)", "f(0.0, sorted, sorted * 2)"), _ALL, "numpy"),
    Recipe("jax.numpy", "trapezoid", ("f(vector)", "f(vector, sorted[:1] + vector)", "f(rectangle, axis=0)", "f(integers)", "f(vector, dx=0.5)", "f(one)"), _ALL, "numpy"),
    Recipe("jax.numpy", "convolve correlate", ("f(vector, right)", "f(vector, right, mode='same')", "f(vector, right, mode='valid')", "f(right, vector)", "f(complexes, complexes)", "f(integers, other_integers)", "f(bytes, bytes)", "f(with_nan, right)", "f(halves, halves)"), _ALL, "numpy"),
    Recipe("jax.numpy", "cov corrcoef", ("f(rectangle)", "f(vector, other_vector)", "f(rectangle, rowvar=False)", "f(complex_matrix)", "f(with_nan, vector)", "f(one)", "f(scalar)"), _ALL, "numpy"),
    Recipe("jax.numpy", "cov", ("f(rectangle, ddof=0)", "f(rectangle, bias=True)", "f(vector, aweights=positive[:7])", "f(vector, fweights=places[:1].repeat(7) + 2)"), (), "numpy"),
    # jax.numpy: products
    Recipe("jax.numpy", "dot inner vdot outer kron", ("f(vector, other_vector)", "f(integers, integers)", "f(complexes, complexes)", "f(halves, halves)", "f(with_nan, vector)", "f(empty, empty)", "f(bytes, bytes)", "f(float16, float16)"), _ALL, "numpy"),
    Recipe("jax.numpy", "dot inner matmul tensordot kron", ("f(square, symmetric)", "f(integer_matrix[:, :2], integer_matrix[:, :2])", "f(batch[0], batch[1])", "f(complex_matrix, complex_matrix)", "f(huge_matrix, huge_matrix)"), _ALL, "numpy"),
    Recipe("jax.numpy", "matmul", ("f(batch, square)", "f(square, right)", "f(vector, other_vector)", "f(no_matrix, no_matrix)"), _ALL, "numpy"),
    Recipe("jax.numpy", "einsum", ("f('ij,jk', square, symmetric)", "f('ii', square)", "f('i,i->', vector, other_vector)", "f('bij,bjk->bik', batch, batch)", "f('ij->ji', rectangle)", "f('i,j', integers, integers)"), (), ""),
    Recipe("jax.numpy", "vecdot", ("f(vector, other_vector)", "f(complexes, complexes)", "f(batch, square)"), _ALL, "numpy"),
    Recipe("jax.numpy", "matvec", ("f(square, right)", "f(batch, right)", "f(complex_matrix, complexes[:2])"), _ALL, "numpy"),
    Recipe("jax.numpy", "vecmat", ("f(right, square)", "f(right, batch)", "f(complexes[:2], complex_matrix)"), _ALL, "numpy"),
    Recipe("jax.numpy", "cross", ("f(right, right[::-1])", "f(square, symmetric)", "f(right[:2], right[1:])", "f(square, symmetric, axis=0)"), _ALL, "numpy"),
    # jax.numpy.linalg and fft
    Recipe("jax.numpy.linalg", "det slogdet inv cond matrix_rank pinv", (*_MATRICES, *_MORE_MATRICES), _ALL, "numpy.linalg"),
    Recipe("jax.numpy.linalg", "cholesky", ("f(symmetric)", "f(-symmetric)", "f(zeros)", "f(nan_matrix)", "f(hermitian)", "f(symmetric, upper=True)"), _ALL, "numpy.linalg"),
    Recipe("jax.numpy.linalg", "qr svd eigh eig", ("f(symmetric)", "f(square)", "f(singular)", "f(no_matrix)", "f(hermitian)", "f(batch)"), ("jit",), ""),
    Recipe("jax.numpy.linalg", "eigvalsh svdvals", ("f(symmetric)", "f(symmetric * 1e15)", "f(symmetric * 1e-30)", "f(zeros)", "f(hermitian)"), _ALL, "numpy.linalg"),
    Recipe("jax.numpy.linalg", "eigvals", ("f(symmetric)", "f(square)", "f(singular)", "f(nan_matrix)"), ("jit",), ""),
    Recipe("jax.numpy.linalg", "solve", ("f(square, right)", "f(singular, right)", "f(batch, square)", "f(square, square)", "f(zeros, right[:2])", "f(tiny_matrix, right)", "f(huge_matrix, right)", "f(complex_matrix, complexes[:2])"), _ALL, "numpy.linalg"),
    Recipe("jax.numpy.linalg", "lstsq", ("f(rectangle.T, right.repeat(2)[:4])", "f(singular, right)", "f(zeros, right[:2])"), ("jit",), "numpy.linalg"),
    Recipe("jax.numpy.linalg", "matrix_power", ("f(square, 3)", "f(square, 0)", "f(square, -1)", "f(singular, -1)", "f(integer_matrix[:, :2], 5)"), _ALL, "numpy.linalg"),
    Recipe("jax.numpy.linalg", "norm", ("f(vector)", "f(vector, 1)", "f(vector, 0)", "f(vector, 3)", "f(vector, float('inf'))", "f(vector, -1)", "f(square)", "f(square, 'nuc')", "f(square, 2)", "f(square, -2)", "f(square, 1)", "f(with_nan)", "f(vector * 1e30)", "f(vector * 1e-30)", "f(zeros)", "f(complexes)", "f(integers)", "f(cube, axis=1)", "f(empty)"), _ALL, "numpy.linalg"),
    Recipe("jax.numpy.linalg", "vector_norm", ("f(vector)", "f(cube, axis=1)", "f(vector, ord=3)", "f(vector, keepdims=True)"), _ALL, "numpy.linalg"),
    Recipe("jax.numpy.linalg", "matrix_norm", ("f(square)", "f(batch)", "f(square, ord='nuc')", "f(square, ord=1)"), _ALL, "numpy.linalg"),
    Recipe("jax.numpy.linalg", "multi_dot", ("f([square, symmetric, singular])", "f([right, square, right])"), ("jit",), "numpy.linalg"),
    Recipe("jax.numpy.linalg", "tensorsolve", ("f(square, right)",), ("jit",), "numpy.linalg"),
    Recipe("jax.numpy.linalg", "tensorinv", ("f(square, 1)",), ("jit",), "numpy.linalg"),
    Recipe("jax.numpy.linalg", "diagonal trace matrix_transpose", ("f(square)", "f(batch)"), ("jit",), "numpy.linalg"),
    Recipe("jax.numpy.fft", "fft ifft rfft hfft ihfft", ("f(vector)", "f(cube, axis=1)", "f(vector, 4)", "f(vector, 9)", "f(vector, norm='ortho')", "f(integers)", "f(one)", "f(halves)"), _ALL, "numpy.fft"),
    Recipe("jax.numpy.fft", "irfft", ("f(complexes)", "f(complexes, 7)", "f(vector, norm='forward')", "f(one)"), ("jit", "vmap"), "numpy.fft"),
    Recipe("jax.numpy.fft", "fft2 ifft2 rfft2 fftn ifftn rfftn", ("f(rectangle)", "f(cube, norm='ortho')", "f(rectangle, s=(2, 6))"), ("jit",), "numpy.fft"),
    Recipe("jax.numpy.fft", "irfft2 irfftn", ("f(complex_matrix)", "f(rectangle, s=(3, 5))"), ("jit",), "numpy.fft"),
    Recipe("jax.numpy.fft", "fftfreq rfftfreq", ("f(7)", "f(8, d=0.5)"), ("jit",), "numpy.fft"),
    Recipe("jax.numpy.fft", "fftshift ifftshift", ("f(vector)", "f(cube, axes=1)"), ("jit",), "numpy.fft"),
    # jax.scipy.special
    Recipe("jax.scipy.special", "erf erfc digamma gammaln i0 i0e i1 i1e entr expit logit log_ndtr ndtr expi", ("f(float32)", "f(float64)", "f(bfloat16)"), ("grad",), _SCIPY),
    Recipe("jax.scipy.special", "spence", ("f(float32)",), ("grad",), _SCIPY),
    # Without an end for infinity and NaN: tried on jax 0.10.2.
    Recipe("jax.scipy.special", "exp1", ("f(positive)",), _ELEMENTWISE, _SCIPY),
    Recipe("jax.scipy.special", "gamma gammasgn loggamma erfcx dawsn wofz", ("f(float32)", "f(float64)", "f(complex64)"), _ELEMENTWISE, _SCIPY),
    Recipe("jax.scipy.special", "erfinv erfcinv ndtri", ("f(probabilities)", "f(unit_1)", "f(float16)"), _ELEMENTWISE, _SCIPY),
    Recipe("jax.scipy.special", "factorial", ("f(counts)", "f(small_ints)"), _ELEMENTWISE, _SCIPY),
    Recipe("jax.scipy.special", "sici fresnel", ("f(float32)", "f(float64)"), ("jit",), _SCIPY),
    Recipe("jax.scipy.special", "xlogy xlog1py rel_entr kl_div boxcox boxcox1p", ("f(float32_1, float32_2)", "f(positive_1, positive_2)", "f(float64_1, float64_2)"), _ELEMENTWISE, _SCIPY),
    Recipe("jax.scipy.special", "beta betaln poch zeta owens_t", ("f(positive_1, positive_2)", "f(vector, other_vector)"), _ELEMENTWISE, _SCIPY),
    Recipe("jax.scipy.special", "gammainc gammaincc", ("f(positive_1, positive_2)", "f(vector, other_vector)", "f(0.5, float32)"), ("grad",), _SCIPY),
    Recipe("jax.scipy.special", "betainc", ("f(positive_1, positive_2, 0.3)", "f(2.0, 3.0, probabilities)"), _ELEMENTWISE, _SCIPY),
    Recipe("jax.scipy.special", "polygamma", ("f(0, float32)", "f(1, float32)", "f(3, positive)"), _ELEMENTWISE, _SCIPY),
    Recipe("jax.scipy.special", "multigammaln", ("f(positive, 1)", "f(positive, 3)"), _ELEMENTWISE, _SCIPY),
    Recipe("jax.scipy.special", "hyp1f1", ("f(positive_1, positive_2, 0.5)", "f(1.0, 2.0, vector)", "f(0.5, 1.5, -40.0)"), _ELEMENTWISE, _SCIPY),
    Recipe("jax.scipy.special", "hyp2f1", ("f(0.5, 1.5, 2.5, probabilities)", "f(1.0, 2.0, 3.0, -2.5)"), (), _SCIPY),
    Recipe("jax.scipy.special", "logsumexp softmax log_softmax", ("f(vector)", "f(cube, axis=1)", "f(with_nan)", "f(vector * 1e30)", "f(halves)", "f(integers)", "f(empty)"), _ELEMENTWISE, _SCIPY),
    Recipe("jax.scipy.special", "logsumexp", ("f(vector, b=other_vector, return_sign=True)", "f(complexes)", "f(vector, b=0.0)", "f(vector - float('inf'))", "f(vector, where=mask)"), ("jit",), _SCIPY),
    Recipe("jax.scipy.special", "bernoulli", ("f(0)", "f(5)", "f(12)"), (), _SCIPY),
    Recipe("jax.scipy.special", "comb", ("f(small_ints, 2)", "f(30.0, 15.0)"), ("jit",), _SCIPY),
    Recipe("jax.scipy.special", "sph_harm_y", ("f(small_ints[:3], small_ints[:3], 0.5 + right, 0.25 + right, n_max=3)",), ("jit",), ""),
    Recipe("jax.scipy.special", "bessel_jn", ("f(vector, v=3)",), (), ""),
    # jax.scipy.stats
    Recipe("jax.scipy.stats.norm", "pdf logpdf cdf logcdf sf logsf", ("f(float32)", "f(float32_1, 0.0, float32_2)", "f(float64)"), _ELEMENTWISE, "scipy.stats.norm"),
    Recipe("jax.scipy.stats.norm", "ppf isf", ("f(probabilities)", "f(probabilities, 1.0, 2.0)"), ("grad",), "scipy.stats.norm"),
    *(
        Recipe(f"jax.scipy.stats.{name}", methods, ("f(float32)", "f(float32_1, 0.0, float32_2)"), ("grad",), f"scipy.stats.{name}")
        for name, methods in (
            ("cauchy", "pdf logpdf cdf logcdf sf logsf"),
            ("expon", "pdf logpdf cdf logcdf sf logsf"),
            ("gumbel_l", "pdf logpdf cdf logcdf sf logsf"),
            ("gumbel_r", "pdf logpdf cdf logcdf sf logsf"),
            ("laplace", "pdf logpdf cdf"),
            ("logistic", "pdf logpdf cdf sf"),
            ("uniform", "pdf logpdf cdf"),
        )
    ),
    *(
        Recipe(f"jax.scipy.stats.{name}", methods, ("f(probabilities)", "f(probabilities, 1.0, 2.0)"), ("grad",), f"scipy.stats.{name}")
        for name, methods in (
            ("cauchy", "ppf isf"),
            ("expon", "ppf"),
            ("gumbel_l", "ppf"),
            ("gumbel_r", "ppf"),
            ("logistic", "ppf isf"),
            ("uniform", "ppf"),
        )
    ),
    *(
        Recipe(f"jax.scipy.stats.{name}", "pdf logpdf cdf logcdf sf logsf", ("f(positive_1, positive_2)", "f(vector, 2.5, 1.0, 2.0)"), (), f"scipy.stats.{name}")
        for name in ("chi2", "gamma")
    ),
    *(
        Recipe(f"jax.scipy.stats.{name}", methods, ("f(float32_1, float32_2)", *more), ("grad",), f"scipy.stats.{name}")
        for name, methods, more in (
            ("gennorm", "pdf logpdf cdf", ("f(positive_1, positive_2)",)),
            ("pareto", "pdf logpdf cdf logcdf sf logsf", ("f(positive_1, positive_2, 1.0, 2.0)",)),
            ("t", "pdf logpdf", ("f(vector, 2.5, 1.0, 2.0)",)),
            ("vonmises", "pdf logpdf", ("f(vector, 2.5)",)),
            ("wrapcauchy", "pdf logpdf", ("f(positive, 0.5)",)),
        )
    ),
    Recipe("jax.scipy.stats.pareto", "ppf", ("f(probabilities, 2.5)",), _ALL, "scipy.stats.pareto"),
    Recipe("jax.scipy.stats.beta", "pdf logpdf cdf logcdf sf logsf", ("f(probabilities, 2.0, 3.0)", "f(probabilities, 1.0, 1.0)", "f(0.5, positive_1, positive_2)"), (), "scipy.stats.beta"),
    Recipe("jax.scipy.stats.truncnorm", "pdf logpdf cdf logcdf sf logsf", ("f(vector, -1.0, 2.0)",), (), "scipy.stats.truncnorm"),
    Recipe("jax.scipy.stats.bernoulli", "pmf logpmf cdf", ("f(counts, 0.3)", "f(1, probabilities)", "f(0, probabilities)"), ("jit",), "scipy.stats.bernoulli"),
    Recipe("jax.scipy.stats.bernoulli", "ppf", ("f(probabilities, 0.3)",), ("jit",), "scipy.stats.bernoulli"),
    Recipe("jax.scipy.stats.binom", "pmf logpmf", ("f(counts, 10, 0.3)", "f(0, 10, probabilities)", "f(10, 10, probabilities)"), (), "scipy.stats.binom"),
    Recipe("jax.scipy.stats.betabinom", "pmf logpmf", ("f(counts, 10, 2.0, 3.0)", "f(0, 0, 2.0, 3.0)"), (), "scipy.stats.betabinom"),
    Recipe("jax.scipy.stats.nbinom", "pmf logpmf", ("f(counts, 10, 0.3)", "f(0, 10, probabilities)"), (), "scipy.stats.nbinom"),
    Recipe("jax.scipy.stats.geom", "pmf logpmf", ("f(counts, 0.3)", "f(1, probabilities)"), (), "scipy.stats.geom"),
    Recipe("jax.scipy.stats.poisson", "pmf logpmf cdf", ("f(counts, 3.0)", "f(counts, 0.0)", "f(small_ints, 2.5)"), (), "scipy.stats.poisson"),
    Recipe("jax.scipy.stats.poisson", "entropy", ("f(counts)",), ("jit",), "scipy.stats.poisson"),
    Recipe("jax.scipy.stats.dirichlet", "pdf logpdf", ("f(right * 0 + 1 / 3, positive[:3])", "f(right, positive[:3])"), ("jit",), ""),
    Recipe("jax.scipy.stats.multinomial", "pmf logpmf", ("f(small_ints[:3], 3, right * 0 + 1 / 3)", "f(small_ints[:3], 4, right * 0 + 1 / 3)"), ("jit",), "scipy.stats.multinomial"),
    Recipe("jax.scipy.stats.multivariate_normal", "pdf logpdf", ("f(right, 0.0 * right, symmetric)", "f(square, right, symmetric)", "f(scalar, 0.0, 1.0)", "f(right, 0.0 * right, singular)"), (), "scipy.stats.multivariate_normal"),
    Recipe("jax.scipy.stats", "mode", ("f(integers)", "f(ties)", "f(cube, axis=1)", "f(with_nan)", "f(empty)", "f(integers, keepdims=True)"), ("jit",), "scipy.stats"),
    Recipe("jax.scipy.stats", "rankdata", ("f(ties)", "f(with_nan)", "f(vector, method='min')", "f(ties, method='dense')", "f(ties, method='ordinal')", "f(cube, axis=1)"), ("jit",), "scipy.stats"),
    Recipe("jax.scipy.stats", "sem", ("f(vector)", "f(cube, axis=1)", "f(with_nan)", "f(one)", "f(integers)", "f(vector, ddof=0)"), ("jit",), "scipy.stats"),
    # jax.scipy: the rest
    Recipe("jax.scipy.linalg", "det inv expm", (*_MATRICES, "f(complex_matrix)", "f(batch)"), _ALL, "scipy.linalg"),
    Recipe("jax.scipy.linalg", "sqrtm", ("f(symmetric)", "f(square)", "f(zeros)"), ("jit",), ""),
    Recipe("jax.scipy.linalg", "cholesky", ("f(symmetric)", "f(symmetric, lower=True)", "f(hermitian)"), _ALL, "scipy.linalg"),
    Recipe("jax.scipy.linalg", "lu lu_factor qr svd eigh schur hessenberg polar", ("f(symmetric)", "f(singular)"), ("jit",), ""),
    Recipe("jax.scipy.linalg", "solve", ("f(square, right)", "f(singular, right)", "f(symmetric, right, assume_a='pos')", "f(square, right, lower=True)", "f(symmetric, square)"), _ALL, "scipy.linalg"),
    Recipe("jax.scipy.linalg", "solve_triangular", ("f(triangle, right, lower=True)", "f(square, right)", "f(triangle, right, trans=1, lower=True)", "f(triangle, right, unit_diagonal=True, lower=True)", "f(zeros, right[:2])"), _ALL, "scipy.linalg"),
    Recipe("jax.scipy.linalg", "eigh_tridiagonal", ("f(right, right[:2], eigvals_only=True)",), ("jit",), "scipy.linalg"),
    Recipe("jax.scipy.linalg", "solve_sylvester", ("f(square, symmetric, square)",), ("jit",), "scipy.linalg"),
    Recipe("jax.scipy.linalg", "expm_frechet", ("f(square, symmetric)",), ("jit",), "scipy.linalg"),
    Recipe("jax.scipy.linalg", "block_diag", ("f(square, rectangle)", "f(right, 2.0)"), ("jit",), "scipy.linalg"),
    Recipe("jax.scipy.linalg", "toeplitz hankel", ("f(right)", "f(right, vector)", "f(integers)", "f(complexes)", "f(square)"), ("jit",), "scipy.linalg"),
    Recipe("jax.scipy.linalg", "circulant companion fiedler fiedler_companion", ("f(coefficients)", "f(right)"), ("jit",), "scipy.linalg"),
    Recipe("jax.scipy.linalg", "hilbert invhilbert pascal invpascal helmert dft hadamard", ("f(4)", "f(8)"), ("jit",), "scipy.linalg"),
    Recipe("jax.scipy.linalg", "convolution_matrix", ("f(right, 4)",), ("jit",), "scipy.linalg"),
    Recipe("jax.scipy.linalg", "leslie", ("f(right, right[:2])",), ("jit",), "scipy.linalg"),
    Recipe("jax.scipy.fft", "dct idct dctn idctn", ("f(rectangle)", "f(rectangle, norm='ortho')", "f(vector)", "f(cube)", "f(halves)"), _ALL, "scipy.fft"),
    Recipe("jax.scipy.signal", "convolve correlate fftconvolve", ("f(vector, right)", "f(vector, right, mode='same')", "f(right, vector, mode='valid')", "f(square, symmetric)", "f(integers, other_integers)", "f(complexes, complexes)", "f(with_nan, right)"), _ALL, "scipy.signal"),
    Recipe("jax.scipy.signal", "convolve2d correlate2d", ("f(rectangle, square)", "f(rectangle, square, mode='same')", "f(square, rectangle, mode='valid')", "f(integer_matrix, integer_matrix)"), _ALL, "scipy.signal"),
    Recipe("jax.scipy.signal", "detrend", ("f(vector)", "f(cube, axis=1)", "f(vector, type='constant')", "f(vector, bp=3)"), _ALL, "scipy.signal"),
    Recipe("jax.scipy.signal", "welch", ("f(many, nperseg=64)",), ("jit",), "scipy.signal"),
    Recipe("jax.scipy.signal", "stft", ("f(many, nperseg=64)",), ("jit",), "scipy.signal"),
    Recipe("jax.scipy.signal", "csd", ("f(many, many, nperseg=64)",), ("jit",), "scipy.signal"),
    Recipe("jax.scipy.integrate", "trapezoid", ("f(vector)", "f(rectangle, axis=0)"), _ALL, "scipy.integrate"),
    Recipe("jax.scipy.ndimage", "map_coordinates", tuple(f"f(rectangle, [0.5 + right, 1.5 - right], order={order}, mode='{mode}', cval=9.0)" for order in (0, 1) for mode in ("constant", "nearest", "wrap", "mirror", "reflect")), _ALL, "scipy.ndimage"),
    Recipe("jax.scipy.cluster.vq", "vq", ("f(rectangle, rectangle[:2])",), ("jit",), "scipy.cluster.vq"),
    Recipe("jax.scipy.sparse.linalg", "cg gmres bicgstab", ("f(symmetric, right)", "f(square, right)"), ("jit",), ""),
    # jax.nn
    Recipe("jax.nn", "relu relu6 sigmoid softplus soft_sign silu log_sigmoid elu celu selu gelu leaky_relu hard_sigmoid hard_silu hard_tanh mish squareplus sparse_plus sparse_sigmoid log1mexp", ("f(float32)", "f(bfloat16)", "f(int32)"), _ELEMENTWISE, "nn"),
    Recipe("jax.nn", "gelu", ("f(float32, approximate=False)", "f(float16, approximate=False)"), _ALL, "nn"),
    Recipe("jax.nn", "softmax log_softmax logsumexp logmeanexp", ("f(vector)", "f(cube, axis=1)", "f(with_nan)", "f(halves)", "f(vector * 1e30)", "f(integers)", "f(vector - float('inf'))"), _ALL, "nn"),
    Recipe("jax.nn", "softmax log_softmax", ("f(vector, where=mask)", "f(empty)"), ("jit",), ""),
    Recipe("jax.nn", "standardize", ("f(vector)", "f(cube, axis=1)", "f(many_halves)", "f(one)", "f(vector * 1e-20)"), _ALL, "nn"),
    Recipe("jax.nn", "one_hot", ("f(places, 3)", "f(small_ints, 4)", "f(vector, 3)"), ("jit",), ""),
    Recipe("jax.nn", "glu", ("f(rectangle)", "f(many[:8])"), _ALL, "nn"),
    Recipe("jax.nn", "dot_product_attention", ("f(image[0][..., None][..., :2], image[0][..., None][..., :2], image[0][..., None][..., :2])",), ("jit",), ""),
    # jax.lax
    Recipe("jax.lax", "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log1p sqrt rsqrt cbrt logistic abs neg sign floor ceil is_finite square reciprocal", ("f(float32)", "f(bfloat16)"), (), "lax"),
    Recipe("jax.lax", "erf erfc erf_inv lgamma digamma bessel_i0e bessel_i1e", ("f(float32)", "f(float64)"), ("grad",), "lax"),
    Recipe("jax.lax", "round", ("f(float32)", "f(float32, jax.lax.RoundingMethod.TO_NEAREST_EVEN)", "f(float16)"), _ALL, ""),
    Recipe("jax.lax", "integer_pow", ("f(float32, 3)", "f(float32, -2)", "f(float32, 0)", "f(int32, 5)"), _ALL, "lax"),
    Recipe("jax.lax", "bitwise_not population_count clz", ("f(int32)", "f(uint8)", "f(uint32)"), (), "lax"),
    Recipe("jax.lax", "add sub mul div rem max min pow atan2 nextafter", _TWO_FLOATS, (), "lax"),
    Recipe("jax.lax", "add sub mul div rem max min", ("f(int32_1, int32_2)", "f(uint8_1, uint8_2)"), (), "lax"),
    Recipe("jax.lax", "eq ne lt le gt ge", ("f(float32_1, float32_2)", "f(int32_1, int32_2)"), (), "lax"),
    Recipe("jax.lax", "igamma igammac random_gamma_grad igamma_grad_a zeta", ("f(positive_1, positive_2)", "f(vector, other_vector)"), (), "lax"),
    Recipe("jax.lax", "polygamma", ("f(positive_1, positive_2)",), ("jit",), ""),
    Recipe("jax.lax", "betainc", ("f(positive_1, positive_2, float32_1[:49] * 0 + 0.3)",), ("jit",), ""),
    Recipe("jax.lax", "shift_left shift_right_arithmetic shift_right_logical", ("f(int32_1, int32_2)", "f(uint8_1, uint8_2)"), (), ""),
    Recipe("jax.lax", "clamp", ("f(-1.0, float32, 1.0)", "f(1.0, float32, -1.0)"), _ALL, ""),
    Recipe("jax.lax", "complex", ("f(float32_1, float32_2)",), (), ""),
    Recipe("jax.lax", "conj real imag", ("f(complex64)",), (), "numpy"),
    Recipe("jax.lax", "convert_element_type", ("f(float32, 'int32')", "f(float32, 'uint8')", "f(float32, 'bfloat16')", "f(float64, 'float32')", "f(float64, 'float16')"), ("jit",), ""),
    Recipe("jax.lax", "bitcast_convert_type", ("f(float32, 'int32')", "f(float32, 'uint8')"), ("jit",), ""),
    Recipe("jax.lax", "reduce_precision", ("f(float32, 5, 10)", "f(float32, 8, 7)", "f(float32, 4, 3)"), ("jit",), ""),
    Recipe("jax.lax", "cumsum cumprod cummax cummin cumlogsumexp", ("f(vector)", "f(cube, axis=1)", "f(with_nan)", "f(vector, reverse=True)", "f(integers)", "f(many)"), _ALL, "lax"),
    Recipe("jax.lax", "argmax argmin", ("f(cube, 1, 'int32')", "f(with_nan, 0, 'int32')", "f(ties, 0, 'int32')"), ("jit",), ""),
    Recipe("jax.lax", "sort", ("f(with_nan)", "f(ties)", "f(cube, dimension=1)", "f((ties, vector), num_keys=2)", "f((ties, integers))"), ("jit",), ""),
    Recipe("jax.lax", "top_k", ("f(vector, 3)", "f(with_nan, 3)", "f(ties, 4)", "f(integers, 2)", "f(cube, 2)"), ("jit",), ""),
    Recipe("jax.lax", "approx_max_k approx_min_k", ("f(vector, 3)", "f(many, 5)"), ("jit",), ""),
    Recipe("jax.lax", "reduce_sum reduce_prod reduce_max reduce_min", ("f(vector, (0,))", "f(with_nan, (0,))", "f(integers, (0,))", "f(many_halves, (0,))", "f(empty, (0,))"), ("jit",), ""),
    Recipe("jax.lax", "reduce_window", ("f(vector, 0.0, jax.lax.add, (3,), (1,), 'SAME')", "f(rectangle, -float('inf'), jax.lax.max, (2, 2), (1, 1), 'VALID')", "f(vector, float('inf'), jax.lax.min, (3,), (2,), 'SAME')"), _ALL, ""),
    Recipe("jax.lax", "dot batch_matmul", ("f(square, symmetric)", "f(integer_matrix[:, :2], integer_matrix[:, :2])", "f(huge_matrix, huge_matrix)"), _ALL, ""),
    Recipe("jax.lax", "dot_general", ("f(batch, batch, (((2,), (1,)), ((0,), (0,))))", "f(halves, halves, (((0,), (0,)), ((), ())), preferred_element_type='float32')", "f(small_bytes, small_bytes, (((0,), (0,)), ((), ())), preferred_element_type='int32')"), ("jit",), ""),
    Recipe("jax.lax", "conv", ("f(image, kernel, (1, 1), 'SAME')", "f(image, kernel, (2, 1), 'VALID')"), _ALL, ""),
    Recipe("jax.lax", "conv_general_dilated", ("f(image, kernel, (1, 1), ((1, 1), (1, 1)), lhs_dilation=(2, 1))", "f(image, kernel, (1, 1), ((2, 1), (0, 3)), rhs_dilation=(1, 2))", "f(image, kernel, (1, 1), ((-1, 1), (0, -1)))"), _ALL, ""),
    Recipe("jax.lax", "conv_transpose", ("f(image, kernel, (2, 2), 'SAME', dimension_numbers=('NCHW', 'OIHW', 'NCHW'))", "f(image, kernel, (2, 1), 'VALID', dimension_numbers=('NCHW', 'OIHW', 'NCHW'), transpose_kernel=True)"), _ALL, ""),
    Recipe("jax.lax", "conv_general_dilated_patches", ("f(image, (2, 2), (1, 1), 'VALID')",), ("jit",), ""),
    Recipe("jax.lax", "pad", ("f(vector, 9.0, ((1, 2, 0),))", "f(vector, 9.0, ((-1, -2, 1),))", "f(rectangle, 0.0, ((0, 1, 1), (-1, 0, 0)))"), _ALL, ""),
    Recipe("jax.lax", "dynamic_slice", ("f(vector, (3,), (4,))", "f(vector, (6,), (4,))", "f(vector, (-2,), (2,))", "f(vector, (-9,), (2,))"), ("jit",), ""),
    Recipe("jax.lax", "dynamic_update_slice", ("f(vector, right, (3,))", "f(vector, right, (6,))", "f(vector, right, (-2,))"), _ALL, ""),
    Recipe("jax.lax", "dynamic_index_in_dim", ("f(vector, 3)", "f(vector, 100)", "f(vector, -1)", "f(vector, -100)"), ("jit",), ""),
    Recipe("jax.lax", "slice_in_dim", ("f(vector, 1, 5)", "f(vector, -3, -1)"), ("jit",), ""),
    Recipe("jax.lax", "associative_scan", ("f(jax.lax.add, vector)", "f(jax.lax.mul, vector, reverse=True)", "f(jax.lax.max, with_nan)"), _ALL, ""),
    Recipe("jax.lax", "rev", ("f(cube, (0, 2))",), ("jit",), ""),
    Recipe("jax.lax.linalg", "cholesky eigh lu qr svd eig schur hessenberg tridiagonal qdwh", ("f(symmetric)", "f(singular)", "f(hermitian)"), ("jit",), ""),
    Recipe("jax.lax.linalg", "triangular_solve", ("f(triangle, square, left_side=True, lower=True)", "f(triangle, square, lower=True)", "f(zeros, zeros + 1)"), _ALL, ""),
    Recipe("jax.lax.linalg", "tridiagonal_solve", ("f(right - right, right + 3, right - right, square)", "f(right, right * 4 + 1, right, square)"), ("jit",), ""),
    Recipe("jax.lax.linalg", "symmetric_product", ("f(square, symmetric)",), ("jit",), ""),
    # jax.random
    *(
        Recipe(
            "jax.random",
            names,
            (f"f(jax.random.PRNGKey(0), {words})", f"f(jax.random.PRNGKey(1), {more})"),
            (),
        )
        for names, words, more in (
            ("uniform normal exponential gumbel laplace logistic cauchy maxwell", "(3,)", "(5,), 'float16'"),
            ("rayleigh", "2.0, (3,)", "0.5, (5,)"),
            ("truncated_normal", "-1.0, 2.0, (3,)", "-1.0, 2.0, (5,), 'bfloat16'"),
            ("bits", "(3,)", "(7,), 'uint8'"),
            ("randint", "(3,), 0, 10", "(7,), 0, 255, 'uint8'"),
            ("bernoulli", "0.3, (4,)", "0.9, (7,)"),
            ("gamma loggamma chisquare t pareto poisson", "2.5, (3,)", "0.1, (7,)"),
            ("beta f", "2.5, 3.0, (3,)", "0.1, 0.2, (5,)"),
            ("binomial", "10.0, 0.3, (3,)", "50.0, 0.6, (5,)"),
            ("dirichlet", "positive[:3]", "positive[:3], (2,)"),
            ("categorical", "vector, shape=(4,)", "rectangle"),
            ("choice", "vector, (3,)", "7, (7,), False"),
            ("permutation", "vector", "7"),
            ("geometric", "0.3, (3,)", "0.01, (5,)"),
            ("lognormal", "0.5, (3,)", "2.0, (5,), 'float16'"),
            ("triangular", "-1.0, 0.5, 2.0, (3,)", "0.0, 0.0, 1.0, (5,)"),
            ("wald", "2.0, (3,)", "0.5, (5,)"),
            ("weibull_min", "2.0, 3.0, (3,)", "0.5, 0.5, (5,)"),
            ("double_sided_maxwell", "1.0, 2.0, (3,)", "0.0, 0.5, (5,)"),
            ("rademacher", "(4,)", "(7,), 'int8'"),
            ("ball", "3, 2.0, (2,)", "2, 1.0, (3,)"),
            ("orthogonal", "3", "2, (2,)"),
            ("generalized_normal", "1.5, (3,)", "0.5, (5,)"),
            ("multivariate_normal", "right, symmetric", "right, symmetric, (2,)"),
            ("split", "3", "5"),
            ("fold_in", "7", "2**31 - 1"),
        )
    ),
    Recipe(
        "jax.random",
        "bits uniform normal exponential",
        ("f(jax.random.key(3, impl='rbg'), shape=(3,))", "f(jax.random.key(3, impl='unsafe_rbg'), shape=(3,))"),
        (),
    ),
    Recipe("jax.random", "uniform", ("f(jax.random.PRNGKey(0), (3,), 'float32', 1.0, 1.0000001)", "f(jax.random.PRNGKey(0), (1003,))", "f(jax.random.PRNGKey(0), (2, 3), 'bfloat16')"), (), ""),
    Recipe("jax.random", "normal", ("f(jax.random.PRNGKey(0), (1003,))", "f(jax.random.PRNGKey(0), (2, 3), 'bfloat16')", "f(jax.random.PRNGKey(0), (3,), 'complex64')"), (), ""),
    Recipe("jax.random", "PRNGKey key", ("f(0)", "f(-1)", "f(2**31 - 1)", "f(2**40)"), (), ""),
    Recipe("jax.nn.initializers", "glorot_normal glorot_uniform he_normal he_uniform lecun_normal lecun_uniform orthogonal normal uniform truncated_normal", ("f()(jax.random.PRNGKey(0), (3, 4))",), (), ""),
    # jax.ops and indexing
    Recipe("jax.ops", "segment_sum segment_prod segment_max segment_min", ("f(vector, segments, 4)", "f(vector, segments)", "f(integers, segments, 4)", "f(with_nan, segments, 4)", "f(vector, segments, 4, mode='clip')", "f(halves, segments, 4)"), ("jit",), ""),
    *(
        Recipe("jax.numpy.ndarray", f"at.{name}", (f"vector.at[places].{name}", f"integers.at[places].{name}", f"vector.at[places].{wrapped}", f"vector.at[places].{clipped}"), _ALL, "")
        for name, wrapped, clipped in (
            ("get()", "get(mode='fill', fill_value=-9)", "get(mode='clip')"),
            *((f"{verb}(2)", f"{verb}(2, mode='drop')", f"{verb}(2, mode='clip')") for verb in ("set", "add", "mul", "min", "max", "power", "divide")),
            ("apply(jax.numpy.sin)", "apply(jax.numpy.sin, mode='drop')", "apply(jax.numpy.sin, mode='clip')"),
        )
    ),
    Recipe("jax.numpy.ndarray", "__getitem__", ("vector[places]", "integers[places]", "bytes[places]", "rectangle[places]", "vector[-100:100]", "rectangle[:, places]", "mask[places]"), _ALL, ""),
)


@cache
def calls() -> tuple[Call, ...]:
    """Return every call, by recipe; each form of a call is one."""
    return tuple({call.key: call for recipe in RECIPES for call in _of(recipe)}.values())


def _of(recipe: Recipe) -> Iterator[Call]:
    for place, name in enumerate(recipe.names.split()):
        function = f"{recipe.home}.{name.partition('(')[0]}"
        for number, words in enumerate(recipe.calls):
            text = re.sub(r"\bf\(", f"{recipe.home}.{name}(", words, count=1)
            inputs = tuple(dict.fromkeys(word.partition(".")[0] for word in _WORDS.findall(words) if word.partition(".")[0] in INPUTS))
            forms = recipe.forms if number == 0 and inputs else ()
            for form in ("eager", *(form for form in forms if place == 0 or forms is _ELEMENTWISE and form == "grad")):
                yield Call(function, text, form, inputs, recipe.reference)
