"""Names that old code takes from Diffrax and Equinox are gone or warned of: NewtonNonlinearSolver and others

    diffrax.ImplicitEuler(nonlinear_solver=diffrax.NewtonNonlinearSolver(rtol=1e-3, atol=1e-6))    # up to diffrax 0.4.1
    diffrax.ImplicitEuler(root_finder=diffrax.VeryChord(rtol=1e-3, atol=1e-6))                     # from 0.5.0

Both packages keep names for long, and where one has a better name they warn for years: of `WeaklyDiagonalControlTerm`
since diffrax 0.6.0, of `equinox.static_field`, which has been `field(static=True)` since 0.10, from 0.13.0. What did go
went at once: with diffrax 0.5.0 the nonlinear solvers, which Optimistix has now, and every module below `diffrax`, so
that `from diffrax.misc import …` fails. Of Equinox's internals, which say that they are such, `if_mapped` and `tree_pp`
went in patch releases.

Seen in these runs: with diffrax 0.5.1 alone `UnsafeBrownianPath(shape, key)` is a TypeError. It works with 0.4.1 to
0.5.0 and from 0.6.0 on, and with `levy_area` named it works in 0.5.1 too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from suite.cell import Case, Issue, Rule, Signature, Upstream, Workaround

Seeing = Callable[[], tuple[str, str]]


def newton() -> tuple[str, str]:
    """Is there a diffrax.NewtonNonlinearSolver?"""
    import diffrax

    return "there", diffrax.NewtonNonlinearSolver.__name__


def nonlinear_solver() -> tuple[str, str]:
    """Does an implicit solver take nonlinear_solver?"""
    import diffrax

    return "there", type(diffrax.ImplicitEuler(nonlinear_solver=None)).__name__


def by_root_finder() -> None:
    """diffrax.VeryChord as the root_finder, from 0.5.0; before, what there was."""
    import diffrax

    if hasattr(diffrax, "VeryChord"):
        diffrax.ImplicitEuler(root_finder=diffrax.VeryChord(rtol=1e-3, atol=1e-6))
    else:
        diffrax.ImplicitEuler(nonlinear_solver=diffrax.NewtonNonlinearSolver(rtol=1e-3, atol=1e-6))


def submodules() -> tuple[str, str]:
    """Is there a module diffrax.misc, as below it all others?"""
    from diffrax import misc

    return "there", misc.__name__


def by_the_package() -> None:
    """Names of the package itself."""
    from diffrax import ODETerm, diffeqsolve

    assert callable(diffeqsolve)
    assert callable(ODETerm)


def weakly_diagonal() -> tuple[str, str]:
    """Is there a diffrax.WeaklyDiagonalControlTerm?"""
    import diffrax
    import jax.numpy as jnp

    path = diffrax.LinearInterpolation(ts=jnp.arange(2.0), ys=jnp.arange(2.0))
    return "there", type(diffrax.WeaklyDiagonalControlTerm(lambda t, y, args: y, path)).__name__


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


def brownian_path() -> tuple[str, str]:
    """Is there a diffrax.UnsafeBrownianPath(shape, key)?"""
    import diffrax
    import jax

    return "there", type(diffrax.UnsafeBrownianPath((), jax.random.PRNGKey(0))).__name__


def by_levy_area() -> None:
    """With the levy_area said, where there is one to say."""
    import diffrax
    import jax

    area = {"levy_area": diffrax.BrownianIncrement} if hasattr(diffrax, "BrownianIncrement") else {}
    path = diffrax.UnsafeBrownianPath((), jax.random.PRNGKey(0), **area)
    assert path.evaluate(0.0, 1.0).shape == ()


def static_field() -> tuple[str, str]:
    """Is there an equinox.static_field?"""
    import equinox as eqx

    return "there", type(eqx.static_field()).__name__


def by_field() -> None:
    """eqx.field(static=True)."""
    import equinox as eqx
    import jax

    class Model(eqx.Module):  # type: ignore[misc]
        name: str = eqx.field(static=True)

    assert not jax.tree_util.tree_leaves(Model("x"))


def internal_if_mapped() -> tuple[str, str]:
    """Is there an equinox.internal.if_mapped?"""
    import equinox.internal as eqxi

    return "there", str(eqxi.if_mapped)


def internal_tree_pp() -> tuple[str, str]:
    """Is there an equinox.internal.tree_pp?"""
    import equinox.internal as eqxi

    return "there", eqxi.tree_pp.__name__


def by_public_names() -> None:
    """eqx.if_array, and eqx.tree_pformat."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    assert eqx.filter_vmap(lambda x: x, in_axes=eqx.if_array(0))(jnp.ones(2)).shape == (2,)
    assert eqx.tree_pformat(jax.numpy.ones(2)) == "f32[2]"


def kept_names() -> None:
    """What is documented for all releases of the line is there."""
    import diffrax
    import equinox as eqx

    assert all(map(callable, (diffrax.ODETerm, diffrax.PIDController, diffrax.SaveAt, eqx.filter_jit, eqx.tree_at)))


def kept_in_equinox() -> None:
    """What is documented for all of Equinox's releases is there."""
    import equinox as eqx

    assert all(map(callable, (eqx.filter_jit, eqx.filter_grad, eqx.tree_at, eqx.partition)))


def _case(
    name: str,
    reproducer: Seeing,
    code: Callable[[], None],
    text: str,
    *,
    package: str = "diffrax",
    warns: str = "",
    gone: str = "",
) -> Case:
    there = Rule("there", f"{package}<{warns or gone}", f"run to the last release of {package} before {warns or gone}")
    last = "gone" if gone else "warns"
    return Case(
        reproducer,
        kept_names if package == "diffrax" else kept_in_equinox,
        rules=(there, Rule(last, "", f"run on releases of the line from {package} {gone or warns}")),
        workaround=Workaround(text, code),
        signatures={
            "gone": tuple(
                Signature(each, name) for each in ("AttributeError", "ImportError", "ModuleNotFoundError", "TypeError")
            ),
            "warns": Signature("UserWarning", name),
        },
        needs=("jax", "equinox", package) if package != "equinox" else ("jax", "equinox"),
    )


_ROOT = "diffrax.VeryChord as the root_finder, from 0.5.0."

ISSUE = Issue(
    kind="import-error",
    upstream=(
        Upstream("https://github.com/patrick-kidger/diffrax/releases", "changelog"),
        Upstream("https://github.com/patrick-kidger/equinox/releases", "changelog"),
    ),
    touches=(
        *("diffrax.NewtonNonlinearSolver", "diffrax.AffineNonlinearSolver", "diffrax.AbstractNonlinearSolver"),
        *("diffrax.NonlinearSolution", "diffrax.ImplicitEuler(nonlinear_solver=)", "diffrax.misc"),
        *("diffrax.WeaklyDiagonalControlTerm", "equinox.static_field", "equinox.internal.if_mapped"),
        "diffrax.UnsafeBrownianPath",
        "equinox.internal.tree_pp",
    ),
    cases=(
        _case("Newton", newton, by_root_finder, _ROOT, gone="0.5.0"),
        _case("nonlinear_solver", nonlinear_solver, by_root_finder, _ROOT, gone="0.5.0"),
        _case("misc", submodules, by_the_package, "Names of the package itself.", gone="0.5.0"),
        _case(
            "WeaklyDiagonalControlTerm",
            weakly_diagonal,
            by_lineax,
            "A ControlTerm whose vector field is a lineax.DiagonalLinearOperator.",
            warns="0.6.0",
        ),
        replace(
            _case(
                "levy_area", brownian_path, by_levy_area, "Say it: levy_area=diffrax.BrownianIncrement.", gone="0.5.1"
            ),
            rules=(
                Rule("gone", "diffrax==0.5.1", "run on diffrax 0.5.1"),
                Rule("there", "", "run on releases of the line from 0.4.1 to 0.5.0, and from 0.6.0"),
            ),
        ),
        _case("static_field", static_field, by_field, "eqx.field(static=True).", package="equinox", warns="0.13.0"),
        _case(
            "if_mapped", internal_if_mapped, by_public_names, "eqx.if_array(axis).", package="equinox", gone="0.11.10"
        ),
        _case("tree_pp", internal_tree_pp, by_public_names, "eqx.tree_pformat.", package="equinox", gone="0.11.12"),
    ),
)
