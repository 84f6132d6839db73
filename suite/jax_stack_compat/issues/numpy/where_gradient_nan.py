"""The gradient of jnp.where is NaN where the branch that is not taken has none

    jax.grad(lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0))(-1.0)    # NaN, where f is 0 all round

Both branches are computed, and differentiated. The one that is not taken gets the cotangent 0, and 0 times an infinite
derivative is NaN. The FAQ has it, "gradients contain NaN where using where", with the way out: a second `where` inside.
jax#1052 is the thread that people land on. It is reverse mode alone (jax#654): by `jax.jvp` the same function gives 0,
for the tangent of the other branch is never looked at.

Seen in these runs:

- `lax.cond` is right, and stays right when `vmap` makes a select of it: since jax#5658, of 2021, it stops the gradient
  of the branch that is not taken, which is the second `where` by itself. So it is the other way out, mostly.
- Not in a rule of `custom_jvp`: what vmap makes of a `cond` there has no transpose, and `grad` of it raises (jax#22011,
  jax#39219), from jax 0.4.22 on.
- A sum with `where=` is the same thing: `jnp.sum(jnp.sqrt(x), where=x > 0)` has a NaN for each x of 0.
"""

from __future__ import annotations

from jax_stack_compat.cell import GRADIENTS, MAPS, Case, Issue, Rule, Signature, Upstream, Workaround, compare


def where() -> tuple[str, str]:
    """Is the gradient of where(x > 0, sqrt(x), 0) at 0, and at -1, 0?"""
    import jax
    import jax.numpy as jnp

    gradient = jax.grad(lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0))
    return compare([gradient(0.0), gradient(-1.0)], [0.0, 0.0])


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


def cond_under_vmap() -> tuple[str, str]:
    """Is the gradient of a batch through lax.cond 0 where the other branch was not taken?"""
    import jax
    import jax.numpy as jnp

    f = jax.vmap(lambda x: jax.lax.cond(x > 0, jnp.sqrt, jnp.zeros_like, x))
    return compare(jax.grad(lambda x: jnp.sum(f(x)))(jnp.array([0.0, 4.0])), [0.0, 0.25])


def cond_in_a_rule() -> tuple[str, str]:
    """Is there a gradient of a batch through a rule of custom_jvp that has a lax.cond?"""
    import jax
    import jax.numpy as jnp

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def f(x: jax.Array) -> jax.Array:
        return jnp.where(x > 0, x, 2.0 * x)

    @f.defjvp  # type: ignore[untyped-decorator]
    def rule(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
        (x,), (t,) = primals, tangents
        return f(x), jax.lax.cond(x > 0, lambda: t, lambda: 2.0 * t)

    got = jax.grad(lambda x: jnp.sum(jax.vmap(f)(x)))(jnp.array([-1.0, 4.0]))
    return compare(got, [2.0, 1.0])


def where_in_the_rule() -> None:
    """A where in the rule, and no cond: a tangent is linear in it."""
    import jax
    import jax.numpy as jnp

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def f(x: jax.Array) -> jax.Array:
        return jnp.where(x > 0, x, 2.0 * x)

    @f.defjvp  # type: ignore[untyped-decorator]
    def rule(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
        (x,), (t,) = primals, tangents
        return f(x), jnp.where(x > 0, t, 2.0 * t)

    assert jax.grad(lambda x: jnp.sum(jax.vmap(f)(x)))(jnp.array([-1.0, 4.0])).tolist() == [2.0, 1.0]


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


_RIGHT = (Rule("agrees"),)

ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(
        report="jax#1052 jax#654 jax#347 jax#22011 jax#39219",
        change="jax#5658",
        docs="jax:faq.html#gradients-contain-nan-where-using-where",
    ),
    control=the_branch_taken,
    rules=(Rule("differs", "", "the FAQ has it"),),
    workaround=Workaround("Put a second where inside: sqrt(where(x > 0, x, 1)).", where_inside),
    cases=(
        Case(where, touches=(f"jax.numpy.where(condition, x) if given(x) and {GRADIENTS}",)),
        Case(
            sum_with_where,
            touches=(f"jax.numpy.sum(a, axis, dtype, out, keepdims, initial, where) if given(where) and {GRADIENTS}",),
        ),
        Case(cond_under_vmap, rules=_RIGHT, touches=(f"jax.lax.cond if {MAPS} and {GRADIENTS}",)),
        Case(
            jvp,
            rules=_RIGHT,
            touches=("jax.numpy.where(condition, x) if given(x) and uses('jax.jvp', 'jax.jacfwd', 'jax.linearize')",),
        ),
        Case(
            cond_in_a_rule,
            behaviours={"no-transpose": "affected", "agrees": "clear", "differs": "different"},
            rules=(Rule("no-transpose", "", "jax#39219"),),
            workaround=Workaround("Take a where in the rule: both branches are linear there.", where_in_the_rule),
            signatures={"no-transpose": Signature("NotImplementedError", "for 'stop_gradient' not implemented")},
            touches=(f"jax.custom_jvp if uses('jax.lax.cond') and {MAPS} and {GRADIENTS}",),
        ),
    ),
)
