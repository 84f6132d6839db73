"""vmap over rbg keys: most samplers draw the batch from the first key

XLA's generator cannot be batched, so JAX drew a batch in a slow loop over the keys (jax#16792). jax#20094 draws the
batch from the first key and drops the other keys. Under `vmap`, equal keys give different rows (`equal_keys`), and
`unsafe_rbg` keys split differently (`unsafe_split`). The documentation of `jax.random` describes how `vmap` treats rbg
keys; threefry keys draw the same numbers with and without `vmap`.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Upstream, Workaround, compare, members


def draws() -> tuple[str, str]:
    """Does jax.vmap of jax.random.uniform over three rbg keys draw what each key draws alone?"""
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
    """Threefry keys draw the same numbers under vmap as alone, and rbg keys split into the same keys."""
    import jax
    import numpy as np

    keys = jax.random.split(jax.random.key(0, impl="threefry2x32"), 3)
    mapped = jax.vmap(lambda key: jax.random.uniform(key, (2,)))(keys)
    assert np.array_equal(mapped, [jax.random.uniform(key, (2,)) for key in keys])
    data, keys = jax.random.key_data, jax.random.split(jax.random.key(0, impl="rbg"), 3)
    assert np.array_equal(data(jax.vmap(jax.random.split)(keys)), [data(jax.random.split(key)) for key in keys])


def loop_over_keys() -> None:
    """Under jax.lax.map, each rbg and unsafe_rbg key draws and splits as it does alone."""
    import jax
    import numpy as np

    for impl in ("rbg", "unsafe_rbg"):
        data, keys = jax.random.key_data, jax.random.split(jax.random.key(0, impl=impl), 3)
        mapped = jax.lax.map(lambda key: jax.random.uniform(key, (2,)), keys)
        assert np.array_equal(mapped, [jax.random.uniform(key, (2,)) for key in keys])
        assert np.array_equal(data(jax.lax.map(jax.random.split, keys)), [data(jax.random.split(key)) for key in keys])


def mapped_draws(seeds: Any) -> Any:
    """Draw 2 x 3 floats and 2 x 3 integers for each seed in a jitted lax.map."""
    import jax

    def draw(seed: Any) -> tuple[Any, Any]:
        key = jax.random.key(seed, impl="rbg")
        return jax.random.normal(key, (2, 3)), jax.random.randint(jax.random.fold_in(key, 1), (2, 3), 0, 100)

    return jax.numpy.stack(jax.jit(lambda seeds: jax.lax.map(draw, seeds))(seeds))


def looped_draws(seeds: Any) -> Any:
    """Draw 2 x 3 floats and 2 x 3 integers for one seed after another."""
    import jax
    import numpy as np

    keys = [jax.random.key(int(seed), impl="rbg") for seed in seeds]
    floats = [jax.random.normal(key, (2, 3)) for key in keys]
    integers = [jax.random.randint(jax.random.fold_in(key, 1), (2, 3), 0, 100) for key in keys]
    return np.asarray([floats, integers], np.float32).reshape(2, -1, 2, 3)


def equal_keys() -> tuple[str, str]:
    """Does jax.vmap of jax.random.uniform over three copies of one rbg key draw three equal rows?"""
    import jax
    import numpy as np

    data = jax.random.key_data(jax.random.key(0, impl="rbg"))
    keys = jax.random.wrap_key_data(jax.numpy.stack([data] * 3), impl="rbg")
    mapped = np.asarray(jax.vmap(lambda key: jax.random.uniform(key, (2,)))(keys))
    return compare(mapped[1:], mapped[:1].repeat(2, axis=0))


def unsafe_split() -> tuple[str, str]:
    """Does jax.vmap of jax.random.split over three unsafe_rbg keys return the keys that each key gives alone?"""
    import jax

    data, keys = jax.random.key_data, jax.random.split(jax.random.key(0, impl="unsafe_rbg"), 3)
    return compare(data(jax.vmap(jax.random.split)(keys)), [data(jax.random.split(key)) for key in keys])


_SINCE = "jax#20094 (c4cf265f86), and the changelog"

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(
        change="jax#20094",
        docs="jax:jax.random.html",
        discussion="jax#19085 jax#16792 jax#22684",
    ),
    touches=(*members("jax.random", "key PRNGKey wrap_key_data", "(impl=)"), "jax.lax.rng_bit_generator"),
    control=threefry_keys,
    behaviours={"agrees": "clear", "differs": "documented"},
    rules=(Rule("agrees", "jax<0.4.26"), Rule("differs", "", _SINCE)),
    workaround=Workaround(
        "Outside vmap, draw key by key, slower and without batch_size: jax.lax.map(draw, keys).",
        loop_over_keys,
        elsewhere=Elsewhere(
            mapped_draws,
            looped_draws,
            ("uint32 vector", "zero int32 vector", "int16 one", "uint8 vector"),
        ),
    ),
    cases=(
        Case(
            draws,
            behaviours={"each-key": "clear", "first-key": "documented", "other": "different"},
            rules=(Rule("each-key", "jax<0.4.26"), Rule("first-key", "", _SINCE)),
        ),
        Case(equal_keys),
        Case(unsafe_split),
    ),
)
