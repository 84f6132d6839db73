"""Two WeightNorms that are the same are unequal, and each is traced anew

    eqx.tree_equal(eqx.nn.WeightNorm(layer), eqx.nn.WeightNorm(layer))    # False

You'd expect True, and a function of `filter_jit` to be traced once for the two, as it is for two layers. A WeightNorm
keeps a `functools.partial` of its norm, made anew for each, and two of those are equal only if they are one object. So
nothing is shared: each model that is made again, in a test or a sweep, compiles again. equinox#965 reports the
comparison. equinox#1240 found the traces and mended both; it was merged in June 2026, and is in no release run.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def traces() -> tuple[str, str]:
    """How often is a function traced for two of the same WeightNorm?"""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    if not hasattr(eqx.nn, "WeightNorm"):
        return "absent", "there is no eqx.nn.WeightNorm"
    layer, traced = eqx.nn.Linear(2, 2, key=jax.random.PRNGKey(0)), []

    @eqx.filter_jit  # type: ignore[untyped-decorator]
    def call(norm: eqx.nn.WeightNorm, x: jax.Array) -> jax.Array:
        traced.append(1)
        return norm(x)

    for norm in (eqx.nn.WeightNorm(layer), eqx.nn.WeightNorm(layer)):
        call(norm, jnp.ones(2))
    return {1: "once", 2: "twice"}[len(traced)], f"{len(traced)} traces"


def control_layers() -> None:
    """Two of the same layer are equal, and traced once."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    first, second = (eqx.nn.Linear(2, 2, key=jax.random.PRNGKey(0)) for _ in range(2))
    assert eqx.tree_equal(first, second)
    traced = []

    @eqx.filter_jit  # type: ignore[untyped-decorator]
    def call(layer: eqx.nn.Linear, x: jax.Array) -> jax.Array:
        traced.append(1)
        return layer(x)

    for layer in (first, second):
        call(layer, jnp.ones(2))
    assert len(traced) == 1


def arrays_into_the_first() -> None:
    """The arrays of the second with all else of the first: equal, and traced once."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    if not hasattr(eqx.nn, "WeightNorm"):
        return
    keys, traced = jax.random.split(jax.random.PRNGKey(0)), []
    first, second = (eqx.nn.WeightNorm(eqx.nn.Linear(2, 2, key=key)) for key in keys)
    second = eqx.combine(eqx.filter(second, eqx.is_array), eqx.filter(first, eqx.is_array, inverse=True))

    @eqx.filter_jit  # type: ignore[untyped-decorator]
    def call(norm: eqx.nn.WeightNorm, x: jax.Array) -> jax.Array:
        traced.append(1)
        return norm(x)

    for norm in (first, second):
        call(norm, jnp.ones(2))
    assert len(traced) == 1


def equality() -> tuple[str, str]:
    """Are two of the same WeightNorm equal?"""
    import equinox as eqx
    import jax

    if not hasattr(eqx.nn, "WeightNorm"):
        return "absent", "there is no eqx.nn.WeightNorm"
    layer = eqx.nn.Linear(2, 2, key=jax.random.PRNGKey(0))
    same = bool(eqx.tree_equal(eqx.nn.WeightNorm(layer), eqx.nn.WeightNorm(layer)))
    return ("equal" if same else "unequal"), f"tree_equal is {same}"


_FIRST = Workaround("Put the arrays of the others into the first: eqx.combine, eqx.filter.", arrays_into_the_first)
_ABSENT = Rule("absent", "equinox<0.11.3")

ISSUE = Issue(
    kind="retrace",
    upstream=Upstream.of(report="equinox#965", fix="equinox#1240"),
    touches=("equinox.nn.WeightNorm",),
    control=control_layers,
    workaround=_FIRST,
    needs=("jax", "equinox"),
    cases=(
        Case(traces, behaviours={"once": "clear", "twice": "affected"}, rules=(_ABSENT, Rule("twice"))),
        Case(equality, behaviours={"equal": "clear"}, rules=(_ABSENT, Rule("unequal"))),
    ),
)
