"""jnp.empty is not initialised since jax 0.11.0, the changelog says; on the CPU it is zeros still

    total = jnp.empty(3).at[0].add(1.0)     # right up to jax 0.10.2 everywhere; luck from 0.11.0, but on the CPU

Up to 0.10.2 `jnp.empty` and `jnp.empty_like` were `jnp.zeros` by another name, documented as such, and code leans
on it. From 0.11.0 they are a primitive of their own, "uninitialized arrays, similar to their NumPy counterparts".
JAX had leaned on it itself: jax#38674 and jax#38760 had to come first.

Seen in these runs: on the CPU its values are zeros from 0.4.18 on, eager and under jit. Memory of the same
size was filled and freed before, for 3, 4096 and 262144 numbers. So a test that runs on the CPU cannot find code that
leans on zeros.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def jaxpr() -> tuple[str, str]:
    """Is jnp.empty a fill with zeros in the jaxpr, as jnp.zeros is?"""
    import jax
    import jax.numpy as jnp

    names = [
        [str(equation.primitive) for equation in jax.make_jaxpr(f)(jnp.ones(3, "int32")).eqns]
        for f in (lambda x: jnp.empty(3), lambda x: jnp.empty_like(x))
    ]
    zeros = names == [["broadcast_in_dim"]] * 2
    return ("zeros" if zeros else "uninitialised" if names == [["empty"]] * 2 else "other"), f"{names}"


def zeros() -> None:
    """jnp.zeros is zeros."""
    import jax.numpy as jnp

    assert jnp.zeros(3).tolist() == [0.0, 0.0, 0.0]
    assert jnp.empty(3).shape == (3,)


def ask_for_zeros() -> None:
    """jnp.zeros and jnp.zeros_like where zeros are meant."""
    import jax
    import jax.numpy as jnp

    equations = jax.make_jaxpr(lambda x: jnp.zeros_like(x))(jnp.ones(3)).eqns
    assert [str(equation.primitive) for equation in equations] == ["broadcast_in_dim"]
    assert jnp.zeros(3).at[0].add(1.0).tolist() == [1.0, 0.0, 0.0]


def values_on_cpu() -> tuple[str, str]:
    """Are the values of jnp.empty zeros on the CPU, after memory of its size was filled and freed?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    found = 0
    for size in (3, 4096, 2**18):
        for _ in range(10):
            filled = jnp.full(size, 7.0).block_until_ready()
            del filled
            found += int(np.count_nonzero(np.asarray(jnp.empty(size))))
            found += int(np.count_nonzero(np.asarray(jnp.empty_like(jnp.ones(size)))))
        found += int(np.count_nonzero(np.asarray(jax.jit(lambda x, size=size: jnp.empty(size) + x)(0.0))))
    return ("other-values" if found else "zeros"), f"{'some' if found else 'no'} values that are not 0"


ISSUE = Issue(
    kind="silent-change",
    upstream=Upstream.of(
        change="jax@11cefe9729 jax#38674 jax#38760", docs="jax:changelog.html", discussion="jax#36681"
    ),
    touches=("jax.numpy.empty", "jax.numpy.empty_like", "jax.lax.empty"),
    control=zeros,
    workaround=Workaround("Say jnp.zeros or jnp.zeros_like.", ask_for_zeros),
    cases=(
        Case(
            jaxpr,
            behaviours={"zeros": "clear", "uninitialised": "documented", "other": "different"},
            rules=(Rule("zeros", "jax<0.11.0"), Rule("uninitialised", "", "11cefe9729, and the changelog")),
        ),
        Case(
            values_on_cpu,
            behaviours={"zeros": "clear", "other-values": "documented"},
            rules=(Rule("zeros", "", "on the CPU"),),
        ),
    ),
)
