"""Gradients of convolutions with a wider preferred_element_type raise

The transpose rules convolved a cotangent of the wider type with an input of the other type, which
`lax.conv_general_dilated` refuses. jax#36734 casts the input to the wider type, and the gradient back. Forward mode
needs no cast (`of_one_dtype`).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import GRADIENTS, Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround, compare


def gradients() -> tuple[str, str]:
    """Does jax.grad differentiate lax.conv of bfloat16 with preferred_element_type=float32?"""
    import jax
    import jax.numpy as jnp

    def convolved(x: jax.Array, kernel: jax.Array) -> jax.Array:
        return jax.lax.conv(x, kernel, (1,), "VALID", preferred_element_type=jnp.float32).sum()

    x, kernel = jnp.ones((1, 1, 5), jnp.bfloat16), jnp.ones((1, 1, 2), jnp.bfloat16)
    by_x, by_kernel = jax.grad(convolved, (0, 1))(x, kernel)
    found = [*by_x.ravel().tolist(), *by_kernel.ravel().tolist()]
    return compare(found, [1.0, 2.0, 2.0, 2.0, 1.0, 4.0, 4.0])


def of_one_dtype() -> None:
    """A convolution in one dtype has the expected gradient; with a wider result, forward mode is as expected."""
    import jax
    import jax.numpy as jnp

    x, kernel = jnp.ones((1, 1, 5), jnp.bfloat16), jnp.ones((1, 1, 2), jnp.bfloat16)
    plain = jax.grad(lambda x: jax.lax.conv(x, kernel, (1,), "VALID").sum())(x)
    assert plain.ravel().tolist() == [1.0, 2.0, 2.0, 2.0, 1.0]
    kept = jax.jvp(lambda x: jax.lax.conv(x, kernel, (1,), "VALID", preferred_element_type=jnp.float32), (x,), (x,))[1]
    assert kept.ravel().tolist() == [2.0] * 4


def cast_before() -> None:
    """If input and kernel are cast to float32 first, the gradients are as expected."""
    import jax
    import jax.numpy as jnp

    def convolved(x: jax.Array, kernel: jax.Array) -> jax.Array:
        return jax.lax.conv(x.astype(jnp.float32), kernel.astype(jnp.float32), (1,), "VALID").sum()

    x, kernel = jnp.ones((1, 1, 5), jnp.bfloat16), jnp.ones((1, 1, 2), jnp.bfloat16)
    by_x, by_kernel = jax.grad(convolved, (0, 1))(x, kernel)
    assert by_x.ravel().tolist() == [1.0, 2.0, 2.0, 2.0, 1.0]
    assert by_kernel.ravel().tolist() == [4.0, 4.0]


def gradients_of_cast(x: Any) -> Any:
    """Differentiate a convolution in float32 with the kernel [2, 1]."""
    import jax
    import jax.numpy as jnp

    def convolved(x: Any, kernel: Any) -> Any:
        return jax.lax.conv(x.astype(jnp.float32), kernel.astype(jnp.float32), (1,), "SAME").sum()

    by_x, by_kernel = jax.grad(convolved, (0, 1))(x.reshape(1, 1, -1), jnp.array([[[2, 1]]], x.dtype))
    return jnp.concatenate([by_x.ravel(), by_kernel.ravel()])


def numpy_gradients(x: Any) -> Any:
    """Return the gradients in closed form."""
    return [2] + [3] * (x.size - 1) + [x.sum(), x.ravel()[1:].sum()]


_FIRST = "lhs, rhs, window_strides, padding, "
_DILATED = f"{_FIRST}lhs_dilation, rhs_dilation, "
_WIDER = f"preferred_element_type) if preferred_element_type != None and {GRADIENTS}"

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="jax#31592", fix="jax#36734"),
    touches=(
        f"jax.lax.conv({_FIRST}precision, {_WIDER}",
        f"jax.lax.conv_with_general_padding({_DILATED}precision, {_WIDER}",
        f"jax.lax.conv_general_dilated({_DILATED}dimension_numbers, groups, batches, precision, {_WIDER}",
        f"jax.lax.conv_general_dilated_patches({_DILATED}dimension_numbers, precision, {_WIDER}",
        f"jax.lax.conv_transpose({_FIRST}rhs_dilation, dimension_numbers, transpose_kernel, precision, {_WIDER}",
        *(f"jax.numpy.{each}(a, v, mode, precision, {_WIDER}" for each in ("convolve", "correlate")),
    ),
    control=of_one_dtype,
    rules=(Rule("refused", "jax<0.10.0"), Rule("agrees", "", "jax#36734 (585f9f2b8a)")),
    workaround=Workaround(
        "Cast input and kernel to the wider type first, which takes more memory.",
        cast_before,
        elsewhere=Elsewhere(
            gradients_of_cast,
            numpy_gradients,
            ("float16 vector", "float32 matrix", "float16 one", "zero float16 square"),
        ),
    ),
    signatures={"refused": Signature("TypeError", "requires arguments to have the same dtypes", everyday=True)},
    cases=(Case(gradients),),
)
