"""The gradient of jnp.pad by its constant_values alone raises a TypeError about None

    jax.grad(lambda c: jnp.pad(jnp.ones(3), 1, constant_values=c).sum())(2.0)   # TypeError; is 2

What is padded with counts once for each place that is filled. The transpose of `lax.pad` takes the sum of everything
less what goes to the operand, and where the operand is not differentiated that is None: the error speaks of None, of
`reduce_sum` or of a JAX type, and nothing of padding. Forward mode is right, and reverse mode is where the operand
depends on what is differentiated.

jax#10927 was another failure of the same transpose, for scalars, mended long since. Learned padding, a mask value for
one, meets this one.

Seen in these runs: the gradients of `lax.pad` by its padding value and of `jnp.pad` by its `constant_values` raise from
0.4.18 on.
"""

from __future__ import annotations

from jax_stack_compat.cell import GRADIENTS, Case, Issue, Rule, Signature, Upstream, Workaround, compare


def constant_values() -> tuple[str, str]:
    """Does grad of jnp.pad by its constant_values give the number of places?"""
    import jax
    import jax.numpy as jnp

    return compare(jax.grad(lambda c: jnp.pad(jnp.ones(3), 1, constant_values=c).sum())(2.0), 2.0)


def forwards() -> None:
    """Forward mode, and an operand that depends on the same input, are right."""
    import jax
    import jax.numpy as jnp

    assert jax.jacfwd(lambda c: jax.lax.pad(jnp.ones(3), c, [(1, 1, 0)]).sum())(2.0) == 2.0
    assert jax.grad(lambda c: jnp.pad(c * jnp.ones(3), 1, constant_values=c).sum())(2.0) == 5.0


def shifted() -> None:
    """The array less the constant, padded with 0, and the constant added again."""
    import jax
    import jax.numpy as jnp

    assert jax.grad(lambda c: (jnp.pad(jnp.ones(3) - c, 1) + c).sum())(2.0) == 2.0


def padding_value() -> tuple[str, str]:
    """Does grad of lax.pad by its padding value?"""
    import jax
    import jax.numpy as jnp

    return compare(jax.grad(lambda c: jax.lax.pad(jnp.ones(3), c, [(1, 1, 0)]).sum())(2.0), 2.0)


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="jax#10927", docs="jax:_autosummary/jax.numpy.pad.html"),
    touches=("jax.numpy.pad(constant_values=)", "jax.lax.pad"),
    control=forwards,
    behaviours={"agrees": "clear", "differs": "different"},
    rules=(Rule("none-type"),),
    workaround=Workaround("Pad with 0 and shift: jnp.pad(x - c, 1) + c.", shifted),
    signatures={"none-type": Signature("TypeError", "NoneType")},
    cases=(
        Case(
            constant_values,
            touches=(
                "jax.numpy.pad(array, pad_width, mode, constant_values) "
                f"if type(constant_values) not in ('bool', 'int', 'float', 'str') and {GRADIENTS}",
            ),
        ),
        Case(
            padding_value,
            touches=(
                "jax.lax.pad(operand, padding_value) "
                f"if type(padding_value) not in ('bool', 'int', 'float', 'str') and {GRADIENTS}",
            ),
        ),
    ),
)
