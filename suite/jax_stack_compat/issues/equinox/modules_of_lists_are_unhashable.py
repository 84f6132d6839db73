"""A module with a list or a dict has no hash, and is no static argument, since Equinox 0.13.0

    class Model(eqx.Module):
        layers: list

    parameters, static = eqx.partition(model, eqx.is_array)
    jax.jit(loss, static_argnums=1)(parameters, static)    # 0.13.0: "unhashable type: 'list'"

You'd expect what the documentation had: this was an example on its page "All of Equinox", with a network whose layers
are a list. Up to 0.12.2 the hash of a module was that of its leaves; from 0.13.0 it is that of its fields, as of a
frozen dataclass, and a list has none. A maintainer calls it a fixed bug and changed the page to a tuple (equinox#1097),
so it counts as documented here; equinox#1089 is open. It broke mosaic (mosaic#23), which gave the static half of its
loss to `jax.jit(static_argnames=)`.

`eqx.filter_jit` flattens such modules first. The reporter of equinox#1089 met the error with it, too.

Seen in these runs:

- `eqx.filter_jit` of a function takes a module with a list and a dict on every release.
- It also takes such a module itself, its method and its static half (Equinox 0.12.2, 0.13.2 and 0.13.8).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def hash_of_a_dict() -> tuple[str, str]:
    """Has a module with a dict a hash?"""
    import equinox as eqx

    class Model(eqx.Module):  # type: ignore[misc]
        rates: dict[str, float]

    same = hash(Model({"a": 1.0})) == hash(Model({"a": 1.0}))
    return ("hashed" if same else "two-hashes"), f"two of the same have the same hash: {same}"


def control_tuple() -> None:
    """A module with a tuple of layers has a static half that is hashable."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    class Model(eqx.Module):  # type: ignore[misc]
        layers: tuple[eqx.nn.Linear, ...]

    model = Model((eqx.nn.Linear(2, 2, key=jax.random.PRNGKey(0)),))
    parameters, static = eqx.partition(model, eqx.is_array)

    def first(parameters: Model, static: Model) -> jax.Array:
        return eqx.combine(parameters, static).layers[0](jnp.ones(2))

    assert jnp.allclose(jax.jit(first, static_argnums=1)(parameters, static), model.layers[0](jnp.ones(2)))


def by_filter_jit() -> None:
    """eqx.filter_jit takes the module as it is, with a list or a dict."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    class Model(eqx.Module):  # type: ignore[misc]
        layers: list[eqx.nn.Linear]
        rates: dict[str, float]

    model = Model([eqx.nn.Linear(2, 2, key=jax.random.PRNGKey(0))], {"a": 2.0})
    out = eqx.filter_jit(lambda model, x: model.rates["a"] * model.layers[0](x))(model, jnp.ones(2))
    assert jnp.allclose(out, 2.0 * model.layers[0](jnp.ones(2)))


def static_argument() -> tuple[str, str]:
    """Does jax.jit take the static half of a module with a list of layers?"""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    class Model(eqx.Module):  # type: ignore[misc]
        layers: list[eqx.nn.Linear]

    model = Model([eqx.nn.Linear(2, 2, key=jax.random.PRNGKey(0))])
    parameters, static = eqx.partition(model, eqx.is_array)

    def first(parameters: Model, static: Model) -> jax.Array:
        return eqx.combine(parameters, static).layers[0](jnp.ones(2))

    out = jax.jit(first, static_argnums=1)(parameters, static)
    return "hashed", f"an output of shape {out.shape}"


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="equinox#1089 equinox#1097 escalante-bio/mosaic#23", change="equinox@2c3fbae"),
    touches=("equinox.partition", "jax.jit(static_argnums=)", "jax.jit(static_argnames=)"),
    known_by=r"Non-hashable.*\b(equinox|eqx)\b",
    control=control_tuple,
    behaviours={"hashed": "clear", "two-hashes": "affected", "unhashable": "documented"},
    rules=(Rule("hashed", "equinox<0.13.0"), Rule("unhashable", "", "2c3fbae")),
    workaround=Workaround("eqx.filter_jit of the whole module; or a tuple for the list.", by_filter_jit),
    needs=("jax", "equinox"),
    cases=(
        Case(
            hash_of_a_dict, signatures={"unhashable": Signature("TypeError", "unhashable type: 'dict'", everyday=True)}
        ),
        Case(
            static_argument,
            signatures={
                "unhashable": Signature("ValueError", "Non-hashable static arguments are not supported", everyday=True)
            },
        ),
    ),
)
