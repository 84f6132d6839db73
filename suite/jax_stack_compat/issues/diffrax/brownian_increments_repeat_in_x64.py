"""UnsafeBrownianPath in float64 gives neighbouring steps the same increment

    path = diffrax.UnsafeBrownianPath((), key=key)    # JAX_ENABLE_X64=1
    path.evaluate(4096.0, 4096.0001) == path.evaluate(4096.0001, 4096.0002)    # True

You'd expect the increments of a Brownian path over steps that do not overlap to be independent. The key for each is
made of the step's ends, rounded to float32 and then read as an int32; steps that float32 cannot tell apart get one key,
and the same noise. In float32 a step cannot be that small. diffrax#734, which is merged, takes all of the bits.

Seen in these runs:

- A solve goes wrong, and not only `evaluate`. An Euler solve from 86400 on, with steps of 1/1024, has 3 distinct
  increments in 8 steps.
- Noise that repeats adds up: after 8 such steps the variance of the path is 3 times too large.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def evaluate() -> tuple[str, str]:
    """Are the increments of eight neighbouring steps distinct?"""
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
    """The same increments in plain JAX, with a key for each step, are distinct, and of the right variance."""
    import jax
    import jax.numpy as jnp

    keys = jax.random.split(jax.random.PRNGKey(0), 8)
    increments = jax.vmap(lambda key: jax.random.normal(key, (500,)))(keys) / 32.0
    assert len(set(increments[:, 0].tolist())) == 8
    assert abs(jnp.var(increments) * 1024 - 1) < 0.2


def tree_or_other_time() -> None:
    """A VirtualBrownianTree has distinct increments there; so has the unsafe path, in a time that starts at 0."""
    from itertools import pairwise

    import diffrax
    import jax
    import jax.numpy as jnp

    ts = 86400 + jnp.arange(9) / 1024
    area = {"levy_area": diffrax.BrownianIncrement} if hasattr(diffrax, "BrownianIncrement") else {}
    key = jax.random.PRNGKey(0)
    tree = diffrax.VirtualBrownianTree(t0=86400.0, t1=86401.0, tol=1e-5, shape=(), key=key, **area)
    for path, begin in ((tree, 0.0), (diffrax.UnsafeBrownianPath((), key=key, **area), ts[0])):
        increments = {float(path.evaluate(*ends)) for ends in pairwise(ts - begin)}
        assert len(increments) == 8, type(path)


def solve() -> tuple[str, str]:
    """Are those of the steps of an SDE solve, of dy = dW by Euler's method?"""
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
    """Is the variance of the path after eight steps, over 4000 keys, the time that they take?"""
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


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="diffrax#733", fix="diffrax#734"),
    touches=("diffrax.UnsafeBrownianPath",),
    control=control_keys,
    behaviours={"distinct": "clear", "repeated": "affected"},
    rules=(Rule("repeated", "", "5ea5fcb050 is in none"),),
    workaround=Workaround("Use a VirtualBrownianTree, or count the time of the solve from 0.", tree_or_other_time),
    needs=("jax", "equinox", "diffrax"),
    x64=True,
    cases=(Case(evaluate), Case(solve, waits_for=("stack-smoke/train-and-solve",)), Case(variance)),
)
