"""A jitted function takes no keyword argument named f or store in jax 0.4.36, and on most older releases none named fun

    jax.jit(lambda x, f: x * f)(1.0, f=2.0)
    TypeError: result_paths() got multiple values for argument 'f'

JAX hands the function that it wraps through functions of its own, and their parameters have names too: what the caller
passes by such a name meets them. jax#25329 found `f` in 0.4.36, whose commit 1c9b23c566 made these functions plain;
0.4.37 has them take theirs by position alone.

Seen in these runs:

- `store` fails in 0.4.36 as `f` does.
- `fun` fails up to 0.4.25 and again from 0.4.31 to 0.8.3, with "_python_pjit_helper() got multiple values for argument
  'fun'".
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def named_f() -> tuple[str, str]:
    """Can a jitted function be called with f=2.0?"""
    import jax

    return "taken", f"it gives {float(jax.jit(lambda x, f: x * f)(1.0, f=2.0))}"


def another_name() -> None:
    """An argument of another name can be passed by it."""
    import jax

    assert float(jax.jit(lambda x, scale: x * scale)(1.0, scale=2.0)) == 2.0


def by_position() -> None:
    """By position all three arrive."""
    import jax

    assert float(jax.jit(lambda f, store, fun: f * store * fun)(2.0, 3.0, 4.0)) == 24.0


def named_store() -> tuple[str, str]:
    """Can a jitted function be called with store=2.0?"""
    import jax

    return "taken", f"it gives {float(jax.jit(lambda x, store: x * store)(1.0, store=2.0))}"


def named_fun() -> tuple[str, str]:
    """Can a jitted function be called with fun=2.0?"""
    import jax

    return "taken", f"it gives {float(jax.jit(lambda x, fun: x * fun)(1.0, fun=2.0))}"


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="jax#25329", cause="jax@1c9b23c566"),
    touches=("keyword arguments",),
    known_by=r"\b(_python_pjit_helper|result_paths)\(\)",
    control=another_name,
    rules=(Rule("refused", "jax==0.4.36", "jax#25329"), Rule("taken")),
    workaround=Workaround("Pass it by position, or name it otherwise.", by_position),
    signatures={"refused": Signature("TypeError", "got multiple values for argument", everyday=True)},
    cases=(
        Case(named_f),
        Case(named_store),
        Case(named_fun, rules=(Rule("taken", "jax>=0.4.26,<0.4.31"), Rule("refused", "jax<0.9.0"), Rule("taken"))),
    ),
)
