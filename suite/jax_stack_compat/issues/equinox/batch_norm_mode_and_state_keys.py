"""BatchNorm warns that it has a mode, and an nn.State belongs to the names of a model's layers, since Equinox 0.13

    eqx.nn.BatchNorm(2, "batch")    # UserWarning from 0.13.0: `mode` "defaults to 'ema', for backward compatibility"

You'd expect a layer in training to normalise by the batch, as other libraries do. Equinox's does by its running
statistics, in training too: equinox#659 reports how unstable that is. equinox#948, in 0.13.0, has `mode="batch"` beside
`mode="ema"`, stays with the old one, and warns; numpyro#2042 had to say which.

What is kept of a model's state had numbers for keys, and has the paths of its layers since equinox#1052, in 0.13.1
("Model.norm.ema_state_index").

Seen in these runs:

- A model whose class and layer have been renamed takes the old state up to 0.13.0. From 0.13.1 on that is a KeyError.
- The leaves in a file of `tree_serialise_leaves` have no keys, and load into the renamed model.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def default_mode() -> tuple[str, str]:
    """Does BatchNorm say that it has a mode?"""
    import equinox as eqx

    eqx.nn.BatchNorm(2, "batch")
    return "silent", "no warning"


def control_own_state() -> None:
    """A model and its own state, set and read."""
    import equinox as eqx
    import jax.numpy as jnp

    class Count(eqx.Module):  # type: ignore[misc]
        index: eqx.nn.StateIndex

        def __init__(self) -> None:
            self.index = eqx.nn.StateIndex(jnp.array(0))

    model, state = eqx.nn.make_with_state(Count)()
    assert state.set(model.index, jnp.array(5)).get(model.index) == 5


def name_the_mode() -> None:
    """With its mode named, where there is one, it does not warn, and normalises by the batch."""
    import inspect
    import warnings

    import equinox as eqx
    import jax
    import jax.numpy as jnp

    mode = {"mode": "batch"} if "mode" in inspect.signature(eqx.nn.BatchNorm).parameters else {"momentum": 0.0}
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "When `eqx.nn.BatchNorm")
        norm, state = eqx.nn.make_with_state(eqx.nn.BatchNorm)(1, "batch", **mode)
    train = jax.vmap(norm, axis_name="batch", in_axes=(0, None), out_axes=(0, None))
    _, state = train(jnp.array([[0.0], [2.0]]), state)
    out, _ = train(jnp.array([[100.0], [102.0]]), state)
    assert jnp.allclose(out[:, 0], jnp.array([-1.0, 1.0]), rtol=1e-2), out


def default_statistics() -> tuple[str, str]:
    """Does a BatchNorm in training normalise a second batch by its own mean?"""
    import warnings

    import equinox as eqx
    import jax
    import jax.numpy as jnp

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        norm, state = eqx.nn.make_with_state(eqx.nn.BatchNorm)(1, "batch")
    train = jax.vmap(norm, axis_name="batch", in_axes=(0, None), out_axes=(0, None))
    _, state = train(jnp.array([[0.0], [2.0]]), state)
    out, _ = train(jnp.array([[100.0], [102.0]]), state)
    by_batch, evidence = compare(out[:, 0], [-1.0, 1.0], rtol=1e-2)
    return {"agrees": "by-the-batch", "differs": "by-running-statistics"}[by_batch], evidence


def renamed_layer() -> tuple[str, str]:
    """Does a model take the state of one that is the same but for the name of a layer?"""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    class Count(eqx.Module):  # type: ignore[misc]
        index: eqx.nn.StateIndex

        def __init__(self) -> None:
            self.index = eqx.nn.StateIndex(jnp.array(0))

    class Before(eqx.Module):  # type: ignore[misc]
        norm: Count

    class After(eqx.Module):  # type: ignore[misc]
        first_norm: Count

    _, state = eqx.nn.make_with_state(lambda: Before(Count()))()
    state = jax.tree_util.tree_map(lambda count: count + 5, state)
    model, _ = eqx.nn.make_with_state(lambda: After(Count()))()
    return "taken", f"its count is {state.get(model.first_norm.index)}"


def leaves_into_a_new_state() -> None:
    """The leaves of the old state in the structure of the new one, which is what a file of leaves comes to."""
    import io

    import equinox as eqx
    import jax
    import jax.numpy as jnp

    class Count(eqx.Module):  # type: ignore[misc]
        index: eqx.nn.StateIndex

        def __init__(self) -> None:
            self.index = eqx.nn.StateIndex(jnp.array(0))

    class Before(eqx.Module):  # type: ignore[misc]
        norm: Count

    class After(eqx.Module):  # type: ignore[misc]
        first_norm: Count

    _, state = eqx.nn.make_with_state(lambda: Before(Count()))()
    eqx.tree_serialise_leaves(file := io.BytesIO(), jax.tree_util.tree_map(lambda count: count + 5, state))
    file.seek(0)
    model, fresh = eqx.nn.make_with_state(lambda: After(Count()))()
    assert eqx.tree_deserialise_leaves(file, fresh).get(model.first_norm.index) == 5


ISSUE = Issue(
    kind="warning",
    upstream=Upstream.of(
        report="equinox#659 equinox#1050", fix="equinox#948", change="equinox#1052 pyro-ppl/numpyro#2042"
    ),
    touches=("equinox.nn.BatchNorm", "equinox.nn.State", "equinox.nn.make_with_state"),
    control=control_own_state,
    workaround=Workaround('Name it: mode="batch" from 0.13.0, and momentum=0 in training before.', name_the_mode),
    needs=("jax", "equinox"),
    cases=(
        Case(
            default_mode,
            behaviours={"silent": "clear", "warned": "guarded"},
            rules=(Rule("silent", "equinox<0.13.0"), Rule("warned", "", "equinox#948")),
            signatures={"warned": Signature("UserWarning", "When `eqx.nn.BatchNorm(..., mode=...)` is unspecified")},
        ),
        Case(
            default_statistics,
            behaviours={"by-running-statistics": "documented", "by-the-batch": "clear"},
            rules=(Rule("by-running-statistics", "", "equinox#659"),),
        ),
        Case(
            renamed_layer,
            rules=(
                Rule("taken", "equinox<0.13.1", "the keys are numbers"),
                Rule("key-error", "", "equinox#1052 (c77d7a1)"),
            ),
            workaround=Workaround(
                "Put the leaves of the old state into the structure of the new one.", leaves_into_a_new_state
            ),
            signatures={"key-error": Signature("KeyError", "norm")},
        ),
    ),
)
