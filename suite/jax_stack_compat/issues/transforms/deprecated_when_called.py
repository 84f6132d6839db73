"""jax.experimental.host_callback.call raises an error

JAX deprecated `jax.experimental.host_callback` in favour of its external callbacks (jax#20385), and `call` warned.
Since jax@023f2a78be, `call` raises NotImplementedError, although the module can be imported. jax#30798 also deprecated
the module, and jax@9123e6ab76 removed it, so importing it fails. `equinox.static_field` and
`diffrax.WeaklyDiagonalControlTerm` still return a value, with a UserWarning that names the replacement.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround


def host_callback_call() -> tuple[str, str]:
    """Does jax.experimental.host_callback.call run a Python function under jit?"""
    import jax
    from jax.experimental import host_callback

    negate = jax.jit(lambda x: host_callback.call(lambda y: -y, x, result_shape=x))
    return "there", f"{float(negate(1.0))}"


def kept_names() -> None:
    """Functions of JAX that were not deprecated exist."""
    import jax
    import jax.numpy as jnp

    assert all(map(callable, (jax.jit, jax.grad, jax.vmap, jax.device_put, jnp.pad, jax.tree_util.tree_leaves)))


def by_pure_callback() -> None:
    """jax.pure_callback calls a function without side effects."""
    import jax
    import numpy as np

    assert float(jax.pure_callback(np.negative, jax.ShapeDtypeStruct((), "float32"), np.float32(1.0))) == -1.0


def sorted_by_callback(x: Any) -> Any:
    """Under jit, call a function that copies its array and sorts the copy in place."""
    import jax
    import numpy as np

    def f(array: Any) -> Any:
        copied = array.copy()
        copied.sort()
        return copied

    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.jit(lambda x: jax.pure_callback(lambda x: f(np.asarray(x)), shape, x))(x)


def numpy_sort(x: Any) -> Any:
    """Return NumPy's sorted array."""
    import numpy as np

    return np.sort(x)


def weakly_diagonal() -> tuple[str, str]:
    """Can diffrax.WeaklyDiagonalControlTerm be constructed without a warning?"""
    import diffrax
    import jax.numpy as jnp

    path = diffrax.LinearInterpolation(ts=jnp.arange(2.0), ys=jnp.arange(2.0))
    return "there", type(diffrax.WeaklyDiagonalControlTerm(lambda t, y, args: y, path)).__name__


def kept_in_diffrax() -> None:
    """Functions of Diffrax and Equinox that were not deprecated exist."""
    import diffrax
    import equinox as eqx

    assert all(map(callable, (diffrax.ODETerm, diffrax.PIDController, diffrax.SaveAt, eqx.filter_jit, eqx.tree_at)))


def by_lineax() -> None:
    """diffrax.ControlTerm multiplies by a lineax.DiagonalLinearOperator, on Diffrax releases that accept one."""
    import diffrax
    import jax.numpy as jnp

    path = diffrax.LinearInterpolation(ts=jnp.arange(2.0), ys=jnp.ones((2, 2)))
    if not hasattr(diffrax, "Event"):
        term = diffrax.WeaklyDiagonalControlTerm(lambda t, y, args: y, path)
    else:
        import lineax

        term = diffrax.ControlTerm(lambda t, y, args: lineax.DiagonalLinearOperator(y), path)
    assert term.vf_prod(0.0, jnp.array([1.0, 2.0]), None, jnp.array([3.0, 4.0])).tolist() == [3.0, 8.0]


def solve_by_lineax() -> None:
    """Four Euler steps with a DiagonalLinearOperator agree with NumPy, for vectors of one and of three numbers."""
    import diffrax
    import jax.numpy as jnp
    import numpy as np

    for size in (1, 3):
        control = np.square(np.arange(5.0, dtype=np.float32))[:, None] * np.arange(1.0, size + 1.0, dtype=np.float32)
        path = diffrax.LinearInterpolation(ts=jnp.arange(5.0), ys=jnp.asarray(control))
        if not hasattr(diffrax, "Event"):
            term = diffrax.WeaklyDiagonalControlTerm(lambda t, y, args: y / 8, path)
        else:
            import lineax

            term = diffrax.ControlTerm(lambda t, y, args: lineax.DiagonalLinearOperator(y / 8), path)
        solution = diffrax.diffeqsolve(term, diffrax.Euler(), 0.0, 4.0, 1.0, jnp.ones(size))
        wanted = np.prod(1 + np.diff(control, axis=0) / 8, axis=0)
        np.testing.assert_allclose(solution.ys[-1], wanted, rtol=1e-5)


def static_field() -> tuple[str, str]:
    """Can equinox.static_field be called without a warning?"""
    import equinox as eqx

    return "there", type(eqx.static_field()).__name__


def kept_in_equinox() -> None:
    """Functions of Equinox that were not deprecated exist."""
    import equinox as eqx

    assert all(map(callable, (eqx.filter_jit, eqx.filter_grad, eqx.tree_at, eqx.partition)))


def by_field() -> None:
    """eqx.field(static=True) makes a static field."""
    import equinox as eqx
    import jax

    class Model(eqx.Module):  # type: ignore[misc]
        name: str = eqx.field(static=True)

    assert not jax.tree_util.tree_leaves(Model("x"))


_INPUTS = ("float32 matrix", "int32 vector", "complex64 batch", "float16 one", "float32 empty")


def field_with_a_default() -> None:
    """Python code under filter_jit and filter_grad can use static fields, one with a default."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    class Power(eqx.Module):  # type: ignore[misc]
        weight: jax.Array
        times: int = eqx.field(static=True)
        activation: Any = eqx.field(static=True, default=jnp.square)

        def __call__(self, x: Any) -> Any:
            for _ in range(self.times):
                x = self.activation(self.weight * x)
            return jnp.sum(x)

    model = Power(jnp.array([1.0, 2.0]), 2)
    assert len(jax.tree_util.tree_leaves(model)) == 1
    assert eqx.filter_jit(lambda model, x: model(x))(model, jnp.array([2.0, 1.0])) == 16.0 + 64.0
    gradient = eqx.filter_grad(lambda model, x: model(x))(model, jnp.array([2.0, 1.0]))
    assert gradient.weight.tolist() == [6 * 16.0, 6 * 32.0]
    assert gradient.times == 2


ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(
        docs="jax:changelog.html#jax-0-4-35-oct-22-2024 https://github.com/patrick-kidger/diffrax/releases "
        "https://github.com/patrick-kidger/equinox/releases",
        discussion="jax#20385",
        change="jax#20357 jax@023f2a78be jax#30798 jax@9123e6ab76",
    ),
    behaviours={"warns": "documented"},
    cases=(
        Case(
            host_callback_call,
            kept_names,
            rules=(
                Rule("there", "jax<0.4.26"),
                Rule("warns", "jax<0.4.35", "jax#20357"),
                Rule("refused", "jax<0.8.0", "023f2a78be, and the changelog"),
                Rule("gone", "", "9123e6ab76, and the changelog"),
            ),
            workaround=Workaround(
                "For one array and a function without side effects, call "
                "jax.pure_callback(lambda x: f(np.asarray(x)), result_shape, x).",
                by_pure_callback,
                elsewhere=Elsewhere(sorted_by_callback, numpy_sort, _INPUTS),
            ),
            signatures={
                "refused": Signature("NotImplementedError", "host_callback has been deprecated"),
                "gone": Signature("ImportError", "host_callback"),
                "warns": Signature("DeprecationWarning", "host_callback APIs are deprecated"),
            },
            touches=("jax.experimental.host_callback.call(callback_func) if given(callback_func)",),
        ),
        Case(
            weakly_diagonal,
            kept_in_diffrax,
            rules=(Rule("there", "diffrax<0.6.0"), Rule("warns")),
            workaround=Workaround(
                "For a vector y, use diffrax.ControlTerm and wrap the vector field's value in "
                "lineax.DiagonalLinearOperator.",
                by_lineax,
                elsewhere=solve_by_lineax,
            ),
            signatures={"warns": Signature("UserWarning", "WeaklyDiagonalControlTerm")},
            needs=("jax", "equinox", "diffrax"),
            touches=("diffrax.WeaklyDiagonalControlTerm(vector_field) if given(vector_field)",),
        ),
        Case(
            static_field,
            kept_in_equinox,
            rules=(Rule("there", "equinox<0.13.0"), Rule("warns")),
            workaround=Workaround("Write eqx.field(static=True).", by_field, elsewhere=field_with_a_default),
            signatures={"warns": Signature("UserWarning", "static_field")},
            needs=("jax", "equinox"),
            touches=("equinox.static_field",),
        ),
    ),
)
