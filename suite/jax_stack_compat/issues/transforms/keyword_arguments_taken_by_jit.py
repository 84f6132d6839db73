"""jax.jit can refuse a keyword argument named f, store or fun

`jax.jit` passes a call's keywords on through internal functions, and a keyword collides with an internal parameter of
the same name. 1c9b23c566 gave some internal functions the parameters `f` and `store` (jax#25329); 95892fdac8 renames
them. Another internal function had a parameter `fun` (`named_fun`), which d3e03fff5d removed and 9e30079dba restored.
2150efed44 passes the keywords on as a dictionary.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def named_f() -> tuple[str, str]:
    """Can a function under jax.jit be called with f=2.0?"""
    import jax

    return "taken", f"it gives {float(jax.jit(lambda x, f: x * f)(1.0, f=2.0))}"


def another_name() -> None:
    """A jitted function takes a keyword argument of another name, `scale`."""
    import jax

    assert float(jax.jit(lambda x, scale: x * scale)(1.0, scale=2.0)) == 2.0


def by_position() -> None:
    """A jitted function takes f, store and fun by position."""
    import jax

    assert float(jax.jit(lambda f, store, fun: f * store * fun)(2.0, 3.0, 4.0)) == 24.0


def static_and_defaulted() -> None:
    """A jitted function takes a static string, a tree and a default by position, also under vmap, grad and lower."""
    import jax
    import jax.numpy as jnp

    def g(x: jax.Array, f: str, store: dict[str, jax.Array], fun: float = 1.0) -> jax.Array:
        return (x + store["a"].sum() if f == "sum" else x) * fun

    jitted, store = jax.jit(g, static_argnames="f"), {"a": jnp.ones((2, 3), jnp.float16)}
    assert jitted(jnp.arange(3), "", store, 2).tolist() == [0, 2, 4]
    assert jitted.lower(1.0, "sum", store).compile()(1.0, store) == 7.0
    assert jax.vmap(lambda x: jitted(x, "sum", store, 2.0))(jnp.arange(2.0)).tolist() == [12.0, 14.0]
    assert jax.grad(lambda x: jitted(x, "", store, 3.0))(1.0) == 3.0


def named_store() -> tuple[str, str]:
    """Can a function under jax.jit be called with store=2.0?"""
    import jax

    return "taken", f"it gives {float(jax.jit(lambda x, store: x * store)(1.0, store=2.0))}"


def named_fun() -> tuple[str, str]:
    """Can a function under jax.jit be called with fun=2.0?"""
    import jax

    return "taken", f"it gives {float(jax.jit(lambda x, fun: x * fun)(1.0, fun=2.0))}"


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(
        report="jax#25329",
        cause="jax@1c9b23c566 jax@9e30079dba",
        fix="jax@95892fdac8 jax@d3e03fff5d jax@2150efed44",
    ),
    touches=("keyword arguments",),
    known_by=r"\b(_python_pjit_helper|result_paths|_get_result_paths_thunk|_argnums_partial|_argnames_partial)\(\)",
    control=another_name,
    rules=(Rule("taken", "jax<0.4.36"), Rule("refused", "jax<0.4.37", "1c9b23c566"), Rule("taken", "", "95892fdac8")),
    workaround=Workaround(
        "Pass the argument by position; rename a keyword-only argument.",
        by_position,
        elsewhere=static_and_defaulted,
    ),
    signatures={"refused": Signature("TypeError", "got multiple values for argument", everyday=True)},
    cases=(
        Case(named_f),
        Case(named_store),
        Case(
            named_fun,
            rules=(
                Rule("refused", "jax<0.4.26"),
                Rule("taken", "jax<0.4.31", "d3e03fff5d"),
                Rule("refused", "jax<0.9.0", "9e30079dba"),
                Rule("taken", "", "2150efed44"),
            ),
        ),
    ),
)
