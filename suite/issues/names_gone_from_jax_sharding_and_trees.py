"""Names of jax.sharding, jax.dlpack, jax.experimental and jax.tree_util are gone: use_mesh, to_dlpack and others

    with jax.sharding.use_mesh(mesh): ...    # from 0.5.0; an AttributeError from jax 0.7.1, without a warning before
    jax.sharding.PositionalSharding(devices) # warns from 0.6.0, gone from 0.7.0

The newer a part of JAX is, the more often its names change: `AxisTypes` was there for three releases, `use_mesh` for
eight, `mutable_array` for a few more, under two other names since. Each case is a name: not yet there, there, warned
of, or gone, with what to write instead on every release of the line. names-gone-from-jax has more of them.
"""

from __future__ import annotations

from collections.abc import Callable

from suite.cell import Case, Issue, Rule, Signature, Upstream, Workaround

Seeing = Callable[[], tuple[str, str]]


def positional_sharding() -> tuple[str, str]:
    """Is there a jax.sharding.PositionalSharding?"""
    import jax

    return "there", jax.sharding.PositionalSharding.__name__


def by_named_sharding() -> None:
    """NamedSharding on a mesh."""
    import jax
    import numpy as np

    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("x",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
    assert jax.device_put(np.ones(len(jax.devices())), sharding).sharding == sharding


def pmap_sharding() -> tuple[str, str]:
    """Is there a jax.sharding.PmapSharding?"""
    import jax

    return "there", jax.sharding.PmapSharding.__name__


def xla_compatible_sharding() -> tuple[str, str]:
    """Is there a jax.sharding.XLACompatibleSharding?"""
    import jax

    return "there", jax.sharding.XLACompatibleSharding.__name__


def by_sharding() -> None:
    """jax.sharding.Sharding."""
    import jax
    import jax.numpy as jnp

    assert isinstance(jnp.ones(2).sharding, jax.sharding.Sharding)


def use_mesh() -> tuple[str, str]:
    """Is there a jax.sharding.use_mesh?"""
    import jax

    if not hasattr(jax.sharding, "use_mesh") and not hasattr(jax, "set_mesh"):
        return "absent", "there is no way to set a mesh but to enter it"
    return "there", jax.sharding.use_mesh.__name__


def by_set_mesh() -> None:
    """jax.set_mesh, from 0.7.1; before, the mesh itself is entered."""
    import jax
    import numpy as np

    mesh = jax.sharding.Mesh(np.array(jax.devices()), ("x",))
    with jax.set_mesh(mesh) if hasattr(jax, "set_mesh") else mesh:
        assert float(jax.jit(abs)(-1.0)) == 1.0


def axis_types() -> tuple[str, str]:
    """Is there a jax.sharding.AxisTypes?"""
    import jax

    if not hasattr(jax.sharding, "AxisTypes") and not hasattr(jax.sharding, "AxisType"):
        return "absent", "axes have no types that are public"
    return "there", jax.sharding.AxisTypes.__name__


def by_axis_type() -> None:
    """jax.sharding.AxisType, from 0.5.3."""
    import jax

    names = [name for name in ("AxisType", "AxisTypes") if hasattr(jax.sharding, name)]
    assert len(names) < 2


def to_dlpack() -> tuple[str, str]:
    """Is there a jax.dlpack.to_dlpack?"""
    import jax.dlpack
    import jax.numpy as jnp

    return "there", type(jax.dlpack.to_dlpack(jnp.ones(2))).__name__


def by_array_itself() -> None:
    """The array itself: it has a method __dlpack__."""
    import jax.numpy as jnp
    import numpy as np

    assert np.from_dlpack(jnp.ones(2)).tolist() == [1.0, 1.0]


def mutable_array() -> tuple[str, str]:
    """Is there a jax.experimental.mutable_array?"""
    import jax
    import jax.experimental

    if not any(hasattr(where, name) for where, name in ((jax.experimental, "mutable_array"), (jax, "new_ref"))):
        return "absent", "there are no references"
    return "there", jax.experimental.mutable_array.__name__


def by_new_ref() -> None:
    """jax.new_ref, from 0.7.2."""
    import jax
    import jax.experimental

    new = getattr(jax, "new_ref", None) or getattr(jax.experimental, "mutable_array", None)
    assert new is None or float(new(1.0)[...]) == 1.0


def array_ref() -> tuple[str, str]:
    """Is there a jax.array_ref?"""
    import jax

    if not hasattr(jax, "array_ref") and not hasattr(jax, "new_ref"):
        return "absent", "there are no references in jax itself"
    return "there", jax.array_ref.__name__


def array_api() -> tuple[str, str]:
    """Is there a module jax.experimental.array_api?"""
    try:
        import jax.experimental.array_api as module
    except ImportError:
        import jax.numpy as jnp

        if not hasattr(jnp, "__array_namespace_info__") and not hasattr(jnp, "astype"):
            return "absent", "there is no array API"
        raise
    return "there", module.__name__


def by_jax_numpy() -> None:
    """jnp, whose arrays have __array_namespace__ from 0.4.32; before, jnp as it is."""
    import jax.numpy as jnp

    x = jnp.ones(2)
    assert not hasattr(x, "__array_namespace__") or x.__array_namespace__().sum(x) == 2.0
    assert jnp.sum(x) == 2.0


def clear_backends() -> tuple[str, str]:
    """Is there a jax.clear_backends?"""
    import jax

    return "there", jax.clear_backends.__name__


def by_extend_backend() -> None:
    """jax.extend.backend.clear_backends, from 0.4.26."""
    import jax

    try:
        from jax.extend.backend import clear_backends
    except ImportError:
        clear_backends = jax.clear_backends
    clear_backends()
    assert float(jax.numpy.sum(jax.numpy.ones(2))) == 2.0


def tree_leaves() -> tuple[str, str]:
    """Is there a jax.tree_leaves?"""
    import jax

    return "there", f"{jax.tree_leaves([1, 2])}"


def by_tree_util() -> None:
    """jax.tree_util.tree_leaves; jax.tree.leaves from 0.4.25."""
    import jax

    assert jax.tree_util.tree_leaves([1, 2]) == [1, 2]


def register_keypaths() -> tuple[str, str]:
    """Is there a jax.tree_util.register_keypaths?"""
    import jax.tree_util

    return "there", jax.tree_util.register_keypaths.__name__


def by_with_keys() -> None:
    """jax.tree_util.register_pytree_with_keys."""
    import jax

    assert callable(jax.tree_util.register_pytree_with_keys)


def build_tree() -> tuple[str, str]:
    """Is there a jax.tree_util.build_tree?"""
    import jax.tree_util

    tree = jax.tree_util.tree_structure([0, 0])
    return "there", f"{jax.tree_util.build_tree(tree, [1, 2])}"


def by_unflatten() -> None:
    """jax.tree_util.tree_unflatten."""
    import jax

    assert jax.tree_util.tree_unflatten(jax.tree_util.tree_structure([0, 0]), [1, 2]) == [1, 2]


def extend_ffi() -> tuple[str, str]:
    """Is there a module jax.extend.ffi?"""
    try:
        from jax.extend import ffi as module
    except ImportError:
        import jax.core

        if hasattr(jax.core, "DimSize"):
            return "absent", "not yet"
        raise
    return "there", module.__name__


def by_ffi() -> None:
    """jax.ffi, from 0.5.0."""
    import importlib

    for name in ("jax.ffi", "jax.extend.ffi", "jax.interpreters.mlir"):
        try:
            found = importlib.import_module(name)
            break
        except ImportError:
            continue
    assert found


def kept_names() -> None:
    """What is documented for all releases of the line is there."""
    import jax

    assert all(
        map(callable, (jax.sharding.Mesh, jax.sharding.NamedSharding, jax.device_put, jax.tree_util.tree_unflatten))
    )


def _case(
    name: str,
    reproducer: Seeing,
    code: Callable[[], None],
    text: str,
    *,
    came: str = "",
    warns: str = "",
    gone: str,
) -> Case:
    before = (Rule("absent", f"jax<{came}", f"run on releases of the line before {came}"),) if came else ()
    there = (Rule("there", f"jax<{warns or gone}", f"run to the last release before {warns or gone}"),)
    warned = (Rule("warns", f"jax<{gone}", f"run to the last release before {gone}"),) if warns else ()
    last = Rule("gone", "", f"run on releases of the line from jax {gone} to 0.12.0.1")
    missing = ("AttributeError", "ImportError", "ModuleNotFoundError")
    return Case(
        reproducer,
        kept_names,
        {"there": "clear", "warns": "guarded", "gone": "affected", "absent": "absent"},
        (*before, *(there if warns != "0.4.18" else ()), *warned, last),
        Workaround(text, code),
        signatures={
            "gone": tuple(Signature(each, name) for each in missing),
            "warns": tuple(Signature(each, name) for each in ("DeprecationWarning", "FutureWarning")),
        },
    )


ISSUE = Issue(
    kind="import-error",
    upstream=(
        Upstream("https://docs.jax.dev/en/latest/changelog.html", "changelog"),
        Upstream("https://docs.jax.dev/en/latest/api_compatibility.html", "docs"),
    ),
    touches=(
        "jax.sharding.PositionalSharding",
        "jax.sharding.PmapSharding",
        "jax.sharding.XLACompatibleSharding",
        "jax.sharding.use_mesh",
        "jax.sharding.AxisTypes",
        "jax.dlpack.to_dlpack",
        "jax.experimental.mutable_array",
        "jax.array_ref",
        "jax.experimental.array_api",
        "jax.clear_backends",
        "jax.tree_leaves",
        "jax.tree_flatten",
        "jax.tree_unflatten",
        "jax.tree_util.register_keypaths",
        "jax.tree_util.build_tree",
        "jax.extend.ffi",
    ),
    cases=(
        _case(
            "PositionalSharding",
            positional_sharding,
            by_named_sharding,
            "NamedSharding(mesh, spec).",
            warns="0.6.0",
            gone="0.7.0",
        ),
        _case(
            "PmapSharding", pmap_sharding, by_named_sharding, "NamedSharding(mesh, spec).", warns="0.8.1", gone="0.10.0"
        ),
        _case(
            "XLACompatibleSharding",
            xla_compatible_sharding,
            by_sharding,
            "jax.sharding.Sharding.",
            warns="0.4.29",
            gone="0.4.34",
        ),
        _case(
            "use_mesh",
            use_mesh,
            by_set_mesh,
            "with jax.set_mesh(mesh), from 0.7.1; with mesh before.",
            came="0.5.0",
            gone="0.7.1",
        ),
        _case("AxisTypes", axis_types, by_axis_type, "jax.sharding.AxisType, from 0.5.3.", came="0.5.0", gone="0.5.3"),
        _case(
            "to_dlpack",
            to_dlpack,
            by_array_itself,
            "Give the array itself: other.from_dlpack(x).",
            warns="0.6.0",
            gone="0.7.0",
        ),
        _case(
            "mutable_array",
            mutable_array,
            by_new_ref,
            "jax.new_ref, from 0.7.2.",
            came="0.6.1",
            warns="0.8.0",
            gone="0.9.0",
        ),
        _case(
            "array_ref", array_ref, by_new_ref, "jax.new_ref, from 0.7.2.", came="0.7.1", warns="0.8.0", gone="0.9.0"
        ),
        _case(
            "array_api",
            array_api,
            by_jax_numpy,
            "x.__array_namespace__(), or jnp.",
            came="0.4.21",
            warns="0.4.32",
            gone="0.5.0",
        ),
        _case(
            "clear_backends",
            clear_backends,
            by_extend_backend,
            "jax.extend.backend.clear_backends, from 0.4.26.",
            warns="0.4.26",
            gone="0.4.36",
        ),
        _case("tree_leaves", tree_leaves, by_tree_util, "jax.tree_util.tree_leaves.", warns="0.4.18", gone="0.6.0"),
        _case(
            "register_keypaths",
            register_keypaths,
            by_with_keys,
            "jax.tree_util.register_pytree_with_keys.",
            warns="0.4.18",
            gone="0.4.24",
        ),
        _case("build_tree", build_tree, by_unflatten, "jax.tree_util.tree_unflatten.", warns="0.6.0", gone="0.7.0"),
        _case("ffi", extend_ffi, by_ffi, "jax.ffi, from 0.5.0.", came="0.4.29", gone="0.8.0"),
    ),
)
