"""Reading a donated array raises once jit has reused its buffer

Donation lets JAX reuse an argument's buffer for an output with the same shape and dtype. JAX then deletes the argument
(`afterwards`), and the page on donation says that a later use is an error (`read_again`, `given_again`). If no output
has as many elements as an argument that is used, JAX keeps the array and warns (`no_output_fits`). Since 4d8b701068, an
int32 output can reuse the buffer of as many float32 numbers, and the array is deleted (`other_dtype`).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def afterwards() -> tuple[str, str]:
    """Is x deleted after jax.jit(lambda x: x + 1, donate_argnums=0)(x)?"""
    import jax
    import jax.numpy as jnp

    x = jnp.ones(4)
    jax.block_until_ready(jax.jit(lambda x: x + 1, donate_argnums=0)(x))
    return "deleted" if x.is_deleted() else "kept", "is_deleted() says so"


def not_donated() -> None:
    """Without donate_argnums, x can still be read after the call."""
    import jax
    import jax.numpy as jnp

    x = jnp.ones(4)
    jax.block_until_ready(jax.jit(lambda x: x + 1)(x))
    assert x.tolist() == [1.0] * 4


def go_on_with_the_result() -> None:
    """After `x = f(x)` with a donated x, x is the result and can be read."""
    import jax
    import jax.numpy as jnp

    x = jnp.ones(4)
    x = jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert x.tolist() == [2.0] * 4


def rebind_a_state() -> None:
    """A training loop rebinds a donated tree of float16 and int32 arrays, and reads the new tree after each step."""
    from functools import partial

    import jax
    import jax.numpy as jnp

    @partial(jax.jit, donate_argnums=(0,))
    def step(state: dict[str, jax.Array], rate: float) -> tuple[dict[str, jax.Array], jax.Array]:
        weights = state["weights"] - rate * jnp.ones((2, 3), jnp.float16)
        return {"weights": weights.astype(jnp.float16), "count": state["count"] + 1}, weights.sum()

    state = {"weights": jnp.ones((2, 3), jnp.float16), "count": jnp.int32(0)}
    for number in range(3):
        before = state
        state, loss = step(state, 0.25)
        assert before["weights"].is_deleted()
        assert state["count"] == number + 1
        assert loss == state["weights"].sum() == 6 - 1.5 * (number + 1)


def read_again() -> tuple[str, str]:
    """Can x be read after jax.jit(lambda x: x + 1, donate_argnums=0)(x)?"""
    import jax
    import jax.numpy as jnp

    x = jnp.ones(4)
    jax.block_until_ready(jax.jit(lambda x: x + 1, donate_argnums=0)(x))
    return "kept", f"{x.tolist()}"


def given_again() -> tuple[str, str]:
    """Can jax.jit(lambda x: x + 1, donate_argnums=0) be called twice with the same x?"""
    import jax
    import jax.numpy as jnp

    x, add_one = jnp.ones(4), jax.jit(lambda x: x + 1, donate_argnums=0)
    add_one(x)
    return "kept", f"the second call gives {add_one(x).tolist()}"


def other_dtype() -> tuple[str, str]:
    """Is a float32 x deleted after jax.jit(lambda x: x.astype("int32"), donate_argnums=0)(x)?"""
    import warnings

    import jax
    import jax.numpy as jnp

    x = jnp.ones(4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        jax.block_until_ready(jax.jit(lambda x: x.astype("int32"), donate_argnums=0)(x))
    if x.is_deleted():
        return "deleted", "is_deleted() says so"
    warned = any("Some donated buffers were not usable" in str(warning.message) for warning in caught)
    return ("kept-and-warned" if warned else "kept"), f"x is {x.tolist()}"


def donate_what_fits() -> None:
    """A donated array with an output of its shape and dtype is deleted without a warning."""
    import warnings

    import jax
    import jax.numpy as jnp

    x, y = jnp.ones(4), jnp.ones(4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = jax.block_until_ready(jax.jit(lambda x, y: (x + y, y.sum()), donate_argnums=0)(x, y))
    assert x.is_deleted()
    assert not y.is_deleted()
    assert out[0].tolist() == [2.0] * 4
    assert float(out[1]) == 4.0


def donate_one_of_a_tree() -> None:
    """If only the int32 vector that matches the output is donated, a matrix argument is kept, without a warning."""
    import warnings

    import jax
    import jax.numpy as jnp

    matrix, counts = jnp.ones((3, 2), jnp.float16), jnp.zeros(3, jnp.int32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new = jax.jit(lambda matrix, counts: counts + matrix.sum(1).astype(jnp.int32), donate_argnums=1)(matrix, counts)
        jax.block_until_ready(new)
    assert counts.is_deleted()
    assert matrix.sum() == 6
    assert new.tolist() == [2, 2, 2]


def no_output_fits() -> tuple[str, str]:
    """Is x deleted after jax.jit(lambda x: x.sum(), donate_argnums=0)(x), where no output fits its buffer?"""
    import warnings

    import jax
    import jax.numpy as jnp

    x = jnp.ones(4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        jax.block_until_ready(jax.jit(lambda x: x.sum(), donate_argnums=0)(x))
    if x.is_deleted():
        return "deleted", "is_deleted() says so"
    warned = any("Some donated buffers were not usable" in str(warning.message) for warning in caught)
    return ("kept-and-warned" if warned else "kept"), f"x is {x.tolist()}"


_DELETED = {
    "deleted": (
        Signature("RuntimeError", "Array has been deleted"),
        Signature("ValueError", "has been deleted or donated"),
    )
}
_KEPT = Signature("UserWarning", "Some donated buffers were not usable")

_FITTING = Workaround(
    "For each output, donate at most one array of its shape and dtype.",
    donate_what_fits,
    elsewhere=donate_one_of_a_tree,
)

ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(
        docs="jax:buffer_donation.html jax:changelog.html#jaxlib-0-3-24-nov-4-2022",
        change="jax@4d8b701068",
        discussion="jax#9675",
    ),
    touches=("jax.jit(donate_argnums=)", "jax.jit(donate_argnames=)", "buffer donation"),
    control=not_donated,
    behaviours={"deleted": "documented", "kept": "different"},
    rules=(Rule("deleted"),),
    workaround=Workaround(
        "Rebind the name to the result, and give up the old value: x = step(x).",
        go_on_with_the_result,
        elsewhere=rebind_a_state,
    ),
    cases=(
        Case(afterwards),
        Case(read_again, signatures=_DELETED),
        Case(given_again, signatures=_DELETED),
        Case(
            other_dtype,
            behaviours={"kept-and-warned": "documented", "deleted": "documented", "kept": "different"},
            rules=(Rule("kept-and-warned", "jax<0.8"), Rule("deleted", "", "4d8b701068")),
            signatures={"kept-and-warned": _KEPT},
            workaround=_FITTING,
        ),
        Case(
            no_output_fits,
            behaviours={"kept-and-warned": "documented", "kept": "different", "deleted": "different"},
            rules=(Rule("kept-and-warned"),),
            signatures={"kept-and-warned": _KEPT},
            workaround=_FITTING,
        ),
    ),
)
