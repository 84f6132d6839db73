"""diffeqsolve with t0 equal to t1 saves inf for SaveAt(ts=...)

    diffrax.diffeqsolve(term, diffrax.Tsit5(), 1.0, 1.0, 0.1, y0, saveat=diffrax.SaveAt(ts=[1.0])).ys    # [inf]

You'd expect `y0`. With nothing to solve, the loop that saves is not entered up to diffrax 0.6.0, and what comes back is
the inf that the buffer was filled with; `sol.ts` is inf too. diffrax#494, in 0.6.1, fills it. `SaveAt(t0=True)`,
`SaveAt(t1=True)` and a dense output were right on every release run.

Seen in these runs:

- In a batch the one empty solve gives inf and the other is right, up to diffrax 0.6.0.
- The gradient by `y0` of what two times save is 0 up to diffrax 0.6.0, should be 2.
"""

from __future__ import annotations

from jax_stack_compat.cell import GRADIENTS, Case, Issue, Rule, Upstream, Workaround, compare


def empty_solve() -> tuple[str, str]:
    """Does a solve from 1 to 1 save y0 at 1?"""
    import diffrax
    import jax.numpy as jnp

    term, saveat = diffrax.ODETerm(lambda t, y, args: -y), diffrax.SaveAt(ts=jnp.array([1.0, 1.0]))
    solution = diffrax.diffeqsolve(term, diffrax.Tsit5(), 1.0, 1.0, 0.1, 2.0, saveat=saveat)
    return compare(solution.ys, [2.0, 2.0])


def control_term() -> None:
    """The term, and what is to be saved, can be made, and the vector field is right."""
    import diffrax
    import jax.numpy as jnp

    term, saveat = diffrax.ODETerm(lambda t, y, args: -y), diffrax.SaveAt(ts=jnp.array([1.0, 1.0]))
    assert term.vector_field(1.0, 2.0, None) == -2.0, saveat


def save_t1() -> None:
    """What SaveAt(t1=True) gives of an empty solve is y0, on every release."""
    import diffrax

    term, saveat = diffrax.ODETerm(lambda t, y, args: -y), diffrax.SaveAt(t1=True)
    solution = diffrax.diffeqsolve(term, diffrax.Tsit5(), 1.0, 1.0, 0.1, 2.0, saveat=saveat)
    assert solution.ys.tolist() == [2.0], solution.ys


def beside_t1() -> tuple[str, str]:
    """Does it, with SaveAt(t1=True) too?"""
    import diffrax
    import jax.numpy as jnp

    term, saveat = diffrax.ODETerm(lambda t, y, args: -y), diffrax.SaveAt(ts=jnp.array([1.0]), t1=True)
    solution = diffrax.diffeqsolve(term, diffrax.Tsit5(), 1.0, 1.0, 0.1, 2.0, saveat=saveat)
    return compare(solution.ys, [2.0, 2.0])


def one_of_a_batch() -> tuple[str, str]:
    """Does one that is the only empty one of a batch?"""
    import diffrax
    import jax
    import jax.numpy as jnp
    import numpy as np

    term = diffrax.ODETerm(lambda t, y, args: -y)

    def end(t1: jax.Array) -> jax.Array:
        saveat = diffrax.SaveAt(ts=t1[None])
        return diffrax.diffeqsolve(term, diffrax.Tsit5(), 1.0, t1, 0.1, 2.0, saveat=saveat).ys[0]

    return compare(jax.vmap(end)(jnp.array([1.0, 2.0])), [2.0, 2.0 * np.exp(-1.0)], rtol=1e-3)


def gradient() -> tuple[str, str]:
    """Is the gradient of what two times save, by y0, 2?"""
    import diffrax
    import jax
    import jax.numpy as jnp

    term, saveat = diffrax.ODETerm(lambda t, y, args: -y), diffrax.SaveAt(ts=jnp.array([1.0, 1.0]))
    slope = jax.grad(lambda y: diffrax.diffeqsolve(term, diffrax.Tsit5(), 1.0, 1.0, 0.1, y, saveat=saveat).ys.sum())
    return compare(slope(2.0), 2.0)


_SOLVE = (
    "diffrax.diffeqsolve(terms, solver, t0, t1, dt0, y0, args, saveat) if given(saveat) and t0 == t1 "
    "and uses('diffrax.SaveAt')"
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="diffrax#488", fix="diffrax#494"),
    touches=("diffrax.SaveAt(ts=)",),
    control=control_term,
    rules=(Rule("differs", "diffrax<0.6.1"), Rule("agrees", "", "diffrax#494")),
    workaround=Workaround("Save with SaveAt(t1=True), or take y0 by jnp.where(t0 == t1, y0, ys).", save_t1),
    needs=("jax", "equinox", "diffrax"),
    waits_for=("stack-smoke/train-and-solve",),
    cases=(
        Case(empty_solve, touches=(_SOLVE,)),
        Case(
            beside_t1,
            touches=("diffrax.SaveAt(t0, t1, ts) if t1 == True and given(ts) and uses('diffrax.diffeqsolve')",),
        ),
        Case(
            one_of_a_batch,
            waits_for=("stack-smoke/train-and-solve", "vmapped-gradient-of-a-loop/gradient"),
            touches=(f"{_SOLVE} and uses('jax.vmap', 'equinox.filter_vmap')",),
        ),
        Case(gradient, touches=(f"{_SOLVE} and {GRADIENTS}",)),
    ),
)
