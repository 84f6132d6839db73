"""The vmapped gradient of a solve raises "no unmapping handler for 0", with jax from 0.5.1 and Equinox up to 0.11.11

    jax.vmap(jax.grad(lambda rate: diffrax.diffeqsolve(..., args=rate).ys[-1]))(rates)    # TypeError

You'd expect a gradient for each. jax 0.5.1 takes the axis' name out of what it hands to an internal that Equinox calls
for its own primitives, and the loop of `diffeqsolve` writes its results by one of those. A solve, its vmap and its
gradient are right, each alone; `jax.jacfwd` is a vmap of a derivative, and fails as well. equinox#959 reports it of
Equinox's tests, diffrax#612 of a solve. 0.11.12 has the fix, a day after jax 0.5.1; who had installed the two before
stays with it, for 0.11.11 allows any later jax.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare
from jax_stack_compat.cell.touches import GRADIENTS, MAPS


def gradient() -> tuple[str, str]:
    """Is the vmapped gradient of y' = -r y, by the rate r, right?"""
    import diffrax
    import jax
    import jax.numpy as jnp
    import numpy as np

    term, solver = diffrax.ODETerm(lambda t, y, rate: -rate * y), diffrax.Tsit5()
    slope = jax.grad(lambda rate: diffrax.diffeqsolve(term, solver, 0.0, 1.0, 0.1, 1.0, args=rate).ys[-1])
    return compare(jax.vmap(slope)(jnp.array([1.0, 2.0])), [-np.exp(-1.0), -np.exp(-2.0)], rtol=1e-2)


def control_scan() -> None:
    """The vmapped gradient of Euler's method by jax.lax.scan is right."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def end(rate: jax.Array) -> jax.Array:
        return jax.lax.scan(lambda y, _: (y - rate * y / 100, None), jnp.ones(()), None, length=100)[0]

    rates = jnp.array([1.0, 2.0])
    np.testing.assert_allclose(jax.vmap(jax.grad(end))(rates), [-np.exp(-1.0), -np.exp(-2.0)], rtol=5e-2)


def one_by_one() -> None:
    """One after the other, by jax.lax.map, they are right."""
    import diffrax
    import jax
    import jax.numpy as jnp
    import numpy as np

    term, solver = diffrax.ODETerm(lambda t, y, rate: -rate * y), diffrax.Tsit5()
    slope = jax.grad(lambda rate: diffrax.diffeqsolve(term, solver, 0.0, 1.0, 0.1, 1.0, args=rate).ys[-1])
    rates = jnp.array([1.0, 2.0])
    np.testing.assert_allclose(jax.lax.map(slope, rates), [-np.exp(-1.0), -np.exp(-2.0)], rtol=1e-2)


def forward_mode() -> tuple[str, str]:
    """Is jax.jacfwd of a solve right?"""
    import diffrax
    import jax
    import numpy as np

    term, solver, adjoint = diffrax.ODETerm(lambda t, y, rate: -rate * y), diffrax.Tsit5(), diffrax.DirectAdjoint()
    arguments = {"adjoint": adjoint, "max_steps": 16}
    end = lambda rate: diffrax.diffeqsolve(term, solver, 0.0, 1.0, 0.1, 1.0, args=rate, **arguments).ys[-1]  # noqa: E731
    return compare(jax.jacfwd(end)(2.0), -np.exp(-2.0), rtol=1e-2)


def one_direction() -> None:
    """By jax.jvp, which is no vmap, it is right."""
    import diffrax
    import jax
    import numpy as np

    term, solver, adjoint = diffrax.ODETerm(lambda t, y, rate: -rate * y), diffrax.Tsit5(), diffrax.DirectAdjoint()
    arguments = {"adjoint": adjoint, "max_steps": 16}
    end = lambda rate: diffrax.diffeqsolve(term, solver, 0.0, 1.0, 0.1, 1.0, args=rate, **arguments).ys[-1]  # noqa: E731
    np.testing.assert_allclose(jax.jvp(end, (2.0,), (1.0,))[1], -np.exp(-2.0), rtol=1e-2)


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="equinox#959 diffrax#612", fix="equinox@645a77f"),
    touches=("diffrax.diffeqsolve", "jax.vmap", "jax.jacfwd"),
    control=control_scan,
    rules=(Rule("no-handler", "jax>=0.5.1 equinox<0.11.12", "equinox#959"), Rule("agrees", "", "645a77f")),
    signatures={"no-handler": Signature("TypeError", "no unmapping handler for 0")},
    needs=("jax", "equinox", "diffrax"),
    waits_for=("stack-smoke/train-and-solve",),
    cases=(
        Case(
            gradient,
            workaround=Workaround("One by one, by jax.lax.map, if Equinox has to stay.", one_by_one),
            touches=(f"diffrax.diffeqsolve if {MAPS} and {GRADIENTS}",),
        ),
        Case(
            forward_mode,
            touches=(f"diffrax.diffeqsolve if uses('jax.jacfwd') or {MAPS} and uses('jax.jvp', 'equinox.filter_jvp')",),
            workaround=Workaround("jax.jvp, one direction at a time, if Equinox has to stay.", one_direction),
        ),
    ),
)
