"""An index past the end reads the last element, and an update there is dropped: no error, by design

    jnp.arange(3.0)[5]             # 2.0
    jnp.arange(3.0).at[5].set(9)   # [0, 1, 2]

Code on an accelerator cannot raise, so JAX clamps what is read and leaves out what would be written: the sharp bits
say so. `jnp.take` fills with NaN instead. It is so for an index that is known as the program is written, too. A
negative index counts from the end first, and is clamped only past the other one.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def read() -> tuple[str, str]:
    """What is x[5] of three elements?"""
    import jax.numpy as jnp

    found = float(jnp.arange(3.0)[5])
    return "clamped" if found == 2.0 else "other", f"{found}"


def within() -> None:
    """Within bounds, and from the end, an index reads what NumPy does."""
    import jax.numpy as jnp

    assert jnp.arange(3.0)[jnp.array([0, 2, -1, -3])].tolist() == [0.0, 2.0, 2.0, 0.0]


def say_a_mode() -> None:
    """A mode says what shall be there: fill with NaN."""
    import jax.numpy as jnp

    assert bool(jnp.isnan(jnp.arange(3.0).at[5].get(mode="fill", fill_value=jnp.nan)))


def update() -> tuple[str, str]:
    """What does x.at[5].set(9) do to three elements?"""
    import jax.numpy as jnp

    found = jnp.arange(3.0).at[5].set(9.0).tolist()
    return "dropped" if found == [0.0, 1.0, 2.0] else "other", f"{found}"


def take() -> tuple[str, str]:
    """What does jnp.take give at 5 of three elements?"""
    import jax.numpy as jnp

    found = float(jnp.take(jnp.arange(3.0), 5))
    return "filled" if found != found else "other", f"{found}"


_RUN = "the sharp bits"

ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(docs="jax:notebooks/Common_Gotchas_in_JAX.html#out-of-bounds-indexing"),
    touches=("jax.Array.at", "indexing"),
    control=within,
    workaround=Workaround('x.at[i].get(mode="fill", fill_value=jnp.nan), or checkify.', say_a_mode),
    cases=(
        Case(read, behaviours={"clamped": "documented", "other": "different"}, rules=(Rule("clamped", "", _RUN),)),
        Case(update, behaviours={"dropped": "documented", "other": "different"}, rules=(Rule("dropped", "", _RUN),)),
        Case(take, behaviours={"filled": "documented", "other": "different"}, rules=(Rule("filled", "", _RUN),)),
    ),
)
