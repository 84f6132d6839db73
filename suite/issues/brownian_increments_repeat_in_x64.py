"""UnsafeBrownianPath in float64 gives neighbouring steps the same increment

    path = diffrax.UnsafeBrownianPath((), key=key)    # JAX_ENABLE_X64=1
    path.evaluate(4096.0, 4096.0001) == path.evaluate(4096.0001, 4096.0002)    # True

You'd expect the increments of a Brownian path over steps that do not overlap to be independent. The key for each is
made of the step's ends, rounded to float32 and then read as an int32; steps that float32 cannot tell apart get one key,
and the same noise. In float32 a step cannot be that small. diffrax#734, of February 2026, takes all of the bits,
a week after 0.7.2, the newest release run here: no release is right, and the fix is merged. In no thread:

- It is a solve that goes wrong, not `evaluate` alone: an Euler solve over a day's seconds, at 86400 and with steps of
  1/1024, has 3 distinct increments in 8 steps.
- How wrong: noise that repeats adds up. The variance of the path is 3 times too large after these 8 steps.
"""

from __future__ import annotations

from suite.cell import Case, Issue, Rule, Upstream, Workaround, compare, main


def evaluate() -> tuple[str, str]:
    """Are the increments of eight neighbouring steps distinct?"""
    from itertools import pairwise

    import diffrax
    import jax
    import jax.numpy as jnp

    path, ts = diffrax.UnsafeBrownianPath((), key=jax.random.PRNGKey(0)), jnp.array([4096 + 1e-4 * n for n in range(9)])
    increments = [float(path.evaluate(*ends)) for ends in pairwise(ts)]
    behaviour = "distinct" if len(set(increments)) == 8 else "repeated"
    return behaviour, f"{len(set(increments))} distinct of 8: {[round(each, 5) for each in increments]}"


def solve() -> tuple[str, str]:
    """Are those of the steps of an SDE solve, of dy = dW by Euler's method?"""
    import diffrax
    import jax
    import numpy as np

    path, step = diffrax.UnsafeBrownianPath((), key=jax.random.PRNGKey(0)), 1 / 1024
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

    ts = 86400 + jnp.arange(9) / 1024

    def end(key: jax.Array) -> jax.Array:
        path = diffrax.UnsafeBrownianPath((), key=key)
        return jax.vmap(path.evaluate)(ts[:-1], ts[1:]).sum()

    ends = jax.jit(jax.vmap(end))(jax.random.split(jax.random.PRNGKey(0), 4000))
    seen, evidence = compare(jnp.var(ends) / (ts[8] - ts[0]), 1.0, rtol=0.2)
    return {"agrees": "distinct", "differs": "repeated"}[seen], f"variance by time: {evidence}"


def control_near_zero() -> None:
    """Near t = 0, where float32 tells the steps apart, the increments are distinct, each of the right variance."""
    from itertools import pairwise

    import diffrax
    import jax
    import jax.numpy as jnp

    path, ts = diffrax.UnsafeBrownianPath((500,), key=jax.random.PRNGKey(0)), jnp.arange(9) / 1024
    increments = [path.evaluate(*ends) for ends in pairwise(ts)]
    assert len({float(each[0]) for each in increments}) == 8
    assert abs(jnp.var(jnp.stack(increments)) * 1024 - 1) < 0.2


def tree_or_other_time() -> None:
    """A VirtualBrownianTree has distinct increments there; so has the unsafe path, in a time that starts at 0."""
    from itertools import pairwise

    import diffrax
    import jax
    import jax.numpy as jnp

    ts = 86400 + jnp.arange(9) / 1024
    key = jax.random.PRNGKey(0)
    tree = diffrax.VirtualBrownianTree(t0=86400.0, t1=86401.0, tol=1e-5, shape=(), key=key)
    for path, begin in ((tree, 0.0), (diffrax.UnsafeBrownianPath((), key=key), ts[0])):
        increments = {float(path.evaluate(*ends)) for ends in pairwise(ts - begin)}
        assert len(increments) == 8, type(path)


ISSUE = Issue(
    kind="silent-wrong",
    upstream=(Upstream("patrick-kidger/diffrax#733", "report"), Upstream("patrick-kidger/diffrax#734", "fix")),
    touches=("diffrax.UnsafeBrownianPath", "diffrax.ControlTerm"),
    cases=tuple(
        Case(
            reproducer,
            control_near_zero,
            {"distinct": "clear", "repeated": "affected"},
            (Rule("repeated", "", "run on the line, diffrax 0.5.0 to 0.7.2; no release has diffrax#734 (5ea5fcb050)"),),
            Workaround("Use a VirtualBrownianTree, or count the time of the solve from 0.", tree_or_other_time),
            needs=("jax", "equinox", "diffrax"),
            x64=True,
        )
        for reproducer in (evaluate, solve, variance)
    ),
)

if __name__ == "__main__":
    main(ISSUE)
