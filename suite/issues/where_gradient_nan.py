"""The gradient of jnp.where is NaN where the branch that is not taken has none

    jax.grad(lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0))(-1.0)    # NaN, where f is 0 all round

Both branches are computed, and differentiated. The one that is not taken gets the cotangent 0, and 0 times an infinite
derivative is NaN. The FAQ has it, "gradients contain NaN where using where", with the way out: a second `where` inside.
jax#1052 is the thread that people land on. It is reverse mode alone (jax#654): by `jax.jvp` the same function gives 0,
for the tangent of the other branch is never looked at.

Seen in these runs:

- `lax.cond` is right, and stays right when `vmap` makes a select of it: it stops the gradient of the branch that is not
  taken, which is the second `where` by itself. So it is the other way out, for a batch as well.
- A sum with `where=` is the same thing: `jnp.sum(jnp.sqrt(x), where=x > 0)` has a NaN for each x of 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from suite.cell import Case, Issue, Rule, Upstream, Workaround, compare, main
from suite.cell.issue import Meaning


def where() -> tuple[str, str]:
    """Is the gradient of where(x > 0, sqrt(x), 0) at 0, and at -1, 0?"""
    import jax
    import jax.numpy as jnp

    gradient = jax.grad(lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0))
    return compare([gradient(0.0), gradient(-1.0)], [0.0, 0.0])


def cond_under_vmap() -> tuple[str, str]:
    """Is the gradient of a batch through lax.cond 0 where the other branch was not taken?"""
    import jax
    import jax.numpy as jnp

    f = jax.vmap(lambda x: jax.lax.cond(x > 0, jnp.sqrt, jnp.zeros_like, x))
    return compare(jax.grad(lambda x: jnp.sum(f(x)))(jnp.array([0.0, 4.0])), [0.0, 0.25])


def sum_with_where() -> tuple[str, str]:
    """Is the gradient of sum(sqrt(x), where=x > 0) 0 where x is 0?"""
    import jax
    import jax.numpy as jnp

    got = jax.grad(lambda x: jnp.sum(jnp.sqrt(x), where=x > 0))(jnp.array([0.0, 4.0]))
    return compare(got, [0.0, 0.25])


def jvp() -> tuple[str, str]:
    """Is the derivative by jax.jvp of where(x > 0, sqrt(x), 0) at 0 and at -1 0?"""
    import jax
    import jax.numpy as jnp

    def derivative(x: float) -> object:
        return jax.jvp(lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0), (x,), (1.0,))[1]

    return compare([derivative(0.0), derivative(-1.0)], [0.0, 0.0])


def the_branch_taken() -> None:
    """Where the branch is taken the gradient is right, and lax.cond without a batch is right everywhere."""
    import jax
    import jax.numpy as jnp

    assert float(jax.grad(lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0))(4.0)) == 0.25
    assert float(jax.grad(lambda x: jax.lax.cond(x > 0, jnp.sqrt, jnp.zeros_like, x))(0.0)) == 0.0


def where_inside() -> None:
    """What the FAQ says: a where inside, so that no branch is at a point where it has no derivative."""
    import jax
    import jax.numpy as jnp

    def f(x: object) -> object:
        return jnp.where(x > 0, jnp.sqrt(jnp.where(x > 0, x, 1.0)), 0.0)  # type: ignore[operator]

    got = jax.grad(lambda x: jnp.sum(f(x)))(jnp.array([0.0, -1.0, 4.0]))
    assert got.tolist() == [0.0, 0.0, 0.25]


_BEHAVIOURS: Mapping[str, Meaning] = {"differs": "documented", "agrees": "clear"}
_case = partial(
    Case,
    control=the_branch_taken,
    behaviours=_BEHAVIOURS,
    rules=(Rule("differs", "", "run on releases of the line from 0.4.18 to 0.12.0.1; the FAQ has it"),),
    workaround=Workaround("Put a second where inside: sqrt(where(x > 0, x, 1)).", where_inside),
)

_RIGHT = (Rule("agrees", "", "run on releases of the line from 0.4.18 to 0.12.0.1"),)

ISSUE = Issue(
    kind="by-design",
    upstream=(
        Upstream("https://docs.jax.dev/en/latest/faq.html#gradients-contain-nan-where-using-where", "docs"),
        Upstream("jax-ml/jax#1052", "report"),
        Upstream("jax-ml/jax#654", "report"),
        Upstream("jax-ml/jax#347", "report"),
    ),
    touches=("jax.numpy.where", "jax.lax.cond", "jax.lax.select"),
    cases=(
        _case(where),
        _case(sum_with_where),
        _case(cond_under_vmap, rules=_RIGHT),
        _case(jvp, rules=_RIGHT),
    ),
)

if __name__ == "__main__":
    main(ISSUE)
