"""The gradient of logsumexp by its weights is 0 where a weight is 0, and NaN where a mask leaves out large entries

    b, mask = jnp.array([2.0, 0.0, 5.0]), jnp.array([True, True, False])
    jax.grad(lambda b: logsumexp(jnp.zeros(3), b=b))(b)                   # 0 in the middle, should be 1/7 everywhere
    jax.grad(logsumexp)(jnp.array([0.0, 0.0, 100.0]), where=mask)         # NaN up to jax 0.4.38; 0.5, 0.5, 0

log(sum(b exp(a))) has the derivative exp(a_i) / sum by b_i, whatever b_i is. Where b_i is 0, `logsumexp` puts -inf for
a_i, for the sake of infinite a_i, and the exponential of that is what is differentiated: a weight that is 0 stays 0 in
gradient descent. jax#22398 has it. jax#22836 of August 2024 mended it and was reverted, and so was a second attempt a
week later (6fc57c0eb6, 1516d59744), between two releases: none has ever had either. jax#37633 met it once more and was
closed as a duplicate; jax#37729 is open. It was wrong on every release run.

The mask `where` came with 0.4.27, and with it the NaN of an exponential that overflows in the branch not taken; in
0.5.0 jax#25791 mended that.

Seen in these runs: weights of True and False, `b=mask`, were right for large entries on every release run, the older
too.
"""

from __future__ import annotations

from jax_stack_compat.cell import GRADIENTS, Case, Issue, Rule, Signature, Upstream, Workaround, compare, members


def zero_weight() -> tuple[str, str]:
    """Is the gradient by b of logsumexp(0, b=b) 1 / sum(b), where one b is 0?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    b = jnp.array([2.0, 0.0, 5.0])
    got = jax.grad(lambda b: jax.scipy.special.logsumexp(jnp.zeros(3), b=b))(b)
    return compare(got, np.full(3, 1 / 7, np.float32), rtol=1e-5)


def positive_weights() -> None:
    """By weights that are not 0, and by the entries, without a mask."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    b, logsumexp = jnp.array([2.0, 1.0, 4.0]), jax.scipy.special.logsumexp
    np.testing.assert_allclose(jax.grad(lambda b: logsumexp(jnp.zeros(3), b=b))(b), np.full(3, 1 / 7), rtol=1e-5)
    np.testing.assert_allclose(jax.grad(logsumexp)(jnp.zeros(2)), [0.5, 0.5], rtol=1e-5)


def written_out() -> None:
    """The sum written out, round the largest entry."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def logsumexp(a: jax.Array, b: jax.Array) -> jax.Array:
        top = jax.lax.stop_gradient(jnp.max(a))
        return top + jnp.log(jnp.sum(b * jnp.exp(a - top)))

    got = jax.grad(logsumexp, 1)(jnp.zeros(3), jnp.array([2.0, 0.0, 5.0]))
    np.testing.assert_allclose(got, np.full(3, 1 / 7), rtol=1e-5)


def masked() -> tuple[str, str]:
    """Is the gradient of logsumexp(x, where=mask) right, where the entry left out is 100?"""
    import jax
    import jax.numpy as jnp

    x, mask = jnp.array([0.0, 0.0, 100.0]), jnp.array([True, True, False])
    return compare(jax.grad(lambda x: jax.scipy.special.logsumexp(x, where=mask))(x), [0.5, 0.5, 0.0], rtol=1e-5)


def minus_infinity() -> None:
    """-inf in the place of what the mask leaves out."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x, mask = jnp.array([0.0, 0.0, 100.0]), jnp.array([True, True, False])
    got = jax.grad(lambda x: jax.scipy.special.logsumexp(jnp.where(mask, x, -jnp.inf)))(x)
    np.testing.assert_allclose(got, [0.5, 0.5, 0.0], rtol=1e-5)


_LOGSUMEXP = "scipy.special.logsumexp nn.logsumexp"
_BY_WEIGHTS = f"(a, axis, b) if type(b) not in ('NoneType', 'list', 'tuple', 'int', 'float') and {GRADIENTS}"
_BY_MASK = f"(a, axis, b, keepdims, return_sign, where) if where != None and {GRADIENTS}"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#22398 jax#23842 jax#37633", fix="jax#22836 jax#25791", attempt="jax#37729"),
    touches=(*members("jax", _LOGSUMEXP, "(b=)"), *members("jax", _LOGSUMEXP, "(where=)")),
    control=positive_weights,
    cases=(
        Case(
            zero_weight,
            rules=(Rule("differs", "", "jax#22398 is open"),),
            workaround=Workaround(
                "Write it out: top + log(sum(b * exp(a - top))), with top = stop_gradient(max(a)).", written_out
            ),
            touches=members("jax", _LOGSUMEXP, _BY_WEIGHTS),
        ),
        Case(
            masked,
            rules=(
                Rule("absent", "jax<0.4.27", "there is no where"),
                Rule("differs", "jax<0.5"),
                Rule("agrees", "", "jax#25791 (f0392a1535)"),
            ),
            workaround=Workaround("Put -inf there: logsumexp(jnp.where(mask, x, -jnp.inf)).", minus_infinity),
            signatures={"absent": Signature("TypeError", "unexpected keyword argument 'where'")},
            touches=members("jax", _LOGSUMEXP, _BY_MASK),
        ),
    ),
)
