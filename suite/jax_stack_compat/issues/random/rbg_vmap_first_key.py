"""vmap over rbg keys draws from the first key alone, since jax 0.4.26

    keys = jax.random.split(jax.random.key(0, impl="rbg"), 3)
    jax.vmap(jax.random.uniform)(keys)     # one number for each key up to 0.4.25; from 0.4.26 three of the first key

With the generators `rbg` and `unsafe_rbg` a mapped draw was a loop, the same numbers as without `vmap`, and slow
(jax#16792). jax#19085 traded that for speed: all numbers of the batch come from the first key, and the others are
dropped. The changelog of 0.4.26 and, since jax#22684, the documentation of `jax.random` say so. With threefry, the
default, `vmap` changes nothing on any release.

Seen in these runs:

- Equal keys give different numbers from 0.4.26 on: `vmap` over three copies of one key draws three different rows. What
  was to be the same noise for each member of a batch (common random numbers, a shared dropout mask) is not.
- All rows of a batch are one draw of the first key, whatever the other keys are. Fixing an example's key no longer
  fixes its numbers.
- With `unsafe_rbg`, `split` draws too: keys split under `vmap` are not those split without. With `rbg` they are.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare, members


def draws() -> tuple[str, str]:
    """Does vmap of uniform over three rbg keys draw what each key draws alone?"""
    import jax
    import numpy as np

    keys = jax.random.split(jax.random.key(0, impl="rbg"), 3)
    mapped = np.asarray(jax.vmap(lambda key: jax.random.uniform(key, (2,)))(keys))
    if np.array_equal(mapped, [jax.random.uniform(key, (2,)) for key in keys]):
        return "each-key", "each row is what its key draws without vmap"
    if np.array_equal(mapped, jax.random.uniform(keys[0], (3, 2))):
        return "first-key", "all rows are one draw of the first key, of shape (3, 2)"
    return "other", "neither what each key draws nor one draw of the first key"


def threefry_keys() -> None:
    """With threefry each row is what its key draws, and rbg keys that are split under vmap are the same."""
    import jax
    import numpy as np

    keys = jax.random.split(jax.random.key(0, impl="threefry2x32"), 3)
    mapped = jax.vmap(lambda key: jax.random.uniform(key, (2,)))(keys)
    assert np.array_equal(mapped, [jax.random.uniform(key, (2,)) for key in keys])
    data, keys = jax.random.key_data, jax.random.split(jax.random.key(0, impl="rbg"), 3)
    assert np.array_equal(data(jax.vmap(jax.random.split)(keys)), [data(jax.random.split(key)) for key in keys])


def loop_over_keys() -> None:
    """lax.map draws from each key, and splits each, as without a batch."""
    import jax
    import numpy as np

    for impl in ("rbg", "unsafe_rbg"):
        data, keys = jax.random.key_data, jax.random.split(jax.random.key(0, impl=impl), 3)
        mapped = jax.lax.map(lambda key: jax.random.uniform(key, (2,)), keys)
        assert np.array_equal(mapped, [jax.random.uniform(key, (2,)) for key in keys])
        assert np.array_equal(data(jax.lax.map(jax.random.split, keys)), [data(jax.random.split(key)) for key in keys])


def equal_keys() -> tuple[str, str]:
    """Does vmap over three copies of one rbg key draw three equal rows?"""
    import jax
    import numpy as np

    data = jax.random.key_data(jax.random.key(0, impl="rbg"))
    keys = jax.random.wrap_key_data(jax.numpy.stack([data] * 3), impl="rbg")
    mapped = np.asarray(jax.vmap(lambda key: jax.random.uniform(key, (2,)))(keys))
    return compare(mapped[1:], mapped[:1].repeat(2, axis=0))


def unsafe_split() -> tuple[str, str]:
    """Does vmap of split over three unsafe_rbg keys give the keys that each gives alone?"""
    import jax

    data, keys = jax.random.key_data, jax.random.split(jax.random.key(0, impl="unsafe_rbg"), 3)
    return compare(data(jax.vmap(jax.random.split)(keys)), [data(jax.random.split(key)) for key in keys])


_SINCE = "jax#20094 (c4cf265f86, first in 0.4.26), and its changelog"

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(report="jax#19085 jax#16792", change="jax#20094", discussion="jax#22684"),
    touches=(*members("jax.random", "key PRNGKey wrap_key_data", "(impl=)"), "jax.lax.rng_bit_generator"),
    control=threefry_keys,
    behaviours={"differs": "documented"},
    workaround=Workaround("Loop over the keys with jax.lax.map, or take impl='threefry2x32'.", loop_over_keys),
    cases=(
        Case(
            draws,
            behaviours={"each-key": "clear", "first-key": "documented", "other": "different"},
            rules=(Rule("each-key", "jax<0.4.26"), Rule("first-key", "", _SINCE)),
        ),
        Case(equal_keys, rules=(Rule("agrees", "jax<0.4.26"), Rule("differs", "", f"{_SINCE}: it follows"))),
        Case(unsafe_split, rules=(Rule("agrees", "jax<0.4.26"), Rule("differs", "", _SINCE))),
    ),
)
