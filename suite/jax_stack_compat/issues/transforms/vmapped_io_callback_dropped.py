"""vmap of io_callback loses the effects: it becomes a pure callback, which the compiler drops, up to jax 0.4.26

    jax.vmap(lambda x: io_callback(log.append, None, x))(jnp.arange(3.0))    # log stays empty; should be 0, 1, 2

`io_callback` is for effects: logs, files, counters; without vmap every call is made. Its batching rule bound
`pure_callback` by mistake, and a pure callback whose result nobody uses is not made. What was to be written is lost,
without a word. It came up in jax#20628, which asks for loops with io_callback under vmap; jax#20725 mended it: from
0.4.27 on the call is made once for each member, in order.

Seen in these runs:

- An io_callback with a result is not called either, under jit, where the result is not used, up to 0.4.26.
- A while_loop with an io_callback was refused under vmap up to 0.4.26 ("IO effect not supported in vmap-of-while").
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def effects() -> tuple[str, str]:
    """Does vmap of an io_callback without a result make a call for each member?"""
    import jax
    import jax.numpy as jnp
    from jax.experimental import io_callback

    log: list[float] = []
    jax.vmap(lambda x: io_callback(lambda value: log.append(float(value)), None, x))(jnp.arange(3.0))
    jax.effects_barrier()
    return compare(log, [0.0, 1.0, 2.0])


def not_vmapped() -> None:
    """Without vmap every call is made, under jit too."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import io_callback

    log: list[float] = []
    for x in (0.0, 1.0):
        jax.jit(lambda x: io_callback(lambda value: log.append(float(value)), None, x))(jnp.float32(x))
    jax.effects_barrier()
    assert log == [0.0, 1.0]


def whole_batch() -> None:
    """One call with the whole batch, outside of vmap."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import io_callback

    log: list[float] = []
    jax.jit(lambda x: io_callback(lambda values: log.extend(values.tolist()), None, jax.vmap(lambda x: 2 * x)(x)))(
        jnp.arange(3.0)
    )
    jax.effects_barrier()
    assert log == [0.0, 2.0, 4.0]


def unused_result() -> tuple[str, str]:
    """Does jit of vmap of an io_callback with a result that is not used?"""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.experimental import io_callback

    log: list[float] = []

    def count(value: jax.Array) -> np.float32:
        log.append(float(value))
        return np.float32(len(log))

    def step(x: jax.Array) -> jax.Array:
        io_callback(count, jax.ShapeDtypeStruct((), np.float32), x)
        return x

    jax.jit(jax.vmap(step))(jnp.arange(3.0))
    jax.effects_barrier()
    return compare(log, [0.0, 1.0, 2.0])


def while_loop() -> tuple[str, str]:
    """Does vmap of a while_loop with an io_callback, for two steps each?"""
    import jax
    import jax.numpy as jnp
    from jax.experimental import io_callback

    log: list[float] = []

    def run(x: jax.Array) -> jax.Array:
        def body(i: int) -> int:
            io_callback(lambda value: log.append(float(value)), None, x)
            return i + 1

        return jax.lax.while_loop(lambda i: i < 2, body, 0)

    jax.vmap(run)(jnp.arange(3.0))
    jax.effects_barrier()
    return compare(log, [0.0, 1.0, 2.0, 0.0, 1.0, 2.0])


ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#20628", fix="jax#20725"),
    touches=("jax.experimental.io_callback if within('jax.vmap', 'equinox.filter_vmap')",),
    control=not_vmapped,
    rules=(Rule("differs", "jax<0.4.27"), Rule("agrees", "", "jax#20725 (8037e7b08f)")),
    workaround=Workaround("Call it outside of vmap, once, with the whole batch.", whole_batch),
    cases=(
        Case(effects),
        Case(unused_result),
        Case(
            while_loop,
            rules=(Rule("refused", "jax<0.4.27"), Rule("agrees", "", "4f90d365b2")),
            signatures={"refused": Signature("NotImplementedError", "IO effect not supported in vmap-of-while")},
        ),
    ),
)
