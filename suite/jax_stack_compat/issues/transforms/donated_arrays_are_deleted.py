"""An array that was donated is deleted, on a CPU too, and what reads it raises a RuntimeError, by design

    step = jax.jit(lambda x: x + 1, donate_argnums=0)
    step(x); x.is_deleted()      # True, and to read x raises a RuntimeError

Donation hands a buffer to what is computed, and the array that it was is gone. The changelog of jaxlib 0.3.24 says that
it works on CPUs; what others wrote later (flashbax's README, in 2023) says that it does not. The run decides: on every
release of the line run here a donated array is deleted on a CPU. The error says "Array has been deleted", and not what
the page on donation has for it.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def afterwards() -> tuple[str, str]:
    """Is an array deleted once it was donated?"""
    import jax
    import jax.numpy as jnp

    x = jnp.ones(4)
    jax.block_until_ready(jax.jit(lambda x: x + 1, donate_argnums=0)(x))
    return "deleted" if x.is_deleted() else "kept", "is_deleted() says so"


def not_donated() -> None:
    """One that was not donated is kept."""
    import jax
    import jax.numpy as jnp

    x = jnp.ones(4)
    jax.block_until_ready(jax.jit(lambda x: x + 1)(x))
    assert x.tolist() == [1.0] * 4


def go_on_with_the_result() -> None:
    """The result takes its name."""
    import jax
    import jax.numpy as jnp

    x = jnp.ones(4)
    x = jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert x.tolist() == [2.0] * 4


def read_again() -> tuple[str, str]:
    """Can it be read?"""
    import jax
    import jax.numpy as jnp

    x = jnp.ones(4)
    jax.block_until_ready(jax.jit(lambda x: x + 1, donate_argnums=0)(x))
    return "kept", f"{x.tolist()}"


ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(docs="jax:buffer_donation.html", changelog="jax:changelog.html#jaxlib-0-3-24-nov-4-2022"),
    touches=("jax.jit(donate_argnums=)", "jax.jit(donate_argnames=)", "buffer donation"),
    control=not_donated,
    behaviours={"deleted": "documented", "kept": "different"},
    rules=(Rule("deleted"),),
    workaround=Workaround("Go on with the result: x = step(x).", go_on_with_the_result),
    cases=(
        Case(afterwards),
        Case(read_again, signatures={"deleted": Signature("RuntimeError", "Array has been deleted")}),
    ),
)
