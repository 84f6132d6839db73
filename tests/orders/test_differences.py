"""Differences between a device's numbers and the CPU's."""

from typing import Any

import numpy as np
import pytest

from laboratory.cell.numbers.inputs import INPUTS
from laboratory.cell.numbers.recipes import OF_DEVICES, calls
from laboratory.orders.differences import compared, differences

MATMUL = "eager jax.numpy.matmul(full_matrix, full_matrix)"


def returned(value: Any) -> dict[str, Any]:
    """Return the outcome of a call that returns this array of float32."""
    array = np.asarray(value, np.float32)
    return {"values": [["float32", list(array.shape), array.tobytes().hex()]]}


def tensor_float(value: Any) -> Any:
    """Round numbers to the 10 bits that a GPU's matrix unit keeps of a float32."""
    bits = np.asarray(value, np.float32).view(np.uint32)
    return ((bits + 0x1000) & np.uint32(0xFFFFE000)).view(np.float32)


@pytest.fixture
def matrix() -> Any:
    """The matrix of the measured product."""
    return np.asarray(INPUTS["full_matrix"][1], np.float32)


def test_a_product_of_fewer_bits_is_a_difference(matrix: Any) -> None:
    """A product in TensorFloat-32 differs from the CPU's by more than rounding, and is off by the reference."""
    here = returned(tensor_float(matrix) @ tensor_float(matrix))

    (row,) = differences({MATMUL: here}, {MATMUL: returned(matrix @ matrix)})

    assert ("value", "off", "right") == (row.kind, row.device, row.cpu)
    assert "on the CPU" in row.told


def test_another_order_of_a_sum_is_rounding(matrix: Any) -> None:
    """A product that sums in another order differs by rounding, and is right on both sides."""
    here = returned(matrix[:, ::-1] @ matrix[::-1])

    rows = list(differences({MATMUL: here}, {MATMUL: returned(matrix @ matrix)}))

    assert [] == [row for row in rows if row.is_listed]
    assert {"right"} >= {row.device for row in rows}


def test_a_form_that_returns_the_plain_call_s_result_is_compared_as_that(matrix: Any) -> None:
    """A jitted call that is marked as the plain call on one side is compared with what the other side returns."""
    jitted = MATMUL.replace("eager", "jit")
    plain = {MATMUL: returned(matrix @ matrix), jitted: {"same": "eager"}}
    other = {MATMUL: returned(matrix @ matrix), jitted: returned(tensor_float(matrix) @ matrix)}

    assert 2 == compared(other, plain)
    assert ["jit"] == [row.form for row in differences(other, plain) if row.is_listed]


def test_the_inputs_of_products_need_all_their_bits() -> None:
    """Each matrix of the calls for devices changes if it loses the last bits of its numbers."""
    named = {name for call in calls(OF_DEVICES) for name in call.inputs if INPUTS[name][0] == "float32"}

    assert "full_matrix" in named
    for name in named - {"prng_key"}:
        value = np.asarray(INPUTS[name][1], np.float32)
        assert np.mean(tensor_float(value) != value) > 0.7, name
