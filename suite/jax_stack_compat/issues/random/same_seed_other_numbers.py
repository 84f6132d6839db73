"""jax.random with the same seed gives other numbers from jax 0.5.0 on

    jax.random.uniform(jax.random.PRNGKey(0), (4,))    # [0.965, 0.225, ...] up to jax 0.4.38, then [0.948, 0.979, ...]

You'd expect a seed to stand for its numbers. With 0.5.0 the default of `jax_threefry_partitionable` changed, so that
random bits can be made on many devices without talk between them, and with it nearly every draw. The changelog calls it
a breaking change (and it is why that release is 0.5.0), the tracking issue is of 2022; nothing is said at run time, and
what was computed from a seed before is not found again. The old numbers are there still: JAX_THREEFRY_PARTITIONABLE=0
gives them, on the newest release as well.

Seen in these runs:

- Keys change with `split`, but not with `fold_in`: what takes its keys by `fold_in` alone keeps its keys.
- A draw of shape `()` changes too; it is not a matter of large arrays.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround, compare, members


def uniform() -> tuple[str, str]:
    """Does jax.random.uniform of PRNGKey(0) give the numbers that it gave up to jax 0.4.38?"""
    import jax

    draws = jax.random.uniform(jax.random.PRNGKey(0), (4,))
    return compare(draws[:3], [0.9653214, 0.2251589, 0.6330299], rtol=1e-5)


def control_fold_in() -> None:
    """The same key comes of the same seed by `fold_in` on every release, and a seed gives the same numbers twice."""
    import jax

    key = jax.random.PRNGKey(0)
    assert jax.random.fold_in(key, 1).tolist() == [928981903, 3453687069]
    assert jax.random.uniform(key, (4,)).tolist() == jax.random.uniform(key, (4,)).tolist()


def scalar() -> tuple[str, str]:
    """Does a single draw?"""
    import jax

    return compare(jax.random.uniform(jax.random.PRNGKey(0)), 0.41845703125, rtol=1e-5)


def split() -> tuple[str, str]:
    """Does jax.random.split?"""
    import jax

    return compare(jax.random.split(jax.random.PRNGKey(0)).ravel()[:3], [4146024105, 967050713, 2718843009])


_ONE = "(not given(shape) or len(shape) == 0)"
_SEEDED = "uses('jax.random.PRNGKey', 'jax.random.key')"

ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(
        report="jax#13346", docs="jax:changelog.html#jax-0-5-0-jan-17-2025", discussion="jax#18480 jax#25981"
    ),
    touches=("jax_threefry_partitionable",),
    control=control_fold_in,
    rules=(Rule("agrees", "jax<0.5.0"), Rule("differs", "", "jax_threefry_partitionable is on by default")),
    workaround=Workaround(
        "Set JAX_THREEFRY_PARTITIONABLE=0 in the environment, for numbers that were made before.",
        environment={"JAX_THREEFRY_PARTITIONABLE": "0"},
    ),
    cases=(
        Case(uniform, touches=members("jax.random", "uniform normal", f"(key, shape) if len(shape) > 0 and {_SEEDED}")),
        Case(scalar, touches=members("jax.random", "uniform normal", f"(key, shape) if {_ONE} and {_SEEDED}")),
        Case(split, touches=(f"jax.random.split if {_SEEDED}",)),
    ),
)
