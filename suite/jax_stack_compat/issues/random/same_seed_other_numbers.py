"""jax.random gives other numbers and other keys for the same seed

jax@a60ead6fd1 turned `jax_threefry_partitionable` on by default, so that many devices can draw without communication
(jax#18480). A key of the default kind draws other bits, also for a single number (`scalar`), and `split` returns the
keys that `fold_in` returns (jax#13341); `fold_in` is unchanged. Splitting keys of "rbg" changed, too
(random-stream-of-uniform-draws). The changelog lists the new default as a breaking change.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare, members


def uniform() -> tuple[str, str]:
    """Does jax.random.uniform(PRNGKey(0), (4,)) draw 0.9653, 0.2252, 0.6330 and so on?"""
    import jax

    draws = jax.random.uniform(jax.random.PRNGKey(0), (4,))
    return compare(draws[:3], [0.9653214, 0.2251589, 0.6330299], rtol=1e-5)


def control_fold_in() -> None:
    """fold_in gives the same key on all releases, and a key draws the same numbers twice."""
    import jax

    key = jax.random.PRNGKey(0)
    assert jax.random.fold_in(key, 1).tolist() == [928981903, 3453687069]
    assert jax.random.uniform(key, (4,)).tolist() == jax.random.uniform(key, (4,)).tolist()


def earlier_numbers() -> None:
    """With JAX_THREEFRY_PARTITIONABLE=0, other samplers, dtypes and shapes give the earlier values, also under jit."""
    import jax

    key = jax.random.PRNGKey(7)
    assert jax.random.bits(key, (2, 3))[0].tolist() == [276534068, 861967409, 1905761346]
    assert jax.random.bits(key, dtype="uint8") == 139
    assert jax.random.split(key, 3)[:, 0].tolist() == [276534068, 1905761346, 2900896126]
    assert jax.random.randint(key, (3,), -5, 1000).tolist() == [95, 478, 678]
    assert jax.jit(lambda key: jax.random.permutation(key, 6))(key).tolist() == [5, 1, 4, 0, 3, 2]
    assert jax.random.normal(key, (3,), "float16").tolist() == [-1.0, -1.693359375, -0.41748046875]
    assert jax.random.uniform(key, (0,)).shape == (0,)


def scalar() -> tuple[str, str]:
    """Does jax.random.uniform(PRNGKey(0)) draw 0.4185?"""
    import jax

    return compare(jax.random.uniform(jax.random.PRNGKey(0)), 0.41845703125, rtol=1e-5)


def split() -> tuple[str, str]:
    """Does jax.random.split(PRNGKey(0)) return the keys [4146024105, 967050713] and [2718843009, …]?"""
    import jax

    return compare(jax.random.split(jax.random.PRNGKey(0)).ravel()[:3], [4146024105, 967050713, 2718843009])


_ONE = "(not given(shape) or len(shape) == 0)"
_SEEDED = "uses('jax.random.PRNGKey', 'jax.random.key')"

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(
        report="jax#13346",
        change="jax@a60ead6fd1 jax#13341",
        docs="jax:changelog.html#jax-0-5-0-jan-17-2025",
        discussion="jax#18480 jax#25981",
    ),
    touches=("jax_threefry_partitionable",),
    control=control_fold_in,
    behaviours={"agrees": "clear", "differs": "documented"},
    rules=(
        Rule("agrees", "jax<0.5.0"),
        Rule("differs", "", "a60ead6fd1 changed the default of jax_threefry_partitionable, as the changelog says"),
    ),
    workaround=Workaround(
        "Set JAX_THREEFRY_PARTITIONABLE=0 before jax is imported, which does not undo later changes of samplers.",
        environment={"JAX_THREEFRY_PARTITIONABLE": "0"},
        elsewhere=earlier_numbers,
    ),
    cases=(
        Case(uniform, touches=members("jax.random", "uniform normal", f"(key, shape) if len(shape) > 0 and {_SEEDED}")),
        Case(scalar, touches=members("jax.random", "uniform normal", f"(key, shape) if {_ONE} and {_SEEDED}")),
        Case(split, touches=(f"jax.random.split if {_SEEDED}",)),
    ),
)
