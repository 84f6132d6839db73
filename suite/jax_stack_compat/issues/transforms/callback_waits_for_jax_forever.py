"""JAX in a callback waits forever on a CPU with one core, from jax 0.4.33 to 0.5.0: what it waits for comes after it

    jax.config.update("jax_cpu_enable_async_dispatch", False)    # helps; the environment variable of that name does not
    jax.jit(lambda x: jax.pure_callback(lambda x: np.asarray(jnp.dot(x, x)), x, jnp.dot(x, x)))(x)    # never ends

A CPU has as many threads for computations as it has cores, and from jax 0.4.32 a large computation is left to one of
them. A callback runs on that thread. What it asks of JAX is put in the line behind it, and if it reads the result, both
wait. With one core one call is enough; with more it takes as many callbacks at once, and the threads tell of programs
that hang now and then (jax#24219, jax#24255, with `debug.callback` jax#25861, which is open). Up to jax 0.4.31 and from
0.5.1, where computations with a callback, and those in one, are no longer left to a thread, it is well.

Nothing hangs here: the callback looks for 5 seconds whether its result is there, and then goes on without it. `NPROC=1`
gives jaxlib the threads of a machine with one core.

Seen in these runs: a callback can wait for its own argument too, where that is large. From jax 0.4.35 to 0.5.0 it did
so within twenty calls, on one core.
"""

from __future__ import annotations

import contextlib
import time
from typing import Any

from jax_stack_compat.cell import Case, Issue, Rule, Upstream, Workaround


def _comes(array: Any) -> bool:
    """Whether an array is computed within five seconds."""
    end = time.monotonic() + 5.0
    while hasattr(array, "is_ready") and not array.is_ready():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def _answer(seen: list[bool]) -> tuple[str, str]:
    told = "is there in the callback" if all(seen) else "is not there after 5 s in the callback, and is when it returns"
    return ("comes" if all(seen) else "stuck"), f"it {told}"


def pure_callback() -> tuple[str, str]:
    """Is a product computed that a pure_callback asks of JAX?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    matrix, products, seen = jnp.ones((256, 256)), [], []

    def callback(x: Any) -> Any:
        products.append(jnp.dot(matrix, matrix))
        seen.append(_comes(products[0]))
        return np.float32(0.0)

    wanted = jax.ShapeDtypeStruct((), "float32")
    float(jax.jit(lambda x: jax.pure_callback(callback, wanted, jnp.dot(x, x)[0, 0]))(matrix))
    assert float(products[0][0, 0]) == 256.0
    return _answer(seen)


def one_number() -> None:
    """A callback that gets one number, and leaves JAX alone."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    wanted = jax.ShapeDtypeStruct((), "float32")
    jitted = jax.jit(lambda x: jax.pure_callback(lambda x: np.negative(np.asarray(x)), wanted, jnp.dot(x, x)[0, 0]))
    assert float(jitted(jnp.ones((256, 256)))) == -256.0


def dispatched_at_once() -> None:
    """Without asynchronous dispatch, set before there is a device."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    with contextlib.suppress(AttributeError):  # an early release, where there is nothing to set
        jax.config.update("jax_cpu_enable_async_dispatch", False)
    matrix, kept = jnp.ones((256, 256)), []

    def callback(x: Any) -> Any:
        kept.append((x, jnp.dot(matrix, matrix)))
        assert all(map(_comes, kept[-1]))
        return np.float32(1.0)

    wanted = jax.ShapeDtypeStruct((), "float32")
    jitted = jax.jit(lambda x: jax.pure_callback(callback, wanted, jnp.dot(x, x)))
    assert [float(jitted(jnp.ones((size, size)))) for size in range(256, 276)] == [1.0] * 20


def debug_callback() -> tuple[str, str]:
    """Is one that a jax.debug.callback asks of JAX?"""
    import jax
    import jax.numpy as jnp

    matrix, products, seen = jnp.ones((256, 256)), [], []

    def callback(x: Any) -> None:
        products.append(jnp.dot(matrix, matrix))
        seen.append(_comes(products[0]))

    def called(x: jax.Array) -> jax.Array:
        product = jnp.dot(x, x)
        jax.debug.callback(callback, product[0, 0])
        return product

    jax.block_until_ready(jax.jit(called)(matrix))
    jax.effects_barrier()
    assert float(products[0][0, 0]) == 256.0
    return _answer(seen)


def large_argument() -> tuple[str, str]:
    """Can a pure_callback read its argument, of 256 × 256 numbers and more, each time of twenty?"""
    import jax
    import jax.numpy as jnp
    import numpy as np

    kept, seen = [], []

    def callback(x: Any) -> Any:
        kept.append(x)
        seen.append(_comes(x))
        return np.float32(0.0)

    wanted = jax.ShapeDtypeStruct((), "float32")
    jitted = jax.jit(lambda x: jax.pure_callback(callback, wanted, jnp.dot(x, x)))
    for size in range(256, 276):
        float(jitted(jnp.ones((size, size))))
        if not seen[-1]:
            break
    return _answer(seen)


_NEW = Rule("comes", "", "83457c115a and 9d39ab305a")

ISSUE = Issue(
    kind="crash",
    upstream=Upstream.of(
        report="jax#24255 jax#24219 jax#25861 invrs-io/agjax#43",
        change="netket/netket#1925 pasteurlabs/tesseract-jax#177",
    ),
    touches=("jax.pure_callback", "jax.debug.callback", "jax_cpu_enable_async_dispatch"),
    control=one_number,
    behaviours={"stuck": "affected", "comes": "clear"},
    rules=(Rule("comes", "jaxlib<0.4.32"), Rule("stuck", "jaxlib<0.5.1"), _NEW),
    workaround=Workaround(
        'At the start jax.config.update("jax_cpu_enable_async_dispatch", False); or no JAX in callbacks.',
        dispatched_at_once,
    ),
    environment={"NPROC": "1"},
    alone="it waits five seconds for a callback, and a busy machine takes longer",
    cases=(
        Case(pure_callback, touches=("jax.pure_callback",)),
        Case(debug_callback, touches=("jax.debug.callback",)),
        Case(
            large_argument,
            rules=(Rule("comes", "jaxlib<0.4.35"), Rule("stuck", "jaxlib<0.5.1"), _NEW),
            touches=("jax.pure_callback",),
        ),
    ),
)
