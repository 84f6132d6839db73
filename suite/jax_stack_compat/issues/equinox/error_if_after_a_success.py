"""eqx.error_if raises a plain ValueError where an earlier call of the same jitted function succeeded

    positive = eqx.filter_jit(lambda x: eqx.error_if(x, x <= 0, "x must be positive"))
    positive(jnp.array(1.0))
    positive(jnp.array(-1.0))    # jax 0.7.2 and later, equinox up to 0.13.2: ValueError, no EquinoxRuntimeError

If the first call fails, that and all later ones raise a RuntimeError. If it succeeds, the error of a later one is not
caught by `except RuntimeError`. From jax 0.7.2 on, a function with a pure callback is called on the fast path from the
second call on, and there whatever fails is a ValueError. From 0.13.3 on Equinox takes that for its own error, under
`eqx.filter_jit`. Under `jax.jit`, which the report has as well, it is a ValueError to this day, and so is what any
`jax.pure_callback` raises. jax#39898 and jax#34179 would mend that, and are open. JAX's documentation says that no pure
callback should raise; `io_callback` may, and is not called on the fast path. With a `jax.debug.callback` in it, a
function is not called on that path, either.

Up to equinox 0.11.3, on jax 0.4.26 and later, another ValueError comes in place of the message: "not enough values to
unpack", under `eqx.filter_jit` and outside of jit, in the first call too. equinox#696 has that.
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround


def under_filter_jit() -> tuple[str, str]:
    """Is it a RuntimeError that eqx.error_if raises under eqx.filter_jit, after a call that succeeded?"""
    import equinox as eqx
    import jax.numpy as jnp

    positive = eqx.filter_jit(lambda x: eqx.error_if(x, x <= 0, "x must be positive"))
    positive(jnp.array(1.0)).block_until_ready()
    try:
        positive(jnp.array(-1.0)).block_until_ready()
    except RuntimeError as error:
        return "runtime-error", f"{type(error).__name__}, with its message: {'x must be positive' in str(error)}"
    return "no-error", "nothing was raised"


def control_raises_at_once() -> None:
    """A callback that raises in the first call of a jitted function raises a RuntimeError with its message."""
    import jax
    import jax.numpy as jnp

    def check(x: jax.Array) -> jax.Array:
        raise RuntimeError("x must be positive")

    try:
        jax.jit(lambda x: jax.pure_callback(check, x, x))(jnp.array(-1.0)).block_until_ready()
    except RuntimeError as error:
        said = str(error)
    else:
        said = "nothing"
    assert "x must be positive" in said, said


def with_debug_callback() -> None:
    """With a jax.debug.callback beside it, which keeps it off the fast path, it is a RuntimeError under either jit."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    for jit in (eqx.filter_jit, jax.jit):

        def positive(x: jax.Array) -> jax.Array:
            jax.debug.callback(lambda x: None, x)
            checked: jax.Array = eqx.error_if(x, x <= 0, "x must be positive")
            return checked

        jitted = jit(positive)
        jitted(jnp.array(1.0)).block_until_ready()
        try:
            jitted(jnp.array(-1.0)).block_until_ready()
        except RuntimeError as error:
            said = str(error)
        else:
            said = "nothing"
        assert "x must be positive" in said, said


def under_jit() -> tuple[str, str]:
    """Is it one under jax.jit?"""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    positive = jax.jit(lambda x: eqx.error_if(x, x <= 0, "x must be positive"))
    positive(jnp.array(1.0)).block_until_ready()
    try:
        positive(jnp.array(-1.0)).block_until_ready()
    except RuntimeError as error:
        return "runtime-error", f"{type(error).__name__}, with its message: {'x must be positive' in str(error)}"
    return "no-error", "nothing was raised"


def pure_callback() -> tuple[str, str]:
    """Is it one where a jax.pure_callback raises, after a call in which it did not?"""
    import jax
    import jax.numpy as jnp

    def check(x: jax.Array) -> jax.Array:
        if x <= 0:
            raise RuntimeError("x must be positive")
        return x

    positive = jax.jit(lambda x: jax.pure_callback(check, x, x))
    positive(jnp.array(1.0)).block_until_ready()
    try:
        positive(jnp.array(-1.0)).block_until_ready()
    except RuntimeError as error:
        return "runtime-error", f"{type(error).__name__}, with its message: {'x must be positive' in str(error)}"
    return "no-error", "nothing was raised"


def io_callback_instead() -> None:
    """What an io_callback raises is a RuntimeError in every call."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import io_callback

    def check(x: jax.Array) -> jax.Array:
        if x <= 0:
            raise RuntimeError("x must be positive")
        return x

    positive = jax.jit(lambda x: io_callback(check, x, x))
    positive(jnp.array(1.0)).block_until_ready()
    try:
        positive(jnp.array(-1.0)).block_until_ready()
    except RuntimeError as error:
        said = str(error)
    else:
        said = "nothing"
    assert "x must be positive" in said, said


_UNPACKED = "jax>=0.4.26 equinox<0.11.4"
_BEFORE = Rule("runtime-error", "jax<0.7.2")

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(report="equinox#1156 equinox#696", fix="equinox@d140093", attempt="jax#39898"),
    control=control_raises_at_once,
    behaviours={"runtime-error": "clear", "no-error": "different"},
    rules=(_BEFORE, Rule("value-error", "", "jax#34083")),
    workaround=Workaround(
        "Catch ValueError as well, or keep the function off the fast path with a jax.debug.callback.",
        with_debug_callback,
        fails=(_UNPACKED,),
    ),
    signatures={
        "value-error": Signature("ValueError", "CpuCallback error"),
        "message-not-unpacked": Signature("ValueError", "not enough values to unpack", "equinox"),
    },
    cases=(
        Case(
            under_filter_jit,
            needs=("jax", "equinox"),
            rules=(
                Rule("message-not-unpacked", _UNPACKED, "equinox#696"),
                _BEFORE,
                Rule("value-error", "equinox<0.13.3"),
                Rule("runtime-error", "", "d140093"),
            ),
            touches=("equinox.error_if if uses('equinox.filter_jit') and without('jax.debug.callback')",),
        ),
        Case(
            under_jit,
            needs=("jax", "equinox"),
            touches=("equinox.error_if if uses('jax.jit') and without('jax.debug.callback')",),
        ),
        Case(
            pure_callback,
            workaround=Workaround("Raise in a jax.experimental.io_callback.", io_callback_instead),
            touches=("jax.pure_callback",),
        ),
    ),
)
