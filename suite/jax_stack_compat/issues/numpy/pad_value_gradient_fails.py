"""The gradient of jnp.pad and lax.pad by the padding value alone fails

The transpose of `lax.pad` subtracts the sum of the operand's cotangents from the sum of all cotangents. If the operand
does not depend on the input, its cotangent is None, whose sum raises a TypeError; 2ca7782164 removed the test for None.
`forwards` shows that forward mode returns the derivative, and that reverse mode does if the operand depends on the
input. jax#10927, about scalar operands, was a different fault of this transpose.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import GRADIENTS, Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround, compare


def constant_values() -> tuple[str, str]:
    """Does jax.grad of jnp.pad by its constant_values count the padded elements?"""
    import jax
    import jax.numpy as jnp

    return compare(jax.grad(lambda c: jnp.pad(jnp.ones(3), 1, constant_values=c).sum())(2.0), 2.0)


def forwards() -> None:
    """Forward mode, and an operand that depends on the same input, give the gradient."""
    import jax
    import jax.numpy as jnp

    assert jax.jacfwd(lambda c: jax.lax.pad(jnp.ones(3), c, [(1, 1, 0)]).sum())(2.0) == 2.0
    assert jax.grad(lambda c: jnp.pad(c * jnp.ones(3), 1, constant_values=c).sum())(2.0) == 5.0


def padded_mask() -> None:
    """With jnp.where and a padded mask, the padding value's gradient counts the padded elements, 2 and 4."""
    import jax
    import jax.numpy as jnp

    x, here, widths = jnp.ones(3), jnp.ones(3, bool), [(1, 1, 1)]
    assert jax.grad(lambda c: jnp.where(jnp.pad(here, 1), jnp.pad(x, 1), c).sum())(2.0) == 2.0
    got = jax.grad(lambda c: jnp.where(jax.lax.pad(here, False, widths), jax.lax.pad(x, 0.0, widths), c).sum())(2.0)
    assert got == 4.0


def padded(x: Any, c: Any) -> Any:
    """Pad x by 1, and append the derivative of the padded array's sum by the padding value."""
    import jax
    import jax.numpy as jnp

    mask = jnp.pad(jnp.ones(x.shape, bool), 1)
    filled, transpose = jax.vjp(lambda c: jnp.where(mask, jnp.pad(x, 1), c).astype(x.dtype), c)
    return jnp.append(filled, *transpose(jnp.ones_like(filled)))


def padded_by_numpy(x: Any, c: Any) -> Any:
    """Pad with NumPy, and append the number of padded elements."""
    import numpy as np

    filled = np.pad(x, 1, constant_values=c)
    return np.append(filled, filled.size - x.size)


def padding_value() -> tuple[str, str]:
    """Does jax.grad of lax.pad by its padding value count the padded elements?"""
    import jax
    import jax.numpy as jnp

    return compare(jax.grad(lambda c: jax.lax.pad(jnp.ones(3), c, [(1, 1, 0)]).sum())(2.0), 2.0)


_KNOWN = "'jax.numpy.array', 'jax.numpy.asarray', 'jax.numpy.zeros', 'jax.numpy.zeros_like'"


def _differentiated(value: str) -> str:
    """Return the condition that a padding value is not known, in a project that differentiates backwards."""
    # A negated value is most often -jnp.inf.
    is_known = f"type({value}) in ('bool', 'int', 'float', 'str') or form({value}) in ({_KNOWN}, '-')"
    return f"given({value}) and not ({is_known} or type(min({value})) in ('int', 'float', 'tuple')) and {GRADIENTS}"


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(cause="jax@2ca7782164", discussion="jax#10927"),
    known_by=r"_pad_transpose",
    control=forwards,
    behaviours={"agrees": "clear", "differs": "different"},
    rules=(Rule("none-type", "", "the transpose of lax.pad sums t_operand, which is None (2ca7782164)"),),
    workaround=Workaround(
        "For a scalar c, select with a padded mask: "
        "jnp.where(jnp.pad(jnp.ones(x.shape, bool), 1), jnp.pad(x, 1), c).astype(x.dtype).",
        padded_mask,
        elsewhere=Elsewhere(
            padded,
            padded_by_numpy,
            ("float32 matrix, float32 scalar", "float16 vector, float32 scalar", "float16 empty, float16 scalar"),
        ),
    ),
    signatures={"none-type": Signature("TypeError", "NoneType", everyday=True)},
    cases=(
        Case(
            constant_values,
            touches=(
                f"jax.numpy.pad(array, pad_width, mode, constant_values) if {_differentiated('constant_values')}",
            ),
        ),
        Case(padding_value, touches=(f"jax.lax.pad(operand, padding_value) if {_differentiated('padding_value')}",)),
    ),
)
