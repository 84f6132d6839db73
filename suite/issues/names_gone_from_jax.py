"""Names that old code imports from jax are gone: jax.tree_map, jax.core.Primitive, jax.lib.xla_bridge and others

    jax.tree_map(f, tree)    # warns from jax 0.4.26, and from 0.6.0: AttributeError: jax.tree_map was removed
    from jax.config import config    # gone from 0.4.25

JAX removes a name three months after it first warns of it, or later, by its policy; the changelog says which. Each
case here is one name: there, warned of, or gone, with what to write instead on every release. None came back.

Some names end otherwise. The functions of `jax.experimental.host_callback` warn from 0.4.26 and raise
NotImplementedError from 0.4.35 (jax#20385), while the module still imports. Importing it gives a UserWarning from 0.7.1
(jax#30798) and fails from 0.8.0. `import jax.config` still works after 0.4.25, with a warning, but the module has no
`config`. The changelog calls `jax.experimental.export` deprecated from 0.4.30, but importing it does not warn.
`jax.core.ConcreteArray` was an internal that Diffrax used (diffrax#527). The same names stop imports of Equinox,
Diffrax and Lineax: see stack-smoke.
"""

from __future__ import annotations

from collections.abc import Callable

from suite.cell import Case, Issue, Rule, Signature, Upstream, Workaround

Seeing = Callable[[], tuple[str, str]]
_CALLBACKS = "jax.pure_callback, or jax.experimental.io_callback."
_PUT = "jax.device_put(x, jax.sharding.NamedSharding(mesh, spec))."
_X64 = 'jax.config.update("jax_enable_x64", True) at the start, or jax.enable_x64.'


def tree_map() -> tuple[str, str]:
    """Is there a jax.tree_map?"""
    import jax

    return "there", f"{jax.tree_map(abs, [-1])}"


def by_tree_util() -> None:
    """jax.tree_util.tree_map is there on every release, and jax.tree.map from 0.4.25."""
    import jax

    assert jax.tree_util.tree_map(abs, [-1]) == [1]


def core_primitive() -> tuple[str, str]:
    """Is there a jax.core.Primitive?"""
    import jax.core

    return "there", jax.core.Primitive("mine").name


def by_extend_core() -> None:
    """jax.extend.core.Primitive, where it is."""
    try:
        from jax.extend.core import Primitive
    except ImportError:
        from jax.core import Primitive
    assert Primitive("mine").name == "mine"


def core_get_aval() -> tuple[str, str]:
    """Is there a jax.core.get_aval?"""
    import jax.core

    return "there", str(jax.core.get_aval(1.0).dtype)


def by_typeof() -> None:
    """jax.typeof, where it is."""
    import jax
    import jax.core
    import numpy as np

    typeof = jax.typeof if hasattr(jax, "typeof") else jax.core.get_aval
    assert typeof(np.float32(1.0)).shape == ()


def lib_xla_bridge() -> tuple[str, str]:
    """Is there a jax.lib.xla_bridge.get_backend?"""
    from jax.lib import xla_bridge

    return "there", xla_bridge.get_backend().platform


def by_default_backend() -> None:
    """jax.default_backend, or jax.extend.backend."""
    import jax

    assert jax.default_backend() == jax.devices()[0].platform


def util_safe_map() -> tuple[str, str]:
    """Is there a jax.util.safe_map?"""
    from jax.util import safe_map

    return "there", f"{safe_map(abs, [-1])}"


def by_strict_zip() -> None:
    """A loop over zip(strict=True)."""
    assert [one + other for one, other in zip([1], [2], strict=True)] == [3]


def config_module() -> tuple[str, str]:
    """Can config be imported from jax.config?"""
    from jax.config import config

    return "there", type(config).__name__


def by_attribute() -> None:
    """jax.config, the attribute."""
    import jax

    jax.config.update("jax_numpy_rank_promotion", "allow")


def maps_module() -> tuple[str, str]:
    """Is there a module jax.experimental.maps?"""
    from jax.experimental import maps

    return "there", maps.__name__


def by_mesh() -> None:
    """jax.sharding.Mesh, and shard_map or vmap for xmap."""
    import jax
    import numpy as np

    assert jax.sharding.Mesh(np.array(jax.devices()), ("x",)).axis_names == ("x",)


def host_callback_module() -> tuple[str, str]:
    """Is there a module jax.experimental.host_callback, usable or not?"""
    from jax.experimental import host_callback

    return "there", host_callback.__name__


def host_callback_call() -> tuple[str, str]:
    """Does jax.experimental.host_callback.call call a function?"""
    import jax
    from jax.experimental import host_callback

    negate = jax.jit(lambda x: host_callback.call(lambda y: -y, x, result_shape=x))
    return "there", f"{float(negate(1.0))}"


def by_pure_callback() -> None:
    """jax.pure_callback, and jax.experimental.io_callback."""
    import jax
    import numpy as np

    assert float(jax.pure_callback(np.negative, jax.ShapeDtypeStruct((), "float32"), np.float32(1.0))) == -1.0


def export_module() -> tuple[str, str]:
    """Is there a module jax.experimental.export?"""
    from jax.experimental import export

    return "there", export.__name__


def by_export() -> None:
    """jax.export, from 0.4.30."""
    try:
        from jax import export
    except ImportError:
        from jax.experimental import export
    assert export.__name__.endswith("export")


def xla_computation() -> tuple[str, str]:
    """Is there a jax.xla_computation?"""
    import jax

    return "there", type(jax.xla_computation(abs)(-1.0)).__name__


def by_lower() -> None:
    """jax.jit(f).lower(x)."""
    import jax

    assert "abs" in jax.jit(abs).lower(-1.0).as_text()


def trapz() -> tuple[str, str]:
    """Is there a jnp.trapz?"""
    import jax.numpy as jnp

    return "there", f"{float(jnp.trapz(jnp.ones(3)))}"


def by_trapezoid() -> None:
    """jax.scipy.integrate.trapezoid."""
    import jax.numpy as jnp
    from jax.scipy.integrate import trapezoid

    assert float(trapezoid(jnp.ones(3))) == 2.0


def device_put_sharded() -> tuple[str, str]:
    """Is there a jax.device_put_sharded?"""
    import jax

    return "there", jax.device_put_sharded.__name__


def by_device_put() -> None:
    """jax.device_put with a sharding."""
    import jax
    import numpy as np

    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("x",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
    assert jax.device_put(np.ones(len(jax.devices())), sharding).sharding == sharding


def enable_x64() -> tuple[str, str]:
    """Is there a jax.experimental.enable_x64?"""
    from jax.experimental import enable_x64 as switch

    return "there", switch.__name__


def by_enable_x64() -> None:
    """jax.enable_x64, where it takes a value and is entered; jax.config.update at the start on every release."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    assert jnp.ones(1).dtype == "float64"


def kept_names() -> None:
    """What is documented for all releases of the line is there."""
    import jax
    import jax.numpy as jnp

    assert all(map(callable, (jax.jit, jax.grad, jax.vmap, jax.device_put, jnp.pad, jax.tree_util.tree_leaves)))


def _case(
    name: str, reproducer: Seeing, code: Callable[[], None], text: str, *, warns: str, gone: str, says: str = ""
) -> Case:
    there = (Rule("there", f"jax<{warns}", f"run on releases from 0.4.18 to the last before {warns}"),) if warns else ()
    warned = (Rule("warns", f"jax<{gone}", f"run on the last before {gone}"),) if warns != gone else ()
    return Case(
        reproducer,
        kept_names,
        {"there": "clear", "warns": "guarded", "gone": "affected"},
        (*there, *warned, Rule("gone", "", f"run from jax {gone} to 0.12.0.1")),
        Workaround(text, code),
        signatures={
            "gone": tuple(Signature(each, name) for each in ("AttributeError", "ImportError", "ModuleNotFoundError")),
            "warns": Signature("DeprecationWarning", says or name),
        },
    )


ISSUE = Issue(
    kind="import-error",
    upstream=(
        Upstream("https://docs.jax.dev/en/latest/changelog.html", "changelog"),
        Upstream("https://docs.jax.dev/en/latest/api_compatibility.html", "docs"),
        Upstream("jax-ml/jax#20385", "report"),
        Upstream("jax-ml/jax#30798", "commit"),
        Upstream("patrick-kidger/diffrax#527", "fix"),
    ),
    touches=(
        *("jax.tree_map", "jax.core.Primitive", "jax.core.get_aval", "jax.lib.xla_bridge", "jax.util.safe_map"),
        *("jax.config.config", "jax.experimental.maps", "jax.experimental.host_callback", "jax.experimental.export"),
        *("jax.xla_computation", "jax.numpy.trapz", "jax.device_put_sharded", "jax.experimental.enable_x64"),
    ),
    cases=(
        _case("tree_map", tree_map, by_tree_util, "jax.tree_util.tree_map.", warns="0.4.26", gone="0.6.0"),
        _case("Primitive", core_primitive, by_extend_core, "jax.extend.core.Primitive.", warns="0.4.38", gone="0.6.0"),
        _case("get_aval", core_get_aval, by_typeof, "jax.typeof.", warns="0.8.2", gone="0.10.0"),
        _case("xla_bridge", lib_xla_bridge, by_default_backend, "jax.default_backend.", warns="0.4.33", gone="0.8.0"),
        _case("util", util_safe_map, by_strict_zip, "zip(strict=True).", warns="0.6.0", gone="0.7.0", says="safe_map"),
        _case("config", config_module, by_attribute, "jax.config, the attribute.", warns="0.4.20", gone="0.4.25"),
        _case("maps", maps_module, by_mesh, "jax.sharding.Mesh, and shard_map.", warns="0.4.26", gone="0.4.31"),
        _case("host_callback", host_callback_module, by_pure_callback, _CALLBACKS, warns="0.8.0", gone="0.8.0"),
        Case(
            host_callback_call,
            kept_names,
            {"there": "clear", "warns": "guarded", "refused": "affected", "gone": "affected"},
            (
                Rule("there", "jax<0.4.26", "run on releases from 0.4.18 to 0.4.25"),
                Rule("warns", "jax<0.4.35", "run on releases from 0.4.26 to 0.4.34"),
                Rule("refused", "jax<0.8.0", "run on releases from 0.4.35 to 0.7.2; jax#20385"),
                Rule("gone", "", "run from jax 0.8.0 to 0.12.0.1"),
            ),
            Workaround(_CALLBACKS, by_pure_callback),
            signatures={
                "refused": Signature("NotImplementedError", "host_callback has been deprecated"),
                "gone": Signature("ImportError", "host_callback"),
                "warns": Signature("DeprecationWarning", "host_callback APIs are deprecated"),
            },
        ),
        _case("export", export_module, by_export, "jax.export, from 0.4.30.", warns="0.4.36", gone="0.4.36"),
        _case("xla_computation", xla_computation, by_lower, "jax.jit(f).lower(x).", warns="0.4.30", gone="0.4.34"),
        _case("trapz", trapz, by_trapezoid, "jax.scipy.integrate.trapezoid.", warns="", gone="0.4.24"),
        _case("device_put_sharded", device_put_sharded, by_device_put, _PUT, warns="0.8.1", gone="0.10.0"),
        _case("enable_x64", enable_x64, by_enable_x64, _X64, warns="0.8.0", gone="0.9.0"),
    ),
)
