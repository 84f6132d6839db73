"""Names that warn or raise only when they are called: host_callback.call, static_field, WeaklyDiagonalControlTerm

    jax.experimental.host_callback.call(f, x, result_shape=x)    # NotImplementedError, though the module imports

A name that is gone fails where it is looked up, and one that is deprecated warns there. These do not. `call` of
`jax.experimental.host_callback` warns from jax 0.4.26 and raises from 0.4.35 (jax#20385), while the module imports up
to 0.7.2 (with a UserWarning from 0.7.1, jax#30798). `diffrax.WeaklyDiagonalControlTerm` warns where one is made, from
diffrax 0.6.0, and `equinox.static_field`, which has been `field(static=True)` since 0.10, from 0.13.0.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def host_callback_call() -> tuple[str, str]:
    """Does jax.experimental.host_callback.call call a function?"""
    import jax
    from jax.experimental import host_callback

    negate = jax.jit(lambda x: host_callback.call(lambda y: -y, x, result_shape=x))
    return "there", f"{float(negate(1.0))}"


def kept_names() -> None:
    """What is documented for all releases of the line is there."""
    import jax
    import jax.numpy as jnp

    assert all(map(callable, (jax.jit, jax.grad, jax.vmap, jax.device_put, jnp.pad, jax.tree_util.tree_leaves)))


def by_pure_callback() -> None:
    """jax.pure_callback, and jax.experimental.io_callback."""
    import jax
    import numpy as np

    assert float(jax.pure_callback(np.negative, jax.ShapeDtypeStruct((), "float32"), np.float32(1.0))) == -1.0


def weakly_diagonal() -> tuple[str, str]:
    """Is there a diffrax.WeaklyDiagonalControlTerm?"""
    import diffrax
    import jax.numpy as jnp

    path = diffrax.LinearInterpolation(ts=jnp.arange(2.0), ys=jnp.arange(2.0))
    return "there", type(diffrax.WeaklyDiagonalControlTerm(lambda t, y, args: y, path)).__name__


def kept_in_diffrax() -> None:
    """What is documented for all releases of the line is there."""
    import diffrax
    import equinox as eqx

    assert all(map(callable, (diffrax.ODETerm, diffrax.PIDController, diffrax.SaveAt, eqx.filter_jit, eqx.tree_at)))


def by_lineax() -> None:
    """A ControlTerm whose vector field is a lineax.DiagonalLinearOperator, from 0.6.0."""
    import diffrax
    import jax.numpy as jnp

    path = diffrax.LinearInterpolation(ts=jnp.arange(2.0), ys=jnp.ones((2, 2)))
    if not hasattr(diffrax, "Event"):
        term = diffrax.WeaklyDiagonalControlTerm(lambda t, y, args: y, path)
    else:
        import lineax

        term = diffrax.ControlTerm(lambda t, y, args: lineax.DiagonalLinearOperator(y), path)
    assert term.vf_prod(0.0, jnp.array([1.0, 2.0]), None, jnp.array([3.0, 4.0])).tolist() == [3.0, 8.0]


def static_field() -> tuple[str, str]:
    """Is there an equinox.static_field?"""
    import equinox as eqx

    return "there", type(eqx.static_field()).__name__


def kept_in_equinox() -> None:
    """What is documented for all of Equinox's releases is there."""
    import equinox as eqx

    assert all(map(callable, (eqx.filter_jit, eqx.filter_grad, eqx.tree_at, eqx.partition)))


def by_field() -> None:
    """eqx.field(static=True)."""
    import equinox as eqx
    import jax

    class Model(eqx.Module):  # type: ignore[misc]
        name: str = eqx.field(static=True)

    assert not jax.tree_util.tree_leaves(Model("x"))


ISSUE = Issue(
    kind="warning",
    upstream=Upstream.of(
        changelog="jax:changelog.html https://github.com/patrick-kidger/diffrax/releases "
        "https://github.com/patrick-kidger/equinox/releases",
        report="jax#20385",
        commit="jax#30798",
    ),
    cases=(
        Case(
            host_callback_call,
            kept_names,
            rules=(
                Rule("there", "jax<0.4.26"),
                Rule("warns", "jax<0.4.35"),
                Rule("refused", "jax<0.8.0", "jax#20385"),
                Rule("gone"),
            ),
            workaround=Workaround("jax.pure_callback, or jax.experimental.io_callback.", by_pure_callback),
            signatures={
                "refused": Signature("NotImplementedError", "host_callback has been deprecated"),
                "gone": Signature("ImportError", "host_callback"),
                "warns": Signature("DeprecationWarning", "host_callback APIs are deprecated"),
            },
            touches=("jax.experimental.host_callback.call",),
        ),
        Case(
            weakly_diagonal,
            kept_in_diffrax,
            rules=(Rule("there", "diffrax<0.6.0"), Rule("warns")),
            workaround=Workaround("A ControlTerm whose vector field is a lineax.DiagonalLinearOperator.", by_lineax),
            signatures={"warns": Signature("UserWarning", "WeaklyDiagonalControlTerm")},
            needs=("jax", "equinox", "diffrax"),
            touches=("diffrax.WeaklyDiagonalControlTerm",),
        ),
        Case(
            static_field,
            kept_in_equinox,
            rules=(Rule("there", "equinox<0.13.0"), Rule("warns")),
            workaround=Workaround("eqx.field(static=True).", by_field),
            signatures={"warns": Signature("UserWarning", "static_field")},
            needs=("jax", "equinox"),
            touches=("equinox.static_field",),
        ),
    ),
)
