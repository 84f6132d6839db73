"""The inputs of the calls, by name: edges of number formats, arrays, matrices. Read by both sides.

Values are lists and a NumPy dtype's name, so that every release of NumPy makes the same bits of them.
"""

from __future__ import annotations

from typing import Any

_INF, _NAN = float("inf"), float("nan")
_COMMON = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, 0.001, 0.1, 0.75, 1.5, 10.0, -10.0, 3.1415927]
_ENDS = [_INF, -_INF, _NAN]
# Zero, one, small, large, the largest, the smallest normal, a subnormal number, and what is no number.
_FLOAT32 = [*_COMMON, 0.9999999, 1.0000001, 1e-7, 88.5, -88.5, 100.0, -100.0, 1e4, 1e10]
_FLOAT32 += [1.1754944e-38, -1.1754944e-38, 1e-40, 3.4028235e38, -3.4028235e38, *_ENDS]
_FLOAT16 = [*_COMMON, 0.9995, 1.001, 11.0, -17.0, 100.0, 6.104e-05, 5.96e-08, 65504.0, -65504.0, *_ENDS]
_BFLOAT16 = [*_COMMON, 0.996, 1.008, 88.5, -88.5, 100.0, 1.1754944e-38, 3.3895314e38, -3.3895314e38, *_ENDS]
_FLOAT64 = [*_COMMON, 1 - 2**-53, 1 + 2**-52, 1e-16, 709.5, -745.0, 1e10, 2.2250738585072014e-308, 1.7e308, *_ENDS]
_COMPLEX = [0j, 1 + 0j, -1 + 0j, 1j, -1j, 0.5 + 0.25j, -2 + 3j, 3 - 4j, -1 - 1j, 1e-3 + 1e-4j, 10 - 5j, 1e10 + 1j]
_INT32 = [0, 1, -1, 2, -2, 3, 7, -7, 100, -100, 2**31 - 1, -(2**31)]
_SMALL = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -7.5, 1e-40, 3e38, _INF, -_INF, _NAN]
_SMALL_INT = [0, 1, -1, 2, 3, -7, 31, 2**31 - 1, -(2**31)]
_PROBABILITIES = [0.0, 1e-7, 0.01, 0.25, 0.5, 0.75, 0.99, 0.9999999, 1.0, -0.1, 1.1, _NAN]
# From 0.05 to 6.5 on both sides, closer near 0.
_LINE = [sign * round(0.05 * 1.17**place, 3) for place in range(32) for sign in (1.0, -1.0)]
_RECT = [[1.0, 2.0, -3.0, 0.5], [4.0, -1.0, 2.5, 0.0], [-2.0, 6.0, 1.5, -0.5]]
_M33 = [[4.0, -2.0, 1.0], [0.5, 3.0, -1.5], [2.0, 1.0, 5.0]]
_S33 = [[4.0, 1.0, -0.5], [1.0, 3.0, 0.25], [-0.5, 0.25, 2.0]]


def _first(values: list[Any]) -> list[Any]:
    return [one for one in values for _ in values]


def _second(values: list[Any]) -> list[Any]:
    return [other for _ in values for other in values]


# name → (dtype, values). `float32_1` and `float32_2` hold all pairs of a few edges.
INPUTS: dict[str, tuple[str, Any]] = {
    "float32": ("float32", _FLOAT32),
    "float16": ("float16", _FLOAT16),
    "bfloat16": ("bfloat16", _BFLOAT16),
    "float64": ("float64", _FLOAT64),
    "complex64": ("complex64", _COMPLEX),
    "int32": ("int32", _INT32),
    "int64": ("int64", [*_INT32, 2**63 - 1, -(2**63)]),
    "int8": ("int8", [0, 1, -1, 2, 7, -7, 127, -128]),
    "uint8": ("uint8", [0, 1, 2, 7, 127, 128, 255]),
    "uint32": ("uint32", [0, 1, 2, 7, 2**31 - 1, 2**31, 2**32 - 1]),
    "booleans": ("bool", [True, False, True, True, False]),
    "line": ("float32", _LINE),
    "line64": ("float64", _LINE),
    "float32_1": ("float32", _first(_SMALL)),
    "float32_2": ("float32", _second(_SMALL)),
    "float16_1": ("float16", _first([0.0, -1.0, 0.5, 300.0, -65504.0, _NAN])),
    "float16_2": ("float16", _second([0.0, -1.0, 0.5, 300.0, -65504.0, _NAN])),
    "bfloat16_1": ("bfloat16", _first([0.0, -1.0, 0.5, 300.0, -3e38, _NAN])),
    "bfloat16_2": ("bfloat16", _second([0.0, -1.0, 0.5, 300.0, -3e38, _NAN])),
    "float64_1": ("float64", _first([0.0, -1.0, 0.5, 300.25, -1e300, _NAN])),
    "float64_2": ("float64", _second([0.0, -1.0, 0.5, 300.25, -1e300, _NAN])),
    "complex64_1": ("complex64", _first([0j, 1 + 0j, 1j, -2 + 3j, 0.5 - 0.25j])),
    "complex64_2": ("complex64", _second([0j, 1 + 0j, 1j, -2 + 3j, 0.5 - 0.25j])),
    "int32_1": ("int32", _first(_SMALL_INT)),
    "int32_2": ("int32", _second(_SMALL_INT)),
    "uint8_1": ("uint8", _first([0, 1, 7, 8, 128, 255])),
    "uint8_2": ("uint8", _second([0, 1, 7, 8, 128, 255])),
    "booleans_1": ("bool", [True, True, False, False]),
    "booleans_2": ("bool", [True, False, True, False]),
    "probabilities": ("float32", _PROBABILITIES),
    "counts": ("float32", [0.0, 1.0, 2.0, 5.0, 10.0, -1.0, 100.0, 1e6, _INF, _NAN]),
    "positive": ("float32", [0.01, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 50.0, 1e3]),
    "positive_1": ("float32", _first([0.0, 0.01, 0.5, 1.0, 2.5, 10.0, 100.0])),
    "positive_2": ("float32", _second([0.0, 0.01, 0.5, 1.0, 2.5, 10.0, 100.0])),
    "unit_1": ("float32", _first([-1.0, -0.75, -0.1, 0.0, 0.5, 0.9, 1.0])),
    "unit_2": ("float32", _second([-1.0, -0.75, -0.1, 0.0, 0.5, 0.9, 1.0])),
    "small_ints": ("int32", [0, 1, 2, 3, 5, 10]),
    "scalar": ("float32", 2.5),
    "empty": ("float32", []),
    "one": ("float32", [1.5]),
    "vector": ("float32", [3.0, 1.0, -2.0, 0.5, 7.0, 1.0, -4.0]),
    "other_vector": ("float32", [1.0, -1.0, 2.0, 0.25, 0.0, 3.0, -2.0]),
    "ties": ("float32", [2.0, -0.0, 1.0, 0.0, 2.0, 1.0, -0.0]),
    "with_nan": ("float32", [1.0, _NAN, -2.0, _INF, 0.0, 3.0, -_INF]),
    "some_nan": ("float32", [[1.0, _NAN, 3.0], [_NAN, _NAN, _NAN], [2.0, 5.0, _NAN]]),
    "sorted": ("float32", [-3.0, -1.0, 0.0, 0.0, 2.0, 5.0]),
    "halves": ("float16", [3.0, 1.0, -2.0, 0.5, 7.0, 1.0, -4.0]),
    "many_halves": ("float16", [1.0 + i % 5 for i in range(40)] * 20),
    "many": ("float32", [((i * 37) % 101 - 50) / 16.0 for i in range(1003)]),
    "integers": ("int32", [5, 3, -2, 3, 0, 7, -2]),
    "other_integers": ("int32", [3, -2, 9, 0]),
    "bytes": ("uint8", [200, 100, 3, 255, 0]),
    "small_bytes": ("int8", [100, 100, -128, 3]),
    "mask": ("bool", [True, False, True, True, False, True, False]),
    "places": ("int32", [0, -1, 2, 7, -8, 100]),
    "segments": ("int32", [0, 2, 2, 1, 5, -1, 0]),
    "complexes": ("complex64", [1 + 2j, -3j, 0.5 + 0j, -1 - 1j, 2 + 0.25j]),
    "complex_ties": ("complex64", [1 + 2j, 1 - 2j, 0j, -1 + 0j, 1 + 1j]),
    "cube": (
        "float32",
        [[[float((i * 7 + j * 5 + k * 3) % 11 - 5) for k in range(4)] for j in range(3)] for i in range(2)],
    ),
    "rectangle": ("float32", _RECT),
    "integer_matrix": ("int32", [[1, -2, 3], [4, 0, 6]]),
    "square": ("float32", _M33),
    "symmetric": ("float32", _S33),
    "singular": ("float32", [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]]),
    "zeros": ("float32", [[0.0, 0.0], [0.0, 0.0]]),
    "tiny_matrix": ("float32", [[each * 1e-30 for each in row] for row in _M33]),
    "huge_matrix": ("float32", [[each * 1e15 for each in row] for row in _M33]),
    "nan_matrix": ("float32", [[1.0, _NAN], [0.0, 2.0]]),
    "batch": ("float32", [_M33, _S33]),
    "no_matrix": ("float32", None),
    "complex_matrix": ("complex64", [[2 + 1j, 1j], [-1j, 3 - 1j]]),
    "hermitian": ("complex64", [[2 + 0j, 1j], [-1j, 3 + 0j]]),
    "square64": ("float64", _M33),
    "triangle": ("float32", [[2.0, 0.0, 0.0], [1.0, 3.0, 0.0], [-1.0, 0.5, 4.0]]),
    "right": ("float32", [1.0, -2.0, 0.5]),
    "image": ("float32", [[[[float((i * 3 + j * 7) % 5 - 2) for j in range(6)] for i in range(5)]]]),
    "kernel": ("float32", [[[[1.0, 0.5, -1.0], [0.25, 2.0, -0.5], [0.0, 1.0, 1.0]]]]),
    "coefficients": ("float32", [1.0, -6.0, 11.0, -6.0]),
    "integer_coefficients": ("int32", [3, 0, -2, 1]),
    "prng_key": ("uint32", [0, 0]),
    # Numbers that need every bit of their format: a product in a smaller one is off.
    "full_matrix": ("float32", [[((i * 31 + j * 17 + 7) % 1009) / 1009 - 0.5 for j in range(20)] for i in range(20)]),
    "full_halves": ("bfloat16", [[((i * 31 + j * 17 + 7) % 1009) / 1009 - 0.5 for j in range(20)] for i in range(20)]),
    "full_matrix64": ("float64", [[((i * 31 + j * 17 + 7) % 1009) / 1009 - 0.5 for j in range(20)] for i in range(20)]),
    "full_vector": ("float32", [((i * 7919) % 10007) / 10007 for i in range(10_000)]),
    "full_image": ("float32", [[[[((i * 13 + j * 7) % 101) / 101 - 0.5 for j in range(12)] for i in range(12)]]]),
    "full_kernel": ("float32", [[[[((i * 5 + j * 3) % 11) / 11 - 0.5 for j in range(3)] for i in range(3)]]]),
}
SHAPES = {"no_matrix": (0, 0)}
