"""UnsafeBrownianPath in float64 gives adjacent steps the same increment

The key of an increment is made of the step's two ends, rounded to float32 and read as int32 (diffrax#733). Steps whose
ends float32 cannot tell apart get one key, and the same noise. An Euler solve repeats it too (`solve`), and the
`variance` of the path becomes too large. diffrax#734 makes the key of all bits of the float64.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def evaluate() -> tuple[str, str]:
    """Does UnsafeBrownianPath.evaluate give eight neighbouring steps distinct increments?"""
    from itertools import pairwise

    import diffrax
    import jax
    import jax.numpy as jnp

    area = {"levy_area": diffrax.BrownianIncrement} if hasattr(diffrax, "BrownianIncrement") else {}
    path, ts = diffrax.UnsafeBrownianPath((), key=jax.random.PRNGKey(0), **area), 4096 + 1e-4 * jnp.arange(9)
    increments = [float(path.evaluate(*ends)) for ends in pairwise(ts)]
    behaviour = "distinct" if len(set(increments)) == 8 else "repeated"
    return behaviour, f"{len(set(increments))} distinct of 8: {[round(each, 5) for each in increments]}"


def control_keys() -> None:
    """In plain JAX, with a key for each step, the increments are distinct and have the expected variance."""
    import jax
    import jax.numpy as jnp

    keys = jax.random.split(jax.random.PRNGKey(0), 8)
    increments = jax.vmap(lambda key: jax.random.normal(key, (500,)))(keys) / 32.0
    assert len(set(increments[:, 0].tolist())) == 8
    assert abs(jnp.var(increments) * 1024 - 1) < 0.2


def tree_of_fine_steps() -> None:
    """A VirtualBrownianTree gives eight neighbouring steps distinct increments."""
    from itertools import pairwise

    import diffrax
    import jax
    import jax.numpy as jnp

    ts = 86400 + jnp.arange(9) / 1024
    area = {"levy_area": diffrax.BrownianIncrement} if hasattr(diffrax, "BrownianIncrement") else {}
    tree = diffrax.VirtualBrownianTree(86400.0, 86401.0, tol=1e-5, shape=(), key=jax.random.PRNGKey(0), **area)
    assert len({float(tree.evaluate(*ends)) for ends in pairwise(ts)}) == 8


def tree_of_short_steps() -> None:
    """At four other times, a tree with tol = h / 2 has distinct increments, and each has the variance h."""
    import diffrax
    import jax
    import jax.numpy as jnp
    import numpy as np

    area = {"levy_area": diffrax.BrownianIncrement} if hasattr(diffrax, "BrownianIncrement") else {}

    def increments(key: Any, begin: Any, h: Any) -> Any:
        ts = begin + h * jnp.arange(9)
        tree = diffrax.VirtualBrownianTree(t0=ts[0], t1=ts[-1], tol=h / 2, shape=(2, 3), key=key, **area)
        return jax.vmap(tree.evaluate)(ts[:-1], ts[1:])

    many = jax.jit(jax.vmap(increments, (0, None, None)))
    for begin, h in ((4096.0, 1e-4), (1000.0, 1e-5), (10.0, 1e-7), (0.0, 1 / 1024)):
        drawn = many(jax.random.split(jax.random.PRNGKey(1), 500), begin, h)
        assert drawn.shape == (500, 8, 2, 3)
        assert len(np.unique(drawn[0])) == 48
        np.testing.assert_allclose(np.var(drawn, axis=(0, 2, 3)) / h, np.ones(8), atol=0.15)
        np.testing.assert_allclose(np.var(drawn.sum(1)) / (8 * h), 1.0, atol=0.15)


def solve() -> tuple[str, str]:
    """Does an Euler solve of dy = dW take distinct increments from diffrax.UnsafeBrownianPath?"""
    import diffrax
    import jax
    import numpy as np

    area = {"levy_area": diffrax.BrownianIncrement} if hasattr(diffrax, "BrownianIncrement") else {}
    path, step = diffrax.UnsafeBrownianPath((), key=jax.random.PRNGKey(0), **area), 1 / 1024
    solution = diffrax.diffeqsolve(
        diffrax.ControlTerm(lambda t, y, args: 1.0, path),
        diffrax.Euler(),
        *(86400.0, 86400.0 + 8 * step, step, 0.0),
        saveat=diffrax.SaveAt(t0=True, steps=True),
        max_steps=8,
        adjoint=diffrax.DirectAdjoint(),
    )
    increments = np.round(np.diff(np.asarray(solution.ys)), 9)
    behaviour = "distinct" if len(set(increments)) == len(increments) == 8 else "repeated"
    return behaviour, f"{len(set(increments))} distinct of {len(increments)}: {increments.round(5).tolist()}"


def variance() -> tuple[str, str]:
    """Does the variance of a diffrax.UnsafeBrownianPath after eight steps equal the time that they take?"""
    import diffrax
    import jax
    import jax.numpy as jnp

    area = {"levy_area": diffrax.BrownianIncrement} if hasattr(diffrax, "BrownianIncrement") else {}
    ts = 86400 + jnp.arange(9) / 1024

    def end(key: jax.Array) -> jax.Array:
        path = diffrax.UnsafeBrownianPath((), key=key, **area)
        return jax.vmap(path.evaluate)(ts[:-1], ts[1:]).sum()

    ends = jax.jit(jax.vmap(end))(jax.random.split(jax.random.PRNGKey(0), 4000))
    seen, evidence = compare(jnp.var(ends) / (ts[8] - ts[0]), 1.0, rtol=0.2)
    return {"agrees": "distinct", "differs": "repeated"}[seen], f"variance by time: {evidence}"


_IN_X64 = ("diffrax.UnsafeBrownianPath if uses('jax_enable_x64')",)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="diffrax#733", fix="diffrax#734"),
    touches=("diffrax.UnsafeBrownianPath",),
    control=control_keys,
    behaviours={"distinct": "clear", "repeated": "affected"},
    rules=(Rule("repeated", "", "the key is cast to int32 (diffrax#733)"),),
    workaround=Workaround(
        "Use a VirtualBrownianTree with a tol below the length of the steps.",
        tree_of_fine_steps,
        elsewhere=tree_of_short_steps,
    ),
    needs=("jax", "equinox", "diffrax"),
    x64=True,
    cases=(
        Case(evaluate, touches=_IN_X64),
        Case(solve, waits_for=("stack-smoke/train-and-solve",), touches=_IN_X64),
        Case(variance, touches=_IN_X64),
    ),
)
