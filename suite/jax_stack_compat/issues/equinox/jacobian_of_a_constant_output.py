"""filter_jacfwd and filter_jacrev return an output itself where it does not depend on the input, in Equinox 0.11.4

    eqx.filter_jacfwd(lambda x: (x**2, jnp.array(7.0)))(2.0)    # (4.0, 7.0), and not (4.0, 0.0)

You'd expect 0, which is the derivative of a constant, and what `jax.jacfwd` gives. Equinox 0.11.4, the first with these
functions, takes an output that nothing of the input is in for a static one, and hands it back as it is, with the
output's shape. `jax.lax.stop_gradient(x)` is such an output, too. Where all outputs depend on the input it is an error
instead: equinox#734 has it of the network on Equinox's home page. 0.11.5 leaves outputs alone, and its documentation
says that they have to be of JAX's types; `filter_hessian` is mended with the two.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def forward_mode() -> tuple[str, str]:
    """Is the Jacobian of a constant output 0, by filter_jacfwd?"""
    import equinox as eqx
    import jax.numpy as jnp

    if not hasattr(eqx, "filter_jacfwd"):
        return "absent", "there is no eqx.filter_jacfwd"
    jacobian = eqx.filter_jacfwd(lambda x: (x**2, jnp.array(7.0)))(jnp.array(2.0))
    return compare(jnp.stack(jacobian), [4.0, 0.0])


def control_jax() -> None:
    """jax.jacfwd and jax.jacrev of the same, and filter_grad by the layer, are right."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    for jacobian in (jax.jacfwd, jax.jacrev):
        assert [float(each) for each in jacobian(lambda x: (x**2, jnp.array(7.0)))(2.0)] == [4.0, 0.0]
    layer = eqx.nn.Linear(2, "scalar", key=jax.random.PRNGKey(0))
    gradient = eqx.filter_grad(lambda layer: layer(jnp.array([1.0, 2.0])))(layer)
    assert gradient.weight.tolist() == [[1.0, 2.0]]


def by_partition() -> None:
    """jax.jacfwd by the arrays alone, with the rest put back in the function."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    layer = eqx.nn.Linear(2, "scalar", key=jax.random.PRNGKey(0))
    arrays, rest = eqx.partition(layer, eqx.is_inexact_array)

    def outputs(arrays: eqx.nn.Linear) -> tuple[jax.Array, jax.Array]:
        return eqx.combine(arrays, rest)(jnp.array([1.0, 2.0])), jnp.array(7.0)

    for jacobian in (jax.jacfwd, jax.jacrev):
        out, constant = jacobian(outputs)(arrays)
        assert out.weight.tolist() == [[1.0, 2.0]]
        assert not constant.weight.any()


def reverse_mode() -> tuple[str, str]:
    """Is that of a stopped gradient, by filter_jacrev?"""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    if not hasattr(eqx, "filter_jacrev"):
        return "absent", "there is no eqx.filter_jacrev"
    jacobian = eqx.filter_jacrev(lambda x: (x**2, jax.lax.stop_gradient(x)))(jnp.array(3.0))
    return compare(jnp.stack(jacobian), [6.0, 0.0])


def of_a_model() -> tuple[str, str]:
    """Is there a Jacobian of a scalar by a layer?"""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    if not hasattr(eqx, "filter_jacfwd"):
        return "absent", "there is no eqx.filter_jacfwd"
    layer = eqx.nn.Linear(2, "scalar", key=jax.random.PRNGKey(0))
    jacobian = eqx.filter_jacfwd(lambda layer: layer(jnp.array([1.0, 2.0])))(layer)
    return compare(jacobian.weight, [[1.0, 2.0]])


_ABSENT = Rule("absent", "equinox<0.11.4")
_MENDED = Rule("agrees", "", "equinox#734 (d4f6a0e)")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(fix="equinox#734", report="equinox#741"),
    touches=("equinox.filter_jacfwd", "equinox.filter_jacrev", "equinox.filter_hessian"),
    control=control_jax,
    rules=(_ABSENT, Rule("differs", "equinox<0.11.5"), _MENDED),
    workaround=Workaround("jax.jacfwd or jax.jacrev of eqx.partition's arrays.", by_partition),
    needs=("jax", "equinox"),
    cases=(
        Case(forward_mode),
        Case(reverse_mode),
        Case(
            of_a_model,
            behaviours={"mismatch": "affected"},
            rules=(_ABSENT, Rule("mismatch", "equinox<0.11.5"), _MENDED),
            signatures={"mismatch": Signature("ValueError", "Custom node type mismatch", everyday=True)},
        ),
    ),
)
