"""`with jax.threefry_partitionable(...)` inside a jitted function is ignored: other random numbers than eager

    def draw(key):
        with jax.threefry_partitionable(True):
            return jax.random.bits(key, (2,))
    jax.jit(draw)(key)                                 # up to jax 0.4.28 the bits of the default, not draw(key)'s

The context was read when the function was lowered, after it had been left. There is no error; a result that was to be
the same on any number of devices is not, and one that was to be kept across an upgrade changes. jax#21061 has it, and
972fd66525 carries the setting along with the equation, in 0.4.29. jax 0.5.0 made True the default.

Seen in these runs:

- Splitting a key ignores the setting too, from 0.4.20 to 0.4.28, so that what is drawn from the new keys differs.
- Set from outside, round the call of the jitted function, it is heeded there.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare


def inside_jit() -> tuple[str, str]:
    """Does a jitted function that sets jax.threefry_partitionable draw what it draws eagerly?"""
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
    """Without the context, jitted and eager numbers are the same."""
    import jax
    import numpy as np

    key = jax.random.PRNGKey(7)
    np.testing.assert_array_equal(jax.jit(lambda key: jax.random.bits(key, (2,)))(key), jax.random.bits(key, (2,)))


def outside() -> None:
    """The context round the call of the jitted function."""
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


def inside_split() -> tuple[str, str]:
    """Does a jitted function that sets it split a key as it does eagerly?"""
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
    upstream=Upstream.of(report="jax#21061", cause="jax#18338", fix="jax@972fd66525"),
    touches=("jax.threefry_partitionable if within('jax.jit', 'equinox.filter_jit')",),
    control=default,
    rules=(
        Rule("absent", "jax<0.4.20", "jax#18338 added it"),
        Rule("differs", "jax<0.4.29"),
        Rule("agrees", "", "972fd66525"),
    ),
    workaround=Workaround("Set it round the call of the jitted function, or for the whole process.", outside),
    cases=(Case(inside_jit), Case(inside_split)),
)
