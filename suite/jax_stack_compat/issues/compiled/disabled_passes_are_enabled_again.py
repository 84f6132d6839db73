"""Passes that XLA_FLAGS disables run again beside jax_compiler_enable_remat_pass=False, up to jax 0.11.0

    XLA_FLAGS=--xla_disable_hlo_passes=fusion python    # some pass that miscompiles, or is slow
    jax.config.update("jax_compiler_enable_remat_pass", False)
    jax.jit(lambda x: 2.0 * jnp.sqrt(x) + 1.0).lower(x).compile().as_text()    # one fusion

You'd expect both to be left out. The option came with jax 0.4.34, and until 0.11.0 writes "rematerialization" over what
the flag had disabled, without a word; from 0.11.1 on it is added to that. The flag is for a pass that miscompiles, as
in openxla/xla#49176; the option for training on a GPU, as in p-doom/jasmine#231. The one undoes the other.

Seen in these runs: openxla/xla#49176 is of a shift under jit that overwrites its own rows. With `algsimp` disabled it
is right. With the option set as well it is wrong, on jax 0.4.35 to 0.11.0.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def fusion() -> tuple[str, str]:
    """With the pass `fusion` disabled by XLA_FLAGS, does the option leave it so?"""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_compiler_enable_remat_pass", False)
    text = jax.jit(lambda x: 2.0 * jnp.sqrt(x) + 1.0).lower(jnp.ones(4)).compile().as_text()
    fusions = text.count(" fusion(")
    # All of it in one is what the pass makes; some releases wrap each operation by itself, whatever is disabled.
    return ("enabled" if fusions == 1 else "disabled"), f"{fusions} fusions"


def without_the_option() -> None:
    """By itself the flag is heeded."""
    import jax
    import jax.numpy as jnp

    text = jax.jit(lambda x: 2.0 * jnp.sqrt(x) + 1.0).lower(jnp.ones(4)).compile().as_text()
    assert text.count(" fusion(") != 1


def shifted_rows() -> tuple[str, str]:
    """With `algsimp` disabled against a shift that overwrites its rows, are they right beside the option?"""
    import jax
    import jax.numpy as jnp

    def shifted(x: jax.Array) -> jax.Array:
        base = x + 1.0
        return base.at[1:].set(base[:-1])[None]

    jax.config.update("jax_compiler_enable_remat_pass", False)
    return compare(jax.jit(shifted)(jnp.arange(4.0)), [[1.0, 1.0, 2.0, 3.0]])


def rows_without_the_option() -> None:
    """By itself the flag helps."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    def shifted(x: jax.Array) -> jax.Array:
        base = x + 1.0
        return base.at[1:].set(base[:-1])[None]

    np.testing.assert_array_equal(jax.jit(shifted)(jnp.arange(4.0)), [[1.0, 1.0, 2.0, 3.0]])


NO_OPTION = Rule("no-option", "jax<0.4.34")
INSTEAD = "Leave the option alone, and name rematerialization in the flag too: …_passes=fusion,rematerialization."
KEPT = "jax#39596"

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#37391", fix="jax#39596"),
    touches=("jax_compiler_enable_remat_pass", "XLA flags"),
    signatures={"no-option": Signature("AttributeError", "Unrecognized config option: jax_compiler_enable_remat_pass")},
    cases=(
        Case(
            fusion,
            without_the_option,
            {"enabled": "affected", "disabled": "clear", "no-option": "absent"},
            (NO_OPTION, Rule("enabled", "jax<0.11.1", "jax#37391"), Rule("disabled", "", KEPT)),
            Workaround(INSTEAD, without_the_option),
            environment={"XLA_FLAGS": "--xla_disable_hlo_passes=fusion,rematerialization"},
        ),
        Case(
            shifted_rows,
            rows_without_the_option,
            {"no-option": "absent"},
            (
                NO_OPTION,
                Rule("differs", "jax<0.11.1 jaxlib>=0.4.35"),
                Rule("agrees", "jax<0.11.1", "its jaxlib shifts rows well"),
                Rule("agrees", "", KEPT),
            ),
            Workaround(INSTEAD.replace("fusion", "algsimp"), rows_without_the_option),
            environment={"XLA_FLAGS": "--xla_disable_hlo_passes=algsimp,rematerialization"},
        ),
    ),
)
