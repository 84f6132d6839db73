"""Float convolutions padded like (-1, 1) read past the edge on a CPU

A negative low padding crops, and a high padding should add zeros. If it added no more than was cropped, XLA read the
entries that follow in memory: the next row, the next image or, after the last image, memory outside the array
(xla#48713). XLA's convolution by Eigen looked at the low paddings alone before it skipped padding; xla#48748 would
correct that check.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare, members


def float32() -> tuple[str, str]:
    """Does lax.conv_general_dilated with the padding (-1, 1) add a column of zeros to two images?"""
    import jax
    import jax.numpy as jnp

    image, kernel = jnp.arange(1.0, 65.0).reshape(2, 2, 2, 8), jnp.eye(8).reshape(1, 1, 8, 8)
    layout, crop = ("NHWC", "HWIO", "NHWC"), ((0, 0), (-1, 1))
    got = jax.lax.conv_general_dilated(image, kernel, (1, 1), crop, dimension_numbers=layout)
    return compare(got[0, :, :, 0], [[9.0, 0.0], [25.0, 0.0]])


def integers_and_high_sides() -> None:
    """Integers with the padding (-1, 1), and floats with (-1, 0) and (1, -1), give the expected columns."""
    import jax
    import jax.numpy as jnp

    image, kernel = jnp.arange(1.0, 65.0).reshape(2, 2, 2, 8), jnp.eye(8).reshape(1, 1, 8, 8)
    layout = ("NHWC", "HWIO", "NHWC")
    for dtype, width in (("int32", (-1, 1)), ("float32", (-1, 0)), ("float32", (1, -1))):
        x, k, padding = image.astype(dtype), kernel.astype(dtype), ((0, 0), width)
        got = jax.lax.conv_general_dilated(x, k, (1, 1), padding, dimension_numbers=layout)
        wanted = {(-1, 1): [[9, 0], [25, 0]], (-1, 0): [[9], [25]], (1, -1): [[0, 1], [0, 17]]}[width]
        assert got[0, :, :, 0].tolist() == wanted


def slice_first() -> None:
    """If indexing crops the images first, the convolution adds zeros, with and without jit."""
    import jax
    import jax.numpy as jnp

    def cropped(image: jax.Array, kernel: jax.Array) -> jax.Array:
        layout = ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(image[:, :, 1:], kernel, (1, 1), ((0, 0), (0, 1)), dimension_numbers=layout)

    image, kernel = jnp.arange(1.0, 65.0).reshape(2, 2, 2, 8), jnp.eye(8).reshape(1, 1, 8, 8)
    for convolve in (cropped, jax.jit(cropped)):
        assert convolve(image, kernel)[0, :, :, 0].tolist() == [[9.0, 0.0], [25.0, 0.0]]


def cropped_sums(x: Any) -> Any:
    """Crop the first column, add zeros after the last, and sum eight channels."""
    import jax
    import jax.numpy as jnp

    image = jnp.repeat(x.reshape(-1, *x.shape[-2:], 1), 8, axis=3)
    kernel, layout = jnp.ones((1, 1, 8, 8), x.dtype), ("NHWC", "HWIO", "NHWC")
    got = jax.lax.conv_general_dilated(image[:, :, 1:], kernel, (1, 1), ((0, 0), (0, 1)), dimension_numbers=layout)
    return got[..., 0]


def numpy_sums(x: Any) -> Any:
    """Crop and pad with NumPy."""
    import numpy as np

    return 8 * np.pad(x.reshape(-1, *x.shape[-2:])[:, :, 1:], ((0, 0), (0, 0), (0, 1)))


# Zeros are read as an image's entries only if the crop is as wide, and if no other low padding is positive.
_CROPS = (
    "(lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation) if type(padding) in ('list', 'tuple') "
    "and abs(min(min(padding))) >= max(min(padding)) > 0 > min(min(padding)) and max(padding) < (1,) "
    "and len(padding) <= 2 and not lhs_dilation != None and not rhs_dilation != None and unseen"
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="xla#48713", attempt="xla#48748"),
    control=integers_and_high_sides,
    rules=(Rule("differs", "jaxlib<0.12.0"), Rule("agrees")),
    workaround=Workaround(
        "Crop less than the whole axis by indexing, and pass non-negative paddings.",
        slice_first,
        elsewhere=Elsewhere(
            cropped_sums,
            numpy_sums,
            ("float32 matrix", "float16 square", "float32 batch", "int32 batch", "complex64 batch"),
        ),
    ),
    cases=(Case(float32, touches=members("jax.lax", "conv_general_dilated conv_with_general_padding", _CROPS)),),
)
