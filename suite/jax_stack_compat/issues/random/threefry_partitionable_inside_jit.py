"""`jax.threefry_partitionable(...)` inside a jitted function is ignored

JAX implements random bits when it lowers the jitted function, after the context has ended (jax#21061), so the bits
follow the setting around the call. jax#18338 added the context manager `jax.threefry_partitionable`. jax@972fd66525
stores the setting with each equation. Splitting a key inside the context also ignored the setting (`inside_split`).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def inside_jit() -> tuple[str, str]:
    """Does a jitted function that enters jax.threefry_partitionable draw the bits that it draws eagerly?"""
    import jax
    import numpy as np

    if not hasattr(jax, "threefry_partitionable"):
        return "absent", "there is no jax.threefry_partitionable"

    def draw(key: jax.Array, setting: bool) -> jax.Array:
        with jax.threefry_partitionable(setting):
            return jax.random.bits(key, (2,))

    key = jax.random.PRNGKey(7)
    got = [jax.jit(draw, static_argnums=1)(key, setting) for setting in (False, True)]
    return compare(np.stack(got), np.stack([draw(key, setting) for setting in (False, True)]))


def default() -> None:
    """Without jax.threefry_partitionable, jitted and eager bits are the same."""
    import jax
    import numpy as np

    key = jax.random.PRNGKey(7)
    np.testing.assert_array_equal(jax.jit(lambda key: jax.random.bits(key, (2,)))(key), jax.random.bits(key, (2,)))


def outside() -> None:
    """With jax.threefry_partitionable around its call, a jitted function draws the same bits as eagerly."""
    import jax
    import numpy as np

    if not hasattr(jax, "threefry_partitionable"):
        return
    key = jax.random.PRNGKey(7)
    draw = jax.jit(lambda key: jax.random.bits(key, (2,)))
    drawn = []
    for setting in (False, True):
        with jax.threefry_partitionable(setting):
            drawn.append(draw(key).tolist())
            np.testing.assert_array_equal(drawn[-1], jax.random.bits(key, (2,)))
    assert drawn[0] != drawn[1]


def outside_of_loops() -> None:
    """jax.threefry_partitionable also applies around lax.map and vmap, for typed keys, empty draws and integers."""
    import jax
    import numpy as np

    def draw(key: jax.Array) -> jax.Array:
        keys = jax.random.split(key, 4)
        drawn = jax.vmap(lambda each: jax.random.randint(each, (2, 3), 0, 10**6))(keys)
        return drawn.sum() + jax.random.uniform(key, (0,)).sum() + jax.random.randint(key, (), 0, 10**6)

    drawn, jitted = [], jax.jit(draw)
    for setting in (False, True) if hasattr(jax, "threefry_partitionable") else ():
        with jax.threefry_partitionable(setting):
            keys = jax.random.split(jax.random.key(3), 2)
            wanted = [draw(key) for key in keys]
            np.testing.assert_array_equal([jitted(key) for key in keys], wanted)
            np.testing.assert_array_equal(jax.lax.map(draw, keys), wanted)
        drawn.append(float(wanted[0]))
    assert len(set(drawn)) == len(drawn)


def inside_split() -> tuple[str, str]:
    """Does a jitted function that enters jax.threefry_partitionable split a key as it does eagerly?"""
    import jax
    import numpy as np

    if not hasattr(jax, "threefry_partitionable"):
        return "absent", "there is no jax.threefry_partitionable"

    def split(key: jax.Array, setting: bool) -> jax.Array:
        with jax.threefry_partitionable(setting):
            return jax.random.split(key)

    key = jax.random.PRNGKey(7)
    got = [jax.jit(split, static_argnums=1)(key, setting) for setting in (False, True)]
    return compare(np.stack(got), np.stack([split(key, setting) for setting in (False, True)]))


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#21061", change="jax#18338", fix="jax@972fd66525"),
    touches=(
        "jax.threefry_partitionable if within('jax.jit', 'equinox.filter_jit', "
        "'jax.lax.cond', 'jax.lax.fori_loop', 'jax.lax.map', 'jax.lax.scan', 'jax.lax.while_loop')",
    ),
    control=default,
    rules=(
        Rule("absent", "jax<0.4.20", "jax#18338 (b22e75716f) added the context manager"),
        Rule("differs", "jax<0.4.29"),
        Rule("agrees", "", "972fd66525"),
    ),
    workaround=Workaround(
        "Enter the context around the call of the jitted function.", outside, elsewhere=outside_of_loops
    ),
    cases=(Case(inside_jit), Case(inside_split)),
)
