"""Names that libraries take from jax.core and jax.interpreters are gone: ClosedJaxpr, NotMapped, xla_pmap_p and others

    from jax.interpreters import batching, pxla
    batching.NotMapped    # warns from jax 0.7.1, gone from 0.10.0: an older Equinox no longer imports
    pxla.xla_pmap_p       # warns from 0.8.2, gone from 0.10.0: an older NumPyro no longer imports

None of them was public, and libraries that work on jaxprs could not do without; `jax.extend` is what JAX has made
public since. Where a name moved there, code for many releases has to look in both places, as what is run here as the
way out does. `jax.interpreters.xla.backend_specific_translations` is the odd one: gone in 0.4.24, which broke what had
lived with its warning (jax#19816), back with that in 0.4.25, and gone for good from 0.4.29. `batching.not_mapped`,
`jax.prng` and `jax.linear_util` gave no warning on the line run here. names-gone-from-jax has `Primitive` and
`get_aval`.
"""

from __future__ import annotations

from collections.abc import Callable

from suite.cell import Case, Issue, Rule, Signature, Upstream, Workaround

Seeing = Callable[[], tuple[str, str]]


def core_closed_jaxpr() -> tuple[str, str]:
    """Is there a jax.core.ClosedJaxpr?"""
    import jax
    import jax.core

    return "there", f"{isinstance(jax.make_jaxpr(abs)(1.0), jax.core.ClosedJaxpr)}"


def by_extend_core() -> None:
    """jax.extend.core.ClosedJaxpr, where it is."""
    import jax

    try:
        from jax.extend.core import ClosedJaxpr
    except ImportError:
        from jax.core import ClosedJaxpr
    assert isinstance(jax.make_jaxpr(abs)(1.0), ClosedJaxpr)


def core_unexpected_tracer_error() -> tuple[str, str]:
    """Is there a jax.core.UnexpectedTracerError?"""
    import jax.core

    return "there", jax.core.UnexpectedTracerError.__name__


def by_errors() -> None:
    """jax.errors."""
    import jax

    assert issubclass(jax.errors.UnexpectedTracerError, TypeError)
    assert issubclass(jax.errors.ConcretizationTypeError, TypeError)


def core_concretization_error() -> tuple[str, str]:
    """Is there a jax.core.ConcretizationTypeError?"""
    import jax.core

    return "there", jax.core.ConcretizationTypeError.__name__


def core_shape() -> tuple[str, str]:
    """Is there a jax.core.Shape?"""
    import jax.core

    return "there", f"{jax.core.Shape}"


def by_tuple() -> None:
    """tuple[int, ...]."""
    import jax.numpy as jnp

    shape: tuple[int, ...] = jnp.ones((2, 3)).shape
    assert shape == (2, 3)


def core_pp_eqn_rules() -> tuple[str, str]:
    """Is there a jax.core.pp_eqn_rules?"""
    import jax.core

    return "there", type(jax.core.pp_eqn_rules).__name__


def by_str() -> None:
    """str of a jaxpr."""
    import jax

    assert "abs" in str(jax.make_jaxpr(abs)(1.0))


def core_call_p() -> tuple[str, str]:
    """Is there a jax.core.call_p?"""
    import jax.core

    return "there", jax.core.call_p.name


def by_primitives() -> None:
    """jax.extend.core.primitives.call_p, where it is."""
    try:
        from jax.extend.core.primitives import call_p
    except ImportError:
        from jax.core import call_p
    assert isinstance(call_p.name, str)


def core_drop_var() -> tuple[str, str]:
    """Is there a jax.core.DropVar?"""
    import jax.core

    return "there", jax.core.DropVar.__name__


def by_extend_drop_var() -> None:
    """jax.extend.core.DropVar, where it is."""
    try:
        from jax.extend.core import DropVar
    except ImportError:
        from jax.core import DropVar
    assert DropVar.__name__ == "DropVar"


def core_mapped_aval() -> tuple[str, str]:
    """Is there a jax.core.mapped_aval?"""
    import jax.core

    return "there", jax.core.mapped_aval.__name__


def by_extend_mapped_aval() -> None:
    """jax.extend.core.mapped_aval, where it is."""
    import jax.core

    try:
        from jax.extend.core import mapped_aval
    except ImportError:
        from jax.core import mapped_aval
    assert mapped_aval(3, 0, jax.core.ShapedArray((3, 2), "float32")).shape == (2,)


def linear_util() -> tuple[str, str]:
    """Is there a module jax.linear_util?"""
    from jax import linear_util as module

    return "there", module.__name__


def by_extend_linear_util() -> None:
    """jax.extend.linear_util."""
    from jax.extend import linear_util as module

    assert callable(module.wrap_init)


def prng() -> tuple[str, str]:
    """Is there a module jax.prng?"""
    from jax import prng as module

    return "there", module.__name__


def by_extend_random() -> None:
    """jax.extend.random."""
    from jax.extend import random as module

    assert module.threefry_prng_impl.name == "threefry2x32"


def backend_specific_translations() -> tuple[str, str]:
    """Is there a jax.interpreters.xla.backend_specific_translations?"""
    from jax.interpreters import xla

    return "there", type(xla.backend_specific_translations).__name__


def by_register_lowering() -> None:
    """jax.interpreters.mlir.register_lowering."""
    from jax.interpreters import mlir

    assert callable(mlir.register_lowering)


def xla_pytype_aval_mappings() -> tuple[str, str]:
    """Is there a jax.interpreters.xla.pytype_aval_mappings?"""
    from jax.interpreters import xla

    return "there", type(xla.pytype_aval_mappings).__name__


def by_jax_array() -> None:
    """A method __jax_array__, for a class of your own."""
    import jax.numpy as jnp

    class Mine:
        def __jax_array__(self) -> jnp.ndarray:
            return jnp.ones(2)

    assert jnp.sum(jnp.asarray(Mine())) == 2.0


def xla_canonicalize_dtype() -> tuple[str, str]:
    """Is there a jax.interpreters.xla.canonicalize_dtype?"""
    from jax.interpreters import xla

    return "there", xla.canonicalize_dtype.__name__


def by_dtypes() -> None:
    """jax.dtypes.canonicalize_dtype."""
    import jax.dtypes

    assert jax.dtypes.canonicalize_dtype("float64") == "float32"


def xla_xc() -> tuple[str, str]:
    """Is there a jax.interpreters.xla.xc?"""
    from jax.interpreters import xla

    return "there", xla.xc.__name__


def by_jaxlib() -> None:
    """jaxlib.xla_client, which is an internal of another package."""
    from jaxlib import xla_client

    assert xla_client.__name__ == "jaxlib.xla_client"


def batching_not_mapped() -> tuple[str, str]:
    """Is there a jax.interpreters.batching.not_mapped?"""
    from jax.interpreters import batching

    return "there", f"{batching.not_mapped}"


def by_none() -> None:
    """None, which it was since 0.4.18 and before."""
    from jax.interpreters import batching

    assert getattr(batching, "not_mapped", None) is None


def batching_class_not_mapped() -> tuple[str, str]:
    """Is there a jax.interpreters.batching.NotMapped?"""
    from jax.interpreters import batching

    return "there", f"{batching.NotMapped}"


def by_type_of_none() -> None:
    """type(None)."""
    from jax.interpreters import batching

    assert isinstance(getattr(batching, "not_mapped", None), type(None))


def xla_pmap_p() -> tuple[str, str]:
    """Is there a jax.interpreters.pxla.xla_pmap_p?"""
    from jax.interpreters import pxla

    return "there", pxla.xla_pmap_p.name


def by_jaxpr() -> None:
    """What jax.pmap is in a jaxpr, seen rather than named."""
    import jax
    import jax.numpy as jnp

    jaxpr = jax.make_jaxpr(jax.pmap(abs))(jnp.ones((jax.local_device_count(), 2)))
    assert jaxpr.eqns


def mlir_custom_call() -> tuple[str, str]:
    """Is there a jax.interpreters.mlir.custom_call?"""
    from jax.interpreters import mlir

    return "there", mlir.custom_call.__name__


def by_ffi_lowering() -> None:
    """jax.ffi.ffi_lowering, from 0.5.0; before, jax.extend.ffi has it, and before that only this."""
    import importlib

    for name, attribute in (
        ("jax.ffi", "ffi_lowering"),
        ("jax.extend.ffi", "ffi_lowering"),
        ("jax.interpreters.mlir", "custom_call"),
    ):
        try:
            found = getattr(importlib.import_module(name), attribute)
            break
        except ImportError:
            continue
    assert callable(found)


def ad_checkpoint() -> tuple[str, str]:
    """Is there a jax.ad_checkpoint.checkpoint?"""
    from jax.ad_checkpoint import checkpoint

    return "there", checkpoint.__name__


def by_jax_checkpoint() -> None:
    """jax.checkpoint."""
    import jax

    assert jax.grad(jax.checkpoint(lambda x: x * x))(3.0) == 6.0


def custom_jvp_call_jaxpr_p() -> tuple[str, str]:
    """Is there a jax.custom_derivatives.custom_jvp_call_jaxpr_p?"""
    import jax.custom_derivatives

    return "there", type(jax.custom_derivatives.custom_jvp_call_jaxpr_p).__name__


def by_custom_jvp_call_p() -> None:
    """jax.extend.core.primitives.custom_jvp_call_p, where it is."""
    import importlib

    for name in ("jax.extend.core.primitives", "jax.custom_derivatives"):
        try:
            found = importlib.import_module(name).custom_jvp_call_p
            break
        except ImportError:
            continue
    assert found.name == "custom_jvp_call"


def kept_names() -> None:
    """What every release of the line has: jaxprs, their equations, tracers and shaped arrays."""
    import jax
    import jax.core

    jaxpr = jax.make_jaxpr(abs)(1.0)
    assert [equation.primitive.name for equation in jaxpr.jaxpr.eqns] == ["abs"]
    assert jax.core.ShapedArray((2,), "float32").shape == (2,)
    assert isinstance(jax.core.Tracer, type)


def _case(
    name: str,
    reproducer: Seeing,
    code: Callable[[], None],
    text: str,
    *,
    warns: str = "",
    gone: str,
    rules: tuple[Rule, ...] = (),
) -> Case:
    there = (Rule("there", f"jax<{warns or gone}", f"run to the last release before {warns or gone}"),)
    warned = (Rule("warns", f"jax<{gone}", f"run to the last release before {gone}"),) if warns else ()
    last = Rule("gone", "", f"run on releases of the line from jax {gone} to 0.12.0.1")
    missing = ("AttributeError", "ImportError", "ModuleNotFoundError")
    return Case(
        reproducer,
        kept_names,
        {"there": "clear", "warns": "guarded", "gone": "affected"},
        rules or (*(there if warns != "0.4.18" else ()), *warned, last),
        Workaround(text, code),
        signatures={
            "gone": tuple(Signature(each, name) for each in missing),
            "warns": tuple(Signature(each, name) for each in ("DeprecationWarning", "FutureWarning")),
        },
    )


_BACK = (
    Rule("gone", "jax==0.4.24", "run on jax 0.4.24; jax#19816"),
    Rule("warns", "jax<0.4.29", "run on releases of the line from 0.4.18 to 0.4.23, and from 0.4.25 to 0.4.28"),
    Rule("gone", "", "run on releases of the line from 0.4.29 to 0.12.0.1"),
)

ISSUE = Issue(
    kind="import-error",
    upstream=(
        Upstream("https://docs.jax.dev/en/latest/changelog.html", "changelog"),
        Upstream("https://github.com/jax-ml/jax/issues/19816", "report"),
        Upstream("https://docs.jax.dev/en/latest/jax.extend.html", "docs"),
    ),
    touches=(
        "jax.core.ClosedJaxpr",
        "jax.core.Jaxpr",
        "jax.core.UnexpectedTracerError",
        "jax.core.ConcretizationTypeError",
        "jax.core.Shape",
        "jax.core.pp_eqn_rules",
        "jax.core.call_p",
        "jax.core.DropVar",
        "jax.core.mapped_aval",
        "jax.linear_util",
        "jax.prng",
        "jax.interpreters.xla",
        "jax.interpreters.batching.NotMapped",
        "jax.interpreters.batching.not_mapped",
        "jax.interpreters.pxla.xla_pmap_p",
        "jax.interpreters.mlir.custom_call",
        "jax.ad_checkpoint.checkpoint",
        "jax.custom_derivatives.custom_jvp_call_jaxpr_p",
    ),
    cases=(
        _case(
            "ClosedJaxpr",
            core_closed_jaxpr,
            by_extend_core,
            "jax.extend.core.ClosedJaxpr, from 0.4.36.",
            warns="0.4.38",
            gone="0.6.0",
        ),
        _case(
            "UnexpectedTracerError",
            core_unexpected_tracer_error,
            by_errors,
            "jax.errors.UnexpectedTracerError.",
            warns="0.4.19",
            gone="0.4.24",
        ),
        _case(
            "ConcretizationTypeError",
            core_concretization_error,
            by_errors,
            "jax.errors.ConcretizationTypeError.",
            warns="0.4.38",
            gone="0.7.0",
        ),
        _case("Shape", core_shape, by_tuple, "tuple[int, ...].", warns="0.4.19", gone="0.4.29"),
        _case(
            "pp_eqn_rules",
            core_pp_eqn_rules,
            by_str,
            "str(jaxpr); there is no public way to say how an equation is printed.",
            warns="0.4.30",
            gone="0.4.34",
        ),
        _case(
            "call_p",
            core_call_p,
            by_primitives,
            "jax.extend.core.primitives.call_p, from 0.4.27.",
            warns="0.4.38",
            gone="0.7.0",
        ),
        _case(
            "DropVar",
            core_drop_var,
            by_extend_drop_var,
            "jax.extend.core.DropVar, from 0.10.0.",
            warns="0.10.0",
            gone="0.11.0",
        ),
        _case(
            "mapped_aval",
            core_mapped_aval,
            by_extend_mapped_aval,
            "jax.extend.core.mapped_aval, from 0.9.0.",
            warns="0.8.2",
            gone="0.10.0",
        ),
        _case("linear_util", linear_util, by_extend_linear_util, "jax.extend.linear_util.", gone="0.4.24"),
        _case("prng", prng, by_extend_random, "jax.extend.random.", gone="0.4.24"),
        _case(
            "backend_specific_translations",
            backend_specific_translations,
            by_register_lowering,
            "jax.interpreters.mlir.register_lowering.",
            warns="0.4.18",
            gone="0.4.29",
            rules=_BACK,
        ),
        _case(
            "pytype_aval_mappings",
            xla_pytype_aval_mappings,
            by_jax_array,
            "A class of your own: __jax_array__, and jnp.asarray of it.",
            warns="0.5.0",
            gone="0.7.0",
        ),
        _case(
            "canonicalize_dtype",
            xla_canonicalize_dtype,
            by_dtypes,
            "jax.dtypes.canonicalize_dtype.",
            warns="0.7.0",
            gone="0.8.0",
        ),
        _case("xc", xla_xc, by_jaxlib, "from jaxlib import xla_client.", warns="0.4.31", gone="0.4.36"),
        _case("not_mapped", batching_not_mapped, by_none, "None.", gone="0.10.2"),
        _case("NotMapped", batching_class_not_mapped, by_type_of_none, "type(None).", warns="0.7.1", gone="0.10.0"),
        _case(
            "xla_pmap_p",
            xla_pmap_p,
            by_jaxpr,
            "None: jax.pmap is a shard_map from 0.8.0; look at the jaxpr.",
            warns="0.8.2",
            gone="0.10.0",
        ),
        _case(
            "custom_call",
            mlir_custom_call,
            by_ffi_lowering,
            "jax.ffi.ffi_lowering, from 0.5.0.",
            warns="0.6.0",
            gone="0.8.0",
        ),
        _case("checkpoint", ad_checkpoint, by_jax_checkpoint, "jax.checkpoint.", warns="0.8.2", gone="0.10.0"),
        _case(
            "custom_jvp_call_jaxpr_p",
            custom_jvp_call_jaxpr_p,
            by_custom_jvp_call_p,
            "jax.extend.core.primitives.custom_jvp_call_p, from 0.4.27.",
            warns="0.6.1",
            gone="0.8.0",
        ),
    ),
)
