"""The gradient of a convolution with preferred_element_type of another type raises a TypeError, up to jax 0.9.2

    f = lambda x: jax.lax.conv(x, kernel, (1,), "VALID", preferred_element_type=jnp.float32).sum()
    jax.grad(f)(x)    # x and kernel bfloat16: TypeError: … requires arguments to have the same dtypes, up to 0.9.2

Sums of half precision numbers are best kept in float32, and `preferred_element_type` asks for it. What the gradient
gets is then float32, and is convolved with bfloat16 numbers, which `conv_general_dilated` refuses. The same of
`dot_general` was mended long before (jax#10818); jax#31592 has convolutions, and jax#36734, in 0.10.0, casts. Forward
mode is right on every release. A wider type that the two inputs are cast to before is, too.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def gradients() -> tuple[str, str]:
    """Are the gradients by input and kernel of a bfloat16 convolution, kept in float32, what they should be?"""
    import jax
    import jax.numpy as jnp

    def convolved(x: jax.Array, kernel: jax.Array) -> jax.Array:
        return jax.lax.conv(x, kernel, (1,), "VALID", preferred_element_type=jnp.float32).sum()

    x, kernel = jnp.ones((1, 1, 5), jnp.bfloat16), jnp.ones((1, 1, 2), jnp.bfloat16)
    by_x, by_kernel = jax.grad(convolved, (0, 1))(x, kernel)
    found = [*by_x.ravel().tolist(), *by_kernel.ravel().tolist()]
    return compare(found, [1.0, 2.0, 2.0, 2.0, 1.0, 4.0, 4.0])


def of_one_dtype() -> None:
    """Those of a convolution in one type, and forward mode of this one."""
    import jax
    import jax.numpy as jnp

    x, kernel = jnp.ones((1, 1, 5), jnp.bfloat16), jnp.ones((1, 1, 2), jnp.bfloat16)
    plain = jax.grad(lambda x: jax.lax.conv(x, kernel, (1,), "VALID").sum())(x)
    assert plain.ravel().tolist() == [1.0, 2.0, 2.0, 2.0, 1.0]
    kept = jax.jvp(lambda x: jax.lax.conv(x, kernel, (1,), "VALID", preferred_element_type=jnp.float32), (x,), (x,))[1]
    assert kept.ravel().tolist() == [2.0] * 4


def cast_before() -> None:
    """Input and kernel cast to float32 before."""
    import jax
    import jax.numpy as jnp

    def convolved(x: jax.Array, kernel: jax.Array) -> jax.Array:
        return jax.lax.conv(x.astype(jnp.float32), kernel.astype(jnp.float32), (1,), "VALID").sum()

    x, kernel = jnp.ones((1, 1, 5), jnp.bfloat16), jnp.ones((1, 1, 2), jnp.bfloat16)
    by_x, by_kernel = jax.grad(convolved, (0, 1))(x, kernel)
    assert by_x.ravel().tolist() == [1.0, 2.0, 2.0, 2.0, 1.0]
    assert by_kernel.ravel().tolist() == [4.0, 4.0]


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="jax#31592", fix="jax#36734"),
    touches=("jax.lax.conv_general_dilated(preferred_element_type=)", "jax.lax.conv(preferred_element_type=)"),
    control=of_one_dtype,
    rules=(Rule("refused", "jax<0.10.0"), Rule("agrees", "", "jax#36734")),
    workaround=Workaround("Cast both before, and leave preferred_element_type out.", cast_before),
    signatures={"refused": Signature("TypeError", "requires arguments to have the same dtypes", everyday=True)},
    cases=(Case(gradients),),
)
