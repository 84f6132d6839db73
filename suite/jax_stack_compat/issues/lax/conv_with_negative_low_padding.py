"""A float32 convolution with a negative low padding reads memory outside the image on a CPU

    image = jnp.arange(1.0, 65.0).reshape(2, 2, 2, 8)    # two images of 2 by 2, with 8 channels
    kernel = jnp.eye(8).reshape(1, 1, 8, 8)              # copies each channel
    jax.lax.conv_general_dilated(image, kernel, (1, 1), ((0, 0), (-1, 1)), dimension_numbers=("NHWC", "HWIO", "NHWC"))
    # the last column is of the next row up to jaxlib 0.11.2, should be 0

A negative padding crops: here it removes the first column, and a column of zeros follows the last. Eigen's convolution
in XLA takes a negative low padding for none. It then reads on: the next row, the next image, and after the last image
memory outside the array. openxla/xla#48713 reports it; integers are right (control `integers_and_high_sides`).
openxla/xla#48748 has the change.

Seen in these runs:

- jax 0.12.0 with jaxlib 0.11.2 was wrong, and with jaxlib 0.12.0 not: the cause is in jaxlib.
- A kernel of 3 by 3 was wrong with one channel, and one of 1 by 1 with 8 channels, but not with 1 or 4.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare, members


def float32() -> tuple[str, str]:
    """Is the column behind the last 0, in the first of two images?"""
    import jax
    import jax.numpy as jnp

    image, kernel = jnp.arange(1.0, 65.0).reshape(2, 2, 2, 8), jnp.eye(8).reshape(1, 1, 8, 8)
    layout, crop = ("NHWC", "HWIO", "NHWC"), ((0, 0), (-1, 1))
    got = jax.lax.conv_general_dilated(image, kernel, (1, 1), crop, dimension_numbers=layout)
    return compare(got[0, :, :, 0], [[9.0, 0.0], [25.0, 0.0]])


def integers_and_high_sides() -> None:
    """Integers are right, and so are floats that are cropped at the end, or padded at the start."""
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
    """The image cropped by indexing, eager and jitted."""
    import jax
    import jax.numpy as jnp

    def cropped(image: jax.Array, kernel: jax.Array) -> jax.Array:
        layout = ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(image[:, :, 1:], kernel, (1, 1), ((0, 0), (0, 1)), dimension_numbers=layout)

    image, kernel = jnp.arange(1.0, 65.0).reshape(2, 2, 2, 8), jnp.eye(8).reshape(1, 1, 8, 8)
    for convolve in (cropped, jax.jit(cropped)):
        assert convolve(image, kernel)[0, :, :, 0].tolist() == [[9.0, 0.0], [25.0, 0.0]]


_NAMES = "conv_general_dilated conv_with_general_padding conv_general_dilated_patches"
_CROPS = "(lhs, rhs, window_strides, padding) if type(padding) in ('list', 'tuple') and min(min(padding)) < 0"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="xla#48713", attempt="xla#48748"),
    control=integers_and_high_sides,
    rules=(Rule("differs", "jaxlib<0.12.0"), Rule("agrees", "", "openxla/xla#48748 has the change")),
    workaround=Workaround("Crop by indexing, and pad with numbers from 0 on.", slice_first),
    cases=(Case(float32, touches=members("jax.lax", _NAMES, _CROPS)),),
)
