"""Truth values leave through DLPack as uint8, and cannot come in, up to jaxlib 0.4.23

    mask = np.from_dlpack(jnp.array([True, False, True]))     # uint8 [1, 0, 1] up to jaxlib 0.4.23
    np.arange(3.0)[mask]                                      # [1, 0, 1], should be [0, 2]

What was a mask is a list of indices then, and selects the elements 0 and 1 again and again, without an error. Into JAX
there is one: unknown or invalid DLPack type code 6. c4368351d2, in jaxlib 0.4.24, has the type; the changelog says so.

Seen in these runs: up to 0.4.23 an array of NumPy that is indexed by such a mask gives three elements, where the mask
marks two.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def exported_mask() -> tuple[str, str]:
    """Does a mask that NumPy takes from JAX by DLPack select what it marks?"""
    import jax.numpy as jnp
    import numpy as np

    mask = np.from_dlpack(jnp.array([True, False, True]))
    return compare(np.arange(3.0)[mask], [0.0, 2.0])


def floats() -> None:
    """Floats leave by DLPack as they are, on every release."""
    import jax.numpy as jnp
    import numpy as np

    assert np.from_dlpack(jnp.array([1.0, 2.0])).tolist() == [1.0, 2.0]


def array_protocol() -> None:
    """By NumPy's own protocol truth values go both ways."""
    import jax.numpy as jnp
    import numpy as np

    assert np.arange(3.0)[np.asarray(jnp.array([True, False, True]))].tolist() == [0.0, 2.0]
    assert jnp.asarray(np.array([True, False])).dtype == bool


def imported() -> tuple[str, str]:
    """Does JAX take truth values from NumPy by DLPack?"""
    import jax
    import numpy as np

    return compare(jax.dlpack.from_dlpack(np.array([True, False, True])), [True, False, True])


_NOW = Rule("agrees", "", "c4368351d2, and the changelog")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(fix="jax@c4368351d2", docs="jax:changelog.html"),
    touches=("jax.dlpack.from_dlpack", "jax.dlpack.to_dlpack", "jax.numpy.from_dlpack"),
    control=floats,
    workaround=Workaround("Use np.asarray(x) and jnp.asarray(x) for masks.", array_protocol),
    cases=(
        Case(exported_mask, rules=(Rule("differs", "jaxlib<0.4.24"), _NOW)),
        Case(
            imported,
            behaviours={"differs": "different"},
            signatures={"refused": Signature("XlaRuntimeError", "Unknown or invalid DLPack type code 6")},
            rules=(Rule("refused", "jaxlib<0.4.24"), _NOW),
        ),
    ),
)
