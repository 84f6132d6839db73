"""jax_compiler_enable_remat_pass=False re-enables passes that are disabled

The option `jax_compiler_enable_remat_pass=False` (jax#23738) silently replaced the list in `--xla_disable_hlo_passes`
by "rematerialization"; jax#39596 appends to the list. Disabling `algsimp`, which avoids the wrong result of xla#49176,
therefore had no effect (`shifted_rows`).
"""

from __future__ import annotations

from typing import Any

from jax_stack_compat.cell import Case, Elsewhere, Issue, Rule, Signature, Upstream, Workaround, compare


def fusion() -> tuple[str, str]:
    """With jax_compiler_enable_remat_pass=False, does --xla_disable_hlo_passes=fusion,rematerialization stop fusion?"""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_compiler_enable_remat_pass", False)
    text = jax.jit(lambda x: 2.0 * jnp.sqrt(x) + 1.0).lower(jnp.ones(4)).compile().as_text()
    fusions = text.count(" fusion(")
    # The pass makes one fusion; newer releases wrap each operation in a fusion of its own without it.
    return ("enabled" if fusions == 1 else "disabled"), f"{fusions} fusions"


def without_the_option() -> None:
    """Without jax_compiler_enable_remat_pass=False, XLA_FLAGS disables the fusion pass."""
    import jax
    import jax.numpy as jnp

    text = jax.jit(lambda x: 2.0 * jnp.sqrt(x) + 1.0).lower(jnp.ones(4)).compile().as_text()
    assert text.count(" fusion(") != 1


def other_programs() -> None:
    """XLA_FLAGS also disables the fusion pass for float16, integers and a cumulative sum."""
    import jax
    import jax.numpy as jnp

    for function, x in (
        (lambda x: 2.0 * jnp.sqrt(x) + 1.0, jnp.ones((3, 4), "float16")),
        (lambda x: x * x - 3, jnp.ones((2, 3), int)),
        (lambda x: jnp.cumsum(x) * 2.0 - 1.0, jnp.zeros(5)),
    ):
        fusions = jax.jit(function).lower(x).compile().as_text().count(" fusion(")
        assert fusions == 0 or fusions > 2, fusions


def shifted_rows() -> tuple[str, str]:
    """With algsimp disabled and jax_compiler_enable_remat_pass=False, does base.at[1:].set(base[:-1]) shift rows?"""
    import jax
    import jax.numpy as jnp

    def shifted(x: jax.Array) -> jax.Array:
        base = x + 1.0
        return base.at[1:].set(base[:-1])[None]

    jax.config.update("jax_compiler_enable_remat_pass", False)
    return compare(jax.jit(shifted)(jnp.arange(4.0)), [[1.0, 1.0, 2.0, 3.0]])


def rows_without_the_option() -> None:
    """Without jax_compiler_enable_remat_pass=False, base.at[1:].set(base[:-1]) shifts the rows."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def shifted(x: jax.Array) -> jax.Array:
        base = x + 1.0
        return base.at[1:].set(base[:-1])[None]

    np.testing.assert_array_equal(jax.jit(shifted)(jnp.arange(4.0)), [[1.0, 1.0, 2.0, 3.0]])


def shifted_twice(x: Any) -> Any:
    """In a compiled function, shift the rows of x + x down by one and add an axis."""
    import jax

    def shifted(x: Any) -> Any:
        base = x + x
        return base.at[1:].set(base[:-1])[None]

    return jax.jit(shifted)(x)


def numpy_shifted(x: Any) -> Any:
    """Shift the rows of x + x with NumPy."""
    import numpy as np

    return np.concatenate([x[:1] + x[:1], x[:-1] + x[:-1]])[None]


NO_OPTION = Rule("no-option", "jax<0.4.34")
INSTEAD = (
    "Instead of jax_compiler_enable_remat_pass=False, set XLA_FLAGS=--xla_disable_hlo_passes=fusion,rematerialization."
)
KEPT = "jax#39596"
INPUTS = (
    *("float16 vector", "int32 matrix", "float32 batch", "zero float32 vector", "float32 one", "float32 empty"),
    *("uint8 matrix", "complex64 square"),
)

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#37391", cause="jax#23738", fix="jax#39596"),
    touches=("jax.config.update(name, val) if name == 'jax_compiler_enable_remat_pass' and not val and unseen",),
    signatures={"no-option": Signature("AttributeError", "Unrecognized config option: jax_compiler_enable_remat_pass")},
    cases=(
        Case(
            fusion,
            without_the_option,
            {"enabled": "affected", "disabled": "clear", "no-option": "absent"},
            (NO_OPTION, Rule("enabled", "jax<0.11.1", "jax#37391"), Rule("disabled", "", KEPT)),
            Workaround(INSTEAD, without_the_option, elsewhere=other_programs),
            environment={"XLA_FLAGS": "--xla_disable_hlo_passes=fusion,rematerialization"},
        ),
        Case(
            shifted_rows,
            rows_without_the_option,
            {"no-option": "absent"},
            (
                NO_OPTION,
                Rule("differs", "jax<0.11.1 jaxlib>=0.4.35"),
                Rule("agrees", "jax<0.11.1", "jaxlib before 0.4.35 shifts the rows without the flag, too"),
                Rule("agrees", "", KEPT),
            ),
            Workaround(
                INSTEAD.replace("fusion", "algsimp"),
                rows_without_the_option,
                elsewhere=Elsewhere(shifted_twice, numpy_shifted, INPUTS),
            ),
            environment={"XLA_FLAGS": "--xla_disable_hlo_passes=algsimp,rematerialization"},
        ),
    ),
)
