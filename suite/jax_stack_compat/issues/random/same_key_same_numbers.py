"""A jax.random key that is used again gives the same numbers

A draw does not change its key, so the same draw again gives the same numbers; the documentation says to split the key.
`jax_debug_key_reuse` (jax#20370) raises for a reused key of `jax.random.key`, but does not track a `PRNGKey`
(`flag_with_raw_key`). Functions compiled before the flag was set stayed unchecked (`flag_after_a_draw`), until
jax@8b9a9d53c3 added the flag to the cache key of jit.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, members


def drawn_twice() -> tuple[str, str]:
    """Does jax.random.normal draw the same numbers twice from one PRNGKey?"""
    import jax

    key = jax.random.PRNGKey(0)
    one, other = jax.random.normal(key, (3,)).tolist(), jax.random.normal(key, (3,)).tolist()
    return "repeated" if one == other else "other", f"{one} and {other}"


def split_first() -> None:
    """The two keys from jax.random.split draw different numbers."""
    import jax

    one, other = jax.random.split(jax.random.PRNGKey(0))
    assert jax.random.normal(one, (3,)).tolist() != jax.random.normal(other, (3,)).tolist()


def other_draws() -> None:
    """Split keys draw different integers, under vmap and jit too; the flag refuses a second jitted draw from a key."""
    import jax
    import numpy as np

    draw = jax.jit(lambda key: jax.random.randint(key, (2, 3), 0, 10**6))
    keys = jax.random.split(jax.random.PRNGKey(1), 5)
    assert len(np.unique([*map(draw, keys[:2]), *jax.vmap(draw)(keys[2:])])) == 30
    if not hasattr(jax, "debug_key_reuse"):
        return
    jax.clear_caches()  # as in a new process
    with jax.debug_key_reuse(True):
        key, new = jax.random.split(jax.random.key(2))
        draw(key), draw(new)
        try:
            draw(new)
        except Exception as error:
            if type(error).__name__ == "KeyReuseError":
                return
            raise
    raise AssertionError("drawn twice")


def with_the_flag() -> tuple[str, str]:
    """Does jax_debug_key_reuse refuse a second draw from one jax.random.key?"""
    import jax

    if not hasattr(jax.config, "jax_debug_key_reuse"):
        return "no-flag", "there is no such flag"
    jax.config.update("jax_debug_key_reuse", True)
    key = jax.random.key(0)
    jax.random.normal(key, (3,))
    return "repeated", f"{jax.random.normal(key, (3,))}"


def flag_after_a_draw() -> tuple[str, str]:
    """Does jax_debug_key_reuse refuse a reused key if the same draw ran before the flag was set?"""
    import jax

    if not hasattr(jax.config, "jax_debug_key_reuse"):
        return "no-flag", "there is no such flag"
    jax.random.normal(jax.random.key(1), (3,))
    jax.config.update("jax_debug_key_reuse", True)
    key = jax.random.key(0)
    jax.random.normal(key, (3,))
    return "repeated", f"{jax.random.normal(key, (3,))}"


def flag_first() -> None:
    """If jax_debug_key_reuse is set before the first draw, JAX refuses a second draw from a key."""
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


def flag_with_raw_key() -> tuple[str, str]:
    """Does jax_debug_key_reuse refuse a second draw from one jax.random.PRNGKey?"""
    import jax

    if not hasattr(jax.config, "jax_debug_key_reuse"):
        return "no-flag", "there is no such flag"
    jax.config.update("jax_debug_key_reuse", True)
    key = jax.random.PRNGKey(0)
    jax.random.normal(key, (3,))
    return "repeated", f"{jax.random.normal(key, (3,))}"


_FLAG = (
    "jax.config.update(name, val) if name == 'jax_debug_key_reuse' and unseen",
    "jax.debug_key_reuse if unseen",
)

ISSUE = Issue(
    kind="by-design",
    upstream=Upstream.of(
        report="jax#2009",
        docs="jax:notebooks/Common_Gotchas_in_JAX.html#random-numbers jax:jax.experimental.key_reuse.html",
        change="jax#20370",
        fix="jax@8b9a9d53c3",
    ),
    touches=("jax.random.normal", "jax_debug_key_reuse"),
    control=split_first,
    behaviours={"no-flag": "absent", "repeated": "documented", "other": "different"},
    signatures={"refused": Signature("KeyReuseError")},
    workaround=Workaround(
        "Split the key for each draw: key, new = jax.random.split(key).", split_first, elsewhere=other_draws
    ),
    cases=(
        Case(
            drawn_twice,
            rules=(Rule("repeated", "", "JAX's Sharp Bits page documents the reuse of keys"),),
            touches=members("jax.random", "bernoulli normal randint uniform"),
        ),
        Case(
            with_the_flag,
            behaviours={"no-flag": "absent", "repeated": "different"},
            rules=(Rule("no-flag", "jax<0.4.26"), Rule("refused", "", "jax#20370 (8949a63ce1)")),
            touches=_FLAG,
        ),
        Case(
            flag_after_a_draw,
            behaviours={"no-flag": "absent", "repeated": "affected"},
            rules=(Rule("no-flag", "jax<0.4.26"), Rule("repeated", "jax<0.9.1"), Rule("refused", "", "8b9a9d53c3")),
            workaround=Workaround("Set jax_debug_key_reuse before the first draw.", flag_first, elsewhere=other_draws),
            touches=_FLAG,
        ),
        Case(
            flag_with_raw_key,
            rules=(
                Rule("no-flag", "jax<0.4.26"),
                Rule("repeated", "", "the help of jax_debug_key_reuse names typed keys"),
            ),
            touches=_FLAG,
        ),
    ),
)
