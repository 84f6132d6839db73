"""JAX's DLPack cannot import bool arrays, and exports them as uint8

jaxlib did not know DLPack's type code for bool, so `from_dlpack` of a NumPy mask raised (jax#19352), and a JAX mask was
exported as uint8. NumPy reads the exported mask as indices, without an error (`exported_mask`). jax@c4368351d2 adds
bool to the supported types, in both directions.
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround, compare, members


def imported() -> tuple[str, str]:
    """Does jax.dlpack.from_dlpack import a bool array of NumPy?"""
    import jax
    import numpy as np

    return compare(jax.dlpack.from_dlpack(np.array([True, False, True])), [True, False, True])


def floats() -> None:
    """np.from_dlpack of a float array of JAX returns its values."""
    import jax.numpy as jnp
    import numpy as np

    assert np.from_dlpack(jnp.array([1.0, 2.0])).tolist() == [1.0, 2.0]


def array_protocol() -> None:
    """np.asarray of a JAX mask, and jnp.asarray of a NumPy mask, are bool."""
    import jax.numpy as jnp
    import numpy as np

    assert np.arange(3.0)[np.asarray(jnp.array([True, False, True]))].tolist() == [0.0, 2.0]
    assert jnp.asarray(np.array([True, False])).dtype == bool


def selected(x: Any, mask: Any) -> Any:
    """Convert a JAX mask to NumPy and back, and select with both masks."""
    import jax.numpy as jnp
    import numpy as np

    exported = np.asarray(mask)
    return jnp.stack([np.asarray(x)[exported], x[jnp.asarray(exported)]])


def numpy_selected(x: Any, mask: Any) -> Any:
    """Select with NumPy."""
    import numpy as np

    return np.stack([x[mask], x[mask]])


def exported_mask() -> tuple[str, str]:
    """Does np.from_dlpack(mask) of a JAX mask select the elements where the mask is True?"""
    import jax.numpy as jnp
    import numpy as np

    mask = np.from_dlpack(jnp.array([True, False, True]))
    return compare(np.arange(3.0)[mask], [0.0, 2.0])


_NUMBERS = ("arange", "linspace", "normal", "uniform", "randn", "rand", "random", "standard_normal")
_UNLESS_NUMBERS = f"if form(x) == 'compare' or x in (True, False) or (unseen and form(x) not in {_NUMBERS})"

_NOW = Rule("agrees", "", "jax@c4368351d2, in the changelog")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#19352", fix="jax@c4368351d2", docs="jax:changelog.html", discussion="jax#4719"),
    control=floats,
    workaround=Workaround(
        "Exchange masks with NumPy by np.asarray(mask) and jnp.asarray(mask), which may copy them.",
        array_protocol,
        elsewhere=Elsewhere(
            selected,
            numpy_selected,
            (
                "float32 vector, bool vector",
                "int32 matrix, bool matrix",
                "float16 batch, bool batch",
                "float32 vector, zero bool vector",
                "float32 empty, bool empty",
            ),
        ),
    ),
    cases=(
        Case(
            imported,
            behaviours={"refused": "affected", "differs": "different"},
            signatures={"refused": Signature("XlaRuntimeError", "Unknown or invalid DLPack type code 6")},
            rules=(Rule("refused", "jaxlib<0.4.24"), _NOW),
            touches=members("jax", "dlpack.from_dlpack numpy.from_dlpack", f"(x) {_UNLESS_NUMBERS}"),
        ),
        Case(
            exported_mask,
            rules=(Rule("differs", "jaxlib<0.4.24"), _NOW),
            touches=(f"jax.dlpack.to_dlpack(x) {_UNLESS_NUMBERS}", "jax.Array.__dlpack__"),
        ),
    ),
)
