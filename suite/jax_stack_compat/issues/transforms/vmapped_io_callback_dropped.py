"""vmap of io_callback drops the call if nothing uses its result

The batching rule of `io_callback` bound `pure_callback` by mistake, and the compiler drops a pure call whose result is
unused. jax#20725 binds `io_callback` once for each member of a batched argument. jax#20726 allows `io_callback` in a
`while_loop` whose predicate is not batched. With a batched predicate, members that have ended would run further steps
and repeat their effects (jax#20628), so JAX refuses the `io_callback` (`batched_predicate`).
"""

from __future__ import annotations

from jax_stack_compat.cell import Case, Issue, Rule, Signature, Upstream, Workaround, compare


def effects() -> tuple[str, str]:
    """Does jax.vmap of an io_callback without a result make a call for each member?"""
    import jax
    import jax.numpy as jnp
    from jax.experimental import io_callback

    log: list[float] = []
    jax.vmap(lambda x: io_callback(lambda value: log.append(float(value)), None, x))(jnp.arange(3.0))
    jax.effects_barrier()
    return compare(log, [0.0, 1.0, 2.0])


def not_vmapped() -> None:
    """Without vmap, a jitted function calls its io_callback each time."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import io_callback

    log: list[float] = []
    for x in (0.0, 1.0):
        jax.jit(lambda x: io_callback(lambda value: log.append(float(value)), None, x))(jnp.float32(x))
    jax.effects_barrier()
    assert log == [0.0, 1.0]


def mapped_in_a_loop() -> None:
    """jax.lax.map makes each call, also in a while_loop whose number of steps differs between members."""
    import jax
    import jax.numpy as jnp
    from jax.experimental import io_callback

    log: list[float] = []

    def note(x: jax.Array) -> jax.Array:
        io_callback(lambda value: log.append(float(value)), None, x)
        return x + 1

    jax.lax.map(note, jnp.arange(3.0))
    jax.lax.map(lambda x: jax.lax.while_loop(lambda x: x < 2, note, x), jnp.arange(3.0))
    jax.effects_barrier()
    assert log == [0.0, 1.0, 2.0, 0.0, 1.0, 1.0]


def two_calls_for_each_row() -> None:
    """For each row, a jitted jax.lax.map makes an ordered io_callback, and one with an unused result."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.experimental import io_callback

    sums: list[int] = []
    names: list[int] = []

    def count(row: jax.Array) -> np.float16:
        sums.append(int(row.sum()))
        return np.float16(len(sums))

    def step(batch: dict[str, jax.Array]) -> jax.Array:
        io_callback(lambda name: names.append(int(name)), None, batch["name"], ordered=True)
        io_callback(count, jax.ShapeDtypeStruct((), np.float16), batch["row"])
        return 2 * batch["row"]

    rows = jnp.arange(12).reshape(4, 3)
    doubled = jax.jit(lambda batch: jax.lax.map(step, batch))({"row": rows, "name": jnp.arange(4, dtype=jnp.int8)})
    jax.effects_barrier()
    assert doubled.tolist() == (2 * rows).tolist()
    assert (names, sorted(sums)) == ([0, 1, 2, 3], [3, 12, 21, 30])


def unused_result() -> tuple[str, str]:
    """Does a jitted jax.vmap of an io_callback with an unused result make a call for each member?"""
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
    """Does jax.vmap of a while_loop with two steps and an io_callback make two calls for each member?"""
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


def batched_predicate() -> tuple[str, str]:
    """Does jax.vmap of a while_loop call its io_callback 3 times if the members take 2, 1 and 0 steps?"""
    import jax
    import jax.numpy as jnp
    from jax.experimental import io_callback

    log: list[float] = []

    def body(x: jax.Array) -> jax.Array:
        io_callback(lambda value: log.append(float(value)), None, x)
        return x + 1

    jax.vmap(lambda x: jax.lax.while_loop(lambda x: x < 2, body, x))(jnp.arange(3.0))
    jax.effects_barrier()
    return compare(sorted(log), [0.0, 1.0, 1.0])


# vmap refuses an ordered call.
_MAPPED = "within('jax.vmap', 'equinox.filter_vmap') and not seen(ordered == True)"
_CALL = "jax.experimental.io_callback(callback, result_shape_dtypes, ordered)"
_LOOP = f"{_CALL} if {_MAPPED} and uses('jax.lax.while_loop', 'jax.lax.fori_loop')"
_REFUSED = Signature("NotImplementedError", "IO effect not supported in vmap-of-while")

ISSUE = Issue(
    kind="silent-wrong",
    upstream=Upstream.of(report="jax#20628", fix="jax#20725 jax#20726", docs="jax:external-callbacks.html"),
    control=not_vmapped,
    rules=(Rule("differs", "jax<0.4.27"), Rule("agrees", "", "jax#20725 (8037e7b08f)")),
    workaround=Workaround(
        "Outside of jax.grad, loop over the members, which is slower: jax.lax.map(f, xs).",
        mapped_in_a_loop,
        elsewhere=two_calls_for_each_row,
    ),
    cases=(
        Case(effects, touches=(f"{_CALL} if result_shape_dtypes == None and {_MAPPED}",)),
        Case(unused_result, touches=(f"{_CALL} if not result_shape_dtypes == None and unseen and {_MAPPED}",)),
        Case(
            while_loop,
            rules=(Rule("refused", "jax<0.4.27"), Rule("agrees", "", "jax#20726 (4f90d365b2)")),
            signatures={"refused": _REFUSED},
            touches=(_LOOP,),
        ),
        Case(
            batched_predicate,
            behaviours={"agrees": "clear", "differs": "affected"},
            rules=(Rule("refused"),),
            signatures={
                "refused": (
                    _REFUSED,
                    Signature("Exception", "Unordered IO effects not supported in while_loop with batched predicate"),
                )
            },
            touches=(_LOOP,),
        ),
    ),
)
