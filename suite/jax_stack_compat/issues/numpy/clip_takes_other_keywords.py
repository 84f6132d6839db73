"""jnp.clip(x, a_min=0) raises TypeError; older jax rejects min=0

jax#20550 renamed the bounds of `clip` to min and max, as in the array API, and deprecated a, a_min and a_max. JAX later
removed the deprecated names (changelog). Complex numbers have no order: `clip` first warned about them, and now raises
ValueError (changelog).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround
from jax_stack_compat.cell.issue import Meaning


def old_keywords() -> tuple[str, str]:
    """Does jnp.clip take the bounds as a_min and a_max?"""
    import jax.numpy as jnp

    return "taken", f"{jnp.clip(jnp.arange(4), a_min=1, a_max=2).tolist()}"


def by_position() -> None:
    """jnp.clip takes both bounds by position."""
    import jax.numpy as jnp

    assert jnp.clip(jnp.arange(4), 1, 2).tolist() == [1, 1, 2, 2]
    assert jnp.clip(jnp.arange(4), 1, None).tolist() == [1, 1, 2, 3]


def clip_by_position(x: Any, least: Any, greatest: Any) -> Any:
    """Pass the array and both bounds by position."""
    import jax.numpy as jnp

    return jnp.clip(x, least, greatest)


def numpy_clip(x: Any, least: Any, greatest: Any) -> Any:
    """Return NumPy's clip."""
    import numpy as np

    return np.clip(x, least, greatest)


def array_by_keyword() -> tuple[str, str]:
    """Does jnp.clip take the array as the keyword a?"""
    import jax.numpy as jnp

    return "taken", f"{jnp.clip(a=jnp.arange(4), a_min=1, a_max=2).tolist()}"


def new_keywords() -> tuple[str, str]:
    """Does jnp.clip take the bounds as min and max?"""
    import jax.numpy as jnp

    return "taken", f"{jnp.clip(jnp.arange(4), min=1, max=2).tolist()}"


def complex_numbers() -> tuple[str, str]:
    """Does jnp.clip take complex numbers?"""
    import jax.numpy as jnp

    return "taken", f"{jnp.clip(jnp.array([2 + 1j]), 0, 1).tolist()}"


def each_part() -> None:
    """Clip the real and the imaginary part separately."""
    import jax
    import jax.numpy as jnp

    x = jnp.array([2 + 1j])
    assert jax.lax.complex(jnp.clip(x.real, 0, 1), jnp.clip(x.imag, 0, 1)).tolist() == [1 + 1j]


def clip_parts(x: Any) -> Any:
    """Clip the real and the imaginary part separately, to 0 and 1."""
    import jax
    import jax.numpy as jnp

    return jax.lax.complex(jnp.clip(x.real, 0, 1), jnp.clip(x.imag, 0, 1))


def numpy_clip_parts(x: Any) -> Any:
    """Clip the real and the imaginary part separately with NumPy, to 0 and 1."""
    import numpy as np

    return np.clip(x.real, 0, 1) + 1j * np.clip(x.imag, 0, 1)


_CLIP = "jax.numpy.clip(arr, min, max, a, a_min, a_max)"

# The changelog announces the deprecations.
_DEPRECATED: Mapping[str, Meaning] = {"warns": "documented"}
_INPUTS = (
    "float32 matrix, float32 scalar, positive float32 scalar",
    "int32 vector, int32 scalar, positive int32 scalar",
    "float16 scalar, float16 vector, positive float16 vector",
    "uint8 batch, uint8 scalar, uint8 scalar",
    "float32 empty, float32 scalar, positive float32 scalar",
)

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(change="jax#20550", docs="jax:changelog.html"),
    touches=("jax.numpy.clip(a_min=)", "jax.numpy.clip(a_max=)", "jax.numpy.clip(a=)", "jax.numpy.clip"),
    control=by_position,
    rules=(Rule("taken", "jax<0.4.27"), Rule("warns", "jax<0.10.0"), Rule("gone")),
    workaround=Workaround(
        "Pass the array and both bounds by position: jnp.clip(x, 1, 2).",
        by_position,
        elsewhere=Elsewhere(clip_by_position, numpy_clip, _INPUTS),
    ),
    signatures={
        "warns": Signature("DeprecationWarning", "Passing arguments 'a', 'a_min'"),
        "gone": Signature("TypeError", "got an unexpected keyword argument", everyday=True),
    },
    cases=(
        Case(old_keywords, behaviours=_DEPRECATED, touches=(f"{_CLIP} if given(a_min) or given(a_max)",)),
        Case(array_by_keyword, behaviours=_DEPRECATED, touches=(f"{_CLIP} if given(a)",)),
        Case(
            new_keywords,
            signatures={"refused": Signature("TypeError", "got an unexpected keyword argument", everyday=True)},
            rules=(Rule("refused", "jax<0.4.27"), Rule("taken")),
            touches=("jax.numpy.clip(min=)", "jax.numpy.clip(max=)"),
        ),
        Case(
            complex_numbers,
            behaviours={"refused": "documented", **_DEPRECATED},
            signatures={
                "warns": Signature("DeprecationWarning", "Clip received a complex value"),
                "refused": Signature("ValueError", "Clip received a complex value"),
            },
            rules=(
                Rule("taken", "jax<0.4.27"),
                Rule("warns", "jax<0.4.32"),
                Rule("refused", "", "the changelog of 0.4.32"),
            ),
            workaround=Workaround(
                "Clip real and imaginary parts separately, and join them by jax.lax.complex; np.clip differs.",
                each_part,
                elsewhere=Elsewhere(
                    clip_parts,
                    numpy_clip_parts,
                    (
                        "complex64 matrix",
                        "complex64 scalar",
                        "complex128 vector",
                        "zero complex64 vector",
                        "complex64 empty",
                    ),
                ),
            ),
            touches=("jax.numpy.clip",),
        ),
    ),
)
