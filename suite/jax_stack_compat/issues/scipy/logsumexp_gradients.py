"""logsumexp has wrong gradients for weights of 0 and large masked entries

Where `b` is 0, `logsumexp` replaces `a` by -inf, so the derivative by `b` becomes 0 instead of
`exp(a) / sum(b * exp(a))` (jax#22398). jax#22836 and its second version were rolled back before a release; jax#37729 is
open. With `where`, the exponential of a masked entry overflowed, which made the gradient NaN (jax#23842); jax#25791
masks the entries first.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import (
    DERIVATIVES,
    Case,
    Elsewhere,
    Issue,
    Rule,
    Signature,
    Upstream,
    Workaround,
    compare,
    members,
)


def zero_weight() -> tuple[str, str]:
    """If b contains a 0, is 1 / sum(b) the gradient of logsumexp(jnp.zeros(3), b=b) with respect to b?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    b = jnp.array([2.0, 0.0, 5.0])
    got = jax.grad(lambda b: jax.scipy.special.logsumexp(jnp.zeros(3), b=b))(b)
    return compare(got, np.full(3, 1 / 7, np.float32), rtol=1e-5)


def positive_weights() -> None:
    """The gradient by weights that are not 0, and by entries without a mask, agrees with the closed form."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    b, logsumexp = jnp.array([2.0, 1.0, 4.0]), jax.scipy.special.logsumexp
    np.testing.assert_allclose(jax.grad(lambda b: logsumexp(jnp.zeros(3), b=b))(b), np.full(3, 1 / 7), rtol=1e-5)
    np.testing.assert_allclose(jax.grad(logsumexp)(jnp.zeros(2)), [0.5, 0.5], rtol=1e-5)


def written_out() -> None:
    """If the sum is written out, the gradient is 1 / sum(b), and an entry of 1000 with weight 0 does not count."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def logsumexp(a: jax.Array, b: jax.Array) -> jax.Array:
        top = jax.lax.stop_gradient(jnp.max(jnp.where(b != 0, a, -jnp.inf)))
        return top + jnp.log(jnp.sum(b * jnp.exp(jnp.minimum(a - top, 80.0))))

    b = jnp.array([2.0, 0.0, 5.0])
    np.testing.assert_allclose(jax.grad(logsumexp, 1)(jnp.zeros(3), b), np.full(3, 1 / 7), rtol=1e-5)
    np.testing.assert_allclose(logsumexp(jnp.array([0.0, 1000.0, 0.0]), b), np.log(7.0), rtol=1e-5)


def by_weights(a: Any, b: Any) -> Any:
    """Return the gradient of the written-out logsumexp by b, whose first weight is set to 0."""
    import jax
    import jax.numpy as jnp

    def logsumexp(b: jax.Array) -> jax.Array:
        top = jax.lax.stop_gradient(jnp.max(jnp.where(b != 0, a, -jnp.inf)))
        return top + jnp.log(jnp.sum(b * jnp.exp(jnp.minimum(a - top, 80.0))))

    return jax.grad(logsumexp)(b.ravel().at[0].set(0).reshape(b.shape))


def closed_form(a: Any, b: Any) -> Any:
    """Return exp(a) / sum(b * exp(a)), with 0 for the first b."""
    import numpy as np

    b = np.array(b, np.float64)
    b.flat[0] = 0.0
    return np.exp(np.float64(a)) / np.sum(b * np.exp(np.float64(a)))


def masked() -> tuple[str, str]:
    """Does the gradient of logsumexp(x, where=mask) agree with softmax if the masked entry is 100?"""
    import jax
    import jax.numpy as jnp

    x, mask = jnp.array([0.0, 0.0, 100.0]), jnp.array([True, True, False])
    return compare(jax.grad(lambda x: jax.scipy.special.logsumexp(x, where=mask))(x), [0.5, 0.5, 0.0], rtol=1e-5)


def minus_infinity() -> None:
    """With -inf instead of the masked entry, the gradient agrees with softmax."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x, mask = jnp.array([0.0, 0.0, 100.0]), jnp.array([True, True, False])
    got = jax.grad(lambda x: jax.scipy.special.logsumexp(jnp.where(mask, x, -jnp.inf)))(x)
    np.testing.assert_allclose(got, [0.5, 0.5, 0.0], rtol=1e-5)


def by_entries(x: Any) -> Any:
    """Return the gradient of logsumexp at 100 * x, with the entries from 100 on masked."""
    import jax
    import jax.numpy as jnp

    return jax.grad(lambda y: jax.nn.logsumexp(jnp.where(y < 100, y, -jnp.inf)))(100 * x)


def softmax(x: Any) -> Any:
    """Return SciPy's softmax of 100 * x, with the entries from 100 on masked."""
    import numpy as np
    import scipy.special

    y = np.float64(100 * x)
    return scipy.special.softmax(np.where(y < 100, y, -np.inf))


_LOGSUMEXP = "scipy.special.logsumexp nn.logsumexp"
_CONSTANTS = "('compare', 'jax.numpy.ones', 'jax.numpy.ones_like', 'jax.numpy.array', 'jax.numpy.isfinite')"
_BY_WEIGHTS = (
    "(a, axis, b) if seen(given(b)) and type(b) not in ('NoneType', 'list', 'tuple', 'int', 'float') "
    f"and form(b) not in {_CONSTANTS} and {DERIVATIVES}"
)
_BY_MASK = (
    "(a, axis, b, keepdims, return_sign, where) if seen(given(where)) and where != None "
    f"and form(a) != 'jax.numpy.where' and {DERIVATIVES}"
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#22398 jax#23842 jax#37633", fix="jax#25791", attempt="jax#22836 jax#37729"),
    control=positive_weights,
    cases=(
        Case(
            zero_weight,
            rules=(Rule("differs", "", "jax#22398 is open"),),
            workaround=Workaround(
                "For float32 a<=m+80, take m+log(sum(b*exp(a-m))), m being the largest a with b!=0.",
                written_out,
                elsewhere=Elsewhere(
                    by_weights,
                    closed_form,
                    (
                        "float32 vector, unit float32 vector",
                        "float32 matrix, positive float32 matrix",
                        "zero float32 batch, float32 batch",
                        "int32 matrix, unit float32 matrix",
                    ),
                    rtol=1e-2,
                ),
            ),
            touches=members("jax", _LOGSUMEXP, _BY_WEIGHTS),
        ),
        Case(
            masked,
            rules=(
                Rule("absent", "jax<0.4.27", "logsumexp has no argument where"),
                Rule("differs", "jax<0.5"),
                Rule("agrees", "", "jax#25791 (f0392a1535)"),
            ),
            workaround=Workaround(
                "Replace masked entries by -inf: logsumexp(jnp.where(mask, x, -jnp.inf)).",
                minus_infinity,
                elsewhere=Elsewhere(
                    by_entries,
                    softmax,
                    ("float32 matrix", "float32 batch", "unit float32 vector", "zero float32 scalar", "float16 vector"),
                    rtol=1e-3,
                    atol=1e-5,
                ),
            ),
            signatures={"absent": Signature("TypeError", "unexpected keyword argument 'where'")},
            touches=members("jax", _LOGSUMEXP, _BY_MASK),
        ),
    ),
)
