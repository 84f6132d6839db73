"""jax.nn.standardize: NaN for constant input, and numbers a hundred times too large far from zero

    jax.nn.standardize(jnp.full(5, 1000.3))                          # NaN up to jax 0.8.1, should be 0
    jax.nn.standardize(jnp.array([4096.0, 4096.5, 4097.0, 4097.5]))  # [-237, -79, 79, 237] on jax 0.12.0.1 still

It computes the variance as `mean(x**2) - mean(x)**2`. In float32 that is nothing but rounding error as soon as the mean
is some thousand times the standard deviation: sometimes negative, which made a NaN of the square root (jax#30426);
sometimes 0, and then the small `epsilon` is all there is to divide by. c13c96b656, in 0.8.2, cuts the variance off at
0, so there is no NaN any more. jax#37281 is about the same formula: eager and jit differed by 0.003. jax#37358, in
0.10.1, added `algorithm="stable"`, the usual formula, and left "fast" the default, for backward compatibility. Since
then the docstring says that "fast" can cancel.

Seen in these runs:

- Four numbers half a unit apart round 4096 come out as -237 to 237 instead of -1.34 to 1.34, the same eager and under
  jit. No release that was run is right by default; from 0.10.1 on `algorithm="stable"` is.
- The cut-off at 0 makes it worse for whom it helps: where there was a NaN to be seen, there is now such a number.
- It is not rare: of forty constants between 1 and 75000, five of each, about one in three gave NaN.
- A way out on every release: hand it the variance of `jnp.var`, which is right.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def constant() -> tuple[str, str]:
    """Is jax.nn.standardize of constant rows free of NaN?"""
    import jax
    import numpy as np

    rows = np.repeat(10.0 ** (np.arange(40) / 8)[:, None], 5, axis=1).astype(np.float32)
    found = rows[np.isnan(np.asarray(jax.nn.standardize(jax.numpy.asarray(rows)))).any(axis=1), 0]
    if not found.size:
        return "finite", "no NaN for forty constants from 1 to 75000, five of each"
    return "nan", f"NaN for {found.size} of forty constants, five of each, the smallest {found[0]:.6g}"


def near_zero() -> None:
    """The same four numbers, from zero on: the formula is good enough there."""
    import jax
    import numpy as np

    x = np.array([0.0, 0.5, 1.0, 1.5])
    got = jax.nn.standardize(jax.numpy.asarray(x, np.float32))
    np.testing.assert_allclose(got, (x - x.mean()) / np.sqrt(x.var() + 1e-5), rtol=1e-4)


def variance_of_var() -> None:
    """The same rows, and the same four numbers, with the variance that jnp.var computes."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    rows = jnp.asarray(np.repeat(10.0 ** (np.arange(40) / 8)[:, None], 5, axis=1), np.float32)
    assert not jnp.isnan(jax.nn.standardize(rows, variance=jnp.var(rows, -1, keepdims=True))).any()
    x = jnp.array([4096.0, 4096.5, 4097.0, 4097.5])
    got = jax.nn.standardize(x, variance=jnp.var(x, -1, keepdims=True))
    np.testing.assert_allclose(got, [-1.3416193, -0.4472064, 0.4472064, 1.3416193], rtol=1e-3)


def offset() -> tuple[str, str]:
    """Is jax.nn.standardize right for four numbers half a unit apart, round 4096?"""
    import inspect

    import jax
    import numpy as np

    x = np.array([4096.0, 4096.5, 4097.0, 4097.5])
    wanted = (x - x.mean()) / np.sqrt(x.var() + 1e-5)
    seen, detail = compare(jax.nn.standardize(jax.numpy.asarray(x, np.float32)), wanted, rtol=1e-3)
    if seen == "differs" and "algorithm" in inspect.signature(jax.nn.standardize).parameters:
        return "fast-by-default", detail
    return seen, detail


def offset_stable() -> tuple[str, str]:
    """Is it with algorithm="stable"?"""
    import inspect

    import jax
    import numpy as np

    if "algorithm" not in inspect.signature(jax.nn.standardize).parameters:
        return "absent", "there is no algorithm="
    x = np.array([4096.0, 4096.5, 4097.0, 4097.5])
    wanted = (x - x.mean()) / np.sqrt(x.var() + 1e-5)
    return compare(jax.nn.standardize(jax.numpy.asarray(x, np.float32), algorithm="stable"), wanted, rtol=1e-3)


_JNP_VAR = Workaround(
    'From jax 0.10.1 algorithm="stable"; on every release hand it variance=jnp.var(x, -1, keepdims=True).',
    variance_of_var,
)
# The data decide, so a use is possible at most.
_ANY = "uses('jax.nn.standardize')"
_CALL = "jax.nn.standardize(x, axis, mean, variance, epsilon, where, algorithm) if "

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#30426 jax#37281", fix="jax@c13c96b656 jax#37358"),
    control=near_zero,
    cases=(
        Case(
            constant,
            behaviours={"nan": "affected", "finite": "clear"},
            rules=(Rule("nan", "jax<0.8.2"), Rule("finite", "", "c13c96b656 cuts a negative variance off at 0")),
            workaround=_JNP_VAR,
            touches=(f"{_CALL}not given(variance) and {_ANY}",),
        ),
        Case(
            offset,
            behaviours={"fast-by-default": "documented"},
            rules=(Rule("differs", "jax<0.10.1"), Rule("fast-by-default", "", "jax#37358 and its docstring")),
            workaround=_JNP_VAR,
            touches=(f"{_CALL}not given(variance) and not algorithm == 'stable' and {_ANY}",),
        ),
        Case(
            offset_stable,
            rules=(Rule("absent", "jax<0.10.1"), Rule("agrees", "", "jax#37358")),
            touches=(f"{_CALL}algorithm == 'stable'",),
        ),
    ),
)
