"""The same key gives the same numbers again, and jax_debug_key_reuse says so from jax 0.4.26, by design

    jax.random.normal(key, (3,)), jax.random.normal(key, (3,))    # twice the same

A key is a value and holds no state, so drawing from it twice repeats the draw, where NumPy's generator goes on. Nothing
warns. The flag `jax_debug_key_reuse` has JAX follow what was drawn from, and raise: it is there from jax 0.4.26, for
keys made by `jax.random.key`. The tutorial on random numbers has the first, to which the sharp bits point since
November 2024, and the page of `jax.experimental.key_reuse` the second. 8b9a9d53c3, in 0.9.1, made the flag part of what
a compiled function is kept under.

Seen in these runs: up to 0.9.0.1 the flag did nothing for a sampler that was called before it was set.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def drawn_twice() -> tuple[str, str]:
    """Are two draws of one key the same?"""
    import jax

    key = jax.random.PRNGKey(0)
    one, other = jax.random.normal(key, (3,)).tolist(), jax.random.normal(key, (3,)).tolist()
    return "repeated" if one == other else "other", f"{one} and {other}"


def split_first() -> None:
    """Keys that were split draw apart."""
    import jax

    one, other = jax.random.split(jax.random.PRNGKey(0))
    assert jax.random.normal(one, (3,)).tolist() != jax.random.normal(other, (3,)).tolist()


def with_the_flag() -> tuple[str, str]:
    """Does the flag refuse the second draw?"""
    import jax

    if not hasattr(jax.config, "jax_debug_key_reuse"):
        return "no-flag", "there is no such flag"
    jax.config.update("jax_debug_key_reuse", True)
    key = jax.random.key(0)
    jax.random.normal(key, (3,))
    return "repeated", f"{jax.random.normal(key, (3,))}"


def flag_after_a_draw() -> tuple[str, str]:
    """Does it where the sampler was called once before the flag was set?"""
    import jax

    if not hasattr(jax.config, "jax_debug_key_reuse"):
        return "no-flag", "there is no such flag"
    jax.random.normal(jax.random.key(1), (3,))
    jax.config.update("jax_debug_key_reuse", True)
    key = jax.random.key(0)
    jax.random.normal(key, (3,))
    return "repeated", f"{jax.random.normal(key, (3,))}"


def flag_first() -> None:
    """The flag set before the first draw."""
    import jax

    if not hasattr(jax.config, "jax_debug_key_reuse"):
        return
    jax.config.update("jax_debug_key_reuse", True)
    key = jax.random.key(0)
    jax.random.normal(key, (3,))
    try:
        jax.random.normal(key, (3,))
    except Exception as error:  # its class has moved
        if type(error).__name__ != "KeyReuseError":
            raise
        return
    raise AssertionError("drawn twice")


_FLAG = (
    "jax.config.update(name, val) if name == 'jax_debug_key_reuse' and uses('jax.random.key', 'jax.random.split')",
    "jax.debug_key_reuse",
)

ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(
        docs="jax:notebooks/Common_Gotchas_in_JAX.html#random-numbers jax:jax.experimental.key_reuse.html",
        fix="jax@8b9a9d53c3",
    ),
    touches=("jax.random.normal", "jax_debug_key_reuse"),
    control=split_first,
    workaround=Workaround("Split it for each draw: key, new = jax.random.split(key).", split_first),
    cases=(
        Case(
            drawn_twice,
            behaviours={"repeated": "documented", "other": "different"},
            rules=(Rule("repeated", "", "the sharp bits"),),
            touches=("jax.random.normal",),
        ),
        Case(
            with_the_flag,
            behaviours={"no-flag": "absent", "repeated": "different"},
            rules=(Rule("no-flag", "jax<0.4.26"), Rule("refused")),
            signatures={"refused": Signature("KeyReuseError")},
            touches=_FLAG,
        ),
        Case(
            flag_after_a_draw,
            behaviours={"no-flag": "absent", "repeated": "affected"},
            rules=(
                Rule("no-flag", "jax<0.4.26", "there is no such flag"),
                Rule("repeated", "jax<0.9.1"),
                Rule("refused", "", "8b9a9d53c3"),
            ),
            workaround=Workaround("Set it before anything is drawn.", flag_first),
            signatures={"refused": Signature("KeyReuseError")},
            touches=_FLAG,
        ),
    ),
)
